//! How much to ask for: congestion windows, in segments.
//!
//! A window gets facts (a delivery, a loss) and keeps one answer ready. Transmissions are told
//! apart by their *send order*, a number that rises with every Interest sent, retransmissions
//! included: unlike time it has no ties, and unlike the number of a segment it says what was sent
//! after what.
use crate::random::Rng;
use crate::spec::SpecError;
use crate::time::{Duration, Instant};
use recoup_core::family;
use std::fmt;

mod accounting;
mod aimd;
mod cause;
mod compound;
mod cubic;
mod delivery_rate;
mod extreme;
mod fixed;
mod nikzad2022;
mod raaqm;
mod recoup;
mod udugama2013;
mod windowed;

pub use accounting::Accounting;
pub use aimd::Aimd;
pub use cause::{Evidence, LossCause};
pub use compound::{Compound, CompoundMode, CompoundSettings, DelayUpdate, ZeroOnLoss};
pub use cubic::{Cubic, CubicForm, CubicSettings};
pub use fixed::Fixed;
pub use nikzad2022::Nikzad2022;
pub use raaqm::{Raaqm, RaaqmSettings};
pub use recoup::{Recoup, RecoupSettings};
pub use windowed::{
    AfterTimeout, Conservative, Growth, WindowPhase, WindowRule, WindowSettings, Windowed,
};

/// A segment arrived for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivered {
    /// Number of the segment.
    pub segment: u64,
    /// Send order of the transmission that it answers.
    pub order: u64,
    /// Highest send order so far.
    pub highest_order: u64,
    /// Its round-trip time, if it was transmitted once; without what nodes on the way added by sending it again.
    pub rtt: Option<Duration>,
    /// Which node answered, if it said so: the label of the path.
    pub path: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Least round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// Segments that the window had let out before this delivery, as its [`Accounting`] counts them,
    /// this one included if it still counted.
    pub in_flight: u32,
    /// By how many segments the lowest missing one moved; 0 if this one came out of order.
    pub advance: u64,
}

/// Why a transmission counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// Its timer expired.
    Timeout,
    /// A Nack with reason Congestion came back.
    NackCongestion,
    /// It was answered, but its Data carries a congestion mark.
    Mark,
    /// Data of segments that were asked for later came before its own.
    Order,
}

/// A transmission was lost, or its answer was marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// What told so.
    pub kind: LossKind,
    /// Send order of the lost or marked transmission.
    pub order: u64,
    /// Highest send order so far.
    pub highest_order: u64,
    /// Highest number of a segment that has arrived; 0 before any.
    pub high_data: u64,
    /// Highest number of a segment that was asked for; 0 before any.
    pub high_interest: u64,
    /// Segments in flight before this loss.
    pub in_flight: u32,
    /// How many Data came out of order before the loss was judged; 0 if something else told of it.
    pub evidence: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Least round-trip time so far.
    pub min_rtt: Option<Duration>,
}

/// Decides how many segments may be in flight.
///
/// Holds for every implementation, whatever the facts: `window()` is finite, at least 1 and at most
/// the limit (or 1); a loss never widens it, unless the [`Accounting`] is by span (then by no more than
/// the loss's evidence); its text (`Display`) parses to the [`Congestion`] of an equal algorithm in its initial
/// state.
pub trait CongestionControl: fmt::Debug + fmt::Display + Send {
    /// How many segments may be in flight; the fraction is credit not yet usable.
    fn window(&self) -> f64;

    /// Where slow start ends; infinite if nothing is known yet.
    fn ssthresh(&self) -> f64;

    /// The part of the window that stands beside the congestion window proper because round trips are
    /// short (Compound's `dwnd`); 0 for all others.
    fn delay_window(&self) -> f64 {
        0.0
    }

    /// What counts against the window.
    fn accounting(&self) -> Accounting {
        Accounting::Outstanding
    }

    /// At most so many Interests a second leave; `None`: as fast as the window allows. `remaining` segments have not been
    /// requested yet, if the end of the object is known.
    fn pacing_rate(&self, remaining: Option<u64>) -> Option<f64> {
        let _ = remaining;
        None
    }

    /// No retransmission timer shall expire sooner than this after its Interest, whatever the estimator says.
    fn least_timeout(&self) -> Option<Duration> {
        None
    }

    /// A segment arrived.
    fn on_delivered(&mut self, now: Instant, delivered: &Delivered);

    /// The cause of a loss, if the algorithm infers one: to be asked before [`on_loss`](Self::on_loss) is told of it.
    fn cause(&self, loss: &Loss) -> Option<LossCause> {
        let _ = loss;
        None
    }

    /// A transmission was lost. True if this begins a new loss event, for which the window was
    /// reduced (if the algorithm ever does that) and the timeout is to be backed off.
    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool;

    /// A link on the way lost a transmission and repaired it: a radio lost it, or a queue below that link. True if the window
    /// was reduced.
    fn on_repaired(&mut self, now: Instant, loss: &Loss) -> bool {
        let _ = (now, loss);
        false
    }

    /// A transmission reported as timed out, or as lost by its order, was answered after all: to be
    /// told at most once for each. True if the window was restored because the whole last event proved to be wrong.
    fn on_spurious(&mut self, now: Instant, order: u64) -> bool {
        let _ = (now, order);
        false
    }

    /// Everything has arrived that had been asked for when a loss was judged by the order of arrivals
    /// and began an event.
    fn on_recovered(&mut self, now: Instant) {
        let _ = now;
    }

    /// Chance comes from here, for those that need any; told before anything else.
    fn seed(&mut self, rng: Rng) {
        let _ = rng;
    }

    /// The window shall not exceed `max_window` segments from now on, whatever it learns; what it
    /// has learnt is kept for when the limit rises again.
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
    }
}

/// Builds the window that `text` describes, for example `aimd(beta=0.7,init-cwnd=10)`.
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

/// A limit that makes sense: from 1 to [`WIDEST`]; what is not a number becomes 1.
fn sane_limit(limit: f64) -> f64 {
    if limit.is_nan() { 1.0 } else { limit.clamp(1.0, WIDEST) }
}

/// Tells loss events apart: losses of transmissions that were sent before the last event was
/// noticed belong to that event.
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
