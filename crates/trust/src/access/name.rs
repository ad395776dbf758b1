//! Names of keys of a group.
use recoup_packet::name::{Component, Name};

const NAC: &[u8] = b"NAC";
const KEY: &[u8] = b"KEY";
const KEK: &[u8] = b"KEK";
const KDK: &[u8] = b"KDK";
const CK: &[u8] = b"CK";
const ENCRYPTED_BY: &[u8] = b"ENCRYPTED-BY";

/// The component at a distance from the end is this word.
fn is_at(name: &Name, from_end: usize, word: &[u8]) -> bool {
    let at = name.len().checked_sub(from_end).and_then(|at| name.get(at));
    at.is_some_and(|it| it == Component::generic(word))
}

/// Replaces the word before the identifier of a key.
fn with_word(name: &Name, from: &[u8], to: &[u8]) -> Option<Name> {
    let id = name.last().filter(|_| is_at(name, 2, from))?;
    Some(name.prefix(name.len() - 2).append(Component::generic(to)).append(id))
}

/// Where a name has `ENCRYPTED-BY`.
fn encrypted_by(name: &Name) -> Option<usize> {
    name.components().position(|it| it == Component::generic(ENCRYPTED_BY))
}

/// The identity of a group's key: `<name>/NAC`, or the name itself if it has that component.
#[must_use]
pub fn group(name: &Name) -> Name {
    let nac = Component::generic(NAC);
    match name.components().any(|it| it == nac) {
        true => name.clone(),
        false => name.append(nac),
    }
}

/// The KEK of the group's key `…/KEY/<id>`; `None` if it is no key of a group.
#[must_use]
pub fn kek_of_key(key: &Name) -> Option<Name> {
    with_word(key, KEY, KEK).filter(is_group)
}

/// The group's key `…/KEY/<id>` of the KEK.
#[must_use]
pub fn key_of_kek(kek: &Name) -> Option<Name> {
    with_word(kek, KEK, KEY).filter(is_group)
}

fn is_group(name: &Name) -> bool {
    name.components().any(|it| it == Component::generic(NAC))
}

/// The KDK that belongs to `kek`, for the member with the key `member`.
#[must_use]
pub fn kdk(kek: &Name, member: &Name) -> Option<Name> {
    let kdk = with_word(kek, KEK, KDK).filter(is_group)?;
    Some(kdk.append(Component::generic(ENCRYPTED_BY)).join(member))
}

/// The member of the KDK of that name.
#[must_use]
pub fn member_of_kdk(name: &Name) -> Option<Name> {
    let at = encrypted_by(name)?;
    let is_kdk = is_at(&name.prefix(at), 2, KDK) && is_group(&name.prefix(at));
    let member = name.suffix(at + 1);
    (is_kdk && is_at(&member, 2, KEY)).then_some(member)
}

/// The name by which encrypted content refers to a content key.
#[must_use]
pub fn content_key(prefix: &Name, id: &[u8]) -> Name {
    prefix.append(Component::generic(CK)).append(Component::generic(id))
}

/// Whether content may refer to a content key by that name.
#[must_use]
pub fn is_content_key(name: &Name) -> bool {
    is_at(name, 2, CK)
}

/// Whether the content key `key` may decrypt content of the packet `name`: it lies below the key's prefix.
#[must_use]
pub fn serves(key: &Name, name: &Name) -> bool {
    is_content_key(key) && key.prefix(key.len() - 2).is_prefix_of(name)
}

/// The packet that has the content key `key`, encrypted by `kek`.
#[must_use]
pub fn content_key_packet(key: &Name, kek: &Name) -> Name {
    key.append(Component::generic(ENCRYPTED_BY)).join(kek)
}

/// The name of the content key, and that of the KEK, of the packet of that name.
#[must_use]
pub fn parse_content_key_packet(name: &Name) -> Option<(Name, Name)> {
    let at = encrypted_by(name)?;
    let (key, kek) = (name.prefix(at), name.suffix(at + 1));
    (is_content_key(&key) && is_at(&kek, 2, KEK) && is_group(&kek)).then_some((key, kek))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn names_of_a_group_follow_the_specification() {
        assert_eq!(group(&n("/site/reports")), n("/site/reports/NAC"));
        assert_eq!(group(&n("/site/NAC/reports")), n("/site/NAC/reports"));
        let kek = kek_of_key(&n("/site/NAC/reports/KEY/7")).unwrap();
        assert_eq!(kek, n("/site/NAC/reports/KEK/7"));
        assert_eq!(key_of_kek(&kek), Some(n("/site/NAC/reports/KEY/7")));
        assert_eq!(kek_of_key(&n("/site/reports/KEY/7")), None);
        let kdk = kdk(&kek, &n("/alice/KEY/1")).unwrap();
        assert_eq!(kdk, n("/site/NAC/reports/KDK/7/ENCRYPTED-BY/alice/KEY/1"));
        assert_eq!(member_of_kdk(&kdk), Some(n("/alice/KEY/1")));
        let key = content_key(&n("/site/reports"), b"3");
        let packet = content_key_packet(&key, &kek);
        assert_eq!(packet, n("/site/reports/CK/3/ENCRYPTED-BY/site/NAC/reports/KEK/7"));
        assert_eq!(parse_content_key_packet(&packet), Some((key, kek)));
    }

    #[test]
    fn content_key_serves_its_own_prefix() {
        let key = n("/site/reports/CK/3");
        assert!(serves(&key, &n("/site/reports/may/seg=0")) && serves(&n("/CK/3"), &n("/a")));
        for other in ["/site", "/site/report", "/site/reports2/may", "/evil/site/reports/may"] {
            assert!(!serves(&key, &n(other)), "{other}");
        }
        assert!(!serves(&n("/site/reports/KEY/3"), &n("/site/reports/may")));
    }

    #[test]
    fn other_names_are_no_keys() {
        for other in ["/", "/CK", "/a/CK/3", "/a/CK/3/ENCRYPTED-BY", "/ENCRYPTED-BY/a/NAC/KEK/7"] {
            assert_eq!(parse_content_key_packet(&n(other)), None, "{other}");
            assert_eq!(member_of_kdk(&n(other)), None, "{other}");
        }
        assert_eq!(member_of_kdk(&n("/a/NAC/KDK/7/ENCRYPTED-BY/alice")), None);
    }
}
