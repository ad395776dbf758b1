//! One pending Interest: who asked, and who was asked.
use crate::face::FaceId;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::Ignorable;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock};

/// What is in the place of an entry that is not used.
static VACANT: LazyLock<Arc<Interest>> = LazyLock::new(|| Arc::new(Interest::new(Name::root())));

/// A face that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// Nonce of its last Interest.
    pub nonce: Option<u32>,
    /// What its first Interest takes of what is limited.
    pub(crate) slots: u8,
    /// When it stops waiting.
    pub expiry: Instant,
    /// What few records have.
    pub rare: Option<Box<Rare>>,
}

/// What few records of faces that asked have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rare {
    /// To be sent back with the answer.
    pub pit_token: Option<Bytes>,
    /// Of the flow that the Interest belongs to; copied to the answer.
    pub flow_nonce: Option<u64>,
    /// Link fields that an application was asked with and that go back with its answer.
    pub(crate) returned_fields: Ignorable,
}

impl InRecord {
    /// The record of an Interest that came by `face`; the caller adds its PIT token.
    #[must_use]
    pub fn new(face: FaceId, nonce: Option<u32>, expiry: Instant) -> Self {
        Self { face, nonce, slots: 1, expiry, rare: None }
    }

    /// What few records have, to be changed.
    pub fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Replaces the nonce, the expiry and the rare fields by those of a later Interest of the same face.
    fn renew(&mut self, later: Self) {
        (self.nonce, self.expiry) = (later.nonce, later.expiry);
        match (&mut self.rare, later.rare) {
            (Some(before), later) => **before = later.map(|rare| *rare).unwrap_or_default(),
            (rare, later) => *rare = later,
        }
    }
}

/// How long the suppression interval of an out-record or of an entry is.
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

/// A face that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// How often it was asked.
    pub transmissions: u16,
    refusal: Refusal,
    /// Nonce of the last Interest.
    pub nonce: Option<u32>,
    /// When it was asked last.
    pub sent: Instant,
    /// When it will have forgotten the Interest.
    pub expiry: Instant,
    /// How long asking it again is suppressed.
    pub(crate) backoff: Backoff,
}

impl OutRecord {
    /// Why it refused, if it did since.
    #[must_use]
    pub fn nacked(&self) -> Option<NackReason> {
        self.refusal.reason()
    }

    /// It refused. Reasons that nobody knows are kept if they have at most 16 bits, else that there was one.
    pub fn set_nacked(&mut self, reason: NackReason) {
        self.refusal = Refusal::of(reason);
    }

    /// Whether an answer may still come.
    #[must_use]
    pub fn is_pending(&self, now: Instant) -> bool {
        self.refusal == Refusal::NONE && now < self.expiry
    }
}

/// Why an upstream refused, if it did, in two bytes: an entry shall not take more than two lines of a processor's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refusal(u16);

impl Refusal {
    /// It did not.
    const NONE: Self = Self(u16::MAX);

    fn of(reason: NackReason) -> Self {
        let number = u16::try_from(reason.number()).ok().filter(|number| *number < u16::MAX);
        Self(number.unwrap_or(NackReason::None.number() as u16))
    }

    fn reason(self) -> Option<NackReason> {
        (self != Self::NONE).then(|| u64::from(self.0).into())
    }
}

/// How an Interest relates to those that its entry has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Nobody waits for the Data yet.
    First,
    /// Others wait, but not the face that it came by.
    AnotherFace,
    /// The same face asks again: its nonce is another one than last time.
    Retransmission,
    /// The same face sends the same nonce again: a copy made on the way.
    Repetition,
}

/// Where a nonce was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplicateNonce {
    /// It came by this face.
    pub in_same: bool,
    /// It came by another face.
    pub in_other: bool,
    /// It was sent to this face.
    pub out_same: bool,
    /// It was sent to another face.
    pub out_other: bool,
}

impl DuplicateNonce {
    /// Whether the Interest went round in a circle: a link to one peer may well bring it twice.
    #[must_use]
    pub const fn is_loop(self, is_shared: bool) -> bool {
        self.in_other || self.out_same || self.out_other || (is_shared && self.in_same)
    }
}

/// A pending Interest. It is used again for others, so that its lists keep their memory.
// In two lines of a processor's cache, which are looked at two by two: where many wait, each line is a wait for memory.
#[repr(align(64))]
#[derive(Clone, Debug)]
pub struct PitEntry {
    interest: Option<Arc<Interest>>,
    hash: u64,
    /// Hash of its name without the segment, by which schedulers know content; 0 until one asks.
    content: u64,
    /// How many Interests have been in this place.
    generation: u32,
    /// The table counts its name among those that are matched by more than the whole name.
    pub(super) is_counted: bool,
    ins: SmallVec<[InRecord; 1]>,
    outs: SmallVec<[OutRecord; 1]>,
    pub(crate) backoff: Backoff,
}

impl PitEntry {
    /// The Interest that came first.
    #[must_use]
    pub fn interest(&self) -> &Arc<Interest> {
        self.interest.as_ref().unwrap_or(&VACANT)
    }

    /// Hash of its name.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Hash of its name without the segment, which `find` finds if nobody has asked before.
    pub(crate) fn content(&mut self, find: impl FnOnce(&Name) -> u64) -> u64 {
        if self.content == 0 {
            self.content = find(&self.interest().name);
        }
        self.content
    }

    /// Who asked, in the order of first asking.
    #[must_use]
    pub fn ins(&self) -> &[InRecord] {
        &self.ins
    }

    /// As [`ins`](Self::ins), to be changed.
    #[must_use]
    pub fn ins_mut(&mut self) -> &mut [InRecord] {
        &mut self.ins
    }

    /// Who was asked, in the order of first asking.
    #[must_use]
    pub fn outs(&self) -> &[OutRecord] {
        &self.outs
    }

    /// The record of one who asked.
    #[must_use]
    pub fn in_record(&self, face: FaceId) -> Option<&InRecord> {
        self.ins.iter().find(|record| record.face == face)
    }

    /// As [`in_record`](Self::in_record), to be changed.
    #[must_use]
    pub fn in_record_mut(&mut self, face: FaceId) -> Option<&mut InRecord> {
        self.ins.iter_mut().find(|record| record.face == face)
    }

    /// The record of one who was asked.
    #[must_use]
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.outs.iter().find(|record| record.face == face)
    }

    /// As [`out_record`](Self::out_record), to be changed.
    #[must_use]
    pub fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        self.outs.iter_mut().find(|record| record.face == face)
    }

    /// Where `nonce` was seen, for an Interest that comes by `face`. To be asked before
    /// [`receive`](Self::receive).
    #[must_use]
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

    /// Notes that a face asks. If it has asked before, nonce, expiry and token become those of the new
    /// Interest.
    // So that the first record is made in its place, and not copied there.
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

    /// Notes that a face is asked at `now` with this nonce, for `expiry` at most.
    pub fn send(&mut self, now: Instant, face: FaceId, nonce: Option<u32>, expiry: Instant) {
        if let Some(record) = self.out_record_mut(face) {
            (record.nonce, record.sent, record.expiry) = (nonce, now, expiry);
            record.refusal = Refusal::NONE;
            record.transmissions = record.transmissions.saturating_add(1);
            return;
        }
        let (transmissions, refusal, backoff) = (1, Refusal::NONE, Backoff::default());
        let record = OutRecord { face, transmissions, refusal, nonce, sent: now, expiry, backoff };
        self.outs.push(record);
    }

    /// Asking again is suppressed for that long from now on, for this upstream and for all together.
    pub(crate) fn set_soft_timeout(&mut self, upstream: FaceId, soft: Duration) {
        let soft = Backoff::of(soft);
        self.backoff = soft;
        if let Some(record) = self.out_record_mut(upstream) {
            record.backoff = soft;
        }
    }

    /// Takes the record of one who asked away.
    pub fn remove_in(&mut self, face: FaceId) -> Option<InRecord> {
        let place = self.ins.iter().position(|record| record.face == face)?;
        Some(self.ins.remove(place))
    }

    /// Takes the record of one who was asked away.
    pub fn remove_out(&mut self, face: FaceId) -> Option<OutRecord> {
        let place = self.outs.iter().position(|record| record.face == face)?;
        Some(self.outs.remove(place))
    }

    /// When the last of those who asked stops waiting; `None` if nobody waits.
    #[must_use]
    pub fn latest_expiry(&self) -> Option<Instant> {
        self.ins.iter().map(|record| record.expiry).max()
    }

    /// Whether an answer may still come from anybody who was asked.
    #[must_use]
    pub fn has_pending_out(&self, now: Instant) -> bool {
        self.outs.iter().any(|record| record.is_pending(now))
    }

    /// When anybody was asked last.
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

    pub(super) fn fill(&mut self, interest: Arc<Interest>, hash: u64) {
        self.interest = Some(interest);
        self.generation = self.generation.wrapping_add(1);
        (self.hash, self.content) = (hash, 0);
        self.backoff = Backoff::default();
    }

    /// Lets go of the Interest, which may share a large buffer.
    pub(super) fn vacate(&mut self) -> Option<Arc<Interest>> {
        self.ins.clear();
        self.outs.clear();
        self.interest.take()
    }

    pub(super) const fn generation(&self) -> u32 {
        self.generation
    }

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
    fn reasons_are_kept_as_they_came_or_as_none_if_their_number_is_too_long() {
        let kept = |reason| Refusal::of(reason).reason();
        let known = [NackReason::None, NackReason::NoRoute, NackReason::Loss];
        for reason in known.into_iter().chain([NackReason::Other(7), NackReason::Other(65_534)]) {
            assert_eq!(kept(reason), Some(reason));
        }
        for number in [65_535, u64::MAX] {
            assert_eq!(kept(NackReason::Other(number)), Some(NackReason::None));
        }
        assert_eq!(Refusal::NONE.reason(), None);
    }
}
