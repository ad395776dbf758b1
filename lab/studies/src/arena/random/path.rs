//! One fetch over a path.
//!
//! Drawn are: rate (1 to 1000 Mbit/s), round-trip time (2 to 300 ms) and
//! buffer (0.1 to 4 bandwidth-delay products), each uniform on a logarithmic scale; on half of the paths a loss of Data
//! (0.01 to 10 %, logarithmic; a third of them in bursts of four); on a third jitter (mean 1 to 10 % of the round-trip
//! time; on half of these packets overtake); on a third cross traffic (10 to 60 % of the link, constant or on and off).
//! The object takes about two seconds and twenty round trips, at most 50,000 segments. Paths with jitter alone have one
//! of 2 to 50 % of the round-trip time.
use super::{Draw, rounded};
use std::fmt::Write as _;

/// Paths above this rate have segments of 8000 B, as fast producers use.
const FAST_MBIT: f64 = 200.0;
/// Segments of the largest object.
const MOST_SEGMENTS: f64 = 50_000.0;

/// A path with all quantities.
pub(super) fn text(draw: &Draw) -> String {
    Draft::of(draw).text()
}

/// A path with jitter, and without losses and other traffic.
pub(super) fn jittery(draw: &Draw) -> String {
    let jitter = Some((draw.log("jitter", 0.02, 0.5), draw.is("reorder", 0.5)));
    Draft { loss: None, cross: None, jitter, ..Draft::of(draw) }.text()
}

/// The drawn quantities, in the units of the text.
#[derive(Clone, Debug, PartialEq)]
struct Draft {
    rate_mbit: f64,
    rtt_ms: f64,
    buffer_bdp: f64,
    loss: Option<(f64, bool)>,
    jitter: Option<(f64, bool)>,
    cross: Option<(f64, bool)>,
}

impl Draft {
    fn of(draw: &Draw) -> Self {
        Self {
            rate_mbit: draw.log("rate", 1.0, 1000.0),
            rtt_ms: draw.log("rtt", 2.0, 300.0),
            buffer_bdp: draw.log("buffer", 0.1, 4.0),
            loss: draw
                .is("lossy", 0.5)
                .then(|| (draw.log("loss", 0.01, 10.0), draw.is("bursts", 1.0 / 3.0))),
            jitter: draw
                .is("jittery", 1.0 / 3.0)
                .then(|| (draw.log("jitter", 0.01, 0.1), draw.is("reorder", 0.5))),
            cross: draw
                .is("crossed", 1.0 / 3.0)
                .then(|| cross(draw.unit("cross"), draw.is("on-off", 0.5))),
        }
    }

    /// Bytes of content and of a packet.
    fn bytes(&self) -> (f64, f64) {
        if self.rate_mbit > FAST_MBIT { (8000.0, 8100.0) } else { (1200.0, 1300.0) }
    }

    fn queue_packets(&self) -> f64 {
        let (_, packet) = self.bytes();
        let packets = self.rate_mbit * 1e6 * self.rtt_ms / 1e3 / (packet * 8.0);
        (packets * self.buffer_bdp).round().max(2.0)
    }

    fn segments(&self) -> f64 {
        let (_, packet) = self.bytes();
        let seconds = 2.0 + 20.0 * self.rtt_ms / 1e3;
        (self.rate_mbit * 1e6 * seconds / (packet * 8.0)).round().clamp(100.0, MOST_SEGMENTS)
    }

    fn title(&self) -> String {
        let mut title = format!(
            "{} Mbit/s, {} ms, buffer {} BDP",
            self.rate_mbit, self.rtt_ms, self.buffer_bdp
        );
        if let Some((percent, in_bursts)) = self.loss {
            let _ =
                write!(title, ", {percent} % lost{}", if in_bursts { " in bursts" } else { "" });
        }
        if let Some((share, overtakes)) = self.jitter {
            let order = if overtakes { ", overtaking" } else { "" };
            let _ = write!(title, ", jitter {} ms{order}", rounded(share * self.rtt_ms));
        }
        if let Some((share, on_off)) = self.cross {
            let kind = if on_off { " on and off" } else { "" };
            let _ = write!(title, ", {} % taken{kind}", rounded(share * 100.0));
        }
        title
    }

    fn text(&self) -> String {
        let (segment, packet) = self.bytes();
        let situation = match (self.cross, self.loss, self.jitter) {
            (Some(_), _, _) => "congestion",
            (_, Some(_), _) => "random-loss",
            (_, _, Some((_, true))) => "reordering",
            (_, _, Some((_, false))) => "jitter",
            _ => "clean",
        };
        let mut text = format!(
            "title = \"{}\"\nseeds = \"1\"\nstop = \"600 s\"\n\n[arena]\n\
             situation = \"{situation}\"\n\n[topology]\nlinks = [\"c-r\", \"r-p\"]\n\n[link]\n\
             queue = \"unlimited\"\n\n[links.c-r]\ndelay = \"0.5 ms\"\n\n[links.r-p]\nrate = \"{} kbit/s\"\n\
             delay = \"{} us\"\nqueue = \"{} packets\"\n",
            self.title(),
            (self.rate_mbit * 1e3).round(),
            ((self.rtt_ms / 2.0 - 0.5) * 1e3).round(),
            self.queue_packets(),
        );
        if let Some((percent, in_bursts)) = self.loss {
            let share = percent / 100.0;
            let _ = match in_bursts {
                // Bad states last four packets on average.
                true => writeln!(
                    text,
                    "back = {{ loss = \"gilbert-elliott(p={},r=0.25)\" }}",
                    rounded(0.25 * share / (1.0 - share))
                ),
                false => writeln!(text, "back = {{ loss = \"bernoulli(p={})\" }}", rounded(share)),
            };
        }
        if let Some((share, overtakes)) = self.jitter {
            let mean_us = (share * self.rtt_ms * 1e3).round();
            let _ =
                write!(text, "jitter = \"exponential(mean={mean_us}us)\"\nreorder = {overtakes}\n");
        }
        let _ = write!(
            text,
            "\n[serve]\nsize = \"{} B\"\nsegment = \"{segment} B\"\npacket = \"{packet} B\"\n\n\
             [applications.c1]\nkind = \"fetch\"\nnode = \"c\"\nobject = \"/f\"\nspread = \"10 ms\"\n\n\
             [applications.p1]\nkind = \"serve\"\nnode = \"p\"\nprefix = \"/f\"\n\n\
             [record]\nlinks = true\ntimeouts = true\n",
            self.segments() * segment
        );
        if let Some((share, on_off)) = self.cross {
            let frames = share * self.rate_mbit * 1e6 / (packet * 8.0);
            let arrival = match on_off {
                true => format!("on-off(rate={},on=500ms,off=500ms)", rounded(2.0 * frames)),
                false => format!("constant(rate={})", rounded(frames)),
            };
            let _ = write!(
                text,
                "\n[applications.b1]\nkind = \"background\"\nlink = \"r-p\"\ndirection = \"back\"\n\
                 frame = \"{packet} B\"\narrival = \"{arrival}\"\n"
            );
        }
        text
    }
}

/// The share of the link that other traffic takes; while it is on, traffic that comes and goes takes at most 90 %.
fn cross(unit: f64, on_off: bool) -> (f64, bool) {
    let share = rounded(0.1 + 0.5 * unit);
    (if on_off { share.min(0.45) } else { share }, on_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::random::Rng;

    #[test]
    fn paths_cover_their_ranges() {
        let draw = |number| Draw(Rng::from_seed(number).substream("arena/family"));
        let drafts: Vec<Draft> = (1..=400).map(|number| Draft::of(&draw(number))).collect();
        let covers = |value: fn(&Draft) -> f64, low: f64, high: f64| {
            let values = || drafts.iter().map(value);
            let middle = (low * high).sqrt();
            assert!(values().all(|it| (low..=high).contains(&it)), "{low} to {high}");
            let below = values().filter(|it| *it < middle).count();
            assert!((150..=250).contains(&below), "{below} of 400 below {middle}");
        };
        covers(|it| it.rate_mbit, 1.0, 1000.0);
        covers(|it| it.rtt_ms, 2.0, 300.0);
        covers(|it| it.buffer_bdp, 0.1, 4.0);
        let count = |is: fn(&Draft) -> bool| drafts.iter().filter(|it| is(it)).count();
        assert!((160..=240).contains(&count(|it| it.loss.is_some())));
        assert!((90..=180).contains(&count(|it| it.cross.is_some())));
        assert!(drafts.iter().filter_map(|it| it.loss).all(|(it, _)| (0.01..=10.0).contains(&it)));
    }
}
