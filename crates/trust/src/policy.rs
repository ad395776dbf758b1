//! Policies: which key may sign which name.

use crate::schema::{Schema, TooCostly};
use recoup_packet::name::convention::Convention;
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
            Self::Hierarchical => check_identity(packet, certificate, 4),
            Self::Schema(schema) => answer(schema.allows(packet, certificate)),
        }
    }

    /// Whether the key that a packet's locator names, or one of its certificates, might sign the packet. Asked before there is
    /// an Interest for the certificate.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn check_locator(
        &self,
        packet: &Name,
        locator: &Name,
        kind: Locator,
    ) -> Result<(), &'static str> {
        if kind == Locator::Certificate {
            return self.check(packet, locator);
        }
        // The identifier of the key may itself be `KEY`: each reading of the name is tried.
        let readings = [2, 3].into_iter().filter(|from_end| has_key(locator, *from_end));
        let verdicts = readings.map(|from_end| match self {
            Self::Hierarchical => check_identity(packet, locator, from_end),
            Self::Schema(schema) => answer(schema.may_allow(packet, locator, 4 - from_end)),
        });
        verdicts.reduce(Result::or).unwrap_or(Err(NO_OWNER))
    }

    /// Whether the key of the certificate may certainly sign each segment of an object, whatever its number. If not, each
    /// name must be checked.
    ///
    /// A schema compares values and types for equality only. The check takes a segment whose value occurs in no rule
    /// and in no name. A schema that allows this segment allows all segments.
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

const NO_OWNER: &str = "is signed by a key whose owner's name is no prefix of its name";

/// Whether the owner of a key may sign by the hierarchy of names; `KEY` stands at this distance from the end of its name.
fn check_identity(packet: &Name, key: &Name, from_end: usize) -> Result<(), &'static str> {
    let identity = key.prefix(key.len().saturating_sub(from_end));
    if identity.is_prefix_of(packet) { Ok(()) } else { Err(NO_OWNER) }
}

/// The answer of a schema.
fn answer(allowed: Result<bool, TooCostly>) -> Result<(), &'static str> {
    match allowed {
        Ok(true) => Ok(()),
        Ok(false) => Err("is signed by a key that the trust schema does not allow"),
        Err(TooCostly) => Err("has a name for which the trust schema needs too many steps"),
    }
}

/// Kind of the name in a key locator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locator {
    /// `/<identity>/KEY/<key>/<issuer>/<version>`.
    Certificate,
    /// `/<identity>/KEY/<key>/<issuer>`, as in ndnd's key locators, or `/<identity>/KEY/<key>`.
    Key,
}

impl Locator {
    /// `None` if the name is not that of a key or a certificate, or is one for which no Interest may be sent.
    pub(crate) fn of(name: &Name) -> Option<Self> {
        if name.objection().is_some() {
            return None;
        }
        let is_version = |it: &Component<'_>| Convention::of_version(it).is_some();
        if name.last().as_ref().is_some_and(is_version) && has_key(name, 4) {
            return Some(Self::Certificate);
        }
        (has_key(name, 2) || has_key(name, 3)).then_some(Self::Key)
    }
}

/// Whether the component at this distance from the end is `KEY`.
fn has_key(name: &Name, from_end: usize) -> bool {
    let at = name.len().checked_sub(from_end).and_then(|at| name.get(at));
    at.is_some_and(|it| it == Component::generic(b"KEY"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Functions, compile};

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn only_names_of_keys_locate_a_key() {
        for (name, locator) in [
            ("/a/KEY/1/i/v=1", Some(Locator::Certificate)),
            ("/KEY/1/i/v=1", Some(Locator::Certificate)),
            ("/a/KEY/1", Some(Locator::Key)),
            ("/a/KEY/1/i", Some(Locator::Key)),
            ("/a/KEY/KEY", Some(Locator::Key)),
            ("/a/KEY/1/i/2", None),
            ("/a/KEY", None),
            ("/KEY/a/b/c/d", None),
            ("/a/32=KEY/1", None),
            ("/localhost/nfd/KEY/1", None),
            ("/localhop/KEY/1/i/v=1", None),
            ("/localhost/nfd/faces/create/h/t/KEY/%16%03%1b%01%00/%17%00", None),
            ("/repo/delete/h/t/KEY/%16%03%1b%01%00/%17%00", None),
            ("/repo/delete/h/KEY/n/%16%03%1b%01%00/%17%00", None),
        ] {
            assert_eq!(Locator::of(&n(name)), locator, "{name}");
        }
    }

    #[test]
    fn key_without_certificate_is_judged_by_the_policy() {
        let text = r##"#data: "site"/owner/_ <= #key
            #key: "site"/owner/"KEY"/_/issuer/_v & { issuer: "ca", _v: $eq_type("v=0") }"##;
        let schema = Schema::new(compile(text).unwrap(), Functions::standard()).unwrap();
        let packet = n("/site/ann/tea");
        for (policy, key, may) in [
            (Policy::Hierarchical, "/site/ann/KEY/1", true),
            (Policy::Hierarchical, "/site/KEY/1/ca", true),
            (Policy::Hierarchical, "/site/bob/KEY/1", false),
            (Policy::Hierarchical, "/site/ann/KEY/KEY/1", true),
            (Policy::Schema(schema), "/site/ann/KEY/1", true),
        ] {
            let key = n(key);
            let kind = Locator::of(&key).unwrap();
            assert_eq!(policy.check_locator(&packet, &key, kind).is_ok(), may, "{key}");
            if let Policy::Schema(_) = policy {
                for (key, may) in [
                    ("/site/ann/KEY/1/ca", true),
                    ("/site/ann/KEY/1/other", false),
                    ("/site/bob/KEY/1", false),
                    ("/site/KEY/1", false),
                    ("/elsewhere/ann/KEY/1", false),
                ] {
                    let verdict = policy.check_locator(&packet, &n(key), Locator::Key);
                    assert_eq!(verdict.is_ok(), may, "{key}");
                }
            }
        }
    }

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
