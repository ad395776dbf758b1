//! The figures of a fetch, as `recoup fetch --json` prints them.
use crate::tally::Tally;
use serde::Serialize;
use std::time::Duration;

/// The figures of a fetch. Serialises as they stand in the document of `recoup fetch --json` (`docs/library.md`).
#[derive(Clone, Debug, Serialize)]
pub struct FetchSummary {
    /// Segments received in this run.
    pub segments: u64,
    /// Segments that were there from an earlier run.
    pub segments_before: u64,
    /// Bytes of content that were there from an earlier run.
    #[serde(skip)]
    pub held_bytes: u64,
    /// The whole file was there: it is unchanged since it was verified, and its version is the producer's latest.
    #[serde(skip_serializing_if = "is_false")]
    pub kept: bool,
    /// All transmissions that were lost.
    #[serde(skip)]
    pub lost: u64,
    /// Retransmissions of the segments that were requested before any segment had arrived. A path that drops long packets, or
    /// a late producer, causes them.
    #[serde(skip)]
    pub blind: u64,
    /// The face is a stream, which loses nothing itself: see [`over_stream`](Self::over_stream).
    #[serde(skip)]
    pub is_stream: bool,
    /// Retransmissions whose answers may still be on their way.
    #[serde(skip)]
    pub unsettled: u64,
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
        let losses = losses(tally);
        let disproved = losses.spurious - tally.spurious;
        let summary = Self {
            segments: tally.segments,
            segments_before: 0,
            held_bytes: 0,
            kept: false,
            lost: 0,
            is_stream: false,
            blind: tally.blind,
            unsettled: tally.unsettled(),
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
                spurious: tally.spurious + disproved,
            },
            losses,
            rtt_ms: rtt(tally),
            window: Window {
                last: tally.window.unwrap_or(0.0),
                max: tally.window_max,
                ssthresh: Some(tally.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
            },
            verification: verification(tally, policy),
            algorithms: algorithms.clone(),
        };
        Self { lost: summary.losses.total(), ..summary }
    }

    /// The figures of a fetch over a stream, such as TCP or a Unix socket. It delivers everything in order, so that an answer
    /// that did not come in time was late, or a node beyond lost it: no cause can be inferred. At most the Interests were lost
    /// that had no answer, although there was time for one.
    #[must_use]
    pub fn over_stream(mut self) -> Self {
        let losses = &mut self.losses;
        let inferred = losses.random + losses.congestion - losses.nacks_congestion;
        let answered = self.segments + losses.duplicates + self.unsettled;
        let unanswered = self.interests.sent.saturating_sub(answered);
        let unknown = losses.unknown + inferred;
        (losses.congestion, losses.random) = (losses.nacks_congestion, 0);
        losses.unknown = unknown.min(unanswered);
        let late = unknown - losses.unknown;
        losses.spurious += late;
        self.interests.spurious += late;
        Self { is_stream: true, lost: self.losses.total(), ..self }
    }
}

impl Losses {
    /// Losses of all causes.
    fn total(&self) -> u64 {
        self.congestion + self.random + self.wireless + self.mobility + self.unknown
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn losses(tally: &Tally) -> Losses {
    // Duplicate Data answered both Interests: the first one had not been lost (RFC 3708).
    let mut left = tally.duplicates;
    let mut proven = |judged: u64| {
        let late = judged.min(left);
        left -= late;
        judged - late
    };
    let congestion = tally.nacks_congestion + proven(tally.inferred.congestion);
    let random = proven(tally.random_losses());
    let unknown = proven(tally.unknown_losses());
    let disproved = tally.duplicates - left;
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
        congestion,
        random,
        wireless: tally.explained.wireless,
        mobility: tally.mobility_losses(),
        unknown,
        spurious: tally.spurious + disproved,
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
    let checked = if policy.starts_with("none") { 0 } else { tally.segments };
    Verification {
        policy: policy.to_owned(),
        verified: checked.saturating_sub(tally.unverified),
        not_verified: tally.segments - checked.saturating_sub(tally.unverified),
        held_not_verified: 0,
        rejected: tally.rejected,
        other_content: tally.other_content,
        rejected_why: tally.rejected_why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::event::{Cause, Event};
    use recoup_transport::time::Instant;

    /// The figures of 100 segments, with so many transmissions, judged losses (inferred as congestion or at random), and
    /// duplicates.
    fn fetched(sent: u64, congestion: u64, random: u64, duplicates: u64) -> FetchSummary {
        let mut tally = Tally::default();
        let mut count = |times: u64, event: Event| {
            (0..times).for_each(|_| tally.record(Instant::ZERO, &event));
        };
        let inferred = |cause| Event::Inferred { segment: 0, cause, holds: true };
        let rto = recoup_transport::time::Duration::from_secs(1).into();
        count(sent, Event::Sent { segment: 0, transmissions: 1, rto });
        let (content_bytes, wire_bytes, delay) = (100, 150, rto);
        let received = Event::Received {
            segment: 0,
            content_bytes,
            wire_bytes,
            rtt: rto,
            delay,
            transmissions: 1,
        };
        count(100, received);
        count(congestion + random, Event::TimedOut { segment: 0 });
        count(congestion, inferred(Cause::Congestion));
        count(random, inferred(Cause::Random));
        count(duplicates, Event::Duplicate);
        FetchSummary::new(&tally, &Algorithms::default(), "auto", Duration::from_secs(1))
    }

    #[test]
    fn answered_transmission_was_not_lost() {
        for (congestion, random, duplicates, left) in
            [(9, 0, 0, 9), (9, 0, 9, 0), (9, 4, 11, 2), (0, 4, 3, 1), (3, 0, 50, 0)]
        {
            let sent = 100 + congestion + random;
            let summary = fetched(sent, congestion, random, duplicates);
            assert_eq!(summary.lost, left, "{congestion} {random} {duplicates}");
            assert_eq!(summary.losses.spurious, congestion + random - left);
            assert_eq!(summary.interests.spurious, congestion + random - left);
        }
    }

    #[test]
    fn streams_lose_only_what_nothing_answered() {
        for (congestion, random, duplicates, left) in
            [(9, 0, 9, 0), (9, 0, 6, 3), (5, 4, 8, 1), (9, 0, 0, 9)]
        {
            let summary = fetched(109, congestion, random, duplicates).over_stream();
            let Losses { congestion, random, unknown, .. } = summary.losses;
            assert_eq!((congestion, random, unknown, summary.lost), (0, 0, left, left));
        }
    }
}
