//! What workers of a forwarder say to each other, and what a node does with it.
use super::{Errand, Place, Shard, Worker};
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceId};
use crate::management::Notice;
use crate::node::{Node, Output, RouteChange};
use crate::packet::{Body, Packet};
use crate::schedule;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;
use recoup_transport::queue::{FlowKey, Scheduling};
use recoup_transport::time::Instant;
use std::sync::Arc;

/// What one worker says to another.
#[derive(Clone, Debug)]
pub enum Handed {
    /// A packet came by a face, and is for the other's tables.
    Came {
        /// By which face.
        face: FaceId,
        /// The link fields that it came with.
        header: Option<Box<LpHeader>>,
        /// The whole network packet.
        packet: Bytes,
        /// Data: who else is to see them.
        rest: Rest,
    },
    /// A packet leaves by a face of the other.
    Leaves {
        /// By which face.
        face: FaceId,
        /// On whose behalf, where the face may have a scheduler.
        group: Option<FaceId>,
        /// The packet.
        packet: Packet,
    },
    /// Data came by a face of the other: Interests of this flow are charged with them there.
    Answered {
        /// By which face.
        face: FaceId,
        /// Whose Interest they answer.
        key: FlowKey,
        /// Octets on the link.
        octets: u32,
    },
    /// A link lost an Interest that the other has sent, and does not send it again.
    Lost {
        /// By which face it left.
        face: FaceId,
        /// The Interest.
        interest: Arc<Interest>,
    },
    /// A face of this worker is usable, or has changed.
    FaceUp {
        /// Which.
        face: FaceId,
        /// Whose it is.
        worker: Worker,
        /// What it can do.
        attributes: Box<FaceAttributes>,
    },
    /// A face of this worker is gone for now.
    FaceDown {
        /// Which.
        face: FaceId,
    },
    /// The leader changes a route.
    Route(Box<RouteChange>),
    /// The leader removes all routes to a face that is gone.
    RoutesGone {
        /// Which.
        face: FaceId,
        /// The prefixes that the routing table of the leader had routes of to that face.
        prefixes: Vec<Name>,
    },
    /// What leaves by a face is scheduled like this from now on, whoever has it.
    Schedule {
        /// Which.
        face: FaceId,
        /// How.
        scheduling: Box<Scheduling>,
    },
    /// What the leader must know of faces, or others of strategies.
    Notice(Box<Notice>),
    /// Something that all do in turn.
    Errand(Box<Errand>),
}

impl Handed {
    /// Whether it brings a packet, which may be dropped where there is no room for it. All else must arrive.
    #[must_use]
    pub fn is_packet(&self) -> bool {
        matches!(self, Self::Came { .. } | Self::Leaves { .. })
    }
}

/// Who else is to see Data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// From this length on it is to be looked whether Interests for prefixes of their name wait elsewhere; `None`: the one
    /// who gets the Data is the last.
    next: Option<u8>,
    /// Somebody waited for them.
    answered: bool,
}

/// How a worker sees Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// As the only one, or as the last one; whether others have waited for them.
    Last {
        /// They have.
        answered: bool,
    },
    /// Others follow, and account for them.
    Passing,
}

impl Visit {
    /// Nobody else sees it.
    pub(crate) const ONLY: Self = Self::Last { answered: false };
}

impl Node {
    /// Another worker says something.
    pub(crate) fn on_handed(&mut self, now: Instant, handed: Handed) {
        match handed {
            Handed::Came { face, header, packet, rest } => {
                self.take_in(now, face, header.as_deref(), packet, rest);
            }
            Handed::Leaves { face, group: None, packet } => self.transmit(now, face, packet),
            Handed::Leaves { face, group: Some(group), packet } => {
                let content = schedule::content(&self.hasher, packet.name());
                self.schedule(now, face, (group, content), packet);
            }
            Handed::Answered { face, key, octets } => self.gates.answered(face, key, octets),
            Handed::Lost { face, interest } => {
                self.tell_of_loss(now, face, &Body::Interest(interest));
            }
            Handed::FaceUp { face, worker, attributes } => {
                self.face_up(now, face, *attributes, Some(worker));
            }
            Handed::FaceDown { face } => self.face_down(now, face),
            Handed::Route(change) => self.on_route(now, &change),
            Handed::RoutesGone { face, prefixes } => self.remove_routes(face, &prefixes),
            Handed::Schedule { face, scheduling } => self.on_schedule(now, face, *scheduling),
            Handed::Notice(notice) => self.heed(now, *notice),
            Handed::Errand(errand) => self.on_errand(now, *errand),
        }
    }

    /// Says something to another worker.
    pub(crate) fn hand(&mut self, worker: Worker, handed: Handed) {
        self.outbox.outputs.push_back(Output::Hand { worker, handed });
    }

    /// Says something to all other workers, if there are any.
    pub(crate) fn hand_to_all(&mut self, handed: impl Fn() -> Handed) {
        let others = self.shard.as_ref().map(|shard| shard.others());
        others.into_iter().flatten().for_each(|worker| self.hand(worker, handed()));
    }

    /// Says something to all other workers that only the leader says.
    pub(crate) fn lead(&mut self, handed: impl Fn() -> Handed) {
        if self.shard.as_ref().is_some_and(|shard| shard.leads()) {
            self.hand_to_all(handed);
        }
    }

    /// What the driver says of a face concerns the leader, or all.
    pub(crate) fn spread(&mut self, notice: &Notice) {
        let leads = self.shard.as_ref().is_some_and(|shard| shard.leads());
        let told = || Handed::Notice(Box::new(notice.clone()));
        match notice {
            Notice::FaceGone { .. } => self.hand_to_all(told),
            Notice::Strategy { .. } => self.lead(told),
            Notice::FaceKnown { .. } | Notice::FaceMade { .. } if !leads => self.hand(0, told()),
            _ => {}
        }
    }

    /// Takes a whole network packet that came by a face of this node to where it belongs, if it may.
    #[inline(never)]
    pub(crate) fn read_as_worker(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
    ) {
        if !self.is_too_fast(now, face, header, &packet) {
            self.sort(now, face, header, packet, Rest::default());
        }
    }

    fn sort(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
        rest: Rest,
    ) {
        let place = |shard: &Shard| shard.place(&packet, rest.next.unwrap_or(0));
        let Some(Place { worker, next }) = self.shard.as_deref().and_then(place) else {
            return self.outbox.discard(face, None, DropReason::Malformed);
        };
        let rest = Rest { next, ..rest };
        if self.shard.as_ref().is_some_and(|shard| shard.worker() == worker) {
            return self.take_in(now, face, header, packet, rest);
        }
        let header = header.map(|header| Box::new(header.clone()));
        self.hand(worker, Handed::Came { face, header, packet, rest });
    }

    /// Takes a whole network packet in that belongs here.
    fn take_in(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
        rest: Rest,
    ) {
        let will_stay = !self.cs.is_off();
        let read = Packet::from_wire(header, &packet, &self.hasher, &mut self.kept, will_stay);
        let read = match read {
            Ok(read) => read,
            Err(reason) => return self.outbox.discard(face, None, reason),
        };
        if rest.next.is_some() {
            let answered = self.enter(now, face, read, Visit::Passing) || rest.answered;
            return self.sort(now, face, header, packet, Rest { answered, ..rest });
        }
        self.wires.came = read.leaves_as(packet);
        self.enter(now, face, read, Visit::Last { answered: rest.answered });
        self.wires.came = None;
    }

    /// Whether a packet that came by a face of this node is an Interest that came too fast; it is refused then.
    fn is_too_fast(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: &Bytes,
    ) -> bool {
        let is_interest = packet.first().is_some_and(|it| u64::from(*it) == typ::INTEREST);
        let is_nack = header.is_some_and(|header| header.nack.is_some());
        if !is_interest || is_nack || self.faces.admits(now, face) {
            return false;
        }
        match Packet::from_wire(header, packet, &self.hasher, &mut self.kept, false) {
            Ok(packet) => self.refuse_fast(now, face, packet),
            Err(reason) => self.outbox.discard(face, None, reason),
        }
        true
    }

    /// Hands an Interest that a link lost to whose it is; `false` if it is ours.
    pub(crate) fn hand_lost(&mut self, face: FaceId, interest: &Arc<Interest>) -> bool {
        let Some(shard) = &self.shard else {
            return false;
        };
        let worker = shard.worker_of_interest(&interest.name);
        let is_ours = worker == shard.worker();
        if !is_ours {
            self.hand(worker, Handed::Lost { face, interest: Arc::clone(interest) });
        }
        !is_ours
    }
}
