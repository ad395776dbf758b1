//! Management of a node by its operators.
mod held;
mod silence;

use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::management::{FaceDescription, FaceOrder, ManagementOptions, Notice};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, HmacSigner, KeyLocator, PublicKey, Signer};
use recoup_transport::management::{
    AuthorityOptions, CAPTURE, CHILD_INHERIT, CS_ADMIT, ControlParameters, CsInfo, FaceEvent,
    FaceEventKind, FaceFilter, FaceStatus, FibEntry, GeneralStatus, LOCAL_FIELDS, ManagementError,
    Persistency, Record, RibEntry, Scope, StrategyChoice, Verb, command_interest, decode_records,
    parse_response,
};
use recoup_transport::time::{Duration, Instant};

const APP: FaceId = FaceId(1);
const REMOTE: FaceId = FaceId(2);
/// Microseconds since 1970.
const NOON: u64 = 1_800_000_000_000_000;

struct Bench {
    node: Node,
    now: Instant,
    nonce: u32,
    orders: Vec<FaceOrder>,
}

impl Bench {
    fn new(management: ManagementOptions) -> Self {
        let options = NodeConfig { management: Some(management), ..NodeConfig::deterministic(0) }
            .with(|it| it.cache = CsCapacity::Packets(1_000));
        let mut node = Node::new(options);
        node.handle(Instant::ZERO, Notice::TimeOfDay { micros: NOON }.into());
        let mut bench = Self { node, now: Instant::ZERO, nonce: 0, orders: Vec::new() };
        bench.open(APP, "fd://9", true);
        bench.open(REMOTE, "udp4://192.0.2.7:6363", false);
        bench
    }

    fn open(&mut self, face: FaceId, uri: &str, local: bool) {
        let description = FaceDescription {
            uri: uri.into(),
            local_uri: "unix:///run/nfd/nfd.sock".into(),
            persistency: if local { Persistency::OnDemand } else { Persistency::Permanent },
            local,
            mtu: 8_800,
            marking: None,
            reliable: false,
            local_fields: false,
            link_type: LinkType::PointToPoint,
        };
        self.node.handle(self.now, Notice::FaceKnown { face, description }.into());
        let attributes = FaceAttributes { local, permanent: !local, ..FaceAttributes::wire(8_800) };
        self.node.handle(self.now, Input::FaceUp { face, attributes });
        self.poll();
    }

    fn poll(&mut self) -> Vec<(FaceId, Bytes)> {
        let mut sent = Vec::new();
        while let Some(output) = self.node.poll(self.now) {
            match output {
                Output::Send { face, frame } => sent.push((face, frame.into_bytes())),
                Output::Order(order) => self.orders.push(*order),
                _ => {}
            }
        }
        sent
    }

    /// Sends an Interest by the application's face; returns the answer, unless it is pending.
    fn ask(&mut self, mut interest: Interest) -> Option<Data> {
        self.nonce += 1;
        interest.nonce = Some(self.nonce);
        self.node.handle(self.now, Input::Frame { face: APP, frame: interest.to_bytes() });
        let (_, frame) = self.poll().into_iter().find(|(to, _)| *to == APP)?;
        Data::decode(frame).ok()
    }

    fn records<R: Record>(&mut self, name: &str) -> Vec<R> {
        decode_records(&self.dataset(&name.parse().unwrap())).unwrap()
    }

    /// A whole dataset, segment by segment.
    fn dataset(&mut self, name: &Name) -> Vec<u8> {
        let mut first = Interest::new(name.clone());
        (first.can_be_prefix, first.must_be_fresh) = (true, true);
        let mut data = self.ask(first).unwrap();
        let (versioned, mut content) = (data.name().parent(), data.content().to_vec());
        assert!(versioned.last().unwrap().is_version().unwrap() >= NOON);
        for number in 1.. {
            if data.final_block() == data.name().last() {
                break;
            }
            let next = versioned.append(Component::segment(number));
            data = self.ask(Interest::new(next)).unwrap();
            content.extend(data.content());
        }
        content
    }

    fn command(
        &mut self,
        verb: Verb,
        parameters: &ControlParameters,
    ) -> Option<Result<ControlParameters, ManagementError>> {
        self.signed(verb, parameters, &DigestSigner)
    }

    fn signed(
        &mut self,
        verb: Verb,
        parameters: &ControlParameters,
        signer: &dyn Signer,
    ) -> Option<Result<ControlParameters, ManagementError>> {
        self.signed_at(NOON / 1_000 + 5, verb, parameters, signer)
    }

    /// As `signed`, with a time in milliseconds since 1970.
    fn signed_at(
        &mut self,
        time: u64,
        verb: Verb,
        parameters: &ControlParameters,
        signer: &dyn Signer,
    ) -> Option<Result<ControlParameters, ManagementError>> {
        let nonce = u64::from(self.nonce).to_be_bytes();
        let unique = Uniqueness { nonce: Some(&nonce), time: Some(time), seq_num: None };
        let interest = command_interest(Scope::Localhost, verb, parameters, signer, unique);
        self.ask(interest).map(|data| parse_response(&data))
    }

    fn done(&mut self, verb: Verb, parameters: &ControlParameters) -> ControlParameters {
        self.command(verb, parameters).unwrap().unwrap()
    }

    fn status_of(&mut self, verb: Verb, parameters: &ControlParameters) -> u64 {
        code(self.command(verb, parameters))
    }
}

fn code(answer: Option<Result<ControlParameters, ManagementError>>) -> u64 {
    match answer {
        Some(Err(ManagementError::Rejected { code, .. })) => code,
        other => panic!("{other:?}"),
    }
}

fn about(name: &str) -> ControlParameters {
    ControlParameters { name: Some(name.parse().unwrap()), ..Default::default() }
}

fn to(uri: &str) -> ControlParameters {
    ControlParameters { uri: Some(uri.into()), ..Default::default() }
}

#[test]
fn faces_are_listed_with_what_they_carried() {
    let mut bench = Bench::new(ManagementOptions::default());
    bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(2), ..about("/a") });
    let name: Name = "/a/x".parse().unwrap();
    assert!(bench.ask(Interest::new(name.clone())).is_none(), "it is forwarded");
    let data = DataBuilder::new(&name).build(b"content", &DigestSigner).wire();
    let bytes = data.len() as u64;
    bench.node.handle(bench.now, Input::Frame { face: REMOTE, frame: data });
    bench.poll();
    let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
    let uris: Vec<_> = faces.iter().map(|it| it.profile.uri.as_str()).collect();
    assert_eq!(uris, ["fd://9", "udp4://192.0.2.7:6363", "internal://"]);
    let remote = &faces[1].counters;
    assert_eq!((remote.out_interests, remote.in_data, remote.in_bytes), (1, 1, bytes));
    assert!(remote.out_bytes > 10 && faces[0].counters.out_data == 2);
    let status = &bench.records::<GeneralStatus>("/localhost/nfd/status/general")[0];
    assert_eq!((status.start_millis, status.satisfied), (NOON / 1_000, 3));
    assert_eq!(status.counters.in_data, 1);

    let by_scheme = FaceFilter { uri_scheme: Some("udp4".into()), ..FaceFilter::default() };
    let by_uri = FaceFilter { uri: Some("udp://192.0.2.7".into()), ..FaceFilter::default() };
    for filter in [by_scheme, by_uri] {
        let query: Name = "/localhost/nfd/faces/query".parse().unwrap();
        let found = bench.dataset(&query.append(Component::generic(&filter.to_bytes())));
        let found = decode_records::<FaceStatus>(&found).unwrap();
        assert_eq!(found.iter().map(|it| it.profile.face_id).collect::<Vec<_>>(), [2]);
    }
}

#[test]
fn counters_survive_a_face_that_goes_down() {
    let mut bench = Bench::new(ManagementOptions::default());
    let frame = Bytes::from_static(b"\x05\x00");
    bench.node.handle(bench.now, Input::Frame { face: REMOTE, frame });
    bench.node.handle(bench.now, Input::FaceDown { face: REMOTE });
    bench.poll();
    let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
    assert_eq!(faces[1].counters.in_bytes, 2);
    bench.node.handle(bench.now, Notice::FaceGone { face: REMOTE }.into());
    let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
    assert_eq!(faces.len(), 2);
}

#[test]
fn dataset_of_many_segments_is_consistent() {
    let mut bench = Bench::new(ManagementOptions::default());
    for number in 0..1_000 {
        bench.done(Verb::RibRegister, &about(&format!("/some/prefix/{number:04}")));
    }
    let entries: Vec<RibEntry> = bench.records("/localhost/nfd/rib/list");
    assert_eq!(entries.len(), 1_000);
    assert_eq!(
        (entries[7].name.to_string().as_str(), entries[7].routes[0].flags),
        ("/some/prefix/0007", 1)
    );
    let fib: Vec<FibEntry> = bench.records("/localhost/nfd/fib/list");
    assert_eq!(fib.len(), 1_001, "and the way to the management");
    // An unknown version, and a segment beyond the last.
    let stray: Name = "/localhost/nfd/rib/list/54=%01/50=%00".parse().unwrap();
    assert!(bench.ask(Interest::new(stray)).is_none());
}

#[test]
fn longer_prefixes_inherit_by_the_flags() {
    let mut bench = Bench::new(ManagementOptions::default());
    let by =
        |face, flags| ControlParameters { face_id: Some(face), flags: Some(flags), ..about("/a") };
    bench.done(Verb::RibRegister, &by(2, CHILD_INHERIT));
    bench.done(Verb::RibRegister, &ControlParameters { cost: Some(3), ..about("/a/b") });
    let hops = |bench: &mut Bench| {
        let fib: Vec<FibEntry> = bench.records("/localhost/nfd/fib/list");
        let of = |entry: &&FibEntry| entry.name.to_string() == "/a/b";
        fib.iter().find(of).unwrap().next_hops.clone()
    };
    assert_eq!(hops(&mut bench), [(2, 0), (1, 3)]);
    let own = ControlParameters { cost: Some(3), flags: Some(CAPTURE), ..about("/a/b") };
    bench.done(Verb::RibRegister, &own);
    assert_eq!(hops(&mut bench), [(1, 3)]);
}

#[test]
fn next_hops_of_the_management_cannot_change() {
    let mut bench = Bench::new(ManagementOptions::default());
    let hop = ControlParameters { face_id: Some(2), cost: Some(7), ..about("/a") };
    assert_eq!(bench.done(Verb::FibAddNextHop, &hop), hop);
    assert_eq!(bench.node.routes().count(), 2);
    let gone = ControlParameters { face_id: Some(2), ..about("/a") };
    assert_eq!(bench.done(Verb::FibRemoveNextHop, &gone), gone);
    assert_eq!(bench.node.routes().count(), 1);
    let way = ControlParameters { face_id: Some(u64::from(u32::MAX)), ..about("/localhost/nfd") };
    assert_eq!(bench.status_of(Verb::FibRemoveNextHop, &way), 403);
    for prefix in ["/localhost/nfd", "/localhost/nfd/rib"] {
        assert_eq!(bench.status_of(Verb::RibRegister, &about(prefix)), 403);
        assert_eq!(bench.status_of(Verb::FibAddNextHop, &about(prefix)), 403);
    }
    let missing = ControlParameters { face_id: Some(77), ..about("/a") };
    assert_eq!(bench.status_of(Verb::FibAddNextHop, &missing), 410);
}

#[test]
fn face_creation_is_answered_after_opening() {
    let mut bench = Bench::new(ManagementOptions::default());
    let wish = ControlParameters { mtu: Some(1_400), ..to("tcp4://192.0.2.9:6363") };
    assert!(bench.command(Verb::FaceCreate, &wish).is_none());
    let [FaceOrder::Create { ticket, uri, local_uri: None, settings }] = &bench.orders[..] else {
        panic!()
    };
    assert_eq!((uri.as_str(), settings.mtu), ("tcp4://192.0.2.9:6363", Some(1_400)));
    let (ticket, face) = (*ticket, FaceId(3));
    let description = FaceDescription {
        uri: uri.clone(),
        local_uri: "tcp4://192.0.2.1:50000".into(),
        persistency: Persistency::Persistent,
        local: false,
        mtu: 1_400,
        marking: None,
        reliable: false,
        local_fields: false,
        link_type: LinkType::PointToPoint,
    };
    bench.node.handle(bench.now, Notice::FaceKnown { face, description }.into());
    bench.node.handle(bench.now, Notice::FaceMade { ticket, outcome: Ok(face) }.into());
    let (_, frame) = bench.poll().pop().unwrap();
    let made = parse_response(&Data::decode(frame).unwrap()).unwrap();
    assert_eq!((made.face_id, made.mtu, made.face_persistency), (Some(3), Some(1_400), Some(0)));
    // The face exists, though it is not up: routes may lead to it, and there is no second one.
    bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(3), ..about("/a") });
    assert_eq!(bench.status_of(Verb::FaceCreate, &wish), 409);
    assert_eq!(bench.status_of(Verb::FaceCreate, &to("tcp://192.0.2.9")), 409);
    bench.orders.clear();
    let destroyed = bench
        .done(Verb::FaceDestroy, &ControlParameters { face_id: Some(3), ..Default::default() });
    assert_eq!(destroyed, ControlParameters { face_id: Some(3), ..Default::default() });
    assert_eq!(bench.orders, [FaceOrder::Destroy { face }]);
    bench.node.handle(bench.now, Notice::FaceGone { face }.into());
    assert_eq!(bench.records::<RibEntry>("/localhost/nfd/rib/list"), []);
}

#[test]
fn invalid_face_settings_are_rejected() {
    let mut bench = Bench::new(ManagementOptions::default());
    assert_eq!(bench.status_of(Verb::FaceCreate, &ControlParameters::default()), 400);
    let on_demand = ControlParameters { face_persistency: Some(1), ..to("udp4://192.0.2.9:1") };
    assert_eq!(bench.status_of(Verb::FaceCreate, &on_demand), 406);
    let unmasked = ControlParameters { flags: Some(1), ..to("udp4://192.0.2.9:1") };
    assert_eq!(bench.status_of(Verb::FaceCreate, &unmasked), 400);
    let fields = ControlParameters { mask: Some(LOCAL_FIELDS), ..unmasked };
    assert_eq!(bench.status_of(Verb::FaceCreate, &fields), 409);
    let of_remote = ControlParameters { face_id: Some(2), ..fields };
    assert_eq!(bench.status_of(Verb::FaceUpdate, &of_remote), 409, "it is no local face");
    let missing = ControlParameters { face_id: Some(77), ..Default::default() };
    assert_eq!(bench.status_of(Verb::FaceUpdate, &missing), 404);
    assert_eq!(bench.done(Verb::FaceDestroy, &missing).face_id, Some(77));
    assert_eq!(bench.orders, []);
}

#[test]
fn events_answer_waiting_and_late_interests() {
    let mut bench = Bench::new(ManagementOptions::default());
    let name: Name = "/localhost/nfd/faces/events".parse().unwrap();
    let mut subscribe = Interest::new(name.clone());
    (subscribe.can_be_prefix, subscribe.must_be_fresh) = (true, true);
    assert!(bench.ask(subscribe).is_none());
    bench.node.handle(bench.now, Input::FaceDown { face: REMOTE });
    let (face, frame) = bench.poll().pop().unwrap();
    let data = Data::decode(frame).unwrap();
    let event = FaceEvent::from_content(data.content()).unwrap();
    assert_eq!((face, event.kind, event.profile.face_id), (APP, FaceEventKind::Down, 2));
    // The first two numbers belong to the faces of the setup.
    assert_eq!(data.name(), &name.append(Component::sequence_num(2)));
    let first = bench.ask(Interest::new(name.append(Component::sequence_num(0)))).unwrap();
    let first = FaceEvent::from_content(first.content()).unwrap();
    assert_eq!((first.kind, first.profile.uri.as_str()), (FaceEventKind::Created, "fd://9"));
    let next = Interest::new(name.append(Component::sequence_num(3)));
    assert!(bench.ask(next).is_none(), "it waits");
    let attributes = FaceAttributes { permanent: true, ..FaceAttributes::wire(8_800) };
    bench.node.handle(bench.now, Input::FaceUp { face: REMOTE, attributes });
    let (_, frame) = bench.poll().pop().unwrap();
    let event = FaceEvent::from_content(Data::decode(frame).unwrap().content()).unwrap();
    assert_eq!(event.kind, FaceEventKind::Up);
}

#[test]
fn a_strategy_is_chosen_listed_and_unset() {
    let mut bench = Bench::new(ManagementOptions::default());
    let choose = |name: &str, strategy: &str| ControlParameters {
        strategy: Some(format!("/localhost/nfd/strategy/{strategy}").parse().unwrap()),
        ..about(name)
    };
    bench.done(Verb::StrategySet, &choose("/live", "multicast/v=4"));
    let list = |bench: &mut Bench| {
        let choices: Vec<StrategyChoice> = bench.records("/localhost/nfd/strategy-choice/list");
        choices.iter().map(|it| format!("{} {}", it.name, it.strategy)).collect::<Vec<_>>()
    };
    let root = "/ /localhost/nfd/strategy/best-route/v=5";
    assert_eq!(list(&mut bench), [root, "/live /localhost/nfd/strategy/multicast/v=4"]);
    assert_eq!(bench.status_of(Verb::StrategySet, &choose("/live", "unheard-of")), 404);
    bench.done(Verb::StrategyUnset, &about("/live"));
    assert_eq!(list(&mut bench), [root]);
    assert_eq!(bench.status_of(Verb::StrategyUnset, &about("/")), 400);
}

#[test]
fn the_content_store_is_configured_and_erased() {
    let mut bench = Bench::new(ManagementOptions::default());
    bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(2), ..about("/a") });
    for number in 0..300 {
        let name: Name = format!("/a/{number}").parse().unwrap();
        bench.ask(Interest::new(name.clone()));
        let frame = DataBuilder::new(&name).build(b"x", &DigestSigner).wire();
        bench.node.handle(bench.now, Input::Frame { face: REMOTE, frame });
        bench.poll();
    }
    let info = bench.records::<CsInfo>("/localhost/nfd/cs/info")[0];
    assert_eq!((info.capacity, info.flags, info.entries), (1_000, 3, 300));
    let erased = bench.done(Verb::CsErase, &about("/a"));
    assert_eq!((erased.count, erased.capacity), (Some(256), Some(256)));
    let erased = bench.done(Verb::CsErase, &about("/a"));
    assert_eq!((erased.count, erased.capacity), (Some(44), None));
    let config = ControlParameters {
        capacity: Some(7),
        flags: Some(0),
        mask: Some(CS_ADMIT),
        ..Default::default()
    };
    let done = bench.done(Verb::CsConfig, &config);
    assert_eq!((done.capacity, done.flags), (Some(7), Some(2)));
}

#[test]
fn with_keys_only_their_owners_command() {
    let keys = vec![PublicKey::from_hmac_secret(b"secret")];
    let authority = AuthorityOptions { keys, open: vec!["rib".into()], ..Default::default() };
    let mut bench = Bench::new(ManagementOptions { authority, ..Default::default() });
    let hop = ControlParameters { face_id: Some(2), ..about("/a") };
    assert_eq!(bench.status_of(Verb::FibAddNextHop, &hop), 403);
    let signer = HmacSigner::new(b"secret", KeyLocator::Digest(&[1; 32]));
    bench.signed(Verb::FibAddNextHop, &hop, &signer).unwrap().unwrap();
    bench.done(Verb::RibRegister, &about("/b"));
}

#[test]
fn damaged_management_interests_are_answered_or_dropped() {
    let mut bench = Bench::new(ManagementOptions { routes: 100, ..Default::default() });
    let unique = Uniqueness { nonce: Some(&[7; 8]), time: Some(NOON / 1_000), seq_num: None };
    let wish = ControlParameters { flags: Some(6), mask: Some(6), ..to("udp4://192.0.2.9:6363") };
    let create = command_interest(Scope::Localhost, Verb::FaceCreate, &wish, &DigestSigner, unique);
    let filter = FaceFilter { uri: Some("x".into()), scope: Some(0), ..FaceFilter::default() };
    let query: Name = "/localhost/nfd/faces/query".parse().unwrap();
    let mut query = Interest::new(query.append(Component::generic(&filter.to_bytes())));
    (query.can_be_prefix, query.nonce) = (true, Some(1));
    for frame in [create.to_bytes(), query.to_bytes()] {
        for (at, bit) in (0..frame.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut flipped = frame.to_vec();
            flipped[at] ^= 1 << bit;
            bench.node.handle(bench.now, Input::Frame { face: APP, frame: flipped.into() });
            bench.poll();
        }
    }
    bench.now = Instant::from_millis(200_000);
    bench.poll();
    assert_eq!(bench.node.pit_len(), 0);
    assert!(bench.orders.len() <= 64, "{}", bench.orders.len());
}

#[test]
fn signed_commands_survive_every_step_of_the_clock() {
    let secret = b"operator";
    let authority =
        AuthorityOptions { keys: vec![PublicKey::from_hmac_secret(secret)], ..Default::default() };
    let management = ManagementOptions { authority, ..ManagementOptions::default() };
    let mut bench = Bench::new(management);
    let signer = HmacSigner::new(secret, KeyLocator::Digest(&[7; 32]));
    let erase = ControlParameters { name: Some(Name::root()), ..Default::default() };
    let hour = 3_600_000;
    // Set back before the start, suspended for days, at 1970 after a boot without a clock, and right again.
    for step in [0, -2 * hour, 72 * hour, -(NOON as i64) / 1_000, hour] {
        bench.now += Duration::from_secs(10);
        let millis = (NOON as i64 / 1_000 + step + 10_000).max(5_000) as u64;
        bench.node.handle(bench.now, Notice::TimeOfDay { micros: millis * 1_000 }.into());
        bench.poll();
        for time in [millis, millis + 1] {
            let done = bench.signed_at(time, Verb::CsErase, &erase, &signer);
            assert!(done.as_ref().unwrap().is_ok(), "{step}: {done:?}");
        }
        for time in millis.checked_sub(121_000).into_iter().chain([millis + 121_000]) {
            assert_eq!(code(bench.signed_at(time, Verb::CsErase, &erase, &signer)), 403, "{step}");
        }
        let status = bench.records::<GeneralStatus>("/localhost/nfd/status/general").remove(0);
        assert_eq!(status.now_millis, millis);
        // The next step is after this second, for which a dataset is fresh.
        bench.now += Duration::from_secs(2);
    }
}
