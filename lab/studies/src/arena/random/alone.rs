//! One fetch over a path that drops, answers or rests by rules of its own.
//!
//! | kind | drawn, each uniform on a logarithmic scale |
//! |---|---|
//! | policers | rate 2 to 50 Mbit/s, burst 5 to 200 packets, round trip 10 to 150 ms |
//! | caches | stripes of 50 to 1,000 segments; near 2 to 20 ms, 20 to 200 Mbit/s; far 20 to 150 ms, 5 to 50 Mbit/s |
//! | outages | rate 2 to 100 Mbit/s, round trip 10 to 200 ms, outage 0.5 to 20 s |
use super::{Draw, PACKET_BITS, ideal_s, queue_packets, rounded, serve};
use std::fmt::Write as _;

/// Transport of a prefetch into the cache.
const PREFETCH: &str = "congestion = \"fixed(window=16)\"\nloss = \"time-threshold(share=1/4)\"\n\
                        rto = \"jacobson(backoff-until=progress)\"\n";

/// A link ten times as fast as the policer before it.
pub(super) fn policer(draw: &Draw) -> String {
    let (rate, burst) = (draw.log("rate", 2.0, 50.0), draw.log("burst", 5.0, 200.0).round());
    let rtt = draw.log("rtt", 10.0, 150.0);
    let segments = segments_in(rate, 8.0);
    let frames = rounded(rate * 1e6 / PACKET_BITS);
    let title = format!("a policer of {rate} Mbit/s, {burst} packets in a row, {rtt} ms");
    let link = format!(
        "rate = \"{} Mbit/s\"\nqueue = \"1000 packets\"\nback = {{ loss = \"policer(rate={frames},burst={burst})\" }}\n",
        rounded(rate * 10.0)
    );
    head(&title, "congestion", ideal_s(rate, rtt, segments)) + &single(&link, rtt, segments)
}

/// A link that carries nothing for some time.
pub(super) fn outage(draw: &Draw) -> String {
    let (rate, rtt) = (draw.log("rate", 2.0, 100.0), draw.log("rtt", 10.0, 200.0));
    let (segments, silence) = (segments_in(rate, 6.0), draw.log("outage", 0.5, 20.0));
    let title = format!("{rate} Mbit/s, {rtt} ms, nothing for {silence} s");
    let queue = queue_packets(rate, rtt, 1.0);
    let link = format!("rate = \"{rate} Mbit/s\"\nqueue = \"{queue} packets\"\n");
    let event = format!("\n[[event]]\nat = \"3 s\"\noutage = \"r-p\"\nfor = \"{silence} s\"\n");
    let ideal = ideal_s(rate, rtt, segments) + silence;
    head(&title, "congestion", ideal) + &single(&link, rtt, segments) + &event
}

/// Each other stripe of the object lies in a cache on the way.
pub(super) fn cache(draw: &Draw) -> String {
    let stripe = draw.log("stripe", 50.0, 1_000.0).round();
    let (near, near_rate) = (draw.log("near", 2.0, 20.0), draw.log("near-rate", 20.0, 200.0));
    let (far, far_rate) = (draw.log("far", 20.0, 150.0), draw.log("far-rate", 5.0, 50.0));
    let far_rate = far_rate.min(near_rate);
    let half = (segments_in(far_rate, 3.0) / stripe).ceil().max(2.0) * stripe;
    let title = format!(
        "each other stripe of {stripe} segments at {near} ms and {near_rate} Mbit/s, the rest at {} ms and \
         {far_rate} Mbit/s",
        rounded(near + far)
    );
    // The far half with its start-up, and the near one at its rate.
    let ideal = ideal_s(far_rate, near + far, half) + half * PACKET_BITS / (near_rate * 1e6);
    let mut text = head(&title, "sources", ideal);
    let _ = write!(
        text,
        "base-rtt = \"{} ms\"\n\n[topology]\nlinks = [\"c-r\", \"d-r\", \"r-p\"]\n\n[link]\nqueue = \"unlimited\"\n\n\
         [links.c-r]\nrate = \"{near_rate} Mbit/s\"\ndelay = \"{} us\"\nqueue = \"{} packets\"\n\n\
         [links.r-p]\nrate = \"{far_rate} Mbit/s\"\ndelay = \"{} us\"\nqueue = \"{} packets\"\n\n\
         [nodes.r]\ncache = \"65536 packets\"\n\n[fetch]\nobject = \"/f\"\n\n",
        rounded(near + far),
        (near * 500.0).round(),
        queue_packets(near_rate, near + far, 1.0),
        (far * 500.0).round(),
        queue_packets(far_rate, near + far, 1.0),
    );
    text += &serve(2.0 * half);
    for number in 0..(half / stripe) as u64 {
        let first = 2.0 * stripe * number as f64;
        let last = first + stripe - 1.0;
        let _ = write!(
            text,
            "[applications.d{number}]\nkind = \"fetch\"\nnode = \"d\"\nfirst = {first}\nlast = {last}\n{PREFETCH}\n"
        );
    }
    text + &applications("start = \"60 s\"\n")
}

/// Segments that a rate carries in that time.
fn segments_in(rate_mbit: f64, seconds: f64) -> f64 {
    (rate_mbit * 1e6 * seconds / PACKET_BITS).round()
}

fn head(title: &str, situation: &str, ideal_s: f64) -> String {
    format!(
        "title = \"{title}\"\nseeds = \"1\"\nstop = \"600 s\"\n\n[arena]\nsituation = \"{situation}\"\n\
         ideal = \"{} ms\"\n",
        (ideal_s * 1e3).round()
    )
}

/// One fetch behind a router; `link` is the bottleneck.
fn single(link: &str, rtt_ms: f64, segments: f64) -> String {
    format!(
        "\n[topology]\nlinks = [\"c-r\", \"r-p\"]\n\n[link]\nqueue = \"unlimited\"\n\n[links.c-r]\n\
         delay = \"0.5 ms\"\n\n[links.r-p]\ndelay = \"{} us\"\n{link}\n{}{}",
        ((rtt_ms / 2.0 - 0.5) * 1e3).round(),
        serve(segments),
        applications("object = \"/f\"\n"),
    )
}

/// The fetch under test, its producer and the records of a case.
fn applications(more: &str) -> String {
    format!(
        "[applications.c1]\nkind = \"fetch\"\nnode = \"c\"\n{more}spread = \"10 ms\"\n\n[applications.p1]\n\
         kind = \"serve\"\nnode = \"p\"\nprefix = \"/f\"\n\n[record]\nlinks = true\ntimeouts = true\n"
    )
}
