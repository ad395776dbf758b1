//! The oracle: for every first timeout of an Interest, whether it was necessary.
//!
//! Each Interest that an application expresses gets a trace id. Nodes carry it along, through aggregation, several next
//! hops and caches, into the Data. They report the fate of its copies ([`NodeEvent`]'s `Trace…`). Channels report their
//! losses. The oracle counts copies:
//!
//! - *delivered* or *superseded* (Data came back after an earlier copy had answered everybody): the
//!   timeout of that first transmission was **bad**, its Data came or would have come;
//! - all copies *dead* (dropped, lost, expired with their PIT entry): the timeout was **good**;
//! - nothing of this by the end of the run: undecided, and left out.
//!
//! Metrics: `ρ` of a consumer is the share of spurious ones among its decided timeouts; `B` is the mean of `ρ` over
//! consumers with any. `φ` is a consumer's mean of RTO over RTT over its genuine timeouts; `W` is the mean of `φ` over
//! consumers with any. Source: Nikzad et al. 2022, section 4. Differences: RTT is the latest sample of that content if
//! an application requests single contents, else the latest of all; a genuine timeout before any sample counts for `ρ`
//! alone.
//!
//! An Interest lifetime shorter than the timeout makes late Data look dead: it expires on the way.
pub(crate) mod ledger;
pub mod score;

use crate::network::{ApplicationId, ApplicationKind, Network, NodeId};
use crate::number::ByNumber;
use crate::observe::{Observation, Observer};
use ledger::{Fate, Ledger};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::Packet;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use score::Score;
use std::collections::{BTreeMap, VecDeque};

/// Whether a timeout was necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Spurious: the first transmission was answered after all.
    Bad,
    /// Necessary: nothing of the first transmission was left.
    Good,
    /// The run ended before that was known.
    Undecided,
}

impl Verdict {
    /// The verdict in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Good => "good",
            Self::Undecided => "undecided",
        }
    }
}

/// A first timeout of an Interest, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// The application.
    pub application: ApplicationId,
    /// Number of the segment.
    pub segment: u64,
    /// When the Interest was first sent.
    pub sent: Instant,
    /// When its timeout expired.
    pub expired: Instant,
    /// The timeout; if timers are scanned, the time until the scan that found it over.
    pub rto: Duration,
    /// The sample that the timeout is compared with, if there was one by then.
    pub rtt: Option<Duration>,
    /// Whether it was necessary.
    pub verdict: Verdict,
}

impl Timeout {
    /// `ω`: the timeout in round-trip times.
    pub fn relative(&self) -> Option<f64> {
        let rtt = self.rtt.filter(|rtt| !rtt.is_zero())?;
        Some(self.rto.as_secs_f64() / rtt.as_secs_f64())
    }
}

/// Follows first transmissions and judges their timeouts. Its memory grows with the pending Interests. If an
/// application requests single contents, it also grows with their number, but not with the length of the run.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    ledger: Ledger,
    /// Applications by node and by their number in that node.
    places: BTreeMap<(NodeId, AppId), ApplicationId>,
    consumers: Vec<Consumer>,
    /// First transmissions that have not been received, or not been judged: by their trace ids.
    open: ByNumber<Open>,
    judged: VecDeque<Timeout>,
    followed: bool,
}

/// State of an application.
#[derive(Clone, Debug, Default)]
struct Consumer {
    node: Option<NodeId>,
    /// Whether it may request a content again, so that samples are kept by the hashes of names.
    by_content: bool,
    /// Whether timers are scanned: a scan applies the present timeout, not the timeout at the transmission.
    scans: bool,
    /// Trace ids (with the hash of the name) whose transmission is not reported yet, and transmissions without trace
    /// id. Both come in the order of the Interests.
    ids: VecDeque<(u64, u64)>,
    sends: VecDeque<Option<Open>>,
    /// The trace id of the first transmission of each pending segment.
    current: ByNumber<u64>,
    sample: Option<Duration>,
    samples: ByNumber<Duration>,
    /// The segment that came last, and the hash of its name: the next sample may be of it.
    latest: Option<(u64, u64)>,
    score: Score,
}

/// A first transmission.
#[derive(Clone, Copy, Debug)]
struct Open {
    application: ApplicationId,
    segment: u64,
    sent: Instant,
    rto: Duration,
    /// Hash of the name; 0 until it is known.
    hash: u64,
    timeout: Option<(Instant, Option<Duration>)>,
    /// Whether the segment is answered or restarted, so that no timeout follows.
    over: bool,
}

impl Oracle {
    /// An oracle for the applications of `network`.
    pub fn new(network: &Network) -> Self {
        let consumers = network.applications.iter().map(|application| Consumer {
            node: Some(application.node),
            by_content: matches!(application.kind, ApplicationKind::Request(_)),
            scans: matches!(&application.kind, ApplicationKind::Request(plan) if plan.scans()),
            ..Consumer::default()
        });
        Self { consumers: consumers.collect(), ..Self::default() }
    }

    /// The next timeout that was judged, in the order of the verdicts.
    pub fn poll(&mut self) -> Option<Timeout> {
        self.judged.pop_front()
    }

    /// The run is over: timeouts without a verdict are undecided.
    pub fn finish(&mut self) {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        for (_, open) in open {
            self.judge(open, Verdict::Undecided);
        }
        self.consumers.iter_mut().for_each(|consumer| consumer.current.clear());
    }

    /// Whether any transmission was followed; without, no timeout can be judged.
    pub fn followed(&self) -> bool {
        self.followed
    }

    /// The counts of one application.
    pub fn score(&self, application: ApplicationId) -> Option<&Score> {
        self.consumers.get(application.0 as usize).map(|consumer| &consumer.score)
    }

    /// The counts of all applications, in their order.
    pub fn scores(&self) -> impl Iterator<Item = &Score> {
        self.consumers.iter().map(|consumer| &consumer.score)
    }

    /// Registers an application, which may have run before under another number.
    fn on_start(&mut self, application: ApplicationId, app: AppId) {
        if let Some(consumer) = self.consumers.get_mut(application.0 as usize)
            && let Some(node) = consumer.node
        {
            consumer.ids.clear();
            consumer.sends.clear();
            self.places.insert((node, app), application);
        }
    }

    fn on_event(&mut self, now: Instant, application: ApplicationId, event: &Event) {
        let Some(consumer) = self.consumers.get_mut(application.0 as usize) else {
            return;
        };
        match *event {
            Event::Probed => consumer.sends.push_back(None),
            Event::Sent { segment, transmissions, rto } => {
                let (sent, rto) = (now, rto.into());
                let (hash, timeout, over) = (0, None, false);
                let open = Open { application, segment, sent, rto, hash, timeout, over };
                consumer.sends.push_back((transmissions == 1).then_some(open));
            }
            Event::Sampled { segment, rtt, .. } => consumer.on_sample(segment, rtt.into()),
            Event::TimedOut { segment } => return self.on_timeout(now, application, segment),
            Event::Received { segment, .. } => return self.on_received(application, segment),
            _ => return,
        }
        self.join(application);
    }

    /// Brings together transmissions and trace ids of an application.
    fn join(&mut self, application: ApplicationId) {
        while let Some(consumer) = self.consumers.get_mut(application.0 as usize)
            && let Some(((id, hash), send)) = consumer.next_joined()
        {
            match send {
                Some(open) => {
                    let open = Open { hash, ..open };
                    let before = consumer.current.insert(open.segment, id);
                    self.open.insert(id, open);
                    before.into_iter().for_each(|before| self.abandon(before));
                }
                None => self.ledger.forget(id),
            }
        }
    }

    /// The segment has arrived, or its fetch restarts: a transmission that has not timed out will not any more.
    fn abandon(&mut self, id: u64) {
        if let Some(open) = self.open.get_mut(&id) {
            open.over = true;
            self.settle(id);
        }
    }

    fn on_timeout(&mut self, now: Instant, application: ApplicationId, segment: u64) {
        let Some(consumer) = self.consumers.get(application.0 as usize) else {
            return;
        };
        let Some(id) = consumer.current.get(&segment).copied() else {
            return;
        };
        if let Some(open) = self.open.get_mut(&id)
            && open.timeout.is_none()
        {
            open.timeout = Some((now, consumer.sample(open.hash)));
            self.settle(id);
        }
    }

    fn on_received(&mut self, application: ApplicationId, segment: u64) {
        let Some(consumer) = self.consumers.get_mut(application.0 as usize) else {
            return;
        };
        let Some(id) = consumer.current.remove(&segment) else {
            return;
        };
        consumer.latest = self.open.get(&id).map(|open| (segment, open.hash));
        self.abandon(id);
    }

    /// Judges the timeout of a first transmission, if there was one and its fate is known; forgets what
    /// was received without one.
    fn settle(&mut self, id: u64) {
        let Some(open) = self.open.get(&id).copied() else {
            return;
        };
        let verdict = match (open.timeout, self.ledger.fate(id)) {
            (None, _) if open.over => Verdict::Undecided,
            (None, _) | (Some(_), None) => return,
            (Some(_), Some(Fate::Answered)) => Verdict::Bad,
            (Some(_), Some(Fate::Dead)) => Verdict::Good,
        };
        self.open.remove(&id);
        self.ledger.forget(id);
        self.judge(open, verdict);
    }

    fn judge(&mut self, open: Open, verdict: Verdict) {
        let Open { application, segment, sent, rto, timeout, .. } = open;
        let Some((expired, rtt)) = timeout else {
            return;
        };
        let consumer = self.consumers.get_mut(application.0 as usize);
        let scans = consumer.as_ref().is_some_and(|consumer| consumer.scans);
        let rto = if scans { expired.since(sent) } else { rto };
        let timeout = Timeout { application, segment, sent, expired, rto, rtt, verdict };
        if let Some(consumer) = consumer {
            consumer.score.add(&timeout);
        }
        self.judged.push_back(timeout);
    }

    fn on_node(&mut self, node: NodeId, event: NodeEvent) {
        match event {
            NodeEvent::TraceBorn { id, app, hash } => {
                let Some(application) = self.places.get(&(node, app)).copied() else {
                    return;
                };
                self.followed = true;
                self.ledger.born(id);
                self.consumers[application.0 as usize].ids.push_back((id, hash));
                self.join(application);
            }
            NodeEvent::TraceDelivered { id, .. } | NodeEvent::TraceSuperseded { id } => {
                self.ledger.answered(id);
                self.settle(id);
            }
            NodeEvent::TraceDied { id } => self.died(id),
            NodeEvent::TraceCopied { id, copies } => self.ledger.copied(id, copies),
            _ => {}
        }
    }

    fn died(&mut self, id: u64) {
        self.ledger.died(id);
        self.settle(id);
    }

    fn lost(&mut self, packet: &Packet) {
        packet.trace().ids().iter().for_each(|id| self.died(*id));
    }
}

impl Consumer {
    /// The next trace id, with the hash of the name, and the transmission that it belongs to, once both are known.
    fn next_joined(&mut self) -> Option<((u64, u64), Option<Open>)> {
        let sent = self.sends.front().copied()?;
        let id = self.ids.pop_front()?;
        self.sends.pop_front();
        Some((id, sent))
    }

    fn on_sample(&mut self, segment: u64, rtt: Duration) {
        self.sample = Some(rtt);
        let latest = self.latest.filter(|(latest, _)| self.by_content && *latest == segment);
        if let Some((_, hash)) = latest {
            self.samples.insert(hash, rtt);
        }
    }

    /// The latest sample for a content, else the latest of all.
    fn sample(&self, hash: u64) -> Option<Duration> {
        self.samples.get(&hash).copied().or(self.sample)
    }
}

impl Observer for Oracle {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Started { application, app: Some(app) } => self.on_start(application, app),
            Observation::Application { application, report: Report::Event(event) } => {
                self.on_event(now, application, event);
            }
            Observation::Node { node, event } => self.on_node(node, event),
            Observation::Lost { packet, .. } => self.lost(packet),
            Observation::Doubled { packet, .. } => {
                packet.trace().ids().iter().for_each(|id| self.ledger.copied(*id, 1));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
