//! Names with their numbers, sorted from the front and from the back: a pattern walks the names that share its beginning
//! or its end, whichever are fewer.
use crate::pattern;
use std::cmp::Ordering;

/// The numbers of names. Of equal names the first counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Index<'a> {
    /// Names and numbers by the bytes of the names.
    forth: Vec<(&'a str, u32)>,
    /// Likewise, by the bytes from the last one on.
    back: Vec<(&'a str, u32)>,
}

impl<'a> Index<'a> {
    /// Names, numbered in their order from 0.
    pub(super) fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut forth: Vec<(&str, u32)> = names.into_iter().zip(0..).collect();
        forth.sort_unstable();
        forth.dedup_by_key(|(name, _)| *name);
        let mut back = forth.clone();
        back.sort_unstable_by(|(one, _), (other, _)| one.bytes().rev().cmp(other.bytes().rev()));
        Self { forth, back }
    }

    /// The number of a name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let place = self.forth.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        self.forth.get(place).map(|(_, number)| *number)
    }

    /// The numbers of all names that a pattern fits, in their order.
    pub(super) fn matching(&self, pattern: &str) -> Vec<u32> {
        let fitting = self.candidates(pattern).iter().filter(|(it, _)| pattern::fits(pattern, it));
        let mut numbers: Vec<u32> = fitting.map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The names among which those are that a pattern fits.
    fn candidates(&self, pattern: &str) -> &[(&'a str, u32)] {
        let (Some((begin, _)), Some((_, end))) =
            (pattern.split_once('*'), pattern.rsplit_once('*'))
        else {
            let place = self.forth.binary_search_by_key(&pattern, |(name, _)| *name);
            return place.map_or(&[][..], |place| &self.forth[place..=place]);
        };
        let forth = between(&self.forth, |name| name.bytes().take(begin.len()).cmp(begin.bytes()));
        let back =
            between(&self.back, |name| name.bytes().rev().take(end.len()).cmp(end.bytes().rev()));
        if forth.len() <= back.len() { forth } else { back }
    }

    /// The numbers of all names that one of several patterns fits, each once, in their order.
    pub(super) fn matching_any(&self, patterns: &[String]) -> Vec<u32> {
        let mut numbers: Vec<u32> = patterns.iter().flat_map(|one| self.matching(one)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The part of sorted names that compare equal.
fn between<'n, 'a>(
    names: &'n [(&'a str, u32)],
    order: impl Fn(&str) -> Ordering,
) -> &'n [(&'a str, u32)] {
    let from = names.partition_point(|(name, _)| order(name).is_lt());
    let until = names.partition_point(|(name, _)| order(name).is_le());
    &names[from..until]
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

    #[test]
    fn pattern_walks_names_of_its_rarer_edge() {
        let names: Vec<String> = (0..10_000).map(|number| format!("node-{number}")).collect();
        let index = Index::new(names.iter().map(String::as_str));
        for pattern in ["*-77", "node*-77", "*de-77", "node-77*7"] {
            assert!(index.candidates(pattern).len() <= 111, "{pattern}");
        }
        assert_eq!(index.matching("*-77"), [77]);
        assert_eq!(index.candidates("node-77"), [("node-77", 77)]);
    }
}
