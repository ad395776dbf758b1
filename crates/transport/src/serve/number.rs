//! Version numbers, and those used for content that is no longer open.
//!
//! A version identifies one content. The time of the last change does not: tools set it (`cp -p`, `touch -d`, rsync), and
//! package systems set the same time for all files. So a number has two parts ([`version_number`]):
//!
//! | bits | content |
//! |---|---|
//! | 63 to 22 | time in units of 1,024 µs |
//! | 21 to 0 | beginning of the identifier of the content |
//!
//! Numbers grow with the time. A source settles for 20 ms before it is read, so no two versions that were served of one
//! file are closer than that. Unchanged content has the same number after a restart. Of 4 million pairs of contents of
//! equal time, one pair shares a number. Consumers distinguish even these by the identifiers in the segments.
//!
//! Within one process no number is used twice. The table records the state of the content for each version that has left the
//! shelf. An equal state is served under the same number again, and another state never is. The table holds [`LIMIT`]
//! versions (0.4 MB) and forgets the oldest first.
use super::source::Identity;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::sha256;
use std::collections::VecDeque;

/// Bits of a version number that come from the identifier.
const ID_BITS: u32 = 22;
/// A unit of time in a version number is so many microseconds, as a power of two.
const UNIT_BITS: u32 = 10;

/// The version number of content that changed last at this time, in microseconds since 1970.
#[must_use]
pub fn version_number(micros: u64, id: Option<ObjectId>) -> u64 {
    let time = (micros >> UNIT_BITS).min(u64::MAX >> ID_BITS);
    let id = id.map_or(0, |id| {
        let [first, second, third, ..] = *id.bytes();
        u64::from(u32::from_be_bytes([0, first, second, third])) & ((1 << ID_BITS) - 1)
    });
    time << ID_BITS | id
}

/// Most versions remembered.
const LIMIT: usize = 4_096;

/// A version that was served.
#[derive(Clone, Copy, Debug)]
struct Used {
    path: [u8; 32],
    /// The version that the library assigned.
    offered: Option<u64>,
    version: Option<u64>,
    /// `None` if the content changed while it was served.
    identity: Option<Identity>,
}

/// The used version numbers, oldest first.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    used: VecDeque<Used>,
}

impl Numbers {
    /// Records a version; `identity` is `None` if its content is gone for good.
    pub(super) fn remember(
        &mut self,
        path: &Name,
        offered: Option<u64>,
        version: Option<u64>,
        identity: Option<Identity>,
    ) {
        let path = sha256(path.value());
        self.used.retain(|used| used.path != path || used.version != version);
        if self.used.len() >= LIMIT {
            self.used.pop_front();
        }
        self.used.push_back(Used { path, offered, version, identity });
    }

    /// The number of this state of the content, if it was served before.
    pub(super) fn again(
        &self,
        path: &Name,
        offered: Option<u64>,
        identity: Identity,
    ) -> Option<Option<u64>> {
        let path = sha256(path.value());
        let same = |used: &&Used| {
            used.path == path && used.offered == offered && used.identity == Some(identity)
        };
        self.used.iter().find(same).map(|used| used.version)
    }

    /// Whether a number was used.
    pub(super) fn is_used(&self, path: &Name, version: Option<u64>) -> bool {
        let path = sha256(path.value());
        self.used.iter().any(|used| used.path == path && used.version == version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Identity = Identity([1; 4]);
    const THERE: Identity = Identity([2; 4]);

    #[test]
    fn number_returns_with_the_same_content_only() {
        let path: Name = "/p".parse().unwrap();
        let mut numbers = Numbers::default();
        numbers.remember(&path, Some(7), Some(8), Some(HERE));
        assert_eq!(numbers.again(&path, Some(7), HERE), Some(Some(8)));
        assert_eq!(numbers.again(&path, Some(7), THERE), None);
        assert_eq!(numbers.again(&Name::root(), Some(7), HERE), None);
        numbers.remember(&path, Some(7), Some(8), None);
        assert_eq!(numbers.again(&path, Some(7), HERE), None);
        assert!(numbers.is_used(&path, Some(8)) && !numbers.is_used(&path, Some(7)));
    }

    #[test]
    fn version_number_grows_with_time() {
        let ids = [0, 1, 0x3f, 0xff].map(|byte| Some(ObjectId::new([byte; 16])));
        let times = [0, 1_024, 1_700_000_000_000_000, 1_700_000_000_001_024, 4 << 50, u64::MAX];
        for pair in times.windows(2) {
            for (one, other) in ids.iter().flat_map(|one| ids.iter().map(move |it| (one, it))) {
                let numbers = [(pair[0], one), (pair[1], other)];
                let [before, after] = numbers.map(|(time, id)| version_number(time, *id));
                assert!(before < after || pair[1] == u64::MAX, "{pair:?}: {before} {after}");
            }
        }
    }

    #[test]
    fn equal_times_have_a_number_for_each_content() {
        let numbers = (0..=255).map(|byte| version_number(7, Some(ObjectId::new([byte; 16]))));
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 256);
        assert_eq!(version_number(7, None), 0, "no identifier has no bits");
    }

    #[test]
    fn oldest_number_is_forgotten_first() {
        let path: Name = "/p".parse().unwrap();
        let mut numbers = Numbers::default();
        for version in 0..=LIMIT as u64 {
            numbers.remember(&path, Some(version), Some(version), None);
        }
        assert_eq!(numbers.used.len(), LIMIT);
        assert!(!numbers.is_used(&path, Some(0)) && numbers.is_used(&path, Some(1)));
    }
}
