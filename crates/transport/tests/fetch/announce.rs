//! Timers with records of nodes on the path: announcements of fetches, and predictions from records.
use crate::harness::{Answer, Answers, Harness, config, file, honest, name, segment_of};
use recoup_packet::interest::Interest;
use recoup_packet::lp::anticipation::Record;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchConfig, Retries};
use recoup_transport::time::Duration;

fn predicting(names: usize) -> FetchConfig {
    let mut config = config("/a/file/v=7");
    config.options.rto = format!("predictive(names={names},init=1s)").parse().expect("a timer");
    config.options.congestion = "fixed(window=1)".parse().expect("a window");
    config
}

#[test]
fn next_segments_are_announced_up_to_the_end() {
    let file = file(500);
    let mut harness = Harness::new(FetchConfig { last: Some(4), ..predicting(3) });
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.bytes(), file);
    let segment = |number: &u64| name(&format!("/a/file/v=7/seg={number}"));
    let announced: Vec<_> = [(0, vec![1, 2, 3]), (1, vec![2, 3, 4]), (2, vec![3, 4]), (3, vec![4])]
        .map(|(asked, next)| (segment(&asked), next.iter().map(segment).collect()))
        .into();
    assert_eq!(harness.announced, announced);
}

#[test]
fn other_timers_announce_nothing() {
    let file = file(500);
    let mut harness = Harness::new(config("/a/file/v=7"));
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert!(harness.announced.is_empty());
}

#[test]
fn stored_segment_is_predicted_from_its_node() {
    let file = file(500);
    let honest = honest(&file);
    let mut harness = Harness::new(FetchConfig { last: Some(4), ..predicting(3) });
    // The first answer comes from a far node; a node a millisecond away has segment 1, not 2.
    let answers = |interest: &Interest| -> Answers {
        let answers = honest(interest).into_iter();
        let recorded = |(delay, answer): (Duration, Answer)| match answer {
            Answer::Data(data) if segment_of(interest) == Some(0) => {
                let beyond = delay - Duration::from_millis(1);
                let time_nanos = beyond.as_nanos() as u64;
                let record = Record { node: 7, holds: 1, is_origin: false, time_nanos };
                (delay, Answer::Recorded(data, record))
            }
            answer => (delay, answer),
        };
        answers.map(recorded).collect()
    };
    assert_eq!(harness.run(answers), Ok(()));
    let timeout = |wanted: u64| {
        let sent = harness.events.iter().find_map(|(_, event)| match event {
            Event::Sent { segment, transmissions: 1, rto } if *segment == wanted => Some(*rto),
            _ => None,
        });
        Duration::from(sent.expect("it was requested"))
    };
    assert_eq!(timeout(0), Duration::from_secs(1), "nothing is known");
    assert!(timeout(1) < Duration::from_millis(10), "{:?}", timeout(1));
    assert!(timeout(2) > timeout(1), "{:?}", timeout(2));
}

#[test]
fn announcements_end_where_numbers_do() {
    let first = u64::MAX - 2;
    let mut config = FetchConfig { first, ..predicting(5) };
    config.options.retries = Retries(Some(0));
    let mut harness = Harness::new(config);
    assert!(harness.run(|_: &Interest| Answers::new()).is_err());
    let segment = |number: u64| name(&format!("/a/file/v=7/seg={number}"));
    let next = [u64::MAX - 1, u64::MAX].map(segment).to_vec();
    assert_eq!(harness.announced, [(segment(first), next)]);
}
