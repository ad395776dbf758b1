//! Which version is fetched, and how it is found out.
use crate::world::{
    Answer, Answers, DELAY, SEGMENT, World, config, cut, file, forged, honest, last, metadata_of,
    name, segment_of,
};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::metadata;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{AutoVerifier, DigestSigner, KeyVerifier, PublicKey};
use recoup_transport::application::{AppInput, Beside};
use recoup_transport::fetch::FetchError;
use recoup_transport::time::Instant;

#[test]
fn a_file_arrives_whole_through_metadata() {
    for octets in [0, 1, SEGMENT, SEGMENT + 1, 40 * SEGMENT, 4_321] {
        let file = file(octets);
        let mut world = World::new(config("/a/file"));
        assert_eq!(world.run(honest(&file)), Ok(()));
        assert_eq!(world.bytes(), file);
        assert_eq!(world.resolved, Some(name("/a/file/v=7")));
        assert_eq!(world.summary.retransmissions, 0);
    }
}

#[test]
fn a_name_with_a_version_needs_no_discovery() {
    let file = file(950);
    let mut world = World::new(config("/a/file/v=7"));
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.asked.iter().all(|interest| segment_of(interest).is_some()));
}

#[test]
fn a_producer_without_metadata_is_found_by_a_prefix_probe() {
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
    let mut world = World::new(config("/a/file"));
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), file);
    assert_eq!(world.resolved, Some(name("/a/file/v=9")));
}

#[test]
fn a_single_packet_without_segment_number_is_an_object_too() {
    let answer = |interest: &Interest| -> Answers {
        let exact = interest.name == name("/a/note");
        let data = exact.then(|| DataBuilder::new(&interest.name).build(b"hello", &DigestSigner));
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    let mut world = World::new(config("/a/note"));
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), b"hello");
}

#[test]
fn metadata_by_a_wrong_key_ends_the_fetch_soon_even_if_it_answers_the_probe_too() {
    let file = file(950);
    let answer = |interest: &Interest| -> Answers {
        let mut asked = interest.clone();
        asked.name = name("/a/file/32=metadata");
        vec![(DELAY, Answer::Data(metadata_of(&asked, 7, Some(last(&file)))))]
    };
    let mut keyed = config("/a/file");
    keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"another secret")));
    let mut world = World::new(keyed);
    let result = world.run(answer);
    assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
    assert!(world.now < Instant::from_millis(20_000), "{:?}", world.now);
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
    let said = Metadata::new(versioned.clone()).to_bytes();
    for (has_metadata, asked) in [(true, &object), (false, &object), (false, &versioned)] {
        let answer = |interest: &Interest| -> Answers {
            let number = interest.name.last().and_then(|c| marker.parse_segment(&c));
            let data = match number {
                Some(number) if number <= last(&file) => segment(number),
                None if interest.name == object => segment(2),
                None if has_metadata => {
                    DataBuilder::new(&metadata::packet_name(&object, 1)).build(&said, &DigestSigner)
                }
                _ => return Vec::new(),
            };
            vec![(DELAY, Answer::Data(data))]
        };
        let mut config = config("/a/file");
        config.name = asked.clone();
        let mut world = World::new(config);
        assert_eq!(world.run(answer), Ok(()));
        assert_eq!(world.bytes(), file);
    }
}

#[test]
fn a_segment_that_the_probe_asked_for_does_not_end_sampling() {
    let file = file(950);
    let mut sampled = config("/a/file");
    sampled.sampling = recoup_transport::rto::Sampling::PerRtt;
    let mut world = World::new(sampled);
    let result = world.run(|interest| {
        let mut asked = interest.clone();
        if interest.name == name("/a/file") {
            asked.name = name("/a/file/v=9/seg=3");
        }
        cut(&file, &asked).into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    });
    assert_eq!(result, Ok(()));
    assert!(world.summary.srtt.is_some());
}

#[test]
fn what_nobody_asked_for_does_not_decide_which_version_it_is() {
    let file = file(500);
    let mut world = World::new(config("/a/file"));
    let stray = Interest::new(name("/a/file/v=3/seg=0"));
    let data = cut(&file, &stray).expect("segment 0");
    world.at(
        Instant::from_millis(5),
        AppInput::Data { data, congestion_mark: 0, beside: Beside::default() },
    );
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_ne!(world.resolved, Some(name("/a/file/v=3")));
}

#[test]
fn a_flood_of_forged_metadata_does_not_keep_discovery_from_asking_again() {
    let file = file(100);
    let mut trusting = config("/a/file");
    trusting.verifier = Box::new(AutoVerifier);
    let mut world = World::new(trusting);
    let mut asked = 0;
    let result = world.run(|interest| {
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
    assert!(world.now < Instant::from_millis(500), "{}", world.now);
}
