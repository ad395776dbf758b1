//! The frames on the air, each held until the last receiver in range needs it no more.
use super::content::Content;
use super::plan::Category;
use super::rate::Rate;
use super::{Address, StationId};

/// Number of a frame on the air; reused.
pub(super) type PpduId = u32;

/// Kind of a frame.
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
    /// Block acknowledgement request; frames before `start` are given up.
    BlockAckRequest {
        start: u16,
    },
    Rts,
    Cts,
    /// Management frame for all clients in range.
    Beacon,
}

/// An MPDU. Its loads are in the queue of its sender until they arrive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mpdu {
    /// Number of the frame at its sender.
    pub(super) number: u64,
    /// Its bytes, with header and checksum.
    pub(super) bytes: u32,
    /// Sequence number, of 12 bits.
    pub(super) sequence: u16,
    /// Whether it is a retransmission.
    pub(super) is_retry: bool,
    /// Whether it is management.
    pub(super) is_management: bool,
}

/// A frame.
#[derive(Clone, Debug)]
pub(super) struct Ppdu<L> {
    pub(super) from: StationId,
    pub(super) to: Address,
    pub(super) kind: Kind,
    /// Access category, for numbers by category.
    pub(super) category: Category,
    pub(super) rate: Rate,
    /// Reservation of the medium after it, in ns.
    pub(super) nav_nanos: u64,
    pub(super) mpdus: Vec<Mpdu>,
    /// Load of a frame for all.
    pub(super) shared: Option<Content<L>>,
    /// Receivers that still hold it.
    users: u32,
    /// Receivers that it is for and where it has not ended.
    awaited: u32,
    /// Whether an addressed receiver has received it.
    is_received: bool,
}

/// Frames on the air.
#[derive(Debug)]
pub(super) struct Air<L> {
    ppdus: Vec<Ppdu<L>>,
    free: Vec<PpduId>,
}

/// Header of a frame, without its loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub(super) from: StationId,
    pub(super) to: Address,
    pub(super) kind: Kind,
    pub(super) category: Category,
    pub(super) rate: Rate,
    pub(super) bytes: u32,
    pub(super) nav_nanos: u64,
}

impl<L> Ppdu<L> {
    /// Parts that are received or lost by themselves: the MPDUs of an aggregate, or one.
    pub(super) fn parts(&self) -> usize {
        let is_aggregate = self.kind == (Kind::Data { is_aggregate: true });
        if is_aggregate { self.mpdus.len() } else { 1 }
    }

    /// End of a part (with its delimiter and padding) after `bytes` bytes of the frame, to which it adds its own. The
    /// first part begins at `start`, the last ends at `end`.
    pub(super) fn end_of_part(&self, place: usize, bytes: &mut u64, start: u64, end: u64) -> u64 {
        if place + 1 >= self.parts() {
            return end;
        }
        *bytes += u64::from(4 + self.mpdus[place].bytes.next_multiple_of(4));
        let nanos =
            (SERVICE_BITS + 8 * *bytes) * self.rate.symbol_nanos() / self.rate.symbol_bits();
        start + nanos
    }
}

/// Bits before the first byte.
const SERVICE_BITS: u64 = 16;

impl<L> Air<L> {
    pub(super) fn new() -> Self {
        Self { ppdus: Vec::new(), free: Vec::new() }
    }

    /// Puts a frame of these MPDUs on the air, without receivers yet; a frame for all has its load with it.
    pub(super) fn put(
        &mut self,
        envelope: Envelope,
        parts: &[Mpdu],
        shared: Option<Content<L>>,
    ) -> PpduId {
        let Envelope { from, to, kind, category, rate, nav_nanos, .. } = envelope;
        let (users, awaited, is_received) = (0, 0, false);
        let reused = self.free.pop();
        let mpdus = reused.map(|id| std::mem::take(&mut self.ppdus[id as usize].mpdus));
        let mut mpdus = mpdus.unwrap_or_default();
        mpdus.extend_from_slice(parts);
        let ppdu = Ppdu {
            from,
            to,
            kind,
            category,
            rate,
            nav_nanos,
            mpdus,
            shared,
            users,
            awaited,
            is_received,
        };
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

    /// Sets the number of receivers in range, and how many of them are addressed; without any the frame is dropped.
    pub(super) fn hold(&mut self, id: PpduId, users: u32, awaited: u32) {
        let ppdu = &mut self.ppdus[id as usize];
        (ppdu.users, ppdu.awaited) = (users + awaited, awaited);
        if ppdu.users == 0 {
            self.clear(id);
        }
    }

    /// Takes the load of a frame for all away.
    pub(super) fn take_shared(&mut self, id: PpduId) -> Option<Content<L>> {
        self.ppdus[id as usize].shared.take()
    }

    /// Marks a frame as received by an addressed receiver; returns whether another one had received it before.
    pub(super) fn mark_received(&mut self, id: PpduId) -> bool {
        std::mem::replace(&mut self.ppdus[id as usize].is_received, true)
    }

    /// The frame is over for one addressed receiver. If it was for all and none has received it, its load is returned
    /// after the last.
    pub(super) fn conclude(&mut self, id: PpduId) -> Option<(StationId, Content<L>)> {
        let ppdu = &mut self.ppdus[id as usize];
        ppdu.awaited -= 1;
        let is_lost = ppdu.to == Address::All && ppdu.awaited == 0 && !ppdu.is_received;
        let lost = ppdu.shared.take_if(|_| is_lost).map(|load| (ppdu.from, load));
        self.release(id);
        lost
    }

    /// Loads of broadcast frames in flight that no station has received yet.
    pub(super) fn unheard(&self) -> impl Iterator<Item = &L> {
        let ppdus = self.ppdus.iter().filter(|ppdu| ppdu.to == Address::All);
        let flying = ppdus.filter(|ppdu| ppdu.awaited > 0 && !ppdu.is_received);
        flying.filter_map(|ppdu| ppdu.shared.as_ref()?.as_above())
    }

    /// A receiver is done with the frame.
    pub(super) fn release(&mut self, id: PpduId) {
        let ppdu = &mut self.ppdus[id as usize];
        debug_assert!(ppdu.users > 0, "a frame is released once per receiver");
        ppdu.users -= 1;
        if ppdu.users == 0 {
            self.clear(id);
        }
    }

    fn clear(&mut self, id: PpduId) {
        let ppdu = &mut self.ppdus[id as usize];
        ppdu.mpdus.clear();
        (ppdu.shared, ppdu.awaited) = (None, 0);
        self.free.push(id);
    }
}
