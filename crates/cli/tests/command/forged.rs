//! Forged copies ahead of genuine packets, and chains of certificates that cannot count.
use crate::hostile::{asked_object, asked_segment, forged, metadata_of, producer};
use crate::place::{Ended, Place, Server, noise};
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    DigestSigner, Ed25519Signer, KeyLocator, SignatureInfo, SignatureType, Signer, Validity,
};
use recoup_trust::certificate;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Signs certificates.
struct Certifier<'a>(&'a dyn Signer, Option<Validity<'a>>);

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
        SignatureInfo { validity: self.1, ..self.0.signature_info() }
    }
}

/// Signs with the key of `seed`, and names `locator` as the key.
fn signer(seed: u8, locator: &Name) -> Ed25519Signer {
    Ed25519Signer::new(&[seed; 32], KeyLocator::Name(locator.value())).expect("a key")
}

/// The public key of the seed, as the content of a certificate.
fn public_key(seed: u8) -> Vec<u8> {
    let prefix = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];
    [&prefix, signer(seed, &Name::default()).public_bytes()].concat()
}

/// The word in the names of the forger's keys.
const FORGER: &str = "forger";

/// By which key a forged copy claims to be signed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    /// An allowed, unknown key: a different one in each copy, or the same in all.
    Unknown,
    OneUnknown,
    /// The key that signed the genuine packet.
    Known,
    Disallowed,
    /// No key: a digest.
    Digest,
    /// The signature of the genuine packet is copied.
    Copied,
}

const CLAIMS: [Claim; 6] = {
    use Claim::{Copied, Digest, Disallowed, Known, OneUnknown, Unknown};
    [Unknown, OneUnknown, Known, Disallowed, Digest, Copied]
};

/// A forged copy of the packet.
fn forge(data: &Data, claim: Claim, number: usize) -> Data {
    if claim == Claim::Copied && !data.content().is_empty() {
        return forged(data);
    }
    let key = match claim {
        Claim::Unknown => format!("/site/KEY/{FORGER}{number}/i/v=1"),
        Claim::OneUnknown => format!("/site/KEY/{FORGER}/i/v=1"),
        _ => format!("/elsewhere/KEY/{FORGER}/i/v=1"),
    };
    let known = certificate::locator(data).filter(|_| claim == Claim::Known);
    let by = signer(9, &known.unwrap_or_else(|| key.parse().expect("a name")));
    let by: &dyn Signer = if claim == Claim::Digest { &DigestSigner } else { &by };
    let certifier = Certifier(by, data.signature_info().validity);
    let mut content = data.content().to_vec();
    match data.content_type() {
        ContentType::Key => content = public_key(9),
        _ => content.iter_mut().for_each(|byte| *byte ^= 1),
    }
    let builder = DataBuilder::new(data.name()).content_type(data.content_type());
    let builder = builder.freshness(data.freshness());
    match data.final_block() {
        Some(last) => builder.final_block(last).build(&content, &certifier),
        None => builder.build(&content, &certifier),
    }
}

/// Asks a server over TCP.
struct Genuine(TcpStream);

impl Genuine {
    fn of(server: &Server) -> Self {
        let (_, address) = server.face().split_once("://").expect("an address over TCP");
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        Self(stream)
    }

    /// The Data for an Interest; `None` for a Nack, or without an answer.
    fn ask(&mut self, interest: &Interest) -> Option<Data> {
        self.0.write_all(&interest.to_bytes()).expect("it is open");
        loop {
            let frame = LpPacket::decode(self.frame()?).expect("a frame");
            if frame.header.nack.is_some() {
                return None;
            }
            let data = frame.fragment.and_then(|packet| Data::decode(packet).ok());
            if let Some(data) = data.filter(|data| interest.is_satisfied_by(data)) {
                return Some(data);
            }
        }
    }

    /// The next element of the stream.
    fn frame(&mut self) -> Option<Bytes> {
        let mut frame = vec![0; 2];
        self.0.read_exact(&mut frame).ok()?;
        let mut length = usize::from(frame[1]);
        if length == 253 {
            frame.resize(4, 0);
            self.0.read_exact(&mut frame[2..]).expect("a length");
            length = usize::from(u16::from_be_bytes([frame[2], frame[3]]));
        }
        let header = frame.len();
        frame.resize(header + length, 0);
        self.0.read_exact(&mut frame[header..]).expect("a packet");
        Some(frame.into())
    }
}

/// How forged copies come.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Ahead of the genuine one, for each Interest.
    Ahead,
    /// One for each of the first Interests for a name, as beyond a forwarder, which passes on one answer.
    First,
}

/// A face on which so many forged copies of each packet of the server arrive, and the number of Interests.
fn relay(server: &Server, claim: Claim, copies: usize, order: Order) -> (String, Arc<AtomicUsize>) {
    let (mut genuine, asked) = (Genuine::of(server), Arc::new(AtomicUsize::new(0)));
    let (count, mut number, mut seen) = (Arc::clone(&asked), 0, BTreeMap::<Name, usize>::new());
    let face = producer(move |interest| {
        count.fetch_add(1, Ordering::Relaxed);
        if interest.name.to_string().contains(FORGER) {
            return Vec::new();
        }
        let Some(data) = genuine.ask(interest) else { return Vec::new() };
        let mut copy = || {
            number += 1;
            forge(&data, claim, number)
        };
        let seen = seen.entry(interest.name.clone()).or_default();
        *seen += 1;
        match order {
            Order::Ahead => (0..copies).map(|_| copy()).chain([data.clone()]).collect(),
            Order::First if *seen <= copies => vec![copy()],
            Order::First => vec![data],
        }
    });
    (face, asked)
}

/// A site with an author whose certificate is published, and a consumer that trusts the site.
fn site() -> (Place, Place) {
    let (producer, consumer) = (Place::new(), Place::new());
    for words in [
        "key new /site",
        "key new /site/ann",
        "key sign-request /site/ann -o request",
        "key issue request --signer /site --issuer site -o ann.cert",
        "key import ann.cert",
        "key export /site --public -o site.cert",
        "group new /site/group",
    ] {
        producer.run(words).succeeds();
    }
    consumer.write("site.cert", &producer.read("site.cert"));
    consumer.run("key new /reader --type rsa").succeeds();
    consumer.run("key export /reader --public -o reader.cert").succeeds();
    producer.write("reader.cert", &consumer.read("reader.cert"));
    producer.run("group add /site/group reader.cert").succeeds();
    (producer, consumer)
}

/// The words of a fetch with little patience for what does not come.
fn fetched(consumer: &Place, face: &str, words: &str) -> Ended {
    consumer.run(&format!("fetch /site/ann/tea --trust site.cert --face {face} -q {words}"))
}

#[test]
fn genuine_file_arrives_behind_forged_copies() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(60_000));
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site/ann";
    for how in ["--manifest", ""] {
        let server = producer.serve(&format!("{words} {how}"));
        for (at, claim) in CLAIMS.into_iter().enumerate() {
            for copies in [1 + at % 5, 5] {
                let (face, asked) = relay(&server, claim, copies, Order::Ahead);
                let case = format!("{copies} of {claim:?} {how}");
                let ended = fetched(&consumer, &face, "-o copy");
                assert_eq!(ended.code, Some(0), "{case}: {}", ended.stderr);
                assert!(consumer.read("copy") == noise(60_000), "{case}");
                std::fs::remove_file(consumer.path("copy")).unwrap();
                let asked = asked.load(Ordering::Relaxed);
                assert!(asked < 60 + 40 * copies, "{case}: {asked} Interests");
            }
        }
    }
}

#[test]
fn genuine_groups_of_manifests_arrive_behind_forged_ones() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(2_100_000));
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site/ann";
    let server = producer.serve(&format!("{words} --manifest"));
    for claim in [Claim::Unknown, Claim::Digest] {
        let (face, _) = relay(&server, claim, 3, Order::Ahead);
        fetched(&consumer, &face, "-o copy").succeeds();
        assert!(consumer.read("copy") == noise(2_100_000), "{claim:?}");
        std::fs::remove_file(consumer.path("copy")).unwrap();
    }
}

#[test]
fn genuine_folder_arrives_behind_forged_copies() {
    let (producer, consumer) = site();
    std::fs::create_dir(producer.path("tea")).unwrap();
    for file in ["a", "b"] {
        producer.write(&format!("tea/{file}"), &noise(9_000));
    }
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site/ann";
    let server = producer.serve(words);
    for claim in CLAIMS {
        let (face, _) = relay(&server, claim, 4, Order::Ahead);
        let ended = fetched(&consumer, &face, "-r -o copy");
        assert_eq!(ended.code, Some(0), "{claim:?}: {}", ended.stderr);
        for file in ["copy/a", "copy/b"] {
            assert!(consumer.read(file) == noise(9_000), "{claim:?}");
        }
        std::fs::remove_dir_all(consumer.path("copy")).unwrap();
    }
}

#[test]
fn genuine_content_keys_arrive_behind_forged_ones() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(20_000));
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site";
    let server = producer.serve(&format!("{words} --encrypt /site/group"));
    for claim in CLAIMS {
        let (face, _) = relay(&server, claim, 5, Order::Ahead);
        let ended = fetched(&consumer, &face, "--decrypt /reader -o copy");
        assert_eq!(ended.code, Some(0), "{claim:?}: {}", ended.stderr);
        assert!(consumer.read("copy") == noise(20_000), "{claim:?}");
        std::fs::remove_file(consumer.path("copy")).unwrap();
    }
}

#[test]
fn forged_answers_to_first_interests_delay_only() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(20_000));
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site/ann";
    let server = producer.serve(&format!("{words} --manifest"));
    for (claim, copies) in [
        (Claim::OneUnknown, 1),
        (Claim::Unknown, 3),
        (Claim::Known, 5),
        (Claim::Disallowed, 3),
        (Claim::Digest, 2),
        (Claim::Copied, 5),
    ] {
        let (face, asked) = relay(&server, claim, copies, Order::First);
        let ended = fetched(&consumer, &face, "-o copy --no-progress-timeout 120s");
        assert_eq!(ended.code, Some(0), "{copies} of {claim:?}: {}", ended.stderr);
        assert!(consumer.read("copy") == noise(20_000), "{claim:?}");
        std::fs::remove_file(consumer.path("copy")).unwrap();
        let asked = asked.load(Ordering::Relaxed);
        assert!(asked < 200, "{copies} of {claim:?}: {asked} Interests");
    }
}

/// Content that is not signed, signed by another key, or listed by a manifest of another key.
#[test]
fn fetch_without_trusted_signer_ends_soon() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(60_000));
    for words in ["key new /other", "key export /other --public -o other.cert"] {
        consumer.run(words).succeeds();
    }
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0";
    for (how, named) in
        [("", false), ("--sign /site/ann", true), ("--sign /site/ann --manifest", true)]
    {
        let server = producer.serve(&format!("{words} {how}"));
        let (face, asked) = relay(&server, Claim::Digest, 0, Order::Ahead);
        let fetch = format!("fetch /site/ann/tea --verify key=other.cert --face {face} -o copy");
        let ended = consumer.run(&fetch);
        assert_eq!(ended.stderr.contains("wanted is other.cert"), named, "{}", ended.stderr);
        ended.fails(5, &["cannot be trusted"]);
        let asked = asked.load(Ordering::Relaxed);
        assert!(asked < 60, "{how}: {asked} Interests");
    }
}

const ROOT: &str = "/site/KEY/1/self/v=1";
const MIDDLE: &str = "/site/KEY/2/i/v=1";
const LEAF: &str = "/site/KEY/3/i/v=1";
const DAY: u64 = 86_400;

/// The certificate `name` of the key of a seed, signed by another, valid for days from now.
fn certified((name, seed): (&str, u8), (by, its_seed): (&str, u8), days: [i64; 2]) -> Data {
    let unix_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let dates = days.map(|day| unix_s.as_secs().checked_add_signed(day * DAY as i64).unwrap());
    let [from, to] = dates.map(certificate::date);
    let validity = Validity { not_before: from.as_bytes(), not_after: to.as_bytes() };
    let by = signer(its_seed, &by.parse().unwrap());
    let certifier = Certifier(&by, Some(validity));
    let name = name.parse().unwrap();
    let builder = DataBuilder::new(&name).content_type(ContentType::Key);
    builder.freshness(Duration::from_secs(3_600)).build(&public_key(seed), &certifier)
}

/// A producer of `/site/file` whose packets the leaf has signed, with these certificates.
fn publisher(certificates: Vec<Data>) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, leaf) = (Arc::clone(&asked), signer(3, &LEAF.parse().unwrap()));
    let face = producer(move |interest| {
        count.fetch_add(1, Ordering::Relaxed);
        let data = asked_object(interest).map(|object| {
            let plain = metadata_of(&object, object.append(Component::version(1)), Some(0));
            DataBuilder::new(plain.name()).build(plain.content(), &leaf)
        });
        let segment = asked_segment(interest).map(|_| {
            let builder = DataBuilder::new(&interest.name).final_block(Component::segment(0));
            builder.build(b"content", &leaf)
        });
        let certificate = certificates.iter().find(|it| interest.is_satisfied_by(it)).cloned();
        certificate.or(data).or(segment).into_iter().collect()
    });
    (face, asked)
}

#[test]
fn invalid_chain_is_reported_as_itself() {
    let place = Place::new();
    let now = [-1, 1];
    place.write("root.cert", &certified((ROOT, 1), (ROOT, 1), now).wire());
    let (root, middle, leaf) = ((ROOT, 1), (MIDDLE, 2), (LEAF, 3));
    for (certificates, words) in [
        (vec![certified(leaf, middle, now), certified(middle, root, now)], ""),
        (vec![certified(leaf, root, [-2, -1])], "has expired"),
        (vec![certified(leaf, root, [1, 2])], "is not valid yet"),
        (vec![certified(leaf, middle, now), certified(middle, root, [-2, -1])], "has expired"),
        (vec![certified(leaf, ("/site/KEY/3", 3), now)], "signed by itself, and no trust anchor"),
        (
            vec![certified(leaf, middle, now), certified(middle, ("/site/KEY/2", 2), now)],
            "signed by itself, and no trust anchor",
        ),
        (vec![certified(leaf, middle, now), certified(middle, leaf, now)], "in a circle"),
    ] {
        let (face, asked) = publisher(certificates);
        let begin = Instant::now();
        let ended = place.run(&format!("fetch /site/file --trust root.cert --face {face}"));
        let asked = asked.load(Ordering::Relaxed);
        if words.is_empty() {
            assert_eq!(ended.succeeds().stdout, b"content");
            continue;
        }
        ended.fails(5, &["cannot be trusted", words]);
        assert!(begin.elapsed() < Duration::from_secs(30), "{words}: {:?}", begin.elapsed());
        assert!(asked < 60, "{words}: {asked} Interests");
    }
}

#[test]
fn forged_invalid_certificate_ends_nothing() {
    let place = Place::new();
    let now = [-1, 1];
    place.write("root.cert", &certified((ROOT, 1), (ROOT, 1), now).wire());
    let genuine = certified((LEAF, 3), (ROOT, 1), now);
    for forged in [
        certified((LEAF, 9), (ROOT, 9), [-2, -1]),
        certified((LEAF, 9), (ROOT, 9), [1, 2]),
        certified((LEAF, 9), ("/site/KEY/3", 9), now),
        certified((LEAF, 9), (LEAF, 9), now),
        certified((LEAF, 9), (MIDDLE, 9), now),
    ] {
        let leaf = signer(3, &LEAF.parse().unwrap());
        let mut seen = 0;
        let (forged, genuine) = (forged.clone(), genuine.clone());
        let face = producer(move |interest| {
            if interest.is_satisfied_by(&genuine) {
                seen += 1;
                return vec![if seen <= 5 { forged.clone() } else { genuine.clone() }];
            }
            let segment = asked_segment(interest).map(|_| {
                let builder = DataBuilder::new(&interest.name).final_block(Component::segment(0));
                builder.build(b"content", &leaf)
            });
            segment.into_iter().collect()
        });
        let words = format!("fetch /site/file/v=1 --trust root.cert --face {face}");
        assert_eq!(place.run(&words).succeeds().stdout, b"content");
    }
}
