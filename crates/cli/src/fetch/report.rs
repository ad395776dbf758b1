//! How a fetch ends: the summary for people, the document for programs.
use crate::error::Failure;
use crate::fetch::observer::Files;
use crate::fetch::plan::Choice;
use crate::format;
use crate::tally::Tally;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Everything there is to say about a fetch. Serialises as the document that `docs/cli.md` describes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Always `fetch`.
    pub command: &'static str,
    /// The name asked for.
    pub name: String,
    /// The object found, version included.
    pub object: Option<String>,
    /// Where the content went; `-` is standard output.
    pub output: String,
    /// The face it came by.
    pub face: String,
    /// All that was asked for is there.
    pub complete: bool,
    /// Files of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Files>,
    /// Segments received in this run.
    pub segments: u64,
    /// Segments that were there from an earlier run.
    pub segments_before: u64,
    /// Number of the object's last segment.
    pub last_segment: Option<u64>,
    /// Octets of content received in this run.
    pub octets: u64,
    /// From the first Interest for a segment to the latest segment, in seconds.
    pub elapsed_s: f64,
    /// The whole run, discovery included, in seconds.
    pub total_s: f64,
    /// Octets of content, times eight, per elapsed second.
    pub goodput_bit_s: f64,
    /// Octets of the Data packets that brought it.
    pub wire_octets: u64,
    /// These, times eight, per elapsed second.
    pub throughput_bit_s: f64,
    /// Interests for segments.
    pub interests: Interests,
    /// Losses and what became of them.
    pub losses: Losses,
    /// Round-trip times in milliseconds.
    pub rtt_ms: Option<Rtt>,
    /// The window in segments.
    pub window: Window,
    /// What vouches for the content.
    pub verification: Verification,
    /// The algorithms, with all their parameters.
    pub algorithms: Algorithms,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Interests for segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Interests {
    /// All of them.
    pub sent: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Repetitions that proved needless.
    pub needless: u64,
}

/// Losses and what became of them.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Losses {
    /// Timeouts.
    pub timeouts: u64,
    /// Of these, those whose answer came after all: before the segment was asked for again, or sooner
    /// after it than half of the least round trip (as Eifel tells it: an approximation).
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
    /// Transmissions that counted as lost and of which nothing else is known.
    pub congestion: u64,
    /// Segments that a link lost: it said so, or sent them again.
    pub wireless: u64,
    /// Segments that stayed away because somebody moved.
    pub mobility: u64,
    /// Losses that are known to have been none.
    pub spurious: u64,
    /// Window reductions that Nacks caused.
    pub nack_reductions: u64,
    /// Transmissions judged lost by the order of arrivals.
    pub found_by_order: u64,
    /// Of these, segments that came before any timer of theirs had expired, and not as known false alarms.
    pub repaired_before_timer: u64,
    /// Of these, those known to have been none: the answer to the transmission before came after all.
    pub false_alarms: u64,
    /// Window reductions that the order of arrivals caused.
    pub order_reductions: u64,
    /// Phases of fast recovery.
    pub recoveries: u64,
    /// How long these lasted in all, in seconds.
    pub recovery_s: f64,
    /// Loss events: window reductions for any reason.
    pub loss_events: u64,
    /// Loss events per segment received; null before any.
    pub loss_rate: Option<f64>,
    /// Data that came after its timeout and was not used (--cancel-on-timeout).
    pub withdrawn: u64,
    /// Data that had arrived before or that nobody asked for.
    pub duplicates: u64,
}

/// Round-trip times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Rtt {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Largest.
    pub max: f64,
    /// How many.
    pub samples: u64,
}

/// The window in segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Window {
    /// At the end.
    pub last: f64,
    /// At most.
    pub max: f64,
    /// Slow-start threshold at the end; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<f64>,
}

/// What vouches for the content.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verification {
    /// What was asked for with --verify.
    pub policy: String,
    /// Segments that were verified.
    pub verified: u64,
    /// Segments that were accepted although nothing vouched for them.
    pub not_verified: u64,
    /// Data that was rejected.
    pub rejected: u64,
    /// What the first rejected Data had wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_why: Option<&'static str>,
}

/// The algorithms, with all their parameters.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Algorithms {
    /// Congestion control.
    pub congestion: String,
    /// Retransmission timer.
    pub rto: String,
    /// Which segments are samples.
    pub sampling: String,
    /// What counts as lost before its timer expires.
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

impl Report {
    /// The report on a fetch that counted `tally`.
    pub(crate) fn new(tally: &Tally, choice: &Choice, policy: &str, total: Duration) -> Self {
        Self {
            command: "fetch",
            name: String::new(),
            object: None,
            output: String::new(),
            face: String::new(),
            complete: false,
            files: None,
            segments: tally.segments,
            segments_before: 0,
            last_segment: tally.last_segment,
            octets: tally.content_bytes,
            elapsed_s: tally.elapsed().as_secs_f64(),
            total_s: total.as_secs_f64(),
            goodput_bit_s: tally.goodput().unwrap_or(0.0),
            wire_octets: tally.wire_octets,
            throughput_bit_s: tally.throughput().unwrap_or(0.0),
            interests: Interests {
                sent: tally.interests,
                retransmitted: tally.retransmissions,
                needless: tally.spurious,
            },
            losses: losses(tally),
            rtt_ms: rtt(tally),
            window: Window {
                last: tally.window.unwrap_or(0.0),
                max: tally.window_max,
                ssthresh: Some(tally.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
            },
            verification: verification(tally, policy),
            algorithms: Algorithms {
                congestion: choice.congestion.clone(),
                rto: choice.rto.clone(),
                sampling: choice.sampling.clone(),
                loss: choice.loss.clone(),
                why_congestion: choice.why_congestion,
                why_rto: choice.why_rto,
                why_loss: choice.why_loss,
            },
            error: None,
        }
    }
}

fn losses(tally: &Tally) -> Losses {
    let bad_timeouts = tally.needless_timeouts();
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
        wireless: tally.explained.wireless,
        mobility: tally.explained.mobility,
        spurious: tally.spurious,
        nack_reductions: tally.reductions.nack,
        found_by_order: tally.lost_by_order,
        repaired_before_timer: tally.repaired,
        false_alarms: tally.false_alarms,
        order_reductions: tally.reductions.order,
        recoveries: tally.recovery.entries,
        recovery_s: tally.recovery.time.as_secs_f64(),
        loss_events: tally.reductions.total(),
        loss_rate: tally.loss_rate(),
        withdrawn: tally.withdrawn,
        duplicates: tally.duplicates,
    }
}

fn rtt(tally: &Tally) -> Option<Rtt> {
    Some(Rtt {
        min: format::ms(tally.rtt.min()?),
        avg: format::ms(tally.rtt.mean()?),
        max: format::ms(tally.rtt.max()?),
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = format::seconds(Duration::from_secs_f64(self.elapsed_s));
        let (octets, rate) = (format::octets(self.octets), format::rate(self.goodput_bit_s));
        let throughput = format::rate(self.throughput_bit_s);
        writeln!(f, "{}", self.object.as_ref().unwrap_or(&self.name))?;
        writeln!(
            f,
            "  received      {octets} in {time}: goodput {rate}, whole packets {throughput}"
        )?;
        if let Some(Files { fetched, before, .. }) = self.files {
            write!(f, "  files         {fetched} fetched")?;
            if before > 0 {
                write!(f, ", {before} there from before")?;
            }
            writeln!(f)?;
        }
        self.fmt_counts(f)?;
        self.fmt_path(f)?;
        self.fmt_trust(f)?;
        let Algorithms { congestion, rto, sampling, loss, why_congestion, why_rto, why_loss } =
            &self.algorithms;
        write!(f, "  window rule   {congestion}")?;
        fmt_why(f, *why_congestion)?;
        write!(f, "\n  timer         {rto}, sampling {sampling}")?;
        fmt_why(f, *why_rto)?;
        write!(f, "\n  losses by     {loss}")?;
        fmt_why(f, *why_loss)
    }
}

fn fmt_why(f: &mut fmt::Formatter<'_>, why: Option<&str>) -> fmt::Result {
    why.map_or(Ok(()), |why| write!(f, "\n                the default: {why}"))
}

impl Report {
    fn fmt_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (interests, losses) = (&self.interests, &self.losses);
        write!(f, "  segments      {} received", self.segments)?;
        if self.segments_before > 0 {
            write!(f, ", {} there from before", self.segments_before)?;
        }
        let share = 100.0 * interests.retransmitted as f64 / interests.sent.max(1) as f64;
        writeln!(
            f,
            "\n  Interests     {} sent, {} retransmitted ({share:.2} %), {} of them needlessly",
            interests.sent, interests.retransmitted, interests.needless
        )?;
        let nacks = losses.nacks_congestion
            + losses.nacks_duplicate
            + losses.nacks_no_route
            + losses.nacks_mobility
            + losses.nacks_loss
            + losses.nacks_other;
        writeln!(
            f,
            "  losses        {} timeouts ({} window reductions), {} marks ({}), {nacks} Nacks ({})",
            losses.timeouts,
            losses.timeout_reductions,
            losses.marks,
            losses.mark_reductions,
            losses.nack_reductions
        )?;
        if losses.congestion + losses.wireless + losses.mobility + losses.spurious > 0 {
            writeln!(
                f,
                "  causes        congestion {}, wireless {}, mobility {}, spurious {}",
                losses.congestion, losses.wireless, losses.mobility, losses.spurious
            )?;
        }
        if let Some(share) = losses.bad_timeout_share {
            writeln!(
                f,
                "  bad timeouts  about {} of {} ({:.1} %): an answer to the first asking came after all, as far as \
                 can be told",
                losses.bad_timeouts,
                losses.timeouts,
                100.0 * share
            )?;
        }
        if losses.found_by_order > 0 {
            self.fmt_order(f)?;
        }
        let share = 100.0 * losses.loss_rate.unwrap_or(0.0);
        write!(
            f,
            "  loss events   {} ({share:.3} % of the segments received)",
            losses.loss_events
        )?;
        match losses.withdrawn {
            0 => writeln!(f),
            late => writeln!(f, ", {late} answers too late to be used"),
        }
    }

    fn fmt_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let losses = &self.losses;
        writeln!(
            f,
            "  by order      {} losses found ({} window reductions), {} repaired before any timer, \
             {} known false alarms; {} recoveries, {} in all",
            losses.found_by_order,
            losses.order_reductions,
            losses.repaired_before_timer,
            losses.false_alarms,
            losses.recoveries,
            format::seconds(Duration::from_secs_f64(losses.recovery_s))
        )
    }

    fn fmt_path(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rtt_ms {
            Some(rtt) => writeln!(
                f,
                "  RTT           min/avg/max = {}/{}/{} ms, {} samples",
                format::milliseconds(rtt.min),
                format::milliseconds(rtt.avg),
                format::milliseconds(rtt.max),
                rtt.samples
            )?,
            None => writeln!(f, "  RTT           no samples")?,
        }
        let Window { last, max, .. } = self.window;
        writeln!(f, "  window        {last:.1} segments at the end, {max:.1} at most")
    }

    fn fmt_trust(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verification { policy, verified, not_verified, rejected, rejected_why } =
            &self.verification;
        write!(f, "  verification  --verify {policy}: {verified} segments verified")?;
        if *not_verified > 0 {
            let why = match policy.as_str() {
                "none" => "as asked for",
                _ => "signed by an unknown key",
            };
            write!(f, ", {not_verified} not verified ({why})")?;
        }
        if *rejected > 0 {
            write!(f, ", {rejected} rejected ({})", rejected_why.unwrap_or("wrong"))?;
        }
        writeln!(f)
    }
}
