//! Two ends of a link, and scripted frames between them.
use recoup_transport::link::Recovery;
use recoup_transport::link::recovery::{
    Arrival, Counters, Ewln, FrameKind, LinkRecovery, Notice, Outgoing, Sending, State, Tag,
};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

/// A frame on the link: its tag, and its packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) tag: Tag,
    pub(crate) packet: Option<u64>,
}

/// One end of a link.
pub(crate) struct End {
    pub(crate) machine: Box<dyn LinkRecovery<u64>>,
    /// Packets delivered here.
    pub(crate) got: Vec<u64>,
}

/// Bytes of every frame.
pub(crate) const BYTES: u32 = 1_000;

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// An Interest of that lifetime.
pub(crate) fn sending(packet: u64, lifetime: Option<Duration>) -> Sending {
    let kind = FrameKind::Interest;
    Sending { kind, bytes: BYTES, lifetime, packet, alone: true, free_bytes: 400 }
}

impl End {
    pub(crate) fn new(text: &str, seed: u64) -> Self {
        let recovery: Recovery = text.parse().unwrap();
        Self { machine: recovery.build(Rng::from_seed(seed)), got: Vec::new() }
    }

    pub(crate) fn send(&mut self, now: Instant, packet: u64) -> Frame {
        self.send_as(now, &sending(packet, Some(Duration::from_secs(4))))
    }

    pub(crate) fn send_as(&mut self, now: Instant, sending: &Sending) -> Frame {
        let tag = self.machine.send(now, &sending.packet, sending);
        Frame { tag, packet: Some(sending.packet) }
    }

    pub(crate) fn receive(&mut self, now: Instant, frame: &Frame) -> Arrival {
        let arrival = self.machine.receive(now, &frame.tag, frame.packet.is_some());
        if arrival == Arrival::Deliver {
            self.got.extend(frame.packet);
        }
        arrival
    }

    pub(crate) fn poll(&mut self, now: Instant) -> Option<Frame> {
        Some(match self.machine.poll(now)? {
            Outgoing::Again { frame, tag, .. } => Frame { tag, packet: Some(frame) },
            Outgoing::Control(tag) | Outgoing::Greeting(tag) => Frame { tag, packet: None },
        })
    }

    /// All control frames and retransmissions of this instant.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Frame> {
        std::iter::from_fn(|| self.poll(now)).collect()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.machine.counters()
    }
}

/// Exchanges all control frames of both ends; returns them.
pub(crate) fn converse(now: Instant, a: &mut End, b: &mut End) -> Vec<Frame> {
    let mut control = Vec::new();
    for _ in 0..100 {
        let before = control.len();
        for frame in a.drain(now) {
            b.receive(now, &frame);
            control.push(frame);
        }
        for frame in b.drain(now) {
            a.receive(now, &frame);
            control.push(frame);
        }
        if control.len() == before {
            return control;
        }
    }
    panic!("endless control frames: {control:?}");
}

/// Two ends after their handshake, at 0 ms.
pub(crate) fn acquainted(text: &str) -> (End, End) {
    let (mut a, mut b) = (End::new(text, 1), End::new(text, 2));
    introduce(Instant::ZERO, &mut a, &mut b);
    (a, b)
}

/// Performs the handshake of two ends.
pub(crate) fn introduce(now: Instant, a: &mut End, b: &mut End) {
    let first = a.send(now, 1_000_000);
    b.receive(now, &first);
    converse(now, a, b);
    let second = b.send(now, 1_000_001);
    a.receive(now, &second);
    (a.got, b.got) = (Vec::new(), Vec::new());
}

/// The number on a frame.
pub(crate) fn number(frame: &Frame) -> Option<u32> {
    frame.tag.label.map(|label| label.number)
}

/// The EWLNs among frames: the first missing number and the first after the gap.
pub(crate) fn ewlns(frames: &[Frame]) -> Vec<(u32, u32)> {
    let ewln = |frame: &Frame| match frame.tag.notice {
        Some(Notice::Ewln(Ewln { expected, last_received, .. })) => Some((expected, last_received)),
        _ => None,
    };
    frames.iter().filter_map(ewln).collect()
}

/// The states among frames.
pub(crate) fn states(frames: &[Frame]) -> Vec<State> {
    let state = |frame: &Frame| match frame.tag.notice {
        Some(Notice::State(state)) => Some(state),
        _ => None,
    };
    frames.iter().filter_map(state).collect()
}
