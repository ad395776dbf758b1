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

    /// Whether the key of the certificate may certainly sign each segment of an object, whatever its number. If not, each
    /// name must be checked.
    ///
    /// A schema compares values and types for equality only. The check takes a segment whose value occurs in no rule and in
    /// no name. If the schema allows that one, it allows all.
    pub(crate) fn covers(&self, object: &Name, certificate: &Name) -> bool {
        let mut names = object.components().chain(certificate.components());
        match self {
            Self::Hierarchical => self.check(object, certificate).is_ok(),
            Self::Schema(_) if names.any(|it| it.value() == UNUSED) => false,
            Self::Schema(_) => Component::new(SEGMENT, UNUSED)
                .is_some_and(|it| self.check(&object.append(it), certificate).is_ok()),
        }
    }
}

/// Type of a segment component.
const SEGMENT: u16 = 50;
/// A value that is no number, and so that of no segment.
const UNUSED: &[u8] = b"no number of a segment";

/// Whether a name is that of a key, or of a key and an issuer, as ndnd's key locators are: `KEY` and the identifier of the
/// key, and then perhaps one component.
pub(crate) fn is_key_name(name: &Name) -> bool {
    let is_key_at = |from_end: usize| {
        let key_at = name.len().checked_sub(from_end);
        key_at.and_then(|at| name.get(at)).is_some_and(|it| it == Component::generic(b"KEY"))
    };
    is_key_at(2) || is_key_at(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Functions, compile};

    #[test]
    fn rule_without_numbers_covers_all_segments() {
        let certificate: Name = "/site/ann/KEY/1/i/v=1".parse().unwrap();
        let object: Name = "/site/ann/tea/v=1".parse().unwrap();
        for (segment, covers, allows_seven) in [
            ("_", true, true),
            (r#"_s & { _s: $eq_type("seg=0") }"#, true, true),
            (r#""seg=7""#, false, true),
            ("owner", false, false),
            (r#"_s & { _s: $eq_type("v=0") }"#, false, false),
        ] {
            let text = format!(
                r##"#data: "site"/owner/_/_/{segment} <= #key
                    #key: "site"/owner/"KEY"/_/_/_"##
            );
            let schema = Schema::new(compile(&text).unwrap(), Functions::standard()).unwrap();
            let policy = Policy::Schema(schema);
            assert_eq!(policy.covers(&object, &certificate), covers, "{text}");
            let seven = object.append(Component::segment(7));
            assert_eq!(policy.check(&seven, &certificate).is_ok(), allows_seven, "{text}");
        }
        let strange = object.append(Component::generic(UNUSED));
        let everything = r##"#data: "site"/owner/_/_/_/_ <= #key
            #key: "site"/owner/"KEY"/_/_/_"##;
        let schema = Schema::new(compile(everything).unwrap(), Functions::standard()).unwrap();
        assert!(!Policy::Schema(schema).covers(&strange, &certificate));
        assert!(Policy::Hierarchical.covers(&object, &certificate));
        assert!(!Policy::Hierarchical.covers(&"/site".parse().unwrap(), &certificate));
    }
}
