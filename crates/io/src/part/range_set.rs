//! A set of segment numbers as runs, which is small because segments arrive nearly in order.
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A set of numbers, kept as runs that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    /// First number of a run → its last.
    runs: BTreeMap<u64, u64>,
    count: u64,
}

impl RangeSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number; false if it was there.
    pub fn insert(&mut self, number: u64) -> bool {
        self.insert_run(number, number) > 0
    }

    /// Adds the numbers `first..=last`; returns how many are new. An inverted run adds nothing.
    pub fn insert_run(&mut self, first: u64, last: u64) -> u64 {
        if first > last {
            return 0;
        }
        // Most segments follow the last run.
        if let Some(mut run) = self.runs.last_entry()
            && run.get().checked_add(1) == Some(first)
        {
            run.insert(last);
            self.count = self.count.saturating_add(span(first, last));
            return span(first, last);
        }
        let (mut start, mut end) = (first, last);
        let mut known = 0;
        while let Some((&low, &high)) = self.runs.range(..=end.saturating_add(1)).next_back() {
            if high.saturating_add(1) < start {
                break;
            }
            self.runs.remove(&low);
            known += span(low.max(first), high.min(last));
            start = start.min(low);
            end = end.max(high);
        }
        self.runs.insert(start, end);
        let added = span(first, last).saturating_sub(known);
        self.count = self.count.saturating_add(added);
        added
    }

    /// Removes all numbers from `first` on.
    pub fn remove_from(&mut self, first: u64) {
        let removed = self.runs.split_off(&first);
        let gone = removed.iter().map(|(&low, &high)| span(low, high)).fold(0, u64::saturating_add);
        self.count = self.count.saturating_sub(gone);
        if let Some(mut run) = self.runs.last_entry()
            && let Some(end) = first.checked_sub(1).filter(|end| end < run.get())
        {
            self.count = self.count.saturating_sub(run.get() - end);
            run.insert(end);
        }
    }

    /// Whether the number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.last().is_some_and(|last| last >= number)
            && self.runs.range(..=number).next_back().is_some_and(|(_, &last)| last >= number)
    }

    /// How many numbers are in the set; saturates at `u64::MAX`.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The runs in ascending order.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = RangeInclusive<u64>> + '_ {
        self.runs.iter().map(|(&first, &last)| first..=last)
    }

    /// The greatest number in the set.
    pub fn last(&self) -> Option<u64> {
        self.runs.last_key_value().map(|(_, &last)| last)
    }

    /// The runs of numbers in `first..=last` that are not in the set, in ascending order.
    pub fn missing(&self, first: u64, last: u64) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let mut next = Some(first);
        let beyond = std::iter::once((None, None));
        self.runs.iter().map(|(&low, &high)| (Some(low), Some(high))).chain(beyond).filter_map(
            move |(low, high)| {
                let start = next?;
                next = match high {
                    Some(high) => high.checked_add(1).map(|after| after.max(start)),
                    None => None,
                };
                let end = match low {
                    Some(low) => low.checked_sub(1)?.min(last),
                    None => last,
                };
                (start <= end).then_some(start..=end)
            },
        )
    }
}

/// Count of numbers in `first..=last`, saturating; 0 if inverted.
fn span(first: u64, last: u64) -> u64 {
    last.checked_sub(first).map_or(0, |distance| distance.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn range_set_holds_zero_and_the_largest_number() {
        let mut set = RangeSet::new();
        assert!(set.insert(u64::MAX));
        assert!(set.insert(0));
        assert!(!set.insert(u64::MAX));
        assert_eq!(set.missing(0, u64::MAX).collect::<Vec<_>>(), [1..=u64::MAX - 1]);
        set.insert_run(0, u64::MAX);
        assert_eq!(set.runs().count(), 1);
        assert_eq!(set.missing(0, u64::MAX).count(), 0);
    }

    #[test]
    fn an_inverted_run_adds_nothing() {
        let mut set = RangeSet::new();
        assert_eq!(set.insert_run(5, 4), 0);
        assert!(set.is_empty());
    }

    proptest! {
        #[test]
        fn it_agrees_with_an_ordinary_set(
            runs in prop::collection::vec((0u64..60, 0u64..8), 0..40),
            window in (0u64..70, 0u64..70),
        ) {
            let mut set = RangeSet::new();
            let mut model = BTreeSet::new();
            for (first, extra) in runs {
                let new = (first..=first + extra).filter(|&n| model.insert(n)).count();
                prop_assert_eq!(set.insert_run(first, first + extra), new as u64);
            }
            prop_assert_eq!(set.len(), model.len() as u64);
            prop_assert_eq!(set.last(), model.last().copied());
            prop_assert!((0..80).all(|n| set.contains(n) == model.contains(&n)));
            let listed: Vec<u64> = set.runs().flatten().collect();
            prop_assert_eq!(listed, model.iter().copied().collect::<Vec<_>>());
            let ends: Vec<_> = set.runs().collect();
            prop_assert!(ends.windows(2).all(|w| w[0].end() + 1 < *w[1].start()));
            let mut cut = set.clone();
            cut.remove_from(window.0);
            let kept: Vec<u64> = model.range(..window.0).copied().collect();
            prop_assert_eq!(cut.len(), kept.len() as u64);
            prop_assert_eq!(cut.runs().flatten().collect::<Vec<_>>(), kept);
            let missing: Vec<u64> = set.missing(window.0, window.1).flatten().collect();
            let expected: Vec<u64> = (window.0..=window.1).filter(|n| !model.contains(n)).collect();
            prop_assert_eq!(missing, expected);
        }
    }
}
