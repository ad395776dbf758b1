//! Values of the link fields `Anticipated` and `Records` (`docs/wire.md`): the names that a
//! consumer will request next, and which nodes on the path hold them.
//!
//! Source: CCTCP's anticipated Interests, as in Nikzad et al. (2022); the encoding is ours. The
//! fields are unsigned: treat them as hints.
use super::field;
use crate::name::Name;
use crate::tlv::{DecodeError, Reader, typ};
use bytes::{BufMut, Bytes, BytesMut};

/// Most announced names: a record has one bit for each.
pub const MOST_NAMES: usize = 15;

/// Bytes of a record.
const RECORD_BYTES: usize = 16;
/// Flag bit: the node's producer answered.
const ORIGIN: u16 = 1 << 15;
/// Times have 48 bits: nanoseconds up to 78 hours.
const TIME_MASK: u64 = (1 << 48) - 1;

/// The value of `Anticipated`: the first names that fit, next one first.
pub fn encode_names<'a>(names: impl IntoIterator<Item = &'a Name>) -> Bytes {
    let most = field::find(field::ANTICIPATED).map_or(0, |field| field.max_bytes);
    let mut value = BytesMut::new();
    for name in names.into_iter().take(MOST_NAMES) {
        if value.len() + name.encoded_len() > most {
            break;
        }
        name.encode(&mut value);
    }
    value.freeze()
}

/// The names in the value of `Anticipated`, at most [`MOST_NAMES`].
///
/// # Errors
/// If an element is not a name.
pub fn decode_names(value: &Bytes) -> Result<Vec<Name>, DecodeError> {
    let (mut names, mut reader) = (Vec::new(), Reader::new(value));
    while names.len() < MOST_NAMES
        && let Some(tlv) = reader.read()?
    {
        if tlv.typ != typ::NAME {
            return Err(tlv.error("a Name"));
        }
        names.push(Name::from_value(value.slice(tlv.range()))?);
    }
    Ok(names)
}

/// One node's state of the announced names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Identifier of the node.
    pub node: u64,
    /// Bit `i`: name number `i` is in its content store.
    pub holds: u16,
    /// The node's producer answered, not its content store.
    pub is_origin: bool,
    /// Nanoseconds. On an Interest: the node's clock at forwarding. On Data: the response time from
    /// there, 0 at the node that answered.
    pub time_nanos: u64,
}

impl Record {
    fn put(self, out: &mut impl BufMut) {
        let origin = if self.is_origin { ORIGIN } else { 0 };
        out.put_u64(self.node);
        out.put_u16(self.holds & !ORIGIN | origin);
        out.put_uint(self.time_nanos & TIME_MASK, 6);
    }

    fn get(bytes: &[u8]) -> Self {
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        let bits = number(8..10) as u16;
        Self {
            node: number(0..8),
            holds: bits & !ORIGIN,
            is_origin: bits & ORIGIN != 0,
            time_nanos: number(10..16),
        }
    }

    /// The time from `time_nanos` to `now_nanos` of the same clock, modulo its 48 bits.
    #[must_use]
    pub const fn since_nanos(self, now_nanos: u64) -> u64 {
        now_nanos.wrapping_sub(self.time_nanos) & TIME_MASK
    }
}

/// The records in a value of `Records`, from the consumer's neighbour on, without an incomplete
/// last one.
pub fn records(value: &[u8]) -> impl Iterator<Item = Record> {
    value.chunks_exact(RECORD_BYTES).map(Record::get)
}

/// The value of `Records` with one more record; unchanged if it is full.
#[must_use]
pub fn with_record(value: &[u8], record: Record) -> Bytes {
    let most = field::find(field::RECORDS).map_or(0, |field| field.max_bytes);
    let whole = value.len() - value.len() % RECORD_BYTES;
    let mut out = BytesMut::with_capacity(whole + RECORD_BYTES);
    out.put_slice(&value[..whole]);
    if whole + RECORD_BYTES <= most {
        record.put(&mut out);
    }
    out.freeze()
}

/// The value of `Records` after `change`, which returns whether it changed the record; `None` if no
/// record changed.
pub fn changed(value: &[u8], mut change: impl FnMut(&mut Record) -> bool) -> Option<Bytes> {
    let mut out: Option<BytesMut> = None;
    for (place, mut record) in records(value).enumerate() {
        if change(&mut record) {
            let out = out.get_or_insert_with(|| BytesMut::from(value));
            record.put(&mut &mut out[place * RECORD_BYTES..]);
        }
    }
    out.map(BytesMut::freeze)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(node: u64, time_nanos: u64) -> Record {
        Record { node, holds: 0x1234, is_origin: node % 2 == 1, time_nanos }
    }

    #[test]
    fn records_survive_and_are_bounded() {
        let mut value = Bytes::new();
        for node in 0..100 {
            value = with_record(&value, record(node, node << 40));
        }
        assert_eq!(value.len(), 1024);
        let read: Vec<Record> = records(&value).collect();
        let written: Vec<Record> =
            (0..64).map(|node| record(node, (node << 40) & TIME_MASK)).collect();
        assert_eq!(read, written);
        assert_eq!(records(&value[..40]).count(), 2, "the incomplete one is left out");
    }

    #[test]
    fn change_of_one_record_keeps_the_others() {
        let value = with_record(&with_record(&[], record(1, 5)), record(2, 6));
        let mine = |record: &mut Record| {
            let is_mine = record.node == 2;
            record.time_nanos = record.since_nanos(10);
            is_mine
        };
        let changed_value = changed(&value, mine).unwrap();
        assert_eq!(records(&changed_value).collect::<Vec<_>>(), [record(1, 5), record(2, 4)]);
        assert_eq!(changed(&value, |_| false), None);
    }

    #[test]
    fn durations_survive_clock_wraparound() {
        assert_eq!(record(1, TIME_MASK - 1).since_nanos(3), 5);
    }

    #[test]
    fn names_survive_and_are_bounded() {
        let names: Vec<Name> = (0..40).map(|n| format!("/a/{n}").parse().unwrap()).collect();
        let value = encode_names(&names);
        assert_eq!(decode_names(&value).unwrap(), names[..MOST_NAMES]);
        let long: Name = format!("/{}", "x".repeat(600)).parse().unwrap();
        assert_eq!(decode_names(&encode_names([&long, &long])).unwrap(), [long]);
        assert!(decode_names(&Bytes::from_static(&[5, 0])).is_err());
        assert!(decode_names(&Bytes::from_static(&[7, 4, 8])).is_err());
    }
}
