//! Why a segment came when it came: what took most of its time.
use super::{Moment, Step, Timeline, Transmission};
use crate::network::NodeId;
use crate::observe::LossReason;
use crate::record::place::Channel;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::packet::Kind;
use recoup_transport::time::{Duration, Instant};

/// A segment is late if it took so many times the median.
const LATE: f64 = 1.5;
/// A shorter part of a delay does not explain it.
const LEAST_PART: f64 = 0.25;

/// Where Data came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A node's content store.
    Cache(NodeId),
    /// A producer at a node.
    Producer(NodeId),
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By a channel.
    Channel(Channel, Kind, LossReason),
    /// By a node.
    Node(NodeId, Option<Kind>, DropReason),
}

/// The signal that made the consumer retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Its timer, after that time.
    Timer(Duration),
    /// The order in which others came.
    Order,
    /// A Nack, or a notice that a face was gone.
    Network,
}

/// The largest part of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The path itself: no part of it stands out.
    Way,
    /// A retransmission that long after the first transmission, with the last loss before it, if known.
    Repair {
        /// The last loss before the answered transmission.
        loss: Option<Loss>,
        /// The signal of the loss.
        remedy: Remedy,
        /// From the first transmission to the one that was answered.
        after: Duration,
        /// Number of unanswered transmissions.
        in_vain: usize,
    },
    /// A packet of it waited in the node in front of a channel.
    Queue {
        /// The channel.
        channel: Channel,
        /// Kind of the packet.
        kind: Kind,
        /// The time.
        time: Duration,
    },
    /// A packet of it was longer on a channel than rate and delay explain, or the channel is a medium's.
    Channel {
        /// The channel.
        channel: Channel,
        /// Kind of the packet.
        kind: Kind,
        /// Unexplained time.
        time: Duration,
    },
    /// The segment did not arrive; the last loss of it.
    Missing(Option<Loss>),
}

/// Why a segment came when it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Time from the first Interest to its arrival; `None` if it did not come.
    pub delay: Option<Duration>,
    /// The median of that over all segments of the consumer.
    pub median: Option<Duration>,
    /// The largest part of the delay.
    pub cause: Cause,
    /// The first spurious timeout, if any: time from it to the answer of its transmission.
    pub spurious: Option<Duration>,
    /// Where its Data came from.
    pub source: Option<Source>,
}

impl Verdict {
    /// Whether it took more than half as long again as the median, or did not come.
    pub fn is_late(&self) -> bool {
        match (self.delay, self.median) {
            (Some(delay), Some(median)) => delay.as_secs_f64() > LATE * median.as_secs_f64(),
            _ => true,
        }
    }
}

impl Timeline {
    /// The cause of the segment's delay; `None` without any Interest.
    pub fn verdict(&self) -> Option<Verdict> {
        let first = self.transmissions.first()?;
        let spurious = |it: &Transmission| Some(it.answered?.since(it.expired?));
        let late = |it: &&Transmission| it.expired.is_some_and(|at| it.answered >= Some(at));
        let cause = match self.delay {
            Some(delay) => self.cause(first.at, first.at + delay),
            None => Cause::Missing(self.moments.iter().filter_map(loss).next_back()),
        };
        Some(Verdict {
            delay: self.delay,
            median: self.median(),
            cause,
            spurious: self.transmissions.iter().find(late).and_then(spurious),
            source: self.source,
        })
    }

    fn cause(&self, asked: Instant, arrived: Instant) -> Cause {
        let came = |it: &Transmission| it.answered.is_some_and(|at| at <= arrived);
        let answered = self.transmissions.iter().position(came).unwrap_or(0);
        let sent = self.transmissions.get(answered).map_or(asked, |it| it.at);
        let repair = (answered > 0).then(|| (sent.since(asked), self.repair(answered, sent)));
        let waits = self.moments.iter().filter(|it| (sent..=arrived).contains(&it.at));
        let waits = waits.filter_map(wait);
        let least = arrived.since(asked).mul_f64(LEAST_PART);
        let parts = repair.into_iter().chain(waits).filter(|(time, _)| *time >= least);
        parts.max_by_key(|(time, _)| *time).map_or(Cause::Way, |(_, cause)| cause)
    }

    /// Why transmission number `answered`, which was sent at `sent`, was needed.
    fn repair(&self, answered: usize, sent: Instant) -> Cause {
        let before = self.moments.iter().filter(|it| it.at <= sent);
        let loss = before.clone().filter_map(loss).next_back();
        let mut remedies = before.filter_map(|it| match it.step {
            Step::TimedOut => {
                let rto = self.transmissions.get(answered.wrapping_sub(1)).map(|it| it.rto);
                Some(Remedy::Timer(rto.unwrap_or_default()))
            }
            Step::TakenForLost => Some(Remedy::Order),
            Step::Nacked { .. } | Step::Explained { .. } => Some(Remedy::Network),
            _ => None,
        });
        let remedy = remedies.next_back().unwrap_or(Remedy::Network);
        let first = self.transmissions.first().map_or(sent, |it| it.at);
        Cause::Repair { loss, remedy, after: sent.since(first), in_vain: answered }
    }
}

/// The loss of a packet of the consumer, if the moment is one.
fn loss(moment: &Moment) -> Option<Loss> {
    match moment.step {
        Step::Lost { channel, kind, reason, own: true } => {
            Some(Loss::Channel(channel, kind, reason))
        }
        Step::Dropped { node, kind, reason } => Some(Loss::Node(node, kind, reason)),
        _ => None,
    }
}

/// The time that a packet was queued, if the moment is one.
fn wait(moment: &Moment) -> Option<(Duration, Cause)> {
    match moment.step {
        Step::Left { channel, kind, waited: time, .. } => {
            Some((time, Cause::Queue { channel, kind, time }))
        }
        Step::Came { channel, kind, travelled, excess, .. } => {
            let time = excess.or(travelled)?;
            Some((time, Cause::Channel { channel, kind, time }))
        }
        _ => None,
    }
}
