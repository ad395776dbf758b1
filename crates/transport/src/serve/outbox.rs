//! Outgoing packets of a producer, in the order of the Interests: checked, then signed together.
use super::packet::Packet;
use super::shelf::Shelf;
use super::waiting::Pending;
use crate::application::{AppOutput, Report, ReturnPath};
use crate::event::Event;
use bytes::BytesMut;
use recoup_packet::signature::Signer;
use std::collections::VecDeque;

/// Bytes of one allocation for short packets. A link holds packets for retransmission, and one packet keeps its whole
/// allocation alive: packets of different peers must not share much.
const POOL_BYTES: usize = 8 * 1024;

/// Bytes of a segment beside its content: more than names in use need.
const OVERHEAD_BYTES: usize = 1_024;

/// An answer with content of an object.
#[derive(Debug)]
pub(super) struct Answer {
    /// Number of the object whose source was read.
    pub(super) object: Option<u64>,
    pub(super) packet: Packet,
    /// The event reported when the packet is sent.
    pub(super) event: Event,
}

/// Outputs that are ready, and drafts that need a check of their source or a signature.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pool: BytesMut,
    drafts: Vec<Draft>,
    /// Objects with a packet among the drafts, each once.
    touched: Vec<u64>,
    ready: VecDeque<AppOutput>,
}

/// An output of the current batch.
#[derive(Debug)]
enum Draft {
    Report(Event),
    Nack(Packet, ReturnPath),
    Answer(Answer, Pending),
}

impl Draft {
    fn packet(&self) -> Option<&Packet> {
        match self {
            Self::Report(_) => None,
            Self::Nack(packet, _) => Some(packet),
            Self::Answer(answer, _) => Some(&answer.packet),
        }
    }
}

impl Outbox {
    /// Whether no output is ready.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The next output.
    pub(super) fn take(&mut self) -> Option<AppOutput> {
        self.ready.pop_front()
    }

    /// An empty buffer for a packet with this many bytes of content.
    pub(super) fn buffer(&mut self, content_bytes: usize) -> &mut BytesMut {
        let needed = content_bytes + OVERHEAD_BYTES;
        if self.pool.capacity() < needed {
            self.pool = BytesMut::with_capacity(needed.max(POOL_BYTES));
        }
        &mut self.pool
    }

    pub(super) fn report(&mut self, event: Event) {
        if self.drafts.is_empty() {
            self.ready.push_back(report(event));
        } else {
            self.drafts.push(Draft::Report(event));
        }
    }

    pub(super) fn nack(&mut self, packet: Packet, path: ReturnPath) {
        self.drafts.push(Draft::Nack(packet, path));
    }

    pub(super) fn answer(&mut self, answer: Answer, pending: Pending) {
        match answer.packet {
            Packet::Whole(data) if answer.object.is_none() && self.drafts.is_empty() => {
                self.ready.push_back(report(answer.event));
                self.ready.push_back(AppOutput::Data { data, path: pending.path });
            }
            _ => {
                let is_new = |object: &u64| {
                    self.touched.last() != Some(object) && !self.touched.contains(object)
                };
                self.touched.extend(answer.object.filter(is_new));
                self.drafts.push(Draft::Answer(answer, pending));
            }
        }
    }

    /// The objects with a packet among the drafts.
    pub(super) fn take_touched(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.touched).into_iter()
    }

    /// Withdraws the packets of these objects. Returns their Interests.
    pub(super) fn withdraw(&mut self, objects: &[u64]) -> Vec<Pending> {
        let mut withdrawn = Vec::new();
        let drafts = std::mem::take(&mut self.drafts);
        self.drafts = (drafts.into_iter())
            .filter_map(|draft| match draft {
                Draft::Answer(Answer { object: Some(object), .. }, pending)
                    if objects.contains(&object) =>
                {
                    withdrawn.push(pending);
                    None
                }
                draft => Some(draft),
            })
            .collect();
        withdrawn
    }

    /// Signs all drafts and makes them ready; the shelf keeps the signatures of segments.
    pub(super) fn complete(&mut self, signer: &dyn Signer, shelf: &mut Shelf) {
        if self.drafts.is_empty() {
            return;
        }
        let packets = self.drafts.iter().filter_map(Draft::packet);
        let portions: Vec<&[u8]> = packets.filter_map(Packet::signed_portion).collect();
        let mut signatures = signer.sign_many(&portions).into_iter();
        for draft in self.drafts.drain(..) {
            let (packet, path) = match draft {
                Draft::Report(event) => {
                    self.ready.push_back(report(event));
                    continue;
                }
                Draft::Nack(packet, path) => (packet, path),
                Draft::Answer(answer, pending) => {
                    self.ready.push_back(report(answer.event));
                    (answer.packet, pending.path)
                }
            };
            let data = match packet {
                Packet::Whole(data) => data,
                Packet::Unsigned(unsigned, origin) => {
                    let signature = signatures.next().unwrap_or_default();
                    if let Some(origin) = origin {
                        shelf.keep_signature(origin, &signature);
                    }
                    unsigned.finish(&signature)
                }
            };
            self.ready.push_back(AppOutput::Data { data, path });
        }
    }
}

fn report(event: Event) -> AppOutput {
    AppOutput::Report(Report::Event(event))
}
