//! Elements of the management protocol: any bytes are decoded or rejected, and an element that is encoded again decodes to
//! an equal element.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{
    ChannelStatus, ControlParameters, CsInfo, FaceEvent, FaceFilter, FaceStatus, FibEntry,
    GeneralStatus, PrefixAnnouncement, Record, Request, RibEntry, StrategyChoice, decode_records,
    encode_records, parse_response,
};
use std::fmt::Debug;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(parameters) = ControlParameters::decode(bytes) {
        assert_eq!(ControlParameters::decode(&parameters.to_bytes()), Ok(parameters));
    }
    if let Ok(filter) = FaceFilter::decode(bytes) {
        assert_eq!(FaceFilter::decode(&filter.to_bytes()), Ok(filter));
    }
    let _ = FaceEvent::from_content(bytes);
    again::<FaceStatus>(bytes);
    again::<ChannelStatus>(bytes);
    again::<RibEntry>(bytes);
    again::<FibEntry>(bytes);
    again::<StrategyChoice>(bytes);
    again::<CsInfo>(bytes);
    again::<GeneralStatus>(bytes);
    let wire = Bytes::copy_from_slice(bytes);
    if let Ok(interest) = Interest::decode(wire.clone()) {
        let _ = Request::read(&interest);
    }
    if let Ok(data) = Data::decode(wire) {
        let _ = parse_response(&data);
        if let Some(announcement) = PrefixAnnouncement::read(&data) {
            let written = announcement.to_data(1, &DigestSigner);
            assert_eq!(PrefixAnnouncement::read(&written), Some(announcement));
        }
    }
});

fn again<R: Record + PartialEq + Debug + Clone>(bytes: &[u8]) {
    if let Ok(records) = decode_records::<R>(bytes) {
        let written = encode_records(records.clone());
        assert_eq!(decode_records::<R>(&written), Ok(records));
    }
}
