//! What happened in a fetch, counted from its events.
use recoup_packet::nack::NackReason;
use recoup_transport::event::{Event, Signal};
use recoup_transport::time::{Duration, Instant};

/// Counters and last values of one fetch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// When the first segment was asked for.
    pub started: Option<Instant>,
    /// When the latest segment arrived.
    pub latest: Option<Instant>,
    /// Interests for segments.
    pub sent: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Repetitions that proved needless.
    pub spurious: u64,
    /// Segments that arrived.
    pub segments: u64,
    /// Octets of content that arrived.
    pub octets: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Nacks.
    pub nacks: Nacks,
    /// Data that had already arrived or that nobody asked for.
    pub duplicates: u64,
    /// Data with a wrong signature or digest.
    pub rejected: u64,
    /// What the first of them had wrong.
    pub rejected_why: Option<&'static str>,
    /// Segments accepted although nothing vouched for them.
    pub unverified: u64,
    /// Window reductions.
    pub reductions: Reductions,
    /// Round-trip times.
    pub rtt: Spread,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Option<Duration>,
    /// Window in segments.
    pub window: f64,
    /// Largest window in segments.
    pub window_max: f64,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    /// Number of the last segment.
    pub last: Option<u64>,
    /// There is no way out at the moment.
    pub disconnected: bool,
}

/// Nacks by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nacks {
    /// The link is congested.
    pub congestion: u64,
    /// The nonce was seen before.
    pub duplicate: u64,
    /// No route.
    pub no_route: u64,
    /// Anything else.
    pub other: u64,
}

impl Nacks {
    fn count(&mut self, reason: NackReason) {
        *match reason {
            NackReason::Congestion => &mut self.congestion,
            NackReason::Duplicate => &mut self.duplicate,
            NackReason::NoRoute => &mut self.no_route,
            _ => &mut self.other,
        } += 1;
    }
}

/// Window reductions by what told of the loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reductions {
    /// A retransmission timeout.
    pub timeout: u64,
    /// A Nack.
    pub nack: u64,
    /// A congestion mark.
    pub mark: u64,
}

/// Smallest, largest, mean and mean deviation of round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    /// How many.
    pub count: u64,
    /// Smallest, in seconds.
    pub min: f64,
    /// Largest, in seconds.
    pub max: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    /// Takes one value.
    pub(crate) fn add(&mut self, value: Duration) {
        let value = value.as_secs_f64();
        self.min = if self.count == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Mean in seconds; 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum / self.count as f64
        }
    }

    /// Standard deviation in seconds; 0 without values.
    pub(crate) fn deviation(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.squares / self.count as f64 - self.mean() * self.mean())
            .max(0.0)
            .sqrt()
    }
}

impl Tally {
    /// Counts one event.
    pub(crate) fn record(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent {
                transmissions, rto, ..
            } => {
                self.started.get_or_insert(now);
                self.sent += 1;
                self.retransmitted += u64::from(transmissions > 1);
                self.rto = Some(rto);
            }
            Event::Received { content_bytes, .. } => {
                self.latest = Some(now);
                self.segments += 1;
                self.octets += u64::from(content_bytes);
            }
            Event::Sampled { rtt, srtt, rto, .. } => {
                self.rtt.add(rtt);
                self.srtt = Some(srtt);
                self.rto = Some(rto);
            }
            Event::Window { window, ssthresh } => {
                self.window = window;
                self.window_max = self.window_max.max(window);
                self.ssthresh = ssthresh;
            }
            Event::TimedOut { .. } => self.timeouts += 1,
            Event::Reduced { cause } => self.reduce(cause),
            Event::Spurious { .. } => self.spurious += 1,
            Event::Marked { .. } => self.marks += 1,
            Event::Nacked { reason, .. } => self.nacks.count(reason),
            Event::Duplicate => self.duplicates += 1,
            Event::Rejected { why, .. } => {
                self.rejected += 1;
                self.rejected_why.get_or_insert(why);
            }
            Event::Unverified { .. } => self.unverified += 1,
            Event::EndKnown { last } => self.last = Some(last),
            Event::Disconnected => self.disconnected = true,
            Event::Connected => self.disconnected = false,
            _ => {}
        }
    }

    fn reduce(&mut self, cause: Signal) {
        *match cause {
            Signal::Timeout => &mut self.reductions.timeout,
            Signal::Nack => &mut self.reductions.nack,
            Signal::Mark => &mut self.reductions.mark,
        } += 1;
    }

    /// Time from the first Interest for a segment to the latest segment.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.started, self.latest) {
            (Some(started), Some(latest)) => latest.since(started),
            _ => Duration::ZERO,
        }
    }

    /// Content in bits per second over [`Self::elapsed`]; 0 when that is no time.
    pub(crate) fn goodput(&self) -> f64 {
        match self.elapsed().as_secs_f64() {
            0.0 => 0.0,
            seconds => self.octets as f64 * 8.0 / seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(content_bytes: u32) -> Event {
        let time = Duration::from_millis(5);
        Event::Received {
            segment: 0,
            content_bytes,
            rtt: time,
            delay: time,
            transmissions: 1,
        }
    }

    #[test]
    fn goodput_counts_from_the_first_interest_to_the_latest_segment() {
        let mut tally = Tally::default();
        let rto = Duration::from_secs(1);
        tally.record(Instant::from_millis(7), &Event::Probed);
        tally.record(
            Instant::from_millis(1000),
            &Event::Sent {
                segment: 0,
                transmissions: 1,
                rto,
            },
        );
        tally.record(Instant::from_millis(2000), &received(1000));
        assert_eq!(tally.goodput(), 8000.0);
    }

    #[test]
    fn a_spread_knows_its_mean_and_deviation() {
        let mut spread = Spread::default();
        for ms in [10, 20, 30] {
            spread.add(Duration::from_millis(ms));
        }
        assert!((spread.mean() - 0.020).abs() < 1e-12);
        assert!((spread.deviation() - 0.008165).abs() < 1e-6);
        assert_eq!((spread.min, spread.max), (0.010, 0.030));
    }
}
