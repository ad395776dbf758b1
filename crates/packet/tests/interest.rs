//! Interests: the rules of the packet format, on bytes written by hand.

use bytes::Bytes;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, sha256};
use recoup_packet::tlv;
use std::time::Duration;

fn name(uri: &str) -> Name {
    uri.parse().expect("a name")
}

/// An Interest packet of these elements.
fn packet(elements: &[&[u8]]) -> Bytes {
    let mut wire = Vec::new();
    tlv::put_tlv(&mut wire, 5, &elements.concat());
    wire.into()
}

const NAME: &[u8] = &[7, 3, 8, 1, b'A'];
const CAN_BE_PREFIX: &[u8] = &[0x21, 0];
const MUST_BE_FRESH: &[u8] = &[0x12, 0];
const HINT: &[u8] = &[0x1e, 5, 7, 3, 8, 1, b'H'];
const NONCE: &[u8] = &[0x0a, 4, 0x4a, 0x7c, 0xb2, 0x68];
const LIFETIME: &[u8] = &[0x0c, 2, 0x76, 0xa1];
const HOP_LIMIT: &[u8] = &[0x22, 1, 0xdc];

#[test]
fn a_lifetime_is_rounded_up_to_milliseconds() {
    let mut interest = Interest::new(name("/A"));
    interest.lifetime = Some(Duration::from_micros(1500));
    let read = Interest::decode(interest.to_bytes()).unwrap();
    assert_eq!(read.lifetime, Some(Duration::from_millis(2)));
}

#[test]
fn misplaced_elements_are_errors_unless_ignorable() {
    for wrong in [
        packet(&[NONCE, NAME]),
        packet(&[NAME, NAME]),
        packet(&[NAME, MUST_BE_FRESH, CAN_BE_PREFIX]),
        packet(&[NAME, NONCE, MUST_BE_FRESH]),
        packet(&[NAME, NONCE, HINT]),
        packet(&[NAME, LIFETIME, NONCE]),
        packet(&[NAME, HOP_LIMIT, LIFETIME]),
        packet(&[NAME, NONCE, NONCE]),
    ] {
        assert!(Interest::decode(wrong).is_err());
    }
    let twice = packet(&[NAME, HOP_LIMIT, &[0x22, 1, 1]]);
    assert_eq!(Interest::decode(twice).unwrap().hop_limit, Some(220));
}

#[test]
fn values_of_the_wrong_length_are_errors() {
    for wrong in [
        &[7, 0][..],
        &[7, 3, 8, 1, b'A', 0x21, 1, 0],
        &[7, 3, 8, 1, b'A', 0x12, 1, 0],
        &[7, 3, 8, 1, b'A', 0x0a, 3, 0, 0, 0],
        &[7, 3, 8, 1, b'A', 0x0a, 5, 0, 0, 0, 0, 0],
        &[7, 3, 8, 1, b'A', 0x0c, 0],
        &[7, 3, 8, 1, b'A', 0x0c, 3, 0, 0, 0],
        &[7, 3, 8, 1, b'A', 0x22, 0],
        &[7, 3, 8, 1, b'A', 0x22, 2, 0, 0],
        &[7, 3, 8, 1, b'A', 0x1e, 0],
        &[],
    ] {
        assert!(Interest::decode(packet(&[wrong])).is_err(), "{wrong:?}");
    }
}

#[test]
fn only_critical_unknown_elements_are_errors() {
    for critical in [&[1, 0][..], &[30, 0], &[31, 0], &[33, 0], &[0xfd, 3, 0xe9, 0]] {
        assert!(Interest::decode(packet(&[NAME, HOP_LIMIT, critical])).is_err(), "{critical:?}");
    }
    let mut expected = Interest::new(name("/A"));
    expected.hop_limit = Some(220);
    for other in [&[32, 0][..], &[126, 1, 9], &[0xfd, 3, 0xe8, 0]] {
        assert_eq!(Interest::decode(packet(&[NAME, other, HOP_LIMIT])), Ok(expected.clone()));
    }
}

#[test]
fn parameters_and_their_digest_go_together() {
    let parameters = [0x24, 2, b'h', b'i'];
    let mut digest = vec![2, 32];
    digest.extend(sha256(&parameters));
    let named = |digest: &[u8]| {
        let mut element = Vec::new();
        tlv::put_tlv(&mut element, 7, &[&[8, 1, b'A'], digest].concat());
        element
    };
    let right = packet(&[&named(&digest), &parameters]);
    let interest = Interest::decode(right.clone()).unwrap();
    assert_eq!(interest.parameters.as_deref(), Some(&b"hi"[..]));
    assert_eq!(interest, Interest::new(name("/A")).with_parameters("hi"));
    assert_eq!(interest.to_bytes(), right);
    let again = interest.with_parameters("hi");
    assert_eq!((again.name.len(), again.to_bytes()), (2, right));

    let mut false_digest = digest.clone();
    false_digest[9] ^= 1;
    let twice = digest.repeat(2);
    for (name, parameters) in [
        (named(&[]), &parameters[..]),
        (named(&digest), &[]),
        (named(&false_digest), &parameters),
        (named(&twice), &parameters),
    ] {
        assert!(Interest::decode(packet(&[&name, parameters])).is_err());
    }
}

#[test]
fn unknown_elements_after_parameters_survive() {
    let elements: [&[u8]; 3] = [&[0x24, 0], &[0x7e, 1, 9], &[0x80, 0]];
    let mut value = vec![8, 1, b'A', 2, 32];
    value.extend(sha256(&elements.concat()));
    let mut element = Vec::new();
    tlv::put_tlv(&mut element, 7, &value);
    let wire = packet(&[&element, HOP_LIMIT, &elements.concat()]);
    let mut interest = Interest::decode(wire.clone()).unwrap();
    assert_eq!(interest.to_bytes(), wire);
    interest.hop_limit = Some(1);
    assert!(Interest::decode(interest.to_bytes()).is_ok());
}

#[test]
fn a_signed_interest_carries_what_was_signed() {
    let unique = Uniqueness { nonce: Some(&[1, 2, 3, 4]), time: Some(1000), seq_num: Some(5) };
    let interest = Interest::new(name("/A")).sign("hi", &DigestSigner, unique);
    let read = Interest::decode(interest.to_bytes()).unwrap();
    assert_eq!(read, interest);
    let signature = read.signature.as_ref().unwrap();
    assert_eq!(signature.info().nonce, Some(&[1, 2, 3, 4][..]));
    assert_eq!((signature.info().time, signature.info().seq_num), (Some(1000), Some(5)));
    let signed = read.signed_portion().unwrap();
    assert!(signed.starts_with(&[8, 1, b'A', 0x24, 2, b'h', b'i', 0x2c]));
    assert_eq!(signature.value(), sha256(&signed));
    assert_eq!(read.clone().with_parameters("hi").signature, None);
    assert_eq!(read.sign("ho", &DigestSigner, Uniqueness::default()).name.len(), 2);
}

#[test]
fn data_satisfies_interest_by_name_prefix_or_digest() {
    let data = DataBuilder::new(&name("/a/b")).build(b"x", &DigestSigner);
    let asks = |name: Name, can_be_prefix| {
        let mut interest = Interest::new(name);
        interest.can_be_prefix = can_be_prefix;
        interest.is_satisfied_by(&data)
    };
    let digest = data.implicit_digest();
    let full = name("/a/b").append(Component::implicit_digest(&digest));
    let other = name("/a/b").append(Component::implicit_digest(&[0; 32]));
    assert!(asks(name("/a/b"), false) && asks(name("/a/b"), true));
    assert!(asks(name("/a"), true) && !asks(name("/a"), false));
    assert!(!asks(name("/a/b/c"), true) && !asks(name("/b"), true));
    assert!(asks(full.clone(), false) && asks(full, true) && !asks(other, true));
}
