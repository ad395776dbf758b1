//! Neighbours that fall silent, although nothing reports it.
use super::{APP, Bench, NOON, REMOTE, about};
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceForm, FaceId};
use recoup_forwarder::management::{ManagementOptions, Notice};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, RibEntry, Verb};
use recoup_transport::time::{Duration, Instant};

/// A node that detects silent neighbours, and a neighbour with recovery.
struct Silence {
    bench: Bench,
    neighbour: Node,
    receives: bool,
    /// Nacks with the reason Mobility toward the local application.
    returned: usize,
}

/// Attributes of both ends of the link.
fn attributes(recovery: &str) -> FaceAttributes {
    FaceAttributes { recovery: recovery.parse().unwrap(), ..FaceAttributes::wire(1_400) }
}

impl Silence {
    fn new(recovery: &str) -> Self {
        let mut bench = Bench::new(ManagementOptions::default());
        let management = Some(ManagementOptions::default());
        bench.node = Node::new(
            NodeConfig { management, ..NodeConfig::deterministic(0) }
                .with(|it| it.mobility = "mldr".parse().unwrap()),
        );
        bench.node.handle(Instant::ZERO, Notice::TimeOfDay { micros: NOON }.into());
        bench.open(APP, "fd://9", true);
        let attributes = attributes(recovery);
        let mut neighbour = Node::deterministic(1);
        neighbour.handle(Instant::ZERO, Input::FaceUp { face: APP, attributes });
        bench.open(REMOTE, "udp4://192.0.2.7:6363", false);
        bench.node.handle(Instant::ZERO, Input::FaceUp { face: REMOTE, attributes });
        bench.poll();
        bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(2), ..about("/a") });
        Self { bench, neighbour, receives: true, returned: 0 }
    }

    /// Sends an Interest, and runs both for some time; returns how many frames left for the neighbour.
    fn run(&mut self, name: Option<&str>, millis: u64) -> usize {
        let end = self.bench.now + Duration::from_millis(millis);
        if let Some(name) = name {
            let mut interest = Interest::new(name.parse().unwrap());
            self.bench.nonce += 1;
            interest.nonce = Some(self.bench.nonce);
            let frame = interest.to_bytes();
            self.bench.node.handle(self.bench.now, Input::Frame { face: APP, frame });
        }
        let mut count = 0;
        while self.bench.now < end {
            let sent = self.bench.poll();
            for (face, frame) in sent {
                if face != REMOTE {
                    self.returned +=
                        usize::from(frame.get(6..11) == Some(&[0xfd, 3, 0x21, 1, 200]));
                    continue;
                }
                count += usize::from(frame.first() == Some(&0x05));
                if self.receives {
                    self.neighbour.handle(self.bench.now, Input::Frame { face: APP, frame });
                }
            }
            self.answer();
            self.bench.now += Duration::from_millis(1);
        }
        count
    }

    /// Passes frames of the neighbour.
    fn answer(&mut self) {
        while let Some(output) = self.neighbour.poll(self.bench.now) {
            if let Output::Send { face, frame } = output
                && self.receives
                && face == APP
            {
                self.inject(frame.into_bytes());
            }
        }
    }

    /// Sends Interests until the neighbour is known to answer.
    fn meet(&mut self) {
        for step in 0..20 {
            assert_eq!(self.run(Some(&format!("/a/{step}")), 200), 1, "{step}");
        }
    }

    /// Interests stay pending at the neighbour.
    fn hold_interests(&mut self) {
        let (face, attributes) = (FaceId(9), FaceAttributes::wire(1_400));
        self.neighbour.handle(self.bench.now, Input::FaceUp { face, attributes });
        let route = RouteChange { prefix: "/a".parse().unwrap(), face, cost: Some(1) };
        self.neighbour.handle(self.bench.now, Input::Route(route));
    }

    /// The neighbour, perhaps another node, has a new face toward this node.
    fn reopen(&mut self) {
        self.hold_interests();
        self.neighbour.handle(self.bench.now, Input::FaceDown { face: APP });
        let attributes = attributes("auto");
        self.neighbour.handle(self.bench.now, Input::FaceUp { face: APP, attributes });
    }

    /// Passes a frame that has the neighbour's address.
    fn inject(&mut self, frame: Bytes) {
        self.bench.node.handle(self.bench.now, Input::Frame { face: REMOTE, frame });
    }

    /// Passes Data of a neighbour.
    fn inject_data(&mut self, name: &str) {
        let data = DataBuilder::new(&name.parse().unwrap()).build(b"x", &DigestSigner);
        self.inject(data.wire());
    }

    /// Whether the neighbour's face is down.
    fn is_down(&self) -> bool {
        self.bench.node.face_statuses().any(|it| it.profile.face_id == 2 && it.down)
    }

    /// As [`meet`](Self::meet), and then loses all frames until the neighbour is silent.
    fn fall_silent(&mut self) {
        self.meet();
        self.receives = false;
        assert_eq!(self.run(Some("/a/lost"), 1_000), 1);
        assert!(self.is_down());
    }
}

#[test]
fn silent_neighbour_takes_its_face_down() {
    let mut silence = Silence::new("auto");
    // The neighbour has no Data, and answers questions: its face stays up until it is silent.
    silence.fall_silent();
    assert_eq!(silence.run(Some("/a/held"), 1_000), 0, "its face is down");
    assert_eq!(silence.bench.records::<RibEntry>("/localhost/nfd/rib/list").len(), 1);
    // The answer to a later question brings it up; Interests that waited there expire or leave.
    silence.receives = true;
    silence.run(None, 3_000);
    assert_eq!(silence.run(Some("/a/again"), 200), 1);
    assert!(!silence.is_down());
}

#[test]
fn new_face_of_a_neighbour_loses_nothing() {
    let mut silence = Silence::new("auto");
    silence.hold_interests();
    silence.meet();
    silence.reopen();
    silence.run(Some("/a/new"), 200);
    assert_eq!(silence.returned, 0);
    // Another node at the address has received none of the pending Interests.
    silence.neighbour = Node::deterministic(7);
    silence.reopen();
    silence.run(Some("/a/next"), 2_000);
    assert!(silence.returned > 10, "{}", silence.returned);
}

#[test]
fn interests_of_a_replaced_neighbour_are_answered() {
    let mut silence = Silence::new("auto");
    silence.bench.done(Verb::RibRegister, &about("/b"));
    silence.hold_interests();
    silence.meet();
    silence.inject(Interest::new("/b/x".parse().unwrap()).to_bytes());
    silence.neighbour = Node::deterministic(7);
    silence.reopen();
    silence.run(Some("/a/next"), 500);
    assert!(silence.returned > 10);
    let data = DataBuilder::new(&"/b/x".parse().unwrap()).build(b"x", &DigestSigner);
    let frame = data.wire();
    silence.bench.node.handle(silence.bench.now, Input::Frame { face: APP, frame });
    assert!(silence.bench.poll().iter().any(|(face, _)| *face == REMOTE));
}

#[test]
fn neighbour_without_recovery_is_silent_once() {
    for recovery in ["auto", "wldr", "acked"] {
        let mut silence = Silence::new(recovery);
        for step in 0..20 {
            silence.run(Some(&format!("/a/{step}")), 200);
        }
        // Another one at the same address, whose Data take two seconds, and which answers no question.
        silence.receives = false;
        let mut falls = 0;
        for step in 100..140 {
            let name = format!("/a/{step}");
            silence.run(Some(&name), 2_000);
            falls += u32::from(silence.is_down());
            silence.inject_data(&name);
            assert!(!silence.is_down(), "{recovery}: {step}");
        }
        assert!(falls <= 1, "{recovery}: down {falls} times");
    }
}

#[test]
fn returning_neighbour_can_be_silent_again() {
    let mut silence = Silence::new("auto");
    silence.fall_silent();
    // Its Data precede its next answer.
    silence.receives = true;
    silence.inject_data("/a/lost");
    silence.fall_silent();
}

#[test]
fn broken_frame_does_not_end_a_silence() {
    let mut silence = Silence::new("auto");
    silence.fall_silent();
    let name = "/a/lost".parse().unwrap();
    let whole = DataBuilder::new(&name).build(b"x", &DigestSigner).wire();
    let in_frame = |packet: &[u8]| {
        [&[0x64, packet.len() as u8 + 2, 0x50, packet.len() as u8], packet].concat()
    };
    let cut = &whole[..whole.len() - 1];
    for broken in [vec![], vec![6], vec![5, 0], vec![0x64, 9], cut.to_vec(), in_frame(cut)] {
        silence.inject(broken.clone().into());
        assert!(silence.is_down(), "{broken:?}");
    }
    // A part of a packet, a frame without packet, and a packet in a frame.
    let part = vec![0x64, 11, 0x52, 1, 0, 0x53, 1, 2, 0x50, 3, 6, 9, 9];
    for intact in [part, vec![0x64, 0], in_frame(&whole)] {
        silence.inject(intact.clone().into());
        assert!(!silence.is_down(), "{intact:?}");
        silence.receives = true;
        silence.run(None, 1_000);
        silence.fall_silent();
    }
}

#[test]
fn new_attributes_do_not_end_a_silence() {
    let mut silence = Silence::new("auto");
    silence.fall_silent();
    let attributes = FaceAttributes { form: FaceForm::Wire { mtu: 1_300 }, ..attributes("auto") };
    silence.bench.node.handle(silence.bench.now, Input::FaceUp { face: REMOTE, attributes });
    assert!(silence.is_down());
    silence.inject_data("/a/lost");
    assert!(!silence.is_down());
}
