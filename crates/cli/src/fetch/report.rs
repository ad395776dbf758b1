//! How a fetch ends: the details for people, the document for programs. The line of result is in `outcome.rs`.
use crate::error::Failure;
use crate::format;
use recoup::summary::{Algorithms, Verification};
use recoup::{FetchSummary, Files};
use recoup_transport::fetch::stats::Causes;
use serde::Serialize;
use std::fmt;

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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = &self.summary.stats;
        let (time, bytes) = (format::seconds(stats.elapsed()), format::bytes(stats.content_bytes));
        let rate = format::rate(stats.goodput().unwrap_or(0.0));
        let throughput = format::rate(stats.throughput().unwrap_or(0.0));
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
            &self.summary.algorithms;
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
        let (stats, causes) = (&self.summary.stats, self.summary.stats.causes());
        write!(f, "  segments      {} received", stats.segments)?;
        if stats.run.segments_before > 0 {
            write!(f, ", {} there from before", stats.run.segments_before)?;
        }
        let share = 100.0 * stats.retransmissions as f64 / stats.interests.max(1) as f64;
        writeln!(
            f,
            "\n  Interests     {} sent, {} retransmitted ({share:.2} %), {} of them spuriously",
            stats.interests, stats.retransmissions, causes.spurious
        )?;
        writeln!(
            f,
            "  losses        {} timeouts ({} window reductions), {} marks ({}), {} Nacks ({})",
            stats.timeouts,
            stats.reductions.timeout,
            stats.marks,
            stats.reductions.mark,
            stats.nacks,
            stats.reductions.nack
        )?;
        if causes.lost() + causes.spurious > 0 {
            let Causes { congestion, random, wireless, mobility, unknown, spurious } = causes;
            writeln!(
                f,
                "  causes        congestion {congestion}, random {random}, wireless {wireless}, \
                 mobility {mobility}, unknown {unknown}; spurious {spurious}"
            )?;
        }
        if let Some(share) = stats.spurious_timeout_share() {
            writeln!(
                f,
                "  bad timeouts  about {} of {} ({:.1} %): the first Interest was answered after all (an estimate)",
                stats.spurious_timeouts(),
                stats.timeouts,
                100.0 * share
            )?;
        }
        if stats.lost_by_order > 0 {
            self.fmt_order(f)?;
        }
        let share = 100.0 * stats.loss_rate().unwrap_or(0.0);
        write!(
            f,
            "  loss events   {} ({share:.3} % of the segments received)",
            stats.reductions.total()
        )?;
        match stats.withdrawn {
            0 => writeln!(f),
            late => writeln!(f, ", {late} answers too late to be used"),
        }
    }

    fn fmt_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = &self.summary.stats;
        writeln!(
            f,
            "  by order      {} losses found ({} window reductions), {} repaired before any timer, \
             {} known false alarms; {} recoveries, {} in all",
            stats.lost_by_order,
            stats.reductions.order,
            stats.repaired,
            stats.false_alarms,
            stats.recovery.entries,
            format::seconds(stats.recovery.time)
        )
    }

    fn fmt_path(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = &self.summary.stats;
        let rtt = &stats.rtt;
        match [rtt.min(), rtt.mean(), rtt.max()] {
            [Some(min), Some(mean), Some(max)] => {
                let [min, mean, max] =
                    [min, mean, max].map(|rtt| format::milliseconds(format::ms(rtt)));
                let samples = rtt.count();
                writeln!(
                    f,
                    "  RTT           min/avg/max = {min}/{mean}/{max} ms, {samples} samples"
                )?;
            }
            _ => writeln!(f, "  RTT           no samples")?,
        }
        writeln!(f, "  link recovery {}", self.link_recovery)?;
        let (last, max) = (stats.window.unwrap_or(0.0), stats.window_max);
        writeln!(f, "  window        {last:.1} segments at the end, {max:.1} at most")
    }

    fn fmt_trust(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verification { policy, verified, not_verified, rejected, rejected_why, .. } =
            &self.summary.verification;
        write!(f, "  verification  --verify {policy}: {verified} segments verified")?;
        if *not_verified > 0 {
            let why = match policy.as_str() {
                "none" => "as requested",
                _ => "signed by an unknown key",
            };
            write!(f, ", {not_verified} not verified ({why})")?;
        }
        let held = self.summary.verification.held_not_verified;
        if held > 0 {
            write!(f, ", {} from before not verified", format::bytes(held))?;
        }
        if *rejected > 0 {
            write!(f, ", {rejected} rejected ({})", rejected_why.unwrap_or("wrong"))?;
        }
        writeln!(f)
    }
}
