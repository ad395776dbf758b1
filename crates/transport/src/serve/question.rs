//! Interests as a producer classifies them.
use super::ServeConfig;
use recoup_packet::interest::Interest;
use recoup_packet::manifest;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;

/// A classified Interest; a path is the part between the prefix and the version.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The metadata of the latest version.
    Metadata { path: Name },
    /// One segment, of the given version or of an object without versions.
    Segment { path: Name, version: Option<u64>, segment: u64 },
    /// A manifest: digests of segments.
    Manifest { path: Name, version: Option<u64>, number: u64 },
    /// Any segment of the latest version.
    Latest { path: Name },
    /// Any segment of this version.
    Version { path: Name, version: u64 },
}

impl Question {
    /// Classifies the name of an Interest from its end.
    pub(super) fn read(config: &ServeConfig, interest: &Interest) -> Option<Self> {
        let name = &interest.name;
        if !config.prefix.is_prefix_of(name) {
            return None;
        }
        let path = |count: usize| name.suffix(config.prefix.len()).prefix(count);
        let rest = name.len() - config.prefix.len();
        let last = if rest > 0 { name.last() } else { None };
        let Some(last) = last else {
            return interest.can_be_prefix.then(|| Self::Latest { path: path(rest) });
        };
        if last.is_keyword(b"metadata") {
            return interest.can_be_prefix.then(|| Self::Metadata { path: path(rest - 1) });
        }
        if let Some((object, number)) = manifest::parse(name)
            && rest > 1
        {
            let version = if rest > 2 { object.last() } else { None };
            let version = version.and_then(|c| config.convention.parse_version(&c));
            let path = path(rest - 2 - usize::from(version.is_some()));
            return Some(Self::Manifest { path, version, number });
        }
        if let Some(segment) = config.convention.parse_segment(&last) {
            let version = if rest > 1 { name.get(name.len() - 2) } else { None };
            let version = version.and_then(|c| config.convention.parse_version(&c));
            let path = path(rest - 1 - usize::from(version.is_some()));
            return Some(Self::Segment { path, version, segment });
        }
        if !interest.can_be_prefix {
            return None;
        }
        match config.convention.parse_version(&last) {
            Some(version) => Some(Self::Version { path: path(rest - 1), version }),
            None => Some(Self::Latest { path: path(rest) }),
        }
    }
}

/// The Interest without the implicit digest at its end; `None` if it has none.
pub(super) fn without_digest(interest: &Interest) -> Option<Interest> {
    let last = interest.name.last()?;
    let has_digest = u64::from(last.typ()) == typ::IMPLICIT_SHA256_DIGEST;
    has_digest.then(|| Interest::new(interest.name.parent()))
}
