//! The line of result: what arrived and how fast, what was lost and why, and whether it is genuine.
use super::report::Report;
use crate::format;
use recoup::folder::Files;
use recoup::summary::Verification;
use std::time::Duration;

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
    let (random, sent) = (report.losses.random, report.interests.sent.max(1));
    let many = random >= WORTH_A_HINT.1 && random as f64 / sent as f64 >= WORTH_A_HINT.0;
    (is_plain_datagram && many).then_some(HINT)
}

fn parts(report: &Report, words: Words) -> Vec<String> {
    let mut parts = vec![amount(report)];
    parts.extend(losses(report, words));
    parts.push(trust(&report.verification));
    parts
}

fn amount(report: &Report) -> String {
    let (bytes, held) = (report.bytes, report.held_bytes);
    let mut text = String::new();
    if let Some(Files { fetched, before, skipped, .. }) = report.files {
        text = format!("{fetched} {}", if fetched == 1 { "file" } else { "files" });
        if before > 0 {
            text += &format!(" ({before} were there)");
        }
        if skipped > 0 {
            text += &format!(", {skipped} skipped");
        }
        text += ", ";
    } else if report.segments == 0 && report.segments_before > 0 {
        return format!("all {} were there already", format::bytes(held));
    }
    text += &match held {
        0 => format::bytes(bytes),
        held => format::of(bytes, bytes.saturating_add(held)),
    };
    let seconds = if report.elapsed_s > 0.0 { report.elapsed_s } else { report.total_s };
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    text += &format!(" in {}", format::brief(time));
    if report.goodput_bit_s > 0.0 {
        text += &format!(", {}", format::rate(report.goodput_bit_s));
    }
    text
}

/// How much was lost and why; nothing if nothing was sent.
fn losses(report: &Report, words: Words) -> Option<String> {
    let (lost, sent) = (report.lost, report.interests.sent);
    if sent == 0 {
        return None;
    }
    let packets = if words == Words::All { " of packets" } else { "" };
    let by = if words == Words::Fewest { "" } else { "by " };
    let share = |count: u64| format::share(count as f64 / sent as f64);
    let (congestion, unknown) = (report.losses.congestion, report.losses.unknown);
    let cause = match (congestion, unknown) {
        _ if lost == 0 => return Some("no packet lost".into()),
        (0, 0) => "none by congestion".into(),
        (_, unknown) if unknown == lost => "cause unknown".into(),
        (congestion, _) if congestion == lost => "all by congestion".into(),
        (0, unknown) => format!("{} for unknown causes", share(unknown)),
        (congestion, _) => format!("{} {by}congestion", share(congestion)),
    };
    Some(format!("{}{packets} lost, {cause}", share(lost)))
}

fn trust(verification: &Verification) -> String {
    let Verification { policy, verified, not_verified, rejected, .. } = verification;
    let mut text = match (not_verified, policy.as_str()) {
        (0, "none") | (1.., "none") => "not verified".to_owned(),
        (0, _) => "verified".to_owned(),
        (_, _) if *verified == 0 => "not verified, signed by an unknown key".to_owned(),
        (some, _) => format!("{some} segments not verified, signed by an unknown key"),
    };
    if *rejected > 0 {
        text += &format!(", {rejected} forged packets rejected");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup::FetchSummary;
    use recoup::summary::Algorithms;
    use recoup::tally::Tally;

    fn report(lost: u64, congestion: u64, unknown: u64) -> Report {
        let (tally, algorithms) = (Tally::default(), Algorithms::default());
        let total = Duration::from_secs(4);
        let mut report = FetchSummary::new(&tally, &algorithms, "auto", total);
        (report.bytes, report.elapsed_s, report.goodput_bit_s) = (41_200_000, 3.2, 103e6);
        (report.segments, report.interests.sent, report.lost) = (5_150, 5_212, lost);
        (report.losses.congestion, report.losses.unknown) = (congestion, unknown);
        report.losses.random = lost - congestion - unknown;
        report.verification.verified = 5_150;
        Report::new(report)
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
    fn resumed_result_fits_one_line() {
        let resumed = Report::new(FetchSummary {
            bytes: 20_800_000,
            held_bytes: 20_400_000,
            elapsed_s: 1.8,
            goodput_bit_s: 94.6e6,
            ..report(99, 1, 0).summary
        });
        let text = "20.8 of 41.2 MB in 1.8 s, 94.6 Mbit/s; 1.9 % lost, <0.1 % congestion; verified";
        assert_eq!(line(&resumed, Some(80)), text);
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
    }

    #[test]
    fn extreme_results_fit_any_width() {
        let empty = Report::new(FetchSummary {
            bytes: 0,
            goodput_bit_s: 0.0,
            elapsed_s: 0.0,
            ..report(0, 0, 0).summary
        });
        assert_eq!(line(&empty, Some(80)), "0 B in 4.0 s; no packet lost; verified");
        let huge = Report::new(FetchSummary {
            bytes: 999_900_000_000,
            held_bytes: 999_900_000_000,
            elapsed_s: 359_999.0,
            goodput_bit_s: 22e6,
            ..report(5_212, 600, 0).summary
        });
        let text =
            "1.00 of 2.00 TB in 99 h 59 min, 22.0 Mbit/s; 100 % lost, 12 % by congestion; verified";
        assert_eq!(line(&huge, Some(90)), text);
        for columns in [40, 80, 200] {
            for report in [&empty, &huge, &report(62, 31, 0)] {
                let text = line(report, Some(columns));
                assert!(text.lines().all(|line| line.len() <= columns), "{columns}: {text}");
            }
        }
        let there = Report::new(FetchSummary {
            segments: 0,
            segments_before: 5_150,
            held_bytes: 41_200_000,
            interests: recoup::summary::Interests { sent: 0, retransmitted: 0, spurious: 0 },
            ..report(0, 0, 0).summary
        });
        assert_eq!(line(&there, Some(80)), "all 41.2 MB were there already; verified");
    }

    #[test]
    fn resumed_result_names_the_new_bytes() {
        let resumed = Report::new(FetchSummary {
            bytes: 22_300_000,
            held_bytes: 18_900_000,
            ..report(0, 0, 0).summary
        });
        assert!(line(&resumed, None).starts_with("22.3 of 41.2 MB in 3.2 s, 103 Mbit/s; "));
    }

    #[test]
    fn unverified_content_is_reported() {
        let mut report = report(0, 0, 0);
        (report.summary.verification.not_verified, report.summary.verification.verified) =
            (5_150, 0);
        assert!(line(&report, None).ends_with("; not verified, signed by an unknown key"));
        report.summary.verification.policy = "none".into();
        assert!(line(&report, None).ends_with("; not verified"));
        report.summary.verification.rejected = 3;
        assert!(line(&report, None).ends_with("; not verified, 3 forged packets rejected"));
    }

    #[test]
    fn hint_needs_random_losses_on_datagrams() {
        assert!(hint(&report(62, 0, 0), true).is_some_and(|hint| hint.len() <= 80));
        assert_eq!(hint(&report(62, 0, 0), false), None);
        assert_eq!(hint(&report(62, 62, 0), true), None);
        assert_eq!(hint(&report(62, 0, 62), true), None);
        assert_eq!(hint(&report(4, 0, 0), true), None);
    }
}
