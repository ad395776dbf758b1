//! Adaptive soft timeouts of pending Interests.
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::options::NodeConfig;

/// Two consumers at nodes 0 and 1, a router, and a producer 30 ms from it; the Interests of the router, by time.
struct Stand {
    tester: Tester,
    consumers: [Probe; 2],
    producer: Probe,
}

impl Stand {
    fn new(suppression: &str) -> Self {
        let mut tester = Tester::new(4, |_| {
            NodeConfig::deterministic(0).with(|it| it.suppression = suppression.parse().unwrap())
        });
        for (node, next, delay_ms) in [(0, 2, 1), (1, 2, 1), (2, 3, 30)] {
            tester.link(node, next, delay_ms);
            tester.route(node, "/", next);
        }
        let consumers = [Probe::default(), Probe::default()];
        let producer = Probe::new(Mode::Answer);
        tester.attach(0, &consumers[0], &[]);
        tester.attach(1, &consumers[1], &[]);
        tester.attach(3, &producer, &["/p"]);
        Self { tester, consumers, producer }
    }

    /// Both consumers request one name, the second one later; returns the number of Interests at the producer.
    fn ask_twice(&mut self, at: u64, later: u64, uri: &str) -> usize {
        self.tester.run(at);
        self.consumers[0].ask(uri, at as u32);
        self.tester.run(at + later);
        self.consumers[1].ask(uri, at as u32 + 1);
        self.tester.run(at + 500);
        self.producer.asked().len()
    }
}

#[test]
fn interest_suppresses_others_for_one_round_trip() {
    let mut fixed = Stand::new("soft-hard(soft=20ms)");
    assert_eq!(fixed.ask_twice(0, 40, "/p/a"), 2, "60 ms are longer than 20");
    let mut auto = Stand::new("soft-hard(soft=auto)");
    assert_eq!(auto.ask_twice(0, 40, "/p/a"), 2, "before any sample it is 20 ms as well");
    // The first answer was to a retransmitted Interest: no sample.
    assert_eq!(auto.ask_twice(1_000, 10, "/p/b"), 1);
    for round in 2..6 {
        assert_eq!(auto.ask_twice(1_000 * round, 40, &format!("/p/{round}")), 1, "{round}");
    }
}

#[test]
fn unanswered_interest_stops_suppressing() {
    let mut auto = Stand::new("soft-hard(soft=auto)");
    for round in 0..4 {
        auto.ask_twice(1_000 * round, 10, &format!("/p/{round}"));
    }
    auto.tester.cut(3, 2);
    assert_eq!(auto.ask_twice(10_000, 300, "/p/lost"), 2, "60 ms and some, not 4 s");
}
