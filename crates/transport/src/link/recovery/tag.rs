//! What the ends of a link with recovery write on frames, as values and as octets of link fields.
//!
//! `docs/wldr.md` describes the fields of our own octet by octet; Sequence, TxSequence and Ack are those of NDNLPv2.
//! What does not have the form described there is as if it were absent.
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, field};

/// What recovery writes on one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Number of the frame (field WldrSequence).
    pub label: Option<Label>,
    /// What one end tells the other (field Ewln).
    pub notice: Option<Notice>,
    /// Identifies the frame, however often it is sent.
    pub sequence: Option<u64>,
    /// Identifies this transmission of the frame.
    pub tx_sequence: Option<u64>,
    /// Transmissions that came.
    pub acks: Vec<u64>,
}

/// Number of a frame on a link with WLDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Last octet of the session of the end that numbers.
    pub epoch: u8,
    /// The number modulo 2²⁴.
    pub number: u32,
    /// Of a frame that is sent again: the number that it had when it left first, modulo 2³².
    pub origin: Option<u32>,
}

/// What one end of a link with WLDR tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Frames are missing, or: it was heard that they are.
    Ewln(Ewln),
    /// Where an end stands.
    State(State),
}

/// Explicit wireless loss notification: which frames are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ewln {
    /// Session of the end that gave the numbers. If it says this itself, it confirms that it heard.
    pub session: u64,
    /// Number of the first frame that is missing, modulo 2³².
    pub expected: u32,
    /// Number of the first frame behind it that is not, modulo 2³².
    pub last_received: u32,
}

/// Where one end stands: offers recovery, asks whether everything came, and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// An answer is wanted.
    pub wants_answer: bool,
    /// This is an answer.
    pub answers: bool,
    /// Session of this end; never 0.
    pub session: u64,
    /// Session of the other end, as far as known; 0 if not.
    pub neighbour: u64,
    /// Number of the next frame from here, modulo 2³².
    pub next: u32,
    /// Below this number, modulo 2³², nothing of the other end is missing here; `None` if its numbers are not known.
    pub settled: Option<u32>,
}

pub(super) const LABEL_OCTETS: usize = 4;
const AGAIN_OCTETS: usize = 8;
const EWLN_OCTETS: usize = 16;
const STATE_OCTETS: usize = 25;

const WANTS_ANSWER: u8 = 1;
const ANSWERS: u8 = 2;
const SETTLED: u8 = 4;

/// Octets of the longest label in a link header, type and length included.
pub(crate) const AGAIN_TLV_OCTETS: usize = 4 + AGAIN_OCTETS;
/// Octets of the longest notice.
pub(crate) const STATE_TLV_OCTETS: usize = 4 + STATE_OCTETS;

impl Tag {
    /// A tag that tells something.
    #[must_use]
    pub fn notice(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The label, if there is nothing else to write.
    #[must_use]
    pub fn only_label(&self) -> Option<Label> {
        let others = self.notice.is_some() || self.sequence.is_some() || self.tx_sequence.is_some();
        self.label.filter(|_| !others && self.acks.is_empty())
    }

    /// A tag that numbers and tells nothing.
    #[must_use]
    pub fn label(label: Label) -> Self {
        Self { label: Some(label), ..Self::default() }
    }

    /// Writes the fields into a link header, in place of those that it had.
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

    /// Takes the fields out of a link header. Sequence stays: fragments need it.
    #[must_use]
    pub fn take(header: &mut LpHeader) -> Self {
        let label = header.ignorable.take(field::WLDR_SEQUENCE);
        let notice = header.ignorable.take(field::EWLN);
        Self {
            label: label.and_then(|octets| Label::read(&octets)),
            notice: notice.and_then(|octets| Notice::read(&octets)),
            sequence: header.sequence,
            tx_sequence: header.tx_sequence.take(),
            acks: std::mem::take(&mut header.acks),
        }
    }
}

impl Label {
    /// The octets that are on every transmission.
    pub(super) fn first_octets(self) -> [u8; LABEL_OCTETS] {
        let [_, a, b, c] = self.number.to_be_bytes();
        [self.epoch, a, b, c]
    }

    /// The label of a first transmission.
    pub(super) fn of_first([epoch, a, b, c]: [u8; LABEL_OCTETS]) -> Self {
        Self { epoch, number: u32::from_be_bytes([0, a, b, c]), origin: None }
    }

    fn to_bytes(self) -> Bytes {
        let label = self.first_octets();
        match self.origin {
            None => Bytes::copy_from_slice(&label),
            Some(origin) => [label, origin.to_be_bytes()].concat().into(),
        }
    }

    fn read(octets: &[u8]) -> Option<Self> {
        let (first, rest) = octets.split_first_chunk()?;
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

    fn read(octets: &[u8]) -> Option<Self> {
        match octets.len() {
            EWLN_OCTETS => {
                let (session, rest) = u64_of(octets)?;
                let (expected, rest) = u32_of(rest)?;
                let (last_received, _) = u32_of(rest)?;
                Some(Self::Ewln(Ewln { session, expected, last_received }))
            }
            STATE_OCTETS => State::read(octets).map(Self::State),
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

    fn read(octets: &[u8]) -> Option<Self> {
        let (flags, rest) = octets.split_first()?;
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

fn u64_of(octets: &[u8]) -> Option<(u64, &[u8])> {
    octets.split_first_chunk().map(|(first, rest)| (u64::from_be_bytes(*first), rest))
}

fn u32_of(octets: &[u8]) -> Option<(u32, &[u8])> {
    octets.split_first_chunk().map(|(first, rest)| (u32::from_be_bytes(*first), rest))
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
        fn octets_of_any_length_are_a_tag_or_none(octets in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut header = LpHeader::default();
            header.ignorable.set(field::WLDR_SEQUENCE, octets.clone().into());
            header.ignorable.set(field::EWLN, octets.clone().into());
            let tag = Tag::take(&mut header);
            prop_assert_eq!(tag.label.is_some(), [4, 8].contains(&octets.len()));
            let long = octets.len() == STATE_OCTETS && octets[1..9] != [0; 8];
            prop_assert_eq!(tag.notice.is_some(), octets.len() == EWLN_OCTETS || long);
        }
    }

    #[test]
    fn the_octets_are_those_of_the_documentation() {
        let label = Label { epoch: 0xab, number: 0x01_02_03, origin: None };
        assert_eq!(label.to_bytes()[..], [0xab, 1, 2, 3]);
        let again = Label { origin: Some(0x0405_0607), ..label };
        assert_eq!(again.to_bytes()[..], [0xab, 1, 2, 3, 4, 5, 6, 7]);
        let ewln = Ewln { session: 0x0102_0304_0506_0708, expected: 4, last_received: 6 };
        let octets = Notice::Ewln(ewln).to_bytes();
        assert_eq!(octets[..], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 4, 0, 0, 0, 6]);
        let state = State {
            wants_answer: true,
            answers: false,
            session: 1,
            neighbour: 2,
            next: 3,
            settled: Some(4),
        };
        let mut octets = vec![0b101];
        octets.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]);
        assert_eq!(state.to_bytes()[..], octets[..]);
    }

    #[test]
    fn no_field_is_longer_than_its_bound() {
        let most = |typ| field::find(typ).unwrap().max_bytes;
        assert_eq!(most(field::WLDR_SEQUENCE), AGAIN_OCTETS);
        assert_eq!(most(field::EWLN), STATE_OCTETS);
    }
}
