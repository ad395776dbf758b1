//! The figures of a fetch as they stand in JSON documents (`docs/library.md`).
use super::FetchStats;
use crate::time::Duration;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A map with an entry for each of `key: value`.
macro_rules! map {
    ($serializer:expr, $($key:ident: $value:expr),+ $(,)?) => {{
        let mut map = $serializer.serialize_map(None)?;
        $(map.serialize_entry(stringify!($key), &$value)?;)+
        map
    }};
}

impl Serialize for FetchStats {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = map!(to, segments: self.segments, segments_before: self.run.segments_before);
        if self.run.is_kept {
            map.serialize_entry("kept", &true)?;
        }
        map.serialize_entry("last_segment", &self.last_segment)?;
        map.serialize_entry("bytes", &self.content_bytes)?;
        map.serialize_entry("elapsed_s", &self.elapsed().as_secs_f64())?;
        map.serialize_entry("total_s", &self.run.total.as_secs_f64())?;
        map.serialize_entry("goodput_bit_s", &self.goodput().unwrap_or(0.0))?;
        map.serialize_entry("wire_bytes", &self.wire_bytes)?;
        map.serialize_entry("throughput_bit_s", &self.throughput().unwrap_or(0.0))?;
        map.serialize_entry("interests", &Interests(self))?;
        map.serialize_entry("losses", &Losses(self))?;
        map.serialize_entry("rtt_ms", &self.rtt.min().map(|min| Rtt(self, min)))?;
        map.serialize_entry("window", &Window(self))?;
        map.serialize_entry("disconnections", &self.disconnections)?;
        map.end()
    }
}

/// Interests for segments.
struct Interests<'a>(&'a FetchStats);

impl Serialize for Interests<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(stats) = self;
        map!(to,
            sent: stats.interests,
            retransmitted: stats.retransmissions,
            spurious: stats.causes().spurious,
        )
        .end()
    }
}

/// Losses and what became of them.
struct Losses<'a>(&'a FetchStats);

impl Serialize for Losses<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(stats) = self;
        let (causes, nacks) = (stats.causes(), &stats.nacks_by_reason);
        map!(to,
            timeouts: stats.timeouts,
            bad_timeouts: stats.spurious_timeouts(),
            bad_timeout_share: stats.spurious_timeout_share(),
            timeout_reductions: stats.reductions.timeout,
            marks: stats.marks,
            mark_reductions: stats.reductions.mark,
            nacks_congestion: nacks.congestion,
            nacks_duplicate: nacks.duplicate,
            nacks_no_route: nacks.no_route,
            nacks_mobility: nacks.mobility,
            nacks_loss: nacks.loss,
            nacks_other: nacks.other,
            congestion: causes.congestion,
            random: causes.random,
            wireless: causes.wireless,
            mobility: causes.mobility,
            unknown: causes.unknown,
            spurious: causes.spurious,
            nack_reductions: stats.reductions.nack,
            found_by_order: stats.lost_by_order,
            repaired_before_timer: stats.repaired,
            false_alarms: stats.false_alarms,
            order_reductions: stats.reductions.order,
            recoveries: stats.recovery.entries,
            recovery_s: stats.recovery.time.as_secs_f64(),
            loss_events: stats.reductions.total(),
            undone_reductions: stats.undone,
            loss_rate: stats.loss_rate(),
            withdrawn: stats.withdrawn,
            duplicates: stats.duplicates,
        )
        .end()
    }
}

/// Round-trip times in milliseconds, with the smallest.
struct Rtt<'a>(&'a FetchStats, Duration);

impl Serialize for Rtt<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (Self(stats, min), ms) = (self, |duration: Duration| duration.as_secs_f64() * 1e3);
        map!(to,
            min: ms(*min),
            avg: ms(stats.rtt.mean().unwrap_or_default()),
            max: ms(stats.rtt.max().unwrap_or_default()),
            samples: stats.rtt.count(),
        )
        .end()
    }
}

/// The window in segments.
struct Window<'a>(&'a FetchStats);

impl Serialize for Window<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(stats) = self;
        let mut map = map!(to, last: stats.window.unwrap_or(0.0), max: stats.window_max);
        if stats.ssthresh.is_finite() {
            map.serialize_entry("ssthresh", &stats.ssthresh)?;
        }
        map.end()
    }
}

/// Verification of the content, by a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The policy in text, as [`FetchOptions::policy`](crate::fetch::FetchOptions::policy) has it.
    pub policy: String,
    /// Segments that were verified.
    pub verified: u64,
    /// Segments that were accepted although nothing vouched for them.
    pub not_verified: u64,
    /// Bytes from an earlier run that were accepted although nothing vouched for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub held_not_verified: u64,
    /// Data that was rejected.
    pub rejected: u64,
    /// Of these, Data of other content with the same name.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_content: u64,
    /// The reason of the first rejected Data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_why: Option<&'static str>,
}

impl FetchStats {
    /// How the content was verified by `policy`.
    #[must_use]
    pub fn verification(&self, policy: String) -> Verification {
        let checked = if policy.starts_with("none") { 0 } else { self.segments };
        let verified = checked.saturating_sub(self.unverified);
        Verification {
            policy,
            verified,
            not_verified: self.segments - verified,
            held_not_verified: self.run.held_not_verified,
            rejected: self.rejected,
            other_content: self.other_content,
            rejected_why: self.rejected_why,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
