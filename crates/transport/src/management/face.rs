//! Faces in management: records of `faces/list`, `faces/query` and `faces/channels`, and notifications.
//!
//! Source: NFD's wiki page "FaceMgmt"; ndn-cxx, `mgmt/nfd/face-status.cpp`, `face-event-notification.cpp`,
//! `face-query-filter.cpp`, `channel-status.cpp`.
//!
//! Difference: a record has an additional empty element at its end if the face is down. Clients of NFD ignore it.
use super::element::{Elements, Fields, Record, Value, record};
use super::typ::{
    CHANNEL_STATUS, EXPIRATION_PERIOD, FACE_DOWN, FACE_EVENT, FACE_EVENT_KIND, FACE_ID,
    FACE_PERSISTENCY, FACE_QUERY_FILTER, FACE_SCOPE, FLAGS, LINK_TYPE, LOCAL_URI, MARKING_INTERVAL,
    MARKING_THRESHOLD, MTU, N_IN_BYTES, N_IN_DATA, N_IN_INTERESTS, N_IN_NACKS, N_OUT_BYTES,
    N_OUT_DATA, N_OUT_INTERESTS, N_OUT_NACKS, RECORD, URI, URI_SCHEME,
};
use super::uri::canonical_uri;
use recoup_packet::tlv::{DecodeError, Reader};
use std::time::Duration;

/// Persistency of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
}

/// Counters of packets. A record of a face has the counters of bytes after them.
impl Value for FaceCounters {
    fn put(&self, _: u64, out: &mut Elements) {
        self.in_interests.put(N_IN_INTERESTS, out);
        self.in_data.put(N_IN_DATA, out);
        self.in_nacks.put(N_IN_NACKS, out);
        self.out_interests.put(N_OUT_INTERESTS, out);
        self.out_data.put(N_OUT_DATA, out);
        self.out_nacks.put(N_OUT_NACKS, out);
    }

    fn read(_: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            in_interests: Value::read(N_IN_INTERESTS, fields)?,
            in_data: Value::read(N_IN_DATA, fields)?,
            in_nacks: Value::read(N_IN_NACKS, fields)?,
            out_interests: Value::read(N_OUT_INTERESTS, fields)?,
            out_data: Value::read(N_OUT_DATA, fields)?,
            out_nacks: Value::read(N_OUT_NACKS, fields)?,
            in_bytes: Option::read(N_IN_BYTES, fields)?.unwrap_or_default(),
            out_bytes: Option::read(N_OUT_BYTES, fields)?.unwrap_or_default(),
        })
    }
}

impl Value for Persistency {
    fn put(&self, typ: u64, out: &mut Elements) {
        (*self as u64).put(typ, out);
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self::from_number(u64::read(typ, fields)?).unwrap_or(Self::Persistent))
    }
}

impl Value for LinkType {
    fn put(&self, typ: u64, out: &mut Elements) {
        (*self as u64).put(typ, out);
    }

    fn read(typ: u64, fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self::from_number(u64::read(typ, fields)?))
    }
}

record! {
    /// Properties of a face, without its counters.
    FaceProfile: None;
    /// Number of the face.
    face_id: u64 = FACE_ID,
    /// Remote URI.
    uri: String = URI,
    /// Local URI.
    local_uri: String = LOCAL_URI,
    /// Whether the peer is on the same machine.
    local: bool = FACE_SCOPE,
    /// Persistency of the face.
    persistency: Persistency = FACE_PERSISTENCY,
    /// Receivers of the link.
    link_type: LinkType = LINK_TYPE,
    /// Flags: [`LOCAL_FIELDS`](super::LOCAL_FIELDS) and others.
    flags: u64 = FLAGS,
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

    fn put(&self, out: &mut Elements) {
        let Self { profile, counters, .. } = self;
        profile.face_id.put(FACE_ID, out);
        profile.uri.put(URI, out);
        profile.local_uri.put(LOCAL_URI, out);
        self.expiration_period.put(EXPIRATION_PERIOD, out);
        profile.local.put(FACE_SCOPE, out);
        profile.persistency.put(FACE_PERSISTENCY, out);
        profile.link_type.put(LINK_TYPE, out);
        self.marking_interval.put(MARKING_INTERVAL, out);
        self.marking_threshold.put(MARKING_THRESHOLD, out);
        self.mtu.put(MTU, out);
        counters.put(N_IN_INTERESTS, out);
        counters.in_bytes.put(N_IN_BYTES, out);
        counters.out_bytes.put(N_OUT_BYTES, out);
        profile.flags.put(FLAGS, out);
        if self.down {
            out.nested(FACE_DOWN, |_| ());
        }
    }

    fn take(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            profile: Record::take(fields)?,
            expiration_period: Value::read(EXPIRATION_PERIOD, fields)?,
            marking_interval: Value::read(MARKING_INTERVAL, fields)?,
            marking_threshold: Value::read(MARKING_THRESHOLD, fields)?,
            mtu: Value::read(MTU, fields)?,
            down: fields.has(FACE_DOWN),
            counters: Value::read(N_IN_INTERESTS, fields)?,
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
            (self.kind as u64).put(FACE_EVENT_KIND, out);
            self.profile.put(out);
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
        let kind = match u64::read(FACE_EVENT_KIND, &fields)? {
            1 => FaceEventKind::Created,
            2 => FaceEventKind::Destroyed,
            3 => FaceEventKind::Up,
            4 => FaceEventKind::Down,
            _ => return Err(element.error("one of four kinds of face events")),
        };
        Ok(Self { kind, profile: Record::take(&fields)? })
    }
}

record! {
    /// Filter of `faces/query`: faces that match all given fields.
    #[derive(Default)]
    FaceFilter: Some(FACE_QUERY_FILTER);
    /// Number of the face.
    face_id: Option<u64> = FACE_ID,
    /// Scheme of the remote or the local URI.
    uri_scheme: Option<String> = URI_SCHEME,
    /// Remote URI; address family and port may be omitted.
    uri: Option<String> = URI,
    /// Local URI; address family and port may be omitted.
    local_uri: Option<String> = LOCAL_URI,
    /// Scope: local or not.
    scope: Option<u64> = FACE_SCOPE,
    /// Persistency.
    persistency: Option<u64> = FACE_PERSISTENCY,
    /// Link type.
    link_type: Option<u64> = LINK_TYPE,
}

impl FaceFilter {
    /// Encodes the whole element, for the name of the Interest.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Elements::default();
        out.record(self);
        out.0
    }

    /// Decodes the whole element.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = Reader::new(bytes).expect(FACE_QUERY_FILTER, "a filter of faces")?;
        Self::take(&Fields::of(&element)?)
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

record! {
    /// A record of `faces/channels`: an address at which peers can open faces.
    ChannelStatus: Some(CHANNEL_STATUS);
    /// Local URI.
    local_uri: String = LOCAL_URI,
}
