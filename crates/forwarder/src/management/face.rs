//! Faces: `faces/create`, `faces/update`, `faces/destroy`, and what the owner says of them.
//!
//! Source: NFD's wiki page "FaceMgmt".
//!
//! Differences: a face to be created is there as soon as it is known where it leads; connecting goes on behind it. Multicast groups
//! can be created, too, on the interface that LocalUri names.
//! `LocalFieldsEnabled` of local faces has Interests, Data and Nacks say by which face they came, and lets Interests say by
//! which face they are to leave.
use super::registry::{EventAnswer, event_name};
use super::{Command, MAX_ORDERS, Management, Ordered, Outcome, View};
use crate::face::FaceId;
use crate::order::{FaceDescription, FaceOrder, FaceRefusal, FaceSettings};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    CONGESTION_MARKING, ControlParameters, FaceCounters, FaceEventKind, FaceProfile, FaceStatus,
    LOCAL_FIELDS, LP_RELIABILITY, Persistency, Refusal, Verb, canonical_uri,
};
use recoup_transport::time::{Duration, Instant};

/// How long a notification counts as fresh.
const FRESH: Duration = Duration::from_secs(1);

const NO_URI: Refusal = Refusal { code: 400, text: "malformed command: where is it to lead?" };
const NOT_OURS_TO_OPEN: Refusal =
    Refusal { code: 406, text: "on-demand faces are opened by peers" };
const NO_LOCAL_FIELDS: Refusal =
    Refusal { code: 409, text: "only applications of this machine are told faces" };

impl Management {
    pub(super) fn create_face(
        &self,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Refusal> {
        let settings = settings(&command.parameters)?;
        // What can be created leads to other machines, or to applications that can say it themselves.
        if settings.local_fields == Some(true) {
            return Err(NO_LOCAL_FIELDS);
        }
        if settings.persistency == Some(Persistency::OnDemand) {
            return Err(NOT_OURS_TO_OPEN);
        }
        let ControlParameters { uri, local_uri, .. } = command.parameters;
        let uri = canonical_uri(uri.as_deref().ok_or(NO_URI)?).into_owned();
        if let Some(there) = self.registry.find(&uri, local_uri.as_deref()) {
            return Ok(Outcome::Conflict(self.described(there, true, view)));
        }
        let ticket = self.next_ticket;
        Ok(Outcome::Ordered(FaceOrder::Create { ticket, uri, local_uri, settings }))
    }

    pub(super) fn update_face(
        &self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Refusal> {
        let settings = settings(&command.parameters)?;
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view);
        let face = face.map_err(|_| Refusal::UNKNOWN_FACE)?;
        let known = self.registry.get(face).ok_or(Refusal::UNKNOWN_FACE)?;
        if settings.local_fields == Some(true) && !known.local {
            return Err(NO_LOCAL_FIELDS);
        }
        let ticket = self.next_ticket;
        Ok(Outcome::Ordered(FaceOrder::Update { ticket, face, settings }))
    }

    /// That a face is gone is success, whether it ever was there or not.
    pub(super) fn destroy_face(
        &self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Outcome {
        let said = command.parameters.face_id;
        let done = |face: u64| ControlParameters { face_id: Some(face), ..Default::default() };
        match self.commanded_face(ingress, command.scope, said, view) {
            Ok(face) => {
                Outcome::DoneThenOrder(done(u64::from(face.0)), FaceOrder::Destroy { face })
            }
            Err(_) => Outcome::Done(done(said.unwrap_or_default())),
        }
    }

    /// A command is answered when others have carried it out; the ticket for that, unless too many wait.
    pub(super) fn take_ticket(&mut self, name: &Name, path: ReturnPath, verb: Verb) -> Option<u64> {
        if self.orders.len() >= MAX_ORDERS {
            self.respond(name, path, &Err(Refusal::FULL));
            return None;
        }
        let ticket = self.next_ticket;
        self.orders.insert(ticket, Ordered { name: name.clone(), path, verb });
        self.next_ticket += 1;
        Some(ticket)
    }

    /// The owner has carried an order out, or not.
    pub(super) fn order_done(
        &mut self,
        ticket: u64,
        outcome: Result<FaceId, FaceRefusal>,
        view: &impl View,
    ) {
        let Some(Ordered { name, path, verb }) = self.orders.remove(&ticket) else {
            return;
        };
        let outcome = outcome.map_err(FaceRefusal::refusal);
        let done = outcome.map(|face| self.described(face, verb == Verb::FaceCreate, view));
        self.respond(&name, path, &done);
    }

    /// A face as answers to commands describe it, with where it leads or without.
    fn described(&self, face: FaceId, with_uri: bool, view: &impl View) -> ControlParameters {
        let Some(FaceStatus { profile, marking_interval, marking_threshold, mtu, .. }) =
            self.face_status(face, view)
        else {
            return ControlParameters::default();
        };
        let FaceProfile { face_id, uri, local_uri, persistency, flags, .. } = profile;
        ControlParameters {
            face_id: Some(face_id),
            uri: with_uri.then_some(uri),
            local_uri: with_uri.then_some(local_uri),
            marking_interval,
            marking_threshold,
            mtu,
            flags: Some(flags),
            face_persistency: Some(persistency as u64),
            ..ControlParameters::default()
        }
    }

    /// Everything about a face that the owner described.
    pub(super) fn face_status(&self, face: FaceId, view: &impl View) -> Option<FaceStatus> {
        self.registry.status(face, &view.carried(face))
    }

    // --- what happens to faces ------------------------------------------------------------------

    pub(super) fn know_face(&mut self, now: Instant, face: FaceId, description: FaceDescription) {
        if self.registry.note(face, description) {
            self.notify_of(now, FaceEventKind::Created, face);
        }
    }

    pub(super) fn lose_face(&mut self, now: Instant, face: FaceId) {
        if let Some(profile) = self.registry.remove(face) {
            self.notify(now, FaceEventKind::Destroyed, profile);
        }
    }

    /// A face is usable.
    pub(crate) fn face_up(&mut self, now: Instant, face: FaceId) {
        if self.registry.up(face) {
            self.notify_of(now, FaceEventKind::Up, face);
        }
    }

    /// A face is not usable any more, after it carried so much.
    pub(crate) fn face_down(
        &mut self,
        now: Instant,
        face: FaceId,
        carried: &FaceCounters,
        permanent: bool,
    ) {
        self.registry.down(face, carried);
        if permanent {
            self.notify_of(now, FaceEventKind::Down, face);
        }
    }

    fn notify_of(&mut self, now: Instant, kind: FaceEventKind, face: FaceId) {
        if let Some(profile) = self.registry.profile(face) {
            self.notify(now, kind, profile);
        }
    }

    fn notify(&mut self, now: Instant, kind: FaceEventKind, profile: FaceProfile) {
        let (number, content, waiting) = self.events.push(now, kind, profile);
        if waiting.is_empty() {
            return;
        }
        let data = notification(number, &content);
        for path in waiting {
            self.answer(path, data.clone());
        }
    }

    /// An Interest for the next notification, or for one that was.
    pub(super) fn on_event_request(&mut self, now: Instant, interest: &Interest, path: ReturnPath) {
        match self.events.request(now, interest, path) {
            EventAnswer::Now(number, content) => {
                self.answer(path, notification(number, &content));
            }
            EventAnswer::Later => {}
            EventAnswer::Never => self.reject(path, NackReason::NoRoute),
        }
    }
}

fn notification(number: u64, content: &[u8]) -> Data {
    DataBuilder::new(&event_name(number)).freshness(FRESH).build(content, &DigestSigner)
}

/// What a command says about how a face is to be.
fn settings(said: &ControlParameters) -> Result<FaceSettings, Refusal> {
    if said.flags.is_some() != said.mask.is_some() {
        return Err(Refusal { code: 400, text: "malformed command: flags and mask come together" });
    }
    let persistency = match said.face_persistency.map(Persistency::from_number) {
        Some(None) => return Err(Refusal::MALFORMED),
        known => known.flatten(),
    };
    Ok(FaceSettings {
        persistency,
        mtu: said.mtu,
        marks: said.flag(CONGESTION_MARKING),
        marking_interval: said.marking_interval,
        marking_threshold: said.marking_threshold,
        reliable: said.flag(LP_RELIABILITY),
        local_fields: said.flag(LOCAL_FIELDS),
    })
}
