//! A run as a film: each packet on each link with its times, segments, marks and curves, to be shown at any time of the run.
//!
//! A film is an observer, and knows names of segments if the network follows transmissions
//! ([`Network::follow_transmissions`]). It is kept in memory, so it has a limit: with the event that reaches the limit the
//! film ends, and packets of the rest of the run are only counted.
use crate::follow::{InFlight, Request, Requests, Sightings, word};
use crate::network::{ApplicationId, Direction, Fault, LinkId, Network, NodeId};
use crate::observe::{LossReason, Observation, Observer};
use crate::record::place::{Channel, Places};
use crate::record::track::Queues;
use crate::simulation::name_hash;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::application::Report;
use recoup_transport::event::{Event, Span};
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, HashMap};

/// Packets, marks and points of curves that a film holds.
pub const MOST_EVENTS: usize = 1_000_000;

/// A packet on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Over which channel.
    pub channel: Channel,
    /// Kind of the packet.
    pub kind: Kind,
    /// Its place in [`Film::names`]; `None` for a frame without a packet.
    pub name: Option<u32>,
    /// Its bytes, without any link header.
    pub bytes: u32,
    /// When it came to the sending node, or the Interest that it answers; at the latest when it was sent.
    pub since: Instant,
    /// When the node handed it to the channel.
    pub sent: Instant,
    /// When it left the channel.
    pub left: Option<Instant>,
    /// Why it did not arrive.
    pub lost: Option<LossReason>,
}

/// A segment of a consumer, or one of its requests for single contents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The consumer.
    pub application: ApplicationId,
    /// Number of the segment.
    pub number: u64,
    /// The place of its name in [`Film::names`].
    pub name: u32,
    /// Time of the first Interest.
    pub asked: Instant,
    /// Timeout of the first Interest.
    pub rto: Duration,
    /// When it was received, or given up.
    pub ended: Option<Instant>,
    /// Transmissions of its Interest.
    pub transmissions: u32,
    /// Bytes of content; 0 if it was not received.
    pub bytes: u32,
}

/// The place of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// In a node.
    Node(NodeId),
    /// In an application.
    Application(ApplicationId),
    /// On a link.
    Link(LinkId),
}

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A step of a segment, or news of a consumer.
    Step,
    /// A node dropped a packet.
    Drop,
    /// A node dropped a packet that another copy had made superfluous.
    Redundant,
    /// A consumer missed a segment, rightly or not.
    Missed,
    /// A link or a node fails.
    Down,
    /// A link or a node works again.
    Up,
}

/// Something that happened at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The time.
    pub at: Instant,
    /// The place.
    pub scene: Scene,
    /// Its meaning.
    pub meaning: Meaning,
    /// The name that it concerns, a place in [`Film::names`].
    pub name: Option<u32>,
    /// Its words, a place in [`Film::texts`].
    pub text: u32,
}

/// The quantity of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Window of a consumer, segments.
    Window(ApplicationId),
    /// Samples of the round-trip time of a consumer, ms.
    Rtt(ApplicationId),
    /// Queue in front of a channel, packets; by [`Channel::index`].
    Queue(usize),
}

/// Collects a run.
#[derive(Debug)]
pub struct Film {
    /// Packets in the order of [`Crossing::sent`].
    pub crossings: Vec<Crossing>,
    /// Segments in the order of their first Interests.
    pub segments: Vec<Segment>,
    /// Marks in the order of time.
    pub marks: Vec<Mark>,
    /// Curves, with a point for each sample of the round-trip time and for each change of the others, in the order of time.
    pub curves: BTreeMap<Measure, Vec<(Instant, f64)>>,
    /// Names of packets.
    pub names: Vec<String>,
    /// Words of marks.
    pub texts: Vec<String>,
    /// The latest observed time, or the time at which the limit was reached.
    pub end: Instant,
    /// Packets that were sent after the end of the film.
    pub omitted: u64,
    limit: usize,
    events: usize,
    places: Places,
    requests: Requests,
    sightings: Sightings,
    queues: Queues,
    in_flight: InFlight<usize>,
    /// Names by their hashes.
    known: HashMap<u64, u32>,
    /// Places of texts.
    spelled: HashMap<String, u32>,
    /// Segments on their way, by consumer and number.
    open: HashMap<(ApplicationId, u64), usize>,
    /// Names of Interests by their trace ids.
    traced: HashMap<u64, u32>,
    /// A drop in a node, and the end of an Interest's trace there: they come in either order.
    dropped: Option<(Instant, NodeId, usize)>,
    died: Option<(Instant, NodeId, u32)>,
    faults: Vec<(Scene, Meaning, String)>,
}

impl Film {
    /// Begins a film of a simulation of `network`, of at most so many events ([`MOST_EVENTS`]).
    pub fn new(network: &Network, limit: usize) -> Self {
        let places = Places::new(network);
        let faults = network.faults.iter().map(|(_, fault)| fault_mark(fault));
        Self {
            requests: Requests::new(network),
            queues: Queues::new(&places),
            faults: faults.collect(),
            limit,
            places,
            crossings: Vec::new(),
            segments: Vec::new(),
            marks: Vec::new(),
            curves: BTreeMap::new(),
            names: Vec::new(),
            texts: Vec::new(),
            end: Instant::ZERO,
            omitted: 0,
            events: 0,
            sightings: Sightings::default(),
            in_flight: InFlight::default(),
            known: HashMap::new(),
            spelled: HashMap::new(),
            open: HashMap::new(),
            traced: HashMap::new(),
            dropped: None,
            died: None,
        }
    }

    /// Names of nodes, links and applications.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Whether the run went on after the film.
    pub fn is_cut(&self) -> bool {
        self.events >= self.limit
    }

    // --- packets ----------------------------------------------------------------------------------

    fn on_sent(&mut self, now: Instant, channel: Channel, packet: &Packet) {
        let since = self.sightings.waited_since(&self.places, now, channel, packet);
        let name = (packet.kind() != Kind::Idle).then(|| {
            let name = self.name(name_hash(packet.name()));
            let text = &mut self.names[name as usize];
            if text.is_empty() {
                *text = packet.name().to_string();
            }
            name
        });
        self.in_flight.send(channel, packet, self.crossings.len());
        self.cross(Crossing {
            channel,
            kind: packet.kind(),
            name,
            bytes: u32::try_from(packet.bytes()).unwrap_or(u32::MAX),
            since: since.unwrap_or(now),
            sent: now,
            left: None,
            lost: None,
        });
    }

    fn on_left(
        &mut self,
        now: Instant,
        channel: Channel,
        packet: &Packet,
        lost: Option<LossReason>,
    ) {
        if let Some(place) = self.in_flight.leave(channel, packet) {
            let crossing = &mut self.crossings[place];
            (crossing.left, crossing.lost) = (Some(now), lost);
        }
    }

    fn on_doubled(&mut self, channel: Channel, packet: &Packet) {
        if let Some(place) = self.in_flight.first(channel, packet) {
            self.in_flight.send(channel, packet, self.crossings.len());
            self.cross(self.crossings[place]);
        }
    }

    fn cross(&mut self, crossing: Crossing) {
        self.events += 1;
        self.crossings.push(crossing);
    }

    fn name(&mut self, hash: u64) -> u32 {
        *self.known.entry(hash).or_insert_with(|| {
            self.names.push(String::new());
            self.names.len() as u32 - 1
        })
    }

    // --- marks ------------------------------------------------------------------------------------

    fn mark(
        &mut self,
        at: Instant,
        scene: Scene,
        meaning: Meaning,
        name: Option<u32>,
        text: impl Into<String>,
    ) {
        let text = text.into();
        let next = self.texts.len() as u32;
        let text = match self.spelled.get(&text) {
            Some(place) => *place,
            None => {
                self.texts.push(text.clone());
                self.spelled.insert(text, next);
                next
            }
        };
        self.events += 1;
        self.marks.push(Mark { at, scene, meaning, name, text });
    }

    fn on_node(&mut self, now: Instant, node: NodeId, event: NodeEvent) {
        let (hash, text) = match event {
            NodeEvent::TraceBorn { id, hash, .. } => {
                let name = self.name(hash);
                self.traced.insert(id, name);
                return;
            }
            NodeEvent::TraceDied { id } => return self.on_death(now, node, id),
            NodeEvent::CsHit { hash } => (hash, "the cache answers"),
            NodeEvent::PitAggregated { hash } => {
                (hash, "the Interest is aggregated with a pending one")
            }
            NodeEvent::PitForwardedAgain { hash } => {
                (hash, "the Interest is forwarded although one is pending")
            }
            NodeEvent::PitSuppressed { hash } => (hash, "the retransmitted Interest is suppressed"),
            NodeEvent::PitExpired { hash } => (hash, "the pending Interest expires"),
            NodeEvent::Reforwarded { hash, .. } => {
                (hash, "its face is gone; the Interest takes another face")
            }
            _ => return,
        };
        let name = self.name(hash);
        self.mark(now, Scene::Node(node), Meaning::Step, Some(name), text);
    }

    fn on_death(&mut self, now: Instant, node: NodeId, id: u64) {
        let Some(name) = self.traced.get(&id).copied() else { return };
        match self.dropped.take() {
            Some((at, place, mark)) if (at, place) == (now, node) => {
                self.marks[mark].name = Some(name);
            }
            _ => self.died = Some((now, node, name)),
        }
    }

    fn on_dropped(&mut self, now: Instant, node: NodeId, kind: Option<Kind>, reason: DropReason) {
        let meaning = match reason {
            DropReason::Loop
            | DropReason::Suppressed
            | DropReason::NackUnmatched
            | DropReason::Repeated => Meaning::Redundant,
            _ => Meaning::Drop,
        };
        let text = format!("{} is dropped: {reason}", kind.map_or("a packet", word));
        let died = self.died.take().filter(|died| (died.0, died.1) == (now, node));
        let name = died.map(|died| died.2);
        self.dropped = name.is_none().then_some((now, node, self.marks.len()));
        self.mark(now, Scene::Node(node), meaning, name, text);
    }

    // --- applications -----------------------------------------------------------------------------

    fn on_request(&mut self, now: Instant, application: ApplicationId, request: Request) {
        let Request { segment: number, transmissions, rto, hash } = request;
        let name = self.name(hash);
        let key = (application, number);
        if transmissions > 1
            && let Some(place) = self.open.get(&key)
        {
            self.segments[*place].transmissions = transmissions;
            let scene = Scene::Application(application);
            let text = format!("sends Interest number {transmissions}; RTO {:.1} ms", millis(rto));
            return self.mark(now, scene, Meaning::Step, Some(name), text);
        }
        self.open.insert(key, self.segments.len());
        self.segments.push(Segment {
            application,
            number,
            name,
            asked: now,
            rto: rto.into(),
            ended: None,
            transmissions,
            bytes: 0,
        });
    }

    fn on_event(&mut self, now: Instant, id: ApplicationId, event: &Event) {
        let (segment, meaning, text) = match *event {
            Event::Received { segment, content_bytes, .. } => {
                return self.close(now, (id, segment), content_bytes);
            }
            Event::Sampled { rtt, .. } => return self.sample(now, Measure::Rtt(id), millis(rtt)),
            Event::Window { window, .. } => return self.state(now, Measure::Window(id), window),
            Event::TimedOut { segment } => {
                (Some(segment), Meaning::Missed, "the retransmission timer expires".into())
            }
            Event::Lost { segment } => {
                (Some(segment), Meaning::Missed, "declares it lost by reordering".into())
            }
            Event::Spurious { segment, cause } => {
                let text = format!("finds the loss spurious, declared by {}", cause.word());
                (Some(segment), Meaning::Step, text)
            }
            Event::Reduced { cause } => {
                (None, Meaning::Step, format!("window reduced: {}", cause.word()))
            }
            Event::Marked { segment } => (Some(segment), Meaning::Step, "receives a mark".into()),
            Event::Nacked { segment, reason } => {
                (segment, Meaning::Missed, format!("receives a Nack: {reason}"))
            }
            Event::LeftOut { segment } => (Some(segment), Meaning::Missed, "gives up".into()),
            _ => return,
        };
        let place = segment.and_then(|segment| self.open.get(&(id, segment)));
        let name = place.map(|place| self.segments[*place].name);
        self.mark(now, Scene::Application(id), meaning, name, text);
        if let (Event::LeftOut { .. }, Some(segment)) = (event, segment) {
            self.close(now, (id, segment), 0);
        }
    }

    fn close(&mut self, now: Instant, key: (ApplicationId, u64), bytes: u32) {
        if let Some(place) = self.open.remove(&key) {
            let segment = &mut self.segments[place];
            (segment.ended, segment.bytes) = (Some(now), bytes);
        }
    }

    /// A sample, which is kept whatever came before it.
    fn sample(&mut self, now: Instant, measure: Measure, value: f64) {
        self.events += 1;
        self.curves.entry(measure).or_default().push((now, value));
    }

    /// A state that lasts. Of several at one time the last one is kept: a packet that leaves a queue at once was never queued.
    fn state(&mut self, now: Instant, measure: Measure, value: f64) {
        let points = self.curves.entry(measure).or_default();
        let before = points.len();
        points.pop_if(|last| last.0 == now);
        if points.last().is_none_or(|last| last.1 != value) {
            points.push((now, value));
        }
        self.events = self.events + points.len() - before;
    }

    /// Updates queues, requests and sightings.
    fn on_state(&mut self, now: Instant, observation: &Observation<'_>) {
        let (mut lengths, mut requests) = (Vec::new(), Vec::new());
        self.queues.on(&self.places, observation, |channel, waiting| {
            lengths.push((channel, waiting.packets));
        });
        for (channel, packets) in lengths {
            self.state(now, Measure::Queue(channel.index()), packets as f64);
        }
        self.requests.on(&self.places, observation, |id, request| requests.push((id, request)));
        for (id, request) in requests {
            self.on_request(now, id, request);
        }
        self.sightings.on(&self.places, now, observation);
    }
}

fn millis(span: Span) -> f64 {
    Duration::from(span).as_secs_f64() * 1e3
}

/// A fault as a mark.
fn fault_mark(fault: &Fault) -> (Scene, Meaning, String) {
    let way = |direction: &Direction| match direction {
        Direction::Forth => "forth",
        Direction::Back => "back",
    };
    match fault {
        Fault::LinkDown(link) => (Scene::Link(*link), Meaning::Down, "fails".into()),
        Fault::LinkUp(link) => (Scene::Link(*link), Meaning::Up, "works again".into()),
        Fault::OutageBegins(link, it) => {
            (Scene::Link(*link), Meaning::Down, format!("carries nothing {}", way(it)))
        }
        Fault::OutageEnds(link, it) => {
            (Scene::Link(*link), Meaning::Up, format!("carries packets again {}", way(it)))
        }
        Fault::NodeDown(node) => (Scene::Node(*node), Meaning::Down, "fails".into()),
        Fault::NodeUp(node) => (Scene::Node(*node), Meaning::Up, "is back".into()),
        Fault::Change(link, it, _) => {
            (Scene::Link(*link), Meaning::Step, format!("changes {}", way(it)))
        }
    }
}

impl Observer for Film {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if self.is_cut() {
            self.omitted += u64::from(matches!(observation, Observation::Sent { .. }));
            return;
        }
        self.end = now;
        self.on_state(now, observation);
        match *observation {
            Observation::Application { application, report: Report::Event(event) } => {
                self.on_event(now, application, event);
            }
            Observation::Node { node, event } => self.on_node(now, node, event),
            Observation::Sent { link, direction, packet } => {
                self.on_sent(now, Channel::new(link, direction), packet);
            }
            Observation::Arrived { link, direction, packet } => {
                self.on_left(now, Channel::new(link, direction), packet, None);
            }
            Observation::Lost { link, direction, packet, reason } => {
                self.on_left(now, Channel::new(link, direction), packet, Some(reason));
            }
            Observation::Doubled { link, direction, packet } => {
                self.on_doubled(Channel::new(link, direction), packet);
            }
            Observation::Dropped { node, kind, reason } => {
                self.on_dropped(now, node, kind, reason);
            }
            Observation::Joined { client, point, .. } => {
                let text = format!("joins {}", self.places.node(point));
                self.mark(now, Scene::Node(client), Meaning::Step, None, text);
            }
            Observation::Left { client, point } => {
                let text = format!("leaves {}", self.places.node(point));
                self.mark(now, Scene::Node(client), Meaning::Step, None, text);
            }
            Observation::Fault { number } => {
                if let Some((scene, meaning, text)) = self.faults.get(number).cloned() {
                    self.mark(now, scene, meaning, None, text);
                }
            }
            _ => {}
        }
    }
}
