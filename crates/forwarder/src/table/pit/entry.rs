//! One pending Interest: its in-records and out-records.
use crate::face::FaceId;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::Ignorable;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock};

/// Interest of an unused entry.
static VACANT: LazyLock<Arc<Interest>> = LazyLock::new(|| Arc::new(Interest::new(Name::root())));

/// In-record of a downstream face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// Nonce of its last Interest.
    pub nonce: Option<u32>,
    /// Slots of its first Interest, under the limits.
    pub(crate) slots: u8,
    /// Expiry of the Interest.
    pub expiry: Instant,
    /// Fields of few records.
    pub rare: Option<Box<Rare>>,
}

/// Fields of few in-records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rare {
    /// PIT token, returned with the answer.
    pub pit_token: Option<Bytes>,
    /// Flow nonce of the Interest; copied to the answer.
    pub flow_nonce: Option<u64>,
    /// Link fields of an Interest for an application that are returned with its answer.
    pub(crate) returned_fields: Ignorable,
}

impl InRecord {
    /// The record of an Interest that came by `face`; the caller adds its PIT token.
    #[must_use]
    pub fn new(face: FaceId, nonce: Option<u32>, expiry: Instant) -> Self {
        Self { face, nonce, slots: 1, expiry, rare: None }
    }

    /// Fields of few records, mutable.
    pub fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Replaces the nonce, the expiry and the rare fields by those of a later Interest of the face.
    fn renew(&mut self, later: Self) {
        (self.nonce, self.expiry) = (later.nonce, later.expiry);
        match (&mut self.rare, later.rare) {
            (Some(before), later) => **before = later.map(|rare| *rare).unwrap_or_default(),
            (rare, later) => *rare = later,
        }
    }
}

/// Suppression interval of an out-record or of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    /// Zero before the first transmission.
    pub(crate) interval_nanos: u64,
}

impl Backoff {
    /// An interval of that length.
    pub(crate) fn of(interval: Duration) -> Self {
        Self { interval_nanos: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX) }
    }
}

/// Out-record of an upstream face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// Number of transmissions.
    pub transmissions: u16,
    nack: NackState,
    /// Nonce of the last Interest.
    pub nonce: Option<u32>,
    /// Time of the last transmission.
    pub sent: Instant,
    /// Expiry of the Interest at the upstream.
    pub expiry: Instant,
    /// Suppression interval of retransmissions.
    pub(crate) backoff: Backoff,
}

impl OutRecord {
    /// Reason of the Nack, if one arrived after the last transmission.
    #[must_use]
    pub fn nacked(&self) -> Option<NackReason> {
        self.nack.reason()
    }

    /// Records a Nack. Unknown reasons are kept if they have at most 16 bits, else as no reason.
    pub fn set_nacked(&mut self, reason: NackReason) {
        self.nack = NackState::of(reason);
    }

    /// Whether an answer may still arrive.
    #[must_use]
    pub fn is_pending(&self, now: Instant) -> bool {
        self.nack == NackState::NONE && now < self.expiry
    }
}

/// Reason of a Nack, if any, in two bytes: an entry must fit two cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NackState(u16);

impl NackState {
    /// No Nack.
    const NONE: Self = Self(u16::MAX);

    fn of(reason: NackReason) -> Self {
        let number = u16::try_from(reason.number()).ok().filter(|number| *number < u16::MAX);
        Self(number.unwrap_or(NackReason::None.number() as u16))
    }

    fn reason(self) -> Option<NackReason> {
        (self != Self::NONE).then(|| u64::from(self.0).into())
    }
}

/// Relation of an Interest to those that its entry has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// There is no in-record yet.
    First,
    /// There are in-records, but none of the ingress face.
    AnotherFace,
    /// A retransmission: the ingress face has an in-record with another nonce.
    Retransmission,
    /// A copy: the ingress face has an in-record with the same nonce.
    Repetition,
}

/// Records with the same nonce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplicateNonce {
    /// In-record of this face.
    pub in_same: bool,
    /// In-record of another face.
    pub in_other: bool,
    /// Out-record of this face.
    pub out_same: bool,
    /// Out-record of another face.
    pub out_other: bool,
}

impl DuplicateNonce {
    /// Whether the Interest has looped. A link to one peer may also duplicate it.
    #[must_use]
    #[inline]
    pub const fn is_loop(self, is_shared: bool) -> bool {
        self.in_other || self.out_same || self.out_other || (is_shared && self.in_same)
    }
}

/// A pending Interest. Removed entries are reused with the memory of their lists.
///
/// An entry fits two cache lines, which are loaded together: with many entries, each line is a cache miss.
#[repr(align(64))]
#[derive(Clone, Debug)]
pub struct PitEntry {
    interest: Option<Arc<Interest>>,
    hash: u64,
    /// Hash of its name without the segment, by which schedulers identify content; 0 before its first use.
    content: u64,
    /// Number of Interests that have used this entry.
    generation: u32,
    /// The table counts its name among those that are not matched by the whole name only.
    pub(super) is_counted: bool,
    ins: SmallVec<[InRecord; 1]>,
    outs: SmallVec<[OutRecord; 1]>,
    pub(crate) backoff: Backoff,
}

impl PitEntry {
    /// The first Interest.
    #[must_use]
    #[inline]
    pub fn interest(&self) -> &Arc<Interest> {
        self.interest.as_ref().unwrap_or_else(|| &VACANT)
    }

    /// Hash of its name.
    #[must_use]
    #[inline]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Hash of its name without the segment, computed by `find` at the first call.
    #[inline]
    pub(crate) fn content(&mut self, find: impl FnOnce(&Name) -> u64) -> u64 {
        if self.content == 0 {
            self.content = find(&self.interest().name);
        }
        self.content
    }

    /// In-records, in the order of arrival.
    #[must_use]
    #[inline]
    pub fn ins(&self) -> &[InRecord] {
        &self.ins
    }

    /// As [`ins`](Self::ins), mutable.
    #[must_use]
    #[inline]
    pub fn ins_mut(&mut self) -> &mut [InRecord] {
        &mut self.ins
    }

    /// Out-records, in the order of first transmission.
    #[must_use]
    #[inline]
    pub fn outs(&self) -> &[OutRecord] {
        &self.outs
    }

    /// The in-record of a face.
    #[must_use]
    #[inline]
    pub fn in_record(&self, face: FaceId) -> Option<&InRecord> {
        self.ins.iter().find(|record| record.face == face)
    }

    /// As [`in_record`](Self::in_record), mutable.
    #[must_use]
    #[inline]
    pub fn in_record_mut(&mut self, face: FaceId) -> Option<&mut InRecord> {
        self.ins.iter_mut().find(|record| record.face == face)
    }

    /// The out-record of a face.
    #[must_use]
    #[inline]
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.outs.iter().find(|record| record.face == face)
    }

    /// As [`out_record`](Self::out_record), mutable.
    #[must_use]
    #[inline]
    pub fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        self.outs.iter_mut().find(|record| record.face == face)
    }

    /// Records with `nonce`, for an Interest from `face`. Call it before [`receive`](Self::receive).
    #[must_use]
    #[inline]
    pub fn find_nonce(&self, face: FaceId, nonce: u32) -> DuplicateNonce {
        let mut found = DuplicateNonce::default();
        for record in self.ins.iter().filter(|record| record.nonce == Some(nonce)) {
            let seen = if record.face == face { &mut found.in_same } else { &mut found.in_other };
            *seen = true;
        }
        for record in self.outs.iter().filter(|record| record.nonce == Some(nonce)) {
            let seen = if record.face == face { &mut found.out_same } else { &mut found.out_other };
            *seen = true;
        }
        found
    }

    /// Adds or renews the in-record of a face: nonce, expiry and token become those of the new Interest.
    // Inlined, so that the first record is built in place.
    #[inline]
    pub fn receive(&mut self, record: InRecord) -> Arrival {
        if self.ins.is_empty() {
            self.ins.push(record);
            return Arrival::First;
        }
        self.receive_another(record)
    }

    fn receive_another(&mut self, record: InRecord) -> Arrival {
        let Some(before) = self.in_record_mut(record.face) else {
            self.ins.push(record);
            return Arrival::AnotherFace;
        };
        let same = record.nonce.is_some() && record.nonce == before.nonce;
        before.renew(record);
        if same { Arrival::Repetition } else { Arrival::Retransmission }
    }

    /// Records a transmission to a face at `now` with this nonce, which expires at `expiry`.
    #[inline]
    pub fn send(&mut self, now: Instant, face: FaceId, nonce: Option<u32>, expiry: Instant) {
        if let Some(record) = self.out_record_mut(face) {
            (record.nonce, record.sent, record.expiry) = (nonce, now, expiry);
            record.nack = NackState::NONE;
            record.transmissions = record.transmissions.saturating_add(1);
            return;
        }
        let (transmissions, nack, backoff) = (1, NackState::NONE, Backoff::default());
        let record = OutRecord { face, transmissions, nack, nonce, sent: now, expiry, backoff };
        self.outs.push(record);
    }

    /// Sets the suppression interval from now on, for this upstream and for all together.
    pub(crate) fn set_soft_timeout(&mut self, upstream: FaceId, soft: Duration) {
        let soft = Backoff::of(soft);
        self.backoff = soft;
        if let Some(record) = self.out_record_mut(upstream) {
            record.backoff = soft;
        }
    }

    /// Removes the in-record of a face.
    pub fn remove_in(&mut self, face: FaceId) -> Option<InRecord> {
        let place = self.ins.iter().position(|record| record.face == face)?;
        Some(self.ins.remove(place))
    }

    /// Removes the out-record of a face.
    pub fn remove_out(&mut self, face: FaceId) -> Option<OutRecord> {
        let place = self.outs.iter().position(|record| record.face == face)?;
        Some(self.outs.remove(place))
    }

    /// Expiry of the last in-record; `None` without in-records.
    #[must_use]
    #[inline]
    pub fn latest_expiry(&self) -> Option<Instant> {
        self.ins.iter().map(|record| record.expiry).max()
    }

    /// Whether an answer may still arrive from any upstream.
    #[must_use]
    pub fn has_pending_out(&self, now: Instant) -> bool {
        self.outs.iter().any(|record| record.is_pending(now))
    }

    /// Time of the last transmission to any upstream.
    #[must_use]
    pub fn last_sent(&self) -> Option<Instant> {
        self.outs.iter().map(|record| record.sent).max()
    }

    pub(super) fn vacant() -> Self {
        Self {
            interest: None,
            hash: 0,
            content: 0,
            generation: 0,
            is_counted: false,
            ins: SmallVec::new(),
            outs: SmallVec::new(),
            backoff: Backoff::default(),
        }
    }

    #[inline]
    pub(super) fn fill(&mut self, interest: Arc<Interest>, hash: u64) {
        self.interest = Some(interest);
        self.generation = self.generation.wrapping_add(1);
        (self.hash, self.content) = (hash, 0);
        self.backoff = Backoff::default();
    }

    /// Drops the Interest, which may share a large buffer.
    #[inline]
    pub(super) fn vacate(&mut self) -> Option<Arc<Interest>> {
        self.ins.clear();
        self.outs.clear();
        self.interest.take()
    }

    #[inline]
    pub(super) const fn generation(&self) -> u32 {
        self.generation
    }

    #[inline]
    pub(super) const fn is_vacant(&self) -> bool {
        self.interest.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_two_lines_of_cache() {
        assert_eq!(size_of::<PitEntry>(), 128);
    }

    #[test]
    fn nack_reasons_of_16_bits_are_kept() {
        let kept = |reason| NackState::of(reason).reason();
        let known = [NackReason::None, NackReason::NoRoute, NackReason::Loss];
        for reason in known.into_iter().chain([NackReason::Other(7), NackReason::Other(65_534)]) {
            assert_eq!(kept(reason), Some(reason));
        }
        for number in [65_535, u64::MAX] {
            assert_eq!(kept(NackReason::Other(number)), Some(NackReason::None));
        }
        assert_eq!(NackState::NONE.reason(), None);
    }
}
