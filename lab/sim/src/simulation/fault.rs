//! Faults, starts and stops: the script, carried out.
use super::build::{attributes, link_type, lived, plan_of};
use super::lane::{self, End};
use super::script::Turn;
use super::{Observers, Simulation, notify};
use crate::channel::ChannelInput;
use crate::network::{
    ApplicationId, ApplicationKind, Direction, Fault, LinkId, LinkOptions, NodeId,
};
use crate::observe::Observation;
use crate::workload;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::{AppId, FaceAttributes};
use recoup_forwarder::node::Input;

impl Simulation {
    pub(super) fn on_script(&mut self, observers: &mut Observers<'_, '_>) {
        match self.script.pop() {
            Some(Turn::Start(application)) => {
                self.answer_early(application);
                while let Some(other) = self.script.take_starting() {
                    self.answer_early(other);
                }
                self.attachments[application.0 as usize].has_begun = true;
                self.start(application, observers);
            }
            Some(Turn::Stop(application)) => self.stop(application, observers),
            Some(Turn::Fault(number)) => self.on_fault(number, observers),
            None => {}
        }
        self.arm_script();
    }

    fn on_fault(&mut self, number: usize, observers: &mut Observers<'_, '_>) {
        notify(observers, self.now, &Observation::Fault { number });
        let fault = self.network.faults[number].1.clone();
        match fault {
            Fault::LinkDown(link) => self.set_failed(link, true, observers),
            Fault::LinkUp(link) => self.set_failed(link, false, observers),
            Fault::OutageBegins(link, direction) => {
                self.set_outage(link, direction, true, observers)
            }
            Fault::OutageEnds(link, direction) => {
                self.set_outage(link, direction, false, observers)
            }
            Fault::NodeDown(node) => self.fail(node, observers),
            Fault::NodeUp(node) => self.revive(node, observers),
            Fault::Change(link, direction, plan) => {
                self.change(link, direction, *plan, number, observers);
            }
        }
    }

    // --- links ----------------------------------------------------------------------------------

    fn set_failed(&mut self, link: LinkId, failed: bool, observers: &mut Observers<'_, '_>) {
        self.failed[link.0 as usize] = failed;
        self.refresh(link, observers);
    }

    /// Brings the ends of a link up or down, as it, the nodes at its ends and what they belong to are.
    pub(super) fn refresh(&mut self, link: LinkId, observers: &mut Observers<'_, '_>) {
        let lanes = [lane::place(link, Direction::Forth), lane::place(link, Direction::Back)];
        let ends = lanes.map(|lane| self.lanes[lane].from);
        let is_cut =
            self.failed[link.0 as usize] || ends.iter().any(|end| self.stations[end.node].is_down);
        let is_down = lanes.map(|lane| is_cut || self.detached[lane]);
        let changes = lanes.iter().zip(is_down);
        let changes = changes.filter(|(lane, is_down)| self.is_down(**lane) != *is_down);
        let changed: Vec<(usize, bool)> = changes.map(|(lane, is_down)| (*lane, is_down)).collect();
        for (lane, is_down) in &changed {
            let input = if *is_down { ChannelInput::Down } else { ChannelInput::Up };
            self.lanes[*lane].channel.handle(self.now, input);
            self.settle(*lane, observers);
            self.arm_lane(*lane);
            self.notify_queue(*lane, observers);
        }
        // A link from a node to itself is one face.
        let faces = if ends[0].node == ends[1].node { 1 } else { 2 };
        for (lane, is_down) in changed.into_iter().take(faces) {
            let End { node, face } = self.lanes[lane].from;
            let link_type = link_type(self.lanes[lane].is_for_all());
            let attributes =
                FaceAttributes { link_type, ..attributes(plan_of(&self.network, lane)) };
            let input = match is_down {
                true => Input::FaceDown { face },
                false => Input::FaceUp { face, attributes },
            };
            self.stations[node].node.handle(self.now, input);
            self.turn_to(node, observers);
        }
    }

    pub(super) fn is_down(&self, lane: usize) -> bool {
        self.lanes[lane].channel.channel().is_down()
    }

    fn set_outage(
        &mut self,
        link: LinkId,
        direction: Direction,
        is_out: bool,
        observers: &mut Observers<'_, '_>,
    ) {
        let lane = lane::place(link, direction);
        self.lanes[lane].channel.handle(self.now, ChannelInput::Outage(is_out));
        self.settle(lane, observers);
        self.arm_lane(lane);
    }

    fn change(
        &mut self,
        link: LinkId,
        direction: Direction,
        plan: LinkOptions,
        fault: usize,
        observers: &mut Observers<'_, '_>,
    ) {
        // The plan was parsed when the simulation was built; an invalid one was rejected.
        let Ok(model) = self.model(link.0 as usize, direction, &plan, Some(fault)) else {
            return;
        };
        let place = lane::place(link, direction);
        let End { node, face } = self.lanes[place].from;
        let (before, after) = (attributes(plan_of(&self.network, place)), attributes(&plan));
        let lane = &mut self.lanes[place];
        lane.recharge(&plan);
        lane.channel.handle(self.now, ChannelInput::Change(Box::new(model)));
        let is_up = !lane.channel.channel().is_down();
        let planned = &mut self.network.links[link.0 as usize];
        match direction {
            Direction::Forth => planned.forth = plan,
            Direction::Back => planned.back = plan,
        }
        self.settle(place, observers);
        self.arm_lane(place);
        if before != after && is_up {
            let input = Input::FaceUp { face, attributes: after };
            self.stations[node].node.handle(self.now, input);
            self.turn_to(node, observers);
        }
        self.notify_scheduling(place, observers);
    }

    pub(super) fn turn_to(&mut self, node: usize, observers: &mut Observers<'_, '_>) {
        self.pump(node, observers);
        self.arm_station(node);
    }

    // --- nodes ----------------------------------------------------------------------------------

    fn links_of(&self, node: usize) -> Vec<LinkId> {
        self.stations[node].doors.iter().map(|lane| lane::name(*lane).0).collect()
    }

    fn fail(&mut self, id: NodeId, observers: &mut Observers<'_, '_>) {
        let node = id.0 as usize;
        if std::mem::replace(&mut self.stations[node].is_down, true) {
            return;
        }
        for link in self.links_of(node) {
            self.refresh(link, observers);
        }
        self.set_silent(node, true, observers);
        for packet in self.stations[node].forget_waiting(self.now) {
            let (kind, reason) = (Some(packet.kind()), DropReason::NoFace);
            notify(observers, self.now, &Observation::Dropped { node: id, kind, reason });
            // The node did not get to see it: what descends from its Interests ends here.
            for trace in packet.trace().ids() {
                let event = NodeEvent::TraceDied { id: *trace };
                notify(observers, self.now, &Observation::Node { node: id, event });
            }
        }
        for place in &self.by_node.at(id).applications {
            if let Some(app) = self.attachments[*place as usize].app.take() {
                self.stations[node].node.detach(app);
                self.stations[node].note(app, None);
            }
        }
        self.pump(node, observers);
        self.agenda.disarm(self.slot_of(node));
    }

    fn revive(&mut self, id: NodeId, observers: &mut Observers<'_, '_>) {
        let node = id.0 as usize;
        let life = self.stations[node].lives + 1;
        if !self.stations[node].is_down {
            return;
        }
        let blank = self.blank_node(node, life);
        let station = &mut self.stations[node];
        (station.node, station.lives, station.is_down) = (blank, life, false);
        if self.set_up(node).is_err() {
            return;
        }
        for link in self.links_of(node) {
            self.refresh(link, observers);
        }
        self.set_silent(node, false, observers);
        // Its faces came up with it; those of links that are down go down again.
        for face in 0..self.stations[node].doors.len() {
            let lane = self.stations[node].doors[face];
            if self.is_down(lane) {
                let face = self.lanes[lane].from.face;
                self.stations[node].node.handle(self.now, Input::FaceDown { face });
            }
        }
        self.ways.forget_node(node);
        // Routes that could be computed when the simulation was built can be computed again.
        self.route_anew().unwrap_or_default();
        self.turn_to(node, observers);
        let begun: Vec<ApplicationId> = self
            .by_node
            .at(id)
            .applications
            .iter()
            .filter(|place| self.attachments[**place as usize].has_begun)
            .map(|place| ApplicationId(*place))
            .collect();
        begun.iter().for_each(|id| self.answer_early(*id));
        begun.iter().for_each(|id| self.start(*id, observers));
    }

    // --- applications ---------------------------------------------------------------------------

    /// A producer that is about to start answers from now on, so that no consumer that starts at the same instant comes
    /// too early.
    fn answer_early(&mut self, id: ApplicationId) {
        let place = id.0 as usize;
        let is_producer = self.network.applications[place].kind.served().is_some();
        if is_producer && self.may_start(id) && self.attach(id).is_some() {
            self.attachments[place].is_early = true;
        }
    }

    fn may_start(&self, id: ApplicationId) -> bool {
        let plan = &self.network.applications[id.0 as usize];
        let attachment = &self.attachments[id.0 as usize];
        let is_background = matches!(plan.kind, ApplicationKind::Background(_));
        let has_node = is_background || !self.stations[plan.node.0 as usize].is_down;
        has_node && !attachment.is_over && attachment.app.is_none()
    }

    /// Attaches an application to its node; `None` for background traffic, which begins.
    fn attach(&mut self, id: ApplicationId) -> Option<AppId> {
        let place = id.0 as usize;
        let plan = &self.network.applications[place];
        let attachment = &mut self.attachments[place];
        attachment.lives += 1;
        let rng = self.rng.substream(&format!("application/{}", plan.name));
        let rng = lived(rng, attachment.lives);
        // The plan was checked when the simulation was built; an invalid one was rejected.
        let made = workload::make(&plan.kind, &rng, &mut self.tables).ok()?;
        let Some(made) = made else {
            let number = attachment.source?;
            self.sources[number].start(self.now, rng);
            return None;
        };
        let station = &mut self.stations[plan.node.0 as usize];
        let app = station.node.attach(self.now, made.application, made.prefixes);
        station.note(app, Some(id));
        attachment.app = Some(app);
        Some(app)
    }

    fn start(&mut self, id: ApplicationId, observers: &mut Observers<'_, '_>) {
        let place = id.0 as usize;
        let app = match std::mem::take(&mut self.attachments[place].is_early) {
            true => self.attachments[place].app,
            false if self.may_start(id) => self.attach(id),
            false => return,
        };
        notify(observers, self.now, &Observation::Started { application: id, app });
        match self.attachments[place].source {
            Some(number) => self.arm_source(number),
            None => self.turn_to(self.network.applications[place].node.0 as usize, observers),
        }
    }

    fn stop(&mut self, id: ApplicationId, observers: &mut Observers<'_, '_>) {
        let place = id.0 as usize;
        let plan = &self.network.applications[place];
        let node = plan.node.0 as usize;
        if let Some(number) = self.attachments[place].source {
            self.sources[number].stop();
            self.arm_source(number);
            self.forget_others(self.sources[number].lane(), observers);
        }
        if let Some(app) = self.attachments[place].app.take() {
            self.stations[node].node.detach(app);
            self.stations[node].note(app, None);
            self.turn_to(node, observers);
        }
        self.close(id);
    }
}
