//! Naming conventions: segment and version components.
//!
//! Sources: NDN naming conventions, revision 3 (typed components) and revision 1 (a marker byte in
//! a GenericNameComponent).

use super::component::{Component, shortest_nni};
use crate::tlv::typ;
use std::fmt;
use std::str::FromStr;

/// A naming convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Convention {
    /// Types of their own: `50=` for segments, `54=` for versions.
    #[default]
    Typed,
    /// A GenericNameComponent that begins with the byte 0x00 for segments, 0xFD for versions.
    Marker,
}

impl FromStr for Convention {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "typed" => Ok(Self::Typed),
            "marker" => Ok(Self::Marker),
            _ => Err("write typed or marker"),
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Typed => "typed",
            Self::Marker => "marker",
        })
    }
}

const SEGMENT_MARKER: u8 = 0x00;
const VERSION_MARKER: u8 = 0xfd;

impl Convention {
    /// The convention in which `component` is a version, if there is one.
    #[must_use]
    pub fn of_version(component: &Component<'_>) -> Option<Self> {
        [Self::Typed, Self::Marker]
            .into_iter()
            .find(|convention| convention.parse_version(component).is_some())
    }

    /// The convention in which `component` is a segment, if there is one.
    #[must_use]
    pub fn of_segment(component: &Component<'_>) -> Option<Self> {
        [Self::Typed, Self::Marker]
            .into_iter()
            .find(|convention| convention.parse_segment(component).is_some())
    }

    /// The component of segment `number`.
    #[must_use]
    pub fn segment(self, number: u64) -> Component<'static> {
        match self {
            Self::Typed => Component::segment(number),
            Self::Marker => marked(SEGMENT_MARKER, number),
        }
    }

    /// The component of version `number`.
    #[must_use]
    pub fn version(self, number: u64) -> Component<'static> {
        match self {
            Self::Typed => Component::version(number),
            Self::Marker => marked(VERSION_MARKER, number),
        }
    }

    /// The segment number of `component`, if it is a segment.
    #[must_use]
    pub fn parse_segment(self, component: &Component<'_>) -> Option<u64> {
        match self {
            Self::Typed => component.is_segment(),
            Self::Marker => parse_marked(SEGMENT_MARKER, component),
        }
    }

    /// The version number of `component`, if it is a version.
    #[must_use]
    pub fn parse_version(self, component: &Component<'_>) -> Option<u64> {
        match self {
            Self::Typed => component.is_version(),
            Self::Marker => parse_marked(VERSION_MARKER, component),
        }
    }
}

fn marked(marker: u8, number: u64) -> Component<'static> {
    Component::number(typ::GENERIC_NAME_COMPONENT as u16, Some(marker), number)
}

fn parse_marked(marker: u8, component: &Component<'_>) -> Option<u64> {
    if u64::from(component.typ()) != typ::GENERIC_NAME_COMPONENT {
        return None;
    }
    shortest_nni(component.value().strip_prefix(&[marker])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convention_reads_only_its_own_components() {
        let (typed, marker) = (Convention::Typed, Convention::Marker);
        for number in [0, 255, 256, u64::MAX] {
            for convention in [typed, marker] {
                let segment = convention.segment(number);
                assert_eq!(convention.parse_segment(&segment), Some(number));
                assert_eq!(convention.parse_version(&segment), None);
                let version = convention.version(number);
                assert_eq!(convention.parse_version(&version), Some(number));
                assert_eq!(convention.parse_segment(&version), None);
                assert_eq!(Convention::of_version(&version), Some(convention));
                assert_eq!(Convention::of_segment(&version), None);
                assert_eq!(Convention::of_segment(&segment), Some(convention));
            }
            assert_eq!(typed.parse_segment(&marker.segment(number)), None);
            assert_eq!(marker.parse_segment(&typed.segment(number)), None);
        }
        assert_eq!(marker.segment(256).value(), [0, 1, 0]);
    }
}
