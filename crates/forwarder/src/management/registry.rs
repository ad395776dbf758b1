//! Faces in the management, and the notifications of their events.
//!
//! Source: NFD's wiki pages "FaceMgmt" and "Notification".
use crate::face::FaceId;
use crate::limits::MAX_LIFETIME;
use crate::order::FaceDescription;
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    CONGESTION_MARKING, EVENTS_COMPONENTS, FaceCounters, FaceEvent, FaceEventKind, FaceProfile,
    FaceStatus, LOCAL_FIELDS, LP_RELIABILITY, LinkType, Persistency,
};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Most notifications kept for late Interests.
const KEPT_EVENTS: usize = 64;
/// Most Interests that wait for the next notification.
const MAX_WAITING: usize = 64;

/// Faces by number.
#[derive(Debug, Default)]
pub(super) struct FaceRegistry {
    known: BTreeMap<FaceId, Known>,
    /// Counters of faces that are gone.
    pub(super) past: FaceCounters,
}

#[derive(Debug)]
struct Known {
    description: FaceDescription,
    /// Counters until the face last went down.
    past: FaceCounters,
    down: bool,
}

impl FaceRegistry {
    pub(super) fn get(&self, face: FaceId) -> Option<&FaceDescription> {
        self.known.get(&face).map(|known| &known.description)
    }

    /// The face of a remote URI, and of a local URI if given: a station may be reached by several interfaces.
    pub(super) fn find(&self, uri: &str, local_uri: Option<&str>) -> Option<FaceId> {
        let leads = |known: &Known| {
            known.description.uri == uri
                && local_uri.is_none_or(|local| known.description.local_uri == local)
        };
        self.known.iter().find(|(_, known)| leads(known)).map(|(face, _)| *face)
    }

    /// Sets the description of a face; returns whether it is new.
    pub(super) fn note(&mut self, face: FaceId, description: FaceDescription) -> bool {
        match self.known.get_mut(&face) {
            Some(known) => known.description = description,
            None => {
                let known = Known { description, past: FaceCounters::default(), down: false };
                self.known.insert(face, known);
                return true;
            }
        }
        false
    }

    /// Records that a face is up; returns whether it was down.
    pub(super) fn up(&mut self, face: FaceId) -> bool {
        self.known.get_mut(&face).is_some_and(|known| std::mem::take(&mut known.down))
    }

    /// Records that a face is down, with its counters.
    pub(super) fn down(&mut self, face: FaceId, carried: &FaceCounters) {
        match self.known.get_mut(&face) {
            Some(known) => {
                known.past.add(carried);
                known.down = true;
            }
            None => self.past.add(carried),
        }
    }

    /// Removes a face; returns its profile.
    pub(super) fn remove(&mut self, face: FaceId) -> Option<FaceProfile> {
        let profile = self.profile(face)?;
        self.past.add(&self.known.remove(&face)?.past);
        Some(profile)
    }

    pub(super) fn profile(&self, face: FaceId) -> Option<FaceProfile> {
        let description = self.get(face)?;
        let FaceDescription { uri, local_uri, persistency, local, .. } = description;
        let FaceDescription { link_type, marking, reliable, local_fields, .. } = description;
        let flag = |set, flag| if set { flag } else { 0 };
        Some(FaceProfile {
            face_id: u64::from(face.0),
            uri: uri.clone(),
            local_uri: local_uri.clone(),
            local: *local,
            persistency: *persistency,
            link_type: *link_type,
            flags: flag(marking.is_some(), CONGESTION_MARKING)
                + flag(*reliable, LP_RELIABILITY)
                + flag(*local_fields, LOCAL_FIELDS),
        })
    }

    /// Status of a face with its current counters.
    pub(super) fn status(
        &self,
        face: FaceId,
        carried: &FaceCounters,
        is_up: bool,
    ) -> Option<FaceStatus> {
        let known = self.known.get(&face)?;
        let mut counters = known.past;
        counters.add(carried);
        let marking = known.description.marking;
        Some(FaceStatus {
            profile: self.profile(face)?,
            expiration_period: None,
            marking_interval: marking.map(|it| it.interval),
            marking_threshold: marking.map(|it| it.threshold_bytes),
            mtu: Some(known.description.mtu),
            down: !is_up,
            counters,
        })
    }

    /// Status of the management's own face.
    pub(super) fn own() -> FaceStatus {
        let uri = || "internal://".to_owned();
        FaceStatus {
            profile: FaceProfile {
                face_id: u64::from(FaceId::MANAGEMENT.0),
                uri: uri(),
                local_uri: uri(),
                local: true,
                persistency: Persistency::Permanent,
                link_type: LinkType::PointToPoint,
                flags: 0,
            },
            expiration_period: None,
            marking_interval: None,
            marking_threshold: None,
            mtu: None,
            down: false,
            counters: FaceCounters::default(),
        }
    }

    pub(super) fn faces(&self) -> impl Iterator<Item = FaceId> {
        self.known.keys().copied()
    }
}

/// Notifications, and the Interests that wait for the next one.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    /// Number of the next one.
    next: u64,
    /// The last ones, oldest first.
    kept: VecDeque<Vec<u8>>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    path: ReturnPath,
    until: Instant,
}

/// Handling of an Interest for notifications.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EventAnswer {
    /// A notification answers it.
    Now(u64, Vec<u8>),
    /// The Interest waits for the next notification.
    Later,
    /// The notification is no longer kept, or too many Interests wait.
    Never,
}

impl EventStream {
    /// Adds a notification: returns its number and content, and the Interests that wait for it.
    pub(super) fn push(
        &mut self,
        now: Instant,
        kind: FaceEventKind,
        profile: FaceProfile,
    ) -> (u64, Vec<u8>, Vec<ReturnPath>) {
        let (number, content) = (self.next, FaceEvent { kind, profile }.to_content());
        self.next += 1;
        if self.kept.len() == KEPT_EVENTS {
            self.kept.pop_front();
        }
        self.kept.push_back(content.clone());
        let waiting = self.waiting.drain(..).filter(|it| it.until > now);
        (number, content, waiting.map(|it| it.path).collect())
    }

    /// Handles an Interest for notifications.
    pub(super) fn request(
        &mut self,
        now: Instant,
        interest: &Interest,
        path: ReturnPath,
    ) -> EventAnswer {
        let wanted = match (interest.name.len(), interest.name.get(EVENTS_COMPONENTS)) {
            (EVENTS_COMPONENTS, _) => None,
            (_, Some(last)) => Some(last.to_number().unwrap_or_default()),
            (_, None) => return EventAnswer::Never,
        };
        if let Some(number) = wanted.filter(|number| *number < self.next) {
            let age = self.next - number;
            let kept = usize::try_from(age).ok().and_then(|age| self.kept.len().checked_sub(age));
            let content = kept.and_then(|place| self.kept.get(place));
            return content.map_or(EventAnswer::Never, |it| EventAnswer::Now(number, it.clone()));
        }
        self.waiting.retain(|it| it.until > now);
        let is_next = wanted.is_none_or(|number| number == self.next);
        if !is_next || self.waiting.len() == MAX_WAITING {
            return EventAnswer::Never;
        }
        // The node keeps the pending Interest for this time.
        let until = now + interest.lifetime_or_default().min(MAX_LIFETIME);
        self.waiting.push_back(Waiting { path, until });
        EventAnswer::Later
    }
}

/// The name of a notification.
pub(super) fn event_name(number: u64) -> Name {
    let words = ["localhost", "nfd", "faces", "events"].map(|it| Component::generic(it.as_bytes()));
    words.into_iter().chain([Component::sequence_num(number)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::time::Duration;

    #[test]
    fn waiting_interests_for_notifications_expire() {
        let mut events = EventStream::default();
        let mut interest = Interest::new("/localhost/nfd/faces/events".parse().unwrap());
        interest.lifetime = Some(Duration::from_secs(86_400));
        let mut request = |seconds: u64, number| {
            let now = Instant::from_millis(seconds * 1_000);
            events.request(now, &interest, ReturnPath(number))
        };
        for number in 0..MAX_WAITING as u64 {
            assert!(matches!(request(0, number), EventAnswer::Later));
        }
        assert!(matches!(request(119, 99), EventAnswer::Never));
        assert!(matches!(request(120, 99), EventAnswer::Later));
    }
}
