//! Route management of a node for its applications.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::management::ManagementOptions;
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::Data;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, sha256};
use recoup_transport::management::{
    AuthorityOptions, ControlParameters, ManagementError, PrefixAnnouncement, Scope, Verb,
    announce_command, command_interest, parse_response, register_command,
};
use recoup_transport::time::{Duration, Instant};

const APP: FaceId = FaceId(1);
const OTHER: FaceId = FaceId(2);
const REMOTE: FaceId = FaceId(3);

struct Bench {
    node: Node,
    now: Instant,
    nonce: u32,
    drops: Vec<DropReason>,
}

impl Bench {
    fn new(management: ManagementOptions) -> Self {
        let options = NodeConfig { management: Some(management), ..NodeConfig::deterministic(0) };
        let mut node = Node::new(options);
        for (face, local) in [(APP, true), (OTHER, true), (REMOTE, false)] {
            let attributes = FaceAttributes { local, ..FaceAttributes::wire(8800) };
            node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
        }
        Self { node, now: Instant::ZERO, nonce: 0, drops: Vec::new() }
    }

    /// Receives a frame; returns the frames sent.
    fn frame(&mut self, face: FaceId, frame: Bytes) -> Vec<(FaceId, Bytes)> {
        self.node.handle(self.now, Input::Frame { face, frame });
        self.poll()
    }

    fn poll(&mut self) -> Vec<(FaceId, Bytes)> {
        let mut sent = Vec::new();
        while let Some(output) = self.node.poll(self.now) {
            match output {
                Output::Send { face, frame } => sent.push((face, frame.into_bytes())),
                Output::Dropped { reason, .. } => self.drops.push(reason),
                other => panic!("{other:?}"),
            }
        }
        sent
    }

    fn ask(&mut self, face: FaceId, interest: &Interest) -> Vec<(FaceId, Bytes)> {
        self.nonce += 1;
        let mut interest = interest.clone();
        interest.nonce = Some(self.nonce);
        self.frame(face, interest.to_bytes())
    }

    /// Sends a command; returns the answer by the same face.
    fn command(
        &mut self,
        face: FaceId,
        command: &Interest,
    ) -> Option<Result<ControlParameters, ManagementError>> {
        let sent = self.ask(face, command);
        let (to, frame) = sent.first()?;
        assert_eq!((*to, sent.len()), (face, 1));
        Some(parse_response(&Data::decode(frame.clone()).unwrap()))
    }

    fn routes(&self) -> Vec<String> {
        let routes = self.node.routes().filter(|(prefix, _)| !is_management(prefix));
        routes
            .flat_map(|(prefix, hops)| {
                hops.iter().map(move |hop| format!("{prefix} {} {}", hop.face.0, hop.cost))
            })
            .collect()
    }
}

fn is_management(prefix: &Name) -> bool {
    prefix.to_string().ends_with("/nfd")
}

fn parameters(name: &str) -> ControlParameters {
    ControlParameters { name: Some(name.parse().unwrap()), ..ControlParameters::default() }
}

fn register(scope: Scope, parameters: &ControlParameters, time: u64) -> Interest {
    let unique = Uniqueness { nonce: Some(&[7; 8]), time: Some(time), seq_num: None };
    register_command(scope, parameters, &DigestSigner, unique)
}

fn unregister(parameters: &ControlParameters) -> Interest {
    let unique = Uniqueness { nonce: Some(&[7; 8]), time: Some(99), seq_num: None };
    command_interest(Scope::Localhost, Verb::RibUnregister, parameters, &DigestSigner, unique)
}

fn code(answer: Option<Result<ControlParameters, ManagementError>>) -> u64 {
    match answer {
        Some(Err(ManagementError::Rejected { code, .. })) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn announced_route_ends_with_its_announcement() {
    let mut bench = Bench::new(ManagementOptions::default());
    let prefix: Name = "/served".parse().unwrap();
    let expires_after = std::time::Duration::from_secs(60);
    let announcement = PrefixAnnouncement { prefix, expires_after, validity: None };
    let data = announcement.to_data(1, &DigestSigner);
    let unique = Uniqueness { nonce: Some(&[1; 8]), time: Some(1), seq_num: None };
    let command = announce_command(Scope::Localhost, &data, &DigestSigner, unique);
    let done = bench.command(APP, &command).unwrap().unwrap();
    assert_eq!((done.face_id, done.origin, done.cost), (Some(1), Some(129), Some(2_048)));
    assert_eq!(done.expiration_period, Some(expires_after));
    assert_eq!(bench.routes(), ["/served 1 2048"]);
    bench.now = Instant::from_millis(60_000);
    assert!(bench.poll().is_empty() && bench.routes().is_empty());
    // An announcement cannot add a route for a reserved prefix either.
    let own = PrefixAnnouncement { prefix: "/localhost/nfd".parse().unwrap(), ..announcement };
    let data = own.to_data(2, &DigestSigner);
    let unique = Uniqueness { nonce: Some(&[2; 8]), time: Some(2), seq_num: None };
    let command = announce_command(Scope::Localhost, &data, &DigestSigner, unique);
    let rejected = bench.command(APP, &command).unwrap();
    assert!(matches!(rejected, Err(ManagementError::Rejected { code: 403, .. })), "{rejected:?}");
    // Other Data is malformed.
    let other = recoup_packet::data::DataBuilder::new(&own.prefix).build(b"", &DigestSigner);
    let unique = Uniqueness { nonce: Some(&[3; 8]), time: Some(3), seq_num: None };
    let command = announce_command(Scope::Localhost, &other, &DigestSigner, unique);
    let rejected = bench.command(APP, &command).unwrap();
    assert!(matches!(rejected, Err(ManagementError::Rejected { code: 400, .. })), "{rejected:?}");
}

#[test]
fn registered_route_is_used_for_interests() {
    let mut bench = Bench::new(ManagementOptions::default());
    let wish = ControlParameters { cost: Some(4), origin: Some(65), ..parameters("/a") };
    let done = bench.command(APP, &register(Scope::Localhost, &wish, 1)).unwrap().unwrap();
    assert_eq!((done.face_id, done.cost, done.origin), (Some(1), Some(4), Some(65)));
    assert_eq!((done.flags, done.name), (Some(1), wish.name));
    assert_eq!(bench.routes(), ["/a 1 4"]);
    let sent = bench.ask(REMOTE, &Interest::new("/a/x".parse().unwrap()));
    assert_eq!(sent.iter().map(|(face, _)| *face).collect::<Vec<_>>(), [APP]);
}

#[test]
fn unregistering_removes_one_route_only() {
    let mut bench = Bench::new(ManagementOptions::default());
    for (face, origin) in [(APP, 0), (APP, 65), (OTHER, 0)] {
        let cost = Some(10 - origin / 10);
        let wish = ControlParameters { origin: Some(origin), cost, ..parameters("/a") };
        bench.command(face, &register(Scope::Localhost, &wish, face.0.into())).unwrap().unwrap();
    }
    assert_eq!(bench.routes(), ["/a 1 4", "/a 2 10"]);
    let wish = ControlParameters { origin: Some(65), ..parameters("/a") };
    let done = bench.command(APP, &unregister(&wish)).unwrap().unwrap();
    assert_eq!((done.face_id, done.origin, done.cost), (Some(1), Some(65), None));
    assert_eq!(bench.routes(), ["/a 1 10", "/a 2 10"]);
    bench.command(APP, &unregister(&parameters("/a"))).unwrap().unwrap();
    bench.command(APP, &unregister(&parameters("/never"))).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 2 10"]);
}

#[test]
fn routes_end_with_their_face_or_time() {
    let mut bench = Bench::new(ManagementOptions::default());
    let period = Some(Duration::from_secs(60));
    let brief = ControlParameters { expiration_period: period, ..parameters("/brief") };
    bench.command(APP, &register(Scope::Localhost, &brief, 1)).unwrap().unwrap();
    bench.command(OTHER, &register(Scope::Localhost, &parameters("/b"), 1)).unwrap().unwrap();
    bench.now = Instant::from_millis(59_999);
    bench.poll();
    assert_eq!(bench.routes(), ["/b 2 0", "/brief 1 0"]);
    assert_eq!(bench.node.deadline(), Some(Instant::from_millis(60_000)));
    bench.now = Instant::from_millis(60_000);
    bench.poll();
    assert_eq!(bench.routes(), ["/b 2 0"]);
    bench.node.handle(bench.now, Input::FaceDown { face: OTHER });
    assert_eq!(bench.routes(), Vec::<String>::new());
    assert_eq!(bench.node.deadline(), None);
}

#[test]
fn a_period_without_end_ends_never() {
    let mut bench = Bench::new(ManagementOptions::default());
    bench.now = Instant::from_millis(5_000);
    let period = Some(Duration::from_millis(u64::MAX));
    let long = ControlParameters { expiration_period: period, ..parameters("/long") };
    bench.command(APP, &register(Scope::Localhost, &long, 1)).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/long 1 0"]);
}

#[test]
fn configured_route_survives_commands_of_applications() {
    let mut bench = Bench::new(ManagementOptions::default());
    let (prefix, face) = ("/a".parse().unwrap(), APP);
    let change = RouteChange { prefix, face, cost: Some(5) };
    bench.node.handle(bench.now, Input::Route(change));
    let wish = ControlParameters { cost: Some(1), ..parameters("/a") };
    bench.command(APP, &register(Scope::Localhost, &wish, 1)).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 1 1"]);
    bench.command(APP, &unregister(&parameters("/a"))).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 1 5"]);
}

#[test]
fn local_application_may_register_for_another_face() {
    let mut bench = Bench::new(ManagementOptions::default());
    let of = |face| ControlParameters { face_id: Some(face), ..parameters("/a") };
    bench.command(APP, &register(Scope::Localhost, &of(3), 1)).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 3 0"]);
    for missing in [77, u64::from(u32::MAX), u64::MAX] {
        assert_eq!(code(bench.command(APP, &register(Scope::Localhost, &of(missing), 1))), 410);
    }
    bench.command(APP, &register(Scope::Localhost, &of(0), 1)).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 1 0", "/a 3 0"]);
}

#[test]
fn remote_registration_needs_the_localhop_option() {
    let mut bench = Bench::new(ManagementOptions::default());
    let wish = parameters("/a");
    assert!(bench.command(REMOTE, &register(Scope::Localhost, &wish, 1)).is_none());
    assert_eq!(bench.drops, [DropReason::Scope]);
    bench.ask(REMOTE, &register(Scope::Localhop, &wish, 1));
    assert_eq!(bench.routes(), Vec::<String>::new());

    let mut bench = Bench::new(ManagementOptions { localhop: true, ..Default::default() });
    bench.command(REMOTE, &register(Scope::Localhop, &wish, 1)).unwrap().unwrap();
    assert_eq!(bench.routes(), ["/a 3 0"]);
    let other = ControlParameters { face_id: Some(1), ..parameters("/b") };
    assert_eq!(code(bench.command(REMOTE, &register(Scope::Localhop, &other, 1))), 403);
    assert!(bench.command(REMOTE, &register(Scope::Localhost, &wish, 2)).is_none());
}

#[test]
fn the_table_is_bounded() {
    let mut bench = Bench::new(ManagementOptions { routes: 2, ..Default::default() });
    for (name, time) in [("/a", 1), ("/b", 2)] {
        let command = register(Scope::Localhost, &parameters(name), time);
        bench.command(APP, &command).unwrap().unwrap();
    }
    let command = register(Scope::Localhost, &parameters("/c"), 3);
    assert_eq!(code(bench.command(APP, &command)), 503);
    assert_eq!(bench.routes(), ["/a 1 0", "/b 1 0"]);
}

/// Registers prefixes for a face until the node rejects one; returns the number of routes, and the last status code.
fn fill(bench: &mut Bench, face: FaceId, scope: Scope) -> (usize, u64) {
    for number in 0.. {
        let wish = parameters(&format!("/{}/{number}", face.0));
        let answer = bench.command(face, &register(scope, &wish, 1_000 + number)).unwrap();
        if answer.is_err() {
            return (number as usize, code(Some(answer)));
        }
    }
    unreachable!("the table is bounded")
}

#[test]
fn one_peer_cannot_take_all_routes() {
    const ROUTES: usize = 1_000;
    let options = ManagementOptions { localhop: true, routes: ROUTES, ..Default::default() };
    let mut bench = Bench::new(options);
    let (taken, status) = fill(&mut bench, REMOTE, Scope::Localhop);
    assert!(taken <= ROUTES / 4 && status == 503, "{taken} routes, then {status}");
    let again = register(Scope::Localhop, &parameters("/3/0"), 9_000);
    bench.command(REMOTE, &again).unwrap().expect("a route that is there is renewed");
    // Many peers together leave half of the table to applications.
    for face in (10..200).map(FaceId) {
        let attributes = FaceAttributes::wire(8800);
        bench.node.handle(bench.now, Input::FaceUp { face, attributes });
        bench.poll();
        fill(&mut bench, face, Scope::Localhop);
    }
    assert!(bench.routes().len() <= ROUTES / 2, "{}", bench.routes().len());
    let (taken, status) = fill(&mut bench, APP, Scope::Localhost);
    assert!(taken >= ROUTES / 4 && status == 503, "{taken} routes, then {status}");
    let (taken, _) = fill(&mut bench, OTHER, Scope::Localhost);
    assert!(taken >= ROUTES / 16, "the next application has {taken}");
}

#[test]
fn routes_of_operators_fill_the_table() {
    let mut bench = Bench::new(ManagementOptions { routes: 100, ..Default::default() });
    for number in 0..100 {
        let wish = ControlParameters { face_id: Some(3), ..parameters(&format!("/{number}")) };
        let command = register(Scope::Localhost, &wish, 1 + number);
        bench.command(APP, &command).unwrap().unwrap();
    }
    let wish = ControlParameters { face_id: Some(3), ..parameters("/more") };
    assert_eq!(code(bench.command(APP, &register(Scope::Localhost, &wish, 200))), 503);
}

#[test]
fn malformed_command_gets_a_no_route_nack() {
    let mut bench = Bench::new(ManagementOptions::default());
    let sent = bench.ask(APP, &Interest::new("/localhost/nfd/faces/nothing".parse().unwrap()));
    assert_eq!((sent.len(), sent[0].0, sent[0].1[0]), (1, APP, 0x64));
}

#[test]
fn damaged_commands_are_answered_or_dropped() {
    let mut bench =
        Bench::new(ManagementOptions { localhop: true, routes: 100, ..Default::default() });
    let mut command = register(Scope::Localhost, &parameters("/a"), 1);
    command.nonce = Some(1);
    let frame = command.to_bytes();
    for at in 0..frame.len() {
        bench.frame(APP, frame.slice(..at));
        for bit in 0..8 {
            let mut flipped = frame.to_vec();
            flipped[at] ^= 1 << bit;
            bench.frame(APP, flipped.into());
        }
    }
    bench.now = Instant::from_millis(200_000);
    bench.poll();
    assert_eq!(bench.node.pit_len(), 0);
}

/// A registration with its signature in its name, as packet format v0.2 has it.
fn in_name(prefix: &str, time: u64) -> Interest {
    let words = [
        &parameters(prefix).to_bytes()[..],
        &time.to_be_bytes(),
        b"8 bytes.",
        b"\x16\x03\x1b\x01\0",
    ];
    let prefix = "/localhost/nfd/rib/register".parse::<Name>().unwrap();
    let signed = words.into_iter().fold(prefix, |name, it| name.append(Component::generic(it)));
    let value = [&b"\x17\x20"[..], &sha256(signed.value())].concat();
    Interest::new(signed.append(Component::generic(&value)))
}

#[test]
fn local_face_commands_by_fresh_signed_interests_only() {
    let mut bench = Bench::new(ManagementOptions::default());
    assert_eq!(code(bench.command(APP, &in_name("/bank", 1))), 403);
    // The name of a signed Interest without its signature.
    let signed = register(Scope::Localhost, &parameters("/bank"), 1);
    let bare = Interest::new(signed.name.prefix(signed.name.len() - 1));
    assert_eq!(code(bench.command(APP, &bare)), 403);
    let stale = register(Scope::Localhost, &parameters("/bank"), 120_001);
    assert_eq!(code(bench.command(APP, &stale)), 403);
    assert!(bench.routes().is_empty());
    bench.command(APP, &signed).unwrap().unwrap();
    assert_eq!(code(bench.command(APP, &signed)), 403, "repeated");
    assert_eq!(code(bench.command(OTHER, &signed)), 403, "repeated by another program");
    assert_eq!(bench.routes(), ["/bank 1 0"]);
}

#[test]
fn configured_old_client_registers_its_names() {
    let authority = AuthorityOptions { takes_v0_2: true, ..AuthorityOptions::default() };
    let mut bench = Bench::new(ManagementOptions { authority, ..Default::default() });
    bench.command(APP, &in_name("/a", 1)).unwrap().unwrap();
    assert_eq!(code(bench.command(OTHER, &in_name("/a", 1))), 403, "repeated");
    assert_eq!(bench.routes(), ["/a 1 0"]);
}
