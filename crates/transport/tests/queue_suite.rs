//! Invariants of every scheduler, for any packets and polling times.
use bytes::Bytes;
use proptest::prelude::*;
use recoup_transport::queue::{Capacity, Charge, Discipline, FairScheduler, FlowKey, Rejection};
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Every scheduler, each with limits that tests can reach.
const ALL: [&str; 5] = [
    "fifo(packets=200)",
    "max-min(packets=200,flow-queue=50,bytes=150000,flows=64)",
    "max-min(share=flow,gain=1,packets=200,flow-queue=50,bytes=150000,flows=64)",
    "drr(packets=200,flow-queue=50,bytes=150000,flows=64)",
    "drr(share=flow,packets=200,flow-queue=50,bytes=150000,flows=64)",
];
/// Schedulers that share a link fairly, with large queues.
const FAIR: [&str; 4] = ["max-min", "max-min(share=flow)", "drr", "drr(share=flow)"];
const BITS: u64 = 10_000_000;
const BYTES: u32 = 1_000;

fn build(text: &str, capacity: Capacity) -> Box<dyn FairScheduler<Bytes>> {
    text.parse::<Discipline>().unwrap().build(capacity)
}

/// A packet with the number of its flow, and its own number in the flow.
fn packet(flow: u64, number: u32, bytes: usize) -> Bytes {
    let mut bytes = vec![0; bytes.max(12)];
    bytes[..8].copy_from_slice(&flow.to_be_bytes());
    bytes[8..12].copy_from_slice(&number.to_be_bytes());
    bytes.into()
}

fn read(packet: &Bytes) -> (u64, u32) {
    let number = |range: std::ops::Range<usize>| {
        packet[range].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    (number(0..8), number(8..12) as u32)
}

/// One operation on a scheduler.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { group: u32, flow: u64, answer: bool, bytes: usize },
    Wait { micros: u64 },
    Dequeue,
    Answered { flow: u64, bytes: u32 },
    Rate { bits: Option<u64> },
}

fn step() -> impl Strategy<Value = Step> {
    let enqueue = (0..3_u32, 0..12_u64, any::<bool>(), 12..1500_usize)
        .prop_map(|(group, flow, answer, bytes)| Step::Enqueue { group, flow, answer, bytes });
    let rate = proptest::option::of(1_000..1_000_000_000_u64).prop_map(|bits| Step::Rate { bits });
    prop_oneof![
        12 => enqueue,
        4 => (0..3_000_u64).prop_map(|micros| Step::Wait { micros }),
        6 => Just(Step::Dequeue),
        1 => (0..12_u64, 0..9_000_u32).prop_map(|(flow, bytes)| Step::Answered { flow, bytes }),
        1 => rate,
    ]
}

/// Departures if a driver takes every packet that may leave at once; new packets are offered or enqueued.
fn taken_at_once(text: &str, offers: bool, steps: &[Step]) -> Vec<(u64, u32, Instant)> {
    let mut scheduler = build(text, Capacity::symmetric(BITS));
    let (mut now, mut left) = (Instant::ZERO, Vec::new());
    for (number, step) in (0..).zip(steps) {
        match *step {
            Step::Enqueue { group, flow, answer, bytes } => {
                let charge = if answer { Charge::Answer } else { Charge::Itself };
                let (key, item) = (FlowKey { group, flow }, packet(flow, number, bytes));
                let offered = match offers {
                    true => scheduler.offer(now, key, charge, item),
                    false => scheduler.enqueue(now, key, charge, item).map(|()| None),
                };
                left.extend(offered.ok().flatten());
            }
            Step::Wait { micros } => now += Duration::from_micros(micros),
            Step::Answered { flow, bytes } => {
                scheduler.answered(FlowKey { group: flow as u32 % 3, flow }, bytes);
            }
            Step::Dequeue | Step::Rate { .. } => {}
        }
        left.extend(std::iter::from_fn(|| scheduler.dequeue(now)));
    }
    let read = |item: &Bytes| (read(item).0, read(item).1, now);
    left.iter().map(read).collect()
}

/// Result of a sequence of steps.
#[derive(Debug, Default, PartialEq)]
struct Run {
    /// Accepted packets, by flow and direction.
    taken: BTreeMap<(u32, u64, bool), Vec<u32>>,
    left: Vec<(u64, u32, Instant)>,
    rejected: Vec<Rejection>,
}

fn run(text: &str, bits: Option<u64>, steps: &[Step]) -> Run {
    let capacity = Capacity { sending_bits: bits, receiving_bits: bits, ..Capacity::default() };
    let mut scheduler = build(text, capacity);
    let (mut now, mut run, mut waiting, mut bytes_waiting) = (Instant::ZERO, Run::default(), 0, 0);
    for (number, step) in (0..).zip(steps) {
        match *step {
            Step::Enqueue { group, flow, answer, bytes } => {
                // Flows of different neighbours and directions have different ids here.
                let id = flow << 8 | u64::from(group) << 1 | u64::from(answer);
                let charge = if answer { Charge::Answer } else { Charge::Itself };
                let item = packet(id, number, bytes);
                bytes_waiting += item.len() as u64;
                match scheduler.enqueue(now, FlowKey { group, flow }, charge, item.clone()) {
                    Ok(()) => {
                        waiting += 1;
                        run.taken.entry((group, flow, answer)).or_default().push(number);
                    }
                    Err(rejected) => {
                        assert_eq!(rejected.item, item, "the same packet is returned");
                        bytes_waiting -= item.len() as u64;
                        run.rejected.push(rejected.why);
                    }
                }
            }
            Step::Wait { micros } => now += Duration::from_micros(micros),
            Step::Dequeue => {
                if let Some(item) = scheduler.dequeue(now) {
                    waiting -= 1;
                    bytes_waiting -= item.len() as u64;
                    let (flow, number) = read(&item);
                    run.left.push((flow, number, now));
                }
            }
            Step::Answered { flow, bytes } => {
                scheduler.answered(FlowKey { group: flow as u32 % 3, flow }, bytes);
            }
            Step::Rate { bits } => {
                let capacity =
                    Capacity { sending_bits: bits, receiving_bits: bits, ..Capacity::default() };
                scheduler.set_capacity(capacity);
            }
        }
        assert_eq!((scheduler.packets(), scheduler.bytes()), (waiting, bytes_waiting));
        assert!(waiting <= 400, "{text}: 200 in each direction");
        assert_eq!(scheduler.deadline().is_some(), waiting > 0, "{text}");
    }
    // All packets leave when they are due.
    while let Some(due) = scheduler.deadline() {
        now = now.max(due);
        while let Some(item) = scheduler.dequeue(now) {
            let (flow, number) = read(&item);
            run.left.push((flow, number, now));
        }
        assert!(scheduler.deadline().is_none_or(|due| due > now), "{text}: it asks to be asked");
    }
    assert_eq!((scheduler.packets(), scheduler.bytes()), (0, 0));
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn offered_packet_returned_is_the_next_to_leave(
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        for text in ALL {
            let (offered, enqueued) =
                (taken_at_once(text, true, &steps), taken_at_once(text, false, &steps));
            prop_assert_eq!(offered, enqueued, "{}", text);
        }
    }

    #[test]
    fn packets_leave_once_and_in_flow_order(
        bits in proptest::option::of(10_000..100_000_000_u64),
        steps in proptest::collection::vec(step(), 0..300),
    ) {
        for text in ALL {
            let done = run(text, bits, &steps);
            let mut left: BTreeMap<_, Vec<u32>> = BTreeMap::new();
            for (id, number, _) in &done.left {
                let key = ((id >> 1 & 0x7f) as u32, id >> 8, id & 1 == 1);
                left.entry(key).or_default().push(*number);
            }
            prop_assert_eq!(&left, &done.taken, "{}", text);
        }
    }

    #[test]
    fn the_same_calls_give_the_same_answers(
        bits in proptest::option::of(10_000..100_000_000_u64),
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        for text in ALL {
            prop_assert_eq!(run(text, bits, &steps), run(text, bits, &steps), "{}", text);
        }
    }

    #[test]
    fn everything_can_be_taken_away_at_once(steps in proptest::collection::vec(step(), 0..200)) {
        for text in ALL {
            let mut scheduler = build(text, Capacity::symmetric(1_000_000));
            let (mut now, mut inside) = (Instant::ZERO, 0);
            for step in &steps {
                match *step {
                    Step::Enqueue { group, flow, bytes, .. } => {
                        let item = packet(flow, 0, bytes);
                        let key = FlowKey { group, flow };
                        inside += usize::from(scheduler.enqueue(now, key, Charge::Itself, item).is_ok());
                    }
                    Step::Wait { micros } => now += Duration::from_micros(micros),
                    _ => inside -= usize::from(scheduler.dequeue(now).is_some()),
                }
            }
            let evicted = std::iter::from_fn(|| scheduler.evict()).count();
            prop_assert_eq!(evicted, inside, "{}", text);
            prop_assert_eq!((scheduler.packets(), scheduler.bytes(), scheduler.deadline()), (0, 0, None));
        }
    }
}

/// Sources that send at constant rates, each a neighbour of its own. Returns the rate of each, in bits per second,
/// after the first quarter of `seconds`.
fn allocation(text: &str, demands: &[u64], charge: Charge, seconds: u64) -> Vec<f64> {
    let mut scheduler = build(text, Capacity::symmetric(BITS));
    let gap = |bits: u64| u64::from(BYTES) * 8_000_000_000 / bits;
    // Phases differ, or all packets would arrive at the same instants.
    let mut next: Vec<u64> =
        demands.iter().zip(1_u64..).map(|(bits, place)| gap(*bits) / (place + 1)).collect();
    let (end, mut left) = (seconds * 1_000_000_000, vec![0_u64; demands.len()]);
    loop {
        let (at, source) = next.iter().copied().zip(0..).min().unwrap();
        let due = scheduler.deadline().map_or(u64::MAX, |due| due.as_nanos());
        let now = at.min(due.max(1));
        if now >= end {
            break;
        }
        if at <= due {
            let key = FlowKey { group: source as u32, flow: source as u64 };
            let instant = Instant::from_nanos(at);
            if charge == Charge::Answer {
                scheduler.answered(key, BYTES);
            }
            let _ = scheduler.enqueue(instant, key, charge, packet(source as u64, 0, 1_000));
            next[source] += gap(demands[source]);
        }
        while let Some(item) = scheduler.dequeue(Instant::from_nanos(now)) {
            if now >= end / 4 {
                left[read(&item).0 as usize] += 1;
            }
        }
    }
    let time = seconds as f64 * 0.75;
    left.iter().map(|packets| *packets as f64 * f64::from(BYTES) * 8.0 / time).collect()
}

/// Max-min shares by raising all shares together until they are filled.
fn max_min(capacity: f64, demands: &[u64]) -> Vec<f64> {
    let (mut low, mut high) = (0.0, capacity);
    for _ in 0..60 {
        let level = (low + high) / 2.0;
        let filled: f64 = demands.iter().map(|bits| (*bits as f64).min(level)).sum();
        if filled > capacity { high = level } else { low = level }
    }
    demands.iter().map(|bits| (*bits as f64).min(low)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn shares_are_max_min_whatever_is_demanded(
        demands in proptest::collection::vec(400_000..12_000_000_u64, 1..7),
        answer: bool,
    ) {
        let charge = if answer { Charge::Answer } else { Charge::Itself };
        for text in FAIR {
            // Interests request 98 % of the incoming rate with `drr`.
            let part = if answer && text.starts_with("drr") { 0.98 } else { 1.0 };
            let found = allocation(text, &demands, charge, 4);
            let expected = max_min(part * BITS as f64, &demands);
            for (found, expected) in found.iter().zip(&expected) {
                let off = (found / expected - 1.0).abs();
                prop_assert!(off < 0.05, "{}: {:?} is not {:?} of {:?}", text, found, expected, demands);
            }
        }
    }
}

#[test]
fn overloaded_link_is_filled_exactly() {
    for text in FAIR {
        for charge in [Charge::Itself, Charge::Answer] {
            let part = if charge == Charge::Answer && text.starts_with("drr") { 0.98 } else { 1.0 };
            let all: f64 =
                allocation(text, &[4_000_000, 9_000_000, 700_000], charge, 10).iter().sum();
            let off = all / (part * BITS as f64) - 1.0;
            assert!(off.abs() < 0.01, "{text} {charge:?}: {all}");
        }
    }
}

#[test]
fn demand_below_the_share_never_waits() {
    for text in FAIR {
        let demands = [1_000_000, 2_000_000, 3_000_000];
        let found = allocation(text, &demands, Charge::Itself, 8);
        for (found, wanted) in found.iter().zip(demands) {
            assert!((found / wanted as f64 - 1.0).abs() < 0.01, "{text}: {found} of {wanted}");
        }
    }
}

#[test]
fn backlogged_flow_starves_no_other() {
    for text in FAIR {
        let mut scheduler = build(text, Capacity::symmetric(BITS));
        let (greedy, rare) = (FlowKey { group: 1, flow: 1 }, FlowKey { group: 2, flow: 2 });
        let (mut longest, mut since) = (Duration::ZERO, None);
        for step in 0..40_000_u64 {
            let now = Instant::from_nanos(step * 100_000);
            let _ = scheduler.enqueue(now, greedy, Charge::Itself, packet(1, 0, 1_000));
            if step % 1_000 == 500 {
                assert!(scheduler.enqueue(now, rare, Charge::Itself, packet(2, 0, 1_000)).is_ok());
                since = Some(now);
            }
            while let Some(item) = scheduler.dequeue(now) {
                if read(&item).0 == 2
                    && let Some(since) = since.take()
                {
                    longest = longest.max(now.since(since));
                }
            }
        }
        assert_eq!(since, None, "{text}: it left");
        // A few packets of 0.8 ms.
        assert!(longest <= Duration::from_millis(4), "{text}: {longest:?}");
    }
}

#[test]
fn many_flows_stay_within_their_limits() {
    for text in ["max-min(packets=1000,flows=256)", "drr(packets=1000)"] {
        let mut scheduler = build(text, Capacity::symmetric(1_000_000));
        let mut rejected = 0;
        for minted in 0..50_000_u64 {
            let now = Instant::from_nanos(minted * 20_000);
            let key = FlowKey { group: 1, flow: minted };
            rejected += usize::from(
                scheduler.enqueue(now, key, Charge::Itself, packet(1, 0, 500)).is_err(),
            );
            while scheduler.dequeue(now).is_some() {}
            assert!(scheduler.packets() <= 1_000, "{text}");
        }
        assert!(rejected > 40_000, "{text}: {rejected}");
        assert!(scheduler.packets() <= 500, "{text}: half of the queue for one neighbour");
        let honest = FlowKey { group: 2, flow: 7 };
        let now = Instant::from_millis(1_001);
        for number in 0..100 {
            let item = packet(2, number, 500);
            assert!(scheduler.enqueue(now, honest, Charge::Itself, item).is_ok(), "{text}");
        }
        // Their turns alternate with those of all other flows together.
        let mut left = [0; 3];
        let mut now = now;
        while left[2] < 50 {
            now = now.max(scheduler.deadline().unwrap());
            while let Some(item) = scheduler.dequeue(now) {
                left[read(&item).0 as usize] += 1;
            }
        }
        assert!(left[1] <= 70, "{text}: {left:?}");
    }
}
