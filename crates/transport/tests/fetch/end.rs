//! End of an object, ranges, and order of delivery.
use crate::harness::{
    Answer, Answers, DELAY, Harness, SEGMENT, config, file, honest, name, segment_of,
};
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, Application};
use recoup_transport::fetch::{Delivery, FetchError};
use recoup_transport::time::{Duration, Instant};

#[test]
fn an_end_that_moves_forward_is_followed() {
    let file = file(2_000);
    let mut harness = Harness::new(config("/a/file/v=7"));
    let moving = |interest: &Interest| -> Answers {
        let Some(segment) = segment_of(interest).filter(|segment| *segment < 20) else {
            return Vec::new();
        };
        let at = segment as usize * SEGMENT;
        let end = if segment < 5 { 5 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(&file[at..at + SEGMENT], &DigestSigner)))]
    };
    assert_eq!(harness.run(moving), Ok(()));
    assert_eq!(harness.bytes(), file);
}

#[test]
fn end_before_received_segments_is_an_error() {
    let file = file(2_000);
    let mut harness = Harness::new(config("/a/file/v=7"));
    let result = harness.run(|interest| {
        let Some(segment) = segment_of(interest).filter(|s| *s < 20) else {
            return Vec::new();
        };
        let at = segment as usize * SEGMENT;
        let end = if segment == 12 { 3 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(&file[at..at + SEGMENT], &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::EndMovedBack { last: 3 }));
}

#[test]
fn a_range_brings_its_segments_and_no_others() {
    let file = file(2_000);
    let mut range = config("/a/file");
    (range.first, range.last) = (3, Some(7));
    let mut harness = Harness::new(range);
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.bytes(), file[300..800]);

    let mut beyond = config("/a/file");
    beyond.first = 50;
    let mut harness = Harness::new(beyond);
    let result = harness.run(honest(&file));
    assert_eq!(result, Err(FetchError::RangeBeyondEnd { first: 50, last: 19 }));
}

#[test]
fn held_segments_are_not_requested() {
    let file = file(2_000);
    let mut resumed = config("/a/file/v=7");
    resumed.held = vec![0..6, 8..19];
    let mut harness = Harness::new(resumed);
    assert_eq!(harness.run(honest(&file)), Ok(()));
    let mut asked: Vec<_> = harness.asked.iter().filter_map(segment_of).collect();
    asked.sort_unstable();
    asked.retain(|segment| *segment < 20);
    assert_eq!(asked, [6, 7, 19]);
}

#[test]
fn held_object_with_known_end_needs_no_interest() {
    for range in [None, Some(9)] {
        let mut resumed = config("/a/file/v=7");
        resumed.held.push(0..range.map_or(20, |last| last + 1));
        (resumed.last, resumed.known_last) = (range, Some(19));
        let mut harness = Harness::new(resumed);
        assert_eq!(harness.run(|interest: &_| panic!("{interest:?}")), Ok(()));
    }
}

#[test]
fn segments_beyond_a_known_end_are_not_requested() {
    let file = file(2_000);
    let mut resumed = config("/a/file/v=7");
    (resumed.held, resumed.known_last) = (vec![0..16, 17..18], Some(19));
    let mut harness = Harness::new(resumed);
    assert_eq!(harness.run(honest(&file)), Ok(()));
    let asked: Vec<_> = harness.asked.iter().filter_map(segment_of).collect();
    assert_eq!(asked, [16, 18, 19]);
}

#[test]
fn more_may_be_held_than_requested() {
    let file = file(2_000);
    let mut ranged = config("/a/file/v=7");
    (ranged.first, ranged.last, ranged.held) = (2, Some(9), vec![0..4, 7..15]);
    let mut harness = Harness::new(ranged);
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.order, [4, 5, 6]);
}

#[test]
fn slow_reader_stops_the_window() {
    let file = file(50_000);
    let mut ordered = config("/a/file");
    ordered.delivery = Delivery::Ordered { limit_bytes: 2_000 };
    let mut harness = Harness::new(ordered);
    harness.reads = false;
    assert_eq!(harness.run_until(Instant::from_millis(20_000), honest(&file)), None);
    let handed: usize = harness.content.values().map(Bytes::len).sum();
    assert!((1_500..=2_000).contains(&handed), "{handed} bytes were delivered");
    harness.reads = true;
    harness.fetch.handle(harness.now, AppInput::Consumed { bytes: handed as u64 });
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(harness.order.is_sorted());
}

#[test]
fn fetch_ends_when_its_time_is_over() {
    let file = file(5_000);
    let mut slow = config("/a/file/v=7");
    slow.options.congestion = "fixed(window=1)".parse().unwrap();
    slow.options.max_time = Some(Duration::from_millis(500));
    let mut harness = Harness::new(slow);
    let result = harness.run(honest(&file));
    assert_eq!(result, Err(FetchError::TooSlow(Duration::from_millis(500))));
    assert_eq!(harness.now, Instant::from_millis(500));
    assert!(!harness.content.is_empty());
}

#[test]
fn idle_reader_does_not_end_the_fetch() {
    let file = file(5_000);
    let mut ordered = config("/a/file/v=7");
    ordered.delivery = Delivery::Ordered { limit_bytes: 2_000 };
    ordered.options.no_progress = Duration::from_secs(5);
    let mut harness = Harness::new(ordered);
    harness.reads = false;
    assert_eq!(harness.run_until(Instant::from_millis(60_000), honest(&file)), None);
    assert_eq!(harness.fetch.deadline(), None, "it is the reader's turn");
    harness.now = Instant::from_millis(60_000);
    let handed: usize = harness.content.values().map(Bytes::len).sum();
    harness.fetch.handle(harness.now, AppInput::Consumed { bytes: handed as u64 });
    let result = harness.run(|_| Vec::new());
    assert_eq!(result, Err(FetchError::NoProgress(Duration::from_secs(5))));
    assert_eq!(harness.now, Instant::from_millis(65_000));
}

#[test]
fn nack_ends_an_object_of_unknown_end() {
    let file = file(1_000);
    let mut harness = Harness::new(config("/a/file/v=7"));
    let result = harness.run(|interest| {
        let data = match segment_of(interest) {
            Some(segment) if segment < 10 => {
                let at = segment as usize * SEGMENT;
                DataBuilder::new(&interest.name).build(&file[at..at + SEGMENT], &DigestSigner)
            }
            _ => {
                let builder = DataBuilder::new(&interest.name).content_type(ContentType::Nack);
                builder.build(b"", &DigestSigner)
            }
        };
        vec![(DELAY, Answer::Data(data))]
    });
    // Without a FinalBlockId a whole object cannot be distinguished from a truncated one: that is an error.
    assert_eq!(result, Err(FetchError::NotFound(name("/a/file/v=7/seg=10"))));
    assert_eq!(harness.bytes(), file);
}

/// Ten segments, of which only the last has a FinalBlockId; the producer sends a Nack for later ones.
fn shy_end(interest: &Interest) -> Option<Data> {
    let segment = segment_of(interest)?;
    let mut builder = DataBuilder::new(&interest.name);
    match segment {
        0..9 => {}
        9 => builder = builder.final_block(Convention::Typed.segment(9)),
        _ => builder = builder.content_type(ContentType::Nack),
    }
    Some(builder.build(b"content", &DigestSigner))
}

#[test]
fn early_nack_beyond_the_end_is_harmless() {
    let mut harness = Harness::new(config("/a/file/v=7"));
    let result = harness.run(|interest| {
        let late = if segment_of(interest) == Some(9) { DELAY * 2 } else { DELAY };
        shy_end(interest).into_iter().map(|data| (late, Answer::Data(data))).collect()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(harness.content.len(), 10);
}

#[test]
fn lost_face_keeps_nacks_beyond_the_end_open() {
    let mut harness = Harness::new(config("/a/file/v=7"));
    let answer = |interest: &Interest| -> Answers {
        shy_end(interest).into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    let but_the_last = |interest: &Interest| match segment_of(interest) {
        Some(9) => Vec::new(),
        _ => answer(interest),
    };
    assert_eq!(harness.run_until(Instant::from_millis(150), but_the_last), None);
    assert_eq!(harness.content.len(), 9);
    harness.at(Instant::from_millis(151), AppInput::FaceDown);
    harness.at(Instant::from_millis(400), AppInput::FaceUp { receive_budget: None });
    assert_eq!(harness.run(answer), Ok(()));
}

#[test]
fn end_moving_back_is_an_error_with_holes() {
    let mut harness = Harness::new(config("/a/file/v=7"));
    let result = harness.run(|interest| {
        let Some(segment @ 1..20) = segment_of(interest) else {
            return Vec::new();
        };
        let end = if segment == 12 { 3 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(b"content", &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::EndMovedBack { last: 3 }));
}

#[test]
fn greatest_segment_numbers_are_valid() {
    let mut far = config("/a/file/v=7");
    far.first = u64::MAX - 2;
    let mut harness = Harness::new(far);
    let result = harness.run(|interest| {
        let last = Convention::Typed.segment(u64::MAX - 1);
        let builder = DataBuilder::new(&interest.name).final_block(last);
        vec![(DELAY, Answer::Data(builder.build(b"content", &DigestSigner)))]
    });
    assert_eq!((result, harness.content.len()), (Ok(()), 2));

    let mut farthest = config("/a/file/v=7");
    farthest.first = u64::MAX;
    let result = Harness::new(farthest).run(|_| Vec::new());
    assert!(matches!(result, Err(FetchError::NoProgress(_))), "{result:?}");
}

#[test]
fn empty_segments_are_no_progress() {
    for delivery in [Delivery::Unordered, Delivery::Ordered { limit_bytes: 1 << 20 }] {
        let mut endless = config("/a/file/v=7");
        (endless.delivery, endless.options.no_progress) = (delivery, Duration::from_secs(5));
        let mut harness = Harness::new(endless);
        let result = harness.run(|interest| {
            // Each answer takes longer, so that the run stays short.
            let late = DELAY + DELAY * (segment_of(interest).unwrap_or_default() as u32 / 20);
            let data = DataBuilder::new(&interest.name).build(b"", &DigestSigner);
            vec![(late, Answer::Data(data))]
        });
        assert_eq!(result, Err(FetchError::NoProgress(Duration::from_secs(5))));
        assert_eq!(harness.now, Instant::from_millis(5_000));
    }
}

#[test]
fn an_empty_object_arrives() {
    let mut harness = Harness::new(config("/a/file"));
    assert_eq!(harness.run(honest(&[])), Ok(()));
    assert_eq!((harness.content.len(), harness.bytes()), (1, Vec::new()));
}
