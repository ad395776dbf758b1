//! Faces of applications that come, register prefixes and go, with the messages of workers in any order.
use crate::several::Several;
use proptest::prelude::*;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::management::{FaceDescription, ManagementOptions, Notice};
use recoup_forwarder::node::Input;
use recoup_forwarder::options::NodeConfig;
use recoup_packet::interest::Uniqueness;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{
    ControlParameters, LinkType, Persistency, Scope, Verb, command_interest,
};
use std::collections::{BTreeMap, BTreeSet};

/// An event of applications; the workers take some steps between two of them.
#[derive(Clone, Debug)]
enum Event {
    Open,
    /// The application of that face adds or removes a route to itself, or to another face.
    Command {
        face: u32,
        verb: Verb,
        prefix: usize,
        other: Option<u32>,
    },
    Close {
        face: u32,
    },
}

const PREFIXES: [&str; 4] = ["/", "/a", "/a/b", "/c"];

fn events() -> impl Strategy<Value = Vec<(Event, usize)>> {
    let face = 1..30_u32;
    let verb = prop_oneof![
        4 => Just(Verb::RibRegister),
        1 => Just(Verb::RibUnregister),
        1 => Just(Verb::FibAddNextHop),
        1 => Just(Verb::FibRemoveNextHop),
    ];
    let event = prop_oneof![
        3 => Just(Event::Open),
        6 => (face.clone(), verb, 0..PREFIXES.len(), prop::option::weighted(0.2, face.clone()))
            .prop_map(|(face, verb, prefix, other)| Event::Command { face, verb, prefix, other }),
        3 => face.prop_map(|face| Event::Close { face }),
    ];
    prop::collection::vec((event, 0..12_usize), 1..80)
}

/// A forwarder, and its open faces.
struct Bench {
    several: Several,
    open: BTreeSet<u32>,
    opened: u32,
    nonce: u64,
}

impl Bench {
    fn new(workers: u16, seed: u64) -> Self {
        let management = Some(ManagementOptions::default());
        let options = NodeConfig { management, ..NodeConfig::deterministic(0) };
        let mut several = Several::new(workers, 2, seed, &options);
        several.feed(0, Notice::TimeOfDay { micros: 1_800_000_000_000_000 }.into());
        Self { several, open: BTreeSet::new(), opened: 0, nonce: 0 }
    }

    fn note(&mut self, face: u32, input: Input) {
        let home = self.several.home(face);
        self.several.note(home, input);
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Open => self.open(),
            Event::Command { face, verb, prefix, other } => {
                if let Some(face) = self.known(face) {
                    let other = other.and_then(|other| self.known(other));
                    self.command(face, verb, PREFIXES[prefix], other);
                }
            }
            Event::Close { face } => {
                if let Some(face) = self.known(face) {
                    self.close(face);
                }
            }
        }
    }

    /// One of the open faces.
    fn known(&self, number: u32) -> Option<u32> {
        self.open.iter().copied().nth(number as usize % self.open.len().max(1))
    }

    fn open(&mut self) {
        self.opened += 1;
        let face = self.opened;
        self.open.insert(face);
        let description = FaceDescription {
            uri: format!("fd://{face}"),
            local_uri: "unix:///run/nfd/nfd.sock".into(),
            persistency: Persistency::OnDemand,
            local: true,
            mtu: 8_800,
            marking: None,
            reliable: false,
            local_fields: false,
            link_type: LinkType::PointToPoint,
        };
        self.note(face, Notice::FaceKnown { face: FaceId(face), description }.into());
        let attributes = FaceAttributes { local: true, ..FaceAttributes::wire(8_800) };
        self.note(face, Input::FaceUp { face: FaceId(face), attributes });
    }

    fn command(&mut self, face: u32, verb: Verb, prefix: &str, other: Option<u32>) {
        self.nonce += 1;
        let (name, face_id) = (prefix.parse().ok(), other.map(u64::from));
        let parameters = ControlParameters { name, face_id, ..ControlParameters::default() };
        let nonce = self.nonce.to_be_bytes();
        let unique = Uniqueness { nonce: Some(&nonce), time: Some(self.nonce), seq_num: None };
        let scope = Scope::Localhost;
        let mut command = command_interest(scope, verb, &parameters, &DigestSigner, unique);
        command.nonce = Some(self.nonce as u32);
        self.note(face, Input::Frame { face: FaceId(face), frame: command.to_bytes() });
    }

    fn close(&mut self, face: u32) {
        self.open.remove(&face);
        self.note(face, Input::FaceDown { face: FaceId(face) });
        self.note(face, Notice::FaceGone { face: FaceId(face) }.into());
    }

    /// The routes to applications that each worker has.
    fn routes(&self) -> Vec<BTreeMap<Name, Vec<FaceId>>> {
        let of_node = |node: &recoup_forwarder::node::Node| {
            let routes = node.routes().map(|(prefix, hops)| {
                let faces = hops.iter().map(|hop| hop.face);
                (prefix.clone(), faces.filter(|face| *face != FaceId::MANAGEMENT).collect())
            });
            routes.filter(|(_, faces): &(_, Vec<_>)| !faces.is_empty()).collect()
        };
        self.several.nodes.iter().map(of_node).collect()
    }
}

proptest! {
    #[test]
    fn routes_never_outlive_their_face(
        events in events(),
        (workers, seed) in (1..=4_u16, any::<u64>()),
    ) {
        let mut bench = Bench::new(workers, seed);
        for (event, steps) in &events {
            bench.happen(event);
            bench.several.step(*steps);
        }
        bench.several.settle();
        let routes = bench.routes();
        for faces in routes.iter().flat_map(BTreeMap::values).flatten() {
            prop_assert!(bench.open.contains(&faces.0), "{faces:?} is gone: {routes:?}");
        }
        prop_assert!(routes.iter().all(|of_one| *of_one == routes[0]), "{routes:?}");
        let listed = bench.several.nodes[0].rib_entries(bench.several.now);
        for face in listed.flat_map(|entry| entry.routes).map(|route| route.face_id) {
            prop_assert!(bench.open.iter().any(|open| u64::from(*open) == face), "{face} in the RIB");
        }
        bench.open.clone().into_iter().for_each(|face| bench.close(face));
        bench.several.settle();
        prop_assert!(bench.routes().iter().all(BTreeMap::is_empty));
        prop_assert_eq!(bench.several.nodes.iter().map(|node| node.pit_len()).sum::<usize>(), 0);
    }
}

#[test]
fn registration_ends_with_its_face() {
    for workers in 1..=3 {
        let mut bench = Bench::new(workers, 1);
        bench.open();
        bench.several.settle();
        bench.command(1, Verb::RibRegister, "/a", None);
        bench.close(1);
        bench.several.settle();
        let routes = bench.routes();
        assert!(routes.iter().all(BTreeMap::is_empty), "{workers} workers: {routes:?}");
    }
}
