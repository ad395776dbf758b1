//! Windows over rounds, drawn as text and compared with `window_curves.txt`.
//!
//! Each round is one round trip: all that the window allows is sent, answered and, where the script
//! says so, lost. Where a bottleneck has a queue, round trips last as long as it takes to pass on what
//! is under way. A change to an algorithm shows as a change to its picture; to accept it, run the
//! test with `RECOUP_REWRITE=1`.
#![allow(clippy::disallowed_methods, reason = "a test driver reads its own switch")]
use recoup_transport::congestion::{self, CongestionControl, Delivered, Loss, LossKind};
use recoup_transport::time::{Duration, Instant};
use std::fmt::Write as _;

const COMMITTED: &str = include_str!("window_curves.txt");
const HEIGHT: usize = 12;

/// One picture.
struct Curve {
    title: &'static str,
    spec: &'static str,
    rtt: Duration,
    rounds: usize,
    /// A round whose window is at least this begins with one transmission timed out.
    pipe: f64,
    /// In these rounds the application sends only four segments.
    idle: std::ops::Range<usize>,
    /// What the bottleneck passes on, segments per second; the rest waits in an endless queue.
    rate: f64,
}

const CURVES: &[Curve] = &[
    curve("a fixed window", "fixed", 100, 40, f64::INFINITY, 0..0),
    curve("AIMD: slow start, then saw teeth", "aimd", 100, 70, 40.0, 0..0),
    curve("AIMD with two steps, giving back less", "aimd(step=2,beta=0.7)", 100, 70, 40.0, 0..0),
    curve("AIMD back to its beginning", "aimd(reset-to-init=true)", 100, 70, 40.0, 0..0),
    curve("AIMD as in Yang's study", "yang2016", 100, 70, 40.0, 0..0),
    curve("AIMD, not in use for a while", "aimd(init-ssthresh=8)", 100, 70, f64::INFINITY, 20..40),
    curve("CUBIC: concave, flat, convex", "cubic(init-ssthresh=64)", 100, 70, 90.0, 0..0),
    curve("CUBIC where round trips are short: Reno", "cubic", 10, 70, 40.0, 0..0),
    curve(
        "the same without the Reno-friendly region",
        "cubic(reno-friendly=false)",
        10,
        70,
        40.0,
        0..0,
    ),
    curve(
        "CUBIC, not in use for a while",
        "cubic(init-ssthresh=16)",
        100,
        70,
        f64::INFINITY,
        20..40,
    ),
    Curve {
        rate: 5000.0,
        ..curve(
            "CUBIC before a deep queue: slow start ends without a loss",
            "cubic",
            20,
            70,
            f64::INFINITY,
            0..0,
        )
    },
];

const fn curve(
    title: &'static str,
    spec: &'static str,
    rtt_millis: u64,
    rounds: usize,
    pipe: f64,
    idle: std::ops::Range<usize>,
) -> Curve {
    Curve {
        title,
        spec,
        rtt: Duration::from_millis(rtt_millis),
        rounds,
        pipe,
        idle,
        rate: f64::INFINITY,
    }
}

/// What was sent in a round trip.
#[derive(Clone, Copy)]
struct Flight {
    /// The send order of its first transmission.
    first: u64,
    /// How many transmissions it has.
    count: u64,
    /// How many were under way when it began.
    before: u64,
}

impl Curve {
    /// The window at the beginning of each round.
    fn windows(&self) -> Vec<f64> {
        let mut control = congestion::parse(self.spec).unwrap();
        let (mut windows, mut now, mut first, mut before) = (Vec::new(), Instant::ZERO, 0, 0);
        for round in 0..self.rounds {
            windows.push(control.window());
            let count = if self.idle.contains(&round) { 4 } else { control.window() as u64 };
            let flight = Flight { first, count, before };
            self.round(&mut *control, now, flight);
            now += self.rtt(flight, count);
            (first, before) = (first + count, count);
        }
        windows
    }

    /// The round-trip time of the `nth` transmission of a flight. Answers trigger requests, so that
    /// what is under way changes evenly from the flight before to this one; all of it beyond the
    /// capacity of the path waits, for `under way / rate` in all.
    fn rtt(&self, flight: Flight, nth: u64) -> Duration {
        let (before, count) = (flight.before as f64, flight.count as f64);
        let under_way = before + (count - before) * nth as f64 / count;
        self.rtt.max(Duration::from_secs_f64(under_way / self.rate))
    }

    /// One round trip.
    fn round(&self, control: &mut dyn CongestionControl, now: Instant, flight: Flight) {
        let Flight { first, count, .. } = flight;
        let (highest_order, srtt) = (first + count - 1, Some(self.rtt(flight, count)));
        let lost = control.window() >= self.pipe;
        if lost {
            let (kind, in_flight) = (LossKind::Timeout, count as u32);
            let loss = Loss {
                kind,
                order: first,
                highest_order,
                high_data: first.saturating_sub(1),
                high_interest: highest_order,
                in_flight,
                evidence: 0,
                srtt,
                min_rtt: Some(self.rtt),
            };
            control.on_loss(now, &loss);
        }
        for order in first + u64::from(lost)..=highest_order {
            // Each answer makes room for the next request: the flight stays as it was.
            let (segment, in_flight) = (order, count as u32);
            let delivered = Delivered {
                segment,
                order,
                highest_order,
                rtt: Some(self.rtt(flight, order - first + 1)),
                srtt,
                min_rtt: Some(self.rtt),
                in_flight,
                advance: 1,
            };
            control.on_delivered(now, &delivered);
        }
    }

    fn draw(&self, out: &mut String) {
        let windows = self.windows();
        let most = windows.iter().copied().fold(1.0, f64::max);
        let spec = congestion::parse(self.spec).unwrap();
        writeln!(out, "{}: rounds of {:?}\n{spec}\n", self.title, self.rtt).unwrap();
        for row in (0..HEIGHT).rev() {
            let label = most * (row + 1) as f64 / HEIGHT as f64;
            let line: String = windows.iter().map(|window| mark(*window / most, row)).collect();
            writeln!(out, "{label:7.1} |{}", line.trim_end()).unwrap();
        }
        writeln!(out, "        +{}", "-".repeat(windows.len())).unwrap();
        for (index, chunk) in windows.chunks(10).enumerate() {
            let numbers: Vec<_> = chunk.iter().map(|window| format!("{window:.3}")).collect();
            writeln!(out, "{:7}  {}", index * 10, numbers.join(" ")).unwrap();
        }
        out.push('\n');
    }
}

/// What stands in one row for a window of `share` of the highest.
fn mark(share: f64, row: usize) -> char {
    let halves = (share * HEIGHT as f64 - row as f64) * 2.0;
    if halves >= 1.5 {
        '#'
    } else if halves >= 0.5 {
        '.'
    } else {
        ' '
    }
}

#[test]
fn the_curves_are_those_committed() {
    let mut drawn = String::new();
    CURVES.iter().for_each(|curve| curve.draw(&mut drawn));
    if std::env::var_os("RECOUP_REWRITE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/window_curves.txt");
        std::fs::write(path, drawn).unwrap();
        return;
    }
    let differing = drawn.lines().zip(COMMITTED.lines()).find(|(new, old)| new != old);
    assert!(drawn == COMMITTED, "run with RECOUP_REWRITE=1 and look; first: {differing:#?}");
}
