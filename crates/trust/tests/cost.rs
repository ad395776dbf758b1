//! Cost of verification for each segment of a consumer, by kind of verification; run with `--release`.
//!
//! `cargo test --release -p recoup-trust --test cost -- --ignored --nocapture`
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a measurement takes time")]

use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::manifest;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    Certificates, DigestSigner, DigestVerifier, EcdsaSigner, Ed25519Signer, KeyLocator,
    KeyVerifier, PublicKey, SignatureInfo, SignatureType, Signer, Validity, Verdict, Verifier,
};
use recoup_trust::schema::{Functions, Schema, compile};
use recoup_trust::{Manifests, Policy, TrustStore};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const SEGMENTS: u64 = 1_000;
const BATCH: usize = 32;
const ROUNDS: usize = 9;
const NOW: u64 = 1_000_000_000;
const SCHEMA: &str = r##"
    #root: "site"/#KEY
    #author: "site"/author/#KEY <= #root
    #data: "site"/author/_/version/segment & { version: $eq_type("v=0") } <= #author
    #lists: "site"/author/_/version/"32=manifest"/_ <= #author
    #KEY: "KEY"/_/_/_
"##;

fn object() -> Name {
    "/site/ann/movie/v=1".parse().unwrap()
}

fn segments(signer: &dyn Signer) -> Vec<Data> {
    let content = vec![7; 8_000];
    let build = |number| {
        let name = object().append(Component::segment(number));
        DataBuilder::new(&name)
            .final_block(Component::segment(SEGMENTS - 1))
            .build(&content, signer)
    };
    (0..SEGMENTS).map(build).collect()
}

fn manifests(segments: &[Data], signer: &dyn Signer) -> Vec<Data> {
    let lists = segments.chunks(manifest::SEGMENTS as usize).zip(0..);
    lists
        .map(|(part, number)| {
            let digests: Vec<&[u8]> = part.iter().map(Data::signature_value).collect();
            let name = manifest::name(&object(), number);
            let builder = DataBuilder::new(&name);
            builder.content_type(ContentType::Manifest).build(&digests.concat(), signer)
        })
        .collect()
}

/// Signs a certificate that is valid around [`NOW`].
struct Certifier<'a>(&'a dyn Signer);

impl Signer for Certifier<'_> {
    fn signature_type(&self) -> SignatureType {
        self.0.signature_type()
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.0.key_locator()
    }

    fn max_signature_len(&self) -> usize {
        self.0.max_signature_len()
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        self.0.sign(signed_portion, out)
    }

    fn signature_info(&self) -> SignatureInfo<'_> {
        let validity = Validity { not_before: b"20010101T000000", not_after: b"20020101T000000" };
        SignatureInfo { validity: Some(validity), ..self.0.signature_info() }
    }
}

fn ed25519(seed: u8, locator: &Name) -> Ed25519Signer {
    Ed25519Signer::new(&[seed; 32], KeyLocator::Name(locator.value())).unwrap()
}

fn certificate(name: &Name, of: &Ed25519Signer, by: &dyn Signer) -> Data {
    let prefix = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];
    let spki = [&prefix, of.public_bytes()].concat();
    DataBuilder::new(name).content_type(ContentType::Key).build(&spki, &Certifier(by))
}

/// A store that trusts the root, and the author's signer, whose certificate is in the store.
fn chain() -> (Arc<TrustStore>, Ed25519Signer) {
    let root: Name = "/site/KEY/1/self/v=1".parse().unwrap();
    let author: Name = "/site/ann/KEY/1/site/v=1".parse().unwrap();
    let (by_root, by_author) = (ed25519(1, &root), ed25519(2, &author));
    let anchor = certificate(&root, &by_root, &by_root);
    let schema = Schema::new(compile(SCHEMA).unwrap(), Functions::standard()).unwrap();
    let clock = Box::new(|| NOW);
    let store = TrustStore::new(Policy::Schema(schema), vec![anchor], clock).unwrap();
    assert_eq!(store.take(&certificate(&author, &by_author, &by_root)), Verdict::Verified);
    (Arc::new(store), by_author)
}

/// Nanoseconds for each segment.
fn measure(segments: &[Data], verifier: &dyn Verifier) -> f64 {
    let begun = Instant::now();
    for batch in segments.chunks(BATCH) {
        let batch: Vec<&Data> = batch.iter().collect();
        let certificates = verifier.certificates();
        let missing = batch.iter().any(|it| certificates.is_some_and(|c| c.missing(it).is_some()));
        assert!(!missing);
        let verdicts = black_box(verifier.verify_batch(black_box(&batch)));
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Verified));
    }
    begun.elapsed().as_nanos() as f64 / segments.len() as f64
}

#[test]
#[ignore = "a measurement"]
fn cost_of_each_way_of_verification() {
    let locator: Name = "/site/ann/KEY/1".parse().unwrap();
    let ecdsa = EcdsaSigner::new(&[7; 32], KeyLocator::Name(locator.value())).unwrap();
    let ecdsa_key = || PublicKey::from_p256_point(&ecdsa.public_bytes()).unwrap();
    let edwards = ed25519(3, &locator);
    let edwards_key = PublicKey::from_ed25519(edwards.public_bytes()).unwrap();
    let (store, author) = chain();
    let digests = segments(&DigestSigner);
    let listed = Manifests::new(KeyVerifier(ecdsa_key()));
    let schema_listed = Manifests::new(Arc::clone(&store));
    for list in manifests(&digests, &ecdsa) {
        assert_eq!(listed.take(&list), Verdict::Verified);
    }
    for list in manifests(&digests, &author) {
        assert_eq!(schema_listed.take(&list), Verdict::Verified);
    }
    let (by_ecdsa, by_edwards, by_author) =
        (segments(&ecdsa), segments(&edwards), segments(&author));
    let ways: [(&str, &[Data], &dyn Verifier); 6] = [
        ("digest", &digests, &DigestVerifier),
        ("manifest, pinned ECDSA key", &digests, &listed),
        ("manifest, schema and chain", &digests, &schema_listed),
        ("pinned Ed25519 key", &by_edwards, &KeyVerifier(edwards_key)),
        ("pinned ECDSA key", &by_ecdsa, &KeyVerifier(ecdsa_key())),
        ("schema and chain, Ed25519", &by_author, &store),
    ];
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, segments, verifier), times) in ways.iter().zip(&mut times) {
            times.push(measure(segments, *verifier));
        }
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let base = times[0].clone();
    for ((name, ..), times) in ways.iter().zip(times) {
        let ratios = times.iter().zip(&base).map(|(time, base)| time / base).collect();
        let (time, ratio) = (median(times) / 1_000.0, median(ratios));
        println!("{name:28} {time:8.2} us a segment of 8,000 bytes, ratio {ratio:.3}");
    }
}
