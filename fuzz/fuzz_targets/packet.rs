//! Any bytes are an Interest, a Data packet, a link frame or an error; a packet that is encoded again decodes to an equal
//! packet.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::metadata::Metadata;
use recoup_packet::signature::DigestSigner;

fuzz_target!(|bytes: &[u8]| {
    let wire = Bytes::copy_from_slice(bytes);
    interest(&wire);
    data(&wire);
    if let Ok(frame) = LpPacket::decode(wire.clone()) {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        assert_eq!(out.len(), frame.encoded_len());
        if let Some(packet) = &frame.fragment {
            interest(packet);
            data(packet);
        }
        assert_eq!(LpPacket::decode(out.freeze()), Ok(frame));
    }
    if let Ok(metadata) = Metadata::decode(wire) {
        assert_eq!(Metadata::decode(metadata.to_bytes()), Ok(metadata));
    }
});

fn interest(wire: &Bytes) {
    let Ok(interest) = Interest::decode(wire.clone()) else {
        return;
    };
    let again = interest.to_bytes();
    assert_eq!(again.len(), interest.encoded_len());
    let _ = (interest.signed_portion(), interest.signature.as_ref().map(|it| it.info().time));
    assert_eq!(Interest::decode(again), Ok(interest));
}

fn data(wire: &Bytes) {
    let Ok(data) = Data::decode(wire.clone()) else {
        return;
    };
    let _ = (data.signature_info(), data.implicit_digest(), format!("{data:?}"));
    let mut builder =
        DataBuilder::new(data.name()).content_type(data.content_type()).freshness(data.freshness());
    if let Some(component) = data.final_block() {
        builder = builder.final_block(component);
    }
    let again = Data::decode(builder.build(data.content(), &DigestSigner).wire());
    let again = again.expect("a built packet decodes");
    assert_eq!(again.name(), data.name());
    assert_eq!(again.content(), data.content());
    assert_eq!(again.final_block(), data.final_block());
    assert_eq!(again.freshness(), data.freshness());
}
