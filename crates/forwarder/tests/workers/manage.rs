//! Management of a forwarder of several workers.
use crate::several::{Several, data, interest};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::management::{FaceDescription, ManagementOptions, Notice};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_packet::data::Data;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{
    ControlParameters, CsInfo, FaceStatus, GeneralStatus, LinkType, ManagementError, Persistency,
    Record, Scope, StrategyChoice, Verb, command_interest, decode_records, parse_response,
};

/// Microseconds since 1970.
const NOON: u64 = 1_800_000_000_000_000;
/// An application, at another worker than the management.
const APP: u32 = 1;
/// A neighbour.
const REMOTE: u32 = 5;

struct Bench {
    several: Several,
    nonce: u32,
}

impl Bench {
    fn new(workers: u16) -> Self {
        let options = NodeConfig {
            management: Some(ManagementOptions::default()),
            ..NodeConfig::deterministic(0)
        }
        .with(|it| it.cache = CsCapacity::Packets(1_000));
        let several = Several::new(workers, 2, 3, &options);
        let mut bench = Self { several, nonce: 0 };
        bench.several.feed(0, Notice::TimeOfDay { micros: NOON }.into());
        for (face, local) in [(APP, true), (2, true), (3, true), (REMOTE, false)] {
            bench.open(face, local);
        }
        bench
    }

    fn open(&mut self, face: u32, local: bool) {
        let description = FaceDescription {
            uri: format!("fd://{face}"),
            local_uri: "unix:///run/nfd/nfd.sock".into(),
            persistency: if local { Persistency::OnDemand } else { Persistency::Permanent },
            local,
            mtu: 8_800,
            marking: None,
            reliable: false,
            local_fields: false,
            link_type: LinkType::PointToPoint,
        };
        let home = self.several.home(face);
        self.several.feed(home, Notice::FaceKnown { face: FaceId(face), description }.into());
        let attributes = FaceAttributes { local, permanent: !local, ..FaceAttributes::wire(8_800) };
        self.several.up(face, attributes);
    }

    fn close(&mut self, face: u32) {
        let home = self.several.home(face);
        self.several.down(face);
        self.several.feed(home, Notice::FaceGone { face: FaceId(face) }.into());
    }

    fn ask(&mut self, face: u32, mut interest: Interest) -> Option<Data> {
        self.nonce += 1;
        interest.nonce = Some(self.nonce);
        let sent = self.several.frame(face, interest.to_bytes());
        let (_, frame) = sent.into_iter().find(|(to, _)| *to == face)?;
        Data::decode(frame).ok()
    }

    fn try_command(
        &mut self,
        verb: Verb,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, ManagementError> {
        let nonce = u64::from(self.nonce).to_be_bytes();
        let time = Some(NOON / 1_000 + 5);
        let unique = Uniqueness { nonce: Some(&nonce), time, seq_num: None };
        let command = command_interest(Scope::Localhost, verb, parameters, &DigestSigner, unique);
        parse_response(&self.ask(APP, command).unwrap())
    }

    fn command(&mut self, verb: Verb, parameters: &ControlParameters) -> ControlParameters {
        self.try_command(verb, parameters).unwrap()
    }

    fn records<R: Record>(&mut self, name: &str) -> Vec<R> {
        let mut interest = interest(name, 0);
        (interest.can_be_prefix, interest.must_be_fresh) = (true, true);
        let data = self.ask(APP, interest).unwrap();
        assert_eq!(data.final_block(), data.name().last(), "all in one segment");
        // The next dataset is a new one.
        self.several.now += std::time::Duration::from_secs(2);
        decode_records(data.content()).unwrap()
    }

    /// A consumer sends an Interest, and the neighbour answers.
    fn exchange(&mut self, face: u32, name: &str) {
        assert!(self.ask(face, interest(name, 0)).is_none(), "it is forwarded");
        let sent = self.several.frame(REMOTE, data(name).wire());
        assert_eq!(sent, [(face, data(name).wire())]);
    }
}

fn about(name: &str) -> ControlParameters {
    ControlParameters { name: Some(name.parse().unwrap()), ..Default::default() }
}

fn names(count: u32) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("/a/{number}"))
}

#[test]
fn routes_reach_all_workers() {
    for workers in [1, 2, 4] {
        let mut bench = Bench::new(workers);
        bench.command(Verb::RibRegister, &ControlParameters { face_id: Some(3), ..about("/a") });
        for name in names(20) {
            bench.nonce += 1;
            let sent = bench.several.frame(2, interest(&name, bench.nonce).to_bytes());
            assert_eq!(sent.len(), 1, "{workers} workers, {name}");
            assert_eq!(sent[0].0, 3);
        }
        bench.close(3);
        for node in &bench.several.nodes {
            assert!(node.routes().all(|(prefix, _)| prefix.to_string().ends_with("/nfd")));
        }
        bench.command(Verb::FibAddNextHop, &ControlParameters { face_id: Some(5), ..about("/b") });
        let leads = |bench: &Bench| {
            let nodes = bench.several.nodes.iter();
            nodes.filter(|it| it.routes().any(|(prefix, _)| prefix.to_string() == "/b")).count()
        };
        assert_eq!(leads(&bench), usize::from(workers));
        bench.command(
            Verb::FibRemoveNextHop,
            &ControlParameters { face_id: Some(5), ..about("/b") },
        );
        assert_eq!(leads(&bench), 0);
    }
}

#[test]
fn datasets_are_the_sum_of_all_workers() {
    let mut records = Vec::new();
    for workers in [1, 2, 4] {
        let mut bench = Bench::new(workers);
        bench.command(Verb::RibRegister, &ControlParameters { face_id: Some(5), ..about("/a") });
        for (face, name) in [1, 2, 3, 1, 2, 3].into_iter().zip(names(6)) {
            bench.exchange(face, &name);
        }
        for name in names(3) {
            assert!(bench.ask(3, interest(&name, 0)).is_some(), "it is stored");
        }
        bench.close(2);
        let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
        let carried: Vec<_> = faces
            .iter()
            .map(|it| (it.profile.face_id, it.counters.out_data, it.counters.in_data))
            .collect();
        let cs = bench.records::<CsInfo>("/localhost/nfd/cs/info").remove(0);
        let mut status = bench.records::<GeneralStatus>("/localhost/nfd/status/general").remove(0);
        assert_eq!(status.counters.in_data, 6);
        status.version.clear();
        records.push((carried, cs, status));
    }
    assert_eq!(records[0], records[1]);
    assert_eq!(records[0], records[2]);
}

#[test]
fn face_held_down_keeps_counters_of_all_workers() {
    let mut records = Vec::new();
    for workers in [1, 2, 4] {
        let mut bench = Bench::new(workers);
        bench.command(Verb::RibRegister, &ControlParameters { face_id: Some(5), ..about("/a") });
        let remote = || ControlParameters { face_id: Some(5), ..Default::default() };
        let mut seen = Vec::new();
        for (verb, begin) in [(Verb::FaceDown, 0), (Verb::FaceUp, 20)] {
            names(40).skip(begin).take(20).for_each(|name| bench.exchange(3, &name));
            bench.command(verb, &remote());
            let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
            let face = faces.into_iter().find(|it| it.profile.face_id == 5).unwrap();
            seen.push((face.down, face.counters));
            bench.command(Verb::FaceUp, &remote());
        }
        assert_eq!(seen.iter().map(|it| it.1.in_data).collect::<Vec<_>>(), [20, 40]);
        assert_eq!(seen.iter().map(|it| it.0).collect::<Vec<_>>(), [true, false]);
        records.push(seen);
    }
    assert!(records.iter().all(|seen| *seen == records[0]), "{records:?}");
}

#[test]
fn strategy_choice_applies_to_all_workers() {
    let mut bench = Bench::new(3);
    let choices = |bench: &Bench, worker: usize| {
        bench.several.nodes[worker].strategy_choices().collect::<Vec<StrategyChoice>>()
    };
    let strategy = "/localhost/nfd/strategy/multicast".parse().ok();
    let chosen = bench.command(Verb::StrategySet, &ControlParameters { strategy, ..about("/a") });
    assert!(chosen.strategy.is_some());
    for worker in 0..3 {
        assert_eq!(choices(&bench, worker), choices(&bench, 0));
        assert_eq!(choices(&bench, worker).len(), 2);
    }
    bench.command(Verb::StrategyUnset, &about("/a"));
    assert!((0..3).all(|worker| choices(&bench, worker).len() == 1));
    let (prefix, text) = ("/b".parse().unwrap(), Some("multicast".to_owned()));
    bench.several.feed(0, Notice::Strategy { prefix, text }.into());
    assert!((0..3).all(|worker| choices(&bench, worker).len() == 2), "as after a reload");
}

#[test]
fn content_stores_are_configured_together() {
    let mut bench = Bench::new(3);
    bench.command(Verb::RibRegister, &ControlParameters { face_id: Some(5), ..about("/a") });
    for name in names(40) {
        bench.exchange(2, &name);
    }
    let stored =
        |bench: &Bench| bench.several.nodes.iter().map(|node| node.cs_len()).collect::<Vec<_>>();
    assert!(stored(&bench).iter().all(|stored| *stored > 3), "{:?}", stored(&bench));
    let some = ControlParameters { count: Some(30), ..about("/a") };
    let erased = bench.command(Verb::CsErase, &some);
    assert_eq!((erased.count, erased.capacity), (Some(30), None));
    assert_eq!(stored(&bench).iter().sum::<usize>(), 10);
    assert_eq!(bench.command(Verb::CsErase, &about("/")).count, Some(10));

    let less = ControlParameters { capacity: Some(10), ..Default::default() };
    assert_eq!(bench.command(Verb::CsConfig, &less).capacity, Some(10));
    for name in names(60) {
        bench.exchange(2, &format!("{name}/again"));
    }
    assert_eq!(stored(&bench).iter().sum::<usize>(), 10);
    let info = bench.records::<CsInfo>("/localhost/nfd/cs/info").remove(0);
    assert_eq!((info.capacity, info.entries), (10, 10));
}

#[test]
fn late_dataset_request_waits_for_next_count() {
    let mut bench = Bench::new(2);
    let questions = ["/localhost/nfd/cs/info", "/localhost/nfd/status/general"];
    for (nonce, name) in (100..).zip(questions) {
        let mut interest = interest(name, nonce);
        interest.can_be_prefix = true;
        let frame = interest.to_bytes();
        let input = recoup_forwarder::node::Input::Frame { face: FaceId(2), frame };
        bench.several.nodes[0].handle(bench.several.now, input);
    }
    let sent = bench.several.feed(0, Notice::TimeOfDay { micros: NOON }.into());
    assert_eq!(sent.iter().map(|(face, _)| *face).collect::<Vec<_>>(), [2, 2]);
}
