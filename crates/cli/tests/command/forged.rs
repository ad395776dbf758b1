//! Forged copies ahead of genuine packets, and chains of certificates that cannot count.
use crate::hostile::{forged, producer};
use crate::place::{Ended, Place, Server, noise};
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::name::Name;
use recoup_packet::signature::{
    DigestSigner, Ed25519Signer, KeyLocator, SignatureInfo, SignatureType, Signer, Validity,
};
use recoup_trust::certificate;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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

/// A face on which so many forged copies arrive ahead of each packet of the server, and the number of Interests.
fn relay(server: &Server, claim: Claim, copies: usize) -> (String, Arc<AtomicUsize>) {
    let (mut genuine, asked) = (Genuine::of(server), Arc::new(AtomicUsize::new(0)));
    let (count, mut number) = (Arc::clone(&asked), 0);
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
        (0..copies).map(|_| copy()).chain([data.clone()]).collect()
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
        for claim in CLAIMS {
            let (face, asked) = relay(&server, claim, 5);
            let case = format!("{claim:?} {how}");
            let ended = fetched(&consumer, &face, "-o copy");
            assert_eq!(ended.code, Some(0), "{case}: {}", ended.stderr);
            assert!(consumer.read("copy") == noise(60_000), "{case}");
            std::fs::remove_file(consumer.path("copy")).unwrap();
            let asked = asked.load(Ordering::Relaxed);
            assert!(asked < 260, "{case}: {asked} Interests");
        }
    }
}

#[test]
fn genuine_content_keys_arrive_behind_forged_ones() {
    let (producer, consumer) = site();
    producer.write("tea", &noise(20_000));
    let words = "serve tea --name /site/ann/tea --listen tcp://127.0.0.1:0 --sign /site";
    let server = producer.serve(&format!("{words} --encrypt /site/group"));
    for claim in CLAIMS {
        let (face, _) = relay(&server, claim, 5);
        let ended = fetched(&consumer, &face, "--decrypt /reader -o copy");
        assert_eq!(ended.code, Some(0), "{claim:?}: {}", ended.stderr);
        assert!(consumer.read("copy") == noise(20_000), "{claim:?}");
        std::fs::remove_file(consumer.path("copy")).unwrap();
    }
}
