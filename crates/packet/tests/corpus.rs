//! Packets written by hand from the specifications, as hexadecimal text in `tests/corpus`.
//!
//! `valid` packets are decoded and encoded to the same bytes; `loose` ones are accepted but encoded
//! differently; `invalid` ones are errors. A file's name begins with its kind of packet.

use bytes::{Bytes, BytesMut};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::metadata::Metadata;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, KeyLocator, SignatureType, sha256};
use recoup_packet::tlv::DecodeError;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn bytes(text: &str) -> Bytes {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<char> = lines.flat_map(str::chars).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
    digits.chunks(2).map(|pair| byte(pair).expect("two hexadecimal digits")).collect()
}

fn read(path: &Path) -> Bytes {
    bytes(&fs::read_to_string(path).expect("a file of the corpus"))
}

fn valid(name: &str) -> Bytes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/valid");
    read(&folder.join(name).with_extension("hex"))
}

/// Names and bytes of one folder of the corpus.
fn folder(kind: &str) -> Vec<(String, Bytes)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(kind);
    let entries = fs::read_dir(folder).expect("a folder of the corpus");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut all: Vec<_> = paths
        .map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), read(&path)))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// Decodes a packet of the kind in `name`, reads all parts, and encodes it again.
fn round(name: &str, wire: Bytes) -> Result<Bytes, DecodeError> {
    let mut out = BytesMut::new();
    match name.split('-').next() {
        Some("interest") => {
            let interest = Interest::decode(wire)?;
            let _ =
                (interest.signed_portion(), interest.signature.as_ref().map(|it| it.info().typ));
            interest.encode(&mut out);
            assert_eq!(out.len(), interest.encoded_len());
        }
        Some("data") => {
            let data = Data::decode(wire)?;
            let _ = format!("{data:?} {:?} {:?}", data.content(), data.signature_value());
            assert!(data.signed_portion().len() < data.wire().len());
            out.extend_from_slice(&data.wire());
        }
        _ => {
            let frame = LpPacket::decode(wire)?;
            frame.encode(&mut out);
            assert_eq!(out.len(), frame.encoded_len());
        }
    }
    Ok(out.freeze())
}

#[test]
fn valid_packets_survive_decoding_and_encoding() {
    for (name, wire) in folder("valid") {
        assert_eq!(round(&name, wire.clone()), Ok(wire), "{name}");
    }
}

#[test]
fn loose_packets_are_accepted_and_normalized() {
    for (name, wire) in folder("loose") {
        let usual = round(&name, wire).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(round(&name, usual.clone()), Ok(usual), "{name}");
    }
}

#[test]
fn invalid_packets_are_errors_with_a_reason() {
    for (name, wire) in folder("invalid") {
        let error = round(&name, wire.clone()).expect_err(&name);
        assert!(error.offset <= wire.len(), "{name}: {error}");
        assert!(!error.expected.is_empty() && !error.to_string().contains('\n'));
    }
}

/// An error, or a packet whose normal form is stable.
fn judge(name: &str, wire: Bytes) {
    if let Ok(usual) = round(name, wire) {
        assert_eq!(round(name, usual.clone()), Ok(usual), "{name}");
    }
}

#[test]
fn every_truncation_is_an_error() {
    for (name, wire) in folder("valid") {
        for len in 0..wire.len() {
            let cut = wire.slice(..len);
            assert!(round(&name, cut).is_err(), "{name} cut to {len}");
        }
    }
}

#[test]
fn flipped_bit_gives_error_or_packet() {
    for (name, wire) in folder("valid").into_iter().chain(folder("loose")) {
        for bit in 0..wire.len() * 8 {
            let mut flipped = wire.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            judge(&name, flipped.into());
        }
    }
}

#[test]
fn extreme_byte_gives_error_or_packet() {
    for (name, wire) in folder("valid") {
        for index in 0..wire.len() {
            for byte in [0, 1, 31, 32, 127, 252, 253, 254, 255] {
                let mut changed = wire.to_vec();
                changed[index] = byte;
                judge(&name, changed.into());
            }
        }
    }
}

#[test]
fn an_interest_has_the_elements_of_the_specification() {
    let interest = Interest::decode(valid("interest-every-element")).unwrap();
    assert_eq!(interest.name.to_string(), "/A/B/32=metadata/v=1700000000000/seg=0");
    assert!(interest.can_be_prefix && interest.must_be_fresh);
    let hints: Vec<String> = interest.forwarding_hint.iter().map(Name::to_string).collect();
    assert_eq!(hints, ["/H", "/H/2"]);
    assert_eq!((interest.nonce, interest.hop_limit), (Some(0x4a7c_b268), Some(220)));
    assert_eq!(interest.lifetime, Some(Duration::from_millis(30_369)));
    let odd = Interest::decode(valid("interest-odd-components")).unwrap();
    let uri = "/.../...../65535=%FF%00/9=.../50=%00%01/seq=3/off=4294967296/t=18446744073709551615";
    assert_eq!(odd.name.to_string(), uri);
    assert_eq!(uri.parse::<Name>(), Ok(odd.name));
}

#[test]
fn a_signed_interest_shows_what_was_signed() {
    let interest = Interest::decode(valid("interest-signed-digest")).unwrap();
    let signature = interest.signature.as_ref().unwrap();
    assert_eq!(signature.value(), sha256(&interest.signed_portion().unwrap()));
    assert_eq!(signature.info().seq_num, Some(7));
    let interest = Interest::decode(valid("interest-signed-hmac")).unwrap();
    let signature = interest.signature.as_ref().unwrap();
    assert_eq!(signature.info().key_locator, Some(KeyLocator::Name(&[8, 1, b'K'])));
    assert_eq!(signature.info().time, Some(5));
}

#[test]
fn data_packet_has_the_elements_of_the_specification() {
    let data = Data::decode(valid("data-every-element")).unwrap();
    assert_eq!(data.name().to_string(), "/A/v=1/seg=2");
    assert_eq!(data.content_type(), ContentType::Nack);
    assert_eq!(data.freshness(), Duration::from_secs(10));
    assert_eq!(data.final_block(), Some(Component::segment(300)));
    assert_eq!(data.content(), b"content");
    assert_eq!(data.signature_info().typ, SignatureType::DigestSha256);
    assert_eq!(data.signature_value(), sha256(data.signed_portion()));
    assert_eq!(data.implicit_digest(), sha256(&data.wire()));
    let minimal = Data::decode(valid("data-minimal")).unwrap();
    assert_eq!((minimal.content(), minimal.freshness()), (&b""[..], Duration::ZERO));
    assert_eq!((minimal.final_block(), minimal.content_type()), (None, ContentType::Blob));
}

#[test]
fn built_data_equals_foreign_data() {
    let name: Name = "/A/v=1/seg=2".parse().unwrap();
    let built = DataBuilder::new(&name)
        .content_type(ContentType::Nack)
        .freshness(Duration::from_secs(10))
        .final_block(Component::segment(300))
        .build(b"content", &DigestSigner);
    assert_eq!(built.wire(), valid("data-every-element"));
    let name: Name = "/A/seg=0".parse().unwrap();
    let content: Vec<u8> = (0..1024).map(|index| index as u8).collect();
    let built =
        DataBuilder::new(&name).final_block(Component::segment(0)).build(&content, &DigestSigner);
    assert_eq!(built.wire(), valid("data-long"));
}

#[test]
fn certificate_has_a_validity_period() {
    let data = Data::decode(valid("data-certificate")).unwrap();
    let validity = data.signature_info().validity.unwrap();
    assert_eq!(
        (validity.not_before, validity.not_after),
        (&b"20200101T000000"[..], &b"20300101T000000"[..])
    );
    assert_eq!(data.content_type(), ContentType::Key);
}

#[test]
fn metadata_packet_has_the_file_size() {
    let data = Data::decode(valid("data-metadata")).unwrap();
    let metadata = Metadata::decode(data.content_bytes()).unwrap();
    assert_eq!(metadata.versioned.to_string(), "/A/v=8");
    assert_eq!((metadata.final_block, metadata.size), (Some(300), Some(2_400_001)));
    assert_eq!((metadata.segment_size, metadata.mode), (Some(8000), Some(0o100_644)));
    assert_eq!(metadata.mtime_ns, Some(1_700_000_000_000_000_000));
    assert_eq!(metadata.to_bytes(), data.content_bytes());
}

#[test]
fn link_frame_has_the_fields_of_the_specification() {
    let header = |name: &str| LpPacket::decode(valid(name)).unwrap().header;
    assert_eq!(header("lp-nack-duplicate").nack, Some(NackReason::Duplicate));
    assert_eq!(header("lp-nack-none").nack, Some(NackReason::None));
    let no_route = header("lp-nack-no-route-token");
    assert_eq!(no_route.nack, Some(NackReason::NoRoute));
    assert_eq!(no_route.pit_token.as_deref(), Some(&[1, 2, 3, 4, 5, 6][..]));
    let piece = header("lp-fragment");
    assert_eq!(
        (piece.sequence, piece.frag_index, piece.frag_count),
        (Some(1000), Some(1), Some(3))
    );
    assert_eq!(header("lp-mark-token").congestion_mark, Some(1));
    let reliable = header("lp-reliability");
    assert_eq!((reliable.acks, reliable.tx_sequence), (vec![7, u64::MAX], Some(9)));
    assert_eq!(header("lp-ignorable").ignorable.iter().count(), 3);
    let local = header("lp-local-fields");
    assert_eq!((local.incoming_face_id, local.next_hop_face_id), (Some(300), Some(301)));
    assert_eq!((local.cache_policy, local.non_discovery), (Some(1), true));
}
