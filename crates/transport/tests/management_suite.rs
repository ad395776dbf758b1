//! Management encoding: round trips of all fields; robustness against any bytes.
use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{
    ChannelStatus, ControlParameters, CsInfo, FaceEvent, FaceFilter, FaceStatus, FibEntry,
    GeneralStatus, Record, Request, RibEntry, Scope, StrategyChoice, Verb, canonical_uri,
    command_interest, decode_records, encode_records, parse_response, respond,
};
use std::time::Duration;

const VERBS: [Verb; 11] = [
    Verb::RibRegister,
    Verb::RibUnregister,
    Verb::FibAddNextHop,
    Verb::FibRemoveNextHop,
    Verb::FaceCreate,
    Verb::FaceUpdate,
    Verb::FaceDestroy,
    Verb::StrategySet,
    Verb::StrategyUnset,
    Verb::CsConfig,
    Verb::CsErase,
];

fn name() -> impl Strategy<Value = Name> {
    vec(vec(any::<u8>(), 0..6), 1..6)
        .prop_map(|words| words.iter().map(|word| Component::generic(word)).collect())
}

prop_compose! {
    fn parameters()(
        name in option::of(name()),
        strategy in option::of(name()),
        uri in any::<[Option<String>; 2]>(),
        numbers in any::<[Option<u64>; 10]>(),
        times in any::<[Option<u32>; 2]>(),
    ) -> ControlParameters {
        let [uri, local_uri] = uri;
        let [face_id, origin, cost, capacity, count, marking_threshold, mtu, flags, mask, face_persistency] =
            numbers;
        let [nanos, millis] = times;
        ControlParameters {
            name, face_id, uri, local_uri, origin, cost, capacity, count, mtu, flags, mask, strategy,
            marking_interval: nanos.map(|it| Duration::from_nanos(it.into())),
            marking_threshold,
            expiration_period: millis.map(|it| Duration::from_millis(it.into())),
            face_persistency,
        }
    }
}

/// Records decode from their own encoding unchanged.
fn survives<R: Record + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    if let Ok(records) = decode_records::<R>(bytes) {
        let written = encode_records(decode_records::<R>(bytes).unwrap());
        assert_eq!(decode_records::<R>(&written).unwrap(), records);
    }
}

fn read_everything(bytes: &[u8]) {
    survives::<RibEntry>(bytes);
    survives::<FibEntry>(bytes);
    survives::<FaceStatus>(bytes);
    survives::<ChannelStatus>(bytes);
    survives::<StrategyChoice>(bytes);
    survives::<CsInfo>(bytes);
    survives::<GeneralStatus>(bytes);
    if let Ok(filter) = FaceFilter::decode(bytes) {
        assert_eq!(FaceFilter::decode(&filter.to_bytes()), Ok(filter));
    }
    if let Ok(event) = FaceEvent::from_content(bytes) {
        assert_eq!(FaceEvent::from_content(&event.to_content()), Ok(event));
    }
    if let Ok(found) = ControlParameters::decode(bytes) {
        assert_eq!(ControlParameters::decode(&found.to_bytes()), Ok(found));
    }
}

proptest! {
    #[test]
    fn parameters_are_read_as_they_were_written(parameters in parameters()) {
        let bytes = parameters.to_bytes();
        prop_assert_eq!(ControlParameters::decode(&bytes), Ok(parameters.clone()));
        let answer = respond(&"/x".parse().unwrap(), &Ok(parameters.clone()));
        prop_assert_eq!(parse_response(&answer), Ok(parameters));
    }

    #[test]
    fn command_with_a_changed_byte_is_rejected(
        parameters in parameters(),
        verb in 0..VERBS.len(),
        place in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let unique = Uniqueness { nonce: Some(&[1; 8]), time: Some(1), seq_num: None };
        let verb = VERBS[verb];
        let mut interest =
            command_interest(Scope::Localhost, verb, &parameters, &DigestSigner, unique);
        interest.nonce = Some(7);
        let mut bytes = interest.to_bytes().to_vec();
        let at = place.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Neither the nonce nor the flags and the lifetime around it are signed.
        if let Ok(changed) = Interest::decode(Bytes::from(bytes))
            && changed.name.prefix(5) != interest.name.prefix(5)
        {
            prop_assert!(!matches!(Request::read(&changed), Some(Ok(Request::Command(_)))));
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200)) {
        read_everything(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let once = canonical_uri(&text).into_owned();
        prop_assert_eq!(canonical_uri(&once), once.as_str());
    }

    #[test]
    fn parameters_with_changed_bytes_are_survived(
        parameters in parameters(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        outer in prop_oneof![Just(0x68_u8), Just(0x80), Just(0x96), Just(0xc0), any::<u8>()],
    ) {
        let mut bytes = parameters.to_bytes().to_vec();
        bytes[0] = outer;
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        read_everything(&bytes);
    }

    #[test]
    fn complete_uris_stay_and_others_become_complete(bytes in any::<[u8; 4]>(), port in any::<u16>()) {
        let [a, b, c, d] = bytes;
        let complete = format!("udp4://{a}.{b}.{c}.{d}:{port}");
        prop_assert_eq!(canonical_uri(&complete), complete.as_str());
        let bare = complete.replacen('4', "", 1);
        prop_assert_eq!(canonical_uri(&bare), complete.as_str());
    }
}
