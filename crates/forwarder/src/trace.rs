//! Which first transmissions a packet descends from: for the simulator's oracle (was a timeout
//! necessary?), never on a real wire.

use smallvec::{SmallVec, smallvec};

/// A set of ids of first transmissions; costs a null pointer while it is empty, and one allocation for one or two ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace(Option<Box<SmallVec<[u64; 2]>>>);

impl Trace {
    /// No id, for those who only look.
    pub const EMPTY: &Self = &Self::new();

    /// No id.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// This id alone.
    #[must_use]
    pub fn of(id: u64) -> Self {
        Self(Some(Box::new(smallvec![id])))
    }

    /// Whether there is no id.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The ids, each once, in the order in which they came together.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        self.0.as_deref().map_or(&[], SmallVec::as_slice)
    }

    /// Leaves nothing here and hands out what was here.
    #[must_use]
    pub const fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    /// Adds the ids of `other`.
    pub fn merge(&mut self, other: Self) {
        let Some(theirs) = other.0 else {
            return;
        };
        match &mut self.0 {
            None => self.0 = Some(theirs),
            Some(ours) => theirs.iter().for_each(|id| {
                if !ours.contains(id) {
                    ours.push(*id);
                }
            }),
        }
    }

    /// The same ids once more, for a copy of the packet.
    #[must_use]
    #[inline]
    pub fn split(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_each_id_once() {
        let mut trace = Trace::new();
        assert!(trace.is_empty() && trace.ids().is_empty());
        for id in [3, 1, 3] {
            trace.merge(Trace::of(id));
        }
        trace.merge(Trace::new());
        assert_eq!(trace.ids(), [3, 1]);
        let copy = trace.split();
        assert_eq!((trace.take(), trace), (copy, Trace::new()));
    }

    #[test]
    fn an_empty_trace_is_one_word() {
        assert_eq!(size_of::<Trace>(), size_of::<usize>());
    }
}
