//! Losses, Nacks, marks and faces that go down.
use crate::harness::{
    Answer, Answers, DELAY, Harness, config, cut, file, honest, name, segment_of, with_options,
};
use recoup_packet::data::{ContentType, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, Beside};
use recoup_transport::congestion::{Congestion, CongestionControl, Delivered, Loss};
use recoup_transport::event::{Event, Signal};
use recoup_transport::fetch::{FetchError, Retries};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

#[test]
fn each_retransmission_has_a_fresh_nonce() {
    let file = file(20_000);
    let mut rng = Rng::from_seed(5);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    let lossy = |interest: &Interest| {
        if rng.below(5) == 0 { Vec::new() } else { answer(interest) }
    };
    assert_eq!(harness.run(lossy), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(harness.summary.retransmissions > 10);
    let mut nonces: Vec<_> = harness.asked.iter().map(|interest| interest.nonce).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), harness.asked.len());
}

#[test]
fn duplicates_reordering_and_delays_do_no_harm() {
    let file = file(20_000);
    let mut rng = Rng::from_seed(9);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    let chaos = |interest: &Interest| -> Answers {
        let mut answers = answer(interest);
        answers.extend(answer(interest));
        for (delay, _) in &mut answers {
            *delay += Duration::from_millis(rng.below(300));
        }
        answers
    };
    assert_eq!(harness.run(chaos), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(harness.summary.duplicates > 0);
}

#[test]
fn no_progress_ends_even_unlimited_retries() {
    let file = file(3_000);
    let answer = honest(&file);
    let mut unlimited = config("/a/file");
    unlimited.options.retries = Retries(None);
    let mut harness = Harness::new(unlimited);
    let result = harness.run(|interest| match segment_of(interest) {
        Some(7) => Vec::new(),
        _ => answer(interest),
    });
    assert_eq!(result, Err(FetchError::NoProgress(Duration::from_secs(60))));
    assert_eq!(harness.content.len(), 29, "what could arrive was handed out");
}

#[test]
fn a_retry_budget_of_zero_asks_once() {
    let mut once = config("/a/file/v=1");
    once.options.retries = Retries(Some(0));
    let mut harness = Harness::new(once);
    let result = harness.run(|_| Vec::new());
    let expected = FetchError::NoAnswer { name: name("/a/file/v=1/seg=0"), attempts: 1 };
    assert_eq!(result, Err(expected));
    assert_eq!(harness.asked.iter().filter(|i| segment_of(i) == Some(0)).count(), 1);
}

#[test]
fn application_nack_is_not_found() {
    let mut harness = Harness::new(config("/a/file"));
    let result = harness.run(|interest| {
        let builder = DataBuilder::new(&interest.name).content_type(ContentType::Nack);
        vec![(DELAY, Answer::Data(builder.build(b"", &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::NotFound(name("/a/file"))));
    assert!(harness.now < Instant::from_millis(1_000), "without waiting for timeouts");
}

#[test]
fn missing_route_is_an_error_after_the_retries() {
    let mut few = config("/a/file/v=7");
    few.options.retries = Retries(Some(3));
    let mut harness = Harness::new(few);
    let result = harness.run(|_| vec![(DELAY, Answer::Nack(NackReason::NoRoute))]);
    assert!(
        matches!(result, Err(FetchError::Nacked { reason: NackReason::NoRoute, attempts: 4, .. })),
        "{result:?}"
    );
}

#[test]
fn missing_route_ends_the_fetch_sooner() {
    for (uri, answered) in [("/a/file/v=7", 0), ("/a/file", 0), ("/a/file/v=7", 5)] {
        let file = file(3_000);
        let mut harness = Harness::new(config(uri));
        let result = harness.run(|interest| match segment_of(interest) {
            Some(segment) if segment < answered => honest(&file)(interest),
            _ => vec![(DELAY, Answer::Nack(NackReason::NoRoute))],
        });
        let Err(FetchError::Nacked { reason: NackReason::NoRoute, attempts, .. }) = result else {
            panic!("{result:?}");
        };
        let soon = harness.now < Instant::from_millis(3_000);
        assert_eq!((attempts, soon), if answered == 0 { (6, true) } else { (16, false) });
    }
}

#[test]
fn route_after_a_second_is_used() {
    let file = file(3_000);
    let mut harness = Harness::new(config("/a/file"));
    let result = harness.run_timed(|now, interest| match now < Instant::from_millis(1_000) {
        true => vec![(DELAY, Answer::Nack(NackReason::NoRoute))],
        false => honest(&file)(interest),
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn duplicate_nack_is_retransmitted_at_once() {
    let file = file(5_000);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    let mut nacked = BTreeMap::new();
    let result = harness.run(|interest| {
        let first = nacked.insert(interest.name.clone(), ()).is_none();
        match segment_of(interest) {
            Some(5) if first => vec![(DELAY, Answer::Nack(NackReason::Duplicate))],
            Some(20) if first => vec![(DELAY, Answer::Nack(NackReason::Congestion))],
            _ => answer(interest),
        }
    });
    assert_eq!(result, Ok(()));
    assert_eq!(harness.bytes(), file);
    assert_eq!((harness.summary.nacks, harness.summary.reductions.nack), (2, 1));
    assert_eq!(harness.summary.timeouts, 0);
}

#[test]
fn marks_reduce_the_window_once_a_flight() {
    let file = file(20_000);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    let marking = |interest: &Interest| -> Answers {
        let mark = matches!(segment_of(interest), Some(50..55));
        let marked = |answer| match answer {
            Answer::Data(data) if mark => Answer::Marked(data),
            other => other,
        };
        answer(interest).into_iter().map(|(delay, answer)| (delay, marked(answer))).collect()
    };
    assert_eq!(harness.run(marking), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert_eq!((harness.summary.marks, harness.summary.reductions.mark), (5, 1));
    assert_eq!(harness.summary.retransmissions, 0);
}

#[test]
fn returning_face_keeps_the_window() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    harness.at(Instant::from_millis(150), AppInput::FaceDown);
    harness.at(Instant::from_millis(9_150), AppInput::FaceUp { receive_budget: None });
    let before = harness.run_until(Instant::from_millis(9_000), &answer);
    assert_eq!(before, None, "the fetch does not end without an uplink");
    let asked = harness.asked.len();
    assert_eq!(harness.run_until(Instant::from_millis(9_149), &answer), None);
    assert_eq!(harness.asked.len(), asked, "no Interest is sent");
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert_eq!(harness.summary.timeouts, 0);
    assert_eq!(harness.summary.reductions.timeout, 0);
    assert!(harness.now > Instant::from_millis(9_150));
}

#[test]
fn timeouts_fire_at_the_check_interval() {
    let mut checked = config("/a/file/v=7");
    checked.options.rto = "constant(rto=33ms)".parse().expect("an estimator");
    checked.options.rto_check = Duration::from_millis(10);
    checked.options.retries = Retries(Some(1));
    let mut harness = Harness::new(checked);
    let result = harness.run(|_| Vec::new());
    assert!(result.is_err());
    assert_eq!(harness.now, Instant::from_millis(80));
}

#[test]
fn reported_loss_is_retransmitted_at_once() {
    for (reason, wireless) in [(NackReason::Loss, true), (NackReason::Mobility, false)] {
        let file = file(30_000);
        let answer = honest(&file);
        let mut harness = Harness::new(config("/a/file"));
        let mut reported = BTreeMap::new();
        let result = harness.run(|interest| {
            let first = reported.insert(interest.name.clone(), ()).is_none();
            match segment_of(interest) {
                Some(20..30) if first => vec![(DELAY, Answer::Nack(reason))],
                _ => answer(interest),
            }
        });
        assert_eq!(result, Ok(()));
        assert_eq!(harness.bytes(), file);
        let summary = &harness.summary;
        assert_eq!((summary.reductions.total(), summary.timeouts), (0, 0), "{reason}");
        let explained = summary.explained;
        assert_eq!(
            (explained.wireless, explained.mobility),
            if wireless { (10, 0) } else { (0, 10) }
        );
        assert_eq!((summary.congestion_losses(), summary.retransmissions), (0, 10));
    }
}

#[test]
fn reported_loss_is_repaired_without_retries() {
    for (reason, reports, passes) in [
        (NackReason::Mobility, 3, true),
        (NackReason::Loss, 3, true),
        (NackReason::Loss, 99, false),
    ] {
        let file = file(30_000);
        let answer = honest(&file);
        let without = with_options("/a/file/v=7", |it| it.retries = Retries(Some(0)));
        let (mut harness, mut reported) = (Harness::new(without), 0);
        let result = harness.run(|interest| match segment_of(interest) {
            Some(20) if reported < reports => {
                reported += 1;
                vec![(DELAY, Answer::Nack(reason))]
            }
            _ => answer(interest),
        });
        assert_eq!((result.is_ok(), reported.min(16)), (passes, reports.min(16)), "{result:?}");
    }
}

#[test]
fn lost_path_is_tried_once_per_round_trip() {
    let file = file(30_000);
    for rto in ["reconsidered", "constant(rto=1s)"] {
        let answer = honest(&file);
        let mut bounced_off = config("/a/file");
        bounced_off.options.rto = rto.parse().expect("an estimator");
        bounced_off.options.retries = Retries(None);
        let mut harness = Harness::new(bounced_off);
        let mut bounced = 0;
        let result = harness.run(|interest| match segment_of(interest) {
            Some(20) if bounced < 30 => {
                bounced += 1;
                vec![(Duration::from_millis(1), Answer::Nack(NackReason::Mobility))]
            }
            _ => answer(interest),
        });
        assert_eq!((result, bounced), (Ok(()), 30), "{rto}");
        assert_eq!(harness.summary.reductions.total(), 0, "{rto}");
        assert!(harness.now > Instant::from_millis(29 * 20), "{rto}: {:?}", harness.now);
    }
}

#[test]
fn spurious_nack_restores_no_window() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut config = config("/a/file/v=7");
    config.options.congestion = "aimd".parse().expect("a window");
    let mut harness = Harness::new(config);
    let mut asked = BTreeMap::new();
    let (nack, data) = (Duration::from_millis(180), Duration::from_millis(233));
    let result = harness.run(|interest| {
        let first = asked.insert(interest.name.clone(), ()).is_none();
        match segment_of(interest) {
            // The transmission is lost, and times out after 200 ms.
            Some(20) if first => Vec::new(),
            // A Nack arrives before that, and the retransmission follows after 50 ms, but the Data was in flight all
            // the time.
            Some(21) if first => {
                let late = Answer::Data(cut(&file, interest).expect("a segment"));
                vec![(nack, Answer::Nack(NackReason::NoRoute)), (data, late)]
            }
            _ => answer(interest),
        }
    });
    assert_eq!(result, Ok(()));
    let has = |wanted: Event| harness.events.iter().position(|(_, event)| *event == wanted);
    let reduced = has(Event::Reduced { cause: Signal::Timeout }).expect("a timeout");
    let spurious = Event::Spurious { segment: 21, cause: Signal::Nack };
    assert!(has(spurious).is_some_and(|place| place > reduced));
    let last = |events: &[(Instant, Event)]| {
        let mut windows = events.iter().filter_map(|(_, event)| match event {
            Event::Window { window, .. } => Some(*window),
            _ => None,
        });
        windows.next_back().expect("a window")
    };
    let (before, after) = (last(&harness.events[..reduced]), last(&harness.events));
    assert!(after < 0.6 * before, "{after} of {before}");
}

#[test]
fn lost_path_without_samples_backs_off() {
    let unlimited = with_options("/a/file/v=7", |it| it.retries = Retries(None));
    let mut harness = Harness::new(unlimited);
    let near = Duration::from_micros(50);
    let limit = Instant::from_millis(1_000);
    let result = harness.run_until(limit, |_| vec![(near, Answer::Nack(NackReason::Mobility))]);
    assert_eq!(result, None);
    // Two segments: twice at once, and then each 50 ms.
    assert_eq!(harness.asked.len(), 2 * (2 + 19));
}

#[test]
fn every_nack_is_charged_to_the_retries() {
    let file = file(30_000);
    let numbers = [0, 50, 100, 150, 200, 201, 7, 1 << 40];
    for reason in numbers.map(NackReason::from) {
        for name in ["/a/file/v=7", "/a/file"] {
            let config = with_options(name, |it| it.retries = Retries(Some(4)));
            let (mut harness, answer) = (Harness::new(config), honest(&file));
            let result = harness.run(|interest| match segment_of(interest) {
                Some(20) => vec![(DELAY, Answer::Nack(reason))],
                None if name == "/a/file" => vec![(DELAY, Answer::Nack(reason))],
                _ => answer(interest),
            });
            let case = format!("{reason} for {name}: {result:?} at {:?}", harness.now);
            assert!(matches!(result, Err(FetchError::Nacked { .. })), "{case}");
            let is_nacked = |it: &&Interest| segment_of(it).is_none_or(|it| it == 20);
            let nacked = harness.asked.iter().filter(is_nacked).count();
            // Discovery has two lanes, and an Interest that is not charged in each.
            assert!(nacked == 5 || name == "/a/file" && nacked <= 12, "{nacked}, {case}");
        }
    }
}

#[test]
fn unanswered_segment_is_left_out_with_holes() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut config = config("/a/file");
    (config.options.retries, config.options.leaves_holes) = (Retries(Some(2)), true);
    let mut harness = Harness::new(config);
    let result = harness.run(|interest| match segment_of(interest) {
        Some(20) => Vec::new(),
        _ => answer(interest),
    });
    assert_eq!(result, Ok(()));
    assert_eq!((harness.summary.left_out, harness.summary.segments), (1, 299));
    assert!(!harness.content.contains_key(&20) && harness.content.contains_key(&29));
    let asked = harness.asked.iter().filter(|it| segment_of(it) == Some(20)).count();
    assert_eq!(asked, 3);
    assert!(harness.events.iter().any(|it| matches!(it.1, Event::LeftOut { segment: 20 })));
}

#[test]
fn without_following_faces_only_timers_retransmit() {
    let run = |follows_faces: bool| {
        let file = file(30_000);
        let answer = honest(&file);
        let mut harness =
            Harness::new(with_options("/a/file", |it| it.follows_faces = follows_faces));
        let mut lost = 0;
        harness.run_until(Instant::from_millis(150), |interest| match segment_of(interest) {
            Some(segment) if segment >= 40 => {
                lost += 1;
                Vec::new()
            }
            _ => answer(interest),
        });
        harness.at(Instant::from_millis(150), AppInput::FaceDown);
        harness.at(Instant::from_millis(151), AppInput::FaceUp { receive_budget: None });
        assert_eq!(harness.run(&answer), Ok(()));
        assert_eq!(harness.bytes(), file);
        assert!(lost > 5);
        let summary = &harness.summary;
        (summary.timeouts == 0, summary.explained.mobility == lost, summary.explained.mobility == 0)
    };
    assert_eq!(run(false), (false, false, true));
    assert_eq!(run(true), (true, true, false));
}

#[test]
fn held_interests_are_not_retransmitted_while_down() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file"));
    let mut kept = Vec::new();
    let before =
        harness.run_until(Instant::from_millis(150), |interest| match segment_of(interest) {
            Some(segment) if segment >= 40 => {
                kept.push(interest.clone());
                Vec::new()
            }
            _ => answer(interest),
        });
    assert_eq!(before, None);
    assert!(!kept.is_empty());
    for interest in &kept {
        harness
            .at(Instant::from_millis(150), AppInput::Held { interest: Arc::new(interest.clone()) });
    }
    harness.at(Instant::from_millis(150), AppInput::FaceDown);
    harness.at(Instant::from_millis(900), AppInput::FaceUp { receive_budget: None });
    // The node sends the Interests that it kept, and Data arrives.
    for interest in &kept {
        for (delay, it) in answer(interest) {
            let Answer::Data(data) = it else { continue };
            let beside = Beside::default();
            let input = AppInput::Data { data, congestion_mark: 0, beside };
            harness.at(Instant::from_millis(900) + delay, input);
        }
    }
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    let summary = &harness.summary;
    assert_eq!((summary.retransmissions, summary.timeouts, summary.reductions.total()), (0, 0, 0));
    assert_eq!(summary.explained.mobility, kept.len() as u64);
}

#[test]
fn timeout_during_a_repair_is_undone() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut slow = config("/a/file");
    slow.options.rto = "constant(rto=60ms)".parse().expect("an estimator");
    let mut harness = Harness::new(slow);
    let mut seen = BTreeMap::new();
    let result = harness.run(|interest| {
        let first = seen.insert(interest.name.clone(), ()).is_none();
        let late = matches!(segment_of(interest), Some(20..25)) && first;
        let answers = answer(interest).into_iter().map(|(delay, it)| match it {
            Answer::Data(data) if late => {
                let reduction = Duration::from_millis(60);
                (delay + reduction, Answer::Prolonged(data, reduction))
            }
            it => (delay, it),
        });
        answers.collect()
    });
    assert_eq!(result, Ok(()));
    let summary = &harness.summary;
    assert_eq!((summary.timeouts, summary.explained.wireless), (5, 5));
    assert_eq!((summary.congestion_losses(), summary.spurious), (0, 0));
    assert!(summary.rtt.max() < Some(Duration::from_millis(90)));
}

/// A window of ten segments that counts each repair of a link as a reduction.
#[derive(Clone, Debug)]
struct Repaired;

impl CongestionControl for Repaired {
    fn window(&self) -> f64 {
        10.0
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn on_delivered(&mut self, _: Instant, _: &Delivered) {}

    fn on_loss(&mut self, _: Instant, _: &Loss) -> bool {
        false
    }

    fn on_repaired(&mut self, _: Instant, _: &Loss) -> bool {
        true
    }

    fn set_limit(&mut self, _: f64) {}
}

impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("repaired")
    }
}

#[test]
fn repairs_in_a_row_are_one() {
    let reductions = |is_prolonged: fn(u64) -> bool| {
        let file = file(30_000);
        let answer = honest(&file);
        let mut config = config("/a/file/v=7");
        config.options.congestion = Congestion::custom(Repaired).into();
        let mut harness = Harness::new(config);
        let result = harness.run(|interest| {
            let answers = answer(interest).into_iter().map(|(delay, it)| match it {
                Answer::Data(data) if segment_of(interest).is_some_and(is_prolonged) => {
                    (delay, Answer::Prolonged(data, Duration::from_millis(1)))
                }
                it => (delay, it),
            });
            answers.collect()
        });
        assert_eq!(result, Ok(()));
        harness.summary.reductions.total()
    };
    assert_eq!(reductions(|segment| segment % 20 == 3), 15, "a link loses some of them");
    assert_eq!(reductions(|segment| segment >= 30), 1, "the path is longer for all");
}

/// The windows before the reduction, before the undo, and after it.
fn windows_around_undo(harness: &Harness) -> [f64; 3] {
    let window = |(_, event): &(Instant, Event)| match event {
        Event::Window { window, .. } => Some(*window),
        _ => None,
    };
    let find = |wanted: Event| harness.events.iter().position(|(_, event)| *event == wanted);
    let reduced = find(Event::Reduced { cause: Signal::Order }).expect("a reduction");
    let undone = find(Event::Undone).expect("the reduction is undone");
    let last = |place: usize| harness.events[..place].iter().rev().find_map(window);
    let next = harness.events[undone..].iter().find_map(window);
    [last(reduced), last(undone), next].map(|window| window.expect("a window"))
}

#[test]
fn reported_cause_undoes_a_reordering_loss() {
    let (late, later) = (DELAY + Duration::from_millis(2), DELAY + Duration::from_millis(5));
    for reason in [Some(NackReason::Loss), Some(NackReason::Mobility), None] {
        let file = file(30_000);
        let answer = honest(&file);
        let mut config = config("/a/file/v=7");
        config.options.congestion =
            "aimd(init-cwnd=40,max-cwnd=40,beta=0.3)".parse().expect("a window");
        config.options.loss = "out-of-order(frt=3,repair=selective)".parse().expect("a detector");
        config.options.rto = "constant(rto=60s)".parse().expect("an estimator");
        let mut harness = Harness::new(config);
        let mut asked = BTreeMap::new();
        let result = harness.run(|interest| {
            let first = asked.insert(interest.name.clone(), ()).is_none();
            match (segment_of(interest), reason) {
                (Some(50..63), Some(reason)) if first => vec![(late, Answer::Nack(reason))],
                (Some(50..63), None) if first => {
                    let data = cut(&file, interest).expect("a segment");
                    vec![(late, Answer::Prolonged(data, Duration::from_millis(2)))]
                }
                // These keep the reduced window full until the reasons have arrived.
                (Some(66..80), _) => {
                    vec![(later, Answer::Data(cut(&file, interest).expect("a segment")))]
                }
                _ => answer(interest),
            }
        });
        assert_eq!(result, Ok(()));
        assert_eq!(harness.bytes(), file);
        let summary = &harness.summary;
        assert_eq!((summary.lost_by_order, summary.timeouts), (13, 0), "{reason:?}");
        assert_eq!((summary.explained.judged, summary.congestion_losses()), (13, 0), "{reason:?}");
        assert_eq!((summary.reductions.total(), summary.undone), (1, 1), "{reason:?}");
        assert_eq!(windows_around_undo(&harness), [40.0, 12.0, 40.0], "{reason:?}");
        let lost = if reason.is_some() { 13 } else { 0 };
        assert_eq!(summary.retransmissions, lost, "{reason:?}");
    }
}

/// Fetches 120 segments as `recoup` with `rack`. Each answer occupies the link for 55 ms, as 1,381 bytes do at 200
/// kbit/s. The first answer to segment `lost` is lost.
fn over_a_slow_link(lost: Option<u64>) -> Harness {
    let (file, mut free, mut left) = (file(12_000), Instant::ZERO, lost);
    let mut harness = Harness::new(with_options("/a/file/v=7", |it| {
        it.congestion = "recoup".parse().expect("a window");
        it.loss = "rack".parse().expect("a detector");
    }));
    let result = harness.run_timed(|now, interest| {
        free = free.max(now + DELAY) + Duration::from_millis(55);
        let is_lost = left.is_some() && segment_of(interest) == left;
        left = left.filter(|_| !is_lost);
        let data = cut(&file, interest).filter(|_| !is_lost);
        data.into_iter().map(|data| (free.since(now), Answer::Data(data))).collect()
    });
    assert_eq!((result, harness.bytes()), (Ok(()), file));
    harness
}

#[test]
fn queue_of_earlier_segments_is_no_timeout() {
    assert_eq!(over_a_slow_link(None).summary.retransmissions, 0);
}

#[test]
fn loss_on_a_slow_link_is_repaired() {
    for lost in [0, 7, 60, 119] {
        let summary = over_a_slow_link(Some(lost)).summary;
        assert!((1..=2).contains(&summary.retransmissions), "{lost}: {}", summary.retransmissions);
    }
}
