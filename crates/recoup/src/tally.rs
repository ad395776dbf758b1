//! Counters of a fetch, made from its events: the summary of the fetch loop, and Nacks by reason.
use recoup_packet::nack::NackReason;
use recoup_transport::event::Event;
use recoup_transport::fetch::summary::Summary;
use recoup_transport::time::Instant;
use std::collections::VecDeque;
use std::ops::Deref;

/// Counters and last values of one fetch.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    summary: Summary,
    /// Nacks by reason.
    pub by_reason: Nacks,
    /// The reason of the first rejected Data.
    pub rejected_why: Option<&'static str>,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    /// Whether no face leads toward producers at the moment.
    pub disconnected: bool,
    /// Retransmissions of segments that were first requested before any segment had arrived.
    pub(crate) blind: u64,
    /// The highest of these segments.
    blind_last: Option<u64>,
    /// Times of the last retransmissions.
    repeated: VecDeque<Instant>,
}

/// Most retransmissions whose time is kept.
const MAX_REPEATED: usize = 256;

/// Nacks by reason.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nacks {
    /// The link is congested.
    pub congestion: u64,
    /// The nonce was seen before.
    pub duplicate: u64,
    /// No route.
    pub no_route: u64,
    /// The face that led there is gone.
    pub mobility: u64,
    /// A link lost it, or its Data.
    pub loss: u64,
    /// Other causes.
    pub other: u64,
}

impl Nacks {
    fn add(&mut self, other: &Self) {
        self.congestion += other.congestion;
        self.duplicate += other.duplicate;
        self.no_route += other.no_route;
        self.mobility += other.mobility;
        self.loss += other.loss;
        self.other += other.other;
    }

    fn count(&mut self, reason: NackReason) {
        *match reason {
            NackReason::Congestion => &mut self.congestion,
            NackReason::Duplicate => &mut self.duplicate,
            NackReason::NoRoute => &mut self.no_route,
            NackReason::Mobility => &mut self.mobility,
            NackReason::Loss => &mut self.loss,
            _ => &mut self.other,
        } += 1;
    }
}

impl Deref for Tally {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl Tally {
    /// Adds what another fetch counted.
    pub fn add(&mut self, other: &Self) {
        let Self {
            summary, by_reason, rejected_why, ssthresh, disconnected, repeated, blind, ..
        } = other;
        self.blind += blind;
        self.repeated.extend(repeated);
        let surplus = self.repeated.len().saturating_sub(MAX_REPEATED);
        self.repeated.drain(..surplus);
        if summary.window.is_some() {
            self.ssthresh = *ssthresh;
        }
        self.summary.add(summary);
        self.by_reason.add(by_reason);
        self.rejected_why = self.rejected_why.or(*rejected_why);
        self.disconnected = *disconnected;
    }

    /// Retransmissions that were sent less than the longest round trip before the last arrival.
    pub(crate) fn unsettled(&self) -> u64 {
        let longest = self.rtt.max().unwrap_or_default();
        let is_open = |sent: &&Instant| self.ended.is_none_or(|ended| **sent + longest >= ended);
        self.repeated.iter().filter(is_open).count() as u64
    }

    /// Counts one event.
    pub fn record(&mut self, now: Instant, event: &Event) {
        self.summary.on_event(now, event);
        match *event {
            Event::Sent { segment, transmissions: ..2, .. } if self.segments == 0 => {
                self.blind_last = self.blind_last.max(Some(segment));
            }
            Event::Sent { segment, transmissions: 2.., .. } => {
                self.blind += u64::from(Some(segment) <= self.blind_last);
                if self.repeated.len() >= MAX_REPEATED {
                    self.repeated.pop_front();
                }
                self.repeated.push_back(now);
            }
            Event::Window { ssthresh, .. } => self.ssthresh = ssthresh,
            Event::Nacked { reason, .. } => self.by_reason.count(reason),
            Event::Rejected { why, .. } => {
                self.rejected_why.get_or_insert(why);
            }
            Event::Disconnected => self.disconnected = true,
            Event::Connected => self.disconnected = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::time::Duration;

    #[test]
    fn retransmissions_before_any_segment_are_blind() {
        let mut tally = Tally::default();
        let rto = Duration::from_secs(1).into();
        let sent = |segment, transmissions| Event::Sent { segment, transmissions, rto };
        let received = Event::Received {
            segment: 0,
            content_bytes: 1,
            wire_bytes: 1,
            rtt: rto,
            delay: rto,
            transmissions: 3,
        };
        let first = [sent(0, 1), sent(1, 1), sent(0, 2), sent(0, 3)];
        let later = [received, sent(2, 1), sent(1, 2), sent(2, 2)];
        first.iter().chain(&later).for_each(|event| tally.record(Instant::ZERO, event));
        assert_eq!(tally.blind, 3);
    }
}
