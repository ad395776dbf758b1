//! Tests of every strategy with every suppression policy, and of each strategy alone.
use super::{Strategy, *};
use crate::hash::NameHasher;
use crate::table::{Fib, InRecord, MeasurementOptions, Pit, PitId};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use recoup_packet::interest::Interest;
use recoup_transport::rto;
use recoup_transport::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn parse(text: &str) -> Result<Box<dyn ForwardingStrategy>, SpecError> {
    text.parse::<Strategy>().map(|strategy| strategy.build())
}

struct Up(BTreeMap<FaceId, FaceFacts>);

impl Faces for Up {
    fn facts(&self, face: FaceId) -> Option<FaceFacts> {
        self.0.get(&face).copied()
    }
}

/// A node as seen by a strategy: it performs actions, and checks them.
struct Stage {
    strategy: Box<dyn ForwardingStrategy>,
    suppression: Suppression,
    fib: Fib,
    pit: Pit,
    faces: Up,
    measurements: Measurements,
    lifetime: Duration,
}

impl Stage {
    /// Faces 1 to 5; the next hops of "/" are 2, 3 and 4, at costs of 10, 20 and 30.
    fn new(strategy: &str, suppression: &str) -> Self {
        let hasher = NameHasher::new(1);
        let plain = FaceFacts { link_type: LinkType::PointToPoint, local: false };
        let mut fib = Fib::new(hasher.clone());
        for (face, cost) in [(2, 10), (3, 20), (4, 30)] {
            fib.insert(&name("/"), FaceId(face), cost);
        }
        Self {
            strategy: parse(strategy).unwrap(),
            suppression: suppression.parse().unwrap(),
            fib,
            pit: Pit::new(hasher.clone(), 100),
            faces: Up((1..=5).map(|face| (FaceId(face), plain)).collect()),
            measurements: Measurements::new(hasher, MeasurementOptions::default()),
            lifetime: Duration::from_secs(4),
        }
    }

    fn find(&self, uri: &str) -> Option<PitId> {
        self.pit.find(&Interest::new(name(uri)), uri.len() as u64)
    }

    fn call(
        &mut self,
        now: Instant,
        id: PitId,
        trigger: impl FnOnce(&mut dyn ForwardingStrategy, &mut Context<'_>, &mut PitEntry),
    ) -> Vec<Action> {
        let entry = self.pit.entry_mut(id);
        let route = self.fib.longest(&entry.interest().name);
        let measurements = &mut self.measurements;
        let mut actions = Vec::new();
        let mut context = Context {
            now,
            route,
            suppression: &self.suppression,
            faces: &self.faces,
            measurements,
            actions: &mut actions,
        };
        trigger(&mut *self.strategy, &mut context, entry);
        actions
    }

    fn carry_out(&mut self, now: Instant, id: PitId, nonce: u32, actions: &[Action]) {
        let expiry = now + self.lifetime;
        for action in actions {
            let entry = self.pit.entry_mut(id);
            match *action {
                Action::SendInterest { face } => entry.send(now, face, Some(nonce), expiry),
                Action::Nack { .. } => {
                    while let Some(face) = entry.ins().first().map(|record| record.face) {
                        entry.remove_in(face);
                    }
                }
                Action::NackTo { face, .. } => assert!(entry.remove_in(face).is_some()),
                Action::Reject => assert!(self.pit.remove(id).is_some()),
                Action::Suppress => {}
            }
        }
    }

    /// Handles an Interest; returns the faces that it is sent to, and other actions.
    fn interest(&mut self, millis: u64, uri: &str, face: u32, nonce: u32) -> Vec<Action> {
        let now = at(millis);
        let id = self.find(uri).unwrap_or_else(|| {
            let interest = Arc::new(Interest::new(name(uri)));
            self.pit.insert(interest, uri.len() as u64).unwrap()
        });
        let record = InRecord::new(FaceId(face), Some(nonce), now + self.lifetime);
        let arrival = self.pit.entry_mut(id).receive(record);
        let actions = self.call(now, id, |strategy, context, entry| {
            strategy.after_interest(context, entry, Ingress { face: FaceId(face), arrival });
        });
        self.carry_out(now, id, nonce, &actions);
        actions
    }

    fn nack(&mut self, millis: u64, uri: &str, face: u32, reason: NackReason) -> Vec<Action> {
        let (now, Some(id)) = (at(millis), self.find(uri)) else {
            return Vec::new();
        };
        let Some(record) = self.pit.entry_mut(id).out_record_mut(FaceId(face)) else {
            return Vec::new();
        };
        record.set_nacked(reason);
        let nonce = record.nonce.unwrap_or(0);
        let actions = self.call(now, id, |strategy, context, entry| {
            strategy.after_nack(context, entry, FaceId(face), reason);
        });
        self.carry_out(now, id, nonce, &actions);
        actions
    }

    fn data(&mut self, millis: u64, uri: &str, face: u32) {
        if let Some(id) = self.find(uri) {
            let actions = self.call(at(millis), id, |strategy, context, entry| {
                strategy.before_satisfy(context, entry, FaceId(face));
            });
            assert!(actions.is_empty());
            self.pit.remove(id);
        }
    }

    fn expire(&mut self, millis: u64, uri: &str) {
        if let Some(id) = self.find(uri) {
            self.call(at(millis), id, |strategy, context, entry| {
                strategy.on_expiry(context, entry);
            });
            self.pit.remove(id);
        }
    }
}

fn sent(actions: &[Action]) -> Vec<u32> {
    let face = |action: &Action| match action {
        Action::SendInterest { face } => Some(face.0),
        _ => None,
    };
    actions.iter().filter_map(face).collect()
}

fn rejection(reason: NackReason) -> [Action; 2] {
    [Action::Nack { reason }, Action::Reject]
}

#[test]
fn best_route_prefers_cheapest_then_unused_faces() {
    let mut stage = Stage::new("best-route", "same-face-retx(fixed=10ms)");
    let order: Vec<_> = (0..6_u32)
        .flat_map(|nth| sent(&stage.interest(20 * u64::from(nth), "/a", 1, nth)))
        .collect();
    assert_eq!(order, [2, 3, 4, 2, 3, 4]);
    assert_eq!(stage.interest(101, "/a", 1, 9), [Action::Suppress]);
    assert_eq!(stage.interest(500, "/a", 5, 10), [Action::Suppress]);
    assert_eq!(sent(&stage.interest(500, "/b/c", 2, 11)), [3]);
}

#[test]
fn best_route_passes_the_least_severe_nack() {
    let mut stage = Stage::new("best-route", "same-face-retx");
    stage.interest(0, "/a", 1, 1);
    stage.interest(20, "/a", 1, 2);
    assert!(stage.nack(30, "/a", 2, NackReason::NoRoute).is_empty());
    assert_eq!(stage.nack(31, "/a", 3, NackReason::Congestion), rejection(NackReason::Congestion));
    assert!(stage.find("/a").is_none());
    assert!(severity(NackReason::NoRoute) < severity(NackReason::None));
}

#[test]
fn last_upstream_that_waits_gets_a_nack() {
    let mut stage = Stage::new("best-route", "same-face-retx(faces=any)");
    stage.interest(0, "/a", 1, 1);
    stage.interest(20, "/a", 2, 2);
    let reason = NackReason::NoRoute;
    assert_eq!(stage.nack(30, "/a", 3, reason), [Action::NackTo { face: FaceId(2), reason }]);
}

#[test]
fn interest_without_route_gets_a_nack() {
    for strategy in names().filter(|name| *name != "broadcast") {
        let mut stage = Stage::new(strategy, "same-face-retx");
        stage.fib = Fib::new(NameHasher::new(1));
        stage.fib.insert(&name("/"), FaceId(1), 0);
        assert_eq!(stage.interest(0, "/a", 1, 1), rejection(NackReason::NoRoute), "{strategy}");
    }
    let mut stage = Stage::new("broadcast", "same-face-retx");
    stage.fib.remove_face(FaceId(2));
    stage.faces.0.clear();
    assert!(stage.interest(0, "/a", 1, 1).is_empty() && stage.find("/a").is_some());
}

#[test]
fn multicast_retransmits_to_each_face_separately() {
    let mut stage = Stage::new("multicast", "same-face-retx(fixed=10ms)");
    assert_eq!(sent(&stage.interest(0, "/a", 1, 1)), [2, 3, 4]);
    assert_eq!(stage.interest(5, "/a", 1, 2), [Action::Suppress]);
    assert_eq!(sent(&stage.interest(10, "/a", 1, 3)), [2, 3, 4]);
    stage.nack(11, "/a", 3, NackReason::Congestion);
    assert_eq!(sent(&stage.interest(12, "/a", 1, 4)), [3]);
}

#[test]
fn multicast_also_uses_downstream_faces() {
    let mut stage = Stage::new("multicast", "same-face-retx");
    assert_eq!(sent(&stage.interest(0, "/a", 2, 1)), [3, 4]);
    assert_eq!(sent(&stage.interest(5, "/a", 3, 2)), [2]);
}

#[test]
fn broadcast_never_sends_back() {
    let shared = FaceFacts { link_type: LinkType::AdHoc, local: false };
    for (strategy, expected) in [("broadcast", &[3, 4][..]), ("multicast", &[2, 3, 4])] {
        let mut stage = Stage::new(strategy, "same-face-retx");
        stage.faces.0.insert(FaceId(2), shared);
        assert_eq!(sent(&stage.interest(0, "/a", 2, 1)), expected, "{strategy}");
    }
}

#[test]
fn interest_leaves_by_its_ingress_only_ad_hoc() {
    let shared = FaceFacts { link_type: LinkType::MultiAccess, local: false };
    let mut stage = Stage::new("multicast", "same-face-retx");
    stage.faces.0.insert(FaceId(2), shared);
    assert_eq!(sent(&stage.interest(0, "/a", 2, 1)), [3, 4]);
}

#[test]
fn best_face_prefers_the_faster_face() {
    let mut stage = Stage::new("best-face(gain=0.5)", "same-face-retx");
    assert_eq!(sent(&stage.interest(0, "/a", 1, 1)), [2]);
    stage.data(100, "/a", 2);
    assert_eq!(sent(&stage.interest(100, "/a/b", 1, 2)), [2]);
    assert_eq!(sent(&stage.interest(150, "/a/b", 1, 3)), [3]);
    stage.data(170, "/a/b", 3);
    assert_eq!(sent(&stage.interest(200, "/a", 1, 4)), [4], "explores after a retransmission");
    stage.data(250, "/a", 4);
    assert_eq!(sent(&stage.interest(300, "/a", 1, 5)), [3]);
    stage.data(320, "/a", 3);
}

/// Where most of the last Interests go. Face 2 answers after 10 or 200 ms, face 3 after 130 ms, face 4 after 300 ms.
fn preferred(strategy: &str) -> u32 {
    let mut stage = Stage::new(strategy, "same-face-retx");
    let mut counts = [0; 5];
    for round in 0..200_u64 {
        let uri = format!("/{round:03}");
        let now = 1_000 * round;
        if round % 4 == 0 {
            stage.measurements.wish_exploration(at(now), &name("/"));
        }
        let face = sent(&stage.interest(now, &uri, 1, round as u32))[0];
        let rtt = match face {
            2 if round % 3 == 0 => 200,
            2 => 10,
            3 => 130,
            _ => 300,
        };
        stage.data(now + rtt, &uri, face);
        if round >= 100 && round % 4 != 0 {
            counts[face as usize] += 1;
        }
    }
    (0..5).max_by_key(|face| counts[*face as usize]).unwrap_or(0)
}

#[test]
fn estimator_prefers_steady_faces() {
    assert_eq!(preferred("best-face"), 2, "73 ms on average");
    assert_eq!(preferred("best-face(rto=jacobson(min=0ms))"), 3, "but seldom in time");
    assert_eq!(preferred("best-face(rto=jacobson(k=0,min=0ms))"), 2);
    assert_eq!(preferred("best-face(rto=weighted-median(min=0ms))"), 2, "its median is 10 ms");
}

#[test]
fn best_face_leaves_a_silent_face() {
    let mut stage = Stage::new("best-face", "same-face-retx");
    stage.interest(0, "/a", 1, 1);
    stage.data(10, "/a", 2);
    stage.interest(20, "/a", 1, 2);
    stage.expire(4_020, "/a");
    assert_eq!(sent(&stage.interest(4_100, "/a", 1, 3)), [3]);
    stage.data(4_109, "/a", 3);
    assert_eq!(sent(&stage.interest(4_200, "/a", 1, 4)), [3]);
}

#[test]
fn nack_leads_to_another_face() {
    for strategy in ["best-face", "multipath"] {
        let mut stage = Stage::new(strategy, "same-face-retx");
        let reason = NackReason::NoRoute;
        let mut asked = sent(&stage.interest(0, "/a", 1, 1));
        for expected in [1, 1, 0] {
            let actions = stage.nack(1, "/a", *asked.last().unwrap(), reason);
            assert_eq!(sent(&actions).len(), expected, "{strategy}");
            asked.extend(sent(&actions));
            assert!(expected == 1 || actions == rejection(reason));
        }
        asked.sort_unstable();
        assert_eq!(asked, [2, 3, 4]);
    }
}

/// A node that broadcasts for `/a`, and pins face 3, which answers.
fn pinned() -> Stage {
    let mut stage = Stage::new("discover", "same-face-retx");
    assert_eq!(sent(&stage.interest(0, "/a", 1, 1)), [2, 3, 4]);
    stage.data(10, "/a", 3);
    assert_eq!(sent(&stage.interest(20, "/a/b", 1, 2)), [3]);
    stage
}

#[test]
fn discover_keeps_the_pin_at_one_loss() {
    let mut stage = pinned();
    assert_eq!(sent(&stage.interest(320, "/a/b", 1, 3)), [3], "retransmitted");
    stage.expire(620, "/a/b");
    assert_eq!(sent(&stage.interest(620, "/a/b", 1, 4)), [3], "two timeouts");
    stage.data(640, "/a/b", 3);
    for round in 0..10 {
        let uri = format!("/{}", "x".repeat(round));
        assert_eq!(sent(&stage.interest(1_000, &uri, 1, 9)), [3], "single losses of many names");
        stage.expire(2_000, &uri);
        assert_eq!(sent(&stage.interest(2_000, &uri, 1, 10)), [3]);
        stage.data(2_010, &uri, 3);
    }
}

#[test]
fn discover_searches_after_three_timeouts() {
    let mut stage = pinned();
    stage.interest(320, "/a/b", 1, 3);
    stage.interest(620, "/a/b", 1, 4);
    stage.interest(630, "/a", 1, 5);
    stage.data(640, "/a", 3);
    assert_eq!(sent(&stage.interest(1_020, "/a/b", 1, 6)), [2, 3, 4], "the third timeout");
    stage.data(1_050, "/a/b", 4);
    assert_eq!(sent(&stage.interest(1_100, "/a", 1, 7)), [4]);
}

#[test]
fn discover_leaves_a_face_after_a_nack() {
    let mut stage = pinned();
    assert_eq!(sent(&stage.nack(30, "/a/b", 3, NackReason::NoRoute)), [2]);
    assert_eq!(sent(&stage.interest(40, "/a", 1, 5)), [2, 3, 4]);
    let mut stage = pinned();
    stage.faces.0.remove(&FaceId(3));
    assert_eq!(sent(&stage.interest(40, "/a", 1, 5)), [2, 4]);
    let mut stage = pinned();
    stage.measurements.forget_face(FaceId(3));
    assert_eq!(sent(&stage.interest(40, "/a", 1, 5)), [2, 3, 4]);
}

#[test]
fn number_of_counted_names_is_limited() {
    let mut table = Measurements::new(NameHasher::new(1), MeasurementOptions::default());
    table.pin_to(at(0), &name("/"), FaceId(2));
    let pin = table.pin(at(0), &name("/")).unwrap();
    assert_eq!((pin.fail(7), pin.fail(7)), (1, 2));
    (0..100_000_u64).for_each(|hash| {
        pin.fail(1_000 + hash);
    });
    assert!(format!("{pin:?}").len() < 10_000);
}

fn turns(strategy: &str, count: u32) -> Vec<u32> {
    let mut stage = Stage::new(strategy, "same-face-retx");
    let mut turns = Vec::new();
    for nth in 0..count {
        turns.extend(sent(&stage.interest(u64::from(nth), "/a", 1, nth)));
        stage.data(u64::from(nth), "/a", 2);
    }
    turns
}

#[test]
fn multipath_splits_in_turns_or_by_cost() {
    assert_eq!(turns("multipath", 6), [2, 3, 4, 2, 3, 4]);
    let by_cost = turns("multipath(split=cost)", 1_100);
    let count = |face| by_cost.iter().filter(|other| **other == face).count();
    assert_eq!((count(2), count(3), count(4)), (600, 300, 200));
}

#[test]
fn multipath_follows_the_rate_of_each_face() {
    let mut stage = Stage::new("multipath(split=delay)", "same-face-retx");
    // Face 2 answers after 1 ms, face 3 has a queue and answers every 5 ms, face 4 never answers.
    let (mut count, mut slow) = ([0; 5], VecDeque::new());
    for nth in 0..2_000_u32 {
        let (now, uri) = (u64::from(nth), format!("/{nth}"));
        let face = sent(&stage.interest(now, &uri, 1, nth))[0];
        count[face as usize] += u32::from(nth >= 1_000);
        match face {
            2 => stage.data(now + 1, &uri, 2),
            3 => slow.push_back(uri),
            _ => stage.expire(now + 1, &uri),
        }
        if let Some(uri) = slow.pop_front_if(|_| nth % 5 == 0) {
            stage.data(now + 1, &uri, 3);
        }
    }
    assert!((1..200).contains(&count[3]) && count[2] > 700, "{count:?}");
}

#[test]
fn silent_face_gets_one_interest_at_a_time() {
    let mut stage = Stage::new("multipath(split=delay)", "same-face-retx(fixed=10ms)");
    for (nth, uri) in ["/a", "/b", "/c"].into_iter().enumerate() {
        assert_eq!(sent(&stage.interest(0, uri, 1, nth as u32)), [nth as u32 + 2]);
    }
    stage.data(10, "/b", 3);
    // Face 2 has not answered, and the consumer retransmits.
    assert_eq!(sent(&stage.interest(20, "/a", 1, 9)), [3]);
    stage.data(30, "/a", 3);
    let of_2 = |stage: &mut Stage, from: u32| {
        let all = (from..from + 6).map(|nth| format!("/{nth}"));
        all.flat_map(|uri| sent(&stage.interest(40, &uri, 1, 0))).filter(|it| *it == 2).count()
    };
    assert_eq!(of_2(&mut stage, 10), 1);
    (10..16).for_each(|nth| stage.data(50, &format!("/{nth}"), 2));
    assert!(of_2(&mut stage, 20) > 1);
}

#[test]
fn returning_face_does_not_catch_up() {
    let mut stage = Stage::new("multipath", "same-face-retx");
    let away = stage.faces.0.remove(&FaceId(2)).unwrap();
    for nth in 0..10 {
        stage.interest(0, "/a", 1, nth);
        stage.data(0, "/a", 3);
    }
    stage.faces.0.insert(FaceId(2), away);
    let mut turns = Vec::new();
    for nth in 10..17 {
        turns.extend(sent(&stage.interest(0, "/a", 1, nth)));
        stage.data(0, "/a", 3);
    }
    turns.sort_unstable();
    assert_eq!(turns, [2, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn printed_strategies_parse_to_themselves() {
    for name in names() {
        let printed = parse(name).unwrap().to_string();
        assert!(printed.starts_with(name));
        assert_eq!(parse(&printed).unwrap().to_string(), printed);
    }
    let reconsidered = rto::parse("reconsidered").unwrap();
    let by_rto = format!("best-face(gain=0.125,rto={reconsidered})");
    for text in ["multipath(split=cost)", "best-face(gain=0.5)", &by_rto] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn local_names_stay_local() {
    let (far, near) = (
        FaceFacts { link_type: LinkType::PointToPoint, local: false },
        FaceFacts { link_type: LinkType::PointToPoint, local: true },
    );
    let cases = [
        ("/localhost/x", Some(near), near, true),
        ("/localhost/x", Some(near), far, false),
        ("/localhop/x", Some(near), far, true),
        ("/localhop/x", Some(far), far, false),
        ("/localhop/x", None, near, true),
        ("/localhosts", Some(far), far, true),
    ];
    for (uri, from, to, passes) in cases {
        assert_eq!(to.admits(Scope::of(&name(uri)), from), passes, "{uri}");
    }
}

const URIS: [&str; 4] = ["/a", "/a/b", "/localhop/c", "/localhost/d"];

#[derive(Clone, Debug)]
enum Event {
    Interest { place: usize, face: u32 },
    Nack { place: usize, face: u32, reason: u64 },
    Data { place: usize, face: u32 },
    Expire { place: usize },
    Toggle { face: u32, link_type: LinkType, local: bool },
    Route { place: usize, face: u32, cost: u64 },
}

fn event() -> impl proptest::strategy::Strategy<Value = Event> {
    let (place, face) = (0..URIS.len(), 1..=5_u32);
    prop_oneof![
        8 => (place.clone(), face.clone()).prop_map(|(place, face)| Event::Interest { place, face }),
        3 => (place.clone(), face.clone(), 0..4_u64)
            .prop_map(|(place, face, reason)| Event::Nack { place, face, reason: 50 * reason }),
        2 => (place.clone(), face.clone()).prop_map(|(place, face)| Event::Data { place, face }),
        1 => place.clone().prop_map(|place| Event::Expire { place }),
        1 => (face.clone(), 0..3_u64, any::<bool>())
            .prop_map(|(face, link_type, local)| {
                let link_type = LinkType::from_number(link_type);
                Event::Toggle { face, link_type, local }
            }),
        1 => (place, face, 0..3_u64).prop_map(|(place, face, cost)| Event::Route { place, face, cost }),
    ]
}

/// Invariants of all strategies.
fn check(stage: &Stage, uri: &str, ingress: Option<u32>, actions: &[Action]) {
    let hops = stage.fib.longest(&name(uri)).next_hops;
    let scope = Scope::of(&name(uri));
    let from = ingress.and_then(|face| stage.faces.facts(FaceId(face)));
    for face in sent(actions) {
        let facts = stage.faces.facts(FaceId(face));
        let facts = facts.unwrap_or_else(|| panic!("sent to face {face}, which is down"));
        assert!(hops.iter().any(|hop| hop.face.0 == face), "face {face} does not lead to {uri}");
        assert!(Some(face) != ingress || facts.link_type == LinkType::AdHoc, "sent back to {face}");
        assert!(ingress.is_none() || facts.admits(scope, from), "{uri} left its scope");
    }
    let mut distinct = sent(actions);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), sent(actions).len(), "sent twice to one face");
    assert!(actions.len() <= hops.len().max(2), "too many actions: {actions:?}");
    let rejected = actions.iter().any(|action| matches!(action, Action::Nack { .. }));
    assert!(!rejected || actions.len() == 2 && actions[1] == Action::Reject, "{actions:?}");
}

proptest! {
    #[test]
    fn strategies_keep_their_invariants(
        events in prop::collection::vec((0..300_u64, event()), 0..60)
    ) {
        for (strategy, policy) in names().flat_map(|name| Suppression::names().map(move |policy| (name, policy))) {
            let (mut stage, mut now, mut nonce) = (Stage::new(strategy, policy), 0, 0);
            for (wait, event) in &events {
                (now, nonce) = (now + wait, nonce + 1);
                match *event {
                    Event::Interest { place, face } => {
                        if stage.faces.facts(FaceId(face)).is_some() {
                            let before = stage.find(URIS[place]).is_some();
                            let actions = stage.interest(now, URIS[place], face, nonce);
                            check(&stage, URIS[place], Some(face), &actions);
                            let silent = strategy == "broadcast" && actions.is_empty();
                            prop_assert!(before || silent || !actions.contains(&Action::Suppress));
                            prop_assert!(silent || !actions.is_empty());
                        }
                    }
                    Event::Nack { place, face, reason } => {
                        let waiting = stage.find(URIS[place]).map(|id| stage.pit.entry(id).clone());
                        let actions = stage.nack(now, URIS[place], face, reason.into());
                        check(&stage, URIS[place], None, &actions);
                        let back = sent(&actions).into_iter().any(|face| {
                            waiting.as_ref().is_some_and(|entry| entry.in_record(FaceId(face)).is_some_and(|record| at(now) < record.expiry))
                        });
                        prop_assert!(!back, "sent to a downstream face");
                    }
                    Event::Data { place, face } => stage.data(now, URIS[place], face),
                    Event::Expire { place } => stage.expire(now, URIS[place]),
                    Event::Toggle { face, link_type, local } => {
                        if stage.faces.0.remove(&FaceId(face)).is_none() {
                            stage.faces.0.insert(FaceId(face), FaceFacts { link_type, local });
                        }
                    }
                    Event::Route { place, face, cost: 0 } => {
                        stage.fib.remove(&name(URIS[place]), FaceId(face));
                    }
                    Event::Route { place, face, cost } => {
                        stage.fib.insert(&name(URIS[place]), FaceId(face), cost);
                    }
                }
                prop_assert!(stage.strategy.learns() || stage.measurements.is_empty());
            }
        }
    }
}
