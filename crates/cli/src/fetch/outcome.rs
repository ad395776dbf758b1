//! The line of result: what arrived and how fast, what was lost and why, and whether it is genuine.
use super::report::Report;
use crate::format;
use recoup::Files;
use recoup::summary::Verification;

/// Share of packets lost at random from which on link recovery is worth a hint, and their least number.
const WORTH_A_HINT: (f64, u64) = (0.002, 5);
const HINT: &str = "hint: if the first link loses them, --recovery wldr at both ends repairs that";

/// How many words the losses take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    /// `1.2 % of packets lost, 0.1 % by congestion`.
    All,
    /// `1.2 % lost, 0.1 % by congestion`.
    Fewer,
    /// `1.2 % lost, 0.1 % congestion`.
    Fewest,
}

/// The result of a fetch that succeeded. In a terminal of so many columns it is shorter if it must be, and takes several
/// lines if nothing else helps; words and numbers are never cut.
pub(super) fn line(report: &Report, columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    for words in [Words::All, Words::Fewer, Words::Fewest] {
        let line = parts(report, words).join("; ");
        if line.len() <= columns {
            return line;
        }
    }
    let parts = parts(report, Words::Fewer);
    let lines: Vec<String> = parts.into_iter().map(|part| broken(part, columns)).collect();
    lines.join("\n")
}

/// A part in several lines if it does not fit into one.
fn broken(part: String, columns: usize) -> String {
    if part.len() <= columns { part } else { part.replace(", ", ",\n") }
}

/// Advice if a link without recovery lost packets that it could repair.
pub(super) fn hint(report: &Report, is_plain_datagram: bool) -> Option<&'static str> {
    // A path that drops long packets keeps all segments away at first: the link loses nothing then.
    let stats = &report.summary.stats;
    let random = stats.causes().random.saturating_sub(stats.blind);
    let sent = stats.interests.max(1);
    let many = random >= WORTH_A_HINT.1 && random as f64 / sent as f64 >= WORTH_A_HINT.0;
    (is_plain_datagram && many).then_some(HINT)
}

fn parts(report: &Report, words: Words) -> Vec<String> {
    let mut parts = vec![amount(report)];
    if is_all_there(report) {
        parts.push(kept(report).unwrap_or_else(|| unchanged(report)));
    } else {
        parts.extend(losses(report, words));
        parts.push(trust(&report.summary.verification));
        parts.extend(kept(report));
    }
    parts
}

fn amount(report: &Report) -> String {
    let stats = &report.summary.stats;
    let (bytes, held) = (stats.content_bytes, stats.run.held_bytes);
    let mut text = String::new();
    if is_all_there(report) || stats.segments == 0 && stats.run.segments_before > 0 {
        return format!("all {} were there already", format::bytes(held));
    }
    if let Some(Files { fetched, skipped, .. }) = report.files {
        text = format!("{fetched} {}", if fetched == 1 { "file" } else { "files" });
        if skipped > 0 {
            text += &format!(", {skipped} skipped");
        }
        text += ", ";
    }
    text += &match held {
        0 => format::bytes(bytes),
        held => format::of(bytes, bytes.saturating_add(held)),
    };
    let elapsed = stats.elapsed();
    let time = if elapsed.is_zero() { stats.run.total } else { elapsed };
    text += &format!(" in {}", format::brief(time));
    if let Some(rate) = stats.goodput().filter(|rate| *rate > 0.0) {
        text += &format!(", {}", format::rate(rate));
    }
    text
}

/// How much was lost and why; nothing if nothing was sent.
fn losses(report: &Report, words: Words) -> Option<String> {
    let (stats, causes) = (&report.summary.stats, report.summary.stats.causes());
    let (lost, sent) = (causes.lost(), stats.interests);
    if sent == 0 {
        return None;
    }
    let packets = if words == Words::All { " of packets" } else { "" };
    let by = if words == Words::Fewest { "" } else { "by " };
    let share = |count: u64| format::share(count as f64 / sent as f64);
    let (congestion, unknown) = (causes.congestion, causes.unknown);
    let cause = match (congestion, unknown) {
        _ if lost == 0 => return Some("no packet lost".into()),
        (0, unknown) if stats.run.is_stream && unknown == lost => {
            return Some(format!("{}{packets} late or lost", share(lost)));
        }
        (0, 0) => "none by congestion".into(),
        (_, unknown) if unknown == lost => "cause unknown".into(),
        (congestion, _) if congestion == lost => "all by congestion".into(),
        (0, unknown) => format!("{} for unknown causes", share(unknown)),
        (congestion, _) => format!("{} {by}congestion", share(congestion)),
    };
    Some(format!("{}{packets} lost, {cause}", share(lost)))
}

/// Whether the fetch found all content complete and fetched nothing.
fn is_all_there(report: &Report) -> bool {
    match report.files {
        Some(Files { fetched, before, skipped, .. }) => fetched + skipped == 0 && before > 0,
        None => report.summary.stats.run.is_kept,
    }
}

/// The files of a folder that were there and stay as they are.
fn kept(report: &Report) -> Option<String> {
    let Files { before, .. } = report.files.filter(|it| it.before > 0)?;
    Some(format!("{before} kept, {}", unchanged(report)))
}

/// How the unchanged content of an earlier fetch was verified.
fn unchanged(report: &Report) -> String {
    let Verification { policy, held_not_verified, .. } = &report.summary.verification;
    let of_files = report.files.map_or(0, |files| files.before_not_verified);
    match (of_files, held_not_verified) {
        _ if policy == "none" => "unchanged, not verified".to_owned(),
        (0, 0) => "unchanged since they were verified".to_owned(),
        (0, _) => "unchanged, not verified, signed by an unknown key".to_owned(),
        (some, _) => format!("unchanged, {some} of them not verified"),
    }
}

fn trust(verification: &Verification) -> String {
    let Verification { policy, verified, not_verified, rejected, other_content, .. } = verification;
    let how = policy.split_once(", decrypted").map_or(policy.as_str(), |(how, _)| how);
    let has_author = how.starts_with("key=") || how.starts_with("trust=");
    let held = verification.held_not_verified;
    let mut text = match (not_verified, how) {
        _ if how != policy && !has_author => "decrypted, author not verified".to_owned(),
        (0, "none") | (1.., "none") => "not verified".to_owned(),
        (0, _) if held > 0 && *verified == 0 => "not verified, signed by an unknown key".to_owned(),
        (0, _) if held > 0 => format!("{} from before not verified", format::bytes(held)),
        (0, _) => "verified".to_owned(),
        (_, _) if *verified == 0 => "not verified, signed by an unknown key".to_owned(),
        (some, _) => format!("{some} segments not verified, signed by an unknown key"),
    };
    let forged = rejected - other_content;
    if forged > 0 {
        text += &format!(", {forged} forged packets rejected");
    }
    if *other_content > 0 {
        text += &format!(", {other_content} packets of other content rejected");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup::{FetchOptions, FetchStats, FetchSummary};
    use recoup_transport::time::{Duration, Instant};

    /// The report on 5,150 segments in 3.2 s.
    fn report(lost: u64, congestion: u64, unknown: u64) -> Report {
        let mut stats = FetchStats::default();
        stats.content_bytes = 41_200_000;
        (stats.segments, stats.interests, stats.timeouts) = (5_150, 5_212, lost);
        (stats.started, stats.ended) = (Some(Instant::ZERO), Some(Instant::from_millis(3_200)));
        stats.inferred.congestion = congestion;
        stats.inferred.random = lost - congestion - unknown;
        stats.run.total = Duration::from_secs(4);
        of(stats)
    }

    fn of(stats: FetchStats) -> Report {
        let text = String::new;
        Report {
            command: "fetch",
            name: text(),
            object: None,
            output: text(),
            face: text(),
            link_recovery: "off",
            complete: true,
            files: None,
            summary: FetchSummary::new(stats, &FetchOptions::default()),
            error: None,
        }
    }

    /// Another report, with changed counters.
    fn with(report: Report, change: impl FnOnce(&mut FetchStats)) -> Report {
        let mut stats = report.summary.stats;
        change(&mut stats);
        of(stats)
    }

    fn elapsed(stats: &mut FetchStats, millis: u64) {
        stats.ended = Some(Instant::from_millis(millis));
    }

    #[test]
    fn result_is_one_line_at_80_columns() {
        let report = report(62, 0, 0);
        let wide =
            "41.2 MB in 3.2 s, 103 Mbit/s; 1.2 % of packets lost, none by congestion; verified";
        assert_eq!(line(&report, None), wide);
        assert_eq!(line(&report, Some(200)), wide);
        let narrow = "41.2 MB in 3.2 s, 103 Mbit/s; 1.2 % lost, none by congestion; verified";
        assert_eq!(line(&report, Some(80)), narrow);
        let lines = "41.2 MB in 3.2 s, 103 Mbit/s\n1.2 % lost, none by congestion\nverified";
        assert_eq!(line(&report, Some(40)), lines);
    }

    #[test]
    fn losses_are_named_by_cause() {
        let cause = |lost, congestion, unknown| {
            let line = line(&report(lost, congestion, unknown), None);
            line.split("; ").nth(1).unwrap().to_owned()
        };
        assert_eq!(cause(0, 0, 0), "no packet lost");
        assert_eq!(cause(62, 0, 62), "1.2 % of packets lost, cause unknown");
        assert_eq!(cause(62, 62, 0), "1.2 % of packets lost, all by congestion");
        assert_eq!(cause(62, 31, 0), "1.2 % of packets lost, 0.6 % by congestion");
        assert_eq!(cause(62, 0, 31), "1.2 % of packets lost, 0.6 % for unknown causes");
        assert_eq!(cause(1, 0, 0), "<0.1 % of packets lost, none by congestion");
        let report = with(report(62, 0, 62), |stats| stats.run.is_stream = true);
        assert!(line(&report, None).contains("; 1.2 % of packets late or lost; "));
    }

    #[test]
    fn extreme_results_fit_any_width() {
        let empty = with(report(0, 0, 0), |stats| (stats.content_bytes, stats.ended) = (0, None));
        assert_eq!(line(&empty, Some(80)), "0 B in 4.0 s; no packet lost; verified");
        let huge = with(report(5_212, 600, 0), |stats| {
            stats.content_bytes = 999_900_000_000;
            stats.run.held_bytes = stats.content_bytes;
            elapsed(stats, 359_999_000);
        });
        let text =
            "1.00 of 2.00 TB in 99 h 59 min, 22.2 Mbit/s; 100 % lost, 12 % by congestion; verified";
        assert_eq!(line(&huge, Some(90)), text);
        for columns in [40, 80, 200] {
            for report in [&empty, &huge, &report(62, 31, 0)] {
                let text = line(report, Some(columns));
                assert!(text.lines().all(|line| line.len() <= columns), "{columns}: {text}");
            }
        }
        let there = with(report(0, 0, 0), |stats| {
            (stats.segments, stats.run.segments_before, stats.interests) = (0, 5_150, 0);
            stats.run.held_bytes = 41_200_000;
        });
        assert_eq!(line(&there, Some(80)), "all 41.2 MB were there already; verified");
    }

    #[test]
    fn unchanged_content_is_named_once() {
        let mut report = with(report(0, 0, 0), |stats| {
            (stats.run.held_bytes, stats.content_bytes) = (41_200_000, 300);
        });
        let files = |fetched, before, before_not_verified| {
            let listed = fetched + before;
            Some(Files { fetched, before, before_not_verified, listed, skipped: 0 })
        };
        report.files = files(0, 12, 0);
        let text = "all 41.2 MB were there already; 12 kept, unchanged since they were verified";
        assert_eq!(line(&report, None), text);
        report.files = files(1, 12, 2);
        let text = line(&report, None);
        assert!(text.ends_with("; verified; 12 kept, unchanged, 2 of them not verified"), "{text}");
        (report.files, report.summary.stats.run.is_kept) = (None, true);
        let text = "all 41.2 MB were there already; unchanged since they were verified";
        assert_eq!(line(&report, None), text);
    }

    #[test]
    fn unverified_content_is_reported() {
        let mut report = report(0, 0, 0);
        (report.summary.verification.not_verified, report.summary.verification.verified) =
            (5_150, 0);
        assert!(line(&report, None).ends_with("; not verified, signed by an unknown key"));
        report.summary.verification.policy = "none".into();
        assert!(line(&report, None).ends_with("; not verified"));
        report.summary.verification.policy = "digest, decrypted with /alice".into();
        assert!(line(&report, None).ends_with("; decrypted, author not verified"));
        report.summary.verification.policy = "none".into();
        report.summary.verification.rejected = 3;
        assert!(line(&report, None).ends_with("; not verified, 3 forged packets rejected"));
    }

    #[test]
    fn hint_needs_random_losses_on_datagrams() {
        assert!(hint(&report(62, 0, 0), true).is_some_and(|hint| hint.len() <= 80));
        assert_eq!(hint(&report(62, 0, 0), false), None);
        assert_eq!(hint(&report(62, 62, 0), true), None);
        assert_eq!(hint(&report(62, 0, 62), true), None);
        let narrow = with(report(62, 0, 0), |stats| stats.blind = 60);
        assert_eq!(hint(&narrow, true), None);
        assert_eq!(hint(&report(4, 0, 0), true), None);
    }
}
