//! Tests of this scheduler only; those of all schedulers are in `tests/queue_suite.rs`.
use super::*;
use bytes::Bytes;

const LITERAL: MaxMinSettings = MaxMinSettings {
    share: Share::Flow,
    duplex: Duplex::Full,
    gain: 1.0,
    active: Duration::from_secs(1),
    answer_bytes: 1024,
    load: 1.0,
    flows: 65_536,
    bounds: SchedulerBounds { flow_packets: 1000, packets: 10_000, bytes: 16 << 20 },
};

fn packet(mark: u8) -> Bytes {
    Bytes::from(vec![mark; 1000])
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn key(flow: u64) -> FlowKey {
    FlowKey { group: 1, flow }
}

/// Departure time of each packet, in milliseconds, and its mark.
fn releases(scheduler: &mut MaxMin<Bytes>, from_ms: u64) -> Vec<(u64, u8)> {
    let (mut left, mut now) = (Vec::new(), ms(from_ms));
    while let Some(due) = scheduler.deadline().filter(|due| *due <= ms(from_ms + 10_000)) {
        now = now.max(due);
        while let Some(packet) = scheduler.dequeue(now) {
            left.push((now.as_nanos() / 1_000_000, packet[0]));
        }
    }
    left
}

#[test]
fn flow_above_its_share_is_paced() {
    let mut scheduler = MaxMin::new(LITERAL, Capacity::symmetric(1_000_000));
    for mark in 0..5 {
        assert!(scheduler.enqueue(ms(100), key(1), Charge::Itself, packet(mark)).is_ok());
    }
    assert_eq!(scheduler.dequeue(ms(100)), Some(packet(0)), "one packet shows no rate");
    assert_eq!(scheduler.dequeue(ms(100)), None);
    let expected = [(108, 1), (116, 2), (124, 3), (132, 4)];
    assert_eq!(releases(&mut scheduler, 100), expected);
}

#[test]
fn half_duplex_directions_share_one_capacity() {
    let both = |duplex| {
        let settings = MaxMinSettings { duplex, answer_bytes: 1000, ..LITERAL };
        let mut scheduler = MaxMin::new(settings, Capacity::symmetric(1_000_000));
        for _ in 0..51 {
            for (flow, charge) in [(1, Charge::Itself), (2, Charge::Answer)] {
                assert!(scheduler.enqueue(ms(0), key(flow), charge, packet(flow as u8)).is_ok());
            }
        }
        releases(&mut scheduler, 0).last().map(|(at, _)| *at)
    };
    assert_eq!(both(Duplex::Full), Some(400));
    assert_eq!(both(Duplex::Half), Some(808));
}

#[test]
fn other_traffic_leaves_at_least_a_hundredth() {
    let others = |other_sending_bits| {
        let capacity = Capacity { other_sending_bits, ..Capacity::symmetric(1_000_000) };
        let mut scheduler = MaxMin::new(LITERAL, capacity);
        for mark in 0..3 {
            assert!(scheduler.enqueue(ms(0), key(1), Charge::Itself, packet(mark)).is_ok());
        }
        releases(&mut scheduler, 0).last().map(|(at, _)| *at)
    };
    assert_eq!([others(0), others(500_000), others(9_999_999)], [16, 32, 1_600].map(Some));
}

#[test]
fn unknown_capacity_disables_pacing() {
    let mut scheduler = MaxMin::new(MaxMinSettings::default(), Capacity::default());
    for (group, flow) in [(1, 1), (1, 1), (1, 1), (1, 2), (1, 2), (2, 3), (2, 3)] {
        let key = FlowKey { group, flow };
        assert!(scheduler.enqueue(ms(0), key, Charge::Itself, packet(flow as u8)).is_ok());
    }
    let left: Vec<_> = std::iter::from_fn(|| scheduler.dequeue(ms(0))).map(|it| it[0]).collect();
    assert_eq!(left, [1, 1, 3, 2, 3, 1, 2]);
}

#[test]
fn a_flow_is_forgotten_after_a_silent_second() {
    let mut pool: Pool<Bytes> = Pool::new(LITERAL);
    pool.set_available(Some(1 << 30), 0);
    for flow in 0..100 {
        assert!(pool.admit(ms(flow), key(flow), Some(1000), packet(0)).unwrap().is_some());
    }
    assert_eq!(pool.flows(), 100);
    for at in 0..40 {
        assert!(pool.admit(ms(1_049 + at), key(7_000), Some(1000), packet(0)).unwrap().is_some());
    }
    assert_eq!(pool.flows(), 12, "those of the last second, and the one that goes on");
}
