//! Link fields outside the standard.

use bytes::Bytes;

/// First and last type of fields that may be ignored; the type must also be a multiple of four.
const FIRST: u64 = 800;
const LAST: u64 = 959;

/// Fields with types that NDNLPv2 does not define, from the range that receivers ignore: 800 to
/// 959, multiples of four. Recoup's hop-by-hop fields are here; forwarders do not copy them.
///
/// At most one field of each type, in increasing order, as ndn-cxx requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignorable(Vec<(u64, Bytes)>);

impl Ignorable {
    /// Whether a receiver that does not know field `typ` must ignore it (else: reject the frame).
    #[must_use]
    pub fn allows(typ: u64) -> bool {
        (FIRST..=LAST).contains(&typ) && typ.is_multiple_of(4)
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of field `typ`.
    #[must_use]
    pub fn get(&self, typ: u64) -> Option<&Bytes> {
        let index = self.0.binary_search_by_key(&typ, |field| field.0).ok()?;
        self.0.get(index).map(|field| &field.1)
    }

    /// Sets the value of field `typ`.
    ///
    /// # Panics
    /// If `typ` is one that NDNLPv2 defines, or that receivers would not ignore: a mistake in the program.
    pub fn set(&mut self, typ: u64, value: Bytes) {
        assert!(Self::allows(typ) && !super::wire::is_defined(typ), "field type {typ} is not free");
        match self.0.binary_search_by_key(&typ, |field| field.0) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (typ, value)),
        }
    }

    /// Removes field `typ` and returns its value.
    pub fn take(&mut self, typ: u64) -> Option<Bytes> {
        let index = self.0.binary_search_by_key(&typ, |field| field.0).ok()?;
        Some(self.0.remove(index).1)
    }

    /// Types and values, by increasing type.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        self.0.iter().map(|(typ, value)| (*typ, value))
    }

    /// Fields with a type in `from..to`.
    pub(super) fn between(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Bytes)> {
        self.iter().filter(move |(typ, _)| (from..to).contains(typ))
    }

    /// Appends a decoded field; the caller checks the order.
    pub(super) fn push(&mut self, typ: u64, value: Bytes) {
        self.0.push((typ, value));
    }
}
