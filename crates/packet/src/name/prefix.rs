//! Where the prefixes of a name end.

use super::Name;
use crate::tlv::Reader;
use std::iter::FusedIterator;

impl Name {
    /// Where each prefix ends in [`value`](Self::value), in octets: that of one component, of two, and so on up to the
    /// whole name. One walk serves a table that is searched for several prefixes.
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
            // Nearly every component has a type and a length of one octet.
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
    fn prefixes_end_where_their_octets_end() {
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
