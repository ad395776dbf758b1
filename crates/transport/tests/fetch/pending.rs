//! Data that waits for the certificate of its key.
use crate::harness::{
    Answer, Answers, DELAY, Harness, SEGMENT, file, last, name, segment_of, with_options,
};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{
    Certificates, HmacSigner, KeyLocator, PublicKey, SignatureInfo, Signer, Verdict, Verifier,
};
use recoup_transport::fetch::{FetchConfig, FetchError, Retries};
use recoup_transport::time::Duration;
use std::collections::BTreeSet;
use std::sync::Mutex;

const KEY: &str = "/a/KEY/1/i/v=1";

/// Trusts what one secret has signed, once the certificate of its name is there.
#[derive(Default)]
struct Site {
    known: Mutex<BTreeSet<Name>>,
    given_up: Mutex<BTreeSet<Name>>,
}

impl Site {
    fn is_genuine(data: &Data) -> bool {
        let secret = PublicKey::from_hmac_secret(b"right");
        secret.verify(data.signed_portion(), data.signature_value())
    }
}

impl Verifier for Site {
    fn judge(&self, _: &SignatureInfo<'_>, _: &[u8], _: &[u8]) -> Verdict {
        unreachable!("packets have names")
    }

    fn verify(&self, data: &Data) -> Verdict {
        match self.missing(data) {
            Some(_) => Verdict::Pending,
            None if !self.known.lock().unwrap().contains(&signer_of(data)) => {
                Verdict::Bad("has no certificate")
            }
            None if Self::is_genuine(data) => Verdict::Verified,
            None => Verdict::Bad("is forged"),
        }
    }

    fn certificates(&self) -> Option<&dyn Certificates> {
        Some(self)
    }
}

impl Certificates for Site {
    fn missing(&self, data: &Data) -> Option<Name> {
        let has = |set: &Mutex<BTreeSet<Name>>| set.lock().unwrap().contains(&signer_of(data));
        (!has(&self.known) && !has(&self.given_up)).then(|| signer_of(data))
    }

    fn take(&self, certificate: &Data) -> Verdict {
        if !Self::is_genuine(certificate) {
            return Verdict::Bad("is forged");
        }
        self.known.lock().unwrap().insert(certificate.name().clone());
        Verdict::Verified
    }

    fn give_up(&self, name: &Name) {
        self.given_up.lock().unwrap().insert(name.clone());
    }
}

fn signer_of(data: &Data) -> Name {
    let Some(KeyLocator::Name(value)) = data.signature_info().key_locator else { panic!() };
    Name::from_value(value.to_vec().into()).unwrap()
}

fn signed(builder: DataBuilder<'_>, content: &[u8], key: &str, secret: &[u8]) -> Data {
    let key = name(key);
    let signer = HmacSigner::new(secret, KeyLocator::Name(key.value()));
    builder.build(content, &signer as &dyn Signer)
}

fn certificate() -> Data {
    let name = name(KEY);
    signed(DataBuilder::new(&name).content_type(ContentType::Key), b"", KEY, b"right")
}

/// A segment signed by a key.
fn segment(file: &[u8], interest: &Interest, key: &str, secret: &[u8]) -> Data {
    let number = segment_of(interest).expect("a segment") as usize;
    let content = &file[number * SEGMENT..file.len().min((number + 1) * SEGMENT)];
    let last = Convention::Typed.segment(last(file));
    signed(DataBuilder::new(&interest.name).final_block(last), content, key, secret)
}

fn is_for_key(interest: &Interest) -> bool {
    interest.name.components().any(|it| it.value() == b"KEY")
}

fn site(retries: u32) -> FetchConfig {
    let mut config = with_options("/a/file/v=7", |it| it.retries = Retries(Some(retries)));
    config.verifier = Box::new(Site::default());
    config
}

fn after(delay: Duration, data: Data) -> (Duration, Answer) {
    (delay, Answer::Data(data))
}

#[test]
fn segments_wait_for_one_certificate() {
    let file = file(50 * SEGMENT);
    let mut harness = Harness::new(site(15));
    let answer = |interest: &Interest| -> Answers {
        match is_for_key(interest) {
            true => vec![after(DELAY * 4, certificate())],
            false => vec![after(DELAY, segment(&file, interest, KEY, b"right"))],
        }
    };
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    let of_keys = harness.asked.iter().filter(|it| is_for_key(it)).count();
    assert_eq!((of_keys, harness.summary.retransmissions), (1, 0));
}

#[test]
fn missing_certificate_is_the_reason_without_progress() {
    let file = file(3 * SEGMENT);
    let mut config = with_options("/a/file/v=7", |it| it.no_progress = Duration::from_secs(5));
    config.verifier = Box::new(Site::default());
    let mut harness = Harness::new(config);
    let answer = |interest: &Interest| -> Answers {
        match is_for_key(interest) {
            true => Vec::new(),
            false => vec![after(DELAY, segment(&file, interest, KEY, b"right"))],
        }
    };
    let result = harness.run(answer);
    assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
}

#[test]
fn waiting_segments_are_not_charged_to_the_retries() {
    let file = file(3 * SEGMENT);
    for (is_answered, secret) in [(true, &b"right"[..]), (false, b"right"), (true, b"wrong")] {
        let mut harness = Harness::new(site(1));
        let answer = |interest: &Interest| -> Answers {
            match is_for_key(interest) {
                // Timeouts of the segments come before it.
                true if is_answered => vec![after(Duration::from_secs(9), certificate())],
                true => Vec::new(),
                false => vec![after(DELAY, segment(&file, interest, KEY, secret))],
            }
        };
        let result = harness.run(answer);
        if is_answered && secret == b"right" {
            assert_eq!(result, Ok(()));
            assert_eq!(harness.bytes(), file);
        } else {
            assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
        }
    }
}

#[test]
fn forged_copies_with_many_keys_delay_only() {
    let file = file(20 * SEGMENT);
    let mut harness = Harness::new(site(15));
    let mut forged = 0;
    let answer = |interest: &Interest| -> Answers {
        if interest.name.prefix(3) == name(KEY).prefix(3) {
            return vec![after(DELAY, certificate())];
        }
        if is_for_key(interest) {
            return Vec::new();
        }
        let mut answers: Answers = (0..40)
            .map(|_| {
                forged += 1;
                let key = format!("/a/KEY/{}/i/v=1", forged + 1);
                after(DELAY, segment(&file, interest, &key, b"wrong"))
            })
            .collect();
        answers.push(after(DELAY, segment(&file, interest, KEY, b"right")));
        answers
    };
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(forged > 400);
}
