//! Records of the datasets of a forwarder.
//!
//! Source: NFD's wiki pages "FibMgmt", "RibMgmt", "StrategyChoice", "CsMgmt", "ForwarderStatus"; ndn-cxx,
//! `mgmt/nfd/*-status.cpp`.
use super::element::{Elements, Fields};
use super::face::FaceCounters;
use super::typ::{
    CAPACITY, COST, CS_HITS, CS_MISSES, CURRENT_TIME, EXPIRATION_PERIOD, FACE_ID, FLAGS,
    INNER_RECORD, N_CS, N_FIB, N_MEASUREMENTS, N_NAME_TREE, N_PIT, N_SATISFIED, N_UNSATISFIED,
    ORIGIN, RECORD, START_TIME, VERSION,
};
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, Reader, Tlv};
use std::time::Duration;

/// A record of a dataset.
pub trait Record: Sized {
    /// TLV-TYPE of the record; `None`: the dataset consists of the fields of a single record.
    const TYPE: Option<u64>;

    /// Encoded fields, in protocol order.
    #[doc(hidden)]
    fn fields(&self) -> Vec<u8>;

    /// Decodes the fields.
    ///
    /// # Errors
    /// A mandatory field is missing, or a field is malformed.
    #[doc(hidden)]
    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError>;
}

/// Encodes records as the content of a dataset.
pub fn encode_records<R: Record>(records: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut out = Elements::default();
    for record in records {
        match R::TYPE {
            Some(typ) => out.nested(typ, |inner| inner.0 = record.fields()),
            None => out.0.extend(record.fields()),
        }
    }
    out.0
}

/// Decodes the content of a dataset. Unknown elements between the records are skipped.
///
/// # Errors
/// [`DecodeError`].
pub fn decode_records<R: Record>(bytes: &[u8]) -> Result<Vec<R>, DecodeError> {
    let Some(typ) = R::TYPE else {
        return Ok(vec![R::from_fields(bytes)?]);
    };
    let mut reader = Reader::new(bytes);
    let mut records = Vec::new();
    while let Some(element) = reader.read()? {
        if element.typ == typ {
            records.push(R::from_fields(element.value)?);
        }
    }
    Ok(records)
}

/// A route of a RIB entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Next hop of the route.
    pub face_id: u64,
    /// Number of an [`Origin`](super::Origin).
    pub origin: u64,
    /// Cost of the route.
    pub cost: u64,
    /// [`CHILD_INHERIT`](super::CHILD_INHERIT), [`CAPTURE`](super::CAPTURE) or their sum.
    pub flags: u64,
    /// Time until the route expires.
    pub expiration_period: Option<Duration>,
}

/// A record of `rib/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RibEntry {
    /// The prefix.
    pub name: Name,
    /// Its routes.
    pub routes: Vec<Route>,
}

impl Record for RibEntry {
    const TYPE: Option<u64> = Some(RECORD);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.name(&self.name);
        for route in &self.routes {
            out.nested(INNER_RECORD, |out| {
                out.number(FACE_ID, route.face_id);
                out.number(ORIGIN, route.origin);
                out.number(COST, route.cost);
                out.number(FLAGS, route.flags);
                out.millis(EXPIRATION_PERIOD, route.expiration_period);
            });
        }
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, RECORD)?;
        let route = |element: Tlv<'_>| {
            let fields = Fields::of(&element)?;
            Ok(Route {
                face_id: fields.required(FACE_ID)?,
                origin: fields.required(ORIGIN)?,
                cost: fields.required(COST)?,
                flags: fields.required(FLAGS)?,
                expiration_period: fields.millis(EXPIRATION_PERIOD)?,
            })
        };
        let routes = fields.all(INNER_RECORD).map(route).collect::<Result<_, DecodeError>>()?;
        Ok(Self { name: fields.name()?.unwrap_or_default(), routes })
    }
}

/// A record of `fib/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibEntry {
    /// The prefix.
    pub name: Name,
    /// Faces and their costs.
    pub next_hops: Vec<(u64, u64)>,
}

impl Record for FibEntry {
    const TYPE: Option<u64> = Some(RECORD);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.name(&self.name);
        for (face, cost) in &self.next_hops {
            out.nested(INNER_RECORD, |out| {
                out.number(FACE_ID, *face);
                out.number(COST, *cost);
            });
        }
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, RECORD)?;
        let hop = |element: Tlv<'_>| {
            let fields = Fields::of(&element)?;
            Ok((fields.required(FACE_ID)?, fields.required(COST)?))
        };
        let next_hops = fields.all(INNER_RECORD).map(hop).collect::<Result<_, DecodeError>>()?;
        Ok(Self { name: fields.name()?.unwrap_or_default(), next_hops })
    }
}

/// A record of `strategy-choice/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyChoice {
    /// The prefix.
    pub name: Name,
    /// The strategy's name.
    pub strategy: Name,
}

impl Record for StrategyChoice {
    const TYPE: Option<u64> = Some(RECORD);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.name(&self.name);
        out.strategy(&self.strategy);
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, RECORD)?;
        let (name, strategy) = (fields.name()?, fields.strategy()?);
        Ok(Self { name: name.unwrap_or_default(), strategy: strategy.unwrap_or_default() })
    }
}

/// The record of `cs/info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsInfo {
    /// Capacity, in packets.
    pub capacity: u64,
    /// [`CS_ADMIT`](super::CS_ADMIT), [`CS_SERVE`](super::CS_SERVE) or their sum.
    pub flags: u64,
    /// Packets stored.
    pub entries: u64,
    /// Interests answered from the content store.
    pub hits: u64,
    /// Interests not answered from it.
    pub misses: u64,
}

impl Record for CsInfo {
    const TYPE: Option<u64> = Some(RECORD);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.number(CAPACITY, self.capacity);
        out.number(FLAGS, self.flags);
        out.number(N_CS, self.entries);
        out.number(CS_HITS, self.hits);
        out.number(CS_MISSES, self.misses);
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, RECORD)?;
        Ok(Self {
            capacity: fields.required(CAPACITY)?,
            flags: fields.required(FLAGS)?,
            entries: fields.required(N_CS)?,
            hits: fields.required(CS_HITS)?,
            misses: fields.required(CS_MISSES)?,
        })
    }
}

/// The record of `status/general`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneralStatus {
    /// Name and version of the forwarder.
    pub version: String,
    /// Start time, in milliseconds since 1970.
    pub start_millis: u64,
    /// Current time, in milliseconds since 1970.
    pub now_millis: u64,
    /// Entries of the name tree.
    pub name_tree_entries: u64,
    /// Prefixes with next hops.
    pub fib_entries: u64,
    /// Pending Interests.
    pub pit_entries: u64,
    /// Entries of the measurements table.
    pub measurement_entries: u64,
    /// Data in the content store.
    pub cs_entries: u64,
    /// Counters of all faces; their bytes are not reported.
    pub counters: FaceCounters,
    /// Interests answered.
    pub satisfied: u64,
    /// Interests expired.
    pub unsatisfied: u64,
}

impl Record for GeneralStatus {
    const TYPE: Option<u64> = None;

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.text(VERSION, &self.version);
        out.number(START_TIME, self.start_millis);
        out.number(CURRENT_TIME, self.now_millis);
        out.number(N_NAME_TREE, self.name_tree_entries);
        out.number(N_FIB, self.fib_entries);
        out.number(N_PIT, self.pit_entries);
        out.number(N_MEASUREMENTS, self.measurement_entries);
        out.number(N_CS, self.cs_entries);
        self.counters.write_packets(&mut out);
        out.number(N_SATISFIED, self.satisfied);
        out.number(N_UNSATISFIED, self.unsatisfied);
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, 0)?;
        Ok(Self {
            version: fields.text(VERSION)?.unwrap_or_default(),
            start_millis: fields.required(START_TIME)?,
            now_millis: fields.required(CURRENT_TIME)?,
            name_tree_entries: fields.required(N_NAME_TREE)?,
            fib_entries: fields.required(N_FIB)?,
            pit_entries: fields.required(N_PIT)?,
            measurement_entries: fields.required(N_MEASUREMENTS)?,
            cs_entries: fields.required(N_CS)?,
            counters: FaceCounters::read(&fields)?,
            satisfied: fields.required(N_SATISFIED)?,
            unsatisfied: fields.required(N_UNSATISFIED)?,
        })
    }
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
        assert!(down.fields().starts_with(&face().fields()));
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

    #[test]
    fn truncations_and_bit_flips_are_errors_or_records() {
        let bytes = [encode_records([face()]), encode_records([rib()]), encode_records([fib()])];
        for bytes in bytes {
            for at in 0..bytes.len() {
                assert!(at == 0 || decode_records::<FaceStatus>(&bytes[..at]).is_err());
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 1 << bit;
                    let _ = decode_records::<FaceStatus>(&flipped);
                    let _ = decode_records::<RibEntry>(&flipped);
                    let _ = decode_records::<FibEntry>(&flipped);
                    let _ = decode_records::<GeneralStatus>(&flipped);
                }
            }
        }
    }
}
