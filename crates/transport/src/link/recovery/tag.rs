//! Tags: the link fields of recovery, as values and encoded.
//!
//! `docs/wire.md` describes the fields of WLDR byte by byte; Sequence, TxSequence and Ack are those of NDNLPv2. A
//! malformed field counts as absent.
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, field};

/// Fields of recovery on one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Number of the frame (field WldrSequence).
    pub label: Option<Label>,
    /// Notice to the other end (field Ewln).
    pub notice: Option<Notice>,
    /// Identifies the frame, the same for all its transmissions.
    pub sequence: Option<u64>,
    /// Identifies this transmission.
    pub tx_sequence: Option<u64>,
    /// Acknowledged transmissions.
    pub acks: Vec<u64>,
}

/// Number of a frame on a link with WLDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Last byte of the sender's session.
    pub epoch: u8,
    /// The number modulo 2²⁴.
    pub number: u32,
    /// Of a retransmission: the number of the first transmission, modulo 2³².
    pub origin: Option<u32>,
}

/// Notice of one end of a link with WLDR to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Frames are missing, or the confirmation of such a report.
    Ewln(Ewln),
    /// State of an end.
    State(State),
}

/// Explicit wireless loss notification: a range of missing frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ewln {
    /// Session of the end that assigned the numbers. In a notice from that end it confirms the report.
    pub session: u64,
    /// Number of the first missing frame, modulo 2³².
    pub expected: u32,
    /// Number of the first received frame after it, modulo 2³².
    pub last_received: u32,
}

/// State of one end: an offer, a query for missing frames, or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// An answer is requested.
    pub wants_answer: bool,
    /// This is an answer.
    pub answers: bool,
    /// Session of this end; never 0.
    pub session: u64,
    /// Session of the other end; 0 if unknown.
    pub neighbour: u64,
    /// Number of the next frame of this end, modulo 2³².
    pub next: u32,
    /// Number below which no frame of the other end is missing, modulo 2³²; `None` if its numbers are not known.
    pub settled: Option<u32>,
}

pub(super) const LABEL_BYTES: usize = 4;
const AGAIN_BYTES: usize = 8;
const EWLN_BYTES: usize = 16;
const STATE_BYTES: usize = 25;

const WANTS_ANSWER: u8 = 1;
const ANSWERS: u8 = 2;
const SETTLED: u8 = 4;

/// Bytes of the longest label in a link header, type and length included.
pub(crate) const AGAIN_TLV_BYTES: usize = 4 + AGAIN_BYTES;
/// Bytes of the longest notice, type and length included.
pub(crate) const STATE_TLV_BYTES: usize = 4 + STATE_BYTES;

impl Tag {
    /// A tag with a notice only.
    #[must_use]
    pub fn notice(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The label, if there is no other field.
    #[must_use]
    pub fn only_label(&self) -> Option<Label> {
        let others = self.notice.is_some() || self.sequence.is_some() || self.tx_sequence.is_some();
        self.label.filter(|_| !others && self.acks.is_empty())
    }

    /// A tag with a label only.
    #[must_use]
    pub fn label(label: Label) -> Self {
        Self { label: Some(label), ..Self::default() }
    }

    /// Writes the fields to a link header, in place of earlier ones.
    pub fn write(&self, header: &mut LpHeader) {
        if let Some(label) = &self.label {
            header.ignorable.set(field::WLDR_SEQUENCE, label.to_bytes());
        }
        if let Some(notice) = &self.notice {
            header.ignorable.set(field::EWLN, notice.to_bytes());
        }
        header.sequence = self.sequence.or(header.sequence);
        header.tx_sequence = self.tx_sequence.or(header.tx_sequence);
        header.acks.clone_from(&self.acks);
    }

    /// Takes the fields out of a link header. Sequence stays: reassembly needs it.
    #[must_use]
    pub fn take(header: &mut LpHeader) -> Self {
        let label = header.ignorable.take(field::WLDR_SEQUENCE);
        let notice = header.ignorable.take(field::EWLN);
        Self {
            label: label.and_then(|bytes| Label::read(&bytes)),
            notice: notice.and_then(|bytes| Notice::read(&bytes)),
            sequence: header.sequence,
            tx_sequence: header.tx_sequence.take(),
            acks: std::mem::take(&mut header.acks),
        }
    }
}

impl Label {
    /// The encoded fields of every transmission.
    pub(super) fn first_bytes(self) -> [u8; LABEL_BYTES] {
        let [_, a, b, c] = self.number.to_be_bytes();
        [self.epoch, a, b, c]
    }

    /// The label of a first transmission.
    pub(super) fn of_first([epoch, a, b, c]: [u8; LABEL_BYTES]) -> Self {
        Self { epoch, number: u32::from_be_bytes([0, a, b, c]), origin: None }
    }

    fn to_bytes(self) -> Bytes {
        let label = self.first_bytes();
        match self.origin {
            None => Bytes::copy_from_slice(&label),
            Some(origin) => [label, origin.to_be_bytes()].concat().into(),
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first_chunk()?;
        let origin = match rest {
            [] => None,
            _ => Some(u32::from_be_bytes(rest.try_into().ok()?)),
        };
        Some(Self { origin, ..Self::of_first(*first) })
    }
}

impl Notice {
    fn to_bytes(self) -> Bytes {
        match self {
            Self::Ewln(ewln) => {
                let (from, until) = (ewln.expected, ewln.last_received);
                let numbers = [from.to_be_bytes(), until.to_be_bytes()].concat();
                [&ewln.session.to_be_bytes()[..], &numbers].concat().into()
            }
            Self::State(state) => state.to_bytes(),
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            EWLN_BYTES => {
                let (session, rest) = u64_of(bytes)?;
                let (expected, rest) = u32_of(rest)?;
                let (last_received, _) = u32_of(rest)?;
                Some(Self::Ewln(Ewln { session, expected, last_received }))
            }
            STATE_BYTES => State::read(bytes).map(Self::State),
            _ => None,
        }
    }
}

impl State {
    fn to_bytes(self) -> Bytes {
        let bit = |on: bool, bit| if on { bit } else { 0 };
        let flags = bit(self.wants_answer, WANTS_ANSWER)
            | bit(self.answers, ANSWERS)
            | bit(self.settled.is_some(), SETTLED);
        let sessions = [self.session.to_be_bytes(), self.neighbour.to_be_bytes()].concat();
        let numbers = [self.next, self.settled.unwrap_or(0)].map(u32::to_be_bytes).concat();
        [&[flags][..], &sessions, &numbers].concat().into()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (flags, rest) = bytes.split_first()?;
        let (session, rest) = u64_of(rest)?;
        let (neighbour, rest) = u64_of(rest)?;
        let (next, rest) = u32_of(rest)?;
        let (settled, _) = u32_of(rest)?;
        (session != 0).then_some(Self {
            wants_answer: flags & WANTS_ANSWER != 0,
            answers: flags & ANSWERS != 0,
            session,
            neighbour,
            next,
            settled: (flags & SETTLED != 0).then_some(settled),
        })
    }
}

fn u64_of(bytes: &[u8]) -> Option<(u64, &[u8])> {
    bytes.split_first_chunk().map(|(first, rest)| (u64::from_be_bytes(*first), rest))
}

fn u32_of(bytes: &[u8]) -> Option<(u32, &[u8])> {
    bytes.split_first_chunk().map(|(first, rest)| (u32::from_be_bytes(*first), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn label() -> impl Strategy<Value = Label> {
        (any::<u8>(), 0..1_u32 << 24, any::<Option<u32>>())
            .prop_map(|(epoch, number, origin)| Label { epoch, number, origin })
    }

    fn notice() -> impl Strategy<Value = Notice> {
        let ewln = any::<(u64, u32, u32)>().prop_map(|(session, expected, last_received)| {
            Notice::Ewln(Ewln { session, expected, last_received })
        });
        let state = any::<(bool, bool, u64, u32, Option<u32>)>();
        let state = (state, 1..=u64::MAX).prop_map(|(it, session)| {
            let (wants_answer, answers, neighbour, next, settled) = it;
            Notice::State(State { wants_answer, answers, session, neighbour, next, settled })
        });
        prop_oneof![ewln, state]
    }

    proptest! {
        #[test]
        fn a_tag_survives_a_header(
            label in prop::option::of(label()),
            notice in prop::option::of(notice()),
            sequence: Option<u64>,
            tx_sequence: Option<u64>,
            acks in prop::collection::vec(any::<u64>(), 0..4),
        ) {
            let tag = Tag { label, notice, sequence, tx_sequence, acks };
            let mut header = LpHeader { congestion_mark: Some(1), ..LpHeader::default() };
            tag.write(&mut header);
            prop_assert_eq!(Tag::take(&mut header), tag);
            header.sequence = None;
            prop_assert_eq!(header, LpHeader { congestion_mark: Some(1), ..LpHeader::default() });
        }

        #[test]
        fn any_bytes_are_a_tag_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut header = LpHeader::default();
            header.ignorable.set(field::WLDR_SEQUENCE, bytes.clone().into());
            header.ignorable.set(field::EWLN, bytes.clone().into());
            let tag = Tag::take(&mut header);
            prop_assert_eq!(tag.label.is_some(), [4, 8].contains(&bytes.len()));
            let long = bytes.len() == STATE_BYTES && bytes[1..9] != [0; 8];
            prop_assert_eq!(tag.notice.is_some(), bytes.len() == EWLN_BYTES || long);
        }
    }

    #[test]
    fn encoding_is_that_of_the_documentation() {
        let label = Label { epoch: 0xab, number: 0x01_02_03, origin: None };
        assert_eq!(label.to_bytes()[..], [0xab, 1, 2, 3]);
        let again = Label { origin: Some(0x0405_0607), ..label };
        assert_eq!(again.to_bytes()[..], [0xab, 1, 2, 3, 4, 5, 6, 7]);
        let ewln = Ewln { session: 0x0102_0304_0506_0708, expected: 4, last_received: 6 };
        let bytes = Notice::Ewln(ewln).to_bytes();
        assert_eq!(bytes[..], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 4, 0, 0, 0, 6]);
        let state = State {
            wants_answer: true,
            answers: false,
            session: 1,
            neighbour: 2,
            next: 3,
            settled: Some(4),
        };
        let mut bytes = vec![0b101];
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]);
        assert_eq!(state.to_bytes()[..], bytes[..]);
    }

    #[test]
    fn no_field_is_longer_than_its_bound() {
        let most = |typ| field::find(typ).unwrap().max_bytes;
        assert_eq!(most(field::WLDR_SEQUENCE), AGAIN_BYTES);
        assert_eq!(most(field::EWLN), STATE_BYTES);
    }
}
