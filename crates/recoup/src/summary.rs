//! The figures of a fetch, as `recoup fetch --json` prints them.
use crate::tally::Tally;
use serde::Serialize;
use std::time::Duration;

/// The figures of a fetch. Serialises as they stand in the document of `recoup fetch --json` (`docs/cli.md`).
#[derive(Clone, Debug, Serialize)]
pub struct FetchSummary {
    /// Segments received in this run.
    pub segments: u64,
    /// Segments that were there from an earlier run.
    pub segments_before: u64,
    /// Bytes of content that were there from an earlier run.
    #[serde(skip)]
    pub held_bytes: u64,
    /// All transmissions that were lost.
    #[serde(skip)]
    pub lost: u64,
    /// Number of the object's last segment.
    pub last_segment: Option<u64>,
    /// Bytes of content received in this run.
    pub bytes: u64,
    /// From the first Interest for a segment to the latest segment, in seconds.
    pub elapsed_s: f64,
    /// The whole run, discovery included, in seconds.
    pub total_s: f64,
    /// Bytes of content, times eight, per elapsed second.
    pub goodput_bit_s: f64,
    /// Bytes of the Data packets that brought it.
    pub wire_bytes: u64,
    /// These, times eight, per elapsed second.
    pub throughput_bit_s: f64,
    /// Interests for segments.
    pub interests: Interests,
    /// Losses, by kind and by cause.
    pub losses: Losses,
    /// Round-trip times in milliseconds; `None` without a sample.
    pub rtt_ms: Option<Rtt>,
    /// The window in segments.
    pub window: Window,
    /// Verification of the content.
    pub verification: Verification,
    /// The algorithms, with all their parameters.
    pub algorithms: Algorithms,
}

/// Interests for segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Interests {
    /// All Interests.
    pub sent: u64,
    /// Retransmissions among them.
    pub retransmitted: u64,
    /// Spurious retransmissions.
    pub spurious: u64,
}

/// Losses and what became of them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Losses {
    /// Timeouts.
    pub timeouts: u64,
    /// Of these, the spurious ones: the answer came before the retransmission, or sooner after it than half of the
    /// least round trip (an approximation of Eifel detection).
    pub bad_timeouts: u64,
    /// Their share; null without a timeout.
    pub bad_timeout_share: Option<f64>,
    /// Window reductions that timeouts caused.
    pub timeout_reductions: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Window reductions that marks caused.
    pub mark_reductions: u64,
    /// Nacks with reason Congestion.
    pub nacks_congestion: u64,
    /// Nacks with reason Duplicate.
    pub nacks_duplicate: u64,
    /// Nacks with reason NoRoute.
    pub nacks_no_route: u64,
    /// Nacks with reason Mobility.
    pub nacks_mobility: u64,
    /// Nacks with reason Loss.
    pub nacks_loss: u64,
    /// Other Nacks.
    pub nacks_other: u64,
    /// Transmissions lost by congestion: a Nack reported it, or the congestion control inferred it.
    pub congestion: u64,
    /// Transmissions that a link lost, as the congestion control inferred.
    pub random: u64,
    /// Transmissions that a link lost: a node reported it, or the link sent them again.
    pub wireless: u64,
    /// Transmissions lost because a node moved.
    pub mobility: u64,
    /// Transmissions lost for a reason that neither was reported nor is inferred by this congestion control.
    pub unknown: u64,
    /// Losses that are known to have been none.
    pub spurious: u64,
    /// Window reductions that Nacks caused.
    pub nack_reductions: u64,
    /// Transmissions judged lost by the order of arrivals.
    pub found_by_order: u64,
    /// Lost segments that arrived before any timer of theirs expired, without known false alarms.
    pub repaired_before_timer: u64,
    /// Known false alarms among the losses: the earlier transmission was answered after all.
    pub false_alarms: u64,
    /// Window reductions that the order of arrivals caused.
    pub order_reductions: u64,
    /// Phases of fast recovery.
    pub recoveries: u64,
    /// Total time of recovery, in seconds.
    pub recovery_s: f64,
    /// Loss events: window reductions for any reason.
    pub loss_events: u64,
    /// Reductions that were undone.
    pub undone_reductions: u64,
    /// Loss events per segment received; null before any.
    pub loss_rate: Option<f64>,
    /// Data that came after its timeout and was not used.
    pub withdrawn: u64,
    /// Duplicate or unsolicited Data.
    pub duplicates: u64,
}

/// Round-trip times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rtt {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Largest.
    pub max: f64,
    /// Number of samples.
    pub samples: u64,
}

/// The window in segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Window {
    /// At the end.
    pub last: f64,
    /// At most.
    pub max: f64,
    /// Slow-start threshold at the end; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<f64>,
}

/// Verification of the content.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// The policy of --verify.
    pub policy: String,
    /// Segments that were verified.
    pub verified: u64,
    /// Segments that were accepted although nothing vouched for them.
    pub not_verified: u64,
    /// Data that was rejected.
    pub rejected: u64,
    /// The reason of the first rejected Data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_why: Option<&'static str>,
}

/// The algorithms, with all their parameters.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Algorithms {
    /// Congestion control.
    pub congestion: String,
    /// Retransmission timer.
    pub rto: String,
    /// The choice of sampled segments.
    pub sampling: String,
    /// Rule that declares a segment lost before its timer expires.
    pub loss: String,
    /// Why this congestion control is the default, if it is.
    #[serde(skip)]
    pub why_congestion: Option<&'static str>,
    /// Why this timer is the default, if it is.
    #[serde(skip)]
    pub why_rto: Option<&'static str>,
    /// Why this detector is the default, if it is.
    #[serde(skip)]
    pub why_loss: Option<&'static str>,
}

impl FetchSummary {
    /// The figures of a fetch that counted `tally` and took `total` in all; `policy` is its verification in text.
    pub fn new(tally: &Tally, algorithms: &Algorithms, policy: &str, total: Duration) -> Self {
        Self {
            segments: tally.segments,
            segments_before: 0,
            held_bytes: 0,
            lost: tally.lost(),
            last_segment: tally.last_segment,
            bytes: tally.content_bytes,
            elapsed_s: tally.elapsed().as_secs_f64(),
            total_s: total.as_secs_f64(),
            goodput_bit_s: tally.goodput().unwrap_or(0.0),
            wire_bytes: tally.wire_bytes,
            throughput_bit_s: tally.throughput().unwrap_or(0.0),
            interests: Interests {
                sent: tally.interests,
                retransmitted: tally.retransmissions,
                spurious: tally.spurious,
            },
            losses: losses(tally),
            rtt_ms: rtt(tally),
            window: Window {
                last: tally.window.unwrap_or(0.0),
                max: tally.window_max,
                ssthresh: Some(tally.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
            },
            verification: verification(tally, policy),
            algorithms: algorithms.clone(),
        }
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn losses(tally: &Tally) -> Losses {
    let bad_timeouts = tally.spurious_timeouts();
    Losses {
        timeouts: tally.timeouts,
        bad_timeouts,
        bad_timeout_share: (tally.timeouts > 0)
            .then(|| bad_timeouts as f64 / tally.timeouts as f64),
        timeout_reductions: tally.reductions.timeout,
        marks: tally.marks,
        mark_reductions: tally.reductions.mark,
        nacks_congestion: tally.by_reason.congestion,
        nacks_duplicate: tally.by_reason.duplicate,
        nacks_no_route: tally.by_reason.no_route,
        nacks_mobility: tally.by_reason.mobility,
        nacks_loss: tally.by_reason.loss,
        nacks_other: tally.by_reason.other,
        congestion: tally.congestion_losses(),
        random: tally.random_losses(),
        wireless: tally.explained.wireless,
        mobility: tally.mobility_losses(),
        unknown: tally.unknown_losses(),
        spurious: tally.spurious,
        nack_reductions: tally.reductions.nack,
        found_by_order: tally.lost_by_order,
        repaired_before_timer: tally.repaired,
        false_alarms: tally.false_alarms,
        order_reductions: tally.reductions.order,
        recoveries: tally.recovery.entries,
        recovery_s: tally.recovery.time.as_secs_f64(),
        loss_events: tally.reductions.total(),
        undone_reductions: tally.undone,
        loss_rate: tally.loss_rate(),
        withdrawn: tally.withdrawn,
        duplicates: tally.duplicates,
    }
}

fn rtt(tally: &Tally) -> Option<Rtt> {
    Some(Rtt {
        min: ms(tally.rtt.min()?),
        avg: ms(tally.rtt.mean()?),
        max: ms(tally.rtt.max()?),
        samples: tally.rtt.count(),
    })
}

fn verification(tally: &Tally, policy: &str) -> Verification {
    let checked = if policy == "none" { 0 } else { tally.segments };
    Verification {
        policy: policy.to_owned(),
        verified: checked.saturating_sub(tally.unverified),
        not_verified: tally.segments - checked.saturating_sub(tally.unverified),
        rejected: tally.rejected,
        rejected_why: tally.rejected_why,
    }
}
