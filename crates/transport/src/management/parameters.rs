//! ControlParameters of commands and answers.
//!
//! Source: NFD's wiki page "ControlCommand"; ndn-cxx, `mgmt/nfd/control-parameters.cpp`.
use super::element::{Elements, Fields};
use super::typ::{
    CAPACITY, CONTROL_PARAMETERS, COST, COUNT, EXPIRATION_PERIOD, FACE_ID, FACE_PERSISTENCY, FLAGS,
    LOCAL_URI, MARKING_INTERVAL, MARKING_THRESHOLD, MASK, MTU, ORIGIN, URI,
};
use bytes::Bytes;
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, Tlv};
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

/// Parameters of a command or an answer; each field may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlParameters {
    /// The prefix.
    pub name: Option<Name>,
    /// The face; absent or 0 in a command: the incoming face.
    pub face_id: Option<u64>,
    /// Remote URI of the face.
    pub uri: Option<String>,
    /// Local URI of the face.
    pub local_uri: Option<String>,
    /// Number of an [`Origin`](super::Origin).
    pub origin: Option<u64>,
    /// Cost of the route; lower is better.
    pub cost: Option<u64>,
    /// Capacity of the content store, in packets.
    pub capacity: Option<u64>,
    /// Number of packets to erase, or erased.
    pub count: Option<u64>,
    /// Duration of congestion before packets are marked.
    pub marking_interval: Option<Duration>,
    /// Queue length in bytes above which the queue is congested.
    pub marking_threshold: Option<u64>,
    /// Longest frame of the face, in bytes.
    pub mtu: Option<u64>,
    /// Flags of the route ([`CHILD_INHERIT`], [`CAPTURE`]), the face or the content store.
    pub flags: Option<u64>,
    /// Mask of the valid flags.
    pub mask: Option<u64>,
    /// The strategy.
    pub strategy: Option<Name>,
    /// Time until the route expires, in whole milliseconds.
    pub expiration_period: Option<Duration>,
    /// Number of a [`Persistency`](super::Persistency).
    pub face_persistency: Option<u64>,
}

impl ControlParameters {
    /// Encodes the whole element, in the field order that some forwarders require.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Elements::default();
        out.nested(CONTROL_PARAMETERS, |out| self.write(out));
        out.0.into()
    }

    fn write(&self, out: &mut Elements) {
        self.name.iter().for_each(|name| out.name(name));
        out.number(FACE_ID, self.face_id);
        self.uri.iter().for_each(|uri| out.text(URI, uri));
        self.local_uri.iter().for_each(|uri| out.text(LOCAL_URI, uri));
        out.number(ORIGIN, self.origin);
        out.number(COST, self.cost);
        out.number(CAPACITY, self.capacity);
        out.number(COUNT, self.count);
        out.nanos(MARKING_INTERVAL, self.marking_interval);
        out.number(MARKING_THRESHOLD, self.marking_threshold);
        out.number(MTU, self.mtu);
        out.number(FLAGS, self.flags);
        out.number(MASK, self.mask);
        self.strategy.iter().for_each(|name| out.strategy(name));
        out.millis(EXPIRATION_PERIOD, self.expiration_period);
        out.number(FACE_PERSISTENCY, self.face_persistency);
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
        let fields = Fields::of(element)?;
        Ok(Self {
            name: fields.name()?,
            face_id: fields.number(FACE_ID)?,
            uri: fields.text(URI)?,
            local_uri: fields.text(LOCAL_URI)?,
            origin: fields.number(ORIGIN)?,
            cost: fields.number(COST)?,
            capacity: fields.number(CAPACITY)?,
            count: fields.number(COUNT)?,
            marking_interval: fields.nanos(MARKING_INTERVAL)?,
            marking_threshold: fields.number(MARKING_THRESHOLD)?,
            mtu: fields.number(MTU)?,
            flags: fields.number(FLAGS)?,
            mask: fields.number(MASK)?,
            strategy: fields.strategy()?,
            expiration_period: fields.millis(EXPIRATION_PERIOD)?,
            face_persistency: fields.number(FACE_PERSISTENCY)?,
        })
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
