//! Rules that declare a segment lost before its timer expires, by the order in which Data arrives.
//!
//! A detector is told of each segment that arrives, and says which transmissions are lost by that. It
//! neither asks again nor touches a window: the fetch loop does, and tells the window, which decides
//! whether that is a new event. From a judgement that begins an event until everything has arrived that
//! had been asked for by then, the flow is in *fast recovery* ([`Phase::Fast`]).
//!
//! | the study's | here | repair |
//! |---|---|---|
//! | `simple1` | `timeout` | nothing but timers |
//! | `simple2` | `out-of-order(frt=3,repair=first-hole)` | as TCP: the lowest missing segment, then the next |
//! | `simple3` | `out-of-order(frt=3,repair=selective)` | all that is missing at once |
//! | `smart` | `pre-recovery(frt=3,repair=selective)` | all that is missing at once |
//!
//! The names on the left are read as well, and print as what they stand for.
//!
//! Sources: A. Udugama et al. (2013), whose four versions of recovery these are; RFC 9002 and RFC 8985 for
//! `time-threshold`, which no study has.
use crate::spec::{SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use recoup_core::family;
use std::fmt;

mod doubt;
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
    /// Its round trip, if it was transmitted once.
    pub rtt: Option<Duration>,
    /// How old its transmissions are, if it was transmitted more than once.
    pub repeated: Option<Repeated>,
    /// By how many segments the lowest missing one moved; 0 means that this one came out of order.
    pub advance: u64,
    /// It answers a transmission that was sent after the last one of the lowest missing segment, and
    /// has overtaken that. Where this is false, arriving out of order says nothing: what is missing
    /// was asked for again in between.
    pub overtook: bool,
    /// Segments that have arrived above the lowest missing one.
    pub held: u64,
    /// Highest send order of a transmission that was answered.
    pub answered: u64,
    /// The oldest transmission in flight, if it was sent before one that was answered. Known only where all that is lost
    /// is repaired at once ([`Repair::Selective`]).
    pub overtaken: Option<Overtaken>,
    /// The window, in segments.
    pub window: f64,
}

/// Ages of the transmissions of a segment that was asked for more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Age of the last transmission.
    pub since_last: Duration,
    /// Age of the last one that was judged lost.
    pub since_lost: Duration,
}

/// A transmission in flight that others have overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// Its send order.
    pub order: u64,
    /// When it was sent.
    pub sent: Instant,
}

/// Transmissions are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Those that were not answered and have this send order or a lower one.
    pub through: u64,
    /// Also those that were sent at this time or before it, and before one that was answered.
    pub sent_by: Option<Instant>,
    /// How many Data came out of order before this was clear.
    pub evidence: u32,
}

/// What is asked for again when a detector has judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// All that is lost, lowest first (selective fast retransmit).
    Selective,
    /// The lowest missing segment; when that has come, the next one, as far as had been asked for when
    /// the loss was judged (RFC 6582, 3.2).
    FirstHole,
}

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is suspected.
    #[default]
    Normal,
    /// Data comes out of order, but that may be due to different ways (pre-recovery).
    Pre,
    /// A loss was judged and is being repaired (fast recovery).
    Fast,
}

/// Judges from the order of arrivals what is lost.
///
/// Holds for every implementation, whatever the facts: what it judges lost was sent before something
/// that was answered; it is in [`Phase::Fast`] from a judgement until `on_timeout` or `on_recovered`;
/// its text (`Display`) parses to the [`Loss`] of an equal detector in its initial state.
pub trait LossDetector: fmt::Debug + fmt::Display + Send {
    /// What is asked for again; none if it never judges.
    fn repair(&self) -> Option<Repair>;

    /// A segment arrived.
    fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Judgement>;

    /// A timer expired, or all that was under way is void: what was suspected is settled.
    fn on_timeout(&mut self, now: Instant);

    /// Fast recovery is over, or there was nothing to repair.
    fn on_recovered(&mut self, now: Instant);

    /// Something judged lost was answered after all.
    fn on_spurious(&mut self, now: Instant) {
        let _ = now;
    }

    /// A first transmission would be lost: for how long after it its answer is awaited nevertheless, to see whether answers
    /// are only late; `None`: it is lost.
    fn doubt(&mut self, now: Instant) -> Option<Duration> {
        let _ = now;
        None
    }

    /// Where the flow stands.
    fn phase(&self) -> Phase;

    /// Age at which a transmission that others have overtaken is lost even if nothing arrives; `None`: only arrivals tell.
    fn age(&self) -> Option<Duration> {
        None
    }

    /// Silence after which the oldest transmission is asked for again (tail-loss probe); `None`: only timers do that.
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

/// Builds the detector that `text` describes, for example `out-of-order(frt=3)`.
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
    /// One word for it: `normal`, `pre` or `fast`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Pre => "pre",
            Self::Fast => "fast",
        }
    }
}

/// How many Data out of order are meant, as it is written in a spec.
const COUNT: &str = "a whole number from 1 to 1000000";

fn read_count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=1_000_000).contains(count))
}

fn print(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    SpecWriter::new(f, name).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data that came in order; `held` wait above the next one.
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

    /// Data that overtook the lowest missing segment.
    pub(super) fn out_of_order(order: u64) -> Arrival {
        Arrival { advance: 0, overtook: true, ..in_order(order, 1) }
    }

    /// Data out of order that was sent before the lowest missing segment was asked for again.
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
