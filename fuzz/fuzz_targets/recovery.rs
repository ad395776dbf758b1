//! A link with recovery whose frames are lost, delayed, duplicated and forged: both ends keep their limits, account for
//! every label and become idle. While both ends keep their state, no numbered packet is delivered twice.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use recoup_fuzz::Script;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_transport::link::Recovery;
use recoup_transport::link::recovery::{Arrival, FrameKind, LinkRecovery, Outgoing, Sending, Tag};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeSet;

/// Link recovery, most frames that it holds, and most bytes.
const LINKS: [(&str, u64, u64); 7] = [
    ("wldr(ring=16,bytes=16000,hold=0s)", 16, 16_000),
    ("wldr(ring=16,bytes=16000,hold=2ms)", 16, 16_000),
    ("wldr(ring=4,bytes=2500,lifetime=50ms,resends=1,hold=1ms)", 4, 2_500),
    ("wldr(ring=16,bytes=16000,mode=eln,kinds=data)", 16, 16_000),
    ("acked(frames=16,bytes=16000)", 16, 16_000),
    ("acked(frames=2,bytes=1600,retries=1,threshold=1,idle=1ms)", 2, 1_600),
    ("wldr", 8_192, 16 << 20),
];
/// Most frames in flight.
const IN_FLIGHT: usize = 64;

#[derive(Clone)]
struct Frame {
    to: usize,
    tag: Tag,
    packet: Option<u64>,
}

struct Link {
    ends: [Box<dyn LinkRecovery<u64>>; 2],
    bounds: (u64, u64),
    now: Instant,
    in_flight: Vec<Frame>,
    sent: u64,
    /// Delivered packets with the receiving end.
    delivered: BTreeSet<(usize, u64)>,
    /// Packets with a number in their first transmission.
    numbered: BTreeSet<u64>,
    /// Ends that have sent a numbered packet.
    open: [bool; 2],
    /// No frame was forged, no end restarted, and no end declared the other one lost.
    is_honest: bool,
}

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script::new(bytes);
    let (text, frames, held_bytes) = script.one(&LINKS);
    let recovery: Recovery = text.parse().expect("a valid recovery");
    let mut link = Link {
        ends: [1, 2].map(|seed| recovery.build(Rng::from_seed(seed))),
        bounds: (frames, held_bytes),
        now: Instant::ZERO,
        in_flight: Vec::new(),
        sent: 0,
        delivered: BTreeSet::new(),
        numbered: BTreeSet::new(),
        open: [false; 2],
        // If only some frames have numbers, the test cannot see an end that declares the other one lost.
        is_honest: text.starts_with("wldr") && !text.contains("kinds"),
    };
    while !script.is_over() {
        link.step(&mut script);
        (0..2).for_each(|end| link.drain(end));
    }
});

impl Link {
    fn step(&mut self, script: &mut Script<'_>) {
        match script.below(16) {
            0..4 => self.send(script),
            4..9 => self.arrive(script, true),
            9 => self.arrive(script, false),
            10 => self.lose(script),
            11 => self.now += Duration::from_micros(script.number()),
            12 => self.now += Duration::from_millis(script.number()),
            13 => {
                let due = self.ends.iter().filter_map(|end| end.deadline()).min();
                self.now = due.unwrap_or(self.now);
            }
            14 => self.renew(script),
            _ => self.forge(script),
        }
    }

    fn send(&mut self, script: &mut Script<'_>) {
        let (from, packet) = (script.below(2), self.sent);
        self.sent += 1;
        let sending = Sending {
            kind: script.one(&[FrameKind::Interest, FrameKind::Data]),
            bytes: 1 + script.number() as u32 % 1_500,
            lifetime: script.one(&[None, Some(4_000), Some(100)]).map(Duration::from_millis),
            packet,
            alone: script.below(4) > 0,
            free_bytes: script.number() as usize % 500,
        };
        let tag = self.ends[from].send(self.now, &packet, &sending);
        if tag.label.is_some() {
            self.numbered.insert(packet);
            self.open[from] = true;
        } else if self.open[from] {
            // After a long idle time the other end is lost, and with it the record of its frames.
            self.is_honest = false;
        }
        self.carry(Frame { to: 1 - from, tag, packet: Some(packet) });
    }

    /// A tag that was written to a frame is read from it.
    fn carry(&mut self, frame: Frame) {
        let mut header = LpHeader::default();
        frame.tag.write(&mut header);
        let mut out = BytesMut::new();
        LpPacket { header, fragment: None }.encode(&mut out);
        let mut read = LpPacket::decode(out.freeze()).expect("a frame that was written");
        assert_eq!(Tag::take(&mut read.header), frame.tag);
        if self.in_flight.len() < IN_FLIGHT {
            self.in_flight.push(frame);
        }
    }

    fn arrive(&mut self, script: &mut Script<'_>, once: bool) {
        if self.in_flight.is_empty() {
            return;
        }
        let at = script.below(self.in_flight.len());
        let frame = self.in_flight[at].clone();
        if once {
            self.in_flight.remove(at);
        } else if frame.tag.label.is_none() {
            // A copy of a frame without a number cannot be recognised.
            return;
        }
        self.receive(&frame);
    }

    fn receive(&mut self, frame: &Frame) {
        let arrival = self.ends[frame.to].receive(self.now, &frame.tag, frame.packet.is_some());
        let Some(packet) = frame.packet.filter(|_| arrival == Arrival::Deliver) else {
            return;
        };
        let is_new = self.delivered.insert((frame.to, packet));
        let numbered = self.numbered.contains(&packet);
        assert!(is_new || !self.is_honest || !numbered, "packet {packet} was delivered twice");
    }

    fn lose(&mut self, script: &mut Script<'_>) {
        if !self.in_flight.is_empty() {
            let frame = self.in_flight.swap_remove(script.below(self.in_flight.len()));
            // The frame may have been lost before it left its sender.
            if let Some(label) = frame.tag.label.filter(|_| script.below(2) == 1) {
                self.ends[1 - frame.to].dropped(label);
            }
        }
    }

    /// The link of an end goes down or comes up.
    fn renew(&mut self, script: &mut Script<'_>) {
        self.is_honest = false;
        let end = &mut self.ends[script.below(2)];
        match script.below(3) {
            0 => end.link_down(self.now),
            greets => end.link_up(self.now, greets == 1),
        }
    }

    /// A forged frame arrives.
    fn forge(&mut self, script: &mut Script<'_>) {
        let (to, wire) = (script.below(2), Bytes::copy_from_slice(script.bytes()));
        let Ok(mut frame) = LpPacket::decode(wire) else {
            return;
        };
        self.is_honest = false;
        let tag = Tag::take(&mut frame.header);
        let _ = self.ends[to].receive(self.now, &tag, frame.fragment.is_some());
    }

    /// Sends the frames that are due; their number is limited.
    fn drain(&mut self, end: usize) {
        self.ends[end].fire(self.now);
        for frames_sent in 0.. {
            assert!(frames_sent < 20_000, "an end that never becomes idle");
            let Some(outgoing) = self.ends[end].poll(self.now) else {
                break;
            };
            let (tag, packet) = match outgoing {
                Outgoing::Again { frame, tag, .. } => (tag, Some(frame)),
                Outgoing::Control(tag) | Outgoing::Greeting(tag) => (tag, None),
            };
            self.carry(Frame { to: 1 - end, tag, packet });
        }
        while self.ends[end].poll_lost().is_some() {}
        let (due, it) = (self.ends[end].deadline(), self.ends[end].counters());
        assert!(due.is_none_or(|due| due > self.now), "due {due:?} at {}", self.now);
        let (frames, bytes) = self.bounds;
        assert!(it.held <= frames && it.held_bytes <= bytes, "{it:?}");
        let ended = it.resent + it.settled + it.given_up + it.expired;
        assert_eq!(it.labelled, ended + it.held, "{it:?}");
    }
}
