//! `udugama2013(flavour=newreno|cubic|compound,…)`: the windows of CCN-NewReno, CCN-Cubic and CCN-Compound.
//!
//! Each is one of the algorithms here with the values of that study, and prints as such. A window of 1 begins with
//! slow start up to 64, grows with every Data and counts the span. A timeout begins anew, with half of the window as
//! threshold.
//!
//! | flavour | spelled out |
//! |---|---|
//! | `newreno` | `aimd(step=1,beta=0.5,…)` |
//! | `cubic` | `cubic(c=0.4,beta=0.8,form=ha2008,…)`: a loss removes β = 0.2 in the study |
//! | `compound` | `compound(mode=udugama,…)` |
//!
//! Source: A. Udugama et al. (2013), sections 2 to 4.
//!
//! Differences: the study states neither the first threshold (without one the first slow start overflows the queue)
//! nor what counts against the window; `accounting` gives the reason for `span`. Losses are grouped into events by
//! send order, so that a repeated loss of a retransmission begins a new event. The study groups them by segment
//! number. It specifies its Compound incompletely: see `compound`.
use super::{
    Accounting, AfterTimeout, CompoundMode, CompoundSettings, Congestion, CubicForm, CubicSettings,
    Growth, WindowSettings, aimd, compound, cubic,
};
use crate::spec::{Spec, SpecError};

/// One of the three windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    NewReno,
    Cubic,
    Compound,
}

const FLAVOURS: [(&str, Flavour); 3] =
    [("newreno", Flavour::NewReno), ("cubic", Flavour::Cubic), ("compound", Flavour::Compound)];

pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Congestion, SpecError> {
    let expected = "newreno, cubic or compound";
    let flavour = spec.word("flavour", Flavour::NewReno, &FLAVOURS, expected)?;
    let settings = WindowSettings {
        init_cwnd: 1.0,
        init_ssthresh: 64.0,
        growth: Growth::Always,
        undo: false,
        timeout: AfterTimeout::SlowStart,
        accounting: Accounting::Span,
        ..WindowSettings::default()
    };
    Ok(match flavour {
        Flavour::NewReno => aimd::with_defaults(spec, settings)?.into(),
        Flavour::Cubic => {
            let form = CubicForm::Ha2008;
            let rule = CubicSettings { beta: 0.8, form, ..CubicSettings::default() };
            cubic::with_defaults(spec, rule, settings)?.into()
        }
        Flavour::Compound => {
            let mode = CompoundMode::Udugama;
            let rule = CompoundSettings { mode, ..CompoundSettings::default() };
            compound::with_defaults(spec, rule, settings)?.into()
        }
    })
}
