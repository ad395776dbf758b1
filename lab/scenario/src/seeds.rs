//! Seeds: `7`, `"1..20"` (1 to 20, twenty runs), `"1..5, 9"`, `[1, 5, 9]`.
use recoup_config::form::Form;
use recoup_config::tree::{Tree, Value};
use std::fmt;
use std::str::FromStr;

/// More runs than that are a mistake.
const MOST: u64 = 1_000_000;

const HOW: &str = "write seeds as 7, \"1..20\" (1 to 20), \"1..5, 9\" or [1, 5, 9]";

/// The seeds to run: inclusive ranges, ascending and disjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<(u64, u64)>);

impl Default for Seeds {
    /// Seed 1 alone.
    fn default() -> Self {
        Self(vec![(1, 1)])
    }
}

impl Seeds {
    /// The first `count` seeds, from 1 on; at least one.
    pub fn first(count: u64) -> Self {
        Self(vec![(1, count.clamp(1, MOST))])
    }

    /// The seeds, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Number of seeds.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    fn of(mut ranges: Vec<(u64, u64)>) -> Result<Self, String> {
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => joined.push((first, last)),
            }
        }
        // TOML's numbers end there, too.
        let fits = joined.iter().all(|(_, last)| *last <= i64::MAX as u64);
        let many = joined.iter().map(|(a, b)| u128::from(b - a) + 1).sum::<u128>();
        match (joined.is_empty(), fits && many <= u128::from(MOST)) {
            (true, _) => Err(format!("there are no seeds; {HOW}")),
            (_, false) => Err(format!("seeds are too large or more than {MOST}; {HOW}")),
            (false, true) => Ok(Self(joined)),
        }
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| HOW.to_owned());
        let range = |part: &str| match part.split_once("..") {
            None => number(part).map(|seed| (seed, seed)),
            Some((first, last)) => {
                let last = number(last.strip_prefix('=').unwrap_or(last))?;
                let first = number(first)?;
                if last < first {
                    Err(format!("`{}` is empty; {HOW}", part.trim()))
                } else {
                    Ok((first, last))
                }
            }
        };
        Self::of(text.split(',').map(range).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |(first, last): &(u64, u64)| match first == last {
            true => first.to_string(),
            false => format!("{first}..{last}"),
        };
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(", "))
    }
}

/// Seeds as text.
pub(super) struct SeedsForm;

impl Form for SeedsForm {
    type Of = Seeds;

    fn read(&self, tree: &Tree) -> Result<Seeds, String> {
        match &tree.value {
            Value::Text(text) => text.parse(),
            Value::Integer(seed) => seed.to_string().parse(),
            Value::List(list) => {
                let seed = |tree: &Tree| match tree.value {
                    Value::Integer(seed) => {
                        u64::try_from(seed).map(|seed| (seed, seed)).map_err(|_| HOW.to_owned())
                    }
                    _ => Err(HOW.to_owned()),
                };
                Seeds::of(list.iter().map(seed).collect::<Result<_, _>>()?)
            }
            _ => Err(HOW.to_owned()),
        }
    }

    fn write(&self, of: &Seeds) -> Option<Value> {
        Some(Value::Text(of.to_string()))
    }

    fn example(&self) -> String {
        HOW.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_of_seeds_has_both_its_ends() {
        let seeds: Seeds = "1..20".parse().unwrap();
        assert_eq!((seeds.count(), seeds.iter().last()), (20, Some(20)));
        assert_eq!("1..=3".parse::<Seeds>().unwrap().iter().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn each_seed_runs_once() {
        let seeds: Seeds = "9, 1..3, 2..5, 9".parse().unwrap();
        assert_eq!(seeds.iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 9]);
        assert_eq!(seeds.to_string(), "1..5, 9");
    }

    #[test]
    fn invalid_seed_is_named_with_the_right_form() {
        for wrong in ["", "a", "5..1", "1..", "-1", "1..9999999999", "1..18446744073709551615"] {
            assert!(wrong.parse::<Seeds>().unwrap_err().contains("1 to 20"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(ends in prop::collection::vec((0..1000_u64, 0..50_u64), 1..6)) {
            let ranges = ends.into_iter().map(|(first, more)| (first, first + more)).collect();
            let seeds = Seeds::of(ranges).unwrap();
            prop_assert_eq!(seeds.to_string().parse(), Ok(seeds));
        }

        #[test]
        fn no_text_makes_seeds_panic(text in "[0-9., =-]{0,30}|\\PC*") {
            let _ = text.parse::<Seeds>().map(|seeds| (seeds.count(), seeds.iter().next()));
        }
    }
}
