//! Names with a meaning of their own at the node that they reach: names of local scope, and commands.
//!
//! An Interest for such a name is more than a question. A program must send none because a packet, a web page or a file names
//! it: [`Name::objection`] is the rule for names without a question before them, [`Name::may_lead_to`] for answers.
//!
//! Source: NFD, "Name-based scope"; ndn-cxx, signed Interests of packet format v0.2 (`security/command-interest-signer.hpp`).
use super::Name;
use crate::tlv::{Reader, typ};

/// How far an Interest for a name may go.
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
    /// TLV of the component `localhost`.
    const LOCALHOST: &'static [u8] = b"\x08\x09localhost";
    /// TLV of the component `localhop`.
    pub const LOCALHOP: &'static [u8] = b"\x08\x08localhop";

    /// The scope of a name.
    #[must_use]
    #[inline]
    pub fn of(name: &Name) -> Self {
        Self::of_value(name.value())
    }

    /// The scope of the name with this TLV-VALUE.
    #[must_use]
    #[inline]
    pub fn of_value(value: &[u8]) -> Self {
        if value.starts_with(Self::LOCALHOST) {
            Self::Localhost
        } else if value.starts_with(Self::LOCALHOP) {
            Self::Localhop
        } else {
            Self::Global
        }
    }
}

impl Name {
    /// Whether the name begins with `/localhost` or `/localhop`.
    #[must_use]
    pub fn has_local_scope(&self) -> bool {
        Scope::of(self) != Scope::Global
    }

    /// Whether the name carries a signature in its last two components, as commands of packet format v0.2 do. Forwarders,
    /// repositories and routing daemons obey such a name alone.
    #[must_use]
    pub fn is_command(&self) -> bool {
        let is = |from_end: usize, typ: u64| {
            let at = self.len().checked_sub(from_end).and_then(|at| self.get(at));
            at.is_some_and(|it| {
                Reader::new(it.value())
                    .read()
                    .is_ok_and(|found| found.is_some_and(|it| it.typ == typ))
            })
        };
        is(2, typ::SIGNATURE_INFO) && is(1, typ::SIGNATURE_VALUE)
    }

    /// Reason why a program must send no Interest for this name if the name came from a network or a file. The text
    /// continues the words "the name …". `None`: the program may send the Interest.
    #[must_use]
    pub fn objection(&self) -> Option<&'static str> {
        if self.has_local_scope() {
            Some("has local scope (/localhost, /localhop)")
        } else if self.is_command() {
            Some("is a command (it carries its signature)")
        } else {
            None
        }
    }

    /// Whether a program that fetches this name may send an Interest for `received`, a name in an answer. Below a name of
    /// local scope, names of local scope are no surprise.
    #[must_use]
    pub fn may_lead_to(&self, received: &Self) -> bool {
        let is_below = self.has_local_scope() && self.is_prefix_of(received);
        !received.is_command() && (is_below || !received.has_local_scope())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Component;

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    /// A command of packet format v0.2 below a prefix.
    fn command(prefix: &str) -> Name {
        let (info, value) = (b"\x16\x03\x1b\x01\x00", b"\x17\x02xx");
        let words = [&b"time"[..], b"KEY", info, value].map(Component::generic);
        words.into_iter().fold(n(prefix), |name, word| name.append(word))
    }

    #[test]
    fn foreign_name_of_local_meaning_is_rejected() {
        let objects = |name: Name| name.objection().is_some();
        for local in ["/localhost", "/localhop/nfd", "/localhost/nfd/faces/create/h/1/KEY/2/3"] {
            assert!(objects(n(local)) && n(local).has_local_scope(), "{local}");
        }
        for global in
            ["/", "/a/localhost", "/localhosts", "/32=localhost", "/local/host", "/a/KEY/1"]
        {
            assert!(!objects(n(global)), "{global}");
        }
        assert!(objects(command("/repo/delete")) && objects(command("/localhop/nfd")));
        assert!(!objects(command("/repo/delete").parent()));
    }

    #[test]
    fn answer_leads_to_local_names_only_below_one() {
        for (asked, received, may) in [
            ("/", "/localhost/nfd/status", false),
            ("/a", "/localhop/nfd", false),
            ("/localhost/app", "/localhost/app/v=1", true),
            ("/localhost/app", "/localhost/nfd/rib/list", false),
            ("/localhost/app", "/a/KEY/1", true),
        ] {
            assert_eq!(n(asked).may_lead_to(&n(received)), may, "{asked} {received}");
        }
        assert!(!n("/localhost/nfd").may_lead_to(&command("/localhost/nfd/rib/register")));
        assert!(!n("/").may_lead_to(&command("/repo/delete")));
    }
}
