//! Offsets of a name's prefixes.

use super::Name;
use crate::tlv::Reader;
use std::iter::FusedIterator;

impl Name {
    /// End of each prefix in [`value`](Self::value), in bytes, from one component to the whole
    /// name. One walk serves a table that is searched for several prefixes.
    #[must_use]
    pub fn prefix_ends(&self) -> PrefixEnds<'_> {
        PrefixEnds { value: self.value(), at: 0 }
    }
}

/// Ends of the prefixes of a name, shortest first.
#[derive(Clone, Debug)]
pub struct PrefixEnds<'a> {
    value: &'a [u8],
    at: usize,
}

impl Iterator for PrefixEnds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let rest = self.value.get(self.at..)?;
        self.at += match rest {
            // Nearly every component has a type and a length of one byte.
            [typ, len, ..] if *typ < 253 && *len < 253 => 2 + usize::from(*len),
            _ => {
                let mut reader = Reader::new(rest);
                reader.read().ok()??;
                reader.offset()
            }
        };
        Some(self.at)
    }
}

impl FusedIterator for PrefixEnds<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Component;

    #[test]
    fn prefix_ends_are_byte_offsets() {
        let long = vec![7; 300];
        let name: Name = "/a/v=1".parse::<Name>().unwrap();
        let name =
            name.append(Component::generic(&long)).append(Component::new(40_000, b"x").unwrap());
        let ends: Vec<usize> = name.prefix_ends().collect();
        let expected: Vec<usize> =
            (1..=name.len()).map(|count| name.prefix(count).value().len()).collect();
        assert_eq!(ends, expected);
        assert_eq!(ends.last(), Some(&name.value().len()));
        assert_eq!(Name::root().prefix_ends().next(), None);
    }
}
