//! TLV elements of the management protocol: numbers, texts and names, encoded in protocol order and decoded in any
//! order.
use super::typ::STRATEGY;
use bytes::Bytes;
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, Tlv, put_nni_tlv, put_tlv, typ};
use std::time::Duration;

/// Most bytes of a text: the longest face URI.
const MAX_TEXT_BYTES: usize = 1_024;

/// Encoder of elements.
#[derive(Debug, Default)]
pub(super) struct Elements(pub(super) Vec<u8>);

impl Elements {
    /// A number, if there is one.
    pub(super) fn number(&mut self, typ: u64, number: impl Into<Option<u64>>) {
        if let Some(number) = number.into() {
            put_nni_tlv(&mut self.0, typ, number);
        }
    }

    /// A time in milliseconds, if there is one.
    pub(super) fn millis(&mut self, typ: u64, time: Option<Duration>) {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.number(typ, time.map(millis));
    }

    /// A time in nanoseconds, if there is one.
    pub(super) fn nanos(&mut self, typ: u64, time: Option<Duration>) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.number(typ, time.map(nanos));
    }

    /// A text.
    pub(super) fn text(&mut self, typ: u64, text: &str) {
        put_tlv(&mut self.0, typ, text.as_bytes());
    }

    /// A name.
    pub(super) fn name(&mut self, name: &Name) {
        name.encode(&mut self.0);
    }

    /// A name inside an element of its own.
    pub(super) fn strategy(&mut self, name: &Name) {
        self.nested(STRATEGY, |inner| inner.name(name));
    }

    /// An element made of elements.
    pub(super) fn nested(&mut self, typ: u64, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        put_tlv(&mut self.0, typ, &inner.0);
    }
}

/// The elements inside another one, found by type. The first of repeated ones counts and unknown ones are ignored, as
/// in all forwarders and clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(&'a [u8], u64);

impl<'a> Fields<'a> {
    /// The elements inside `element`.
    ///
    /// # Errors
    /// The value is not a sequence of elements.
    pub(super) fn of(element: &Tlv<'a>) -> Result<Self, DecodeError> {
        Self::new(element.value, element.typ)
    }

    /// The elements in `bytes`, the value of an element of type `typ`.
    ///
    /// # Errors
    /// The value is not a sequence of elements.
    pub(super) fn new(bytes: &'a [u8], typ: u64) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        while reader.read()?.is_some() {}
        Ok(Self(bytes, typ))
    }

    /// All elements of a type.
    pub(super) fn all(&self, typ: u64) -> impl Iterator<Item = Tlv<'a>> {
        let mut reader = Reader::new(self.0);
        let next = move || reader.read().ok().flatten();
        std::iter::from_fn(next).filter(move |element| element.typ == typ)
    }

    fn find(&self, typ: u64) -> Option<Tlv<'a>> {
        self.all(typ).next()
    }

    /// Whether an element of a type is present.
    pub(super) fn has(&self, typ: u64) -> bool {
        self.find(typ).is_some()
    }

    /// A number, if present.
    pub(super) fn number(&self, typ: u64) -> Result<Option<u64>, DecodeError> {
        self.find(typ).map(|element| element.number()).transpose()
    }

    /// A mandatory number.
    pub(super) fn required(&self, typ: u64) -> Result<u64, DecodeError> {
        let error = DecodeError { offset: 0, typ: Some(self.1), expected: "all mandatory fields" };
        self.number(typ)?.ok_or(error)
    }

    /// A time in milliseconds, if present.
    pub(super) fn millis(&self, typ: u64) -> Result<Option<Duration>, DecodeError> {
        Ok(self.number(typ)?.map(Duration::from_millis))
    }

    /// A time in nanoseconds, if present.
    pub(super) fn nanos(&self, typ: u64) -> Result<Option<Duration>, DecodeError> {
        Ok(self.number(typ)?.map(Duration::from_nanos))
    }

    /// A text, if present and not too long.
    pub(super) fn text(&self, typ: u64) -> Result<Option<String>, DecodeError> {
        let read = |element: Tlv<'_>| {
            let bytes = element.value.get(..MAX_TEXT_BYTES + 1).map_or(element.value, |_| &[0xff]);
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| element.error("a short text"))
        };
        self.find(typ).map(read).transpose()
    }

    /// A name, if present.
    pub(super) fn name(&self) -> Result<Option<Name>, DecodeError> {
        let read = |element: Tlv<'_>| {
            let name = Name::from_value(Bytes::copy_from_slice(element.value));
            name.map_err(|_| element.error("a name"))
        };
        self.find(typ::NAME).map(read).transpose()
    }

    /// A name inside an element of its own, if present.
    pub(super) fn strategy(&self) -> Result<Option<Name>, DecodeError> {
        match self.find(STRATEGY) {
            Some(element) => Self::of(&element)?.name(),
            None => Ok(None),
        }
    }
}
