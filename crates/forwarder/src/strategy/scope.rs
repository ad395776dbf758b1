//! Names that must not leave a machine or a link.
//!
//! Source: NFD, "Name-based scope" (`daemon/fw/scope-prefix.hpp`, `wouldViolateScope`).
use super::FaceFacts;
pub use recoup_packet::name::Scope;

impl FaceFacts {
    /// Whether an Interest of this scope may be forwarded to this face; an ingress face that no longer exists counts as remote.
    #[must_use]
    pub fn admits(self, scope: Scope, from: Option<Self>) -> bool {
        match scope {
            Scope::Global => true,
            Scope::Localhop => self.local || from.is_some_and(|from| from.local),
            Scope::Localhost => self.local,
        }
    }
}
