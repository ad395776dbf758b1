//! Policies: which key may sign which name.

use crate::schema::Schema;
use recoup_packet::name::{Component, Name};

/// The rule by which keys may sign names.
#[derive(Debug)]
pub enum Policy {
    /// A key may sign what lies below the name of its owner: data, and certificates of other keys.
    ///
    /// Source: ndn-cxx, validation policy `hierarchical`.
    Hierarchical,
    /// A trust schema decides.
    Schema(Schema),
}

impl Policy {
    /// Whether the key of the certificate `certificate` may sign a packet named `packet`; if not, why, as the end of "the
    /// packet …".
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self, packet: &Name, certificate: &Name) -> Result<(), &'static str> {
        match self {
            Self::Hierarchical => {
                let identity = certificate.prefix(certificate.len().saturating_sub(4));
                match identity.is_prefix_of(packet) {
                    true => Ok(()),
                    false => Err("is signed by a key whose owner's name is no prefix of its name"),
                }
            }
            Self::Schema(schema) => match schema.allows(packet, certificate) {
                Ok(true) => Ok(()),
                Ok(false) => Err("is signed by a key that the trust schema does not allow"),
                Err(_) => Err("has a name for which the trust schema needs too many steps"),
            },
        }
    }
}

/// Whether a name ends in `KEY` and the identifier of a key.
pub(crate) fn is_key_name(name: &Name) -> bool {
    let key_at = name.len().checked_sub(2);
    key_at.and_then(|at| name.get(at)).is_some_and(|it| it == Component::generic(b"KEY"))
}
