//! First transmissions from which a packet descends: for the simulator's detection of spurious timeouts, never on a
//! real wire.

/// Number of ids from which on they are sorted: where consumers repeat without end, a packet has thousands.
const MANY: usize = 16;

/// A set of ids of first transmissions; one id needs no memory of its own.
#[derive(Clone, Debug, Default)]
pub struct Trace(Ids);

#[derive(Clone, Debug, Default)]
enum Ids {
    #[default]
    None,
    One(u64),
    /// At least two.
    // Boxed, so that the usual case is small.
    #[expect(clippy::box_collection, reason = "a vector by itself would make every packet larger")]
    Several(Box<Vec<u64>>),
}

impl Trace {
    /// The empty set.
    pub const EMPTY: &Self = &Self::new();

    /// No id.
    #[must_use]
    pub const fn new() -> Self {
        Self(Ids::None)
    }

    /// The set of this id.
    #[must_use]
    pub const fn of(id: u64) -> Self {
        Self(Ids::One(id))
    }

    /// Whether there is no id.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self.0, Ids::None)
    }

    /// The ids, each once, in the order of insertion.
    #[must_use]
    #[inline]
    pub fn ids(&self) -> &[u64] {
        match &self.0 {
            Ids::None => &[],
            Ids::One(id) => std::slice::from_ref(id),
            Ids::Several(ids) => ids,
        }
    }

    /// Takes the ids; none are left here.
    #[must_use]
    pub const fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new())
    }

    /// Adds the ids of `other`.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else {
            self.merge_more(other);
        }
    }

    fn merge_more(&mut self, other: Self) {
        if other.ids().len() < MANY {
            return other.ids().iter().for_each(|id| self.add(*id));
        }
        let more = other.without(self);
        let mut all = self.ids().to_vec();
        all.extend(more);
        self.0 = Ids::Several(Box::new(all));
    }

    /// The ids that `other` has, too.
    pub(crate) fn shared_with(&self, other: &Self) -> Self {
        let sorted = other.sorted();
        let known = |id: &u64| sorted.binary_search(id).is_ok();
        let mut shared: Vec<_> = self.ids().iter().copied().filter(known).collect();
        match shared.len() {
            0 => Self::new(),
            1 => shared.pop().map_or_else(Self::new, Self::of),
            _ => Self(Ids::Several(Box::new(shared))),
        }
    }

    /// The ids that `other` does not have.
    fn without(&self, other: &Self) -> Vec<u64> {
        let sorted = other.sorted();
        self.ids().iter().copied().filter(|id| sorted.binary_search(id).is_err()).collect()
    }

    fn sorted(&self) -> Vec<u64> {
        let mut ids = self.ids().to_vec();
        ids.sort_unstable();
        ids
    }

    fn add(&mut self, id: u64) {
        match &mut self.0 {
            Ids::None => self.0 = Ids::One(id),
            Ids::One(known) if *known == id => {}
            Ids::One(known) => self.0 = Ids::Several(Box::new(vec![*known, id])),
            Ids::Several(known) if known.contains(&id) => {}
            Ids::Several(known) => known.push(id),
        }
    }

    /// A copy of the ids, for a copy of the packet.
    #[must_use]
    #[inline]
    pub fn split(&self) -> Self {
        self.clone()
    }
}

impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.ids() == other.ids()
    }
}

impl Eq for Trace {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_each_id_once() {
        let mut trace = Trace::new();
        assert!(trace.is_empty() && trace.ids().is_empty());
        for id in [3, 1, 3, 1, 7] {
            trace.merge(Trace::of(id));
        }
        trace.merge(Trace::new());
        assert_eq!(trace.ids(), [3, 1, 7]);
        let copy = trace.split();
        assert_eq!((trace.take(), trace), (copy, Trace::new()));
    }

    #[test]
    fn several_ids_join_one_in_their_order() {
        let mut several = Trace::of(4);
        several.merge(Trace::of(2));
        let mut trace = Trace::of(2);
        trace.merge(several);
        assert_eq!(trace.ids(), [2, 4]);
    }

    #[test]
    fn many_ids_are_merged_and_intersected() {
        let of = |ids: std::ops::Range<u64>| {
            let mut trace = Trace::new();
            ids.for_each(|id| trace.merge(Trace::of(id)));
            trace
        };
        let (mut low, high) = (of(0..40), of(20..60));
        assert_eq!(low.shared_with(&high), of(20..40));
        assert_eq!(
            (low.shared_with(&of(39..41)), low.shared_with(&of(40..90))),
            (of(39..40), of(0..0))
        );
        low.merge(high);
        assert_eq!(low, of(0..60));
    }
}
