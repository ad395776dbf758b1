//! Access points and clients, and categories that contend inside a station.
use crate::harness::Datagram;
use recoup_core::random::Rng;
use recoup_core::time::Instant;
use recoup_wifi::medium::{Medium, MediumInput, MediumOutput};
use recoup_wifi::motion::Motion;
use recoup_wifi::plan::{Category, MediumPlan, RateControl, Role};
use recoup_wifi::propagation::Position;
use recoup_wifi::rate::Rate;
use recoup_wifi::{Address, StationId};

const WEST: StationId = StationId(0);
const EAST: StationId = StationId(1);
const CLIENT: StationId = StationId(2);

fn n() -> MediumPlan {
    MediumPlan::n(RateControl::Constant(Rate::ht(3, true, true).unwrap()))
}

fn place(x: f64) -> Position {
    Position { x, y: 0.0 }
}

/// Access points at 0 and 60 m, and a client that goes from one to the other at `speed`.
fn road(plan: MediumPlan, speed: f64, seed: u64) -> Medium<Datagram> {
    let until = Instant::from_millis((60.0 / speed * 1e3) as u64);
    let stations = [
        (Motion::still(place(0.0)), Role::AccessPoint),
        (Motion::still(place(60.0)), Role::AccessPoint),
        (Motion::linear(place(0.0), (speed, 0.0), until), Role::Client),
    ];
    Medium::with_roles(plan, stations, &Rng::from_seed(seed))
}

/// Everything that follows until `until`.
fn outputs(medium: &mut Medium<Datagram>, until_millis: u64) -> Vec<(f64, MediumOutput<Datagram>)> {
    let mut all = Vec::new();
    while let Some(at) = medium.deadline().filter(|at| *at <= Instant::from_millis(until_millis)) {
        while let Some(output) = medium.poll(at) {
            all.push((at.as_secs_f64(), output));
        }
    }
    all
}

/// When a client left and joined.
fn handoffs(medium: &mut Medium<Datagram>, until_millis: u64) -> Vec<(f64, f64)> {
    let all = outputs(medium, until_millis);
    let left = all.iter().filter_map(|(at, output)| match output {
        MediumOutput::Left { client: CLIENT, .. } => Some(*at),
        _ => None,
    });
    let joined = all.iter().filter_map(|(at, output)| match output {
        MediumOutput::Joined { client: CLIENT, .. } => Some(*at),
        _ => None,
    });
    left.zip(joined).collect()
}

#[test]
fn client_begins_at_the_best_access_point() {
    let mut medium = road(n(), 0.01, 1);
    assert_eq!(medium.member_of(CLIENT), Some(WEST));
    assert_eq!(medium.member_of(WEST), None);
    assert!(outputs(&mut medium, 10_240).is_empty());
    let beacons = [WEST, CLIENT].map(|id| medium.counters(id).beacons);
    assert_eq!(beacons, [100, 100], "the other one is too far away: {beacons:?}");
}

#[test]
fn moving_client_hands_off_once() {
    let mut medium = road(n(), 13.9, 1);
    let handoffs = handoffs(&mut medium, 10_000);
    let [(left, joined)] = handoffs[..] else {
        panic!("{handoffs:?}");
    };
    // 30 log10(x / (60 - x)) = 5 dB at 35.7 m; then three beacons, and a mean that lags behind.
    let metres = left * 13.9;
    assert!((35.7..50.0).contains(&metres), "{metres}");
    assert!((0.000_3..0.002).contains(&(joined - left)), "{}", joined - left);
    assert_eq!(medium.member_of(CLIENT), Some(EAST));
    let counters = [WEST, EAST, CLIENT].map(|id| medium.counters(id).associations);
    assert_eq!(counters, [0, 1, 1]);
}

#[test]
fn margin_delays_and_scan_lengthens_a_handoff() {
    let at = |change: &dyn Fn(&mut MediumPlan)| {
        let mut plan = n();
        change(&mut plan);
        handoffs(&mut road(plan, 13.9, 1), 10_000)[0]
    };
    let usual = at(&|_| {});
    let late = at(&|plan| plan.infrastructure.hysteresis_db = 8.0);
    assert!(late.0 > usual.0 + 0.1, "{late:?} {usual:?}");
    let (left, joined) = at(&|plan| plan.infrastructure.scan_nanos = 100_000_000);
    assert!((0.1..0.103).contains(&(joined - left)), "{}", joined - left);
    let patient = at(&|plan| plan.infrastructure.dwell_nanos = 3_600_000_000);
    assert!((3.6..3.8).contains(&patient.0) && usual.0 < 3.6, "{patient:?} {usual:?}");
}

#[test]
fn handoff_loses_queued_frames_without_duplicates() {
    let mut medium = road(n(), 13.9, 3);
    let mut fates = [0_u32; 3];
    let mut sent = 0;
    for millis in 0..6_000 {
        let mut count = |output: &MediumOutput<Datagram>| match output {
            MediumOutput::Arrived { .. } => fates[0] += 1,
            MediumOutput::Lost { .. } => fates[1] += 1,
            _ => {}
        };
        let all = outputs(&mut medium, millis);
        all.iter().for_each(|(_, output)| count(output));
        let now = Instant::from_millis(millis);
        if let Some((_, MediumOutput::Joined { before: Some(before), .. })) =
            all.iter().find(|(_, output)| matches!(output, MediumOutput::Joined { .. }))
        {
            medium.handle(now, MediumInput::Forget { from: *before, to: CLIENT });
        }
        let point = medium.member_of(CLIENT).unwrap_or(WEST);
        for _ in 0..3 {
            let load = Datagram { bytes: 1_400, segment: sent, to: 2 };
            let (to, category) = (Address::Station(CLIENT), Category::BestEffort);
            medium.handle(now, MediumInput::Frame { from: point, to, category, load });
            sent += 1;
        }
    }
    for (_, output) in outputs(&mut medium, 7_000) {
        fates[if matches!(output, MediumOutput::Lost { .. }) { 1 } else { 0 }] += 1;
    }
    fates[2] = medium.inside().count() as u32;
    assert_eq!(fates.iter().sum::<u32>(), sent, "{fates:?}");
    assert!(fates[0] > sent * 9 / 10, "{fates:?}");
    assert!(medium.counters(EAST).acknowledged > 100);
}

#[test]
fn client_out_of_range_joins_another_point() {
    let mut medium = road(n(), 0.5, 1);
    medium.handle(Instant::from_millis(1), MediumInput::Down(WEST));
    assert!(handoffs(&mut medium, 15_000).is_empty(), "no other point is in range");
    let all = outputs(&mut medium, 100_000);
    let joined = all.iter().find(|(_, output)| matches!(output, MediumOutput::Joined { .. }));
    let (at, MediumOutput::Joined { point: EAST, before: Some(WEST), .. }) = joined.unwrap() else {
        panic!("{joined:?}");
    };
    // 51 m are left to the other one after 9 m.
    assert!((17.0..19.5).contains(at), "{at}");
}

#[test]
fn beacons_and_handoffs_repeat_with_the_seed() {
    let run = |seed: u64| {
        let mut plan = n();
        (plan.fading.nakagami_m, plan.fading.carrier_hz) = (Some(1.0), 5.19e9);
        format!("{:?}", outputs(&mut road(plan, 13.9, seed), 10_000))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Mean wait of frames of two categories that one station sends, each kept at ten frames; and how many came.
fn shares(one: Category, other: Category) -> [u32; 2] {
    let stations =
        [(Motion::still(place(0.0)), Role::Peer), (Motion::still(place(5.0)), Role::Peer)];
    let mut plan = n();
    plan.aggregation = None;
    let mut medium = Medium::with_roles(plan, stations, &Rng::from_seed(1));
    let (mut waiting, mut arrived) = ([0_u32; 2], [0_u32; 2]);
    for millis in 0..2_000 {
        for (_, output) in outputs(&mut medium, millis) {
            if let MediumOutput::Arrived { load, .. } = output {
                waiting[load.segment as usize] -= 1;
                arrived[load.segment as usize] += 1;
            }
        }
        for (segment, category) in [one, other].into_iter().enumerate() {
            while waiting[segment] < 20 {
                let load = Datagram { bytes: 1_400, segment: segment as u32, to: 1 };
                let (from, to) = (StationId(0), Address::Station(StationId(1)));
                let now = Instant::from_millis(millis);
                medium.handle(now, MediumInput::Frame { from, to, category, load });
                waiting[segment] += 1;
            }
        }
    }
    assert!(medium.counters(StationId(0)).internal_collisions > 10);
    arrived
}

#[test]
fn categories_are_served_in_priority_order() {
    let [voice, effort] = shares(Category::Voice, Category::BestEffort);
    assert!(voice > 3 * effort && effort > 0, "{voice} {effort}");
    let [effort, background] = shares(Category::BestEffort, Category::Background);
    assert!(effort > background * 5 / 4 && background > 0, "{effort} {background}");
}

#[test]
fn txop_sends_several_frames_per_back_off() {
    let rate_of = |category: Category| {
        let stations =
            [(Motion::still(place(0.0)), Role::Peer), (Motion::still(place(5.0)), Role::Peer)];
        let mut plan = n();
        plan.aggregation = None;
        let mut medium = Medium::with_roles(plan, stations, &Rng::from_seed(1));
        for segment in 0..400 {
            let load = Datagram { bytes: 1_400, segment, to: 1 };
            let (from, to) = (StationId(0), Address::Station(StationId(1)));
            medium.handle(Instant::ZERO, MediumInput::Frame { from, to, category, load });
        }
        let all = outputs(&mut medium, 1_000);
        all.iter().rfind(|(_, o)| matches!(o, MediumOutput::Arrived { .. })).unwrap().0
    };
    let (video, effort) = (rate_of(Category::Video), rate_of(Category::BestEffort));
    // 1466 bytes at 60 Mbit/s, SIFS, acknowledgement: 278 µs; alone 43 + 67.5 more, in 4 ms only once.
    assert!((0.400 * 0.270..0.400 * 0.302).contains(&video), "{video}");
    assert!((0.400 * 0.37..0.400 * 0.41).contains(&effort), "{effort}");
}
