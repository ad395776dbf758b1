//! Counts of losses by cause: inferred by `recoup`, reported by Nacks, or unknown.
use crate::harness::{Answer, DELAY, Harness, file, honest, segment_of};
use crate::order::{config, path};
use recoup_packet::nack::NackReason;
use recoup_transport::event::{Cause, Event};
use recoup_transport::fetch::FetchStats;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// One transmission in a hundred is lost on a path with an unlimited queue.
fn one_percent(congestion: &str, loss: &str) -> FetchStats {
    let mut rng = Rng::from_seed(7);
    path(config(congestion, loss), &mut |_, _, _| (rng.below(100) > 0).then_some(Duration::ZERO))
        .summary
}

#[test]
fn random_losses_are_not_named_congestion() {
    let summary = one_percent("recoup", "rack");
    assert!(summary.lost() >= 20, "{summary:?}");
    assert!(summary.random_losses() * 10 >= summary.lost() * 9, "{summary:?}");
    assert_eq!(summary.unknown_losses(), 0, "{summary:?}");
}

#[test]
fn losses_without_inference_have_no_known_cause() {
    for (congestion, loss) in [("cubic", "time-threshold"), ("newreno", "timeout")] {
        let summary = one_percent(congestion, loss);
        assert!(summary.unknown_losses() >= 20, "{summary:?}");
        assert_eq!((summary.congestion_losses(), summary.random_losses()), (0, 0));
        assert_eq!(summary.lost(), summary.unknown_losses());
    }
}

#[test]
fn losses_beside_a_full_queue_are_congestion() {
    // The bottleneck queues 40 packets beside those in flight.
    let (mut inside, packet) = (Vec::new(), Duration::from_micros(880));
    let mut free = Instant::ZERO;
    let mut fate = |now: Instant, _: u64, _: u32| {
        inside.retain(|left: &Instant| *left > now);
        if inside.len() >= 40 {
            return None;
        }
        free = free.max(now) + packet;
        inside.push(free);
        Some(Duration::ZERO)
    };
    let summary = path(config("recoup", "rack"), &mut fate).summary;
    assert!(summary.congestion_losses() >= 1, "{summary:?}");
    assert!(summary.congestion_losses() * 2 > summary.lost(), "{summary:?}");
}

#[test]
fn nack_of_congestion_is_a_loss_by_congestion() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut harness = Harness::new(crate::harness::config("/a/file"));
    let mut nacked = BTreeMap::new();
    let result = harness.run(|interest| {
        let first = nacked.insert(interest.name.clone(), ()).is_none();
        match segment_of(interest) {
            Some(20..25) if first => vec![(DELAY, Answer::Nack(NackReason::Congestion))],
            _ => answer(interest),
        }
    });
    assert_eq!(result, Ok(()));
    let summary = &harness.summary;
    assert_eq!((summary.congestion_losses(), summary.unknown_losses()), (5, 0), "{summary:?}");
}

#[test]
fn inference_about_a_spurious_loss_is_revoked() {
    // One segment is late by 40 ms, more than the detector waits.
    let late = |_, segment, times| {
        let held_up = times == 1 && segment == 2_000;
        Some(if held_up { Duration::from_millis(40) } else { Duration::ZERO })
    };
    let harness = path(config("recoup", "rack"), &mut { late });
    let of_it = |(_, event): &(Instant, Event)| match *event {
        Event::Inferred { segment: 2_000, cause, holds } => Some((cause, holds)),
        _ => None,
    };
    let inferred: Vec<(Cause, bool)> = harness.events.iter().filter_map(of_it).collect();
    let [(first, true), (second, false)] = inferred[..] else { panic!("{inferred:?}") };
    assert_eq!(first, second);
    assert_eq!((harness.summary.lost(), harness.summary.spurious), (0, 1), "{:?}", harness.summary);
}
