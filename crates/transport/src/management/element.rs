//! TLV elements of the management protocol, and the records that consist of them: encoded in protocol order, decoded
//! in any order.
use super::typ::{MARKING_INTERVAL, STRATEGY};
use bytes::Bytes;
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, Tlv, put_nni_tlv, put_tlv, typ};
use std::time::Duration;

/// Most bytes of a text: the longest face URI.
const MAX_TEXT_BYTES: usize = 1_024;

/// A record: a sequence of fields.
pub trait Record: Sized {
    /// TLV-TYPE of the element around the fields, if there is one.
    const TYPE: Option<u64>;

    /// Encodes the fields, in protocol order.
    #[doc(hidden)]
    fn put(&self, out: &mut Elements);

    /// Decodes the fields.
    ///
    /// # Errors
    /// A mandatory field is missing, or a field is malformed.
    #[doc(hidden)]
    fn take(fields: &Fields<'_>) -> Result<Self, DecodeError>;
}

/// Defines a record: its fields in protocol order, each with the TLV-TYPE of its element.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $record:ident: $type:expr;
        $($(#[$doc:meta])* $field:ident: $of:ty = $typ:expr,)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $record {
            $($(#[$doc])* pub $field: $of,)*
        }

        impl Record for $record {
            const TYPE: Option<u64> = $type;

            fn put(&self, out: &mut Elements) {
                $(self.$field.put($typ, out);)*
            }

            fn take(fields: &Fields<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: Value::read($typ, fields)?,)* })
            }
        }
    };
}
pub(super) use record;

/// Encoded elements.
#[derive(Debug, Default)]
pub struct Elements(pub(super) Vec<u8>);

impl Elements {
    /// An element made of elements.
    pub(super) fn nested(&mut self, typ: u64, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        put_tlv(&mut self.0, typ, &inner.0);
    }

    /// A record, inside its element.
    pub(super) fn record<R: Record>(&mut self, record: &R) {
        match R::TYPE {
            Some(typ) => self.nested(typ, |inner| record.put(inner)),
            None => record.put(self),
        }
    }
}

/// The elements inside another one, found by type. The first of repeated ones counts and unknown ones are ignored, as
/// in all forwarders and clients.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a [u8], u64);

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

    /// The first element of a type, read with `read`.
    fn find<T>(
        &self,
        typ: u64,
        read: impl FnOnce(Tlv<'a>) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        self.all(typ).next().map(read).transpose()
    }

    /// Whether an element of a type is present.
    pub(super) fn has(&self, typ: u64) -> bool {
        self.all(typ).next().is_some()
    }
}

/// A value of a field.
pub(super) trait Value: Sized {
    /// Encodes the value as an element, if there is one.
    fn put(&self, typ: u64, out: &mut Elements);

    /// Decodes the value.
    ///
    /// # Errors
    /// The element is malformed, or missing and mandatory.
    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError>;
}

/// A mandatory number.
impl Value for u64 {
    fn put(&self, typ: u64, out: &mut Elements) {
        put_nni_tlv(&mut out.0, typ, *self);
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let expected = "all mandatory fields";
        let error = DecodeError { offset: 0, typ: Some(fields.1), expected };
        fields.find(typ, |element| element.number())?.ok_or(error)
    }
}

impl Value for Option<u64> {
    fn put(&self, typ: u64, out: &mut Elements) {
        self.iter().for_each(|number| number.put(typ, out));
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        fields.find(typ, |element| element.number())
    }
}

/// Milliseconds, but for the interval of congestion marking, which is in nanoseconds.
impl Value for Option<Duration> {
    fn put(&self, typ: u64, out: &mut Elements) {
        let nanos = typ == MARKING_INTERVAL;
        let number = |time: Duration| if nanos { time.as_nanos() } else { time.as_millis() };
        self.map(|time| u64::try_from(number(time)).unwrap_or(u64::MAX)).put(typ, out);
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let nanos = typ == MARKING_INTERVAL;
        let time = if nanos { Duration::from_nanos } else { Duration::from_millis };
        Ok(Option::<u64>::read(typ, fields)?.map(time))
    }
}

impl Value for bool {
    fn put(&self, typ: u64, out: &mut Elements) {
        u64::from(*self).put(typ, out);
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(u64::read(typ, fields)? == 1)
    }
}

/// A text that is not too long.
impl Value for Option<String> {
    fn put(&self, typ: u64, out: &mut Elements) {
        self.iter().for_each(|text| put_tlv(&mut out.0, typ, text.as_bytes()));
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        fields.find(typ, |element| {
            let bytes = element.value.get(..MAX_TEXT_BYTES + 1).map_or(element.value, |_| &[0xff]);
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| element.error("a short text"))
        })
    }
}

/// A text; empty if it is missing.
impl Value for String {
    fn put(&self, typ: u64, out: &mut Elements) {
        put_tlv(&mut out.0, typ, self.as_bytes());
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Option::read(typ, fields)?.unwrap_or_default())
    }
}

/// A name. The name of a strategy stands inside an element of its own.
impl Value for Option<Name> {
    fn put(&self, typ: u64, out: &mut Elements) {
        self.iter().for_each(|name| name.put(typ, out));
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        if typ == STRATEGY {
            let name = |element: Tlv<'_>| Self::read(typ::NAME, &Fields::of(&element)?);
            return Ok(fields.find(typ, name)?.flatten());
        }
        fields.find(typ, |element| {
            let name = Name::from_value(Bytes::copy_from_slice(element.value));
            name.map_err(|_| element.error("a name"))
        })
    }
}

/// A name; the root if it is missing.
impl Value for Name {
    fn put(&self, typ: u64, out: &mut Elements) {
        match typ {
            STRATEGY => out.nested(STRATEGY, |inner| self.encode(&mut inner.0)),
            _ => self.encode(&mut out.0),
        }
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Option::read(typ, fields)?.unwrap_or_default())
    }
}

impl<R: Record> Value for Vec<R> {
    fn put(&self, _: u64, out: &mut Elements) {
        self.iter().for_each(|record| out.record(record));
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        fields.all(typ).map(|element| R::take(&Fields::of(&element)?)).collect()
    }
}
