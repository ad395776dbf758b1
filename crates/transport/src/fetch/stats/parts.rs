//! Parts of the counters of a fetch, each with its own sum.
use crate::event::Cause;
use crate::loss::Phase;
use crate::time::{Duration, Instant};
use recoup_packet::nack::NackReason;

/// Network Nacks by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub(super) fn add(&mut self, other: &Self) {
        self.congestion += other.congestion;
        self.duplicate += other.duplicate;
        self.no_route += other.no_route;
        self.mobility += other.mobility;
        self.loss += other.loss;
        self.other += other.other;
    }

    pub(super) fn count(&mut self, reason: NackReason) {
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

/// Lost transmissions by cause. Duplicate Data answered both Interests, so that the first one had not been lost (RFC 3708).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// By congestion: a Nack reported it, or the congestion control inferred it.
    pub congestion: u64,
    /// A link lost them, as the congestion control inferred.
    pub random: u64,
    /// A link lost them: a node reported it, or the link sent them again.
    pub wireless: u64,
    /// A node moved.
    pub mobility: u64,
    /// The reason neither was reported nor is inferred by this congestion control.
    pub unknown: u64,
    /// Transmissions that were judged lost and are known to have been answered.
    pub spurious: u64,
}

impl Causes {
    /// Lost transmissions of all causes.
    pub fn lost(&self) -> u64 {
        self.congestion + self.random + self.wireless + self.mobility + self.unknown
    }
}

/// Segments lost for other reasons than congestion, as nodes reported. None of them reduces the window, or the
/// reduction is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// A link lost them, and reported or repaired it.
    pub wireless: u64,
    /// A node moved.
    pub mobility: u64,
    /// Losses of both kinds that had been declared lost before the report.
    pub judged: u64,
}

impl Explained {
    pub(super) fn add(&mut self, other: &Self) {
        self.wireless += other.wireless;
        self.mobility += other.mobility;
        self.judged += other.judged;
    }
}

/// Losses whose cause the congestion control inferred. Inferences that proved wrong do not count.
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
    /// Adds the counters of another fetch.
    pub fn add(&mut self, other: &Self) {
        self.congestion += other.congestion;
        self.random += other.random;
        self.mobility += other.mobility;
    }

    pub(super) fn on_event(&mut self, cause: Cause, holds: bool) {
        let count = match cause {
            Cause::Congestion => &mut self.congestion,
            Cause::Random | Cause::Wireless => &mut self.random,
            Cause::Mobility => &mut self.mobility,
        };
        *count = if holds { *count + 1 } else { count.saturating_sub(1) };
    }

    pub(super) fn total(&self) -> u64 {
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

/// Recovery episodes of loss detectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recovery {
    /// Fast recovery episodes.
    pub entries: u64,
    /// Total duration of those that are over.
    pub time: Duration,
    /// Pre-recovery episodes.
    pub suspicions: u64,
    since: Option<Instant>,
}

impl Recovery {
    /// Mean duration of a fast recovery episode, in seconds, if any is over.
    pub fn mean_s(&self) -> Option<f64> {
        let over = self.entries - u64::from(self.since.is_some());
        (over > 0).then(|| self.time.as_secs_f64() / over as f64)
    }

    /// Adds the counters of another fetch.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.suspicions += other.suspicions;
        self.time = self.time.saturating_add(other.time);
    }

    pub(super) fn on_phase(&mut self, now: Instant, phase: Phase) {
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
    /// Sum of all causes.
    pub fn total(&self) -> u64 {
        self.timeout + self.nack + self.mark + self.order
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.timeout += other.timeout;
        self.nack += other.nack;
        self.mark += other.mark;
        self.order += other.order;
    }
}

/// Minimum, mean and maximum of a series of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: u64,
    sum: Duration,
    range: Option<(Duration, Duration)>,
}

impl Spread {
    /// Adds one value.
    pub fn add(&mut self, value: Duration) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The minimum.
    pub fn min(&self) -> Option<Duration> {
        self.range.map(|(min, _)| min)
    }

    /// The mean.
    pub fn mean(&self) -> Option<Duration> {
        let nanos = self.sum.as_nanos().checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(nanos as u64))
    }

    /// The maximum.
    pub fn max(&self) -> Option<Duration> {
        self.range.map(|(_, max)| max)
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        let both = self.range.zip(other.range);
        let both = both.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        self.range = both.or(self.range).or(other.range);
    }
}
