//! Faces: `faces/create`, `faces/update`, `faces/destroy`, and what the owner says of them.
//!
//! Source: NFD's wiki page "FaceMgmt".
//!
//! Differences: a face to be created is there as soon as it is known where it leads; connecting goes on behind it. Multicast groups
//! can be created, too, on the interface that LocalUri names.
//! `LocalFieldsEnabled` of local faces has Interests, Data and Nacks say by which face they came, and lets Interests say by
//! which face they are to leave.
use super::order::{FaceDescription, FaceOrder, FaceRefusal, FaceSettings};
use super::roster::{Vigil, event_name};
use super::{Command, MAX_ORDERS, Node, Ordered, Outcome};
use crate::face::FaceId;
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

impl Node {
    pub(super) fn create_face(&mut self, command: Command) -> Result<Outcome, Refusal> {
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
        let management = self.management.as_mut().ok_or(Refusal::UNKNOWN)?;
        if let Some(there) = management.roster.find(&uri, local_uri.as_deref()) {
            return Ok(Outcome::Conflict(self.described(there, true)));
        }
        let ticket = management.next_ticket;
        Ok(Outcome::Ordered(FaceOrder::Create { ticket, uri, local_uri, settings }))
    }

    pub(super) fn update_face(
        &mut self,
        ingress: FaceId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let settings = settings(&command.parameters)?;
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id);
        let face = face.map_err(|_| Refusal::UNKNOWN_FACE)?;
        let management = self.management.as_ref().ok_or(Refusal::UNKNOWN)?;
        let known = management.roster.get(face).ok_or(Refusal::UNKNOWN_FACE)?;
        if settings.local_fields == Some(true) && !known.local {
            return Err(NO_LOCAL_FIELDS);
        }
        let ticket = management.next_ticket;
        Ok(Outcome::Ordered(FaceOrder::Update { ticket, face, settings }))
    }

    /// That a face is gone is success, whether it ever was there or not.
    pub(super) fn destroy_face(&mut self, ingress: FaceId, command: Command) -> Outcome {
        let said = command.parameters.face_id;
        let done = |face: u64| ControlParameters { face_id: Some(face), ..Default::default() };
        match self.commanded_face(ingress, command.scope, said) {
            Ok(face) => Outcome::Farewell(done(u64::from(face.0)), FaceOrder::Destroy { face }),
            Err(_) => Outcome::Done(done(said.unwrap_or_default())),
        }
    }

    /// A command is answered when others have carried it out; the ticket for that, unless too many wait.
    pub(super) fn take_ticket(
        &mut self,
        now: Instant,
        name: &Name,
        path: ReturnPath,
        verb: Verb,
    ) -> Option<u64> {
        let management = self.management.as_mut()?;
        if management.orders.len() >= MAX_ORDERS {
            self.respond(now, name, path, &Err(Refusal::FULL));
            return None;
        }
        let ticket = management.next_ticket;
        management.orders.insert(ticket, Ordered { name: name.clone(), path, verb });
        management.next_ticket += 1;
        Some(ticket)
    }

    /// The owner has carried an order out, or not.
    pub(super) fn obeyed(
        &mut self,
        now: Instant,
        ticket: u64,
        outcome: Result<FaceId, FaceRefusal>,
    ) {
        let ordered = self.management.as_mut().and_then(|it| it.orders.remove(&ticket));
        let Some(Ordered { name, path, verb }) = ordered else {
            return;
        };
        let outcome = outcome.map_err(FaceRefusal::refusal);
        let done = outcome.map(|face| self.described(face, verb == Verb::FaceCreate));
        self.respond(now, &name, path, &done);
    }

    /// A face as answers to commands describe it, with where it leads or without.
    fn described(&self, face: FaceId, with_uri: bool) -> ControlParameters {
        let Some(FaceStatus { profile, marking_interval, marking_threshold, mtu, .. }) =
            self.face_status(face)
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
    pub(super) fn face_status(&self, face: FaceId) -> Option<FaceStatus> {
        let mut carried = self.faces.get(face).map_or_else(FaceCounters::default, |it| it.counters);
        if let Some(others) = self.shard.as_ref().and_then(|it| it.tallied.faces.get(&face)) {
            carried.add(&others.carried);
        }
        self.management.as_ref()?.roster.status(face, &carried)
    }

    // --- what happens to faces ------------------------------------------------------------------

    pub(super) fn know_face(&mut self, now: Instant, face: FaceId, description: FaceDescription) {
        let management = self.management.as_mut();
        if management.is_some_and(|it| it.roster.note(face, description)) {
            self.tell_event(now, FaceEventKind::Created, face);
        }
    }

    pub(super) fn lose_face(&mut self, now: Instant, face: FaceId) {
        self.forget_routes(now, face);
        self.measurements.forget_face(face);
        self.guard_down(now, face, false);
        if let Some(shard) = &mut self.shard {
            shard.past.add(&shard.carried.remove(&face).unwrap_or_default());
        }
        let profile = self.management.as_mut().and_then(|it| it.roster.remove(face));
        if let Some(profile) = profile {
            self.notify(now, FaceEventKind::Destroyed, profile);
        }
    }

    /// A face that was known is usable.
    pub(crate) fn note_up(&mut self, now: Instant, face: FaceId) {
        if self.management.as_mut().is_some_and(|it| it.roster.up(face)) {
            self.tell_event(now, FaceEventKind::Up, face);
        }
    }

    /// A face is not usable any more, after it carried so much.
    pub(crate) fn note_down(
        &mut self,
        now: Instant,
        face: FaceId,
        carried: &FaceCounters,
        permanent: bool,
    ) {
        if let Some(management) = &mut self.management {
            management.roster.down(face, carried);
            if permanent {
                self.tell_event(now, FaceEventKind::Down, face);
            }
        } else if let Some(shard) = &mut self.shard {
            match permanent {
                true => shard.carried.entry(face).or_default().add(carried),
                false => shard.past.add(carried),
            }
        }
    }

    fn tell_event(&mut self, now: Instant, kind: FaceEventKind, face: FaceId) {
        let profile = self.management.as_ref().and_then(|it| it.roster.profile(face));
        if let Some(profile) = profile {
            self.notify(now, kind, profile);
        }
    }

    fn notify(&mut self, now: Instant, kind: FaceEventKind, profile: FaceProfile) {
        let Some(management) = &mut self.management else {
            return;
        };
        let (number, content, waiting) = management.events.push(now, kind, profile);
        if waiting.is_empty() {
            return;
        }
        let data = notification(number, &content);
        for path in waiting {
            self.answer(now, FaceId::MANAGEMENT, data.clone(), path);
        }
    }

    /// Somebody asks for the next notification, or for one that was.
    pub(super) fn on_vigil(&mut self, now: Instant, interest: &Interest, path: ReturnPath) {
        let Some(management) = &mut self.management else {
            return;
        };
        match management.events.ask(now, interest, path) {
            Vigil::Told(number, content) => {
                self.answer(now, FaceId::MANAGEMENT, notification(number, &content), path);
            }
            Vigil::Waits => {}
            Vigil::Refused => {
                self.refusal(now, FaceId::MANAGEMENT, NackReason::NoRoute, path);
            }
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
