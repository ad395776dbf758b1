//! Version numbers used for content that is no longer open.
//!
//! A version identifies one content. The table records the state of the content for each version that has left the
//! shelf. An equal state is served under the same number again, and another state never is. The table holds [`LIMIT`]
//! versions (0.4 MB) and forgets the oldest first.
use super::source::Identity;
use recoup_packet::name::Name;
use recoup_packet::signature::sha256;
use std::collections::VecDeque;

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
