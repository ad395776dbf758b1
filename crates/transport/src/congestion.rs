//! Congestion control: congestion windows, in segments.
//!
//! A window receives events (a delivery, a loss) and keeps its size ready. Transmissions are identified by their
//! *send order*, a number that rises with every Interest sent, retransmissions included. It has no ties, unlike time,
//! and it orders transmissions, unlike segment numbers.
use crate::random::Rng;
use crate::spec::SpecError;
use crate::time::{Duration, Instant};
use recoup_core::family;
use std::fmt;

mod accounting;
mod aimd;
mod bbr;
mod cause;
mod compound;
mod cubic;
mod delivery_rate;
mod extreme;
mod fixed;
mod nikzad2022;
mod pcon;
mod raaqm;
mod recoup;
mod udugama2013;
mod vegas;
mod westwood;
mod windowed;

pub use accounting::Accounting;
pub use aimd::Aimd;
pub use bbr::Bbr;
pub use cause::{Evidence, LossCause};
pub use compound::{Compound, CompoundMode, CompoundSettings, DelayUpdate, ZeroOnLoss};
pub use cubic::{Cubic, CubicForm, CubicSettings};
pub use fixed::Fixed;
pub use nikzad2022::Nikzad2022;
pub use pcon::Pcon;
pub use raaqm::{Raaqm, RaaqmSettings};
pub use recoup::{Recoup, RecoupSettings};
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use windowed::{
    AfterTimeout, Conservative, Growth, WindowPhase, WindowRule, WindowSettings, Windowed,
};

/// A segment arrived for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered {
    /// Number of the segment.
    pub segment: u64,
    /// Send order of the transmission that it answers.
    pub order: u64,
    /// Highest send order so far.
    pub highest_order: u64,
    /// Round-trip time, if the segment was transmitted once; without the delay of link-layer retransmissions.
    pub rtt: Option<Duration>,
    /// Label of the path: the node that answered, if known.
    pub path: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Least round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// Segments in flight before this delivery, counted by [`Accounting`]; includes the delivered segment if it still
    /// counted.
    pub in_flight: u32,
    /// Segments by which the lowest missing one advanced; 0 if this one came out of order.
    pub advance: u64,
    /// Segments that have not been requested yet, if the end of the object is known.
    pub remaining: Option<u64>,
}

/// Signal that indicates a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// The retransmission timer expired.
    #[default]
    Timeout,
    /// A Nack with reason Congestion arrived.
    NackCongestion,
    /// The Data carries a congestion mark.
    Mark,
    /// Data of segments sent later arrived first.
    Order,
}

/// A transmission was lost, or its Data was marked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Signal that indicates the loss.
    pub kind: LossKind,
    /// Send order of the lost or marked transmission.
    pub order: u64,
    /// Highest send order so far.
    pub highest_order: u64,
    /// Highest segment number received; 0 before any.
    pub high_data: u64,
    /// Highest segment number requested; 0 before any.
    pub high_interest: u64,
    /// Segments in flight before this loss.
    pub in_flight: u32,
    /// Data received out of order before the loss was detected; 0 for other signals.
    pub evidence: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Least round-trip time so far.
    pub min_rtt: Option<Duration>,
}

/// Limits the number of segments in flight.
///
/// Each implementation keeps these invariants. `window()` is finite, at least 1 and at most the limit (or 1). A loss
/// does not widen it, unless the [`Accounting`] is by span (then by at most the loss's evidence). Its text
/// (`Display`) parses to the [`Congestion`] of an equal algorithm in its initial state.
pub trait CongestionControl: fmt::Debug + fmt::Display + Send {
    /// Segments that may be in flight. The fraction is credit that cannot be used yet.
    fn window(&self) -> f64;

    /// Slow-start threshold; infinite if nothing is known yet.
    fn ssthresh(&self) -> f64;

    /// Delay-based part of the window (Compound's `dwnd`); 0 for all others.
    fn delay_window(&self) -> f64 {
        0.0
    }

    /// Segments that count against the window.
    fn accounting(&self) -> Accounting {
        Accounting::Outstanding
    }

    /// Whether fetches of several objects can share it: it uses no segment numbers, which are those of one object.
    fn is_shareable(&self) -> bool {
        self.accounting() == Accounting::Outstanding
    }

    /// Pacing rate in Interests per second; `None`: no pacing. `remaining` segments have not been requested yet, if
    /// the end of the object is known.
    fn pacing_rate(&self, remaining: Option<u64>) -> Option<f64> {
        let _ = remaining;
        None
    }

    /// Lower limit of the retransmission timeout, whatever the estimator returns.
    fn least_timeout(&self) -> Option<Duration> {
        None
    }

    /// Upper limit of the retransmission timeout while nothing arrives; `None` while answers come, and without a limit.
    fn silence_timeout(&self) -> Option<Duration> {
        None
    }

    /// Answers wait for this process for so long, smoothed, if others use its processor. Round trips do not include that
    /// wait.
    fn on_waited(&mut self, wait: Option<Duration>) {
        let _ = wait;
    }

    /// A segment arrived.
    fn on_delivered(&mut self, now: Instant, delivered: &Delivered);

    /// Inferred cause of a loss, if the algorithm infers one. Call it before [`on_loss`](Self::on_loss).
    fn cause(&self, loss: &Loss) -> Option<LossCause> {
        let _ = loss;
        None
    }

    /// A transmission was lost. True if this begins a new loss event, for which the window was reduced (if the
    /// algorithm ever does that). The timeout then backs off.
    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool;

    /// A link lost a transmission (on the radio or in a queue below the link) and repaired it. True if the window was
    /// reduced.
    fn on_repaired(&mut self, now: Instant, loss: &Loss) -> bool {
        let _ = (now, loss);
        false
    }

    /// The Data of a transmission arrived that had been declared lost, by timeout or reordering. Call it at most once
    /// for each. True if the window was restored because all losses of the last event were spurious.
    fn on_spurious(&mut self, now: Instant, order: u64) -> bool {
        let _ = (now, order);
        false
    }

    /// The recovery episode that began with an out-of-order loss is over: all segments requested by then have
    /// arrived.
    fn on_recovered(&mut self, now: Instant) {
        let _ = now;
    }

    /// Sets the random number generator, before any other call.
    fn seed(&mut self, rng: Rng) {
        let _ = rng;
    }

    /// Limits the window to `max_window` segments. The state of the algorithm is kept for when the limit rises again.
    fn set_limit(&mut self, max_window: f64);
}

family! {
    /// A congestion control with its parameters, such as `aimd(beta=0.7,init-cwnd=10)`.
    pub enum Congestion: "congestion control", CongestionControl {
        Fixed(Fixed): "fixed" => Fixed::from_spec;
        Aimd(Windowed<Aimd>):
            "aimd" => aimd::from_spec,
            "yang2016" => aimd::yang2016_from_spec,
            "newreno" => aimd::newreno_from_spec,
            "udugama2013" => udugama2013::from_spec;
        Cubic(Windowed<Cubic>): "cubic" => cubic::from_spec;
        Compound(Windowed<Compound>): "compound" => compound::from_spec;
        Nikzad2022(Nikzad2022): "nikzad2022" => Nikzad2022::from_spec;
        Recoup(Recoup): "recoup" => Recoup::from_spec;
        Raaqm(Raaqm): "raaqm" => Raaqm::from_spec;
        Bbr(Bbr): "bbr" => Bbr::from_spec;
        Vegas(Windowed<Vegas>): "vegas" => vegas::from_spec;
        Westwood(Windowed<Westwood>): "westwood" => westwood::from_spec;
        Pcon(Windowed<Pcon>): "pcon" => pcon::from_spec;
    }
}

/// Parses the specification of a window, for example `aimd(beta=0.7,init-cwnd=10)`.
///
/// # Errors
/// The text is not a spec of a congestion control.
pub fn parse(text: &str) -> Result<Box<dyn CongestionControl>, SpecError> {
    Ok(text.parse::<Congestion>()?.build())
}

/// The names of all algorithms.
pub fn names() -> impl Iterator<Item = &'static str> {
    Congestion::names()
}

/// The widest window: 10⁹ segments.
const WIDEST: f64 = 1e9;

/// A limit from 1 to [`WIDEST`]; NaN becomes 1.
fn sane_limit(limit: f64) -> f64 {
    if limit.is_nan() { 1.0 } else { limit.clamp(1.0, WIDEST) }
}

/// Separates loss events: losses of transmissions sent before the last event was detected belong to that event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RecoveryPoint(Option<u64>);

impl RecoveryPoint {
    fn covers(self, order: u64) -> bool {
        self.0.is_some_and(|point| order <= point)
    }

    fn after(loss: &Loss) -> Self {
        Self(Some(loss.highest_order.max(loss.order)))
    }
}
