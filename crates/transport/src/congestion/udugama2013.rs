//! `udugama2013(flavour=newreno|cubic|compound,…)`: the windows of CCN-NewReno, CCN-Cubic and
//! CCN-Compound. Each is one of the algorithms here with the values of that study, and prints as such:
//! a window of 1 that begins with slow start up to 64, grows with every Data, counts the span, and
//! begins anew after a timeout with half of it as threshold.
//!
//! | flavour | spelled out |
//! |---|---|
//! | `newreno` | `aimd(step=1,beta=0.5,…)` |
//! | `cubic` | `cubic(c=0.4,beta=0.8,form=ha2008,…)`: the study says that a loss takes β = 0.2 away |
//! | `compound` | `compound(mode=udugama,…)` |
//!
//! Source: A. Udugama et al. (2013), sections 2 to 4.
//!
//! Differences: the study does not state the first threshold (without one the first slow start floods the
//! queue), nor what exactly counts against the window; `accounting` gives the reason for `span`. Which
//! losses are one event is told by send order, so that a retransmission lost again is a new one; the
//! study tells it by the number of the segment. Of its Compound too little is stated: see `compound`.
use super::{
    Accounting, AfterTimeout, CompoundMode, CompoundSettings, Congestion, CubicForm, CubicSettings,
    Growth, WindowSettings, aimd, compound, cubic,
};
use crate::spec::{Spec, SpecError};

/// Which of the three windows.
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
