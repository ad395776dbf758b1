//! When congestion is marked, by hand.
use crate::line::{add, channel, line, produce, request, run};
use recoup_forwarder::event::NodeEvent;
use recoup_sim::network::{Arrival, LinkOptions, NodeId, Popularity};

/// Answers of 1,000 bytes, 1.5 in a millisecond, on a link that takes one.
fn marks(marking: &str, requests: u64) -> (Vec<f64>, u64) {
    let marking = marking.parse().unwrap();
    let back = LinkOptions { marking, ..channel(8_000_000, 1) };
    let mut network = line(&[(channel(0, 0), back)]);
    add(&mut network, "producer", 1, produce());
    let arrival = Arrival::Constant(1_500.0);
    add(&mut network, "consumer", 0, request(requests, arrival, Popularity::Sequential, 1 << 40));
    let (notes, _) = run(&network, 1);
    assert_eq!(notes.got.len() as u64, requests);
    let made = |(at, node, event): &(recoup_transport::time::Instant, NodeId, NodeEvent)| {
        let marked = matches!(event, NodeEvent::Marked { .. }) && *node == NodeId(1);
        marked.then(|| at.as_secs_f64())
    };
    (notes.events.iter().filter_map(made).collect(), notes.marked)
}

#[test]
fn a_standing_queue_is_marked_ever_more_often() {
    let (marks, arrived) = marks("codel(threshold=20000,interval=100ms)", 1_500);
    // Answer i comes after 2i/3 ms, when as many have left as milliseconds have passed, and one is
    // being sent: more than 20 wait in front of answer 64.
    let mut due = 64.0 / 1_500.0 + 0.1;
    assert_eq!(marks.len() as u64, arrived);
    assert!(marks.len() > 20, "{marks:?}");
    for (n, mark) in (1..).zip(&marks) {
        let late = mark - due;
        assert!((-0.0015..0.0015).contains(&late), "mark {n} at {mark}, due at {due}");
        due += 0.1 / f64::from(n + 1).sqrt();
    }
}

#[test]
fn queue_below_the_threshold_is_never_marked() {
    // A third of 300 answers waits at most.
    assert_eq!(marks("codel(threshold=101000,interval=100ms)", 300), (Vec::new(), 0));
}

#[test]
fn pie_marks_a_delay_and_red_a_length() {
    // Answer 200 is sent after 133 ms, inside a burst. At answer 90, 30 are queued, and the mean is shorter.
    for (marking, until, since) in [("pie", 200, 0.15), ("red", 90, 0.2)] {
        assert_eq!(marks(marking, until), (Vec::new(), 0), "{marking}");
        let (marks, arrived) = marks(marking, 3_000);
        assert_eq!(marks.len() as u64, arrived, "{marking}");
        assert!(marks.len() > 20 && marks[0] > since, "{marking}: {marks:?}");
        let gaps: Vec<_> = marks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps[0] > 2.0 * gaps[gaps.len() - 1], "{marking}: {gaps:?}");
    }
}
