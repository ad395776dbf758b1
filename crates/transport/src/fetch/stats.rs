//! Counters of a fetch, from the events of its loop to the figures of a JSON document.
//!
//! A further counter is a field of [`FetchStats`], an event in [`on_event`](FetchStats::on_event) and a sum in
//! [`add`](FetchStats::add). If documents show it, it has an entry in `stats/document.rs`.
mod document;
mod parts;

use super::belonging::OTHER_CONTENT;
use crate::event::{Cause, Event, Signal};
use crate::time::{Duration, Instant};
pub use document::Verification;
pub use parts::{Causes, Explained, Inferred, Nacks, Recovery, Reductions, Spread};
use recoup_packet::nack::NackReason;
use std::collections::VecDeque;

/// Most retransmissions whose time is kept.
const MAX_REPEATED: usize = 256;

/// Counters of one fetch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchStats {
    /// First Interest for a segment.
    pub started: Option<Instant>,
    /// Last arrival of a segment.
    pub ended: Option<Instant>,
    /// Segments received.
    pub segments: u64,
    /// Bytes of content received.
    pub content_bytes: u64,
    /// Bytes of the Data packets that carried the content.
    pub wire_bytes: u64,
    /// Interests for segments sent, retransmissions included.
    pub interests: u64,
    /// Retransmitted Interests for segments.
    pub retransmissions: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Window reductions by cause.
    pub reductions: Reductions,
    /// Window reductions that were undone: the losses of the event were spurious, or none was due to congestion.
    pub undone: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Network Nacks.
    pub nacks: u64,
    /// Network Nacks by reason.
    pub nacks_by_reason: Nacks,
    /// Segments lost for other reasons than congestion, as nodes reported.
    pub explained: Explained,
    /// Losses whose cause the congestion control inferred.
    pub inferred: Inferred,
    /// Network Nacks with reason Congestion.
    pub nacks_congestion: u64,
    /// Spurious losses, whatever the signal.
    pub spurious: u64,
    /// Spurious losses detected by reordering.
    pub false_alarms: u64,
    /// Spurious Nacks: the Data arrived after a Nack. These segments had not counted as lost.
    pub spurious_nacks: u64,
    /// Transmissions declared lost by reordering.
    pub lost_by_order: u64,
    /// Segments that arrived after such a loss, before any of their timers expired, and not counted as false alarms.
    pub repaired: u64,
    /// Recovery episodes that such losses began.
    pub recovery: Recovery,
    /// Segments left out after their retries.
    pub left_out: u64,
    /// Data that arrived after its Interest had been withdrawn at its timeout.
    pub withdrawn: u64,
    /// Unsolicited and duplicate Data.
    pub duplicates: u64,
    /// Data with a wrong digest or signature.
    pub rejected: u64,
    /// Of these, Data of other content with the same name.
    pub other_content: u64,
    /// The reason of the first rejected Data.
    pub rejected_why: Option<&'static str>,
    /// Data accepted without verification.
    pub unverified: u64,
    /// The last segment, if known.
    pub last_segment: Option<u64>,
    /// Round-trip times of segments sent once.
    pub rtt: Spread,
    /// The latest smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The latest retransmission timeout.
    pub rto: Option<Duration>,
    /// The latest window, in segments.
    pub window: Option<f64>,
    /// The largest window, in segments.
    pub window_max: f64,
    /// The latest slow-start threshold, in segments.
    pub ssthresh: f64,
    /// Whether no face leads toward producers at the moment.
    pub disconnected: bool,
    /// Times at which the last face toward producers went down.
    pub disconnections: u64,
    /// Retransmissions of the segments that were requested before any segment had arrived. A path that drops long
    /// packets, or a late producer, causes them.
    pub blind: u64,
    /// The highest of these segments.
    blind_last: Option<u64>,
    /// Times of the last retransmissions.
    repeated: VecDeque<Instant>,
    /// Set by the owner of the fetch loop; zero without one.
    pub run: Run,
}

/// Circumstances of a fetch that no event of its loop shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Segments that were there from an earlier run.
    pub segments_before: u64,
    /// Bytes of content that were there from an earlier run.
    pub held_bytes: u64,
    /// Of these, bytes that were accepted although nothing vouched for them.
    pub held_not_verified: u64,
    /// The whole file was there: it is unchanged since it was verified, and its version is the producer's latest.
    pub is_kept: bool,
    /// Content came encrypted, and was not decrypted.
    pub is_encrypted: bool,
    /// The face is a stream, such as TCP or a Unix socket, which loses nothing itself.
    pub is_stream: bool,
    /// The whole run, discovery included.
    pub total: Duration,
}

impl Run {
    fn add(&mut self, other: &Self) {
        self.segments_before += other.segments_before;
        self.held_bytes = self.held_bytes.saturating_add(other.held_bytes);
        self.held_not_verified = self.held_not_verified.saturating_add(other.held_not_verified);
        self.is_kept = other.is_kept;
        self.is_encrypted |= other.is_encrypted;
        self.is_stream = other.is_stream;
        self.total = self.total.saturating_add(other.total);
    }
}

impl FetchStats {
    /// Counts one event.
    pub fn on_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { segment, transmissions, .. } => {
                self.started.get_or_insert(now);
                self.interests += 1;
                if transmissions > 1 {
                    self.on_retransmission(now, segment);
                } else if self.segments == 0 {
                    self.blind_last = self.blind_last.max(Some(segment));
                }
            }
            Event::Received { content_bytes, wire_bytes, rtt, transmissions, .. } => {
                self.ended = Some(now);
                self.segments += 1;
                self.content_bytes += u64::from(content_bytes);
                self.wire_bytes += u64::from(wire_bytes);
                if transmissions == 1 {
                    self.rtt.add(rtt.into());
                }
            }
            Event::Sampled { srtt, rto, .. } => {
                self.srtt = Some(srtt.into());
                self.rto = Some(rto.into());
            }
            Event::Window { window, ssthresh, .. } => {
                self.window = Some(window);
                self.window_max = self.window_max.max(window);
                self.ssthresh = ssthresh;
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
                self.spurious_nacks += u64::from(cause == Signal::Nack);
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
                self.nacks_by_reason.count(reason);
                let congestion = segment.is_some() && reason == NackReason::Congestion;
                self.nacks_congestion += u64::from(congestion);
            }
            Event::LeftOut { .. } => self.left_out += 1,
            Event::Withdrawn { .. } => self.withdrawn += 1,
            Event::Duplicate => self.duplicates += 1,
            Event::Rejected { why, .. } => {
                self.rejected += 1;
                self.other_content += u64::from(why == OTHER_CONTENT);
                self.rejected_why.get_or_insert(why);
            }
            Event::Unverified { .. } => self.unverified += 1,
            Event::EndKnown { last } => self.last_segment = Some(last),
            Event::Disconnected => {
                self.disconnected = true;
                self.disconnections += 1;
            }
            Event::Connected => self.disconnected = false,
            _ => {}
        }
    }

    fn on_retransmission(&mut self, now: Instant, segment: u64) {
        self.retransmissions += 1;
        self.blind += u64::from(Some(segment) <= self.blind_last);
        if self.repeated.len() >= MAX_REPEATED {
            self.repeated.pop_front();
        }
        self.repeated.push_back(now);
    }

    /// Adds the counters of another fetch. Of the latest values (window, timer, last segment), the other's replaces
    /// this one's, if there is one.
    pub fn add(&mut self, other: &Self) {
        let Self {
            started,
            ended,
            segments,
            content_bytes,
            wire_bytes,
            interests,
            retransmissions,
            timeouts,
            reductions,
            undone,
            marks,
            nacks,
            nacks_by_reason,
            explained,
            inferred,
            nacks_congestion,
            spurious,
            false_alarms,
            spurious_nacks,
            lost_by_order,
            repaired,
            recovery,
            left_out,
            withdrawn,
            duplicates,
            rejected,
            other_content,
            rejected_why,
            unverified,
            last_segment,
            rtt,
            srtt,
            rto,
            window,
            window_max,
            ssthresh,
            disconnected,
            disconnections,
            blind,
            blind_last,
            repeated,
            run,
        } = other;
        self.started = self.started.into_iter().chain(*started).min();
        self.ended = self.ended.max(*ended);
        self.segments += segments;
        self.content_bytes += content_bytes;
        self.wire_bytes += wire_bytes;
        self.interests += interests;
        self.retransmissions += retransmissions;
        self.timeouts += timeouts;
        self.reductions.add(reductions);
        self.undone += undone;
        self.marks += marks;
        self.nacks += nacks;
        self.nacks_by_reason.add(nacks_by_reason);
        self.explained.add(explained);
        self.inferred.add(inferred);
        self.nacks_congestion += nacks_congestion;
        self.spurious += spurious;
        self.false_alarms += false_alarms;
        self.spurious_nacks += spurious_nacks;
        self.lost_by_order += lost_by_order;
        self.repaired += repaired;
        self.recovery.add(recovery);
        self.left_out += left_out;
        self.withdrawn += withdrawn;
        self.duplicates += duplicates;
        self.rejected += rejected;
        self.other_content += other_content;
        self.rejected_why = self.rejected_why.or(*rejected_why);
        self.unverified += unverified;
        self.last_segment = last_segment.or(self.last_segment);
        self.rtt.add_all(rtt);
        self.srtt = srtt.or(self.srtt);
        self.rto = rto.or(self.rto);
        self.window = window.or(self.window);
        self.window_max = self.window_max.max(*window_max);
        if window.is_some() {
            self.ssthresh = *ssthresh;
        }
        self.disconnected = *disconnected;
        self.disconnections += disconnections;
        self.blind += blind;
        self.blind_last = self.blind_last.max(*blind_last);
        self.repeated.extend(repeated);
        let surplus = self.repeated.len().saturating_sub(MAX_REPEATED);
        self.repeated.drain(..surplus);
        self.run.add(run);
    }

    /// Retransmissions that were sent less than the longest round trip before the last arrival: their answers may still be
    /// on their way.
    fn unsettled(&self) -> u64 {
        let longest = self.rtt.max().unwrap_or_default();
        let is_open = |sent: &&Instant| self.ended.is_none_or(|ended| **sent + longest >= ended);
        self.repeated.iter().filter(is_open).count() as u64
    }

    /// Lost transmissions by cause.
    ///
    /// A stream delivers everything in order: an answer that did not come in time was late, or a node beyond lost it, and
    /// no cause can be inferred. At most the Interests were lost that had no answer, although there was time for one.
    pub fn causes(&self) -> Causes {
        let mut left = self.duplicates;
        let mut proven = |judged: u64| {
            let late = judged.min(left);
            left -= late;
            judged - late
        };
        let inferred = proven(self.inferred.congestion);
        let random = proven(self.random_losses());
        let unknown = proven(self.unknown_losses());
        let mut causes = Causes {
            congestion: self.nacks_congestion + inferred,
            random,
            wireless: self.explained.wireless,
            mobility: self.mobility_losses(),
            unknown,
            spurious: self.spurious + self.duplicates - left,
        };
        if self.run.is_stream {
            let answered = self.segments + self.duplicates + self.unsettled();
            let unanswered = self.interests.saturating_sub(answered);
            let unexplained = unknown + random + causes.congestion
                - self.nacks_by_reason.congestion.min(causes.congestion);
            (causes.congestion, causes.random) = (self.nacks_by_reason.congestion, 0);
            causes.unknown = unexplained.min(unanswered);
            causes.spurious += unexplained - causes.unknown;
        }
        causes
    }

    /// Transmissions lost by congestion: the congestion control inferred it, or a Nack reported it. A mark is no loss.
    pub fn congestion_losses(&self) -> u64 {
        self.inferred.congestion + self.nacks_congestion
    }

    /// Transmissions lost by a link, as the congestion control inferred; no node reported it.
    pub fn random_losses(&self) -> u64 {
        self.inferred.random
    }

    /// Transmissions lost because a node moved: reported or inferred.
    pub fn mobility_losses(&self) -> u64 {
        self.explained.mobility + self.inferred.mobility
    }

    /// Transmissions declared lost whose cause is neither reported nor inferred.
    pub fn unknown_losses(&self) -> u64 {
        let judged = self.timeouts + self.lost_by_order;
        let none = self.spurious_timeouts() + self.false_alarms;
        judged.saturating_sub(none + self.explained.judged + self.inferred.total())
    }

    /// All lost transmissions, whatever the cause.
    pub fn lost(&self) -> u64 {
        let reported = self.explained.wireless + self.mobility_losses();
        self.congestion_losses() + self.random_losses() + reported + self.unknown_losses()
    }

    /// Spurious timeouts: the Data was in flight.
    pub fn spurious_timeouts(&self) -> u64 {
        self.spurious - self.false_alarms - self.spurious_nacks
    }

    /// The share of timeouts that were spurious; `None` without a timeout.
    pub fn spurious_timeout_share(&self) -> Option<f64> {
        (self.timeouts > 0).then(|| self.spurious_timeouts() as f64 / self.timeouts as f64)
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
        self.rate(self.wire_bytes)
    }

    fn rate(&self, bytes: u64) -> Option<f64> {
        let seconds = self.elapsed().as_secs_f64();
        (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
    }

    /// Loss events per segment received: what S. Yang's study (2016) calls the packet-loss rate.
    pub fn loss_rate(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.reductions.total() as f64 / self.segments as f64)
    }
}

#[cfg(test)]
mod tests;
