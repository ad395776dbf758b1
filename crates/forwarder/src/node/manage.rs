//! Effects of management requests, and the owner's side of management.
use super::{Node, Output};
use crate::face::FaceId;
use crate::management::{Effect, Management, Notice};
use crate::observer::Observer;
use recoup_transport::application::AppInput;
use recoup_transport::management::respond;
use recoup_transport::time::{Instant, TimeOfDay};

impl<O: Observer> Node<O> {
    /// Handles one request, or one expired route; `false` if there is neither.
    pub(super) fn manage(&mut self, now: Instant) -> bool {
        let Self { forwarder, management: Some(management), .. } = self else {
            return false;
        };
        while let Some(request) = forwarder.edge.requests.pop_front() {
            management.request(request);
        }
        let did = management.step(now, forwarder);
        self.follow_management(now);
        did
    }

    /// Handles the outputs of the management.
    pub(super) fn follow_management(&mut self, now: Instant) {
        while let Some(effect) = self.management.as_mut().and_then(Management::poll) {
            match effect {
                Effect::Answer { path, data } => {
                    self.forwarder.answer(now, FaceId::MANAGEMENT, data, path);
                }
                Effect::Reject { path, reason } => {
                    self.forwarder.reject(now, FaceId::MANAGEMENT, reason, path);
                }
                Effect::Route(change) => self.forwarder.change_route(now, &change),
                Effect::SetStrategy { prefix, strategy } => {
                    self.forwarder.strategies.insert(&prefix, strategy);
                }
                Effect::UnsetStrategy { prefix } => {
                    self.forwarder.strategies.remove(&prefix);
                }
                Effect::ContentStore { name, path, command } => {
                    let done = command.execute(&mut self.forwarder.cs);
                    let data = respond(&name, &Ok(done));
                    self.forwarder.answer(now, FaceId::MANAGEMENT, data, path);
                }
                Effect::Order(order) => self.out().push(Output::Order(Box::new(order))),
                Effect::Hold { face, down: true } => self.hold(now, face, false),
                Effect::Hold { face, down: false } => self.release(now, face, false),
                Effect::Lost { face, name } => self.forwarder.given_up(now, face, name),
            }
        }
    }

    /// Handles a report of the owner.
    pub(super) fn on_notice(&mut self, now: Instant, notice: Notice) {
        if self.management.is_none() && !matches!(notice, Notice::TimeOfDay { .. }) {
            return;
        }
        match &notice {
            Notice::FaceGone { face } => self.lose_face(now, *face),
            Notice::Strategy { prefix, text: Some(text) } => {
                // The owner has parsed it before.
                if let Ok(strategy) = text.parse() {
                    self.set_strategy(prefix, &strategy);
                }
            }
            Notice::Strategy { prefix, text: None } => {
                if !prefix.is_empty() {
                    self.forwarder.strategies.remove(prefix);
                }
            }
            Notice::TimeOfDay { micros } => {
                let input = AppInput::TimeOfDay(TimeOfDay::at(now, *micros));
                self.applications().deliver_to_all(now, &input);
            }
            Notice::FaceKnown { .. } | Notice::FaceMade { .. } | Notice::Channels(_) => {}
        }
        let Self { forwarder, management: Some(management), .. } = self else {
            return;
        };
        management.notice(now, notice, forwarder);
        self.follow_management(now);
    }

    /// Handles a face that is gone for good.
    fn lose_face(&mut self, now: Instant, face: FaceId) {
        self.forget_routes(now, face);
        self.forwarder.measurements.forget_face(face);
        self.forwarder.edge.links.forget(face);
    }
}
