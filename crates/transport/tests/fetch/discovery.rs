//! Discovery of versions.
use crate::harness::{
    Answer, Answers, DELAY, Harness, SEGMENT, config, cut, denial, file, forged, honest, last,
    metadata_of, name, segment_of, with_options,
};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::metadata;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::convention::Convention;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{AutoVerifier, DigestSigner, KeyVerifier, PublicKey};
use recoup_transport::application::{AppInput, Beside};
use recoup_transport::fetch::{FetchError, Retries};
use recoup_transport::time::{Duration, Instant};

#[test]
fn a_file_arrives_whole_through_metadata() {
    for bytes in [0, 1, SEGMENT, SEGMENT + 1, 40 * SEGMENT, 4_321] {
        let file = file(bytes);
        let mut harness = Harness::new(config("/a/file"));
        assert_eq!(harness.run(honest(&file)), Ok(()));
        assert_eq!(harness.bytes(), file);
        assert_eq!(harness.resolved, Some(name("/a/file/v=7")));
        assert_eq!(harness.summary.retransmissions, 0);
    }
}

#[test]
fn round_trip_of_discovery_sets_the_first_timeout() {
    let file = file(SEGMENT);
    let mut lost = false;
    let answer = |interest: &Interest| -> Answers {
        let is_first = segment_of(interest).is_some() && !std::mem::replace(&mut lost, true);
        if is_first { Vec::new() } else { honest(&file)(interest) }
    };
    let mut harness = Harness::new(config("/a/file"));
    assert_eq!(harness.run(answer), Ok(()));
    // Two round trips and the shortest timeout, which is longer than three times the first; not a second.
    assert_eq!(harness.now, Instant::ZERO + 2 * DELAY + Duration::from_millis(200));
}

#[test]
fn lost_discovery_is_repeated_before_its_timeout() {
    let file = file(SEGMENT);
    let mut lost = false;
    let answer = |interest: &Interest| -> Answers {
        if std::mem::replace(&mut lost, true) { honest(&file)(interest) } else { Vec::new() }
    };
    let mut harness = Harness::new(config("/a/file"));
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.now, Instant::from_millis(250) + 2 * DELAY);
}

/// Times of metadata Interests without an answer, in milliseconds.
fn attempts(retries: u32) -> Vec<u64> {
    let mut unanswered = config("/a/file");
    unanswered.options.retries = Retries(Some(retries));
    let mut times = Vec::new();
    let result = Harness::new(unanswered).run_timed(|now, interest| {
        let is_metadata = interest.name != name("/a/file");
        times.extend(is_metadata.then(|| now.as_nanos() / 1_000_000));
        Vec::new()
    });
    assert!(matches!(result, Err(FetchError::NoAnswer { .. })), "{result:?}");
    times
}

#[test]
fn repeated_discovery_keeps_its_timeouts_and_retries() {
    assert_eq!(attempts(2), [0, 250, 1_000, 3_000]);
    assert_eq!(attempts(0), [0], "without retries nothing is repeated");
}

#[test]
fn a_name_with_a_version_needs_no_discovery() {
    let file = file(950);
    let mut harness = Harness::new(config("/a/file/v=7"));
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert!(harness.asked.iter().all(|interest| segment_of(interest).is_some()));
}

#[test]
fn prefix_probe_replaces_missing_metadata() {
    let file = file(950);
    let answer = |interest: &Interest| -> Answers {
        if let Some(data) = cut(&file, interest) {
            return vec![(DELAY, Answer::Data(data))];
        }
        if interest.name != name("/a/file") || !interest.can_be_prefix {
            return Vec::new();
        }
        let mut probed = interest.clone();
        probed.name = name("/a/file/v=9/seg=3");
        vec![(DELAY, Answer::Data(cut(&file, &probed).expect("segment 3")))]
    };
    let mut harness = Harness::new(config("/a/file"));
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert_eq!(harness.resolved, Some(name("/a/file/v=9")));
}

#[test]
fn manifest_does_not_answer_the_prefix_probe() {
    let file = file(0);
    let mut probes = 0;
    let answer = |interest: &Interest| -> Answers {
        if interest.name != name("/a/file") {
            let is_segment = segment_of(interest).is_some();
            let data = cut(&file, interest).filter(|_| is_segment);
            return data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect();
        }
        // A cache has the manifest, and later the segment.
        probes += 1;
        let (found, content) = match probes {
            1 => ("/a/file/v=9/32=manifest/seg=0", &[7; 32][..]),
            _ => ("/a/file/v=9/seg=0", &[][..]),
        };
        let data = DataBuilder::new(&name(found)).build(content, &DigestSigner);
        vec![(DELAY, Answer::Data(data))]
    };
    let mut harness = Harness::new(config("/a/file"));
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), file);
    assert_eq!(harness.resolved, Some(name("/a/file/v=9")));
}

#[test]
fn packet_without_segment_number_is_an_object() {
    let answer = |interest: &Interest| -> Answers {
        let exact = interest.name == name("/a/note");
        let data = exact.then(|| DataBuilder::new(&interest.name).build(b"hello", &DigestSigner));
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    let mut harness = Harness::new(config("/a/note"));
    assert_eq!(harness.run(answer), Ok(()));
    assert_eq!(harness.bytes(), b"hello");
}

#[test]
fn metadata_by_a_wrong_key_ends_the_fetch() {
    let file = file(950);
    let answer = |interest: &Interest| -> Answers {
        let mut asked = interest.clone();
        asked.name = name("/a/file/32=metadata");
        vec![(DELAY, Answer::Data(metadata_of(&asked, 7, Some(last(&file)))))]
    };
    let mut keyed = config("/a/file");
    keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"another secret")));
    let mut harness = Harness::new(keyed);
    let result = harness.run(answer);
    assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
    assert!(harness.now < Instant::from_millis(20_000), "{:?}", harness.now);
}

#[test]
fn the_discovered_name_shows_the_convention() {
    let file = file(950);
    let (object, marker) = (name("/a/file"), Convention::Marker);
    let versioned = object.append(marker.version(7));
    let segment = |number: u64| -> Data {
        let start = number as usize * SEGMENT;
        let content = &file[start..file.len().min(start + SEGMENT)];
        DataBuilder::new(&versioned.append(marker.segment(number)))
            .final_block(marker.segment(last(&file)))
            .build(content, &DigestSigner)
    };
    let metadata_bytes = Metadata::new(versioned.clone()).to_bytes();
    for (has_metadata, asked) in [(true, &object), (false, &object), (false, &versioned)] {
        let answer = |interest: &Interest| -> Answers {
            let number = interest.name.last().and_then(|c| marker.parse_segment(&c));
            let data = match number {
                Some(number) if number <= last(&file) => segment(number),
                None if interest.name == object => segment(2),
                None if has_metadata => DataBuilder::new(&metadata::packet_name(&object, 1))
                    .build(&metadata_bytes, &DigestSigner),
                _ => return Vec::new(),
            };
            vec![(DELAY, Answer::Data(data))]
        };
        let mut config = config("/a/file");
        config.name = asked.clone();
        let mut harness = Harness::new(config);
        assert_eq!(harness.run(answer), Ok(()));
        assert_eq!(harness.bytes(), file);
    }
}

#[test]
fn probed_segment_does_not_end_sampling() {
    let file = file(950);
    let mut sampled = config("/a/file");
    sampled.options.sampling = recoup_transport::rto::Sampling::PerRtt;
    let mut harness = Harness::new(sampled);
    let result = harness.run(|interest| {
        let mut asked = interest.clone();
        if interest.name == name("/a/file") {
            asked.name = name("/a/file/v=9/seg=3");
        }
        cut(&file, &asked).into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    });
    assert_eq!(result, Ok(()));
    assert!(harness.summary.srtt.is_some());
}

#[test]
fn unsolicited_data_does_not_decide_the_version() {
    let file = file(500);
    let mut harness = Harness::new(config("/a/file"));
    let stray = Interest::new(name("/a/file/v=3/seg=0"));
    let data = cut(&file, &stray).expect("segment 0");
    harness.at(
        Instant::from_millis(5),
        AppInput::Data { data, congestion_mark: 0, beside: Beside::default() },
    );
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_ne!(harness.resolved, Some(name("/a/file/v=3")));
}

#[test]
fn forged_metadata_does_not_block_discovery() {
    let file = file(100);
    let mut trusting = config("/a/file");
    trusting.verifier = Box::new(AutoVerifier);
    let mut harness = Harness::new(trusting);
    let mut asked = 0;
    let result = harness.run(|interest| {
        if segment_of(interest).is_some() {
            return honest(&file)(interest);
        }
        asked += 1;
        let data = metadata_of(interest, 7, Some(0));
        match asked {
            1 => (2..1_000).map(|n| (n * DELAY / 2, Answer::Data(forged(&data)))).collect(),
            _ => vec![(DELAY, Answer::Data(data))],
        }
    });
    assert_eq!(result, Ok(()));
    assert!(harness.now < Instant::from_millis(500), "{}", harness.now);
}

/// A producer whose metadata names version 5 until `fresh_from`, then version 9.
fn replaying(fresh_from: Instant) -> impl FnMut(Instant, &Interest) -> Answers {
    let file = file(300);
    move |now, interest| {
        let version = if now < fresh_from { 5 } else { 9 };
        let data = match segment_of(interest) {
            Some(_) => cut(&file, interest),
            None if interest.name == name("/a/file") => {
                let probed = Interest::new(name("/a/file/v=5/seg=0"));
                cut(&file, &probed)
            }
            None => Some(metadata_of(interest, version, Some(last(&file)))),
        };
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    }
}

#[test]
fn replayed_old_version_is_stale() {
    for retries in [Some(15), None] {
        let mut newer = config("/a/file");
        (newer.options.newer_than, newer.options.retries) = (Some(7), Retries(retries));
        let mut harness = Harness::new(newer);
        let result = harness.run_timed(replaying(Instant::from_millis(1_000_000)));
        let (name, newest) = (name("/a/file"), Some(5));
        assert_eq!(result, Err(FetchError::Stale { name, newest, than: 7 }));
        assert!(harness.content.is_empty() && harness.resolved.is_none());
    }
}

#[test]
fn newer_version_is_waited_for() {
    for (than, resolved) in [(4, "/a/file/v=5"), (5, "/a/file/v=9"), (8, "/a/file/v=9")] {
        let mut newer = config("/a/file");
        newer.options.newer_than = Some(than);
        let mut harness = Harness::new(newer);
        assert_eq!(harness.run_timed(replaying(Instant::from_millis(2_000))), Ok(()));
        assert_eq!(harness.resolved, Some(name(resolved)));
    }
}

#[test]
fn object_without_version_is_never_newer() {
    let mut newer = config("/a/note");
    (newer.options.newer_than, newer.options.retries) = (Some(0), Retries(Some(2)));
    let mut harness = Harness::new(newer);
    let result = harness.run(|interest| {
        let data = DataBuilder::new(&name("/a/note")).build(b"hello", &DigestSigner);
        let is_probe = interest.name == name("/a/note");
        is_probe.then_some((DELAY, Answer::Data(data))).into_iter().collect()
    });
    assert_eq!(result, Err(FetchError::Stale { name: name("/a/note"), newest: None, than: 0 }));
}

#[test]
fn named_version_must_be_newer_too() {
    for (than, is_newer) in [(6, true), (7, false)] {
        let file = file(300);
        let mut newer = config("/a/file/v=7");
        newer.options.newer_than = Some(than);
        let result = Harness::new(newer).run(honest(&file));
        assert_eq!(result.is_ok(), is_newer, "{result:?}");
    }
}

#[test]
fn metadata_of_another_object_are_a_contradiction() {
    let mut harness = Harness::new(config("/a/file"));
    let result = harness.run(|interest| {
        let mut other = interest.clone();
        other.name = name("/b/file/32=metadata");
        let content = metadata_of(&other, 7, Some(0)).content_bytes();
        let metadata = metadata::packet_name(&name("/a/file"), 1);
        vec![(DELAY, Answer::Data(DataBuilder::new(&metadata).build(&content, &DigestSigner)))]
    });
    let named = name("/b/file/v=7");
    assert_eq!(result, Err(FetchError::OtherObject { name: name("/a/file"), named }));
}

#[test]
fn answer_leads_to_no_local_name() {
    // Metadata, or content, of a name of local scope answers an Interest for everything.
    for named in ["/localhost/nfd/rib/list", "/localhop/nfd"] {
        for has_metadata in [true, false] {
            let mut harness = Harness::new(with_options("/", |it| it.retries = Retries(Some(1))));
            let mut local = Vec::new();
            let result = harness.run(|interest| {
                local.extend(Some(interest.name.clone()).filter(Name::has_local_scope));
                let is_metadata = interest.name == metadata::discovery_name(&name("/"));
                let data = if is_metadata && has_metadata {
                    let mut other = interest.clone();
                    other.name = metadata::discovery_name(&name(named));
                    let content = metadata_of(&other, 7, Some(0)).content_bytes();
                    let packet = metadata::packet_name(&name("/"), 1);
                    DataBuilder::new(&packet).build(&content, &DigestSigner)
                } else if !is_metadata && !has_metadata {
                    let segment = name(named).append(Component::segment(0));
                    DataBuilder::new(&segment).build(b"content", &DigestSigner)
                } else {
                    return Vec::new();
                };
                vec![(DELAY, Answer::Data(data))]
            });
            let is_contradiction = matches!(result, Err(FetchError::OtherObject { .. }));
            assert_eq!(is_contradiction, has_metadata, "{result:?}");
            assert!(result.is_err() && local.is_empty(), "{local:?}");
        }
    }
}

/// A content store as that of NFD, which keeps application Nacks and answers with them by prefix.
#[derive(Default)]
struct Store(Vec<(Instant, Data)>);

impl Store {
    /// The stored answer, or else that of `producer`, which is stored.
    fn answer(
        &mut self,
        now: Instant,
        interest: &Interest,
        producer: impl FnOnce() -> Option<Data>,
    ) -> Answers {
        let mut stored = self.0.iter();
        let found = stored.find(|(stale_at, data)| {
            interest.is_satisfied_by(data) && (!interest.must_be_fresh || now < *stale_at)
        });
        let (delay, data) = match found {
            Some((_, data)) => (Duration::from_millis(1), Some(data.clone())),
            None => (DELAY, producer()),
        };
        if let Some(data) = &data {
            self.0.push((now + data.freshness(), data.clone()));
        }
        data.into_iter().map(|data| (delay, Answer::Data(data))).collect()
    }
}

#[test]
fn cached_nack_of_metadata_does_not_answer_probe() {
    for exists in [false, true] {
        let (mut store, file) = (Store::default(), file(950));
        let mut harness = Harness::new(config("/a/file"));
        let result = harness.run_timed(|now, interest| {
            store.answer(now, interest, || {
                let mut probed = interest.clone();
                if probed.name == name("/a/file") {
                    probed.name = name("/a/file/v=9/seg=0");
                }
                let found = cut(&file, &probed).filter(|_| exists);
                Some(found.unwrap_or_else(|| denial(&interest.name)))
            })
        });
        match exists {
            true => assert_eq!((result, harness.bytes()), (Ok(()), file)),
            false => assert_eq!(result, Err(FetchError::NotFound(name("/a/file")))),
        }
        let asked = harness.asked.len();
        assert!(asked <= 30 && harness.now < Instant::from_millis(500), "{asked} Interests");
    }
}

#[test]
fn denials_before_an_answer_do_not_end_fetch() {
    for denials in 0..5 {
        // Of metadata, and of each segment.
        for denied in ["metadata", "segments"] {
            let (file, mut sent) = (file(2_000), std::collections::BTreeMap::new());
            let mut harness = Harness::new(config("/a/file"));
            let result = harness.run(|interest| {
                let is_segment = segment_of(interest).is_some();
                let times: &mut u32 = sent.entry(interest.name.clone()).or_default();
                *times += 1;
                if is_segment == (denied == "segments") && *times <= denials {
                    return vec![(DELAY, Answer::Data(denial(&interest.name)))];
                }
                honest(&file)(interest)
            });
            assert_eq!((result, harness.bytes()), (Ok(()), file), "{denials} of {denied}");
        }
    }
}
