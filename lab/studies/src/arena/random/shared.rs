//! Several fetches over one link: alike, or beside a rival.
//!
//! | kind | drawn, each uniform on a logarithmic scale |
//! |---|---|
//! | own | 1 to 128 fetches; each has 0.5 to 100 segments of the path |
//! | | buffer 0.25 to 16 BDP, round trip 5 to 200 ms |
//! | rivals | rate 5 to 100 Mbit/s, round trip 10 to 100 ms, buffer 0.5 to 16 BDP |
//! | | on two thirds jitter of 0.1 to 10 ms, in order or not |
//! | | on a quarter marks above 8 to 128 KiB |
use super::{Draw, PACKET_BITS, queue_packets, rounded, serve};
use std::fmt::Write as _;

/// Content that no run completes, in segments.
const ENDLESS: f64 = 3e7;
/// Largest rate of fetches alike, in Mbit/s: what a simulation carries in a few seconds.
const MOST_MBIT: f64 = 300.0;
/// How a rival detects losses, as NFD's and ndn-tools' consumers do.
const RIVAL: &str =
    "loss = \"time-threshold(share=1/4)\"\nrto = \"jacobson(backoff-until=progress)\"\n";

/// Fetches alike, the last of which begins six seconds after the first at most.
pub(super) fn own(draw: &Draw) -> String {
    let (count, rtt) = (draw.log("count", 1.0, 128.99).floor(), draw.log("rtt", 5.0, 200.0));
    let wanted = count * draw.log("segments", 0.5, 100.0) * PACKET_BITS / (rtt * 1e3);
    let rate = rounded(wanted.clamp(0.1, MOST_MBIT));
    let buffer = draw.log("buffer", 0.25, 16.0);
    let title = format!("{count} fetches alike, {rate} Mbit/s, {rtt} ms, buffer {buffer} BDP");
    let gap_ms = (6_000.0 / count).min(500.0).round();
    let since = (gap_ms * count / 1e3).ceil() + 12.0;
    let link = format!(
        "rate = \"{rate} Mbit/s\"\nqueue = \"{} packets\"\n",
        queue_packets(rate, rtt, buffer)
    );
    let flows: Vec<Flow> = (0..count as u32)
        .map(|number| Flow { start_ms: gap_ms * f64::from(number), congestion: None })
        .collect();
    text(&title, since, &link, rtt, &flows)
}

/// One fetch beside a rival that began two seconds before.
pub(super) fn rival(draw: &Draw) -> String {
    let (rate, rtt) = (draw.log("rate", 5.0, 100.0), draw.log("rtt", 10.0, 100.0));
    let buffer = draw.log("buffer", 0.5, 16.0);
    let congestion = if draw.is("newreno", 0.5) { "newreno" } else { "cubic" };
    let mut title =
        format!("one fetch beside {congestion}, {rate} Mbit/s, {rtt} ms, buffer {buffer} BDP");
    let mut link = format!(
        "rate = \"{rate} Mbit/s\"\nqueue = \"{} packets\"\n",
        queue_packets(rate, rtt, buffer)
    );
    if draw.is("jittery", 2.0 / 3.0) {
        let (mean, overtakes) = (draw.log("jitter", 0.1, 10.0), draw.is("reorder", 0.5));
        let order = if overtakes { ", overtaking" } else { "" };
        let _ = write!(title, ", jitter {mean} ms{order}");
        let _ = writeln!(
            link,
            "back = {{ jitter = \"exponential(mean={mean}ms)\", reorder = {overtakes} }}"
        );
    }
    if draw.is("marked", 0.25) {
        let kib = draw.log("marks", 8.0, 128.0).round();
        let _ = write!(title, ", marks above {kib} KiB");
        let _ = writeln!(link, "marking = \"codel(threshold={kib}KiB,interval=100ms)\"");
    }
    let flows = [
        Flow { start_ms: 2_000.0, congestion: None },
        Flow { start_ms: 0.0, congestion: Some(congestion) },
    ];
    text(&title, 15.0, &link, rtt, &flows)
}

/// A fetch of its own object.
struct Flow {
    start_ms: f64,
    /// Of a rival.
    congestion: Option<&'static str>,
}

/// The case: goodputs are compared for 45 s from `since_s` on.
fn text(title: &str, since_s: f64, link: &str, rtt_ms: f64, flows: &[Flow]) -> String {
    let numbers = 1..=flows.len();
    let links: Vec<String> = numbers.map(|number| format!("\"c{number}-r\"")).collect();
    let mut text = format!(
        "title = \"{title}\"\nseeds = \"1\"\nstop = \"{} s\"\nwhen-done = false\n\n[arena]\n\
         situation = \"sharing\"\nsince = \"{since_s} s\"\n\n[topology]\nlinks = [{}, \"r-p\"]\n\n[link]\n\
         queue = \"unlimited\"\ndelay = \"0.5 ms\"\n\n[links.r-p]\ndelay = \"{} us\"\n{link}\n[fetch]\n\
         no-progress = \"600 s\"\n\n{}",
        since_s + 45.0,
        links.join(", "),
        ((rtt_ms / 2.0 - 0.5) * 1e3).round(),
        serve(ENDLESS),
    );
    for (number, flow) in (1..).zip(flows) {
        let rival = flow.congestion.map(|name| format!("congestion = \"{name}\"\n{RIVAL}"));
        let _ = write!(
            text,
            "[applications.c{number}]\nkind = \"fetch\"\nnode = \"c{number}\"\nobject = \"/{number}\"\n\
             start = \"{} ms\"\nspread = \"50 ms\"\n{}\n[applications.p{number}]\nkind = \"serve\"\nnode = \"p\"\n\
             prefix = \"/{number}\"\n\n",
            flow.start_ms,
            rival.unwrap_or_default(),
        );
    }
    text + "[record]\nlinks = true\ntables = [\"goodput(bin=1s)\"]\n"
}
