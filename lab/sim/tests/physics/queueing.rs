//! Waiting times and overload of one channel.
use crate::carry::{Fate, carry, millisecond_a_frame, offered};
use crate::significance::{assert_within, scaled};
use recoup_sim::channel::LossReason;
use recoup_sim::network::{Arrival, LinkOptions, Order};
use recoup_sim::statistic::Estimate;
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::Duration;

/// Mean time that a frame waits for the rate in an M/D/1 queue with a service of one second:
/// Pollaczek and Khinchine.
pub(crate) fn md1_wait(utilisation: f64) -> f64 {
    utilisation / (2.0 * (1.0 - utilisation))
}

/// Mean waiting time of a run in units of the service.
fn simulated_wait(utilisation: f64, seed: u64, frames: u64) -> f64 {
    let plan = LinkOptions { delay: Duration::from_millis(7), ..millisecond_a_frame() };
    let arrivals = offered(&Arrival::Poisson(utilisation * 1_000.0), seed, frames);
    let mut nanos = 0_u128;
    carry(&plan, seed, arrivals, |_, _, fate| {
        let Fate::Arrived(after) = fate else { panic!("an unlimited queue drops nothing") };
        nanos += (after - Duration::from_millis(8)).as_nanos();
    });
    nanos as f64 / frames as f64 / 1e6
}

#[track_caller]
fn compare_wait(utilisation: f64, frames: u64) {
    const RUNS: u64 = 20;
    let waits: Vec<f64> =
        (1..=RUNS).map(|seed| simulated_wait(utilisation, seed, frames / RUNS)).collect();
    let estimate = Estimate::of(&waits, 0.99).unwrap();
    let expected = md1_wait(utilisation);
    println!("half width of the 99 % interval: {:.3} %", 100.0 * estimate.half_width / expected);
    assert!(estimate.half_width < 0.03 * expected, "too few frames: {estimate:?}");
    assert!(estimate.compare(expected).is_none(), "{estimate:?} instead of {expected}");
    assert_within(&format!("wait at {utilisation}"), estimate.mean, expected, 0.02);
}

#[test]
fn half_load_waits_as_in_md1() {
    compare_wait(0.5, scaled(4_000_000, 400_000));
}

#[test]
fn four_fifths_load_waits_as_in_md1() {
    compare_wait(0.8, scaled(8_000_000, 1_500_000));
}

#[test]
fn nine_tenths_load_waits_as_in_md1() {
    compare_wait(0.9, scaled(30_000_000, 5_000_000));
}

/// The share of frames that a full queue drops, counted after `skipped`.
fn overload_loss(plan: &LinkOptions, arrival: &Arrival, skipped: u64, frames: u64) -> f64 {
    let mut lost = 0_u64;
    carry(plan, 1, offered(arrival, 1, skipped + frames), |_, frame, fate| match fate {
        Fate::Lost(LossReason::QueueFull) if frame.number >= skipped => lost += 1,
        Fate::Lost(LossReason::QueueFull) | Fate::Arrived(_) => {}
        Fate::Lost(reason) => panic!("lost by {reason:?}"),
    });
    lost as f64 / frames as f64
}

#[test]
fn an_overloaded_channel_drops_what_exceeds_its_rate() {
    let by_bytes = LinkOptions { queue: QueueLimit::of_bytes(50_000), ..millisecond_a_frame() };
    let by_packets = LinkOptions { queue: QueueLimit::of_packets(50), ..millisecond_a_frame() };
    let mininet = LinkOptions {
        delay: Duration::from_millis(10),
        order: Order::DelayThenRate,
        ..by_packets.clone()
    };
    for plan in [by_bytes, by_packets, mininet] {
        for load in [1.2, 1.5, 2.0] {
            let loss = overload_loss(&plan, &Arrival::Constant(load * 1_000.0), 1_000, 60_000);
            let what = format!("loss at {load}, {:?}", plan.order);
            assert_within(&what, loss, 1.0 - 1.0 / load, 0.01);
        }
    }
}

#[test]
fn overload_by_half_loses_a_third() {
    // The queue is all but never empty, so that the rate is all but always used.
    let plan = LinkOptions { queue: QueueLimit::of_packets(50), ..millisecond_a_frame() };
    let loss = overload_loss(&plan, &Arrival::Poisson(1_500.0), 1_000, 600_000);
    assert_within("loss of a Poisson stream", loss, 1.0 / 3.0, 0.01);
}

#[test]
fn what_fits_is_never_dropped() {
    let plan = LinkOptions { queue: QueueLimit::of_packets(1), ..millisecond_a_frame() };
    assert_eq!(overload_loss(&plan, &Arrival::Constant(1_000.0), 0, 10_000), 0.0);
}
