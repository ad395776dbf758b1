//! Names with their numbers, in order: a look-up or a pattern walks no other names.
use crate::pattern;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The numbers of names. Of equal names the first counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Index<'a> {
    numbers: BTreeMap<&'a str, u32>,
}

impl<'a> Index<'a> {
    /// Names, numbered in their order from 0.
    pub(super) fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut numbers = BTreeMap::new();
        for (number, name) in (0..).zip(names) {
            numbers.entry(name).or_insert(number);
        }
        Self { numbers }
    }

    /// The number of a name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The numbers of all names that a pattern fits, in their order.
    pub(super) fn matching(&self, pattern: &str) -> Vec<u32> {
        let Some((begin, _)) = pattern.split_once('*') else {
            return self.number(pattern).into_iter().collect();
        };
        let from = (Bound::Included(begin), Bound::Unbounded);
        let near = self.numbers.range::<str, _>(from);
        let near = near.take_while(|(name, _)| name.starts_with(begin));
        let fitting = near.filter(|(name, _)| pattern::fits(pattern, name));
        let mut numbers: Vec<u32> = fitting.map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The numbers of all names that one of several patterns fits, each once, in their order.
    pub(super) fn matching_any(&self, patterns: &[String]) -> Vec<u32> {
        let mut numbers: Vec<u32> = patterns.iter().flat_map(|one| self.matching(one)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn index_finds_what_a_walk_finds(
            names in proptest::collection::btree_set("[ab*-]{0,4}", 0..20),
            pattern in "[ab*-]{0,4}",
        ) {
            let names: Vec<&str> = names.iter().rev().map(String::as_str).collect();
            let walk = (0..).zip(&names).filter(|(_, name)| pattern::fits(&pattern, name));
            let walk: Vec<u32> = walk.map(|(number, _)| number).collect();
            prop_assert_eq!(Index::new(names.iter().copied()).matching(&pattern), walk);
        }
    }
}
