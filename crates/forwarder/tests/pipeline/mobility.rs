//! The rules of MLDR (Carofiglio et al. 2016, section 3.2), one to a test.
use crate::bench::{Bench, question};
use crate::tester::{Manner, Probe, Tester};
use recoup_forwarder::face::FaceId;
use recoup_forwarder::node::{Input, RouteChange};
use recoup_forwarder::options::NodeOptions;
use recoup_packet::interest::DEFAULT_LIFETIME;
use recoup_packet::lp::field;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Duration;

fn options(mobility: &str) -> NodeOptions {
    NodeOptions { mobility: mobility.parse().unwrap(), ..NodeOptions::deterministic(0) }
}

/// A consumer (0), a router (1), two access points (2, 3), and a producer (4) that is at the first. Each hop takes 5 ms.
struct Walk {
    tester: Tester,
    consumer: Probe,
    producer: Probe,
}

impl Walk {
    fn new(mobility: &str, strategy: &str) -> Self {
        let make = |_| NodeOptions { strategy: strategy.into(), ..options(mobility) };
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
        consumer.told();
        Self { tester, consumer, producer }
    }

    /// The producer is out of reach, which nobody notices.
    fn lose_sight(&mut self) {
        self.tester.cut(2, 4);
        self.tester.cut(4, 2);
    }

    /// Routing learns where the producer is.
    fn reroute(&mut self) {
        self.tester.route(1, "/a", 3);
        self.tester.unroute(1, "/a", 2);
        self.tester.route(2, "/a", 1);
        self.tester.unroute(2, "/a", 4);
    }

    fn fetch(&mut self, until: u64) -> Vec<String> {
        self.tester.run(until);
        self.consumer.told()
    }
}

#[test]
fn interests_for_a_producer_that_moved_are_sent_on_to_where_it_is() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    assert_eq!(walk.fetch(50), [""; 0]);
    // First the routes, then the old access point notices: it sends the Interest back, the router sends it on.
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["80 ms: data /a/b"]);
    let (interest, _) = walk.producer.asked().remove(0);
    assert_ne!(interest.nonce, Some(1), "a fresh nonce");
    assert_eq!(interest.lifetime, Some(Duration::from_millis(4_000 + 5 - 55)), "what is left");
}

#[test]
fn data_say_by_how_much_sending_on_lengthened_their_round_trip() {
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
fn if_the_face_goes_down_before_the_routes_change_the_interest_reaches_the_consumer() {
    let mut walk = Walk::new("mldr", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(70), ["60 ms: nack /a/b: mobility"]);
    walk.reroute();
    walk.consumer.ask("/a/b", 2);
    assert_eq!(walk.fetch(1_000), ["100 ms: data /a/b"], "asked again, not aggregated");
}

#[test]
fn told_of_losses_only_a_network_sends_nothing_on() {
    let mut walk = Walk::new("eln", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["60 ms: nack /a/b: mobility"]);
}

#[test]
fn without_mobility_nothing_is_said_and_the_timer_is_the_way_out() {
    let mut walk = Walk::new("off", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(10_000), [""; 0]);
}

#[test]
fn a_consumer_whose_face_goes_down_is_told_and_its_interest_leaves_when_the_face_is_up() {
    for again in [false, true] {
        let mut walk = Walk::new("mldr", "best-route");
        walk.tester.cut(0, 1);
        walk.consumer.ask("/a/b", 1);
        assert_eq!(walk.fetch(20), [""; 0]);
        walk.tester.down(0, 1);
        assert_eq!(walk.fetch(100), ["20 ms: held /a/b", "20 ms: down"]);
        if again {
            // A second hand-over on the same face: what was tried before may be tried again.
            walk.tester.up(0, 1, 5);
            walk.tester.cut(0, 1);
            walk.fetch(110);
            walk.tester.down(0, 1);
            walk.fetch(120);
        }
        walk.tester.up(0, 1, 5);
        let told = walk.fetch(2_000);
        let at = if again { 120 } else { 100 };
        assert_eq!(told, [format!("{at} ms: up"), format!("{} ms: data /a/b", at + 30)]);
        assert_eq!(walk.producer.asked().len(), 1);
    }
}

#[test]
fn what_waits_for_a_face_ends_with_its_lifetime() {
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
fn as_long_as_another_face_is_asked_a_lost_one_changes_nothing() {
    let mut walk = Walk::new("mldr", "multicast");
    walk.tester.route(1, "/a", 3);
    // The second way is slow.
    walk.tester.restore(3, 4, 200);
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(50);
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(1_000), ["225 ms: data /a/b"]);
    assert_eq!(walk.producer.asked().len(), 1, "nothing was sent on");
}

#[test]
fn what_has_too_little_left_of_its_lifetime_is_not_sent_on() {
    let mut walk = Walk::new("mldr(residual=0.5)", "best-route");
    walk.lose_sight();
    walk.consumer.ask("/a/b", 1);
    walk.fetch(2_100);
    walk.reroute();
    walk.tester.down(2, 4);
    assert_eq!(walk.fetch(5_000), ["2110 ms: nack /a/b: mobility"]);
}

#[test]
fn an_interest_is_sent_on_by_each_face_once_and_so_goes_round_in_no_circle() {
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
fn an_m_flag_from_where_nothing_was_sent_or_with_an_old_nonce_is_dropped() {
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
fn a_name_that_never_had_a_way_is_no_loss_of_mobility() {
    let mut bench = Bench::new(3, options("mldr"));
    let refused = bench.interest(1, "/typo", 1);
    assert_eq!(refused, ["1 < nack /typo #1: no route", "drop at 1: no-route"]);
}

#[test]
fn an_interest_whose_ways_are_all_down_is_sent_back_with_the_flag() {
    let mut bench = Bench::new(3, options("mldr(lost=0s)"));
    bench.tell(Input::FaceDown { face: FaceId(2) });
    let flagged = bench.interest(1, "/a/b", 1);
    assert_eq!(flagged, ["1 < nack /a/b #1: mobility", "drop at 1: way-lost"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn an_interest_whose_way_was_just_lost_is_sent_back_with_the_flag_for_two_seconds() {
    let mut bench = Bench::new(3, options("mldr"));
    let prefix = "/a".parse().unwrap();
    bench.tell(Input::Route(RouteChange { prefix, face: FaceId(2), cost: None }));
    let asked = |bench: &mut Bench, nonce| {
        let mut lines = bench.interest(1, "/a/b", nonce);
        lines.sort();
        lines.remove(0)
    };
    assert_eq!(asked(&mut bench, 1), "1 < nack /a/b #1: mobility");
    // A route that leads back to who asks changes nothing.
    bench.route("/a", 1, 1);
    bench.pass(1_999);
    assert_eq!(asked(&mut bench, 2), "1 < nack /a/b #2: mobility");
    bench.pass(2_000);
    assert_eq!(asked(&mut bench, 3), "1 < nack /a/b #3: no route");
}

#[test]
fn everybody_who_asked_is_told() {
    let mut bench = Bench::new(4, options("mldr"));
    bench.interest(1, "/a/b", 1);
    bench.interest(3, "/a/b", 2);
    let told = bench.tell(Input::FaceDown { face: FaceId(2) });
    assert_eq!(told, ["1 < nack /a/b #1: mobility", "3 < nack /a/b #2: mobility"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn of_many_entries_only_those_of_the_face_that_is_gone_are_touched() {
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
    let told = bench.tell(Input::FaceDown { face: FaceId(2) });
    assert_eq!(told.len(), 100);
    assert!(told.iter().all(|line| line.starts_with("1 < nack /a/")), "{told:?}");
    assert_eq!(bench.node.pit_len(), 100);
}

#[test]
fn whoever_asked_from_where_the_face_is_gone_asks_no_more() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.interest(3, "/a/b", 1);
    assert_eq!(bench.tell(Input::FaceDown { face: FaceId(3) }), ["drop at 3: no-face"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn a_notice_of_lost_data_goes_to_who_asked_although_it_knows_no_nonce() {
    for mobility in ["off", "mldr"] {
        let mut bench = Bench::new(3, options(mobility));
        bench.route("/a", 3, 2);
        bench.interest(1, "/a/b", 1);
        let told = bench.nack(2, "/a/b", 77, NackReason::Loss);
        assert_eq!(told, ["1 < nack /a/b #1: loss"], "{mobility}: not sent on by another face");
        assert_eq!(bench.interest(1, "/a/b", 2), ["2 < interest /a/b #2"], "asked at once");
        assert_eq!(bench.nack(3, "/a/b", 2, NackReason::Loss), ["drop at 3: nack-unmatched"]);
    }
}

#[test]
fn a_refusal_in_the_network_stays_a_refusal() {
    let mut walk = Walk::new("mldr", "best-route");
    let refuse = Probe::new(Manner::Refuse(NackReason::NoRoute));
    walk.tester.attach(4, &refuse, &["/a/no"]);
    walk.consumer.ask("/a/no/x", 1);
    assert_eq!(walk.fetch(100), ["30 ms: nack /a/no/x: no route"]);
    assert_eq!(DEFAULT_LIFETIME, Duration::from_secs(4), "what the other tests reckon with");
}

#[test]
fn an_interest_that_was_sent_on_does_not_come_by_twice_although_its_nonce_is_another() {
    let mut bench = Bench::new(3, options("mldr"));
    bench.interest(1, "/a/b", 1);
    assert_eq!(
        bench.nack(2, "/a/b", 1, NackReason::Mobility),
        ["1 < nack /a/b #1: mobility"],
        "nothing leads on from here"
    );
    let again = |bench: &mut Bench, journey, nonce| {
        let mut lines = bench.ask(3, question("/a/b", nonce), |extra| {
            field::set_original_nonce(&mut extra.carried, journey);
        });
        lines.sort();
        lines
    };
    let back = ["3 < nack /a/b #7: mobility", "drop at 3: loop"];
    assert_eq!(again(&mut bench, 1, 7), back, "somebody else sent it on");
    assert_eq!(again(&mut bench, 2, 8), ["2 < interest /a/b #8 field=904"], "another journey");
    assert_eq!(bench.interest(1, "/a/b", 9), [""; 0], "who asks again waits with the other");
}
