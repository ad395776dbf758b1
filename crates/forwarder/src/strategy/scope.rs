//! Names that must not leave a machine or a link.
//!
//! Source: NFD, "Name-based scope" (`daemon/fw/scope-prefix.hpp`, `wouldViolateScope`).
use super::FaceFacts;
use recoup_packet::name::Name;

/// Scope of Interests for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All faces.
    Global,
    /// `/localhop`: at most one hop from the machine of the consumer.
    Localhop,
    /// `/localhost`: only to applications of this machine.
    Localhost,
}

impl Scope {
    /// The scope of a name.
    #[must_use]
    #[inline]
    pub fn of(name: &Name) -> Self {
        Self::of_value(name.value())
    }

    /// The scope of the name with this TLV-VALUE.
    #[inline]
    pub(crate) fn of_value(value: &[u8]) -> Self {
        if value.starts_with(b"\x08\x09localhost") {
            Self::Localhost
        } else if value.starts_with(b"\x08\x08localhop") {
            Self::Localhop
        } else {
            Self::Global
        }
    }

    /// Whether an Interest may be forwarded from one face to another; a face that no longer exists counts as remote.
    #[must_use]
    pub fn lets_pass(self, from: Option<FaceFacts>, to: FaceFacts) -> bool {
        match self {
            Self::Global => true,
            Self::Localhop => to.local || from.is_some_and(|from| from.local),
            Self::Localhost => to.local,
        }
    }
}
