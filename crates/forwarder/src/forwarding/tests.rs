//! Tables and pipelines alone, with an edge that records outputs.
use super::*;
use crate::face::FaceAttributes;
use crate::message::Output;
use crate::table::policy::{Admission, Mcd};
use crate::table::{CsCapacity, RouteChange};
use recoup_packet::data::DataBuilder;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::AppInput;

const CONSUMER: FaceId = FaceId(1);
const PRODUCER: FaceId = FaceId(2);
const APP: AppId = AppId(0);

fn forwarder(options: &NodeConfig) -> Forwarder<RecordingEdge> {
    let mut forwarder = Forwarder::new(options, RecordingEdge::default());
    for face in [CONSUMER, PRODUCER] {
        forwarder.face_up(face, FaceAttributes::wire(1_500), false);
        forwarder.face_ready(Instant::ZERO, face, false, false);
    }
    let prefix = "/a".parse().unwrap();
    let route = RouteChange { prefix, face: PRODUCER, cost: Some(1) };
    forwarder.change_route(Instant::ZERO, &route);
    forwarder.edge.announced.clear();
    forwarder
}

fn interest(uri: &str, nonce: u32) -> Arc<Interest> {
    let mut interest = Interest::new(uri.parse().unwrap());
    interest.nonce = Some(nonce);
    Arc::new(interest)
}

fn data(uri: &str) -> Data {
    DataBuilder::new(&uri.parse().unwrap()).build(b"content", &DigestSigner)
}

impl Forwarder<RecordingEdge> {
    fn ask(&mut self, face: FaceId, uri: &str, nonce: u32) {
        let packet = Packet::interest(interest(uri, nonce), &self.hasher);
        self.receive(Instant::ZERO, face, packet);
    }

    fn bring(&mut self, face: FaceId, uri: &str) {
        let packet = Packet::data(data(uri), &self.hasher);
        self.receive(Instant::ZERO, face, packet);
    }

    /// Packets sent to links since the last call.
    fn sent(&mut self) -> Vec<(u32, Kind)> {
        self.edge.sent.drain(..).map(|(face, packet)| (face.0, packet.kind())).collect()
    }

    fn drops(&mut self) -> Vec<DropReason> {
        let reason = |output| match output {
            Output::Dropped { reason, .. } => reason,
            other => panic!("{other:?}"),
        };
        self.edge.out.outputs.drain(..).map(reason).collect()
    }
}

#[test]
fn interest_is_forwarded_and_data_returns() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    forwarder.ask(CONSUMER, "/a/b", 1);
    assert_eq!(forwarder.sent(), [(2, Kind::Interest)]);
    forwarder.bring(PRODUCER, "/a/b");
    assert_eq!(forwarder.sent(), [(1, Kind::Data)]);
    assert_eq!((forwarder.pit.len(), forwarder.counters.satisfied), (0, 1));
    forwarder.bring(PRODUCER, "/a/b");
    assert_eq!((forwarder.sent(), forwarder.drops()), (vec![], vec![DropReason::Unsolicited]));
}

#[test]
fn content_store_answers_without_the_edge_upstream() {
    let mut forwarder =
        forwarder(&NodeConfig::deterministic(0).with(|it| it.cache = CsCapacity::Packets(4)));
    forwarder.ask(CONSUMER, "/a/b", 1);
    forwarder.bring(PRODUCER, "/a/b");
    forwarder.sent();
    forwarder.ask(CONSUMER, "/a/b", 2);
    assert_eq!(forwarder.sent(), [(1, Kind::Data)]);
    assert_eq!(forwarder.counters.cs_hits, 1);
}

#[test]
fn stored_data_moves_to_the_next_hop() {
    let config = NodeConfig::deterministic(0).with(|it| {
        it.cache = CsCapacity::Packets(4);
        it.cache_admission = Admission::from(Mcd).into();
    });
    let mut forwarder = forwarder(&config);
    forwarder.ask(CONSUMER, "/a/b", 1);
    forwarder.bring(PRODUCER, "/a/b");
    assert_eq!((forwarder.sent().len(), forwarder.cs.len()), (2, 1));
    forwarder.ask(CONSUMER, "/a/b", 2);
    assert_eq!(forwarder.sent(), [(1, Kind::Data)]);
    assert_eq!((forwarder.counters.cs_hits, forwarder.cs.len()), (1, 0));
}

#[test]
fn interest_without_route_is_answered_with_a_nack() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    forwarder.ask(CONSUMER, "/b", 1);
    assert_eq!(forwarder.sent(), [(1, Kind::Nack)]);
    assert_eq!((forwarder.drops(), forwarder.pit.len()), (vec![DropReason::NoRoute], 0));
}

#[test]
fn pending_interest_expires_at_its_deadline() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    forwarder.ask(CONSUMER, "/a/b", 1);
    let due = forwarder.deadline().unwrap();
    assert!(!forwarder.fire(Instant::ZERO));
    assert!(forwarder.fire(due) && !forwarder.fire(due));
    assert_eq!((forwarder.counters.unsatisfied, forwarder.deadline()), (1, None));
}

#[test]
fn applications_are_delivered_interests_and_data() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    forwarder.add_application(APP, &["/app".parse().unwrap()]);
    forwarder.ask(CONSUMER, "/app/x", 1);
    let Some((APP, AppInput::Interest { path, .. })) = forwarder.edge.delivered.pop() else {
        panic!("{:?}", forwarder.edge.delivered);
    };
    forwarder.answer(Instant::ZERO, FaceId::of_app(APP), data("/app/x"), path);
    assert_eq!(forwarder.sent(), [(1, Kind::Data)]);
    forwarder.express(Instant::ZERO, APP, interest("/a/y", 2), None, None);
    assert_eq!(forwarder.sent(), [(2, Kind::Interest)]);
    forwarder.bring(PRODUCER, "/a/y");
    assert!(matches!(forwarder.edge.delivered.pop(), Some((APP, AppInput::Data { .. }))));
    forwarder.remove_application(APP, &["/app".parse().unwrap()]);
    forwarder.ask(CONSUMER, "/app/z", 3);
    assert_eq!(forwarder.sent(), [(1, Kind::Nack)]);
}

#[test]
fn applications_are_notified_of_the_uplink() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    let (face, now) = (FaceId(3), Instant::ZERO);
    forwarder.face_up(face, FaceAttributes::wire(1_500).toward_producers(), false);
    forwarder.face_ready(now, face, true, false);
    let announced = std::mem::take(&mut forwarder.edge.announced);
    assert!(
        matches!(announced[..], [AppInput::FaceDown, AppInput::FaceUp { .. }]),
        "{announced:?}"
    );
    let gone = forwarder.faces.down(face).unwrap();
    assert!(gone.attributes.upstream);
    forwarder.face_down(now, FaceLoss { face, asked: false }, None);
    assert_eq!(forwarder.edge.announced.len(), 2);
}

#[test]
fn management_gets_interests_with_their_face() {
    let mut forwarder = forwarder(&NodeConfig::deterministic(0));
    forwarder.fib.insert(&"/localhost/nfd".parse().unwrap(), FaceId::MANAGEMENT, 0);
    forwarder.ask(CONSUMER, "/localhost/nfd/status/general", 1);
    assert_eq!(forwarder.drops(), [DropReason::Scope], "the face leads to another machine");
    let attributes = FaceAttributes { local: true, ..FaceAttributes::wire(1_500) };
    forwarder.face_up(CONSUMER, attributes, true);
    forwarder.ask(CONSUMER, "/localhost/nfd/status/general", 2);
    let request = forwarder.edge.requests.pop().unwrap();
    assert_eq!(request.ingress, CONSUMER);
    forwarder.reject(Instant::ZERO, FaceId::MANAGEMENT, NackReason::NoRoute, request.path);
    assert_eq!(forwarder.sent(), [(1, Kind::Nack)]);
}
