//! Timers that set the Interest lifetime: lifetimes in packets, and reported answers.
use crate::harness::{Answers, Harness, config, file, honest, segment_of};
use recoup_packet::interest::Interest;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchConfig, Retries};
use recoup_transport::time::Duration;
use std::collections::BTreeMap;

fn timed(timer: &str) -> FetchConfig {
    let mut config = config("/a/file/v=7");
    config.options.rto = timer.parse().expect("a timer");
    config.options.congestion = "fixed(window=1)".parse().expect("a window");
    config.options.retries = Retries(None);
    config
}

/// Runs a fetch whose producer misses the first `losses` Interests for segment 20. Returns the lifetimes of all
/// Interests, in milliseconds, by segment.
fn lifetimes(timer: &str, losses: usize) -> (Harness, BTreeMap<u64, Vec<u128>>) {
    let file = file(4_000);
    let answer = honest(&file);
    let mut harness = Harness::new(timed(timer));
    let mut left = losses;
    let lossy = |interest: &Interest| -> Answers {
        if segment_of(interest) == Some(20) && left > 0 {
            left -= 1;
            return Vec::new();
        }
        answer(interest)
    };
    assert_eq!(harness.run(lossy), Ok(()));
    assert_eq!(harness.bytes(), file);
    let mut lifetimes = BTreeMap::<u64, Vec<u128>>::new();
    for interest in &harness.asked {
        let lifetime = interest.lifetime.expect("a lifetime").as_millis();
        lifetimes.entry(segment_of(interest).expect("a segment")).or_default().push(lifetime);
    }
    (harness, lifetimes)
}

#[test]
fn the_timer_is_the_lifetime_of_the_interest() {
    let (harness, lifetimes) = lifetimes("icp", 0);
    assert_eq!(lifetimes[&0], [4_000]);
    assert_eq!(lifetimes[&20], [100], "its floor, and not the 4 s of the default");
    assert_eq!(harness.summary.timeouts, 0);
    let mut config = timed("icp");
    config.options.lifetime = Duration::from_secs(9);
    let mut harness = Harness::new(config);
    assert_eq!(harness.run(honest(&file(300))), Ok(()));
    assert_eq!(harness.asked[0].lifetime, Some(Duration::from_secs(4)));
}

#[test]
fn other_timers_leave_the_lifetime_alone() {
    let (_, lifetimes) = lifetimes("jacobson", 1);
    assert_eq!(lifetimes[&20], [4_000, 4_000]);
}

#[test]
fn third_timeout_resets_the_lifetime() {
    let (harness, lifetimes) = lifetimes("ccntimer", 4);
    assert_eq!(lifetimes[&20], [100, 120, 144, 4_000, 4_000]);
    assert_eq!(harness.summary.timeouts, 4);
    // The estimate was reset: the first answer without timeouts begins it, the second sets the lifetime.
    assert_eq!((&lifetimes[&21][..], &lifetimes[&22][..]), (&[4_000][..], &[4_000][..]));
    assert_eq!(lifetimes[&23], [100]);
}

#[test]
fn late_answer_counts_from_the_first_transmission() {
    let (harness, lifetimes) = lifetimes("icp", 1);
    assert_eq!(lifetimes[&20], [100, 100]);
    let sampled = |event: &Event| match event {
        Event::Sampled { segment: 20, rtt, .. } => Some(Duration::from(*rtt)),
        _ => None,
    };
    let rtt = harness.events.iter().find_map(|(_, event)| sampled(event));
    assert_eq!(rtt, Some(Duration::from_millis(120)));
    let (harness, _) = self::lifetimes("ccntimer(min=1ms)", 1);
    let timer = |event: &Event| match event {
        Event::Sampled { segment: 20, rto, .. } => Some(Duration::from(*rto)),
        _ => None,
    };
    let after = harness.events.iter().find_map(|(_, event)| timer(event)).expect("a sample");
    assert!(after > Duration::from_millis(28), "inflated until the next clean answer: {after:?}");
}
