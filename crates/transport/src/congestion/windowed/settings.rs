//! Parameters of all windows, and their text.
use crate::congestion::Accounting;
use crate::spec::{Described, Description};

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

impl Described for WindowSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        let endless = "a number of 1 or more, or inf";
        let initial = "a number from 1 to 1000000";
        each.number("init-cwnd", &mut self.init_cwnd, 1.0..=1e6, initial);
        each.number("init-ssthresh", &mut self.init_ssthresh, 1.0.., endless);
        each.number("max-cwnd", &mut self.max_cwnd, 1.0.., endless);
        each.boolean("reset-to-init", &mut self.reset_to_init);
        let expected = "off, send-order or rec-point";
        each.word("conservative", &mut self.conservative, &Conservative::WORDS, expected);
        each.word("growth", &mut self.growth, &Growth::WORDS, "in-use or always");
        let by_order = self.conservative != Conservative::RecPoint;
        self.undo &= by_order;
        each.boolean("undo", &mut self.undo);
        let expected = "false, as always with conservative=rec-point";
        each.check(by_order || !self.undo, "undo", self.undo, expected);
        each.boolean("restart", &mut self.restart);
        each.word("timeout", &mut self.timeout, &AfterTimeout::WORDS, "as-loss or slow-start");
        self.accounting.describe(each);
        each.boolean("hystart", &mut self.hystart);
    }
}
