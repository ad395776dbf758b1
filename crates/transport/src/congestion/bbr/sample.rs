//! Delivery-rate samples of single transmissions.
//!
//! Source: draft-ietf-ccwg-bbr-01, section 4.1 ("Delivery Rate Sampling").
//!
//! Differences: the window is not called when an Interest is sent. Each delivery reports the highest send order so far,
//! so a transmission was sent after the last delivery whose highest order is below its own. State of the connection
//! changes by deliveries and losses only, so the record of that delivery is the state at the transmission. Its send
//! time is the arrival time less the round-trip time. A segment that was sent more than once gives no sample.
use crate::congestion::Delivered;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Most records: one for each delivery of a flight after which an Interest was sent.
const MOST_RECORDS: usize = 1 << 16;

/// State of the connection after a delivery.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    /// Highest send order at that time: later transmissions have this state.
    highest_order: u64,
    delivered: u64,
    lost: u64,
    at: Instant,
    /// Send time of the delivered transmission.
    first_sent: Instant,
    in_flight: u32,
}

/// State at the transmission of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sent {
    /// Deliveries before it.
    pub(super) delivered: u64,
    /// Losses before it.
    pub(super) lost: u64,
    /// Segments in flight, this one included.
    pub(super) in_flight: f64,
}

/// A sample of the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Deliveries per second.
    pub(super) rate: f64,
    /// Deliveries in the interval.
    pub(super) delivered: f64,
}

/// Takes samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sampler {
    delivered: u64,
    lost: u64,
    records: VecDeque<Record>,
}

impl Sampler {
    /// Deliveries so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Losses so far.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Counts a loss.
    pub(super) fn on_lost(&mut self) {
        self.lost += 1;
    }

    /// Takes back a loss that proved spurious.
    pub(super) fn on_spurious(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }

    /// State when the transmission of this order was sent; `None` if it was sent before the first delivery, or long
    /// ago.
    pub(super) fn sent(&self, order: u64) -> Option<Sent> {
        let record = self.record(order)?;
        let since = order.saturating_sub(record.highest_order) as f64;
        let in_flight = f64::from(record.in_flight) + since;
        Some(Sent { delivered: record.delivered, lost: record.lost, in_flight })
    }

    fn record(&self, order: u64) -> Option<&Record> {
        let later = self.records.partition_point(|record| record.highest_order < order);
        self.records.get(later.checked_sub(1)?)
    }

    /// Records a delivery. Returns a sample if the transmission has one: its interval is at least `least`.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        delivered: &Delivered,
        least: Duration,
    ) -> Option<Sample> {
        self.delivered += 1;
        let before_now = |rtt: Duration| now.as_nanos().saturating_sub(rtt.as_nanos() as u64);
        let sent = delivered.rtt.map(|rtt| Instant::from_nanos(before_now(rtt)));
        let before = self.record(delivered.order).copied();
        let sample = before.zip(sent).and_then(|(record, sent)| {
            let interval = now.since(record.at).max(sent.since(record.first_sent));
            let count = (self.delivered - record.delivered) as f64;
            let seconds = interval.as_secs_f64();
            (interval >= least && seconds > 0.0)
                .then(|| Sample { rate: count / seconds, delivered: count })
        });
        self.keep(Record {
            highest_order: delivered.highest_order,
            delivered: self.delivered,
            lost: self.lost,
            at: now,
            first_sent: sent.or(self.records.back().map(|last| last.first_sent)).unwrap_or(now),
            in_flight: delivered.in_flight.saturating_sub(1),
        });
        sample
    }

    fn keep(&mut self, record: Record) {
        match self.records.back_mut() {
            // No transmission was sent in this state.
            Some(last) if last.highest_order >= record.highest_order => {
                *last = Record { highest_order: last.highest_order, ..record };
            }
            _ => {
                if self.records.len() >= MOST_RECORDS {
                    self.records.pop_front();
                }
                self.records.push_back(record);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn delivered(order: u64, highest_order: u64, rtt: u64, in_flight: u32) -> Delivered {
        Delivered {
            segment: order,
            order,
            highest_order,
            rtt: Some(Duration::from_millis(rtt)),
            in_flight,
            advance: 1,
            ..Delivered::default()
        }
    }

    #[test]
    fn rate_counts_deliveries_since_the_transmission() {
        let mut sampler = Sampler::default();
        let least = Duration::ZERO;
        // Orders 1 to 4 leave at 0 ms; a delivery each 10 ms from 100 ms on lets the next one leave.
        assert_eq!(sampler.on_delivered(at(100), &delivered(1, 4, 100, 4), least), None);
        for order in 2..=4 {
            let now = 90 + 10 * order;
            let one = delivered(order, order + 3, now, 4);
            assert_eq!(sampler.on_delivered(at(now), &one, least), None, "sent before any");
        }
        // Order 5 left at 100 ms, after the first delivery.
        let sample = sampler.on_delivered(at(200), &delivered(5, 8, 100, 4), least).unwrap();
        assert_eq!(sample.delivered, 4.0);
        assert!((sample.rate - 40.0).abs() < 1e-9, "{}", sample.rate);
        let sent = sampler.sent(6).unwrap();
        assert_eq!((sent.delivered, sent.in_flight), (2, 4.0));
    }

    #[test]
    fn short_interval_gives_no_sample() {
        let mut sampler = Sampler::default();
        sampler.on_delivered(at(100), &delivered(1, 1, 10, 1), Duration::ZERO);
        let least = Duration::from_millis(50);
        assert_eq!(sampler.on_delivered(at(140), &delivered(2, 2, 40, 1), least), None);
    }

    #[test]
    fn records_are_bounded() {
        let mut sampler = Sampler::default();
        for order in 0..100_000 {
            sampler.on_delivered(at(order), &delivered(order, order + 1, 1, 1), Duration::ZERO);
        }
        assert_eq!(sampler.records.len(), MOST_RECORDS);
    }
}
