//! Effects of management requests, and the owner's side of management.
use super::view::NodeView;
use super::{Node, Output};
use crate::face::FaceId;
use crate::management::{Effect, Management, Notice};
use crate::observer::Observer;
use recoup_transport::application::AppInput;
use recoup_transport::time::{Instant, TimeOfDay};

impl<O: Observer> Node<O> {
    /// Handles one request, or one expired route; `false` if there is neither.
    pub(super) fn manage(&mut self, now: Instant) -> bool {
        let Self { forwarder, management: Some(management), shard, .. } = self else {
            return false;
        };
        while let Some(request) = forwarder.edge.requests.pop_front() {
            management.request(request);
        }
        let did = management.step(now, &NodeView { forwarder, shard: shard.as_deref() });
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
                Effect::Route(change) => self.change_route(now, &change),
                Effect::SetStrategy { prefix, text, strategy } => {
                    self.forward_notice(&Notice::Strategy {
                        prefix: prefix.clone(),
                        text: Some(text),
                    });
                    self.forwarder.strategies.insert(&prefix, strategy);
                }
                Effect::UnsetStrategy { prefix } => {
                    self.forward_notice(&Notice::Strategy { prefix: prefix.clone(), text: None });
                    self.forwarder.strategies.remove(&prefix);
                }
                Effect::Order(order) => self.out().push(Output::Order(Box::new(order))),
                Effect::Task(task) => self.pass_task(task),
                Effect::Hold { face, down: true } => self.hold_everywhere(now, face, false),
                Effect::Hold { face, down: false } => self.release_everywhere(now, face, false),
                Effect::Lost { face, name } => self.on_given_up(now, face, name),
            }
        }
    }

    /// Handles a report of the owner.
    pub(super) fn on_notice(&mut self, now: Instant, notice: Notice) {
        if self.shard.is_some() {
            self.forward_notice(&notice);
        } else if self.management.is_none() && !matches!(notice, Notice::TimeOfDay { .. }) {
            return;
        }
        self.apply_notice(now, notice);
    }

    /// Handles a report of the owner of this node, or of another worker.
    pub(super) fn apply_notice(&mut self, now: Instant, notice: Notice) {
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
        let Self { forwarder, management: Some(management), shard, .. } = self else {
            return;
        };
        management.notice(now, notice, &NodeView { forwarder, shard: shard.as_deref() });
        self.follow_management(now);
    }

    /// Handles a face that is gone for good.
    pub(super) fn lose_face(&mut self, now: Instant, face: FaceId) {
        self.forget_routes(now, face);
        self.forwarder.measurements.forget_face(face);
        self.forwarder.edge.links.forget(face);
        if let Some(shard) = &mut self.shard {
            shard.past.add(&shard.carried.remove(&face).unwrap_or_default());
        }
    }
}
