//! Suppression of retransmissions for pending entries.
//!
//! Source: soft and hard timeouts are those of Udugama et al. (2013); the exponential interval is that of NFD
//! (`daemon/fw/retx-suppression-exponential.hpp`: 10 ms, doubled up to 250 ms). `ccnd` is the behaviour of CCNx 0.8.2
//! (`ccnd.c`: `pfi_set_expiry_from_lifetime`, `send_interest`, `do_propagate`).
//!
//! Differences: in NFD the interval decides on Interests from any face. Here (`same-face-retx`) the first Interest of
//! a further face only waits, unless `faces=any`. An out-record with a Nack counts as absent in all policies.
use crate::face::FaceId;
use crate::table::{Arrival, Backoff, OutRecord, PitEntry};
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::{Duration, Instant};
use recoup_transport::unit;
use std::fmt;
use std::str::FromStr;

/// A policy; [`Default`] is `same-face-retx`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Suppression {
    /// No retransmission, as long as the entry exists and not all upstreams have sent a Nack.
    Strict,
    /// A retransmission of the same face, after the suppression interval.
    SameFaceRetx(SameFaceRetx),
    /// Any Interest, once `soft` has passed since the last transmission.
    SoftHard {
        /// Suppression interval of an entry.
        soft: Duration,
    },
    /// As [`SoftHard`](Self::SoftHard), with a `soft` estimated for each prefix from round trips.
    SoftHardAuto,
    /// As the daemon of CCNx 0.8.2: lifetimes are rounded up to whole steps, and at least one. A retransmission renews
    /// the entry, and is sent when the transmission before it expires.
    Ccnd {
        /// The step.
        step: Duration,
    },
}

/// Parameters of `same-face-retx`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SameFaceRetx {
    /// Suppression interval after the first transmission.
    pub initial: Duration,
    /// Factor of the interval after each forwarded retransmission; 1: it is constant.
    pub factor: f64,
    /// Longest interval.
    pub max: Duration,
    /// Interests of further faces count, too.
    pub any_face: bool,
}

impl Default for SameFaceRetx {
    fn default() -> Self {
        let (initial, max) = (INITIAL, Duration::from_millis(250));
        Self { initial, factor: 2.0, max, any_face: false }
    }
}

impl SameFaceRetx {
    /// A constant interval.
    #[must_use]
    pub fn fixed(interval: Duration) -> Self {
        Self { initial: interval, factor: 1.0, max: interval, ..Self::default() }
    }
}

impl Default for Suppression {
    fn default() -> Self {
        Self::SameFaceRetx(SameFaceRetx::default())
    }
}

/// Decision on an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The entry is not in flight: forward the Interest.
    New,
    /// The entry is in flight: retransmit.
    Again,
    /// The entry is in flight: wait for the answer.
    Suppress,
}

/// Every policy by its name.
const FAMILY: &[(&str, Reader<Suppression>)] = &[
    ("strict", |spec| {
        spec.finish()?;
        Ok(Suppression::Strict)
    }),
    ("same-face-retx", |spec| Ok(Suppression::SameFaceRetx(SameFaceRetx::from_spec(spec)?))),
    ("soft-hard", soft_hard),
    ("ccnd", ccnd),
];

/// First time within which another Interest is suppressed by default; it doubles.
pub const INITIAL: Duration = Duration::from_millis(10);
/// The step of CCNx 0.8.2.
const CCND_STEP: Duration = Duration::from_millis(125);
/// The longest step: lifetimes are limited, and a step lengthens them.
const MAX_STEP: Duration = Duration::from_secs(10);

impl FromStr for Suppression {
    type Err = SpecError;

    /// Parses a policy, for example `same-face-retx(fixed=10ms)`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "suppression policy", FAMILY)
    }
}

impl Suppression {
    /// The names of all policies.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FAMILY.iter().map(|(name, _)| *name)
    }

    /// Time for which this node remembers an Interest of that lifetime.
    #[must_use]
    #[inline]
    pub fn remembered(&self, lifetime: Duration) -> Duration {
        match self {
            Self::Ccnd { step } => whole_steps(lifetime, *step),
            _ => lifetime,
        }
    }

    /// Whether a renewed entry is sent when its transmission expires.
    #[must_use]
    #[inline]
    pub fn sends_renewed(&self) -> bool {
        matches!(self, Self::Ccnd { .. })
    }

    /// Decides for all upstreams together on an Interest whose in-record has just been added. [`Decision::Again`]
    /// lengthens the next interval: it must be followed by a transmission.
    #[must_use]
    pub fn decide(&self, now: Instant, entry: &mut PitEntry, arrival: Arrival) -> Decision {
        let expires = !matches!(self, Self::Strict);
        let pending =
            |record: &OutRecord| record.nacked().is_none() && !(expires && record.expiry <= now);
        if !entry.outs().iter().any(pending) {
            return Decision::New;
        }
        let last = entry.last_sent().unwrap_or(now);
        self.again(now, last, arrival, &mut entry.backoff)
    }

    /// As [`decide`](Self::decide), for one upstream alone.
    #[must_use]
    pub fn decide_upstream(
        &self,
        now: Instant,
        entry: &mut PitEntry,
        upstream: FaceId,
        arrival: Arrival,
    ) -> Decision {
        let expires = !matches!(self, Self::Strict);
        match entry.out_record_mut(upstream) {
            Some(record) if record.nacked().is_none() && !(expires && record.expiry <= now) => {
                self.again(now, record.sent, arrival, &mut record.backoff)
            }
            _ => Decision::New,
        }
    }

    fn again(
        &self,
        now: Instant,
        last: Instant,
        arrival: Arrival,
        backoff: &mut Backoff,
    ) -> Decision {
        let forward = match self {
            Self::Strict | Self::Ccnd { .. } => false,
            Self::SoftHard { soft } => now.since(last) >= *soft,
            Self::SoftHardAuto => now.since(last) >= Duration::from_nanos(backoff.interval_nanos),
            Self::SameFaceRetx(settings) => {
                let counts = settings.any_face || arrival == Arrival::Retransmission;
                counts && settings.lets_pass(now.since(last), backoff)
            }
        };
        if forward { Decision::Again } else { Decision::Suppress }
    }
}

/// The least number of whole steps, and at least one, that is no shorter.
fn whole_steps(lifetime: Duration, step: Duration) -> Duration {
    let steps = lifetime.as_nanos().div_ceil(step.as_nanos()).max(1);
    let nanos = u64::try_from(steps * step.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos)
}

impl SameFaceRetx {
    fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let least = Duration::from_nanos(1);
        let faces = [("same", false), ("any", true)];
        let any_face = spec.word("faces", default.any_face, &faces, "same or any")?;
        let fixed = spec.duration("fixed", Duration::MAX, Duration::ZERO)?;
        if fixed != Duration::MAX {
            spec.finish()?;
            return Ok(Self { any_face, ..Self::fixed(fixed) });
        }
        let initial = spec.duration("initial", default.initial, least)?;
        let factor =
            spec.number("factor", default.factor, 1.0..=1000.0, "a number from 1 to 1000")?;
        let max = spec.duration("max", default.max.max(initial), least)?;
        if max < initial {
            return Err(spec.bad("max", format_args!("{max:?}"), "at least as long as `initial`"));
        }
        spec.finish()?;
        let grows = factor > 1.0 && max > initial;
        Ok(if grows {
            Self { initial, factor, max, any_face }
        } else {
            Self { any_face, ..Self::fixed(initial) }
        })
    }

    fn lets_pass(&self, since: Duration, backoff: &mut Backoff) -> bool {
        let interval = Duration::from_nanos(backoff.interval_nanos).max(self.initial);
        let passed = since >= interval;
        if passed {
            backoff.interval_nanos = self.grown_nanos(interval);
        }
        passed
    }

    fn grown_nanos(&self, interval: Duration) -> u64 {
        // A float becomes an integer by saturating.
        let grown = (interval.as_nanos() as f64 * self.factor) as u64;
        grown.min(u64::try_from(self.max.as_nanos()).unwrap_or(u64::MAX))
    }
}

fn soft_hard(mut spec: Spec<'_>) -> Result<Suppression, SpecError> {
    let fixed = |soft| Suppression::SoftHard { soft };
    let expected = "a duration such as 20ms, or auto";
    let policy = spec.take("soft", fixed(Duration::from_millis(20)), expected, |text| {
        let auto = (text == "auto").then_some(Suppression::SoftHardAuto);
        auto.or_else(|| unit::duration(text).ok().map(fixed))
    })?;
    spec.finish()?;
    Ok(policy)
}

fn ccnd(mut spec: Spec<'_>) -> Result<Suppression, SpecError> {
    let step = spec.duration("step", CCND_STEP, Duration::from_nanos(1))?;
    if step > MAX_STEP {
        return Err(spec.bad("step", format_args!("{step:?}"), "at most 10s"));
    }
    spec.finish()?;
    Ok(Suppression::Ccnd { step })
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strict => SpecWriter::new(f, "strict").finish(),
            Self::SoftHard { soft } => {
                SpecWriter::new(f, "soft-hard").duration("soft", *soft).finish()
            }
            Self::SoftHardAuto => SpecWriter::new(f, "soft-hard").value("soft", "auto").finish(),
            Self::Ccnd { step } => SpecWriter::new(f, "ccnd").duration("step", *step).finish(),
            Self::SameFaceRetx(settings) => settings.fmt(f),
        }
    }
}

impl fmt::Display for SameFaceRetx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = SpecWriter::new(f, "same-face-retx");
        let spec = if self.factor == 1.0 {
            spec.duration("fixed", self.initial)
        } else {
            let spec = spec.duration("initial", self.initial);
            spec.value("factor", self.factor).duration("max", self.max)
        };
        spec.value("faces", if self.any_face { "any" } else { "same" }).finish()
    }
}

#[cfg(test)]
mod tests;
