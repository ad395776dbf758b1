//! Rate and delay in both orders, by hand.
use crate::carry::{Fate, fates, millisecond_a_frame, offered};
use crate::significance::assert_within;
use recoup_sim::channel::LossReason;
use recoup_sim::network::{Arrival, LinkOptions, Order};
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// 8 Mbit/s, 10 ms, and a limit of that many frames.
fn plan(order: Order, room: u64) -> LinkOptions {
    LinkOptions {
        delay: ms(10),
        queue: QueueLimit::of_packets(room),
        order,
        ..millisecond_a_frame()
    }
}

fn burst(order: Order, room: u64, frames: u64) -> Vec<Fate> {
    let batch = Arrival::Batches(vec![(Duration::ZERO, frames)]);
    fates(&plan(order, room), 1, offered(&batch, 1, frames))
}

#[test]
fn router_holds_its_limit_and_one_in_transmission() {
    let fates = burst(Order::RateThenDelay, 20, 30);
    for (number, fate) in (0..).zip(&fates) {
        let expected = match number {
            ..21 => Fate::Arrived(ms(11 + number)),
            _ => Fate::Lost(LossReason::QueueFull),
        };
        assert_eq!(*fate, expected, "{number}");
    }
}

#[test]
fn mininet_limit_counts_frames_in_flight() {
    // Nothing of a burst has reached the rate when its last frame comes: the limit is all there is.
    let fates = burst(Order::DelayThenRate, 20, 30);
    for (number, fate) in (0..).zip(&fates) {
        let expected = match number {
            ..20 => Fate::Arrived(ms(11 + number)),
            _ => Fate::Lost(LossReason::QueueFull),
        };
        assert_eq!(*fate, expected, "{number}");
    }
}

/// Throughput at twice the rate over ten seconds, in frames per millisecond, and the delay of the last frame.
fn throughput(order: Order, room: u64) -> (f64, Duration) {
    let fates = fates(&plan(order, room), 1, offered(&Arrival::Constant(2_000.0), 1, 20_000));
    let arrived = |fate: &Fate| match fate {
        Fate::Arrived(after) => Some(*after),
        Fate::Lost(_) => None,
    };
    let taken: Vec<Duration> = fates.iter().filter_map(arrived).collect();
    (taken.len() as f64 / 1e4, *taken.last().unwrap())
}

#[test]
fn mininet_limit_below_the_pipe_caps_the_rate() {
    // A limit of 5 frames, each of which counts for 10 ms: 5 frames in 10 ms, whatever the rate.
    for (room, expected) in [(2, 0.2), (5, 0.5), (8, 0.8)] {
        let (frames, _) = throughput(Order::DelayThenRate, room);
        assert_within(&format!("frames per ms with a limit of {room}"), frames, expected, 0.005);
    }
}

#[test]
fn a_router_fills_its_rate_with_any_room() {
    for room in [1, 5, 20] {
        let (frames, _) = throughput(Order::RateThenDelay, room);
        assert_within(&format!("frames per ms with a limit of {room}"), frames, 1.0, 0.005);
    }
}

#[test]
fn mininet_queues_its_limit_less_frames_in_flight() {
    // At one frame per ms, 10 are in flight; of a limit of 30, 20 are queued, each for 1 ms.
    let (frames, last) = throughput(Order::DelayThenRate, 30);
    assert_within("frames per ms", frames, 1.0, 0.005);
    let expected = ms(10 + 20 + 1);
    assert!(last.abs_diff(expected) <= ms(1), "{last:?}");
    // A router lets all 30 wait, and they travel besides.
    let (_, last) = throughput(Order::RateThenDelay, 30);
    assert!(last.abs_diff(ms(10 + 30 + 1)) <= ms(1), "{last:?}");
}
