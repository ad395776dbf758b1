//! Faces: `faces/create`, `faces/update`, `faces/destroy`, and reports of the owner.
//!
//! Source: NFD's wiki page "FaceMgmt".
//!
//! Differences: a created face exists as soon as its address is known, while the connection is still being opened.
//! Multicast groups can be created, too, on the interface of LocalUri. With `LocalFieldsEnabled` on local faces,
//! Interests, Data and Nacks carry IncomingFaceId, and Interests may carry NextHopFaceId.
use super::registry::{EventAnswer, event_name};
use super::{Command, Effect, MAX_ORDERS, Management, Ordered, Outcome, View};
use crate::face::FaceId;
use crate::order::{FaceDescription, FaceOrder, FaceSettings, OrderError};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    CONGESTION_MARKING, ControlParameters, FaceCounters, FaceEventKind, FaceProfile, FaceStatus,
    LOCAL_FIELDS, LP_RELIABILITY, Persistency, Rejection, Verb, canonical_uri,
};
use recoup_transport::time::{Duration, Instant};

/// Freshness of a notification.
const FRESH: Duration = Duration::from_secs(1);

const NO_URI: Rejection = Rejection { code: 400, text: "malformed command: where is it to lead?" };
const NOT_OURS_TO_OPEN: Rejection =
    Rejection { code: 406, text: "on-demand faces are opened by peers" };
const OWN_FACE: Rejection = Rejection { code: 409, text: "the command comes by this face" };
const NO_PACKET: Rejection = Rejection { code: 400, text: "malformed command: which packet?" };
const NO_LOCAL_FIELDS: Rejection =
    Rejection { code: 409, text: "only applications of this machine get local fields" };

impl Management {
    pub(super) fn create_face(
        &self,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let settings = settings(&command.parameters)?;
        // A created face leads to another machine, or to an application that can request local fields itself.
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
    ) -> Result<Outcome, Rejection> {
        let settings = settings(&command.parameters)?;
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view);
        let face = face.map_err(|_| Rejection::UNKNOWN_FACE)?;
        let known = self.registry.get(face).ok_or(Rejection::UNKNOWN_FACE)?;
        if settings.local_fields == Some(true) && !known.local {
            return Err(NO_LOCAL_FIELDS);
        }
        let ticket = self.next_ticket;
        Ok(Outcome::Ordered(FaceOrder::Update { ticket, face, settings }))
    }

    /// A face that does not exist counts as destroyed.
    pub(super) fn destroy_face(
        &self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Outcome {
        let parameters = command.parameters.face_id;
        let done = |face: u64| ControlParameters { face_id: Some(face), ..Default::default() };
        match self.commanded_face(ingress, command.scope, parameters, view) {
            Ok(face) => {
                Outcome::DoneThenOrder(done(u64::from(face.0)), FaceOrder::Destroy { face })
            }
            Err(_) => Outcome::Done(done(parameters.unwrap_or_default())),
        }
    }

    /// Holds a face down, or ends that.
    pub(super) fn switch_face(
        &mut self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
        down: bool,
    ) -> Result<Outcome, Rejection> {
        let face = self.other_face(ingress, &command, view)?;
        self.effects.push_back(Effect::Hold { face, down });
        let face_id = Some(u64::from(face.0));
        Ok(Outcome::Done(ControlParameters { face_id, ..Default::default() }))
    }

    /// Reports a packet for a face that a driver gave up.
    pub(super) fn packet_given_up(
        &mut self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let face = self.other_face(ingress, &command, view)?;
        let name = command.parameters.name.ok_or(NO_PACKET)?;
        self.effects.push_back(Effect::Lost { face, name: name.clone() });
        let (face_id, name) = (Some(u64::from(face.0)), Some(name));
        Ok(Outcome::Done(ControlParameters { face_id, name, ..Default::default() }))
    }

    /// The face of a command that must name one, and another than its own.
    fn other_face(
        &self,
        ingress: FaceId,
        command: &Command,
        view: &impl View,
    ) -> Result<FaceId, Rejection> {
        let number = command.parameters.face_id.filter(|number| *number != 0);
        let number = Some(number.ok_or(Rejection::MALFORMED)?);
        let face = self.commanded_face(ingress, command.scope, number, view)?;
        self.registry.get(face).ok_or(Rejection::UNKNOWN_FACE)?;
        if face == ingress { Err(OWN_FACE) } else { Ok(face) }
    }

    /// Gives an order with the next ticket to the owner, unless too many are pending. The command is answered when the
    /// owner has carried it out.
    pub(super) fn give_order(
        &mut self,
        name: &Name,
        path: ReturnPath,
        verb: Verb,
        order: FaceOrder,
    ) {
        if self.orders.len() >= MAX_ORDERS {
            return self.respond(name, path, &Err(Rejection::FULL));
        }
        self.orders.insert(self.next_ticket, Ordered { name: name.clone(), path, verb });
        self.next_ticket += 1;
        self.effects.push_back(Effect::Order(order));
    }

    /// Handles the owner's answer to an order.
    pub(super) fn order_done(
        &mut self,
        ticket: u64,
        outcome: Result<FaceId, OrderError>,
        view: &impl View,
    ) {
        let Some(Ordered { name, path, verb }) = self.orders.remove(&ticket) else {
            return;
        };
        let outcome = outcome.map_err(OrderError::rejection);
        let done = outcome.map(|face| self.described(face, verb == Verb::FaceCreate, view));
        self.respond(&name, path, &done);
    }

    /// Parameters of a face in answers to commands, with its URI or without.
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

    /// Status of a face that the owner described.
    pub(super) fn face_status(&self, face: FaceId, view: &impl View) -> Option<FaceStatus> {
        self.registry.status(face, &view.carried(face), view.is_up(face))
    }

    // --- face events ----------------------------------------------------------------------------

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

    /// Records that a face is up.
    pub(crate) fn face_up(&mut self, now: Instant, face: FaceId) {
        self.shelf.invalidate();
        if self.registry.up(face) {
            self.notify_of(now, FaceEventKind::Up, face);
        }
    }

    /// Records that a face is down, with its final counters.
    pub(crate) fn face_down(
        &mut self,
        now: Instant,
        face: FaceId,
        carried: &FaceCounters,
        permanent: bool,
    ) {
        self.shelf.invalidate();
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

    /// Handles an Interest for the next notification, or for an earlier one.
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

/// Face settings of a command.
fn settings(parameters: &ControlParameters) -> Result<FaceSettings, Rejection> {
    if parameters.flags.is_some() != parameters.mask.is_some() {
        return Err(Rejection {
            code: 400,
            text: "malformed command: flags and mask come together",
        });
    }
    let persistency = match parameters.face_persistency.map(Persistency::from_number) {
        Some(None) => return Err(Rejection::MALFORMED),
        known => known.flatten(),
    };
    Ok(FaceSettings {
        persistency,
        mtu: parameters.mtu,
        marks: parameters.flag(CONGESTION_MARKING),
        marking_interval: parameters.marking_interval,
        marking_threshold: parameters.marking_threshold,
        reliable: parameters.flag(LP_RELIABILITY),
        local_fields: parameters.flag(LOCAL_FIELDS),
    })
}
