//! How a fetch ends: the details for people, the document for programs. The line of result is in `outcome.rs`.
use crate::error::Failure;
use crate::format;
use recoup::folder::Files;
use recoup::summary::{Algorithms, FetchSummary, Losses, Verification, Window};
use recoup_forwarder::face::Agreement;
use serde::Serialize;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

/// Columns of the labels of the details.
pub(super) const LABEL: usize = 16;

/// Report of a fetch. Serialises as the document that `docs/library.md` describes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Always `fetch`.
    pub command: &'static str,
    /// The requested name.
    pub name: String,
    /// The object found, version included.
    pub object: Option<String>,
    /// Where the content went; `-` is standard output.
    pub output: String,
    /// The face it came by.
    pub face: String,
    /// Whether the link of this face recovered losses at the end: agreed, offered or off.
    pub link_recovery: &'static str,
    /// Whether all requested segments arrived.
    pub complete: bool,
    /// Files of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Files>,
    /// The figures.
    #[serde(flatten)]
    pub summary: FetchSummary,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Deref for Report {
    type Target = FetchSummary;

    fn deref(&self) -> &FetchSummary {
        &self.summary
    }
}

impl Report {
    /// The report on a fetch with these figures.
    pub(crate) fn new(summary: FetchSummary) -> Self {
        Self {
            command: "fetch",
            name: String::new(),
            object: None,
            output: String::new(),
            face: String::new(),
            link_recovery: Agreement::Off.name(),
            complete: false,
            files: None,
            summary,
            error: None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = format::seconds(Duration::from_secs_f64(self.elapsed_s));
        let (bytes, rate) = (format::bytes(self.bytes), format::rate(self.goodput_bit_s));
        let throughput = format::rate(self.throughput_bit_s);
        writeln!(f, "{}", self.object.as_ref().unwrap_or(&self.name))?;
        writeln!(
            f,
            "  received      {bytes} in {time}: goodput {rate}, whole packets {throughput}"
        )?;
        if let Some(Files { fetched, before, skipped, .. }) = self.files {
            write!(f, "  files         {fetched} fetched")?;
            if before > 0 {
                write!(f, ", {before} kept, unchanged")?;
            }
            if skipped > 0 {
                write!(f, ", {skipped} entries skipped")?;
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
            "\n  Interests     {} sent, {} retransmitted ({share:.2} %), {} of them spuriously",
            interests.sent, interests.retransmitted, interests.spurious
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
        if self.lost + losses.spurious > 0 {
            let Losses { congestion, random, wireless, mobility, unknown, spurious, .. } = losses;
            writeln!(
                f,
                "  causes        congestion {congestion}, random {random}, wireless {wireless}, \
                 mobility {mobility}, unknown {unknown}; spurious {spurious}"
            )?;
        }
        if let Some(share) = losses.bad_timeout_share {
            writeln!(
                f,
                "  bad timeouts  about {} of {} ({:.1} %): the first Interest was answered after all (an estimate)",
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
        writeln!(f, "  link recovery {}", self.link_recovery)?;
        let Window { last, max, .. } = self.window;
        writeln!(f, "  window        {last:.1} segments at the end, {max:.1} at most")
    }

    fn fmt_trust(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verification { policy, verified, not_verified, rejected, rejected_why, .. } =
            &self.verification;
        write!(f, "  verification  --verify {policy}: {verified} segments verified")?;
        if *not_verified > 0 {
            let why = match policy.as_str() {
                "none" => "as requested",
                _ => "signed by an unknown key",
            };
            write!(f, ", {not_verified} not verified ({why})")?;
        }
        let held = self.verification.held_not_verified;
        if held > 0 {
            write!(f, ", {} from before not verified", format::bytes(held))?;
        }
        if *rejected > 0 {
            write!(f, ", {rejected} rejected ({})", rejected_why.unwrap_or("wrong"))?;
        }
        writeln!(f)
    }
}
