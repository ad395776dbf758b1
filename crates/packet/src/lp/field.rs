//! Our own link fields: what nodes tell each other about a packet without touching it, since Data is signed.
//!
//! They have types from the range that receivers must ignore if they do not know them (NDNLPv2; see [`Ignorable`]), so a
//! plain forwarder drops the field and passes the packet on. A field that is *carried over* is copied to the next hop by
//! nodes that know it; the others concern one hop only. No field is ever stored with Data. `docs/wire.md` has the table.
//!
//! [`Ignorable`]: super::Ignorable

use super::Ignorable;
use bytes::Bytes;
use std::time::Duration;

/// One of our fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkField {
    /// Its type.
    pub typ: u64,
    /// Its name in documents.
    pub name: &'static str,
    /// Nodes copy it to the next hop.
    pub carried: bool,
    /// Most octets of its value; a longer one is discarded.
    pub max_octets: usize,
}

/// Distinguishes the flows of one originator (Interests, copied into the Data).
pub const FLOW_NONCE: u64 = 900;
/// Nonce that an Interest had before it was sent on with others, because faces of it were gone (Interests).
pub const JOURNEY: u64 = 904;
/// Names that the consumer will ask for next (Interests, copied into the Data).
pub const ANTICIPATED: u64 = 908;
/// What routers on the way know about anticipated names (Interests, copied into the Data).
pub const RECORDS: u64 = 912;
/// Which node answered (Data).
pub const PROVIDER_ID: u64 = 916;
/// By how much nodes that asked again on the way lengthened the round trip (Data).
pub const RTT_REDUCTION: u64 = 920;
/// How long the Data is worth being sent again on a link (Data).
pub const DATA_LIFETIME: u64 = 924;
/// Number of the frame on a link with loss recovery.
pub const WLDR_SEQUENCE: u64 = 928;
/// Notice that frames of a link were lost, or where an end of it stands.
pub const EWLN: u64 = 932;

/// All our fields, by type.
pub const ALL: [LinkField; 9] = [
    carried(FLOW_NONCE, "FlowNonce", 8),
    carried(JOURNEY, "Journey", 4),
    carried(ANTICIPATED, "Anticipated", 1024),
    carried(RECORDS, "Records", 1024),
    carried(PROVIDER_ID, "ProviderId", 8),
    carried(RTT_REDUCTION, "RttReduction", 8),
    carried(DATA_LIFETIME, "DataLifetime", 8),
    hop_local(WLDR_SEQUENCE, "WldrSequence", 8),
    hop_local(EWLN, "Ewln", 25),
];

/// Whether who answers copies the field of an Interest to its Data.
#[must_use]
pub const fn goes_back(typ: u64) -> bool {
    matches!(typ, FLOW_NONCE | ANTICIPATED | RECORDS)
}

/// Most octets of values that a node carries over with one packet.
pub const MAX_CARRIED_OCTETS: usize = 2048;

const fn carried(typ: u64, name: &'static str, max_octets: usize) -> LinkField {
    LinkField { typ, name, carried: true, max_octets }
}

const fn hop_local(typ: u64, name: &'static str, max_octets: usize) -> LinkField {
    LinkField { typ, name, carried: false, max_octets }
}

/// The field of this type, if it is one of ours.
#[must_use]
pub fn find(typ: u64) -> Option<&'static LinkField> {
    ALL.iter().find(|field| field.typ == typ)
}

/// The time that a field says (DataLifetime, RttReduction): 8 octets, nanoseconds.
#[must_use]
pub fn time(fields: &Ignorable, typ: u64) -> Option<Duration> {
    let octets = fields.get(typ)?.as_ref().try_into().ok()?;
    Some(Duration::from_nanos(u64::from_be_bytes(octets)))
}

/// Writes the time that a field says.
pub fn set_time(fields: &mut Ignorable, typ: u64, time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    fields.set(typ, Bytes::copy_from_slice(&nanos.to_be_bytes()));
}

/// Sorts the fields of a frame that are ours into those to be carried over and those of this hop. All others, and those
/// that are too long, are left out.
#[must_use]
pub fn sort(fields: &Ignorable) -> (Ignorable, Ignorable) {
    let (mut over, mut local) = (Ignorable::default(), Ignorable::default());
    let mut room = MAX_CARRIED_OCTETS;
    for (typ, value) in fields.iter() {
        match find(typ) {
            Some(field) if value.len() > field.max_octets => {}
            Some(LinkField { carried: false, .. }) => local.set(typ, value.clone()),
            Some(_) if value.len() <= room => {
                room -= value.len();
                over.set(typ, value.clone());
            }
            _ => {}
        }
    }
    (over, local)
}

/// The journey among the fields of an Interest: 4 octets.
#[must_use]
pub fn journey(fields: &Ignorable) -> Option<u32> {
    let octets = fields.get(JOURNEY)?.as_ref().try_into().ok()?;
    Some(u32::from_be_bytes(octets))
}

/// Writes the journey of an Interest.
pub fn set_journey(fields: &mut Ignorable, journey: u32) {
    fields.set(JOURNEY, Bytes::copy_from_slice(&journey.to_be_bytes()));
}

/// The flow nonce among the fields of a packet: 1 to 8 octets, the first of most weight.
#[must_use]
pub fn flow_nonce(fields: &Ignorable) -> Option<u64> {
    let octets = fields.get(FLOW_NONCE)?;
    let few = (1..=8).contains(&octets.len());
    few.then(|| octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet)))
}

/// Writes a flow nonce, as 8 octets.
pub fn set_flow_nonce(fields: &mut Ignorable, nonce: u64) {
    fields.set(FLOW_NONCE, Bytes::copy_from_slice(&nonce.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_nonce_is_read_as_it_was_written_and_shorter_ones_as_numbers() {
        let mut fields = Ignorable::default();
        assert_eq!(flow_nonce(&fields), None);
        set_flow_nonce(&mut fields, 0x0102_0304_0506_0708);
        assert_eq!(flow_nonce(&fields), Some(0x0102_0304_0506_0708));
        for (octets, nonce) in [(&b""[..], None), (b"\x01\x00", Some(256)), (&[0; 9], None)] {
            fields.set(FLOW_NONCE, Bytes::copy_from_slice(octets));
            assert_eq!(flow_nonce(&fields), nonce);
        }
    }

    #[test]
    fn a_time_is_read_as_it_was_written() {
        let mut fields = Ignorable::default();
        assert_eq!(time(&fields, DATA_LIFETIME), None);
        for duration in [Duration::ZERO, Duration::from_millis(400), Duration::from_nanos(u64::MAX)]
        {
            set_time(&mut fields, DATA_LIFETIME, duration);
            assert_eq!(time(&fields, DATA_LIFETIME), Some(duration));
        }
        fields.set(DATA_LIFETIME, Bytes::from_static(b"short"));
        assert_eq!(time(&fields, DATA_LIFETIME), None);
    }

    #[test]
    fn every_field_may_be_ignored_and_has_a_free_type() {
        let mut fields = Ignorable::default();
        for field in ALL {
            fields.set(field.typ, Bytes::from(vec![0; field.max_octets]));
        }
        assert_eq!(fields.iter().count(), ALL.len());
    }

    #[test]
    fn foreign_and_overlong_fields_are_left_out() {
        let mut fields = Ignorable::default();
        fields.set(956, Bytes::from_static(b"foreign"));
        fields.set(PROVIDER_ID, Bytes::from_static(&[7; 8]));
        fields.set(RTT_REDUCTION, Bytes::from_static(&[7; 9]));
        fields.set(WLDR_SEQUENCE, Bytes::from_static(&[1; 4]));
        let (over, local) = sort(&fields);
        assert_eq!(over.iter().map(|(typ, _)| typ).collect::<Vec<_>>(), [PROVIDER_ID]);
        assert_eq!(local.iter().map(|(typ, _)| typ).collect::<Vec<_>>(), [WLDR_SEQUENCE]);
    }

    #[test]
    fn what_is_carried_with_a_packet_is_bounded() {
        let mut fields = Ignorable::default();
        for typ in [FLOW_NONCE, ANTICIPATED, RECORDS, PROVIDER_ID] {
            let octets = find(typ).unwrap().max_octets;
            fields.set(typ, Bytes::from(vec![0; octets]));
        }
        let (over, _) = sort(&fields);
        assert!(over.get(RECORDS).is_none() && over.get(PROVIDER_ID).is_some());
    }
}
