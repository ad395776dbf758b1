//! Timers that want to hear of nodes on the way: what fetches announce, and what they learn from records.
use crate::world::{Answer, Answers, World, config, file, honest, name, segment_of};
use recoup_packet::interest::Interest;
use recoup_packet::lp::anticipation::Record;
use recoup_transport::event::Event;
use recoup_transport::fetch::FetchConfig;
use recoup_transport::time::Duration;
use recoup_transport::{congestion, rto};

fn predicting(names: usize) -> FetchConfig {
    let mut config = config("/a/file/v=7");
    config.rto = rto::parse(&format!("predictive(names={names},init=1s)")).expect("a timer");
    config.congestion = congestion::parse("fixed(window=1)").expect("a window");
    config
}

#[test]
fn the_segments_that_come_next_are_announced_up_to_the_end() {
    let file = file(500);
    let mut world = World::new(FetchConfig { last: Some(4), ..predicting(3) });
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.bytes(), file);
    let segment = |number: &u64| name(&format!("/a/file/v=7/seg={number}"));
    let announced: Vec<_> = [(0, vec![1, 2, 3]), (1, vec![2, 3, 4]), (2, vec![3, 4]), (3, vec![4])]
        .map(|(asked, next)| (segment(&asked), next.iter().map(segment).collect()))
        .into();
    assert_eq!(world.announced, announced);
}

#[test]
fn other_timers_announce_nothing() {
    let file = file(500);
    let mut world = World::new(config("/a/file/v=7"));
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert!(world.announced.is_empty());
}

#[test]
fn what_a_node_on_the_way_keeps_is_expected_of_it() {
    let file = file(500);
    let honest = honest(&file);
    let mut world = World::new(FetchConfig { last: Some(4), ..predicting(3) });
    // The first answer comes from afar; a node a millisecond away has segment 1, not 2.
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
    assert_eq!(world.run(answers), Ok(()));
    let timeout = |wanted: u64| {
        let sent = world.events.iter().find_map(|(_, event)| match event {
            Event::Sent { segment, transmissions: 1, rto } if *segment == wanted => Some(*rto),
            _ => None,
        });
        Duration::from(sent.expect("it was asked for"))
    };
    assert_eq!(timeout(0), Duration::from_secs(1), "nothing is known");
    assert!(timeout(1) < Duration::from_millis(10), "{:?}", timeout(1));
    assert!(timeout(2) > timeout(1), "{:?}", timeout(2));
}

#[test]
fn announcements_end_where_numbers_do() {
    let first = u64::MAX - 2;
    let mut world = World::new(FetchConfig { first, retries: Some(0), ..predicting(5) });
    assert!(world.run(|_: &Interest| Answers::new()).is_err());
    let segment = |number: u64| name(&format!("/a/file/v=7/seg={number}"));
    let next = [u64::MAX - 1, u64::MAX].map(segment).to_vec();
    assert_eq!(world.announced, [(segment(first), next)]);
}
