//! Invariants of a fetch with any loss detector, any window and any path: every segment arrives, one flight is one
//! reduction, and windows and spans are kept.
use crate::harness::Harness;
use crate::order::{config, path_of};
use proptest::prelude::*;
use recoup_transport::congestion::{self, Accounting};
use recoup_transport::event::{Event, Signal};
use recoup_transport::fetch::Retries;
use recoup_transport::loss::{self, Phase};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Further detectors; a new one is added by its name automatically.
const MORE: &[&str] = &[
    "out-of-order(frt=1,rescan=true)",
    "pre-recovery(rescan=true,learn=true,decay=1,cap=0.5)",
    "pre-recovery(frt=1,repair=first-hole)",
    "time-threshold",
    "time-threshold(frt=1,factor=1,share=1/4)",
];

/// Windows that do not separate events by send order.
const OTHER_WINDOWS: &[&str] = &["yang2016", "nikzad2022", "raaqm"];
const MORE_WINDOWS: &[&str] = &[
    "fixed(window=20)",
    "cubic(accounting=span)",
    "aimd(accounting=span,restart=true,undo=true)",
    "udugama2013(flavour=newreno)",
    "udugama2013(flavour=cubic)",
    "udugama2013(flavour=compound,update=per-data)",
];

#[derive(Clone, Debug)]
struct Case {
    detector: String,
    window: &'static str,
    segments: u64,
    /// Lost Interests of 1000, in bursts of this length.
    lost: u64,
    burst: u64,
    /// Late Data of 1000, and the longest delay.
    held_up: u64,
    longest_ms: u64,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let detectors: Vec<_> = loss::names().chain(MORE.iter().copied()).collect();
    let detector = prop::sample::select(detectors).prop_map(str::to_owned);
    let windows = congestion::names().filter(|name| !OTHER_WINDOWS.contains(name));
    let windows: Vec<_> = windows.chain(MORE_WINDOWS.iter().copied()).collect();
    let lost = prop_oneof![Just(0), 1..30_u64, 30..300_u64];
    let held_up = prop_oneof![Just(0), 1..30_u64, 30..1000_u64];
    let counts = (1..400_u64, lost, 1..10_u64, held_up, 1..300_u64, any::<u64>());
    (detector, prop::sample::select(windows), counts).prop_map(
        |(detector, window, (segments, lost, burst, held_up, longest_ms, seed))| Case {
            detector,
            window,
            segments,
            lost,
            burst,
            held_up,
            longest_ms,
            seed,
        },
    )
}

fn run(case: &Case) -> Harness {
    let (mut rng, mut row) = (Rng::from_seed(case.seed), 0);
    let mut config = config(case.window, &case.detector);
    config.options.retries = Retries(None);
    config.options.no_progress = Duration::from_secs(300);
    config.options.rto = "jacobson(max=2s)".parse().unwrap();
    path_of(case.segments, config, &mut |_, _, _| {
        if row == 0 && rng.below(1000 * case.burst) < case.lost {
            row = case.burst;
        }
        row = row.saturating_sub(1);
        let late = rng.below(1000) < case.held_up;
        let held_up = Duration::from_millis(if late { rng.below(case.longest_ms) } else { 0 });
        (row == 0).then_some(held_up)
    })
}

/// Follows the events of a fetch.
#[derive(Default)]
struct Checker {
    window: f64,
    /// Send orders of the transmissions in flight, by segment, and of repetitions.
    in_flight: BTreeMap<u64, u64>,
    repeated: BTreeSet<u64>,
    orders: u64,
    answered: u64,
    received: BTreeSet<u64>,
    next: u64,
    /// Latest send order at the last reduction.
    point: u64,
    /// Highest send order declared lost since the last other event.
    lost: u64,
    /// The detector has a tail-loss probe, which needs an idle time only.
    probes: bool,
    /// A probe is to be sent, whatever the window.
    probing: bool,
    /// Time of the last arrival.
    last_active: Instant,
}

impl Checker {
    fn check(&mut self, at: Instant, event: &Event, accounting: Accounting) {
        match *event {
            Event::Sent { segment, transmissions, .. } => {
                self.send(segment, transmissions, accounting);
            }
            Event::Received { segment, .. } => {
                self.answered = self.answered.max(self.land(segment).unwrap_or(0));
                self.last_active = at;
                assert!(self.received.insert(segment), "{segment} twice");
            }
            Event::TimedOut { segment } => {
                let order = self.land(segment).expect("the timer of a transmission in flight");
                self.lost = self.lost.max(order);
            }
            Event::Lost { segment } => {
                let order = self.land(segment).expect("the loss of a transmission in flight");
                if order >= self.answered {
                    assert!(
                        self.probes && at > self.last_active,
                        "{at:?}: {segment} was not overtaken"
                    );
                    self.probing = true;
                }
                self.lost = self.lost.max(order);
            }
            Event::Reduced { cause } => {
                assert!(matches!(cause, Signal::Timeout | Signal::Order));
                assert!(self.lost > self.point, "{at:?}: a second reduction for one flight");
                (self.point, self.lost) = (self.orders, 0);
            }
            // The window decides on the point after an undo.
            Event::Spurious { .. } => self.point = 0,
            Event::Window { window, .. } => {
                assert!(window.is_finite() && window >= 1.0, "{window}");
                self.window = window;
            }
            Event::Phase { phase: Phase::Fast } => assert!(self.point > 0),
            _ => {}
        }
    }

    fn land(&mut self, segment: u64) -> Option<u64> {
        self.repeated.remove(&segment);
        self.in_flight.remove(&segment)
    }

    fn send(&mut self, segment: u64, transmissions: u32, accounting: Accounting) {
        self.orders += 1;
        self.in_flight.insert(segment, self.orders);
        self.next = self.next.max(segment + 1);
        if transmissions > 1 {
            self.repeated.insert(segment);
        }
        if std::mem::take(&mut self.probing) {
            return;
        }
        let base = (0..).find(|segment| !self.received.contains(segment)).unwrap_or(0);
        let load = match (accounting, transmissions) {
            (Accounting::Outstanding, _) => self.in_flight.len() as u64,
            (Accounting::Span, 1) => self.next - base,
            (Accounting::Span, _) => self.repeated.len() as u64,
        };
        // A fixed window never reports its width.
        let window = if self.window > 0.0 { self.window } else { 20.0 };
        assert!(load as f64 <= window, "{load} in a window of {window}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn segments_arrive_and_flights_are_reduced_once(case in case()) {
        let harness = run(&case);
        let accounting = congestion::parse(case.window).unwrap().accounting();
        let first = congestion::parse(case.window).unwrap().window();
        let probes = case.detector.starts_with("rack");
        let mut checker = Checker { window: first, probes, ..Checker::default() };
        for (at, event) in &harness.events {
            checker.check(*at, event, accounting);
        }
        prop_assert_eq!(checker.received.len() as u64, case.segments);
        prop_assert!(checker.in_flight.keys().all(|segment| *segment >= case.segments));
        let summary = &harness.summary;
        prop_assert!(summary.repaired + summary.false_alarms <= summary.lost_by_order);
    }
}
