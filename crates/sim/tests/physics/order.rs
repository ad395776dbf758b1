//! Rate and delay in both orders, by hand.
use crate::carry::{Fate, fates, millisecond_a_frame, offered};
use crate::significance::assert_within;
use recoup_sim::channel::LossReason;
use recoup_sim::network::{Arrival, ChannelPlan, Order};
use recoup_transport::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// 8 Mbit/s, 10 ms, and room for so many frames.
fn plan(order: Order, room: u64) -> ChannelPlan {
    let queue_packets = Some(room);
    ChannelPlan { delay: ms(10), queue_packets, order, ..millisecond_a_frame() }
}

fn burst(order: Order, room: u64, frames: u64) -> Vec<Fate> {
    let batch = Arrival::Batches(vec![(Duration::ZERO, frames)]);
    fates(&plan(order, room), 1, offered(&batch, 1, frames))
}

#[test]
fn a_router_keeps_its_room_and_the_one_that_it_sends() {
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
fn mininet_keeps_its_room_for_what_travels() {
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

/// What comes through of twice the rate in ten seconds, in frames per millisecond, and how long the
/// last of it took.
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
fn mininet_with_less_room_than_the_pipe_holds_does_not_fill_its_rate() {
    // Room for 5 frames, each of which takes it for 10 ms: 5 frames in 10 ms, whatever the rate.
    for (room, expected) in [(2, 0.2), (5, 0.5), (8, 0.8)] {
        let (frames, _) = throughput(Order::DelayThenRate, room);
        assert_within(&format!("frames per ms with room for {room}"), frames, expected, 0.005);
    }
}

#[test]
fn a_router_fills_its_rate_with_any_room() {
    for room in [1, 5, 20] {
        let (frames, _) = throughput(Order::RateThenDelay, room);
        assert_within(&format!("frames per ms with room for {room}"), frames, 1.0, 0.005);
    }
}

#[test]
fn what_mininet_lets_wait_is_its_room_less_what_travels() {
    // At one frame per ms, 10 travel; of the room for 30, 20 wait, each for 1 ms.
    let (frames, last) = throughput(Order::DelayThenRate, 30);
    assert_within("frames per ms", frames, 1.0, 0.005);
    let expected = ms(10 + 20 + 1);
    assert!(last.abs_diff(expected) <= ms(1), "{last:?}");
    // A router lets all 30 wait, and they travel besides.
    let (_, last) = throughput(Order::RateThenDelay, 30);
    assert!(last.abs_diff(ms(10 + 30 + 1)) <= ms(1), "{last:?}");
}
