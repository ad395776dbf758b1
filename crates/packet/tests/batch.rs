//! Batches give the results of single calls: digests, signatures, verdicts and packets.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    AutoVerifier, DigestSigner, DigestVerifier, EcdsaSigner, Ed25519Signer, HmacSigner, KeyLocator,
    KeyVerifier, NoVerifier, PublicKey, Signer, Verifier, sha256, sha256_many,
};
use std::convert::Infallible;
use std::time::Duration;

const KEY_NAME: KeyLocator<'_> = KeyLocator::Name(&[8, 1, b'k']);

/// Bytes that differ between messages and positions.
fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ len as u64;
    let draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(draw).take(len).collect()
}

fn check(messages: &[Vec<u8>]) {
    let portions: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut digests = vec![[7; 32]; 3];
    sha256_many(&portions, &mut digests);
    let each: Vec<[u8; 32]> = portions.iter().map(|it| sha256(it)).collect();
    assert_eq!(digests, each);
}

#[test]
fn batch_digests_equal_single_digests() {
    for len in (0..=300).chain([511, 512, 513, 8_000, 8_060, 8_800, 65_535, 65_536]) {
        check(&(0..17).map(|seed| bytes(len, seed)).collect::<Vec<_>>());
    }
    for count in 0..=70 {
        check(&vec![bytes(100, 1); count]);
    }
}

fn signers() -> Vec<Box<dyn Signer>> {
    vec![
        Box::new(DigestSigner),
        Box::new(HmacSigner::new(b"secret", KEY_NAME)),
        Box::new(Ed25519Signer::new(&[7; 32], KEY_NAME).unwrap()),
        Box::new(EcdsaSigner::new(&[7; 32], KEY_NAME).unwrap()),
    ]
}

/// A packet of one of the signers, perhaps with one byte changed.
fn packet() -> impl Strategy<Value = Data> {
    let content = prop::collection::vec(any::<u8>(), 0..600);
    (content, 0..10usize, any::<bool>()).prop_map(|(content, signer, spoil)| {
        let name: Name = "/a/v=1/seg=2".parse().unwrap();
        // Most packets carry a digest, so that batches fill.
        let signers = signers();
        let signer = signers.get(signer).unwrap_or(&signers[0]);
        let data = DataBuilder::new(&name).build(&content, signer.as_ref());
        if !spoil {
            return data;
        }
        let mut wire = data.wire().to_vec();
        *wire.last_mut().unwrap() ^= 1;
        Data::decode(Bytes::from(wire)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn many_random_digests_are_each_the_digest(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_000), 0..50),
    ) {
        check(&messages);
    }

    #[test]
    fn verdicts_on_a_batch_are_those_on_each(packets in prop::collection::vec(packet(), 0..50)) {
        let key = PublicKey::from_hmac_secret(b"secret");
        let data: Vec<&Data> = packets.iter().collect();
        for verifier in [
            &AutoVerifier as &dyn Verifier,
            &DigestVerifier,
            &NoVerifier,
            &KeyVerifier(key),
        ] {
            let each: Vec<_> = data.iter().map(|it| verifier.verify(it)).collect();
            prop_assert_eq!(verifier.verify_batch(&data), each);
        }
    }

    #[test]
    fn batch_signing_gives_equal_packets(
        contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..40),
    ) {
        let name: Name = "/a/v=1".parse().unwrap();
        for signer in signers() {
            let names: Vec<Name> =
                (0..contents.len()).map(|i| name.append(Component::segment(i as u64))).collect();
            let parts: Vec<_> = names
                .iter()
                .zip(&contents)
                .map(|(name, content)| {
                    let builder = DataBuilder::new(name)
                        .content_type(ContentType::Key)
                        .freshness(Duration::from_secs(1))
                        .final_block(Component::segment(40));
                    (builder, content)
                })
                .collect();
            let mut pool = BytesMut::with_capacity(4_096);
            let laid_out: Vec<_> = parts
                .iter()
                .map(|(builder, content)| {
                    let fill = |place: &mut [u8]| {
                        place.copy_from_slice(content);
                        Ok::<(), Infallible>(())
                    };
                    builder.lay_out(&mut pool, content.len(), fill, signer.as_ref()).unwrap()
                })
                .collect();
            let portions: Vec<&[u8]> = laid_out.iter().map(|it| it.signed_portion()).collect();
            let signatures = signer.sign_many(&portions);
            prop_assert_eq!(signatures.len(), parts.len());
            for ((unsigned, signature), (builder, content)) in
                laid_out.into_iter().zip(&signatures).zip(&parts)
            {
                let alone = builder.build(content, signer.as_ref());
                prop_assert_eq!(signature, alone.signature_value());
                prop_assert_eq!(&unsigned.finish(signature), &alone);
            }
        }
    }
}
