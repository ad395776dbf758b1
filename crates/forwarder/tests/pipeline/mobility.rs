//! The rules of MLDR (Carofiglio et al. 2016, section 3.2), one for each test.
use crate::bench::{Bench, question};
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::face::FaceId;
use recoup_forwarder::node::{Input, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::interest::DEFAULT_LIFETIME;
use recoup_packet::lp::field;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Duration;

fn options(mobility: &str) -> NodeConfig {
    NodeConfig::deterministic(0).with(|it| it.mobility = mobility.parse().unwrap())
}

/// A consumer (0), a router (1), two access points (2, 3), and a producer (4) at the first of them. Each hop takes 5
/// ms.
struct Walk {
    tester: Tester,
    consumer: Probe,
    producer: Probe,
}

impl Walk {
    fn new(mobility: &str, strategy: &str) -> Self {
        let make = |_| options(mobility).with(|it| it.strategy = strategy.parse().unwrap());
        let mut tester = Tester::new(5, make);
        for (one, other) in [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)] {
            tester.link(one, other, 5);
        }
        for (node, to) in [(0, 1), (1, 2), (2, 4), (3, 4)] {
            tester.route(node, "/a", to);
        }
        let (consumer, producer) = (Probe::default(), Probe::default());
        tester.attach(0, &consumer, &[]);
        tester.attach(4, &producer, &["/a"]);
        consumer.received();
        Self { tester, consumer, producer }
    }

    /// Cuts the link of the producer, without notification.
    fn lose_sight(&mut self) {
        self.tester.cut(2, 4);
        self.tester.cut(4, 2);
    }

    /// Changes the routes to the new location of the producer.
    fn reroute(&mut self) {
        self.tester.route(1, "/a", 3);
        self.tester.unroute(1, "/a", 2);
        self.tester.route(2, "/a", 1);
        self.tester.unroute(2, "/a", 4);
    }

    fn fetch(&mut self, until: u64) -> Vec<String> {
        self.tester.run(until);
        self.consumer.received()
    }
}

#[test]
fn interests_follow_a_producer_that_moved() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    assert_eq!(walk.fetch(50), [""; 0]);
    // First the routes, then the old access point notices: it returns the Interest, and the router reroutes it.
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["80 ms: data /a/b"]);
    let (interest, _) = walk.producer.asked().remove(0);
    assert_ne!(interest.nonce, Some(1), "a fresh nonce");
    assert_eq!(interest.lifetime, Some(Duration::from_millis(4_000 + 5 - 55)), "what is left");
}

#[test]
fn data_carries_the_rtt_reduction() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.reroute();
    walk.tester.down(2, 4);
    walk.fetch(1_000);
    let fields = walk.consumer.beside().remove(0).fields.unwrap();
    // At the router the Interest left at 5 ms for the first time, and at 55 ms for the last.
    assert_eq!(field::time(&fields, field::RTT_REDUCTION), Some(Duration::from_millis(50)));
}

#[test]
fn interest_returns_to_the_consumer_without_alternative() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(70), ["60 ms: nack /a/b: mobility"]);
    walk.reroute();
    walk.consumer.ask("/a/b", 2);
    assert_eq!(walk.fetch(1_000), ["100 ms: data /a/b"], "retransmitted, not aggregated");
}

#[test]
fn eln_reports_without_rerouting() {
    let mut walk = Walk::new("eln", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["60 ms: nack /a/b: mobility"]);
}

#[test]
fn without_mobility_only_the_timer_helps() {
    let mut walk = Walk::new("off", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(10_000), [""; 0]);
}

#[test]
fn held_interest_leaves_when_the_face_returns() {
    for again in [false, true] {
        let mut walk = Walk::new("mldr", "best-route");
        walk.tester.cut(0, 1);
        walk.consumer.ask("/a/b", 1);
        assert_eq!(walk.fetch(20), [""; 0]);
        walk.tester.down(0, 1);
        assert_eq!(walk.fetch(100), ["20 ms: held /a/b", "20 ms: down"]);
        if again {
            // A second hand-over on the same face: faces tried before may be tried again.
            walk.tester.up(0, 1, 5);
            walk.tester.cut(0, 1);
            walk.fetch(110);
            walk.tester.down(0, 1);
            walk.fetch(120);
        }
        walk.tester.up(0, 1, 5);
        let received = walk.fetch(2_000);
        let at = if again { 120 } else { 100 };
        assert_eq!(received, [format!("{at} ms: up"), format!("{} ms: data /a/b", at + 30)]);
        assert_eq!(walk.producer.asked().len(), 1);
    }
}

#[test]
fn held_interest_ends_with_its_lifetime() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.tester.cut(0, 1);
    walk.consumer.ask("/a/b", 1);
    walk.fetch(20);
    walk.tester.down(0, 1);
    walk.fetch(5_000);
    assert_eq!(walk.tester.node(0).pit_len(), 0);
    walk.tester.up(0, 1, 5);
    assert_eq!(walk.fetch(6_000), ["5000 ms: up"]);
    assert_eq!(walk.producer.asked().len(), 0);
}

#[test]
fn lost_face_is_ignored_beside_another_upstream() {
    let mut walk = Walk::new("mldr", "multicast");
    walk.tester.route(1, "/a", 3);
    // The second path is slow.
    walk.tester.restore(3, 4, 200);
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["225 ms: data /a/b"]);
    assert_eq!(walk.producer.asked().len(), 1, "nothing was sent on");
}

#[test]
fn short_residual_lifetime_prevents_rerouting() {
    let mut walk = Walk::new("mldr(residual=0.5)", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(2_100);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(5_000), ["2110 ms: nack /a/b: mobility"]);
}

#[test]
fn interest_is_rerouted_once_per_face() {
    let mut bench = Bench::new(4, options("mldr"));
    bench.route("/a", 3, 2);
    bench.route("/a", 4, 3);
    assert_eq!(bench.interest(1, "/a/b", 1), ["2 < interest /a/b #1"]);
    let nonce = |lines: &[String]| {
        let line = lines.first().expect("a line");
        line.split('#').nth(1).and_then(|it| it.split(' ').next()?.parse().ok()).expect("a nonce")
    };
    let third = bench.nack(2, "/a/b", 1, NackReason::Mobility);
    assert!(third[0].starts_with("3 < interest /a/b"), "{third:?}");
    let fourth = bench.nack(3, "/a/b", nonce(&third), NackReason::Mobility);
    assert!(fourth[0].starts_with("4 < interest /a/b"), "{fourth:?}");
    let back = bench.nack(4, "/a/b", nonce(&fourth), NackReason::Mobility);
    assert_eq!(back, ["1 < nack /a/b #1: mobility"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn unmatched_m_flag_is_dropped() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.route("/a", 3, 2);
    bench.interest(1, "/a/b", 1);
    let dropped = |face| [format!("drop at {face}: nack-unmatched")];
    assert_eq!(bench.nack(3, "/a/b", 1, NackReason::Mobility), dropped(3));
    assert_eq!(bench.nack(2, "/a/b", 7, NackReason::Mobility), dropped(2));
    assert_eq!(bench.nack(2, "/a/c", 1, NackReason::Mobility), dropped(2));
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
    assert_eq!(bench.nack(2, "/a/b", 1, NackReason::Mobility), dropped(2));
}

#[test]
fn name_without_route_is_no_mobility() {
    let mut bench = Bench::new(3, options("mldr"));
    let nacked = bench.interest(1, "/typo", 1);
    assert_eq!(nacked, ["1 < nack /typo #1: no route", "drop at 1: no-route"]);
}

#[test]
fn interest_returns_if_all_faces_are_down() {
    let mut bench = Bench::new(3, options("mldr(lost=0s)"));
    bench.feed(Input::FaceDown { face: FaceId(2) });
    let flagged = bench.interest(1, "/a/b", 1);
    assert_eq!(flagged, ["1 < nack /a/b #1: mobility", "drop at 1: way-lost"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn lost_route_is_reported_for_two_seconds() {
    let mut bench = Bench::new(3, options("mldr"));
    let prefix = "/a".parse().unwrap();
    bench.feed(Input::Route(RouteChange { prefix, face: FaceId(2), cost: None }));
    let asked = |bench: &mut Bench, nonce| {
        let mut lines = bench.interest(1, "/a/b", nonce);
        lines.sort();
        lines.remove(0)
    };
    assert_eq!(asked(&mut bench, 1), "1 < nack /a/b #1: mobility");
    // A route that leads back downstream changes nothing.
    bench.route("/a", 1, 1);
    bench.pass(1_999);
    assert_eq!(asked(&mut bench, 2), "1 < nack /a/b #2: mobility");
    bench.pass(2_000);
    assert_eq!(asked(&mut bench, 3), "1 < nack /a/b #3: no route");
}

#[test]
fn all_downstream_faces_get_the_nack() {
    let mut bench = Bench::new(4, options("mldr"));
    bench.interest(1, "/a/b", 1);
    bench.interest(3, "/a/b", 2);
    let received = bench.feed(Input::FaceDown { face: FaceId(2) });
    assert_eq!(received, ["1 < nack /a/b #1: mobility", "3 < nack /a/b #2: mobility"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn lost_face_affects_its_own_entries_only() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.route("/b", 3, 1);
    for number in 0..1_000 {
        bench.interest(1, &format!("/a/{number}"), number);
        bench.interest(1, &format!("/b/{number}"), number);
        // Most are answered at once.
        if number % 10 != 0 {
            bench.data(2, &format!("/a/{number}"));
            bench.data(3, &format!("/b/{number}"));
        }
    }
    let received = bench.feed(Input::FaceDown { face: FaceId(2) });
    assert_eq!(received.len(), 100);
    assert!(received.iter().all(|line| line.starts_with("1 < nack /a/")), "{received:?}");
    assert_eq!(bench.node.pit_len(), 100);
}

#[test]
fn in_records_of_a_lost_face_are_removed() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.interest(3, "/a/b", 1);
    assert_eq!(bench.feed(Input::FaceDown { face: FaceId(3) }), ["drop at 3: no-face"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn loss_notice_needs_no_nonce() {
    for mobility in ["off", "mldr"] {
        let mut bench = Bench::new(3, options(mobility));
        bench.route("/a", 3, 2);
        bench.interest(1, "/a/b", 1);
        let received = bench.nack(2, "/a/b", 77, NackReason::Loss);
        assert_eq!(received, ["1 < nack /a/b #1: loss"], "{mobility}: not sent on by another face");
        assert_eq!(bench.interest(1, "/a/b", 2), ["2 < interest /a/b #2"], "asked at once");
        assert_eq!(bench.nack(3, "/a/b", 2, NackReason::Loss), ["drop at 3: nack-unmatched"]);
    }
}

#[test]
fn nack_of_a_producer_is_passed_on() {
    let mut walk = Walk::new("mldr", "best-route");
    let probe = Probe::new(Mode::Nack(NackReason::NoRoute));
    walk.tester.attach(4, &probe, &["/a/no"]);
    walk.consumer.ask("/a/no/x", 1);
    assert_eq!(walk.fetch(100), ["30 ms: nack /a/no/x: no route"]);
    assert_eq!(DEFAULT_LIFETIME, Duration::from_secs(4), "what the other tests reckon with");
}

#[test]
fn rerouted_interest_does_not_pass_twice() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.interest(1, "/a/b", 1);
    assert_eq!(
        bench.nack(2, "/a/b", 1, NackReason::Mobility),
        ["1 < nack /a/b #1: mobility"],
        "nothing leads on from here"
    );
    let again = |bench: &mut Bench, original, nonce| {
        let mut lines = bench.ask(3, question("/a/b", nonce), |extra| {
            field::set_original_nonce(&mut extra.carried, original);
        });
        lines.sort();
        lines
    };
    let back = ["3 < nack /a/b #7: mobility", "drop at 3: loop"];
    assert_eq!(again(&mut bench, 1, 7), back, "another node rerouted it");
    assert_eq!(again(&mut bench, 2, 8), ["2 < interest /a/b #8 field=904"], "another nonce");
    assert_eq!(bench.interest(1, "/a/b", 9), [""; 0], "the retransmission is aggregated");
}

#[test]
fn rerouted_interest_without_route_returns_as_mobility() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.tester.route(1, "/a", 3);
    walk.tester.unroute(3, "/a", 4);
    walk.tester.run(3_000);
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    assert_eq!(walk.fetch(3_050), [""; 0]);
    // The producer has not registered at the next access point yet: that is no mistyped name.
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(4_000), ["3070 ms: nack /a/b: mobility"]);
}

#[test]
fn absent_route_counts_after_a_retransmission() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.route("/a", 3, 2);
    bench.interest(1, "/a/b", 1);
    assert_eq!(bench.feed(Input::FaceDown { face: FaceId(2) }).len(), 1, "it leaves by 3");
    bench.pass(2_000);
    assert_eq!(bench.interest(1, "/a/b", 2), ["3 < interest /a/b #2"]);
    assert_eq!(bench.nack(3, "/a/b", 2, NackReason::NoRoute), ["1 < nack /a/b #2: mobility"]);
}

#[test]
fn absent_route_after_a_loss_is_no_mobility() {
    let options = options("mldr").with(|it| it.strategy = "multicast".parse().unwrap());
    let mut bench = Bench::new(3, options);
    bench.route("/a", 3, 2);
    assert_eq!(bench.interest(1, "/a/b", 1).len(), 2);
    assert_eq!(bench.nack(2, "/a/b", 1, NackReason::Loss), [""; 0]);
    assert_eq!(bench.nack(3, "/a/b", 1, NackReason::NoRoute), ["1 < nack /a/b #1: no route"]);
}

#[test]
fn absent_route_elsewhere_counts_as_mobility() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.tester.route(1, "/a", 3);
    walk.tester.unroute(3, "/a", 4);
    walk.tester.run(3_000);
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.tester.run(3_030);
    // The retransmission leaves by the other next hop, while the first one is still pending.
    walk.consumer.ask("/a/b", 2);
    walk.tester.run(3_036);
    walk.tester.down(2, 4);
    let lines = walk.fetch(4_000);
    assert!(!lines.is_empty() && lines.iter().all(|it| it.ends_with("mobility")), "{lines:?}");
}
