//! Records of the datasets of a forwarder.
//!
//! Source: NFD's wiki pages "FibMgmt", "RibMgmt", "StrategyChoice", "CsMgmt", "ForwarderStatus"; ndn-cxx,
//! `mgmt/nfd/*-status.cpp`.
use super::element::{Elements, Fields, Record, Value, record};
use super::face::FaceCounters;
use super::typ::{
    CAPACITY, COST, CS_HITS, CS_MISSES, CURRENT_TIME, EXPIRATION_PERIOD, FACE_ID, FLAGS,
    INNER_RECORD, N_CS, N_FIB, N_IN_INTERESTS, N_MEASUREMENTS, N_NAME_TREE, N_PIT, N_SATISFIED,
    N_UNSATISFIED, ORIGIN, RECORD, START_TIME, STRATEGY, VERSION,
};
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, typ};
use std::time::Duration;

/// Encodes records as the content of a dataset.
pub fn encode_records<R: Record>(records: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut out = Elements::default();
    records.into_iter().for_each(|record| out.record(&record));
    out.0
}

/// Decodes the content of a dataset. Unknown elements between the records are skipped.
///
/// # Errors
/// [`DecodeError`].
pub fn decode_records<R: Record>(bytes: &[u8]) -> Result<Vec<R>, DecodeError> {
    let Some(typ) = R::TYPE else {
        return Ok(vec![R::take(&Fields::new(bytes, 0)?)?]);
    };
    let mut reader = Reader::new(bytes);
    let mut records = Vec::new();
    while let Some(element) = reader.read()? {
        if element.typ == typ {
            records.push(R::take(&Fields::of(&element)?)?);
        }
    }
    Ok(records)
}

record! {
    /// A route of a RIB entry.
    Route: Some(INNER_RECORD);
    /// Next hop of the route.
    face_id: u64 = FACE_ID,
    /// Number of an [`Origin`](super::Origin).
    origin: u64 = ORIGIN,
    /// Cost of the route.
    cost: u64 = COST,
    /// [`CHILD_INHERIT`](super::CHILD_INHERIT), [`CAPTURE`](super::CAPTURE) or their sum.
    flags: u64 = FLAGS,
    /// Time until the route expires.
    expiration_period: Option<Duration> = EXPIRATION_PERIOD,
}

record! {
    /// A record of `rib/list`.
    RibEntry: Some(RECORD);
    /// The prefix.
    name: Name = typ::NAME,
    /// Its routes.
    routes: Vec<Route> = INNER_RECORD,
}

record! {
    /// A record of `fib/list`.
    FibEntry: Some(RECORD);
    /// The prefix.
    name: Name = typ::NAME,
    /// Faces and their costs.
    next_hops: Vec<(u64, u64)> = INNER_RECORD,
}

/// A next hop: face and cost.
impl Record for (u64, u64) {
    const TYPE: Option<u64> = Some(INNER_RECORD);

    fn put(&self, out: &mut Elements) {
        self.0.put(FACE_ID, out);
        self.1.put(COST, out);
    }

    fn take(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok((Value::read(FACE_ID, fields)?, Value::read(COST, fields)?))
    }
}

record! {
    /// A record of `strategy-choice/list`.
    StrategyChoice: Some(RECORD);
    /// The prefix.
    name: Name = typ::NAME,
    /// The strategy's name.
    strategy: Name = STRATEGY,
}

record! {
    /// The record of `cs/info`.
    #[derive(Copy)]
    CsInfo: Some(RECORD);
    /// Capacity, in packets.
    capacity: u64 = CAPACITY,
    /// [`CS_ADMIT`](super::CS_ADMIT), [`CS_SERVE`](super::CS_SERVE) or their sum.
    flags: u64 = FLAGS,
    /// Packets stored.
    entries: u64 = N_CS,
    /// Interests answered from the content store.
    hits: u64 = CS_HITS,
    /// Interests not answered from it.
    misses: u64 = CS_MISSES,
}

record! {
    /// The record of `status/general`.
    #[derive(Default)]
    GeneralStatus: None;
    /// Name and version of the forwarder.
    version: String = VERSION,
    /// Start time, in milliseconds since 1970.
    start_millis: u64 = START_TIME,
    /// Current time, in milliseconds since 1970.
    now_millis: u64 = CURRENT_TIME,
    /// Entries of the name tree.
    name_tree_entries: u64 = N_NAME_TREE,
    /// Prefixes with next hops.
    fib_entries: u64 = N_FIB,
    /// Pending Interests.
    pit_entries: u64 = N_PIT,
    /// Entries of the measurements table.
    measurement_entries: u64 = N_MEASUREMENTS,
    /// Data in the content store.
    cs_entries: u64 = N_CS,
    /// Counters of all faces; their bytes are not reported.
    counters: FaceCounters = N_IN_INTERESTS,
    /// Interests answered.
    satisfied: u64 = N_SATISFIED,
    /// Interests expired.
    unsatisfied: u64 = N_UNSATISFIED,
}

#[cfg(test)]
mod tests {
    use super::super::{CONGESTION_MARKING, FaceProfile, FaceStatus, LinkType, Persistency};
    use super::*;

    fn face() -> FaceStatus {
        FaceStatus {
            profile: FaceProfile {
                face_id: 262,
                uri: "udp4://192.0.2.7:6363".into(),
                local_uri: "udp4://192.0.2.1:6363".into(),
                local: false,
                persistency: Persistency::Permanent,
                link_type: LinkType::MultiAccess,
                flags: CONGESTION_MARKING,
            },
            expiration_period: Some(Duration::from_millis(70_000)),
            marking_interval: Some(Duration::from_millis(100)),
            marking_threshold: Some(65_536),
            mtu: Some(1_400),
            down: false,
            counters: FaceCounters { in_interests: 300, out_bytes: 70_000, ..Default::default() },
        }
    }

    fn rib() -> RibEntry {
        let route = Route {
            face_id: 7,
            origin: 65,
            cost: 10,
            flags: 3,
            expiration_period: Some(Duration::from_secs(1)),
        };
        let last = Route { expiration_period: None, ..route.clone() };
        RibEntry { name: "/a/b".parse().unwrap(), routes: vec![route, last] }
    }

    fn fib() -> FibEntry {
        FibEntry { name: Name::root(), next_hops: vec![(1, 0), (400, 70_000)] }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let down = FaceStatus { down: true, ..face() };
        let faces = encode_records([face(), down.clone()]);
        assert_eq!(decode_records::<FaceStatus>(&faces).unwrap(), [face(), down.clone()]);
        // NFD's clients read the fields in order and ignore what follows the last one.
        let fields = |face: &FaceStatus| {
            let mut out = Elements::default();
            face.put(&mut out);
            out.0
        };
        assert!(fields(&down).starts_with(&fields(&face())));
        assert_eq!(decode_records::<RibEntry>(&encode_records([rib()])).unwrap(), [rib()]);
        assert_eq!(decode_records::<FibEntry>(&encode_records([fib()])).unwrap(), [fib()]);
        let choice = StrategyChoice {
            name: "/x".parse().unwrap(),
            strategy: "/localhost/nfd/strategy/best-route/v=5".parse().unwrap(),
        };
        let read = decode_records::<StrategyChoice>(&encode_records([choice.clone()]));
        assert_eq!(read.unwrap(), [choice]);
        let info = CsInfo { capacity: 65_536, flags: 3, entries: 9, hits: 300, misses: 4 };
        assert_eq!(decode_records::<CsInfo>(&encode_records([info])).unwrap(), [info]);
        let status = GeneralStatus {
            version: "recoup 1".into(),
            start_millis: 1_700_000_000_000,
            satisfied: 4,
            ..GeneralStatus::default()
        };
        let read = decode_records::<GeneralStatus>(&encode_records([status.clone()]));
        assert_eq!(read.unwrap(), [status]);
    }

    #[test]
    fn face_is_encoded_in_protocol_order() {
        let bytes = encode_records([face()]);
        let mut reader = recoup_packet::tlv::Reader::new(&bytes);
        let mut inner = reader.read().unwrap().unwrap().reader();
        let types: Vec<_> = std::iter::from_fn(|| inner.read().unwrap().map(|it| it.typ)).collect();
        let expected = [
            105, 114, 129, 109, 132, 133, 134, 135, 136, 137, 144, 145, 151, 146, 147, 152, 148,
            149, 108,
        ];
        assert_eq!(types, expected);
    }
}
