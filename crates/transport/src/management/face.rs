//! Faces in management: records of `faces/list`, `faces/query` and `faces/channels`, and notifications.
//!
//! Source: NFD's wiki page "FaceMgmt"; ndn-cxx, `mgmt/nfd/face-status.cpp`, `face-event-notification.cpp`,
//! `face-query-filter.cpp`, `channel-status.cpp`.
//!
//! Difference: a record has an additional empty element at its end if the face is down. Clients of NFD ignore it.
use super::element::{Elements, Fields};
use super::record::Record;
use super::typ::{
    CHANNEL_STATUS, EXPIRATION_PERIOD, FACE_DOWN, FACE_EVENT, FACE_EVENT_KIND, FACE_ID,
    FACE_PERSISTENCY, FACE_QUERY_FILTER, FACE_SCOPE, FLAGS, LINK_TYPE, LOCAL_URI, MARKING_INTERVAL,
    MARKING_THRESHOLD, MTU, N_IN_BYTES, N_IN_DATA, N_IN_INTERESTS, N_IN_NACKS, N_OUT_BYTES,
    N_OUT_DATA, N_OUT_INTERESTS, N_OUT_NACKS, RECORD, URI, URI_SCHEME,
};
use super::uri::canonical_uri;
use recoup_packet::tlv::{DecodeError, Reader};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Persistency of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Persistency {
    /// The face stays until it is destroyed, or fails and cannot be opened again.
    Persistent = 0,
    /// A peer opened the face: it stays until the peer is idle for long or leaves.
    OnDemand = 1,
    /// The face stays until it is destroyed; it is opened again after each failure.
    Permanent = 2,
}

impl Persistency {
    /// The persistency of this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Persistent, Self::OnDemand, Self::Permanent]
            .into_iter()
            .find(|it| *it as u64 == number)
    }

    /// Name in `nfdc`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Persistent => "persistent",
            Self::OnDemand => "on-demand",
            Self::Permanent => "permanent",
        }
    }
}

/// Receivers of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkType {
    /// A single peer.
    #[default]
    PointToPoint = 0,
    /// All of several peers.
    MultiAccess = 1,
    /// Several peers, not always all of them.
    AdHoc = 2,
}

impl LinkType {
    /// The link type of this number; the first one for unknown numbers.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::MultiAccess,
            2 => Self::AdHoc,
            _ => Self::PointToPoint,
        }
    }

    /// Whether a link has several receivers.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        !matches!(self, Self::PointToPoint)
    }

    /// Name in `nfdc`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "point-to-point",
            Self::MultiAccess => "multi-access",
            Self::AdHoc => "ad-hoc",
        }
    }
}

/// Traffic counters of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceCounters {
    /// Interests received.
    pub in_interests: u64,
    /// Data received.
    pub in_data: u64,
    /// Nacks received.
    pub in_nacks: u64,
    /// Interests sent.
    pub out_interests: u64,
    /// Data sent.
    pub out_data: u64,
    /// Nacks sent.
    pub out_nacks: u64,
    /// Bytes of frames received.
    pub in_bytes: u64,
    /// Bytes of frames sent.
    pub out_bytes: u64,
}

impl FaceCounters {
    /// Adds the counters of another face, or of the same face in another period.
    pub fn add(&mut self, other: &Self) {
        self.in_interests += other.in_interests;
        self.in_data += other.in_data;
        self.in_nacks += other.in_nacks;
        self.out_interests += other.out_interests;
        self.out_data += other.out_data;
        self.out_nacks += other.out_nacks;
        self.in_bytes += other.in_bytes;
        self.out_bytes += other.out_bytes;
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
            in_bytes: fields.number(N_IN_BYTES)?.unwrap_or_default(),
            out_bytes: fields.number(N_OUT_BYTES)?.unwrap_or_default(),
        })
    }
}

/// Properties of a face, without its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceProfile {
    /// Number of the face.
    pub face_id: u64,
    /// Remote URI.
    pub uri: String,
    /// Local URI.
    pub local_uri: String,
    /// Whether the peer is on the same machine.
    pub local: bool,
    /// Persistency of the face.
    pub persistency: Persistency,
    /// Receivers of the link.
    pub link_type: LinkType,
    /// Flags: [`LOCAL_FIELDS`](super::LOCAL_FIELDS) and others.
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
    /// The face.
    pub profile: FaceProfile,
    /// Time until the face expires if it stays idle.
    pub expiration_period: Option<Duration>,
    /// Duration of congestion before packets are marked.
    pub marking_interval: Option<Duration>,
    /// Queue length in bytes above which the queue is congested.
    pub marking_threshold: Option<u64>,
    /// Longest frame, in bytes.
    pub mtu: Option<u64>,
    /// The face is known to be down: held down, or without a link.
    pub down: bool,
    /// Traffic counters.
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
        out.number(N_IN_BYTES, self.counters.in_bytes);
        out.number(N_OUT_BYTES, self.counters.out_bytes);
        out.number(FLAGS, self.profile.flags);
        if self.down {
            out.nested(FACE_DOWN, |_| ());
        }
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
            down: fields.has(FACE_DOWN),
            counters: FaceCounters::read(&fields)?,
        })
    }
}

/// Kind of a face event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceEventKind {
    /// The face was created.
    Created = 1,
    /// The face was destroyed.
    Destroyed = 2,
    /// The face is up again.
    Up = 3,
    /// The face is down.
    Down = 4,
}

/// A notification of `faces/events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceEvent {
    /// The kind of event.
    pub kind: FaceEventKind,
    /// The face.
    pub profile: FaceProfile,
}

impl FaceEvent {
    /// Encodes the notification as the content of its Data.
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

    /// Decodes the content of a notification.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn from_content(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(bytes).expect(FACE_EVENT, "a face event")?;
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

/// Filter of `faces/query`: faces that match all given fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceFilter {
    /// Number of the face.
    pub face_id: Option<u64>,
    /// Scheme of the remote or the local URI.
    pub uri_scheme: Option<String>,
    /// Remote URI; address family and port may be omitted.
    pub uri: Option<String>,
    /// Local URI; address family and port may be omitted.
    pub local_uri: Option<String>,
    /// Scope: local or not.
    pub scope: Option<u64>,
    /// Persistency.
    pub persistency: Option<u64>,
    /// Link type.
    pub link_type: Option<u64>,
}

impl FaceFilter {
    /// Encodes the whole element, for the name of the Interest.
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

    /// Decodes the whole element.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(bytes).expect(FACE_QUERY_FILTER, "a filter of faces")?;
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

    /// Whether a face matches.
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

/// A record of `faces/channels`: an address at which peers can open faces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Local URI.
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
