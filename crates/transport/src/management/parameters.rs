//! ControlParameters of commands and answers.
//!
//! Source: NFD's wiki page "ControlCommand"; ndn-cxx, `mgmt/nfd/control-parameters.cpp`.
use super::element::{Elements, Fields, Record, Value, record};
use super::typ::{
    CAPACITY, CONTROL_PARAMETERS, COST, COUNT, EXPIRATION_PERIOD, FACE_ID, FACE_PERSISTENCY, FLAGS,
    LOCAL_URI, MARKING_INTERVAL, MARKING_THRESHOLD, MASK, MTU, ORIGIN, STRATEGY, URI,
};
use bytes::Bytes;
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, Tlv, typ};
use std::time::Duration;

/// Flag of a route: longer prefixes inherit it.
pub const CHILD_INHERIT: u64 = 1;
/// Flag of a route: routes of shorter prefixes are not inherited beside it.
pub const CAPTURE: u64 = 2;

/// Flag of a face: local applications receive and may set next-hop faces.
pub const LOCAL_FIELDS: u64 = 1;
/// Flag of a face: NDNLPv2 reliability.
pub const LP_RELIABILITY: u64 = 2;
/// Flag of a face: congestion marking.
pub const CONGESTION_MARKING: u64 = 4;

/// Flag of the content store: new Data is admitted.
pub const CS_ADMIT: u64 = 1;
/// Flag of the content store: stored Data answers Interests.
pub const CS_SERVE: u64 = 2;

record! {
    /// Parameters of a command or an answer; each field may be absent. Some forwarders require their order.
    #[derive(Default)]
    ControlParameters: Some(CONTROL_PARAMETERS);
    /// The prefix.
    name: Option<Name> = typ::NAME,
    /// The face; absent or 0 in a command: the incoming face.
    face_id: Option<u64> = FACE_ID,
    /// Remote URI of the face.
    uri: Option<String> = URI,
    /// Local URI of the face.
    local_uri: Option<String> = LOCAL_URI,
    /// Number of an [`Origin`](super::Origin).
    origin: Option<u64> = ORIGIN,
    /// Cost of the route; lower is better.
    cost: Option<u64> = COST,
    /// Capacity of the content store, in packets.
    capacity: Option<u64> = CAPACITY,
    /// Number of packets to erase, or erased.
    count: Option<u64> = COUNT,
    /// Duration of congestion before packets are marked.
    marking_interval: Option<Duration> = MARKING_INTERVAL,
    /// Queue length in bytes above which the queue is congested.
    marking_threshold: Option<u64> = MARKING_THRESHOLD,
    /// Longest frame of the face, in bytes.
    mtu: Option<u64> = MTU,
    /// Flags of the route ([`CHILD_INHERIT`], [`CAPTURE`]), the face or the content store.
    flags: Option<u64> = FLAGS,
    /// Mask of the valid flags.
    mask: Option<u64> = MASK,
    /// The strategy.
    strategy: Option<Name> = STRATEGY,
    /// Time until the route expires, in whole milliseconds.
    expiration_period: Option<Duration> = EXPIRATION_PERIOD,
    /// Number of a [`Persistency`](super::Persistency).
    face_persistency: Option<u64> = FACE_PERSISTENCY,
}

impl ControlParameters {
    /// Encodes the whole element.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Elements::default();
        out.record(self);
        out.0.into()
    }

    /// Decodes the whole element. Unknown fields are ignored and the first of repeated ones counts, as in all
    /// forwarders and clients.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(bytes).expect(CONTROL_PARAMETERS, "ControlParameters")?;
        Self::read(&element)
    }

    pub(super) fn read(element: &Tlv<'_>) -> Result<Self, DecodeError> {
        Self::take(&Fields::of(element)?)
    }

    /// State of a flag after a command: `None` if the command does not change it.
    #[must_use]
    pub fn flag(&self, bit: u64) -> Option<bool> {
        let (flags, mask) = self.flags.zip(self.mask)?;
        (mask & bit != 0).then_some(flags & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_are_encoded_in_protocol_order() {
        let all = ControlParameters {
            name: Some("/a".parse().unwrap()),
            face_id: Some(1),
            uri: Some("udp4://192.0.2.7:6363".into()),
            local_uri: Some("udp4://192.0.2.1:6363".into()),
            origin: Some(255),
            cost: Some(2),
            capacity: Some(3),
            count: Some(4),
            marking_interval: Some(Duration::from_nanos(5)),
            marking_threshold: Some(6),
            mtu: Some(7),
            flags: Some(CONGESTION_MARKING),
            mask: Some(CONGESTION_MARKING | LOCAL_FIELDS),
            strategy: Some("/s".parse().unwrap()),
            expiration_period: Some(Duration::from_millis(8)),
            face_persistency: Some(2),
        };
        let bytes = all.to_bytes();
        assert_eq!(ControlParameters::decode(&bytes), Ok(all.clone()));
        let mut reader = Reader::new(&bytes).read().unwrap().unwrap().reader();
        let types: Vec<_> =
            std::iter::from_fn(|| reader.read().unwrap().map(|it| it.typ)).collect();
        let expected =
            [7, 105, 114, 129, 111, 106, 131, 132, 135, 136, 137, 108, 112, 107, 109, 133];
        assert_eq!(types, expected);
        let flags = [CONGESTION_MARKING, LOCAL_FIELDS, LP_RELIABILITY].map(|bit| all.flag(bit));
        assert_eq!(flags, [Some(true), Some(false), None]);
    }

    #[test]
    fn malformed_uri_is_an_error() {
        for uri in [vec![b'x'; 1_025], vec![0xff]] {
            let mut out = Elements::default();
            out.nested(CONTROL_PARAMETERS, |out| {
                recoup_packet::tlv::put_tlv(&mut out.0, URI, &uri);
            });
            assert!(ControlParameters::decode(&out.0).is_err());
        }
    }
}
