//! Windows over rounds, drawn as text and compared with `window_curves.txt`.
//!
//! Each round is one round trip: all segments that the window allows are sent, answered and, where the script
//! requires it, lost. With a queue at the bottleneck, a round trip lasts as long as it takes to send the segments in
//! flight. A change to an algorithm shows as a change to its picture; to accept it, run the test with
//! `RECOUP_REWRITE=1`.
//!
//! Timers or reordering detect the losses. With reordering, the rest of the round arrives out of order, and recovery
//! ends with the round.
mod draw;

use recoup_transport::congestion::{self, CongestionControl, Delivered, Loss, LossKind};
use recoup_transport::time::{Duration, Instant};
use std::fmt::Write as _;

const COMMITTED: &str = include_str!("window_curves.txt");

/// One picture.
struct Curve {
    title: &'static str,
    spec: &'static str,
    rtt: Duration,
    rounds: usize,
    /// A round whose window is at least this begins with one lost transmission.
    pipe: f64,
    /// Signal of the loss.
    sign: Sign,
    /// In these rounds the application sends only four segments.
    idle: std::ops::Range<usize>,
    /// Rate of the bottleneck, segments per second; other segments wait in an endless queue.
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
    by_timer("NewReno: a timeout begins anew", "newreno", 40.0),
    by_order("NewReno: losses by reordering", "newreno", 40.0),
    by_timer("Udugama's NewReno: timeouts", "udugama2013(flavour=newreno)", 90.0),
    by_order("Udugama's NewReno: losses by reordering", "udugama2013(flavour=newreno)", 90.0),
    by_timer("Udugama's CUBIC: timeouts", "udugama2013(flavour=cubic)", 90.0),
    by_order("Udugama's CUBIC: losses by reordering", "udugama2013(flavour=cubic)", 90.0),
    by_order("Compound: losses by reordering", "compound(init-ssthresh=64)", 90.0),
    by_order("Udugama's Compound: losses by reordering", "udugama2013(flavour=compound)", 90.0),
    by_timer("Udugama's Compound: timeouts", "udugama2013(flavour=compound)", 90.0),
    Curve {
        rate: 1000.0,
        ..curve(
            "Compound before a deep queue: 30 segments wait there, the rest is Reno's",
            "compound(init-ssthresh=64)",
            100,
            70,
            f64::INFINITY,
            0..0,
        )
    },
    Curve {
        rate: 1000.0,
        ..curve(
            "Recoup before a deep queue: drained again and again",
            "recoup",
            100,
            70,
            f64::INFINITY,
            0..0,
        )
    },
    Curve {
        rate: 1000.0,
        ..by_order("Recoup: a loss in each flight, by reordering", "recoup", 90.0)
    },
];

/// Signal of a loss.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    /// A timer, before anything else of the round is answered.
    Timeout,
    /// A timer, after all else of the round was answered.
    LateTimeout,
    /// The order of arrivals.
    Order,
}

const fn by_order(title: &'static str, spec: &'static str, pipe: f64) -> Curve {
    Curve { sign: Sign::Order, ..curve(title, spec, 100, 70, pipe, 0..0) }
}

const fn by_timer(title: &'static str, spec: &'static str, pipe: f64) -> Curve {
    Curve { sign: Sign::LateTimeout, ..curve(title, spec, 100, 70, pipe, 0..0) }
}

/// Data out of order that indicate a loss.
const EVIDENCE: u64 = 3;

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
        sign: Sign::Timeout,
        idle,
        rate: f64::INFINITY,
    }
}

/// Transmissions of a round trip.
#[derive(Clone, Copy)]
struct Flight {
    /// Send order of its first transmission.
    first: u64,
    /// Number of transmissions.
    count: u64,
    /// Transmissions in flight when it began.
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

    /// Round-trip time of the `nth` transmission of a flight. Answers trigger requests, so the number in flight
    /// changes evenly from the flight before to this one. Segments beyond the capacity of the path wait, for `in
    /// flight / rate` in all.
    fn rtt(&self, flight: Flight, nth: u64) -> Duration {
        let (before, count) = (flight.before as f64, flight.count as f64);
        let in_flight = before + (count - before) * nth as f64 / count;
        self.rtt.max(Duration::from_secs_f64(in_flight / self.rate))
    }

    /// One round trip.
    fn round(&self, control: &mut dyn CongestionControl, now: Instant, flight: Flight) {
        let lost = control.window() >= self.pipe;
        let by_order = lost && self.sign == Sign::Order;
        if lost && self.sign == Sign::Timeout {
            self.lose(control, now, flight);
        }
        let last = flight.first + flight.count - 1;
        for order in flight.first + u64::from(lost)..=last {
            self.deliver(control, now, flight, order, u64::from(!by_order));
            if by_order && order == flight.first + EVIDENCE {
                self.lose(control, now, flight);
            }
        }
        if by_order {
            self.deliver(control, now, flight, last, flight.count);
            control.on_recovered(now);
        } else if lost && self.sign == Sign::LateTimeout {
            self.lose(control, now, flight);
        }
    }

    fn lose(&self, control: &mut dyn CongestionControl, now: Instant, flight: Flight) {
        let Flight { first, count, .. } = flight;
        let highest_order = first + count - 1;
        let (kind, evidence) = match self.sign {
            Sign::Order => (LossKind::Order, EVIDENCE as u32),
            _ => (LossKind::Timeout, 0),
        };
        let loss = Loss {
            kind,
            order: first,
            highest_order,
            high_data: first.saturating_sub(1),
            high_interest: highest_order,
            in_flight: count as u32,
            evidence,
            srtt: Some(self.rtt(flight, count)),
            min_rtt: Some(self.rtt),
        };
        control.on_loss(now, &loss);
    }

    /// Handles an answer. Each answer triggers the next request: the flight keeps its size.
    fn deliver(
        &self,
        control: &mut dyn CongestionControl,
        now: Instant,
        flight: Flight,
        order: u64,
        advance: u64,
    ) {
        let delivered = Delivered {
            path: None,
            segment: order,
            order,
            highest_order: flight.first + flight.count - 1,
            rtt: Some(self.rtt(flight, order - flight.first + 1)),
            srtt: Some(self.rtt(flight, flight.count)),
            min_rtt: Some(self.rtt),
            in_flight: flight.count as u32,
            advance,
            remaining: None,
        };
        control.on_delivered(now, &delivered);
    }

    fn draw(&self, out: &mut String) {
        let spec = congestion::parse(self.spec).unwrap();
        writeln!(out, "{}: rounds of {:?}\n{spec}\n", self.title, self.rtt).unwrap();
        draw::draw(out, &self.windows(), 3);
    }
}

#[test]
fn the_curves_are_those_committed() {
    let mut drawn = String::new();
    CURVES.iter().for_each(|curve| curve.draw(&mut drawn));
    draw::compare(&drawn, COMMITTED, "window_curves.txt");
}
