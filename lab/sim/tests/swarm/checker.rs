//! Invariants of a running simulation.
use crate::plan::Swarmed;
use crate::run::Facts;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_packet::nack::NackReason;
use recoup_sim::channel::LossReason;
use recoup_sim::network::{
    ApplicationId, ApplicationKind, Direction, Fault, FetchPlan, LinkId, Network, NodeId,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::Balance;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// More observations than any terminating simulation of the swarm makes.
const ENDLESS: u64 = 20_000_000;

/// Where something is: a link, a direction, a kind (Interest, Data, Nack), and the hash of a name.
type Place = (LinkId, bool, Kind, u64);

pub(crate) struct Checker {
    network: Network,
    is_gentle: bool,
    last: Instant,
    observations: u64,
    /// How many packets of a name are on a link.
    on_way: BTreeMap<Place, u64>,
    totals: BTreeMap<Kind, Totals>,
    nodes: Vec<NodeState>,
    applications: Vec<Consumer>,
    facts: Facts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    sent: u64,
    doubled: u64,
    delivered: u64,
    lost: u64,
}

#[derive(Clone, Debug, Default)]
struct NodeState {
    is_down: bool,
    /// Pending Interests by the node's events.
    pending: i64,
}

/// State of a consumer since its start.
#[derive(Clone, Debug, Default)]
struct Consumer {
    is_on: bool,
    done: Option<bool>,
    last_progress: Instant,
    asked: BTreeSet<u64>,
    received: BTreeSet<u64>,
    /// Requests that wait for an answer.
    open: BTreeSet<u64>,
    last_segment: Option<u64>,
}

impl Checker {
    pub(crate) fn new(swarmed: &Swarmed) -> Self {
        let network = swarmed.network.clone();
        Self {
            is_gentle: swarmed.is_gentle,
            last: Instant::ZERO,
            observations: 0,
            on_way: BTreeMap::new(),
            totals: BTreeMap::new(),
            nodes: vec![NodeState::default(); network.nodes.len()],
            applications: vec![Consumer::default(); network.applications.len()],
            facts: Facts { simulations: 1, ..Facts::default() },
            network,
        }
    }

    pub(crate) fn is_down(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].is_down
    }

    /// The simulation's balance equals the observations.
    pub(crate) fn compare(&self, balance: &Balance) {
        for kind in [Kind::Interest, Kind::Data, Kind::Nack] {
            let seen = self.totals.get(&kind).copied().unwrap_or_default();
            let lost = LossReason::ALL.map(|reason| balance.lost(Some(kind), reason));
            let counted = Totals {
                sent: balance.sent(Some(kind)),
                doubled: balance.doubled(Some(kind)),
                delivered: balance.delivered(Some(kind)),
                lost: lost.iter().sum(),
            };
            assert_eq!(seen, counted, "{kind:?}");
            assert_eq!(seen.sent + seen.doubled, seen.delivered + seen.lost, "{kind:?}");
        }
        if let Some((place, count)) = self.on_way.iter().find(|(_, count)| **count > 0) {
            panic!("{count} of {place:?} never arrived and were never lost");
        }
    }

    /// Nothing is left to happen.
    pub(crate) fn finish(self) -> Facts {
        for (plan, state) in self.network.applications.iter().zip(&self.applications) {
            let is_cut_off = self.is_down(plan.node) || plan.stop.is_some();
            if !state.is_on || is_cut_off {
                continue;
            }
            match &plan.kind {
                ApplicationKind::Fetch(_) => {
                    assert!(state.done.is_some(), "{} stalled: {state:?}", plan.name);
                    let failed = self.is_gentle && state.done == Some(false);
                    assert!(!failed, "{} failed where nothing does: {state:?}", plan.name);
                }
                ApplicationKind::Request(_) => {
                    let left = (state.open.len(), state.done);
                    assert_eq!(left, (0, Some(true)), "{} waits for ever: {state:?}", plan.name);
                }
                _ => {}
            }
        }
        for (node, state) in self.nodes.iter().enumerate() {
            assert!(state.is_down || state.pending == 0, "node {node}: {state:?}");
        }
        self.facts
    }

    // --- links ----------------------------------------------------------------------------------

    fn total(&mut self, packet: &Packet) -> &mut Totals {
        self.totals.entry(packet.kind()).or_default()
    }

    fn enter(&mut self, link: LinkId, direction: Direction, packet: &Packet) {
        *self.on_way.entry(place(link, direction, packet)).or_default() += 1;
    }

    fn leave(&mut self, link: LinkId, direction: Direction, packet: &Packet) {
        let place = place(link, direction, packet);
        let count = self.on_way.get_mut(&place).filter(|count| **count > 0);
        *count.unwrap_or_else(|| panic!("{place:?} came from nowhere: {}", packet.name())) -= 1;
    }

    // --- nodes ----------------------------------------------------------------------------------

    fn on_node(&mut self, node: NodeId, event: NodeEvent) {
        let state = &mut self.nodes[node.0 as usize];
        match event {
            NodeEvent::PitInserted { .. } => state.pending += 1,
            NodeEvent::PitSatisfied { .. }
            | NodeEvent::PitExpired { .. }
            | NodeEvent::PitAbandoned { .. } => state.pending -= 1,
            _ => {}
        }
        assert!(state.pending >= 0, "{node:?} ends Interests that were not pending");
    }

    fn on_fault(&mut self, number: usize) {
        self.facts.faults += 1;
        match self.network.faults[number].1 {
            Fault::NodeDown(node) => {
                self.nodes[node.0 as usize].is_down = true;
                self.forget(node);
            }
            Fault::NodeUp(node) if self.is_down(node) => {
                self.nodes[node.0 as usize] = NodeState::default();
            }
            _ => {}
        }
    }

    /// The applications of a node are gone with it.
    fn forget(&mut self, node: NodeId) {
        for (plan, state) in self.network.applications.iter().zip(&mut self.applications) {
            if plan.node == node && state.done.is_none() {
                *state = Consumer::default();
            }
        }
    }

    // --- applications ---------------------------------------------------------------------------

    fn on_report(&mut self, now: Instant, id: ApplicationId, report: &Report) {
        let plan = &self.network.applications[id.0 as usize];
        let state = &mut self.applications[id.0 as usize];
        let is_off = self.nodes[plan.node.0 as usize].is_down;
        assert!(state.is_on || is_off, "{} speaks before it starts", plan.name);
        assert!(state.done.is_none(), "{} speaks after it ended: {report:?}", plan.name);
        if let Report::Event(event) = report {
            count(&mut self.facts, event);
        }
        match &plan.kind {
            ApplicationKind::Fetch(fetch) => {
                state.fetched(now, fetch, report);
                if let Report::Done(result) = report {
                    self.facts.fetched += u64::from(result.is_ok());
                    self.facts.failed += u64::from(result.is_err());
                    if result.is_ok() {
                        self.check_object(id, fetch);
                    }
                }
            }
            ApplicationKind::Request(_) => state.requested(report),
            _ => {}
        }
    }

    /// A completed fetch has all segments.
    fn check_object(&self, id: ApplicationId, fetch: &FetchPlan) {
        let state = &self.applications[id.0 as usize];
        let serves = self.network.applications.iter().find_map(|plan| match &plan.kind {
            ApplicationKind::Serve(serve) if serve.prefix == fetch.object => Some(serve),
            _ => None,
        });
        let Some(serve) = serves else {
            panic!("an object came without a producer: {fetch:?}");
        };
        let segments = serve.size_bytes.div_ceil(serve.options.segment_bytes);
        let last = fetch.last.map_or(segments - 1, |last| last.min(segments - 1));
        let expected: BTreeSet<u64> = (fetch.first..=last).collect();
        assert_eq!(state.received, expected, "a fetch ended with another object");
    }
}

impl Consumer {
    fn fetched(&mut self, now: Instant, plan: &FetchPlan, report: &Report) {
        // The absence of a segment is progress, too, once for each request, and is not reported. Coarse timeout checks
        // may put the end off that long.
        let unknown = self.asked.difference(&self.received).count() as u32;
        let FetchOptions { no_progress, rto_check, .. } = plan.options;
        let patience = (1 + unknown) * no_progress + rto_check + Duration::from_millis(1);
        let waited = now.since(self.last_progress);
        assert!(
            !self.is_on || waited <= patience,
            "a fetch lives without progress for {waited:?}: {report:?}"
        );
        match report {
            Report::Resolved { .. } => self.last_progress = now,
            Report::Event(Event::Sent { segment, .. }) => {
                self.asked.insert(*segment);
            }
            Report::Event(Event::Received { segment, .. }) => {
                self.last_progress = now;
                assert!(self.received.insert(*segment), "segment {segment} is a duplicate");
            }
            Report::Event(Event::Window { window, .. }) => {
                assert!(*window >= 1.0 && window.is_finite(), "a window of {window}");
            }
            Report::Event(Event::EndKnown { last }) => self.last_segment = Some(*last),
            Report::Content { segment: 0, .. } if self.last_segment == Some(0) => {
                self.received.insert(0);
            }
            Report::Done(result) => self.done = Some(result.is_ok()),
            _ => {}
        }
    }

    /// A request is open until it is answered or given up. A producer's Nack, which has no reason, is an answer.
    fn requested(&mut self, report: &Report) {
        match *report {
            Report::Event(Event::Sent { segment, transmissions, .. }) => {
                let is_new = self.open.insert(segment);
                assert_eq!(is_new, transmissions == 1, "request {segment}, time {transmissions}");
                assert!(!self.received.contains(&segment), "request {segment} after its answer");
            }
            Report::Event(Event::Received { segment, .. }) => {
                assert!(self.open.remove(&segment), "an answer to {segment}, which was not open");
                assert!(self.received.insert(segment), "request {segment} was answered twice");
            }
            Report::Event(Event::TimedOut { segment }) => {
                assert!(self.open.contains(&segment), "{segment} timed out and was not open");
            }
            Report::Event(Event::Nacked { segment: Some(segment), reason: NackReason::None })
            | Report::Event(Event::LeftOut { segment }) => {
                assert!(self.open.remove(&segment), "{segment} ended and was not open");
            }
            Report::Event(Event::Window { window, .. }) => {
                assert!(window >= 1.0 && window.is_finite(), "a window of {window}");
            }
            Report::Done(ref result) => self.done = Some(result.is_ok()),
            _ => {}
        }
    }
}

impl Observer for Checker {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        assert!(now >= self.last, "time goes backwards: {now} after {}", self.last);
        self.last = now;
        self.observations += 1;
        assert!(self.observations < ENDLESS, "there is no end to it");
        match *observation {
            Observation::Started { application, .. } => {
                let state = &mut self.applications[application.0 as usize];
                *state = Consumer { is_on: true, last_progress: now, ..Consumer::default() };
            }
            Observation::Application { application, report } => {
                self.on_report(now, application, report);
            }
            Observation::Node { node, event } => self.on_node(node, event),
            Observation::Fault { number } => self.on_fault(number),
            Observation::Joined { .. } | Observation::Left { .. } => {}
            Observation::Dropped { .. } | Observation::Waiting { .. } => {}
            Observation::Sent { link, direction, packet } => {
                self.total(packet).sent += 1;
                self.enter(link, direction, packet);
            }
            Observation::Doubled { link, direction, packet } => {
                self.total(packet).doubled += 1;
                self.enter(link, direction, packet);
            }
            Observation::Arrived { link, direction, packet } => {
                self.facts.hops += 1;
                self.total(packet).delivered += 1;
                self.leave(link, direction, packet);
            }
            Observation::Lost { link, direction, packet, .. } => {
                self.facts.lost += 1;
                self.total(packet).lost += 1;
                self.leave(link, direction, packet);
            }
        }
    }
}

fn place(link: LinkId, direction: Direction, packet: &Packet) -> Place {
    (link, direction == Direction::Back, packet.kind(), packet.hop.name_hash)
}

fn count(facts: &mut Facts, event: &Event) {
    match event {
        Event::Sent { .. } => facts.requests += 1,
        Event::Received { .. } => facts.answered += 1,
        Event::TimedOut { .. } => facts.timeouts += 1,
        Event::Nacked { .. } => facts.nacks += 1,
        _ => {}
    }
}
