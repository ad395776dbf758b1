//! What a producer is about to say: in the order of the questions, signatures made together.
use super::object::Shelf;
use super::packet::Packet;
use crate::application::{AppOutput, Report, ReturnPath};
use crate::event::Event;
use bytes::BytesMut;
use recoup_packet::signature::Signer;
use std::collections::VecDeque;

/// Octets asked from the allocator at a time for outgoing packets.
const POOL_BYTES: usize = 256 * 1024;

/// Octets of a segment that are not its content: more than names in use need.
const OVERHEAD_BYTES: usize = 1_024;

/// Outputs that are ready, and those that wait for a signature.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pool: BytesMut,
    /// Begins with a packet that is still to be signed, unless it is empty.
    drafts: Vec<Draft>,
    ready: VecDeque<AppOutput>,
}

/// What is to be put out once the packets before it are signed.
#[derive(Debug)]
enum Draft {
    Report(Event),
    Answer(Packet, ReturnPath),
}

impl Outbox {
    /// Nothing is ready.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The next output that is ready.
    pub(super) fn take(&mut self) -> Option<AppOutput> {
        self.ready.pop_front()
    }

    /// An empty buffer with room for a packet with so many octets of content.
    pub(super) fn room(&mut self, content_bytes: usize) -> &mut BytesMut {
        if self.pool.capacity() < content_bytes + OVERHEAD_BYTES {
            self.pool.reserve(POOL_BYTES);
        }
        &mut self.pool
    }

    pub(super) fn report(&mut self, event: Event) {
        if self.drafts.is_empty() {
            self.ready.push_back(AppOutput::Report(Report::Event(event)));
        } else {
            self.drafts.push(Draft::Report(event));
        }
    }

    pub(super) fn answer(&mut self, packet: Packet, path: ReturnPath) {
        match packet {
            Packet::Whole(data) if self.drafts.is_empty() => {
                self.ready.push_back(AppOutput::Data { data, path });
            }
            packet => self.drafts.push(Draft::Answer(packet, path)),
        }
    }

    /// Signs what was laid out, and everything is ready; the signatures of segments are kept on the shelf.
    pub(super) fn complete(&mut self, signer: &dyn Signer, shelf: &mut Shelf) {
        if self.drafts.is_empty() {
            return;
        }
        let portions: Vec<&[u8]> = (self.drafts.iter())
            .filter_map(|draft| match draft {
                Draft::Answer(packet, _) => packet.signed_portion(),
                Draft::Report(_) => None,
            })
            .collect();
        let mut signatures = signer.sign_many(&portions).into_iter();
        for draft in self.drafts.drain(..) {
            let output = match draft {
                Draft::Report(event) => AppOutput::Report(Report::Event(event)),
                Draft::Answer(Packet::Whole(data), path) => AppOutput::Data { data, path },
                Draft::Answer(Packet::Unsigned(unsigned, origin), path) => {
                    let signature = signatures.next().unwrap_or_default();
                    if let Some(origin) = origin {
                        shelf.keep_signature(origin, &signature);
                    }
                    AppOutput::Data { data: unsigned.finish(&signature), path }
                }
            };
            self.ready.push_back(output);
        }
    }
}
