//! Tests of counters of a fetch.
use super::*;
use crate::event::Span;
use crate::loss::Phase;

#[test]
fn stats_count_events() {
    let mut stats = FetchStats::default();
    let ms = Duration::from_millis;
    let sent = |transmissions| Event::Sent { segment: 0, transmissions, rto: ms(1).into() };
    let received = Event::Received {
        segment: 0,
        content_bytes: 1_000,
        wire_bytes: 1_500,
        rtt: ms(8).into(),
        delay: ms(8).into(),
        transmissions: 1,
    };
    stats.on_event(Instant::from_millis(100), &sent(1));
    stats.on_event(Instant::from_millis(104), &sent(2));
    stats.on_event(Instant::from_millis(108), &received);
    assert_eq!((stats.interests, stats.retransmissions, stats.segments), (2, 1, 1));
    assert_eq!(stats.elapsed(), ms(8));
    assert_eq!(stats.goodput(), Some(1_000_000.0));
    assert_eq!(stats.throughput(), Some(1_500_000.0));
    assert_eq!(stats.loss_rate(), Some(0.0));
    stats.on_event(Instant::from_millis(109), &Event::Reduced { cause: Signal::Timeout });
    assert_eq!(stats.loss_rate(), Some(1.0));
    assert_eq!(stats.rtt.mean(), Some(ms(8)));
}

#[test]
fn sum_counts_the_events_of_both() {
    let ms = Duration::from_millis;
    let at = Instant::from_millis;
    let received = |rtt| Event::Received {
        segment: 0,
        content_bytes: 1_000,
        wire_bytes: 1_500,
        rtt: ms(rtt).into(),
        delay: ms(rtt).into(),
        transmissions: 1,
    };
    let sent = Event::Sent { segment: 0, transmissions: 1, rto: ms(1).into() };
    let window = Event::Window { window: 4.0, ssthresh: 2.0, delay_window: 0.0 };
    let spurious = Event::Spurious { segment: 0, cause: Signal::Timeout };
    let explained = Event::Explained { segment: 0, cause: Cause::Mobility, judged: true };
    let first = [
        (at(5), sent),
        (at(9), received(4)),
        (at(9), Event::EndKnown { last: 3 }),
        (at(9), Event::Phase { phase: Phase::Fast }),
        (at(10), Event::Phase { phase: Phase::Normal }),
        (at(11), Event::Reduced { cause: Signal::Mark }),
    ];
    let second = [
        (at(12), sent),
        (at(12), window),
        (at(20), received(8)),
        (at(20), Event::TimedOut { segment: 0 }),
        (at(21), spurious),
        (at(21), explained),
        (at(21), Event::Inferred { segment: 1, cause: Cause::Random, holds: true }),
        (at(21), Event::Nacked { segment: Some(1), reason: NackReason::Congestion }),
        (at(21), Event::Undone),
        (at(21), Event::Disconnected),
        (at(21), Event::Connected),
        (at(22), Event::Phase { phase: Phase::Fast }),
        (at(24), Event::Phase { phase: Phase::Normal }),
    ];
    let (mut one, mut other, mut both) =
        (FetchStats::default(), FetchStats::default(), FetchStats::default());
    first.iter().for_each(|(at, event)| one.on_event(*at, event));
    second.iter().for_each(|(at, event)| other.on_event(*at, event));
    first.iter().chain(&second).for_each(|(at, event)| both.on_event(*at, event));
    let mut sum = FetchStats::default();
    sum.add(&one);
    assert_eq!(sum, one);
    sum.add(&other);
    assert_eq!(sum, both);
}

#[test]
fn retransmissions_before_any_segment_are_blind() {
    let mut stats = FetchStats::default();
    let sent = |segment, transmissions| Event::Sent { segment, transmissions, rto: rtt() };
    let first = [sent(0, 1), sent(1, 1), sent(0, 2), sent(0, 3)];
    let later = [received(), sent(2, 1), sent(1, 2), sent(2, 2)];
    first.iter().chain(&later).for_each(|event| stats.on_event(Instant::ZERO, event));
    assert_eq!(stats.blind, 3);
}

fn rtt() -> Span {
    Duration::from_secs(1).into()
}

fn received() -> Event {
    let (rtt, delay) = (rtt(), rtt());
    Event::Received {
        segment: 0,
        content_bytes: 100,
        wire_bytes: 150,
        rtt,
        delay,
        transmissions: 1,
    }
}

/// The counters of 100 segments, with so many losses by inferred cause, each retransmitted, and duplicates.
fn fetched(congestion: u64, random: u64, duplicates: u64) -> FetchStats {
    let mut stats = FetchStats::default();
    let mut count = |times: u64, event: Event| {
        (0..times).for_each(|_| stats.on_event(Instant::ZERO, &event));
    };
    let inferred = |cause| Event::Inferred { segment: 0, cause, holds: true };
    let lost = congestion + random;
    count(100 + lost, Event::Sent { segment: 0, transmissions: 1, rto: rtt() });
    count(100, received());
    count(lost, Event::TimedOut { segment: 0 });
    count(congestion, inferred(Cause::Congestion));
    count(random, inferred(Cause::Random));
    count(duplicates, Event::Duplicate);
    stats
}

#[test]
fn answered_transmission_was_not_lost() {
    for (congestion, random, duplicates, left) in
        [(9, 0, 0, 9), (9, 0, 9, 0), (9, 4, 11, 2), (0, 4, 3, 1), (3, 0, 50, 0)]
    {
        let causes = fetched(congestion, random, duplicates).causes();
        assert_eq!(causes.lost(), left, "{congestion} {random} {duplicates}");
        assert_eq!(causes.spurious, congestion + random - left);
    }
}

#[test]
fn streams_lose_only_what_nothing_answered() {
    for (congestion, random, duplicates, left) in
        [(9, 0, 9, 0), (9, 0, 6, 3), (5, 4, 8, 1), (9, 0, 0, 9)]
    {
        let mut stats = fetched(congestion, random, duplicates);
        stats.run.is_stream = true;
        let causes = stats.causes();
        assert_eq!((causes.congestion, causes.random), (0, 0));
        assert_eq!((causes.unknown, causes.lost()), (left, left));
    }
}

#[test]
fn spurious_nack_is_no_spurious_timeout() {
    let mut stats = FetchStats::default();
    let mut happens = |event| stats.on_event(Instant::ZERO, &event);
    happens(Event::TimedOut { segment: 1 });
    happens(Event::TimedOut { segment: 2 });
    happens(Event::Spurious { segment: 2, cause: Signal::Timeout });
    happens(Event::Spurious { segment: 3, cause: Signal::Nack });
    assert_eq!((stats.spurious, stats.spurious_timeouts()), (2, 1));
    assert_eq!((stats.unknown_losses(), stats.congestion_losses()), (1, 0));
}
