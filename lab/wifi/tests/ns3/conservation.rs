//! Invariants for any traffic: nothing vanishes, nothing is duplicated, the seed decides.
use crate::harness::{Datagram, row};
use proptest::prelude::*;
use recoup_core::random::Rng;
use recoup_core::time::Instant;
use recoup_wifi::fading::{FadingPlan, Hold};
use recoup_wifi::medium::{Medium, MediumInput, MediumOutput};
use recoup_wifi::plan::{Aggregation, Category, MediumPlan, RateControl, Role};
use recoup_wifi::rate::Rate;
use recoup_wifi::{Address, StationId};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
struct Step {
    after_micros: u64,
    from: u32,
    to: Option<u32>,
    bytes: u32,
    category: Category,
    fails: bool,
    forgets: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let category = prop_oneof![
        4 => Just(Category::BestEffort),
        1 => Just(Category::Voice),
        1 => Just(Category::Video),
        1 => Just(Category::Background),
    ];
    let to = prop::option::of(0..4_u32);
    let step = (0..3_000_u64, 0..4_u32, to, 0..1_500_u32, category, 0..40_u32);
    let step = step.prop_map(|(after_micros, from, to, bytes, category, fails)| Step {
        after_micros,
        from,
        to,
        bytes,
        category,
        fails: fails == 0,
        forgets: fails == 1,
    });
    prop::collection::vec(step, 1..120)
}

/// Numbers of frames that arrived and were lost, and what stayed inside; and everything in order.
#[derive(Debug, Default, PartialEq)]
struct Fates {
    arrived: BTreeSet<u32>,
    lost: BTreeSet<u32>,
    inside: BTreeSet<u32>,
    order: Vec<String>,
}

fn run(
    steps: &[Step],
    plan: MediumPlan,
    roles: [Role; 4],
    metres: f64,
    settle_millis: u64,
) -> Fates {
    let stations = row(4, metres).into_iter().zip(roles);
    let mut medium = Medium::with_roles(plan, stations, &Rng::from_seed(9));
    let mut fates = Fates::default();
    let mut at = 0;
    for (number, step) in steps.iter().enumerate() {
        at += step.after_micros * 1_000;
        drain(&mut medium, at, &mut fates);
        let now = Instant::from_nanos(at);
        let station = StationId(step.from);
        if step.fails {
            medium.handle(now, MediumInput::Down(station));
            medium.handle(now, MediumInput::Up(StationId((step.from + 1) % 4)));
        }
        if step.forgets {
            let (from, to) = (station, StationId((step.from + 1) % 4));
            medium.handle(now, MediumInput::Forget { from, to });
        }
        let to = step.to.map_or(Address::All, |to| Address::Station(StationId(to)));
        let category = step.category;
        let load = Datagram { bytes: step.bytes, segment: number as u32, to: 0 };
        medium.handle(now, MediumInput::Frame { from: station, to, category, load });
    }
    drain(&mut medium, at + settle_millis * 1_000_000, &mut fates);
    fates.inside = medium.inside().map(|load| load.segment).collect();
    fates
}

fn drain(medium: &mut Medium<Datagram>, until: u64, fates: &mut Fates) {
    loop {
        let next = medium.deadline().map_or(u64::MAX, |at| at.as_nanos()).min(until);
        let now = Instant::from_nanos(next);
        while let Some(output) = medium.poll(now) {
            fates.order.push(format!("{next} {output:?}"));
            match output {
                MediumOutput::Arrived { load, is_copy: false, .. } => {
                    assert!(fates.arrived.insert(load.segment), "{} is a duplicate", load.segment);
                }
                MediumOutput::Lost { load, .. } => {
                    assert!(fates.lost.insert(load.segment), "{} was lost twice", load.segment);
                }
                MediumOutput::Arrived { .. }
                | MediumOutput::Joined { .. }
                | MediumOutput::Left { .. }
                | MediumOutput::Traced(_) => {}
            }
        }
        if next == until {
            return;
        }
    }
}

#[test]
fn aggregate_in_flight_survives_a_number_reset() {
    for forgotten in 100..200 {
        let steps: Vec<_> = (0..400).map(|number| busy(0, number == forgotten)).collect();
        all_end_somewhere(&steps, forgotten);
    }
}

#[test]
fn reverse_direction_keeps_its_numbers() {
    for forgotten in 100..200 {
        let steps =
            (0..400).map(|number| busy(u32::from(number != forgotten), number == forgotten));
        all_end_somewhere(&steps.collect::<Vec<_>>(), forgotten);
    }
}

/// A frame from one of the first two stations to the other, when much waits already.
fn busy(from: u32, forgets: bool) -> Step {
    let category = Category::BestEffort;
    Step {
        after_micros: 150,
        from,
        to: Some(1 - from),
        bytes: 1_500,
        category,
        fails: false,
        forgets,
    }
}

#[test]
fn receiver_answers_for_its_own_frames_only() {
    // Fades lose acknowledgements of both receivers, and frames to one grow too old while others fly to the other.
    let mut plan = MediumPlan::n(RateControl::MinstrelHt { wide: true, short_guard: true });
    plan.fading = FadingPlan { nakagami_m: Some(1.0), hold: Hold::Mpdu, ..plan.fading };
    plan.aggregation = Some(Aggregation { mpdu_tries: Some(7), ..Aggregation::AMPDU });
    for metres in 34..46 {
        let to = |number: u32| Step {
            after_micros: 600,
            from: 1,
            to: Some(number % 2 * 2),
            ..busy(1, false)
        };
        let steps: Vec<_> = (0..4_000).map(to).collect();
        let fates = run(&steps, plan, [Role::Peer; 4], f64::from(metres), 1_000);
        let found = fates.arrived.len() + fates.lost.len() + fates.inside.len();
        assert_eq!(found, steps.len(), "{metres} m");
    }
}

fn all_end_somewhere(steps: &[Step], forgotten: usize) {
    let plan = MediumPlan::n(RateControl::Constant(Rate::ht(4, true, true).unwrap()));
    let fates = run(steps, plan, [Role::Peer; 4], 10.0, 1_000);
    let found = fates.arrived.len() + fates.lost.len() + fates.inside.len();
    assert_eq!(found, steps.len(), "after {forgotten}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn frames_arrive_or_are_lost_or_inside(
        steps in steps(),
        metres in prop_oneof![Just(100.0), Just(300.0), Just(500.0), Just(20_000.0)],
        settle_millis in 0..40_u64,
        standard in 0..5_u32,
        is_infrastructure: bool,
    ) {
        let minstrel = RateControl::MinstrelHt { wide: true, short_guard: true };
        let mcs = RateControl::Constant(Rate::ht(4, true, true).unwrap());
        let mut plan = if standard < 2 {
            MediumPlan::g(Rate::ofdm(24).unwrap())
        } else {
            MediumPlan::n(if standard == 2 { minstrel } else { mcs })
        };
        plan.path_loss = MediumPlan::g(Rate::Ofdm(0)).path_loss;
        plan.rts_bytes = (standard == 1).then_some(500);
        if standard == 4 {
            let (amsdu_bytes, mpdu_tries) = (7_935, Some(4));
            plan.aggregation = Some(Aggregation { amsdu_bytes, mpdu_tries, ..Aggregation::AMPDU });
        }
        let mut roles = [Role::Peer; 4];
        if is_infrastructure {
            // Beacons every 2 ms, and everybody goes to and fro as if each were stronger.
            plan.infrastructure.beacon_nanos = 2_000_000;
            plan.infrastructure.dwell_nanos = 10_000_000;
            plan.infrastructure.hysteresis_db = -30.0;
            plan.infrastructure.scan_nanos = if standard == 3 { 3_000_000 } else { 0 };
            roles = [Role::AccessPoint, Role::Client, Role::AccessPoint, Role::Client];
        }
        let fates = run(&steps, plan, roles, metres, settle_millis);
        for number in 0..steps.len() as u32 {
            let places = [&fates.arrived, &fates.lost, &fates.inside];
            let found = places.iter().filter(|place| place.contains(&number)).count();
            prop_assert_eq!(found, 1, "frame {} of {:?}", number, fates);
        }
        let again = run(&steps, plan, roles, metres, settle_millis);
        prop_assert_eq!(fates, again);
    }
}
