//! Answers that are forged, malformed or signed by a wrong key.
use crate::harness::{
    Answer, Answers, DELAY, Harness, SEGMENT, config, cut, file, forged, honest, last, metadata_of,
    name, segment_of,
};
use bytes::Bytes;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{
    AutoVerifier, DigestSigner, HmacSigner, KeyLocator, KeyVerifier, PublicKey, SignatureInfo,
    Verdict, Verifier,
};
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchError, Retries};
use recoup_transport::time::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Judges like [`AutoVerifier`] and counts the calls.
struct Counting(Arc<AtomicUsize>);

impl Verifier for Counting {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        self.0.fetch_add(1, Ordering::Relaxed);
        AutoVerifier.judge(info, signed_portion, value)
    }
}

#[test]
fn simultaneous_answers_are_judged_separately() {
    let file = file(64 * SEGMENT);
    let judged = Arc::new(AtomicUsize::new(0));
    let mut config = config("/a/file/v=7");
    config.verifier = Box::new(Counting(Arc::clone(&judged)));
    let mut harness = Harness::new(config);
    // All at one instant. For every third segment a forged answer precedes two genuine ones; for the others two
    // genuine ones precede a forged one. Unsolicited Data arrives, too.
    let answer = |interest: &Interest| -> Answers {
        let good = cut(&file, interest).expect("a segment");
        let segment = segment_of(interest).expect("a number");
        let stranger = DataBuilder::new(&name("/b/v=7/seg=0")).build(b"", &DigestSigner);
        let mut batch = vec![good.clone(), good.clone(), forged(&good), stranger];
        if segment.is_multiple_of(3) {
            batch.rotate_right(2);
        }
        batch.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    let summary = &harness.summary;
    assert_eq!((summary.rejected, summary.retransmissions), (22, 0));
    assert_eq!(summary.duplicates, 64 * 4 - 64 - 22);
    assert_eq!(judged.load(Ordering::Relaxed), 64 + 22);
}

/// Accepts all packets, and decrypts no content of a segment from this one on.
struct Undecryptable(u64);

impl Verifier for Undecryptable {
    fn judge(&self, _: &SignatureInfo<'_>, _: &[u8], _: &[u8]) -> Verdict {
        Verdict::Verified
    }

    fn content(&self, data: &Data) -> Result<Bytes, &'static str> {
        let segment = data.name().last().and_then(|last| Convention::Typed.parse_segment(&last));
        match segment {
            Some(segment) if segment >= self.0 => Err("cannot be read"),
            _ => Ok(data.content_bytes()),
        }
    }
}

#[test]
fn undecryptable_content_ends_the_fetch() {
    for (bad, discovers) in [(0, true), (0, false), (1, false), (7, true), (19, false)] {
        let file = file(20 * SEGMENT);
        let mut config = config(if discovers { "/a/file" } else { "/a/file/v=7" });
        config.verifier = Box::new(Undecryptable(bad));
        let mut harness = Harness::new(config);
        // The bad segment comes first: others are in flight, and must not be waited for.
        let answer = honest(&file);
        let answer = |interest: &Interest| -> Answers {
            let late = segment_of(interest).is_some_and(|segment| segment < bad);
            let delay = if late { DELAY * 3 } else { DELAY };
            answer(interest).into_iter().map(|(_, answer)| (delay, answer)).collect()
        };
        let result = harness.run(answer);
        assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{bad}: {result:?}");
        let segments: Vec<_> = harness.asked.iter().filter_map(segment_of).collect();
        let distinct: std::collections::BTreeSet<_> = segments.iter().collect();
        assert_eq!(segments.len(), distinct.len(), "{bad}: no segment is requested twice");
        let rejected = harness.events.iter().position(|(_, event)| is_rejection(event)).unwrap();
        let after = &harness.events[rejected + 1..];
        assert!(!after.iter().any(|(_, event)| matches!(event, Event::Sent { .. })), "{bad}");
        assert_eq!(harness.summary.rejected, 1);
    }
}

fn is_rejection(event: &Event) -> bool {
    matches!(event, Event::Rejected { .. })
}

#[test]
fn with_a_key_nothing_else_is_ever_accepted() {
    let file = file(2_000);
    let key = |secret: &[u8]| HmacSigner::new(secret, KeyLocator::Name(name("/a/KEY/1").value()));
    let (right, wrong) = (key(b"the right secret"), key(b"another secret"));
    let mut count = 0;
    let crowd = |interest: &Interest| -> Answers {
        count += 1;
        let Some(segment) = segment_of(interest).map(|segment| segment as usize) else {
            return Vec::new();
        };
        let content = &file[segment * SEGMENT..(segment + 1) * SEGMENT];
        let builder =
            DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(last(&file)));
        let data = match count % 4 {
            0 => builder.build(content, &right),
            1 => builder.build(&[0x66; SEGMENT], &wrong),
            2 => builder.build(&[0x66; SEGMENT], &DigestSigner),
            _ => forged(&builder.build(content, &right)),
        };
        vec![(DELAY, Answer::Data(data))]
    };
    let mut keyed = config("/a/file/v=7");
    keyed.last = Some(19);
    keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"the right secret")));
    let mut harness = Harness::new(keyed);
    let result = harness.run(crowd);
    assert_eq!(result, Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(harness.summary.rejected >= 20);
}

#[test]
fn answers_with_the_wrong_name_count_for_nothing() {
    let file = file(1_000);
    let answer = honest(&file);
    let mut harness = Harness::new(config("/a/file/v=7"));
    let confused = |interest: &Interest| -> Answers {
        let mut other = interest.clone();
        other.name = name("/b/file/v=7/seg=0");
        let mut answers = answer(&other);
        other.name = name("/a/file/v=8/seg=0");
        answers.extend(answer(&other));
        other.name = name("/a/file/v=7/seg=0/seg=0");
        answers.extend(answer(&other));
        answers
    };
    let result = harness.run(confused);
    assert!(matches!(result, Err(FetchError::NoProgress(_))), "{result:?}");
    assert!(harness.content.is_empty());
}

#[test]
fn forged_answers_do_not_block_retransmissions() {
    let file = file(100);
    let mut trusting = config("/a/file/v=7");
    trusting.verifier = Box::new(AutoVerifier);
    let mut harness = Harness::new(trusting);
    let mut asked = 0;
    let result = harness.run(|interest| {
        let Some(data) = cut(&file, interest) else {
            return Vec::new();
        };
        asked += 1;
        if asked > 1 {
            return vec![(DELAY, Answer::Data(data))];
        }
        (2..1_000).map(|n| (n * DELAY / 2, Answer::Data(forged(&data)))).collect()
    });
    assert_eq!(result, Ok(()));
    assert!(harness.now < Instant::from_millis(500), "{}", harness.now);
}

#[test]
fn first_forged_answer_is_retransmitted_at_once() {
    let file = file(100);
    let mut config = config("/a/file/v=7");
    config.options.retries = Retries(Some(0));
    let mut harness = Harness::new(config);
    let mut asked = 0;
    let result = harness.run(|interest| {
        let Some(data) = cut(&file, interest) else { return Vec::new() };
        asked += 1;
        let data = if asked == 1 { forged(&data) } else { data };
        vec![(DELAY, Answer::Data(data))]
    });
    assert_eq!(result, Ok(()));
    assert_eq!(harness.now, Instant::ZERO + DELAY * 2);
    let first = harness.asked.iter().filter(|interest| segment_of(interest) == Some(0));
    let nonces: Vec<_> = first.map(|interest| interest.nonce).collect();
    assert!(nonces.len() == 2 && nonces[0] != nonces[1], "{nonces:?}");
}

#[test]
fn forged_answers_are_not_charged_to_retries() {
    let file = file(100);
    for (forgeries, retries, answered) in
        [(3, 0, true), (4, 0, false), (8, 8, true), (15, 100, true), (16, 100, false)]
    {
        let mut config = config("/a/file/v=7");
        config.options.retries = Retries(Some(retries));
        let mut harness = Harness::new(config);
        let mut asked = 0;
        let result = harness.run(|interest| {
            let Some(data) = cut(&file, interest) else { return Vec::new() };
            asked += 1;
            let data = if asked <= forgeries { forged(&data) } else { data };
            vec![(DELAY, Answer::Data(data))]
        });
        assert_eq!(result.is_ok(), answered, "{forgeries} forged, {retries} retries: {result:?}");
        if !answered {
            assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
            assert!(harness.now < Instant::from_millis(20_000), "{}", harness.now);
        }
    }
}

#[test]
fn genuine_copy_counts_before_and_after_retransmission() {
    let file = file(100);
    for late in 0..60 {
        let mut config = config("/a/file/v=7");
        config.options.retries = Retries(Some(0));
        let mut harness = Harness::new(config);
        let result = harness.run(|interest| {
            let Some(data) = cut(&file, interest) else { return Vec::new() };
            let genuine = (DELAY + DELAY * late / 10, Answer::Data(data.clone()));
            vec![(DELAY, Answer::Data(forged(&data))), genuine]
        });
        assert_eq!(result, Ok(()), "{late}");
        assert_eq!(harness.now, Instant::ZERO + DELAY + DELAY * late / 10, "{late}");
    }
}

#[test]
fn forged_metadata_is_not_charged_to_retries() {
    let file = file(100);
    for (forgeries, answered) in [(1, true), (3, true), (4, false)] {
        let mut config = config("/a/file");
        config.options.retries = Retries(Some(0));
        let mut harness = Harness::new(config);
        let mut asked = 0;
        let result = harness.run(|interest| {
            if segment_of(interest).is_some() {
                return honest(&file)(interest);
            }
            if interest.name == name("/a/file") {
                return Vec::new();
            }
            asked += 1;
            let data = metadata_of(interest, 7, Some(0));
            let data = if asked <= forgeries { forged(&data) } else { data };
            vec![(DELAY, Answer::Data(data))]
        });
        assert_eq!(result.is_ok(), answered, "{forgeries}: {result:?}");
        assert!(answered || matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
    }
}

/// Finds an invalid chain of certificates in forged packets.
struct Chains;

impl Verifier for Chains {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        match AutoVerifier.judge(info, signed_portion, value) {
            Verdict::Bad(why) => Verdict::Invalid(why),
            verdict => verdict,
        }
    }
}

#[test]
fn invalid_chain_ends_a_fetch_soon() {
    let file = file(3_000);
    for (name, valid_from, seconds) in
        [("/a/file", None, 5), ("/a/file/v=7", None, 5), ("/a/file", Some(7), 40)]
    {
        let mut config = config(name);
        config.verifier = Box::new(Chains);
        let (mut harness, answer) = (Harness::new(config), honest(&file));
        let mut seen = std::collections::BTreeMap::new();
        let result = harness.run(|interest| {
            // Nothing answers a prefix.
            if interest.name.last().is_some_and(|it| it.value() == b"file") {
                return Vec::new();
            }
            let seen: &mut u32 = seen.entry(interest.name.clone()).or_default();
            *seen += 1;
            let mut answers = answer(interest);
            for (_, answer) in &mut answers {
                if let Answer::Data(data) = answer
                    && valid_from.is_none_or(|from| *seen < from)
                {
                    *data = forged(data);
                }
            }
            answers
        });
        assert!(harness.now < Instant::from_millis(seconds * 1_000), "{:?}", harness.now);
        if valid_from.is_some() {
            assert_eq!(
                (result, harness.bytes()),
                (Ok(()), file.clone()),
                "the 7th answer is right"
            );
            continue;
        }
        assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
        let most = seen.values().max().copied();
        assert_eq!(most, Some(7), "{name}");
    }
}

#[test]
fn answers_of_one_signer_end_soon() {
    let file = file(3_000);
    let wrong = name("/elsewhere/KEY/1/i/v=1");
    let signer = HmacSigner::new(b"another secret", KeyLocator::Name(wrong.value()));
    for object in ["/a/file", "/a/file/v=7"] {
        let mut keyed = config(object);
        keyed.options.verify = "key=right.cert".parse().unwrap();
        keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"the right secret")));
        let (mut harness, answer) = (Harness::new(keyed), honest(&file));
        let result = harness.run(|interest| {
            let mut asked = interest.clone();
            if asked.name == name("/a/file") {
                asked.name = name("/a/file/v=7/seg=0");
            }
            let mut answers = answer(&asked);
            for (_, answer) in &mut answers {
                if let Answer::Data(data) = answer {
                    *data = DataBuilder::new(data.name()).build(data.content(), &signer);
                }
            }
            answers
        });
        let error = result.expect_err("no answer is right").to_string();
        assert!(error.contains("it names /elsewhere/KEY/1/i/v=1, wanted is right.cert"), "{error}");
        assert!(harness.now < Instant::from_millis(3_000), "{object}: {:?}", harness.now);
    }
}
