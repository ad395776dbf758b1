//! Parameters of all windows, and their text.
use crate::congestion::Accounting;
use crate::spec::{Spec, SpecError, SpecWriter};

/// Parameters of all rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSettings {
    /// Initial window, segments.
    pub init_cwnd: f64,
    /// Initial slow-start threshold, segments; may be infinite.
    pub init_ssthresh: f64,
    /// Maximum window, segments; may be infinite.
    pub max_cwnd: f64,
    /// A loss event resets the window to the initial one (and slow start).
    pub reset_to_init: bool,
    /// Losses that belong to one event and reduce the window once.
    pub conservative: Conservative,
    /// Deliveries that widen the window.
    pub growth: Growth,
    /// A reduction is undone once all losses of its event have proved spurious; never with
    /// [`Conservative::RecPoint`].
    pub undo: bool,
    /// After a timeout or an out-of-order loss the window is no wider than what is in flight (packet conservation).
    pub restart: bool,
    /// Window after a timeout that begins an event.
    pub timeout: AfterTimeout,
    /// Segments that count against the window.
    pub accounting: Accounting,
    /// The first slow start also ends when round trips get longer (HyStart++, RFC 9406).
    pub hystart: bool,
}

/// Losses that belong to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conservative {
    /// Each loss is an event of its own.
    Off,
    /// Losses of transmissions sent before the last event was detected (RFC 6675, by send order).
    SendOrder,
    /// Losses detected before a segment arrives whose number is above all those requested at the last event
    /// (`highData > recPoint` of S. Yang, 2016).
    RecPoint,
}

/// Deliveries that widen the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Deliveries while the window, not the application, limits the sending (RFC 7661).
    InUse,
    /// All deliveries.
    Always,
}

/// Window after a timeout that begins an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTimeout {
    /// The window after any other loss.
    AsLoss,
    /// A window of 1, and half of the window before as slow-start threshold, for each rule (RFC 5681, 3.1).
    SlowStart,
}

impl AfterTimeout {
    const WORDS: [(&str, Self); 2] = [("as-loss", Self::AsLoss), ("slow-start", Self::SlowStart)];
}

impl Conservative {
    const WORDS: [(&str, Self); 3] =
        [("off", Self::Off), ("send-order", Self::SendOrder), ("rec-point", Self::RecPoint)];
}

impl Growth {
    const WORDS: [(&str, Self); 2] = [("in-use", Self::InUse), ("always", Self::Always)];
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self {
            init_cwnd: 2.0,
            init_ssthresh: f64::INFINITY,
            max_cwnd: f64::INFINITY,
            reset_to_init: false,
            conservative: Conservative::SendOrder,
            growth: Growth::InUse,
            undo: true,
            restart: false,
            timeout: AfterTimeout::AsLoss,
            accounting: Accounting::Outstanding,
            hystart: false,
        }
    }
}

impl WindowSettings {
    /// Reads the parameters given; the others are those of `default`.
    pub(in crate::congestion) fn from_spec(
        spec: &mut Spec<'_>,
        default: Self,
    ) -> Result<Self, SpecError> {
        let endless = "a number of 1 or more, or inf";
        let initial = "a number from 1 to 1000000";
        let init_cwnd = spec.number("init-cwnd", default.init_cwnd, 1.0..=1e6, initial)?;
        let init_ssthresh = spec.number("init-ssthresh", default.init_ssthresh, 1.0.., endless)?;
        let max_cwnd = spec.number("max-cwnd", default.max_cwnd, 1.0.., endless)?;
        let reset_to_init = spec.boolean("reset-to-init", default.reset_to_init)?;
        let expected = "off, send-order or rec-point";
        let (key, words) = ("conservative", &Conservative::WORDS);
        let conservative = spec.word(key, default.conservative, words, expected)?;
        let growth = spec.word("growth", default.growth, &Growth::WORDS, "in-use or always")?;
        let by_order = conservative != Conservative::RecPoint;
        let undo = spec.boolean("undo", default.undo && by_order)?;
        if undo && !by_order {
            return Err(spec.bad("undo", undo, "false, as always with conservative=rec-point"));
        }
        let restart = spec.boolean("restart", default.restart)?;
        let words = &AfterTimeout::WORDS;
        let timeout = spec.word("timeout", default.timeout, words, "as-loss or slow-start")?;
        let (words, expected) = (&Accounting::WORDS, "outstanding or span");
        let accounting = spec.word("accounting", default.accounting, words, expected)?;
        Ok(Self {
            init_cwnd,
            init_ssthresh,
            max_cwnd,
            reset_to_init,
            conservative,
            growth,
            undo,
            restart,
            timeout,
            accounting,
            hystart: spec.boolean("hystart", default.hystart)?,
        })
    }

    /// Adds the parameters to the printed specification.
    pub(super) fn describe<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        writer
            .value("init-cwnd", self.init_cwnd)
            .value("init-ssthresh", self.init_ssthresh)
            .value("max-cwnd", self.max_cwnd)
            .value("reset-to-init", self.reset_to_init)
            .word("conservative", self.conservative, &Conservative::WORDS)
            .word("growth", self.growth, &Growth::WORDS)
            .value("undo", self.undo)
            .value("restart", self.restart)
            .word("timeout", self.timeout, &AfterTimeout::WORDS)
            .word("accounting", self.accounting, &Accounting::WORDS)
            .value("hystart", self.hystart)
    }
}
