//! What a fetch amounted to, counted from its events.
use crate::event::{Cause, Event, Signal};
use crate::loss::Phase;
use crate::time::{Duration, Instant};
use recoup_packet::nack::NackReason;

/// Counts of one fetch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// First Interest for a segment.
    pub started: Option<Instant>,
    /// Last arrival of a segment.
    pub ended: Option<Instant>,
    /// Segments received.
    pub segments: u64,
    /// Octets of content received.
    pub content_bytes: u64,
    /// Octets of the Data packets that brought it.
    pub wire_octets: u64,
    /// Interests for segments sent, retransmissions included.
    pub interests: u64,
    /// Interests for segments that were sent before.
    pub retransmissions: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Window reductions by cause.
    pub reductions: Reductions,
    /// Window reductions that were undone: no loss of the event was one, or none was due to congestion.
    pub undone: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Network Nacks.
    pub nacks: u64,
    /// Segments that stayed away for other reasons than that too much was asked for.
    pub explained: Explained,
    /// Losses whose cause the congestion control inferred.
    pub inferred: Inferred,
    /// Network Nacks with reason Congestion: Interests that a node dropped because too much was asked for.
    pub nacks_congestion: u64,
    /// Losses that are known to have been none, whatever told of them.
    pub spurious: u64,
    /// Of these, those told by the order of arrivals (false alarms).
    pub false_alarms: u64,
    /// Of the same, refusals: the network said no, and the Data came all the same. These had not counted as lost.
    pub false_refusals: u64,
    /// Transmissions judged lost by the order of arrivals.
    pub lost_by_order: u64,
    /// Segments that came after such a loss, without that any timer of theirs had expired and not as
    /// false alarms that are known.
    pub repaired: u64,
    /// Phases of recovery that such losses led to.
    pub recovery: Recovery,
    /// Segments that were asked for in vain and left out.
    pub left_out: u64,
    /// Data that came too late to be used: its Interest had been withdrawn at its timeout.
    pub withdrawn: u64,
    /// Data that had been received before or that nobody asked for.
    pub duplicates: u64,
    /// Data with a wrong digest or signature.
    pub rejected: u64,
    /// Data accepted although nothing vouched for it.
    pub unverified: u64,
    /// The last segment, if it became known.
    pub last_segment: Option<u64>,
    /// Round trips of segments asked for once.
    pub rtt: Spread,
    /// The latest smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The latest retransmission timeout.
    pub rto: Option<Duration>,
    /// The latest window, in segments.
    pub window: Option<f64>,
    /// The largest window, in segments.
    pub window_max: f64,
}

/// Segments that stayed away for other reasons than that too much was asked for. None of them costs any of the window, or it is
/// given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// A link lost them: it said so, or sent them again.
    pub wireless: u64,
    /// Somebody moved.
    pub mobility: u64,
    /// Of both, those that had counted as lost before.
    pub judged: u64,
}

impl Explained {
    fn add(&mut self, other: &Self) {
        self.wireless += other.wireless;
        self.mobility += other.mobility;
        self.judged += other.judged;
    }
}

/// Losses whose cause the congestion control inferred. An inference that proved to be wrong does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// A queue was full.
    pub congestion: u64,
    /// A link lost them.
    pub random: u64,
    /// A node moved.
    pub mobility: u64,
}

impl Inferred {
    /// Adds those of another fetch.
    pub fn add(&mut self, other: &Self) {
        self.congestion += other.congestion;
        self.random += other.random;
        self.mobility += other.mobility;
    }

    fn on_event(&mut self, cause: Cause, holds: bool) {
        let count = match cause {
            Cause::Congestion => &mut self.congestion,
            Cause::Random | Cause::Wireless => &mut self.random,
            Cause::Mobility => &mut self.mobility,
        };
        *count = if holds { *count + 1 } else { count.saturating_sub(1) };
    }

    fn total(&self) -> u64 {
        self.congestion + self.random + self.mobility
    }
}

/// Window reductions by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reductions {
    /// Due to timeouts.
    pub timeout: u64,
    /// Due to Nacks with reason Congestion.
    pub nack: u64,
    /// Due to congestion marks.
    pub mark: u64,
    /// Due to the order of arrivals.
    pub order: u64,
}

/// Phases of recovery, as loss detectors tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recovery {
    /// How often fast recovery began.
    pub entries: u64,
    /// How long it lasted in all, as far as it is over.
    pub time: Duration,
    /// How often pre-recovery began.
    pub suspicions: u64,
    since: Option<Instant>,
}

impl Recovery {
    /// How long fast recovery lasted on average, in seconds, if it ever was over.
    pub fn mean_s(&self) -> Option<f64> {
        let over = self.entries - u64::from(self.since.is_some());
        (over > 0).then(|| self.time.as_secs_f64() / over as f64)
    }

    /// Both together, as far as they are over.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.suspicions += other.suspicions;
        self.time = self.time.saturating_add(other.time);
    }

    fn on_phase(&mut self, now: Instant, phase: Phase) {
        if let Some(since) = self.since.take() {
            self.time = self.time.saturating_add(now.since(since));
        }
        match phase {
            Phase::Normal => {}
            Phase::Pre => self.suspicions += 1,
            Phase::Fast => {
                self.entries += 1;
                self.since = Some(now);
            }
        }
    }
}

impl Reductions {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.timeout + self.nack + self.mark + self.order
    }

    fn add(&mut self, other: &Self) {
        self.timeout += other.timeout;
        self.nack += other.nack;
        self.mark += other.mark;
        self.order += other.order;
    }
}

/// Least, mean and greatest of a series of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: u64,
    sum: Duration,
    range: Option<(Duration, Duration)>,
}

impl Spread {
    /// Takes in one more value.
    pub fn add(&mut self, value: Duration) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
    }

    /// How many values there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least value.
    pub fn min(&self) -> Option<Duration> {
        self.range.map(|(min, _)| min)
    }

    /// The mean.
    pub fn mean(&self) -> Option<Duration> {
        let nanos = self.sum.as_nanos().checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(nanos as u64))
    }

    /// The greatest value.
    pub fn max(&self) -> Option<Duration> {
        self.range.map(|(_, max)| max)
    }

    fn add_all(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        let both = self.range.zip(other.range);
        let both = both.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        self.range = both.or(self.range).or(other.range);
    }
}

impl Summary {
    /// Takes in one event.
    pub fn on_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { transmissions, .. } => {
                self.started.get_or_insert(now);
                self.interests += 1;
                self.retransmissions += u64::from(transmissions > 1);
            }
            Event::Received { content_bytes, wire_octets, rtt, transmissions, .. } => {
                self.ended = Some(now);
                self.segments += 1;
                self.content_bytes += u64::from(content_bytes);
                self.wire_octets += u64::from(wire_octets);
                if transmissions == 1 {
                    self.rtt.add(rtt.into());
                }
            }
            Event::Sampled { srtt, rto, .. } => {
                self.srtt = Some(srtt.into());
                self.rto = Some(rto.into());
            }
            Event::Window { window, .. } => {
                self.window = Some(window);
                self.window_max = self.window_max.max(window);
            }
            Event::Reduced { cause: Signal::Timeout } => self.reductions.timeout += 1,
            Event::Reduced { cause: Signal::Nack } => self.reductions.nack += 1,
            Event::Reduced { cause: Signal::Mark } => self.reductions.mark += 1,
            Event::Reduced { cause: Signal::Order } => self.reductions.order += 1,
            Event::Undone => self.undone += 1,
            Event::TimedOut { .. } => self.timeouts += 1,
            Event::Lost { .. } => self.lost_by_order += 1,
            Event::Repaired { .. } => self.repaired += 1,
            Event::Phase { phase } => self.recovery.on_phase(now, phase),
            Event::Spurious { cause, .. } => {
                self.spurious += 1;
                self.false_alarms += u64::from(cause == Signal::Order);
                self.false_refusals += u64::from(cause == Signal::Nack);
            }
            Event::Explained { cause, judged, .. } => {
                self.explained.judged += u64::from(judged);
                match cause {
                    Cause::Wireless => self.explained.wireless += 1,
                    Cause::Mobility => self.explained.mobility += 1,
                    Cause::Congestion | Cause::Random => {}
                }
            }
            Event::Inferred { cause, holds, .. } => self.inferred.on_event(cause, holds),
            Event::Marked { .. } => self.marks += 1,
            Event::Nacked { segment, reason } => {
                self.nacks += 1;
                let congestion = segment.is_some() && reason == NackReason::Congestion;
                self.nacks_congestion += u64::from(congestion);
            }
            Event::LeftOut { .. } => self.left_out += 1,
            Event::Withdrawn { .. } => self.withdrawn += 1,
            Event::Duplicate => self.duplicates += 1,
            Event::Rejected { .. } => self.rejected += 1,
            Event::Unverified { .. } => self.unverified += 1,
            Event::EndKnown { last } => self.last_segment = Some(last),
            _ => {}
        }
    }

    /// Adds what another fetch amounted to. Of what is the latest of its kind (window, timer, last segment), the other's stays,
    /// if it has one.
    pub fn add(&mut self, other: &Self) {
        let Self {
            started,
            ended,
            segments,
            content_bytes,
            wire_octets,
            interests,
            retransmissions,
            timeouts,
            reductions,
            undone,
            marks,
            nacks,
            explained,
            inferred,
            nacks_congestion,
            spurious,
            false_alarms,
            false_refusals,
            lost_by_order,
            repaired,
            recovery,
            left_out,
            withdrawn,
            duplicates,
            rejected,
            unverified,
            last_segment,
            rtt,
            srtt,
            rto,
            window,
            window_max,
        } = other;
        self.started = self.started.into_iter().chain(*started).min();
        self.ended = self.ended.max(*ended);
        self.segments += segments;
        self.content_bytes += content_bytes;
        self.wire_octets += wire_octets;
        self.interests += interests;
        self.retransmissions += retransmissions;
        self.timeouts += timeouts;
        self.reductions.add(reductions);
        self.undone += undone;
        self.marks += marks;
        self.nacks += nacks;
        self.explained.add(explained);
        self.inferred.add(inferred);
        self.nacks_congestion += nacks_congestion;
        self.spurious += spurious;
        self.false_alarms += false_alarms;
        self.false_refusals += false_refusals;
        self.lost_by_order += lost_by_order;
        self.repaired += repaired;
        self.recovery.add(recovery);
        self.left_out += left_out;
        self.withdrawn += withdrawn;
        self.duplicates += duplicates;
        self.rejected += rejected;
        self.unverified += unverified;
        self.last_segment = last_segment.or(self.last_segment);
        self.rtt.add_all(rtt);
        self.srtt = srtt.or(self.srtt);
        self.rto = rto.or(self.rto);
        self.window = window.or(self.window);
        self.window_max = self.window_max.max(*window_max);
    }

    /// Transmissions lost by congestion: the congestion control inferred it, or a Nack reported it. A mark is no loss.
    pub fn congestion_losses(&self) -> u64 {
        self.inferred.congestion + self.nacks_congestion
    }

    /// Transmissions that a link lost, as the congestion control inferred; no node reported it.
    pub fn random_losses(&self) -> u64 {
        self.inferred.random
    }

    /// Transmissions lost because a node moved: reported, or inferred.
    pub fn mobility_losses(&self) -> u64 {
        self.explained.mobility + self.inferred.mobility
    }

    /// Transmissions that counted as lost, and whose cause is neither reported nor inferred.
    pub fn unknown_losses(&self) -> u64 {
        let judged = self.timeouts + self.lost_by_order;
        let none = self.needless_timeouts() + self.false_alarms;
        judged.saturating_sub(none + self.explained.judged + self.inferred.total())
    }

    /// All transmissions that were lost, whatever the cause.
    pub fn lost(&self) -> u64 {
        let told = self.explained.wireless + self.mobility_losses();
        self.congestion_losses() + self.random_losses() + told + self.unknown_losses()
    }

    /// Timeouts that are known to have been needless: the Data was on its way.
    pub fn needless_timeouts(&self) -> u64 {
        self.spurious - self.false_alarms - self.false_refusals
    }

    /// From the first Interest for a segment to the last arrival.
    pub fn elapsed(&self) -> Duration {
        match (self.started, self.ended) {
            (Some(started), Some(ended)) => ended.since(started),
            _ => Duration::ZERO,
        }
    }

    /// Content per time, in bit/s.
    pub fn goodput(&self) -> Option<f64> {
        self.rate(self.content_bytes)
    }

    /// Whole Data packets per time, in bit/s.
    pub fn throughput(&self) -> Option<f64> {
        self.rate(self.wire_octets)
    }

    fn rate(&self, octets: u64) -> Option<f64> {
        let seconds = self.elapsed().as_secs_f64();
        (seconds > 0.0).then(|| octets as f64 * 8.0 / seconds)
    }

    /// Loss events per segment received: what S. Yang's study (2016) calls the packet-loss rate.
    pub fn loss_rate(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.reductions.total() as f64 / self.segments as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_what_happened() {
        let mut summary = Summary::default();
        let ms = Duration::from_millis;
        let sent = |transmissions| Event::Sent { segment: 0, transmissions, rto: ms(1).into() };
        let received = Event::Received {
            segment: 0,
            content_bytes: 1_000,
            wire_octets: 1_500,
            rtt: ms(8).into(),
            delay: ms(8).into(),
            transmissions: 1,
        };
        summary.on_event(Instant::from_millis(100), &sent(1));
        summary.on_event(Instant::from_millis(104), &sent(2));
        summary.on_event(Instant::from_millis(108), &received);
        assert_eq!((summary.interests, summary.retransmissions, summary.segments), (2, 1, 1));
        assert_eq!(summary.elapsed(), ms(8));
        assert_eq!(summary.goodput(), Some(1_000_000.0));
        assert_eq!(summary.throughput(), Some(1_500_000.0));
        assert_eq!(summary.loss_rate(), Some(0.0));
        summary.on_event(Instant::from_millis(109), &Event::Reduced { cause: Signal::Timeout });
        assert_eq!(summary.loss_rate(), Some(1.0));
        assert_eq!(summary.rtt.mean(), Some(ms(8)));
    }

    #[test]
    fn two_amount_to_what_both_would_have_counted() {
        let ms = Duration::from_millis;
        let at = Instant::from_millis;
        let received = |rtt| Event::Received {
            segment: 0,
            content_bytes: 1_000,
            wire_octets: 1_500,
            rtt: ms(rtt).into(),
            delay: ms(rtt).into(),
            transmissions: 1,
        };
        let sent = Event::Sent { segment: 0, transmissions: 1, rto: ms(1).into() };
        let window = Event::Window { window: 4.0, ssthresh: 2.0, delay_window: 0.0 };
        let spurious = Event::Spurious { segment: 0, cause: Signal::Timeout };
        let explained = Event::Explained { segment: 0, cause: Cause::Mobility, judged: true };
        let first = [
            (at(5), sent),
            (at(9), received(4)),
            (at(9), Event::EndKnown { last: 3 }),
            (at(9), Event::Phase { phase: Phase::Fast }),
            (at(10), Event::Phase { phase: Phase::Normal }),
            (at(11), Event::Reduced { cause: Signal::Mark }),
        ];
        let second = [
            (at(12), sent),
            (at(12), window),
            (at(20), received(8)),
            (at(20), Event::TimedOut { segment: 0 }),
            (at(21), spurious),
            (at(21), explained),
            (at(21), Event::Inferred { segment: 1, cause: Cause::Random, holds: true }),
            (at(21), Event::Nacked { segment: Some(1), reason: NackReason::Congestion }),
            (at(21), Event::Undone),
            (at(22), Event::Phase { phase: Phase::Fast }),
            (at(24), Event::Phase { phase: Phase::Normal }),
        ];
        let (mut one, mut other, mut both) =
            (Summary::default(), Summary::default(), Summary::default());
        first.iter().for_each(|(at, event)| one.on_event(*at, event));
        second.iter().for_each(|(at, event)| other.on_event(*at, event));
        first.iter().chain(&second).for_each(|(at, event)| both.on_event(*at, event));
        let mut sum = Summary::default();
        sum.add(&one);
        assert_eq!(sum, one);
        sum.add(&other);
        assert_eq!(sum, both);
    }

    #[test]
    fn data_that_was_refused_before_it_came_takes_no_timeout_back() {
        let mut summary = Summary::default();
        let mut happens = |event| summary.on_event(Instant::ZERO, &event);
        happens(Event::TimedOut { segment: 1 });
        happens(Event::TimedOut { segment: 2 });
        happens(Event::Spurious { segment: 2, cause: Signal::Timeout });
        happens(Event::Spurious { segment: 3, cause: Signal::Nack });
        assert_eq!((summary.spurious, summary.needless_timeouts()), (2, 1));
        assert_eq!((summary.unknown_losses(), summary.congestion_losses()), (1, 0));
    }
}
