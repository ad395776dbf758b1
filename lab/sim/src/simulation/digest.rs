//! The digest of a run: one number over everything that was observed, in its order.
//!
//! Two runs with the same digest made the same observations. A digest is no protection against a constructed collision.
//! Folded multiplication, as in wyhash.
use crate::network::Direction;
use crate::observe::{Observation, Observer};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::{Body, Packet};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::hash::{Hash as _, Hasher};

/// Mixes observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    state: u64,
    observations: u64,
    leaves_out_traces: bool,
}

impl Default for Digest {
    fn default() -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, observations: 0, leaves_out_traces: false }
    }
}

impl Digest {
    /// The digest of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A digest without trace ids: equal for a network that follows transmissions and one that does not.
    pub fn without_traces() -> Self {
        Self { leaves_out_traces: true, ..Self::default() }
    }

    /// The digest of what was observed so far.
    pub fn value(&self) -> u64 {
        self.state ^ self.observations
    }

    /// Number of observations in it.
    pub fn observations(&self) -> u64 {
        self.observations
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * 0xa076_1d64_78bd_642f;
        self.state = (product as u64).rotate_left(29) ^ (product >> 64) as u64;
    }

    fn place(&mut self, tag: u64, place: u32, direction: Direction) {
        self.word(tag | u64::from(place) << 8 | u64::from(direction == Direction::Back) << 40);
    }

    fn packet(&mut self, packet: &Packet) {
        let (kind, nonce) = match &packet.body {
            Body::Interest(interest) => (0, interest.nonce),
            Body::Data(_) => (1, None),
            Body::Nack(interest, _) => (2, interest.nonce),
            Body::Idle => (3, None),
        };
        self.word(packet.hop.name_hash);
        self.word(u64::from(packet.hop.bytes) << 32 | u64::from(nonce.unwrap_or(0)));
        let limit = u64::from(packet.hop.hop_limit.unwrap_or(0));
        self.word(kind << 16 | limit << 8 | u64::from(packet.hop.congestion_mark));
    }

    fn report(&mut self, report: &Report) {
        match report {
            Report::Event(event) => self.event(event),
            Report::Content { segment, content } => {
                self.word(*segment);
                self.word(content.len() as u64);
            }
            Report::Resolved { object, .. } => self.write(object.value()),
            Report::Registered { prefix, outcome } => {
                self.write(prefix.value());
                self.word(u64::from(outcome.is_ok()));
            }
            Report::Identified(id) => self.write(id.bytes()),
            Report::Kept => {}
            Report::Managed(answer) => self.word(u64::from(answer.is_ok())),
            Report::Done(result) => self.word(u64::from(result.is_ok())),
        }
    }

    fn event(&mut self, event: &Event) {
        std::mem::discriminant(event).hash(self);
        match *event {
            Event::Sent { segment, transmissions, rto } => {
                self.word(segment);
                self.word(u64::from(transmissions));
                self.word(rto.as_nanos());
            }
            Event::Received { segment, rtt, delay, .. } => {
                self.word(segment);
                self.word(rtt.as_nanos());
                self.word(delay.as_nanos());
            }
            Event::Sampled { segment, srtt, rttvar, rto, .. } => {
                self.word(segment);
                self.word(srtt.as_nanos());
                self.word(rttvar.as_nanos());
                self.word(rto.as_nanos());
            }
            Event::Window { window, ssthresh, delay_window } => {
                self.word(window.to_bits());
                self.word(ssthresh.to_bits());
                self.word(delay_window.to_bits());
            }
            Event::Phase { phase } => self.word(phase as u64),
            Event::TimedOut { segment }
            | Event::Spurious { segment, .. }
            | Event::Lost { segment }
            | Event::Repaired { segment }
            | Event::Marked { segment }
            | Event::Prolonged { segment, .. }
            | Event::LeftOut { segment }
            | Event::Withdrawn { segment } => self.word(segment),
            _ => {}
        }
    }
}

impl Observer for Digest {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if self.leaves_out_traces && is_of_trace(observation) {
            return;
        }
        self.observations += 1;
        self.word(now.as_nanos());
        // The most frequent ones: without the rest of the function around them they need no stack.
        if let Observation::Node { node, event } = observation {
            self.word(3 | u64::from(node.0) << 8);
            event.hash(self);
        } else {
            self.other(observation);
        }
    }
}

impl Digest {
    #[inline(never)]
    fn other(&mut self, observation: &Observation<'_>) {
        match *observation {
            Observation::Node { .. } => {}
            Observation::Started { application, .. } => {
                self.word(1 | u64::from(application.0) << 8)
            }
            Observation::Application { application, report } => {
                self.word(2 | u64::from(application.0) << 8);
                std::mem::discriminant(report).hash(self);
                self.report(report);
            }
            Observation::Sent { link, direction, packet } => {
                self.place(4, link.0, direction);
                self.packet(packet);
            }
            Observation::Arrived { link, direction, packet } => {
                self.place(5, link.0, direction);
                self.packet(packet);
            }
            Observation::Dropped { node, kind, reason } => {
                self.word(6 | u64::from(node.0) << 8);
                (kind, reason).hash(self);
            }
            Observation::Lost { link, direction, packet, reason } => {
                self.place(7, link.0, direction);
                reason.hash(self);
                self.packet(packet);
            }
            Observation::Doubled { link, direction, packet } => {
                self.place(8, link.0, direction);
                self.packet(packet);
            }
            Observation::Joined { client, point, before } => {
                self.word(10 | u64::from(client.0) << 8);
                self.word(u64::from(point.0) << 32 | before.map_or(0, |it| u64::from(it.0) + 1));
            }
            Observation::Left { client, point } => {
                self.word(11 | u64::from(client.0) << 8);
                self.word(u64::from(point.0));
            }
            Observation::Fault { number } => self.word(9 | (number as u64) << 8),
            // It follows from what was sent and when.
            Observation::Waiting { .. } => {}
        }
    }
}

fn is_of_trace(observation: &Observation<'_>) -> bool {
    use NodeEvent::{TraceBorn, TraceCopied, TraceDelivered, TraceDied, TraceSuperseded};
    let Observation::Node { event, .. } = observation else { return false };
    matches!(
        event,
        TraceBorn { .. }
            | TraceCopied { .. }
            | TraceDelivered { .. }
            | TraceDied { .. }
            | TraceSuperseded { .. }
    )
}

/// Hashable values enter the digest as words, alike on every machine.
impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.value()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.word(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.word(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.word(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.word(value as u64);
    }
}
