//! Each side decodes the packets of the other and encodes them again: the bytes are the same.

use crate::peer::Peer;
use bytes::{Bytes, BytesMut};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    DigestSigner, KeyLocator, KeyVerifier, PublicKey, SignatureInfo, SignatureType, Signer,
    Verdict, Verifier,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Signs with an earlier signature, so that re-encoding shows every other byte.
struct Replayed<'a> {
    info: SignatureInfo<'a>,
    value: &'a [u8],
}

impl Signer for Replayed<'_> {
    fn signature_type(&self) -> SignatureType {
        self.info.typ
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.info.key_locator
    }

    fn max_signature_len(&self) -> usize {
        self.value.len()
    }

    fn sign(&self, _signed_portion: &[u8], out: &mut [u8]) -> usize {
        out[..self.value.len()].copy_from_slice(self.value);
        self.value.len()
    }

    fn signature_info(&self) -> SignatureInfo<'_> {
        self.info
    }
}

/// Decodes a packet and encodes the result, without the original bytes.
fn recode(wire: &Bytes) -> (Bytes, String) {
    match wire[0] {
        0x05 => {
            let mut interest = Interest::decode(wire.clone()).expect("an Interest");
            let uri = interest.name.to_string();
            if let (Some(parameters), None) = (interest.parameters.clone(), &interest.signature) {
                interest = interest.with_parameters(parameters);
            }
            (interest.to_bytes(), uri)
        }
        0x06 => {
            let data = Data::decode(wire.clone()).expect("a Data");
            (rebuilt(&data), data.name().to_string())
        }
        0x64 => {
            let packet = LpPacket::decode(wire.clone()).expect("an LpPacket");
            let mut out = BytesMut::new();
            packet.encode(&mut out);
            (out.freeze(), String::new())
        }
        other => panic!("what is a TLV {other}?"),
    }
}

fn rebuilt(data: &Data) -> Bytes {
    let signer = Replayed { info: data.signature_info(), value: data.signature_value() };
    let mut builder = DataBuilder::new(data.name());
    builder = builder.content_type(data.content_type()).freshness(data.freshness());
    if let Some(component) = data.final_block() {
        builder = builder.final_block(component);
    }
    builder.build(data.content(), &signer).wire()
}

/// Decodes all that the peer makes. Where a thing can be written in two ways, `choices` lists the packets in which the
/// peer chose the other one.
fn read_packets_of(mut peer: Peer, choices: &[&str]) {
    let made = peer.ask(&json!({ "do": "make" }));
    let packets = made["packets"].as_array().expect("a list of packets");
    assert!(packets.len() > 10, "{made}");
    for packet in packets {
        let label = packet["label"].as_str().expect("a label");
        let wire = bytes(&packet["hex"]);
        let (again, uri) = recode(&wire);
        if !choices.contains(&label) {
            assert_eq!(again, wire, "{label}");
        }
        // python-ndn writes an empty component as nothing, the specification as three dots.
        let theirs = packet["uri"].as_str().expect("a name").replace("//", "/.../");
        assert_eq!(uri, theirs, "{label}");
        check_signature(label, &wire, packet);
    }
}

/// A signature made by the peer is right with its key, and wrong as soon as a bit of the packet changes.
fn check_signature(label: &str, wire: &Bytes, packet: &Value) {
    let key = match (&packet["spki"], &packet["secret"]) {
        (Value::String(_), _) => PublicKey::from_spki(&bytes(&packet["spki"])).expect("a key"),
        (_, Value::String(_)) => PublicKey::from_hmac_secret(&bytes(&packet["secret"])),
        _ => return,
    };
    let verifier = KeyVerifier(key);
    let judge = |data: &Data| {
        verifier.judge(&data.signature_info(), data.signed_portion(), data.signature_value())
    };
    let data = Data::decode(wire.clone()).expect("a Data");
    assert_eq!(judge(&data), Verdict::Verified, "{label}");
    let mut forged = BytesMut::from(&wire[..]);
    let last_of_content = data.content().as_ptr() as usize - data.wire().as_ptr() as usize;
    forged[last_of_content] ^= 1;
    let forged = Data::decode(forged.freeze()).expect("still a Data");
    assert!(matches!(judge(&forged), Verdict::Bad(_)), "{label}");
}

fn bytes(hex: &Value) -> Bytes {
    let text = hex.as_str().expect("bytes in hexadecimal");
    let byte = |start| u8::from_str_radix(&text[start..start + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn hex(wire: &[u8]) -> String {
    wire.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name with one component of each kind.
fn every_component() -> Name {
    "/A/%00%FF/.../a%20b~c/32=metadata/seg=255/off=256/v=65536/t=1735689600123456/seq=4294967296/65535=%01%02"
        .parse()
        .expect("a name")
}

fn interest(name: &str) -> Interest {
    let mut interest = Interest::new(name.parse().expect("a name"));
    interest.nonce = Some(0xB0B1_B2B3);
    interest
}

/// Our packets, with labels.
fn packets() -> Vec<(&'static str, Bytes)> {
    let mut every = interest("/");
    every.name = every_component();
    (every.can_be_prefix, every.must_be_fresh, every.hop_limit) = (true, true, Some(7));
    every.lifetime = Some(Duration::from_millis(70_000));
    every.forwarding_hint = vec!["/H/1".parse().expect("a name"), "/H/2".parse().expect("a name")];
    let unique = Uniqueness {
        nonce: Some(&[1, 2, 3, 4, 5, 6, 7, 8]),
        time: Some(1 << 40),
        seq_num: Some(1),
    };
    let name = every_component();
    let full = DataBuilder::new(&name)
        .content_type(ContentType::Nack)
        .freshness(Duration::from_secs(3600))
        .final_block(Component::segment(65_535));
    let small = "/D".parse().expect("a name");
    let small = DataBuilder::new(&small).freshness(Duration::from_millis(1));
    let mut packets = vec![
        ("Interest, bare", interest("/A").to_bytes()),
        ("Interest, every element", every.to_bytes()),
        ("Interest with parameters", interest("/P").with_parameters(&[0xC0, 1, 0][..]).to_bytes()),
        ("Interest, signed", interest("/S").sign(&[9][..], &DigestSigner, unique).to_bytes()),
        ("Data, small", small.build(&[1], &DigestSigner).wire()),
        ("Data, every element", full.build(&[0x5A; 8000], &DigestSigner).wire()),
    ];
    packets.extend(link_packets());
    packets
}

fn link_packets() -> Vec<(&'static str, Bytes)> {
    let link = |header: LpHeader| {
        let fragment = Some(interest("/L").to_bytes());
        let mut out = BytesMut::new();
        LpPacket { header, fragment }.encode(&mut out);
        out.freeze()
    };
    let nack = |reason| LpHeader { nack: Some(reason), ..LpHeader::default() };
    vec![
        (
            "LpPacket, token",
            link(LpHeader { pit_token: Some(Bytes::from_static(&[7; 32])), ..LpHeader::default() }),
        ),
        ("LpPacket, mark", link(LpHeader { congestion_mark: Some(300), ..LpHeader::default() })),
        ("Nack, congestion", link(nack(NackReason::Congestion))),
        ("Nack, duplicate", link(nack(NackReason::Duplicate))),
        ("Nack, no route", link(nack(NackReason::NoRoute))),
        (
            "fragment",
            link(LpHeader {
                sequence: Some(u64::MAX),
                frag_index: Some(1),
                frag_count: Some(2),
                ..LpHeader::default()
            }),
        ),
    ]
}

/// Lets the peer decode and encode all our packets, except those that it reports as unknown.
fn have_packets_read_by(mut peer: Peer, unknown: &[&str]) {
    for (label, wire) in packets() {
        let answer = peer.try_ask(&json!({ "do": "recode", "hex": hex(&wire) }));
        if unknown.contains(&label) {
            assert!(answer["error"].is_string(), "{label} is understood after all: {answer}");
            continue;
        }
        assert_eq!(answer["hex"], hex(&wire), "{label}: {answer}");
        let (_, uri) = recode(&wire);
        let theirs = answer["uri"].as_str().expect("a name").replace("//", "/.../");
        assert_eq!(theirs, uri, "{label}");
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn we_understand_every_packet_of_ndnts() {
    // It leaves out an empty Content, which we write.
    read_packets_of(Peer::node("packet.js"), &["Data, empty"]);
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_understands_every_packet_of_ours() {
    have_packets_read_by(Peer::node("packet.js"), &[]);
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn we_understand_every_packet_of_python_ndn() {
    // It writes an empty MetaInfo, and the number of a Nack without a reason.
    read_packets_of(Peer::python("packet.py"), &["Data, empty", "Nack 0"]);
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_decodes_all_packets_but_fragments() {
    have_packets_read_by(Peer::python("packet.py"), &["fragment"]);
}
