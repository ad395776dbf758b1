//! The frames that are on the air, each held until nobody that it reaches needs it.
use super::content::Content;
use super::plan::Category;
use super::rate::Rate;
use super::{Address, StationId};

/// Number of a frame on the air; reused.
pub(super) type PpduId = u32;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// MPDUs with loads: one, or an aggregate.
    Data {
        /// MPDUs are separated by delimiters and tested one by one.
        is_aggregate: bool,
    },
    Ack,
    /// The first number that is missing, and those from there on that came.
    BlockAck {
        start: u16,
        bits: u64,
    },
    /// Asks for a block acknowledgement; nothing before `start` will come any more.
    BlockAckRequest {
        start: u16,
    },
    Rts,
    Cts,
    /// Management for all clients that hear it.
    Beacon,
}

/// One MPDU.
#[derive(Clone, Debug)]
pub(super) struct Mpdu<L> {
    /// Sequence number, of 12 bits.
    pub(super) sequence: u16,
    /// It was sent before.
    pub(super) is_retry: bool,
    /// What it carries.
    pub(super) load: Content<L>,
    /// What it carries besides, if it is an A-MSDU.
    pub(super) more: Vec<Content<L>>,
    /// Its octets, with header and checksum.
    pub(super) octets: u32,
    /// Number of the frame at its sender.
    pub(super) number: u64,
}

/// A frame.
#[derive(Clone, Debug)]
pub(super) struct Ppdu<L> {
    pub(super) from: StationId,
    pub(super) to: Address,
    pub(super) kind: Kind,
    /// In which it was sent, for what is numbered by category.
    pub(super) category: Category,
    pub(super) rate: Rate,
    /// How long the medium is reserved after it, in ns.
    pub(super) nav_nanos: u64,
    pub(super) mpdus: Vec<Mpdu<L>>,
    /// Receivers that still hold it.
    users: u32,
    /// Receivers that it is for and where it has not ended.
    awaited: u32,
    /// One of them has received it.
    is_heard: bool,
}

/// What is on the air.
#[derive(Debug)]
pub(super) struct Air<L> {
    ppdus: Vec<Ppdu<L>>,
    free: Vec<PpduId>,
}

/// All of a frame but its loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub(super) from: StationId,
    pub(super) to: Address,
    pub(super) kind: Kind,
    pub(super) category: Category,
    pub(super) rate: Rate,
    pub(super) octets: u32,
    pub(super) nav_nanos: u64,
}

impl<L> Ppdu<L> {
    /// Parts that are received or lost by themselves: the MPDUs of an aggregate, or one.
    pub(super) fn parts(&self) -> usize {
        let is_aggregate = self.kind == (Kind::Data { is_aggregate: true });
        if is_aggregate { self.mpdus.len() } else { 1 }
    }

    /// When a part ends (with its delimiter and padding), where the octets before it are `octets`, to which
    /// its own are added; the first begins at `start`, the last ends at `end`.
    pub(super) fn end_of_part(&self, place: usize, octets: &mut u64, start: u64, end: u64) -> u64 {
        if place + 1 >= self.parts() {
            return end;
        }
        *octets += u64::from(4 + self.mpdus[place].octets.next_multiple_of(4));
        let nanos =
            (SERVICE_BITS + 8 * *octets) * self.rate.symbol_nanos() / self.rate.symbol_bits();
        start + nanos
    }
}

/// Bits before the first octet.
const SERVICE_BITS: u64 = 16;

impl<L> Air<L> {
    pub(super) fn new() -> Self {
        Self { ppdus: Vec::new(), free: Vec::new() }
    }

    /// Puts a frame on the air; nobody holds it yet.
    pub(super) fn put(&mut self, envelope: Envelope) -> PpduId {
        let Envelope { from, to, kind, category, rate, nav_nanos, .. } = envelope;
        let (users, awaited, is_heard) = (0, 0, false);
        let reused = self.free.pop();
        let mpdus = reused.map(|id| std::mem::take(&mut self.ppdus[id as usize].mpdus));
        let mpdus = mpdus.unwrap_or_default();
        let ppdu =
            Ppdu { from, to, kind, category, rate, nav_nanos, mpdus, users, awaited, is_heard };
        match reused {
            Some(id) => {
                self.ppdus[id as usize] = ppdu;
                id
            }
            None => {
                self.ppdus.push(ppdu);
                (self.ppdus.len() - 1) as PpduId
            }
        }
    }

    pub(super) fn ppdu(&self, id: PpduId) -> &Ppdu<L> {
        &self.ppdus[id as usize]
    }

    pub(super) fn ppdu_mut(&mut self, id: PpduId) -> &mut Ppdu<L> {
        &mut self.ppdus[id as usize]
    }

    /// That many receivers hold the frame, and for so many of them it is; without any it is gone at once.
    pub(super) fn hold(&mut self, id: PpduId, users: u32, awaited: u32) {
        let ppdu = &mut self.ppdus[id as usize];
        (ppdu.users, ppdu.awaited) = (users + awaited, awaited);
        if ppdu.users == 0 {
            self.clear(id);
        }
    }

    /// A receiver that the frame is for has received it; says whether another one had before.
    pub(super) fn note_heard(&mut self, id: PpduId) -> bool {
        std::mem::replace(&mut self.ppdus[id as usize].is_heard, true)
    }

    /// The frame is over for one of those whom it is for; if it was for all and nobody has received it, it is
    /// handed back after the last.
    pub(super) fn conclude(&mut self, id: PpduId) -> Option<(StationId, Content<L>)>
    where
        L: Clone,
    {
        let ppdu = &mut self.ppdus[id as usize];
        ppdu.awaited -= 1;
        let is_unheard = ppdu.to == Address::All && ppdu.awaited == 0 && !ppdu.is_heard;
        let lost =
            is_unheard.then(|| ppdu.mpdus.first().map(|mpdu| (ppdu.from, mpdu.load.clone())));
        self.release(id);
        lost.flatten()
    }

    /// Loads of frames for all that nobody has received yet and somebody may.
    pub(super) fn unheard(&self) -> impl Iterator<Item = &L> {
        let ppdus = self.ppdus.iter().filter(|ppdu| ppdu.to == Address::All);
        let flying = ppdus.filter(|ppdu| ppdu.awaited > 0 && !ppdu.is_heard);
        flying.flat_map(|ppdu| &ppdu.mpdus).filter_map(|mpdu| mpdu.load.as_above())
    }

    /// A receiver is done with the frame.
    pub(super) fn release(&mut self, id: PpduId) {
        let ppdu = &mut self.ppdus[id as usize];
        debug_assert!(ppdu.users > 0, "nobody releases what it does not hold");
        ppdu.users -= 1;
        if ppdu.users == 0 {
            self.clear(id);
        }
    }

    fn clear(&mut self, id: PpduId) {
        let ppdu = &mut self.ppdus[id as usize];
        ppdu.mpdus.clear();
        ppdu.awaited = 0;
        self.free.push(id);
    }
}
