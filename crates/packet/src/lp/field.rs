//! Recoup's own link fields: hop-by-hop metadata of packets, outside the signed Data.
//!
//! Their types are from the range that receivers ignore if unknown (NDNLPv2; see [`Ignorable`]):
//! another forwarder drops the field and forwards the packet. A *carried* field is copied to the
//! next hop by nodes that know it; the others concern one hop. Content stores keep no field.
//! `docs/wire.md` has the table.
//!
//! [`Ignorable`]: super::Ignorable

use super::Ignorable;
use bytes::Bytes;
use std::time::Duration;

/// One of Recoup's link fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkField {
    /// TLV-TYPE.
    pub typ: u64,
    /// Name in documents.
    pub name: &'static str,
    /// Nodes copy it to the next hop.
    pub carried: bool,
    /// Most bytes of the value; a longer value is discarded.
    pub max_bytes: usize,
}

/// Distinguishes the flows of one originator (Interests, copied into the Data).
pub const FLOW_NONCE: u64 = 900;
/// Nonce of the Interest before it was rerouted because its faces were gone (Interests).
pub const ORIGINAL_NONCE: u64 = 904;
/// Names that the consumer will request next (Interests, copied into the Data).
pub const ANTICIPATED: u64 = 908;
/// Anticipated names that the routers on the path hold (Interests, copied into the Data).
pub const RECORDS: u64 = 912;
/// Identifier of the node that answered (Data).
pub const PROVIDER_ID: u64 = 916;
/// By how much in-network retransmission lengthened the round trip (Data).
pub const RTT_REDUCTION: u64 = 920;
/// How long a link may resend the Data (Data).
pub const DATA_LIFETIME: u64 = 924;
/// Number of the frame on a link with loss recovery.
pub const WLDR_SEQUENCE: u64 = 928;
/// Notice of lost frames, or of the state of a link's end.
pub const EWLN: u64 = 932;

/// All fields, by type.
pub const ALL: [LinkField; 9] = [
    carried(FLOW_NONCE, "FlowNonce", 8),
    carried(ORIGINAL_NONCE, "OriginalNonce", 4),
    carried(ANTICIPATED, "Anticipated", 1024),
    carried(RECORDS, "Records", 1024),
    carried(PROVIDER_ID, "ProviderId", 8),
    carried(RTT_REDUCTION, "RttReduction", 8),
    carried(DATA_LIFETIME, "DataLifetime", 8),
    hop_local(WLDR_SEQUENCE, "WldrSequence", 8),
    hop_local(EWLN, "Ewln", 25),
];

/// Whether the answering node copies the field from Interest to Data.
#[must_use]
pub const fn goes_back(typ: u64) -> bool {
    matches!(typ, FLOW_NONCE | ANTICIPATED | RECORDS)
}

/// Most bytes of field values that a node carries with one packet.
pub const MAX_CARRIED_BYTES: usize = 2048;

const fn carried(typ: u64, name: &'static str, max_bytes: usize) -> LinkField {
    LinkField { typ, name, carried: true, max_bytes }
}

const fn hop_local(typ: u64, name: &'static str, max_bytes: usize) -> LinkField {
    LinkField { typ, name, carried: false, max_bytes }
}

/// The field of this type, if Recoup defines it.
#[must_use]
pub fn find(typ: u64) -> Option<&'static LinkField> {
    ALL.iter().find(|field| field.typ == typ)
}

/// Value of a time field (DataLifetime, RttReduction): 8 bytes, nanoseconds.
#[must_use]
pub fn time(fields: &Ignorable, typ: u64) -> Option<Duration> {
    let bytes = fields.get(typ)?.as_ref().try_into().ok()?;
    Some(Duration::from_nanos(u64::from_be_bytes(bytes)))
}

/// Sets a time field.
pub fn set_time(fields: &mut Ignorable, typ: u64, time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    fields.set(typ, Bytes::copy_from_slice(&nanos.to_be_bytes()));
}

/// Splits Recoup's fields of a frame into carried ones and those of this hop. Drops unknown and
/// oversized fields.
#[must_use]
pub fn sort(fields: &Ignorable) -> (Ignorable, Ignorable) {
    let (mut over, mut local) = (Ignorable::default(), Ignorable::default());
    let mut room = MAX_CARRIED_BYTES;
    for (typ, value) in fields.iter() {
        match find(typ) {
            Some(field) if value.len() > field.max_bytes => {}
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

/// The original nonce of a rerouted Interest: 4 bytes.
#[must_use]
pub fn original_nonce(fields: &Ignorable) -> Option<u32> {
    let bytes = fields.get(ORIGINAL_NONCE)?.as_ref().try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// Sets the original nonce of a rerouted Interest.
pub fn set_original_nonce(fields: &mut Ignorable, nonce: u32) {
    fields.set(ORIGINAL_NONCE, Bytes::copy_from_slice(&nonce.to_be_bytes()));
}

/// The flow nonce of a packet: 1 to 8 bytes, big-endian.
#[must_use]
pub fn flow_nonce(fields: &Ignorable) -> Option<u64> {
    let bytes = fields.get(FLOW_NONCE)?;
    let few = (1..=8).contains(&bytes.len());
    few.then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Sets the flow nonce, as 8 bytes.
pub fn set_flow_nonce(fields: &mut Ignorable, nonce: u64) {
    fields.set(FLOW_NONCE, Bytes::copy_from_slice(&nonce.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_nonces_of_any_length_are_read() {
        let mut fields = Ignorable::default();
        assert_eq!(flow_nonce(&fields), None);
        set_flow_nonce(&mut fields, 0x0102_0304_0506_0708);
        assert_eq!(flow_nonce(&fields), Some(0x0102_0304_0506_0708));
        for (bytes, nonce) in [(&b""[..], None), (b"\x01\x00", Some(256)), (&[0; 9], None)] {
            fields.set(FLOW_NONCE, Bytes::copy_from_slice(bytes));
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
    fn fields_are_ignorable_and_of_unassigned_types() {
        let mut fields = Ignorable::default();
        for field in ALL {
            fields.set(field.typ, Bytes::from(vec![0; field.max_bytes]));
        }
        assert_eq!(fields.iter().count(), ALL.len());
    }

    #[test]
    fn unknown_and_oversized_fields_are_dropped() {
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
    fn carried_fields_are_limited() {
        let mut fields = Ignorable::default();
        for typ in [FLOW_NONCE, ANTICIPATED, RECORDS, PROVIDER_ID] {
            let bytes = find(typ).unwrap().max_bytes;
            fields.set(typ, Bytes::from(vec![0; bytes]));
        }
        let (over, _) = sort(&fields);
        assert!(over.get(RECORDS).is_none() && over.get(PROVIDER_ID).is_some());
    }
}
