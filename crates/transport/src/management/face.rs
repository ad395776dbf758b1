//! What forwarders tell about faces: records of `faces/list`, `faces/query` and `faces/channels`, and notifications.
//!
//! Source: NFD's wiki page "FaceMgmt"; ndn-cxx, `mgmt/nfd/face-status.cpp`, `face-event-notification.cpp`,
//! `face-query-filter.cpp`, `channel-status.cpp`.
use super::element::{Elements, Fields};
use super::record::Record;
use super::typ::{
    CHANNEL_STATUS, EXPIRATION_PERIOD, FACE_EVENT, FACE_EVENT_KIND, FACE_ID, FACE_PERSISTENCY,
    FACE_QUERY_FILTER, FACE_SCOPE, FLAGS, LINK_TYPE, LOCAL_URI, MARKING_INTERVAL,
    MARKING_THRESHOLD, MTU, N_IN_BYTES, N_IN_DATA, N_IN_INTERESTS, N_IN_NACKS, N_OUT_BYTES,
    N_OUT_DATA, N_OUT_INTERESTS, N_OUT_NACKS, RECORD, URI, URI_SCHEME,
};
use super::uri::canonical_uri;
use recoup_packet::tlv::{DecodeError, Reader};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a face stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Persistency {
    /// Until it is destroyed, or fails where it cannot be opened again.
    Persistent = 0,
    /// A peer opened it: until that is silent for long or goes.
    OnDemand = 1,
    /// Until it is destroyed; it is opened again whenever it breaks.
    Permanent = 2,
}

impl Persistency {
    /// The one of this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Persistent, Self::OnDemand, Self::Permanent]
            .into_iter()
            .find(|it| *it as u64 == number)
    }

    /// As `nfdc` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Persistent => "persistent",
            Self::OnDemand => "on-demand",
            Self::Permanent => "permanent",
        }
    }
}

/// Who hears what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkType {
    /// One peer.
    #[default]
    PointToPoint = 0,
    /// Several, all of them.
    MultiAccess = 1,
    /// Several, not always all of them.
    AdHoc = 2,
}

impl LinkType {
    /// The one of this number; a number that means none is the first.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::MultiAccess,
            2 => Self::AdHoc,
            _ => Self::PointToPoint,
        }
    }

    /// Whether several hear what is sent.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        !matches!(self, Self::PointToPoint)
    }

    /// As `nfdc` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "point-to-point",
            Self::MultiAccess => "multi-access",
            Self::AdHoc => "ad-hoc",
        }
    }
}

/// What a face has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceCounters {
    /// Interests that came.
    pub in_interests: u64,
    /// Data that came.
    pub in_data: u64,
    /// Nacks that came.
    pub in_nacks: u64,
    /// Interests that left.
    pub out_interests: u64,
    /// Data that left.
    pub out_data: u64,
    /// Nacks that left.
    pub out_nacks: u64,
    /// Octets of frames that came.
    pub in_octets: u64,
    /// Octets of frames that left.
    pub out_octets: u64,
}

impl FaceCounters {
    /// What another face, or the same one at another time, carried comes on top.
    pub fn add(&mut self, other: &Self) {
        self.in_interests += other.in_interests;
        self.in_data += other.in_data;
        self.in_nacks += other.in_nacks;
        self.out_interests += other.out_interests;
        self.out_data += other.out_data;
        self.out_nacks += other.out_nacks;
        self.in_octets += other.in_octets;
        self.out_octets += other.out_octets;
    }

    pub(super) fn write_packets(&self, out: &mut Elements) {
        out.number(N_IN_INTERESTS, self.in_interests);
        out.number(N_IN_DATA, self.in_data);
        out.number(N_IN_NACKS, self.in_nacks);
        out.number(N_OUT_INTERESTS, self.out_interests);
        out.number(N_OUT_DATA, self.out_data);
        out.number(N_OUT_NACKS, self.out_nacks);
    }

    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            in_interests: fields.required(N_IN_INTERESTS)?,
            in_data: fields.required(N_IN_DATA)?,
            in_nacks: fields.required(N_IN_NACKS)?,
            out_interests: fields.required(N_OUT_INTERESTS)?,
            out_data: fields.required(N_OUT_DATA)?,
            out_nacks: fields.required(N_OUT_NACKS)?,
            in_octets: fields.number(N_IN_BYTES)?.unwrap_or_default(),
            out_octets: fields.number(N_OUT_BYTES)?.unwrap_or_default(),
        })
    }
}

/// What a face is, apart from what it carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceProfile {
    /// Its number.
    pub face_id: u64,
    /// Where it leads.
    pub uri: String,
    /// Its end on the forwarder's machine.
    pub local_uri: String,
    /// The other end is on the same machine.
    pub local: bool,
    /// How long it stays.
    pub persistency: Persistency,
    /// Who hears what is sent.
    pub link_type: LinkType,
    /// [`LOCAL_FIELDS`](super::LOCAL_FIELDS) and so on.
    pub flags: u64,
}

impl FaceProfile {
    fn write_uris(&self, out: &mut Elements) {
        out.number(FACE_ID, self.face_id);
        out.text(URI, &self.uri);
        out.text(LOCAL_URI, &self.local_uri);
    }

    fn write_kind(&self, out: &mut Elements) {
        out.number(FACE_SCOPE, u64::from(self.local));
        out.number(FACE_PERSISTENCY, self.persistency as u64);
        out.number(LINK_TYPE, self.link_type as u64);
    }

    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let persistency = fields.required(FACE_PERSISTENCY)?;
        Ok(Self {
            face_id: fields.required(FACE_ID)?,
            uri: fields.text(URI)?.unwrap_or_default(),
            local_uri: fields.text(LOCAL_URI)?.unwrap_or_default(),
            local: fields.required(FACE_SCOPE)? == 1,
            persistency: Persistency::from_number(persistency).unwrap_or(Persistency::Persistent),
            link_type: LinkType::from_number(fields.required(LINK_TYPE)?),
            flags: fields.required(FLAGS)?,
        })
    }
}

/// A record of `faces/list` and `faces/query`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceStatus {
    /// What it is.
    pub profile: FaceProfile,
    /// When it ends if it stays silent.
    pub expiration_period: Option<Duration>,
    /// How long a queue may be too long before packets are marked.
    pub marking_interval: Option<Duration>,
    /// From which length on, in octets, a queue is too long.
    pub marking_threshold: Option<u64>,
    /// Longest frame, in octets.
    pub mtu: Option<u64>,
    /// What it carried.
    pub counters: FaceCounters,
}

impl Record for FaceStatus {
    const TYPE: Option<u64> = Some(RECORD);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        self.profile.write_uris(&mut out);
        out.millis(EXPIRATION_PERIOD, self.expiration_period);
        self.profile.write_kind(&mut out);
        out.nanos(MARKING_INTERVAL, self.marking_interval);
        out.number(MARKING_THRESHOLD, self.marking_threshold);
        out.number(MTU, self.mtu);
        self.counters.write_packets(&mut out);
        out.number(N_IN_BYTES, self.counters.in_octets);
        out.number(N_OUT_BYTES, self.counters.out_octets);
        out.number(FLAGS, self.profile.flags);
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(fields, RECORD)?;
        Ok(Self {
            profile: FaceProfile::read(&fields)?,
            expiration_period: fields.millis(EXPIRATION_PERIOD)?,
            marking_interval: fields.nanos(MARKING_INTERVAL)?,
            marking_threshold: fields.number(MARKING_THRESHOLD)?,
            mtu: fields.number(MTU)?,
            counters: FaceCounters::read(&fields)?,
        })
    }
}

/// What happened to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceEventKind {
    /// It is there.
    Created = 1,
    /// It is gone for good.
    Destroyed = 2,
    /// It is usable again.
    Up = 3,
    /// It is not usable for now.
    Down = 4,
}

/// A notification of `faces/events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceEvent {
    /// What happened.
    pub kind: FaceEventKind,
    /// To which face.
    pub profile: FaceProfile,
}

impl FaceEvent {
    /// The notification as the content of its Data.
    #[must_use]
    pub fn to_content(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.nested(FACE_EVENT, |out| {
            out.number(FACE_EVENT_KIND, self.kind as u64);
            self.profile.write_uris(out);
            self.profile.write_kind(out);
            out.number(FLAGS, self.profile.flags);
        });
        out.0
    }

    /// Reads the content of a notification.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn from_content(octets: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(octets).expect(FACE_EVENT, "a face event")?;
        let fields = Fields::of(&element)?;
        let kind = match fields.required(FACE_EVENT_KIND)? {
            1 => FaceEventKind::Created,
            2 => FaceEventKind::Destroyed,
            3 => FaceEventKind::Up,
            4 => FaceEventKind::Down,
            _ => return Err(element.error("one of four kinds of face events")),
        };
        Ok(Self { kind, profile: FaceProfile::read(&fields)? })
    }
}

/// Which faces `faces/query` asks for: those of which everything is true that it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceFilter {
    /// The face of this number.
    pub face_id: Option<u64>,
    /// Those whose URI, or local URI, begins with this scheme.
    pub uri_scheme: Option<String>,
    /// Those that lead there, whether it says the family of the address and the port or not.
    pub uri: Option<String>,
    /// Those with this local URI, likewise.
    pub local_uri: Option<String>,
    /// Those that are local, or not.
    pub scope: Option<u64>,
    /// Those of this persistency.
    pub persistency: Option<u64>,
    /// Those of this type of link.
    pub link_type: Option<u64>,
}

impl FaceFilter {
    /// The whole element, for the name of the question.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.nested(FACE_QUERY_FILTER, |out| {
            out.number(FACE_ID, self.face_id);
            self.uri_scheme.iter().for_each(|text| out.text(URI_SCHEME, text));
            self.uri.iter().for_each(|text| out.text(URI, text));
            self.local_uri.iter().for_each(|text| out.text(LOCAL_URI, text));
            out.number(FACE_SCOPE, self.scope);
            out.number(FACE_PERSISTENCY, self.persistency);
            out.number(LINK_TYPE, self.link_type);
        });
        out.0
    }

    /// Reads the whole element.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(octets: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(octets).expect(FACE_QUERY_FILTER, "a filter of faces")?;
        let fields = Fields::of(&element)?;
        Ok(Self {
            face_id: fields.number(FACE_ID)?,
            uri_scheme: fields.text(URI_SCHEME)?,
            uri: fields.text(URI)?,
            local_uri: fields.text(LOCAL_URI)?,
            scope: fields.number(FACE_SCOPE)?,
            persistency: fields.number(FACE_PERSISTENCY)?,
            link_type: fields.number(LINK_TYPE)?,
        })
    }

    /// Whether a face is asked for.
    #[must_use]
    pub fn accepts(&self, face: &FaceProfile) -> bool {
        let is = |wanted: Option<u64>, found: u64| wanted.is_none_or(|wanted| wanted == found);
        let reads = |wanted: &Option<String>, found: &str| {
            wanted.iter().all(|it| canonical_uri(it) == found)
        };
        let has_scheme = |uri: &str, scheme: &str| {
            uri.strip_prefix(scheme).is_some_and(|rest| rest.starts_with("://"))
        };
        let scheme = self.uri_scheme.iter();
        is(self.face_id, face.face_id)
            && is(self.scope, u64::from(face.local))
            && is(self.persistency, face.persistency as u64)
            && is(self.link_type, face.link_type as u64)
            && reads(&self.uri, &face.uri)
            && reads(&self.local_uri, &face.local_uri)
            && scheme
                .into_iter()
                .all(|scheme| has_scheme(&face.uri, scheme) || has_scheme(&face.local_uri, scheme))
    }
}

/// A record of `faces/channels`: where peers can open faces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Where.
    pub local_uri: String,
}

impl Record for ChannelStatus {
    const TYPE: Option<u64> = Some(CHANNEL_STATUS);

    fn fields(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.text(LOCAL_URI, &self.local_uri);
        out.0
    }

    fn from_fields(fields: &[u8]) -> Result<Self, DecodeError> {
        let local_uri = Fields::new(fields, CHANNEL_STATUS)?.text(LOCAL_URI)?;
        Ok(Self { local_uri: local_uri.unwrap_or_default() })
    }
}
