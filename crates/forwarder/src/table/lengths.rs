//! Lengths of the names in a table, which avoid useless probes.
use recoup_packet::name::Name;
use smallvec::SmallVec;

/// Ends of prefixes in the bytes of a name, shortest first.
pub(super) type Ends = SmallVec<[u32; 16]>;

/// Number of entries with names of each length, in components.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: Vec<u32>,
    /// Lengths with entries, ascending.
    present: Vec<u32>,
}

impl Lengths {
    pub(super) fn add(&mut self, length: usize) {
        if length >= self.counts.len() {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
        if self.counts[length] == 1 {
            let place = self.present.partition_point(|other| (*other as usize) < length);
            self.present.insert(place, length as u32);
        }
    }

    /// Undoes one `add`.
    pub(super) fn remove(&mut self, length: usize) {
        let Some(count) = self.counts.get_mut(length).filter(|count| **count > 0) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            self.present.retain(|other| *other as usize != length);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// The lengths, ascending.
    #[inline]
    pub(super) fn present(&self) -> &[u32] {
        &self.present
    }

    /// Ends of the prefixes of `name` with one of the lengths, shortest first.
    pub(super) fn ends(&self, name: &Name) -> Ends {
        let mut ends = Ends::new();
        let (mut length, mut end, mut prefixes) = (0, 0, name.prefix_ends());
        for wanted in &self.present {
            while length < *wanted {
                match prefixes.next() {
                    Some(next) => end = next as u32,
                    None => return ends,
                }
                length += 1;
            }
            ends.push(end);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prefixes_of_known_lengths_are_found() {
        let name: Name = "/a/bb/c".parse().unwrap();
        let mut lengths = Lengths::default();
        assert!(lengths.ends(&name).is_empty());
        for length in [2, 9, 0, 2] {
            lengths.add(length);
        }
        assert_eq!(lengths.ends(&name)[..], [0, 7]);
        lengths.remove(0);
        lengths.remove(2);
        assert_eq!(lengths.ends(&name)[..], [7]);
        lengths.remove(2);
        assert!(lengths.ends(&name).is_empty() && !lengths.is_empty());
        lengths.remove(9);
        assert!(lengths.is_empty());
    }
}
