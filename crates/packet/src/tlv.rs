//! Type-length-value elements, the grammar of NDN packets.
//!
//! Source: NDN packet format v0.3, section "Type-Length-Value (TLV) encoding": shortest forms, range
//! of TLV-TYPE, and evolvability (unknown elements that may be skipped).

use bytes::BufMut;
use std::ops::Range;

/// Largest network packet, in bytes, that an NDN forwarder accepts (`ndn::MAX_NDN_PACKET_SIZE`).
///
/// Faces enforce it, decoding does not.
pub const MAX_PACKET_SIZE: usize = 8800;

pub mod typ;

/// Malformed bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}{}: expected {expected}", inside(*typ))]
pub struct DecodeError {
    /// Offset in bytes from the start of the decoded bytes.
    pub offset: usize,
    /// TLV-TYPE of the malformed element, if readable.
    pub typ: Option<u64>,
    /// The element or value that the format requires there.
    pub expected: &'static str,
}

fn inside(typ: Option<u64>) -> String {
    typ.map_or_else(String::new, |typ| format!(" (element of type {typ})"))
}

impl DecodeError {
    /// An error at an offset, not in an element.
    #[must_use]
    pub fn at(offset: usize, expected: &'static str) -> Self {
        Self { offset, typ: None, expected }
    }
}

/// One element, borrowed from the decoded bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// TLV-TYPE.
    pub typ: u64,
    /// TLV-VALUE.
    pub value: &'a [u8],
    /// Offset of the element, in bytes from the start of the decoded bytes.
    pub offset: usize,
    /// Offset of its TLV-VALUE.
    pub value_offset: usize,
}

impl<'a> Tlv<'a> {
    /// Span of the TLV-VALUE.
    #[must_use]
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.value_offset..self.end()
    }

    /// Span of the whole element, type and length included.
    #[must_use]
    #[inline]
    pub fn whole(&self) -> Range<usize> {
        self.offset..self.end()
    }

    /// Offset of the next element.
    #[must_use]
    #[inline]
    pub fn end(&self) -> usize {
        self.value_offset + self.value.len()
    }

    /// Reads the elements inside; offsets keep their origin.
    #[must_use]
    #[inline]
    pub fn reader(&self) -> Reader<'a> {
        Reader { rest: self.value, end: self.end() }
    }

    /// An error about this element.
    #[must_use]
    pub fn error(&self, expected: &'static str) -> DecodeError {
        DecodeError { offset: self.offset, typ: Some(self.typ), expected }
    }

    /// The value as a NonNegativeInteger (1, 2, 4 or 8 bytes, big-endian).
    #[inline]
    pub fn number(&self) -> Result<u64, DecodeError> {
        parse_nni(self.value).ok_or_else(|| self.error("a number of 1, 2, 4 or 8 bytes"))
    }

    /// The value as exactly `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&self, expected: &'static str) -> Result<[u8; N], DecodeError> {
        self.value.try_into().map_err(|_| self.error(expected))
    }

    /// Checks that the value is empty.
    #[inline]
    pub fn empty(&self) -> Result<(), DecodeError> {
        if self.value.is_empty() { Ok(()) } else { Err(self.error("an empty value")) }
    }

    /// Accepts an unknown or out-of-order element unless it is critical.
    #[inline]
    pub fn skip_unless_critical(&self) -> Result<(), DecodeError> {
        if is_critical(self.typ) {
            return Err(self.error("no unknown, repeated or misplaced critical element"));
        }
        Ok(())
    }
}

/// Whether a receiver that does not know this TLV-TYPE must reject the packet: numbers up to 31, and odd ones.
#[must_use]
pub fn is_critical(typ: u64) -> bool {
    typ <= 31 || typ % 2 == 1
}

/// Reads consecutive elements.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Offset of the end.
    end: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, counting offsets from their start.
    #[must_use]
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, end: bytes.len() }
    }

    /// Offset of the next element.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// Whether all bytes were read.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next element, or `None` at the end.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Tlv<'a>>, DecodeError> {
        // Nearly all elements have a type and a length of one byte.
        if let [typ @ 1..=252, len @ ..=252, rest @ ..] = self.rest
            && let Some((value, rest)) = rest.split_at_checked(usize::from(*len))
        {
            let offset = self.offset();
            self.rest = rest;
            return Ok(Some(Tlv { typ: u64::from(*typ), value, offset, value_offset: offset + 2 }));
        }
        if self.is_empty() { Ok(None) } else { self.read_any().map(Some) }
    }

    #[inline(never)]
    fn read_any(&mut self) -> Result<Tlv<'a>, DecodeError> {
        let offset = self.offset();
        let typ = self.typ()?;
        let len = self.varnum("a TLV-LENGTH in its shortest form")?;
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let (value, rest) =
            split.ok_or(DecodeError { offset, typ: Some(typ), expected: "TLV-LENGTH bytes" })?;
        let value_offset = self.offset();
        self.rest = rest;
        Ok(Tlv { typ, value, offset, value_offset })
    }

    /// Skips elements that have a type of at least `least` and a length of one byte each; returns
    /// how many.
    #[inline]
    pub(crate) fn skip_short(&mut self, least: u8) -> usize {
        let mut count = 0;
        while let [typ @ 1..=252, len @ ..=252, more @ ..] = self.rest
            && *typ >= least
            && let Some(after) = more.get(usize::from(*len)..)
        {
            self.rest = after;
            count += 1;
        }
        count
    }

    /// Skips elements that have a type and a length of one byte each, up to the last one.
    #[inline]
    pub(crate) fn skip_short_but_last(&mut self) {
        while let [1..=252, len @ ..=252, more @ ..] = self.rest
            && let Some(after @ [_, ..]) = more.get(usize::from(*len)..)
        {
            self.rest = after;
        }
    }

    /// The next element, which must have type `typ`.
    #[inline]
    pub fn expect(&mut self, typ: u64, expected: &'static str) -> Result<Tlv<'a>, DecodeError> {
        match self.read() {
            Ok(Some(tlv)) if tlv.typ == typ => Ok(tlv),
            other => self.unexpected(other, expected),
        }
    }

    #[cold]
    fn unexpected(
        &self,
        found: Result<Option<Tlv<'a>>, DecodeError>,
        expected: &'static str,
    ) -> Result<Tlv<'a>, DecodeError> {
        match found? {
            Some(tlv) => Err(tlv.error(expected)),
            None => Err(DecodeError::at(self.offset(), expected)),
        }
    }

    /// Checks that nothing is left.
    #[inline]
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() {
            return Ok(());
        }
        Err(DecodeError::at(self.offset(), "nothing after the packet"))
    }

    #[inline]
    fn typ(&mut self) -> Result<u64, DecodeError> {
        let offset = self.offset();
        let typ = self.varnum("a TLV-TYPE in its shortest form")?;
        if typ == 0 || typ > u64::from(u32::MAX) {
            return Err(DecodeError::at(offset, "a TLV-TYPE from 1 to 4294967295"));
        }
        Ok(typ)
    }

    #[inline]
    fn varnum(&mut self, expected: &'static str) -> Result<u64, DecodeError> {
        let error = DecodeError::at(self.offset(), expected);
        match parse_varnum(self.rest) {
            Varnum::Is(number, len) => {
                self.rest = self.rest.get(len..).unwrap_or_default();
                Ok(number)
            }
            Varnum::Incomplete | Varnum::NotShortest => Err(error),
        }
    }
}

enum Varnum {
    Is(u64, usize),
    Incomplete,
    NotShortest,
}

#[inline]
fn parse_varnum(bytes: &[u8]) -> Varnum {
    let (least, number) = match *bytes {
        [] => return Varnum::Incomplete,
        [first @ ..=252, ..] => return Varnum::Is(u64::from(first), 1),
        [253, a, b, ..] => (253, u64::from(u16::from_be_bytes([a, b]))),
        [254, a, b, c, d, ..] => (0x1_0000, u64::from(u32::from_be_bytes([a, b, c, d]))),
        [255, a, b, c, d, e, f, g, h, ..] => {
            (0x1_0000_0000, u64::from_be_bytes([a, b, c, d, e, f, g, h]))
        }
        _ => return Varnum::Incomplete,
    };
    if number < least {
        return Varnum::NotShortest;
    }
    Varnum::Is(number, varnum_len(number))
}

/// Length of the element at the start of `stream`, type and length included, for framing a stream.
///
/// `None` while type and length are incomplete. The result may exceed any sensible limit: compare
/// the length with the largest accepted frame *before* waiting for that many bytes.
pub fn frame_len(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    let (typ, typ_len) = match parse_varnum(stream) {
        Varnum::Is(typ, len) => (typ, len),
        Varnum::Incomplete => return Ok(None),
        Varnum::NotShortest => return Err(DecodeError::at(0, "a TLV-TYPE in its shortest form")),
    };
    if typ == 0 || typ > u64::from(u32::MAX) {
        return Err(DecodeError::at(0, "a TLV-TYPE from 1 to 4294967295"));
    }
    let too_long = DecodeError { offset: 0, typ: Some(typ), expected: "a shorter element" };
    match parse_varnum(stream.get(typ_len..).unwrap_or_default()) {
        Varnum::Is(len, len_len) => {
            let total =
                usize::try_from(len).ok().and_then(|len| len.checked_add(typ_len + len_len));
            total.map(Some).ok_or(too_long)
        }
        Varnum::Incomplete => Ok(None),
        Varnum::NotShortest => Err(DecodeError {
            offset: typ_len,
            typ: Some(typ),
            expected: "a TLV-LENGTH in its shortest form",
        }),
    }
}

/// The number in the bytes of a NonNegativeInteger, or `None` if they are not 1, 2, 4 or 8.
#[must_use]
#[inline]
pub fn parse_nni(bytes: &[u8]) -> Option<u64> {
    match *bytes {
        [a] => Some(u64::from(a)),
        [a, b] => Some(u64::from(u16::from_be_bytes([a, b]))),
        [a, b, c, d] => Some(u64::from(u32::from_be_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

/// Bytes of `number` as a TLV-TYPE or TLV-LENGTH in its shortest form.
#[must_use]
#[inline]
fn varnum_len(number: u64) -> usize {
    match number {
        0..253 => 1,
        253..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Bytes of `number` as a NonNegativeInteger.
#[must_use]
#[inline]
pub fn nni_len(number: u64) -> usize {
    match number {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    }
}

/// Bytes of a whole element whose TLV-VALUE has `value_len` bytes.
#[must_use]
#[inline]
pub fn tlv_len(typ: u64, value_len: usize) -> usize {
    varnum_len(typ) + varnum_len(value_len as u64) + value_len
}

/// Bytes of a whole element whose TLV-VALUE is the NonNegativeInteger `number`.
#[must_use]
#[inline]
pub fn nni_tlv_len(typ: u64, number: u64) -> usize {
    tlv_len(typ, nni_len(number))
}

/// Appends a TLV-TYPE or TLV-LENGTH in its shortest form.
#[inline]
fn put_varnum(out: &mut impl BufMut, number: u64) {
    match varnum_len(number) {
        1 => out.put_u8(number as u8),
        3 => {
            out.put_u8(253);
            out.put_u16(number as u16);
        }
        5 => {
            out.put_u8(254);
            out.put_u32(number as u32);
        }
        _ => {
            out.put_u8(255);
            out.put_u64(number);
        }
    }
}

/// Appends a NonNegativeInteger in its shortest form.
#[inline]
pub fn put_nni(out: &mut impl BufMut, number: u64) {
    match nni_len(number) {
        1 => out.put_u8(number as u8),
        2 => out.put_u16(number as u16),
        4 => out.put_u32(number as u32),
        _ => out.put_u64(number),
    }
}

/// Appends TLV-TYPE and TLV-LENGTH; the caller appends `value_len` bytes afterwards.
#[inline]
pub fn put_header(out: &mut impl BufMut, typ: u64, value_len: usize) {
    let len = value_len as u64;
    // Each call checks the capacity of the buffer; nearly all headers take one.
    match (varnum_len(typ), varnum_len(len)) {
        (1, 1) => out.put_slice(&[typ as u8, len as u8]),
        (1, 3) => {
            let [high, low] = (len as u16).to_be_bytes();
            out.put_slice(&[typ as u8, 253, high, low]);
        }
        _ => {
            put_varnum(out, typ);
            put_varnum(out, len);
        }
    }
}

/// Appends a whole element.
#[inline]
pub fn put_tlv(out: &mut impl BufMut, typ: u64, value: &[u8]) {
    put_header(out, typ, value.len());
    out.put_slice(value);
}

/// Appends a whole element whose TLV-VALUE is a NonNegativeInteger.
#[inline]
pub fn put_nni_tlv(out: &mut impl BufMut, typ: u64, number: u64) {
    match (varnum_len(typ), nni_len(number)) {
        (1, 1) => out.put_slice(&[typ as u8, 1, number as u8]),
        (1, 2) => {
            let [high, low] = (number as u16).to_be_bytes();
            out.put_slice(&[typ as u8, 2, high, low]);
        }
        (_, len) => {
            put_header(out, typ, len);
            put_nni(out, number);
        }
    }
}

/// Replaces, removes or adds a byte, by `how` of 1, 2 and 3, or leaves the wire as it is.
#[cfg(test)]
pub(crate) fn change(wire: &mut Vec<u8>, place: usize, byte: u8, how: u8) {
    let place = place % wire.len();
    match how {
        1 => wire[place] = byte,
        2 => drop(wire.remove(place)),
        3 => wire.insert(place, byte),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shortest_form_is_written_and_read() {
        for (number, len) in
            [(0, 1), (252, 1), (253, 3), (65_535, 3), (65_536, 5), (u64::from(u32::MAX), 5)]
        {
            let mut out = Vec::new();
            put_header(&mut out, number.max(1), 0);
            assert_eq!(out.len(), len + 1);
            assert_eq!(Reader::new(&out).read().unwrap().unwrap().typ, number.max(1));
        }
        for bad in [
            &[253, 0, 252, 0][..],
            &[254, 0, 0, 255, 255, 0],
            &[255, 0, 0, 0, 0, 255, 255, 255, 255, 0],
        ] {
            assert!(Reader::new(bad).read().is_err());
            assert!(frame_len(bad).is_err());
        }
        assert!(Reader::new(&[8, 253, 0, 1, 65]).read().is_err());
        assert!(frame_len(&[8, 253, 0, 1, 65]).is_err());
    }

    #[test]
    fn element_is_written_as_long_as_computed() {
        for typ in [1, 252, 253, 70_000] {
            for number in [0, 255, 256, 65_535, 65_536, u64::MAX] {
                let mut out = Vec::new();
                put_nni_tlv(&mut out, typ, number);
                assert_eq!(out.len(), nni_tlv_len(typ, number));
                let element = Reader::new(&out).read().unwrap().unwrap();
                assert_eq!((element.typ, element.number().unwrap()), (typ, number));
            }
            for len in [0, 252, 253, 65_535, 65_536] {
                let mut out = Vec::new();
                put_tlv(&mut out, typ, &vec![7; len]);
                assert_eq!(out.len(), tlv_len(typ, len));
                let element = Reader::new(&out).read().unwrap().unwrap();
                assert_eq!((element.typ, element.value.len()), (typ, len));
            }
        }
    }

    #[test]
    fn type_zero_and_types_beyond_32_bits_fail() {
        assert!(Reader::new(&[0, 0]).read().is_err());
        assert!(frame_len(&[0]).is_err());
        assert!(Reader::new(&[255, 0, 0, 0, 1, 0, 0, 0, 0, 0]).read().is_err());
    }

    #[test]
    fn error_names_offset_type_and_expectation() {
        let mut reader = Reader::new(&[8, 1, 65, 9, 2, 65]);
        assert!(reader.read().unwrap().is_some());
        let error = reader.read().unwrap_err();
        assert_eq!((error.offset, error.typ), (3, Some(9)));
        assert_eq!(error.to_string(), "byte 3 (element of type 9): expected TLV-LENGTH bytes");
    }

    #[test]
    fn stream_is_framed_once_the_length_is_complete() {
        let frame = [6, 253, 1, 0];
        for len in 0..4 {
            assert_eq!(frame_len(&frame[..len]), Ok(None));
        }
        assert_eq!(frame_len(&frame), Ok(Some(260)));
        assert!(frame_len(&[6, 255, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    }

    #[test]
    fn a_length_beyond_memory_is_an_error() {
        assert!(Reader::new(&[6, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0]).read().is_err());
    }
}
