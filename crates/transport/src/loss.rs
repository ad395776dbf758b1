//! Reordering-based loss detection: rules that declare a segment lost before its timer expires.
//!
//! A detector receives each arriving segment and decides which transmissions are lost. It neither retransmits nor
//! changes a window: the fetch loop does, and reports the loss to the window, which decides whether a loss event
//! begins. The flow is in *fast recovery* ([`Phase::Fast`]) from a judgement that begins an event until all segments
//! requested by then have arrived.
//!
//! | study | here | repair |
//! |---|---|---|
//! | `simple1` | `timeout` | timers only |
//! | `simple2` | `out-of-order(frt=3,repair=first-hole)` | as TCP: the lowest missing segment, then the next |
//! | `simple3` | `out-of-order(frt=3,repair=selective)` | all missing segments at once |
//! | `smart` | `pre-recovery(frt=3,repair=selective)` | all missing segments at once |
//!
//! The names on the left are accepted as well, and print as the names in the second column.
//!
//! Sources: A. Udugama et al. (2013) for the four versions of recovery; RFC 9002 and RFC 8985 for `time-threshold`,
//! which no study has.
use crate::spec::{SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use recoup_core::family;
use std::fmt;

mod lateness;
mod out_of_order;
mod pre_recovery;
mod rack;
mod reordering;
mod time_threshold;
mod timeout;

pub use out_of_order::{OutOfOrder, OutOfOrderSettings};
pub use pre_recovery::{PreRecovery, PreRecoverySettings};
pub use rack::Rack;
pub use time_threshold::{TimeThreshold, TimeThresholdSettings};
pub use timeout::Timeout;

/// A segment arrived for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Number of the segment.
    pub segment: u64,
    /// Send order of the transmission that it answers, the last one of its segment.
    pub order: u64,
    /// Round-trip time, if the segment was transmitted once.
    pub rtt: Option<Duration>,
    /// Ages of its transmissions, if it was transmitted more than once.
    pub repeated: Option<Repeated>,
    /// Segments by which the lowest missing one advanced; 0 means that this one came out of order.
    pub advance: u64,
    /// The answered transmission was sent after the last one of the lowest missing segment, and has overtaken it. If
    /// this is false, an out-of-order arrival is no evidence: the missing segment was retransmitted in between.
    pub overtook: bool,
    /// Segments received above the lowest missing one.
    pub held: u64,
    /// Highest send order answered.
    pub answered: u64,
    /// The oldest transmission in flight, if it was sent before one that was answered. Known with
    /// [`Repair::Selective`] only.
    pub overtaken: Option<Overtaken>,
    /// The window, in segments.
    pub window: f64,
}

/// Ages of the transmissions of a retransmitted segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Age of the last transmission.
    pub since_last: Duration,
    /// Age of the last one declared lost.
    pub since_lost: Duration,
}

/// A transmission in flight that was overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// Its send order.
    pub order: u64,
    /// Send time.
    pub sent: Instant,
}

/// Transmissions declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Unanswered transmissions with at most this send order.
    pub through: u64,
    /// Overtaken transmissions sent at this time or earlier.
    pub sent_by: Option<Instant>,
    /// Data received out of order before the judgement.
    pub evidence: u32,
}

/// Segments retransmitted after a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// All lost segments, lowest first (selective fast retransmit).
    Selective,
    /// The lowest missing segment; after its arrival the next one, up to the highest one requested at the judgement
    /// (RFC 6582, 3.2).
    FirstHole,
}

/// Recovery phase of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No loss is suspected.
    #[default]
    Normal,
    /// Data arrives out of order, perhaps over different paths (pre-recovery).
    Pre,
    /// A loss was declared and is being repaired (fast recovery).
    Fast,
}

/// Declares transmissions lost by reordering.
///
/// Each implementation keeps these invariants. A transmission declared lost was sent before one that was answered.
/// The phase is [`Phase::Fast`] from a judgement until `on_timeout` or `on_recovered`. Its text (`Display`) parses to
/// the [`Loss`] of an equal detector in its initial state.
pub trait LossDetector: fmt::Debug + fmt::Display + Send {
    /// Segments retransmitted after a judgement; none if it never declares a loss.
    fn repair(&self) -> Option<Repair>;

    /// A segment arrived.
    fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Judgement>;

    /// A timer expired, or no transmission is in flight any more: the suspicion is settled.
    fn on_timeout(&mut self, now: Instant);

    /// Fast recovery is over, or no repair was needed.
    fn on_recovered(&mut self, now: Instant);

    /// A transmission declared lost was answered after all.
    fn on_spurious(&mut self, now: Instant) {
        let _ = now;
    }

    /// Time to wait for a late answer instead of declaring a first transmission lost; `None`: it is lost.
    fn reordering_wait(&mut self, now: Instant) -> Option<Duration> {
        let _ = now;
        None
    }

    /// Recovery phase.
    fn phase(&self) -> Phase;

    /// Age at which an overtaken transmission is lost even if nothing arrives; `None`: only arrivals declare losses.
    fn age(&self) -> Option<Duration> {
        None
    }

    /// Idle time after which the oldest transmission is retransmitted (tail-loss probe); `None`: only timers do that.
    fn probe_after(&self) -> Option<Duration> {
        None
    }
}

family! {
    /// A loss detector with its parameters, such as `out-of-order(frt=3)`.
    pub enum Loss: "loss detector", LossDetector {
        Timeout(Timeout): "timeout" => Timeout::from_spec, "simple1" => Timeout::from_spec;
        OutOfOrder(OutOfOrder):
            "out-of-order" => |spec| out_of_order::from_spec(spec, Repair::Selective),
            "simple2" => |spec| out_of_order::from_spec(spec, Repair::FirstHole),
            "simple3" => |spec| out_of_order::from_spec(spec, Repair::Selective);
        PreRecovery(PreRecovery): "pre-recovery" => pre_recovery::from_spec, "smart" => pre_recovery::from_spec;
        Rack(Rack): "rack" => rack::from_spec;
        TimeThreshold(TimeThreshold): "time-threshold" => time_threshold::from_spec;
    }
}

/// Parses the specification of a detector, for example `out-of-order(frt=3)`.
///
/// # Errors
/// The text is not a spec of a detector.
pub fn parse(text: &str) -> Result<Box<dyn LossDetector>, SpecError> {
    Ok(text.parse::<Loss>()?.build())
}

/// The names of all detectors.
pub fn names() -> impl Iterator<Item = &'static str> {
    Loss::names()
}

impl Repair {
    const WORDS: [(&str, Self); 2] =
        [("selective", Self::Selective), ("first-hole", Self::FirstHole)];
    const EXPECTED: &str = "selective or first-hole";
}

impl Phase {
    /// Short name of the phase: `normal`, `pre` or `fast`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Pre => "pre",
            Self::Fast => "fast",
        }
    }
}

/// Expected values of a count of out-of-order Data.
const COUNT: &str = "a whole number from 1 to 1000000";

const COUNTS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

fn print(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    SpecWriter::new(f, name).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data in order; `held` segments are received above the next one.
    pub(super) fn in_order(order: u64, held: u64) -> Arrival {
        Arrival {
            segment: order,
            order,
            rtt: None,
            repeated: None,
            advance: 1,
            overtook: false,
            held,
            answered: order,
            overtaken: None,
            window: 100.0,
        }
    }

    /// Data that has overtaken the lowest missing segment.
    pub(super) fn out_of_order(order: u64) -> Arrival {
        Arrival { advance: 0, overtook: true, ..in_order(order, 1) }
    }

    /// Data out of order that was sent before the retransmission of the lowest missing segment.
    pub(super) fn late(order: u64) -> Arrival {
        Arrival { advance: 0, overtook: false, ..in_order(order, 1) }
    }

    #[test]
    fn the_versions_of_the_study_are_spelled_out() {
        for (version, printed) in [
            ("simple1", "timeout"),
            ("simple2", "out-of-order(frt=3,repair=first-hole,rescan=false)"),
            ("simple3", "out-of-order(frt=3,repair=selective,rescan=false)"),
            (
                "smart",
                "pre-recovery(frt=3,repair=selective,rescan=false,learn=false,decay=0,cap=inf)",
            ),
        ] {
            assert_eq!(parse(version).unwrap().to_string(), printed);
        }
    }
}
