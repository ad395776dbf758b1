//! Link recovery: its users, and the state that outlives a face that is down.
use super::watch::Watch;
use super::wire::Piece;
use super::{Duty, Link, Port, Timers, port};
use crate::face::{FaceAttributes, FaceId};
use crate::packet::Packet;
use recoup_transport::link::recovery::{Agreement, Counters, FrameKind, Replaced, Sessions};
use recoup_transport::link::{LinkRecovery, Pool, Recovery};
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::sync::Arc;

/// Most bytes held for all peers together that opened their faces: as much as 1 Gbit/s has in flight for 64 ms.
pub(super) const POOL_BYTES: u64 = 8 << 20;

/// One end of a link with recovery, which holds what the far end has not acknowledged.
#[derive(Debug)]
pub(super) struct Recovering<T> {
    settings: Recovery,
    pub(super) end: Box<dyn LinkRecovery<T>>,
    is_down: bool,
    /// Time of its next timer, as set in [`Timers`].
    due: Option<Instant>,
    /// Packets sent.
    pub(super) packets: u64,
    /// Detection of a silent neighbour, if the node has it.
    watch: Option<Box<Watch>>,
    /// The face leads toward producers: its Data is that of the node's own applications.
    is_upstream: bool,
}

impl<T> Recovering<T> {
    /// Sets the timer again.
    #[inline]
    pub(super) fn arm(&mut self, id: FaceId, timers: &mut Timers) {
        let mut due = self.end.deadline();
        if let Some(at) = self.watch.as_ref().and_then(|watch| watch.deadline()) {
            due = Some(due.map_or(at, |due| due.min(at)));
        }
        timers.set(&mut self.due, Duty::Recovery, id, due);
    }

    /// Records a packet that leaves. An Interest waits for an answer. Data toward a forwarder, and keep-alives, are
    /// followed by an Interest, or by a question to the neighbour.
    #[inline]
    pub(super) fn sends(&mut self, now: Instant, kind: FrameKind) {
        if let Some(watch) = &mut self.watch
            && (kind == FrameKind::Interest || self.is_upstream)
        {
            watch.on_interest(now, self.end.answers());
        }
    }

    /// Begins to detect a silent neighbour.
    fn begin_watch(&mut self) {
        let watch = || Box::new(Watch::new(self.is_upstream, self.end.answers()));
        self.watch.get_or_insert_with(watch);
    }

    /// Records a frame with a link header; returns the change if another neighbour than before has answered, as far as
    /// the node detects that. A frame that ends a silence brings the face up anyway.
    pub(super) fn receives_control(&mut self, now: Instant, has_packet: bool) -> Option<Replaced> {
        let was_silent = self.is_silent();
        self.receives(now, has_packet);
        // Taken without a watch, too: a change before the watch began is not reported later.
        let (replaced, answers) = (self.end.take_replaced(), self.end.answers());
        let replaced = self.watch.as_mut()?.on_answer(now, answers, replaced);
        replaced.filter(|_| !was_silent)
    }

    /// Records a frame that arrived.
    #[inline]
    pub(super) fn receives(&mut self, now: Instant, has_packet: bool) {
        if let Some(watch) = &mut self.watch {
            watch.on_frame(now, has_packet);
        }
    }

    /// Handles expired timers.
    fn fire(&mut self, now: Instant) {
        self.end.fire(now);
        let Some(watch) = &mut self.watch else {
            return;
        };
        if watch.fire(now, self.end.answers()) {
            self.end.ask(now);
        }
        if watch.is_silent() {
            self.end.forget_answers();
        }
    }

    /// Whether the neighbour has left all questions unanswered.
    fn is_silent(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_silent())
    }

    /// Sets the timer to `now`, after all other work.
    pub(super) fn wake(&mut self, id: FaceId, timers: &mut Timers, now: Instant) {
        timers.set(&mut self.due, Duty::Recovery, id, Some(now));
    }
}

/// The recovery of a permanent face that is down.
#[derive(Debug)]
enum Resting {
    Wire(Recovering<Piece>),
    Value(Recovering<Packet>),
}

/// Common state of all recoveries, and recoveries of faces that are down.
#[derive(Debug)]
pub(super) struct Recoveries {
    /// A face recovers losses, or did; otherwise no search is needed.
    pub(super) any: bool,
    resting: BTreeMap<FaceId, Resting>,
    /// Counters of recoveries that are gone.
    past: Counters,
    /// Number of recoveries so far: each draws a session of its own.
    made: u64,
    rng: Rng,
    /// First bits of the node's sessions.
    node: u16,
    /// Neighbours that fall silent are detected.
    pub(super) watches: bool,
    /// Memory of frames held for peers that opened their faces.
    pool: Arc<Pool>,
    /// These faces.
    peers: BTreeSet<FaceId>,
}

impl Recoveries {
    pub(super) fn new(rng: Rng) -> Self {
        let (resting, past, made, peers) = Default::default();
        let node = (rng.substream("recovery/node").next_u64() >> 48) as u16;
        let pool = Arc::new(Pool::new(POOL_BYTES));
        Self { any: false, resting, past, made, rng, node, watches: false, pool, peers }
    }

    /// Opens the recovery of a link with these settings; an earlier one with equal settings continues.
    pub(super) fn up(
        &mut self,
        now: Instant,
        id: FaceId,
        attributes: &FaceAttributes,
        link: &mut Link,
        timers: &mut Timers,
    ) {
        let rested = self.resting.remove(&id);
        match link {
            Link::Wire(link) => {
                let before = match rested {
                    Some(Resting::Wire(rested)) => Some(rested),
                    Some(Resting::Value(other)) => {
                        self.retire(id, other, timers);
                        None
                    }
                    None => link.recovery.take(),
                };
                link.recovery = self.go_on(now, id, attributes, before, timers);
            }
            Link::Value(link) => {
                let before = match rested {
                    Some(Resting::Value(rested)) => Some(rested),
                    Some(Resting::Wire(other)) => {
                        self.retire(id, other, timers);
                        None
                    }
                    None => link.recovery.take(),
                };
                link.recovery = self.go_on(now, id, attributes, before, timers);
            }
        }
        if self.watches && !attributes.local {
            Self::begin_watch(link);
        }
    }

    /// Continues the recovery `before` if its settings are those of the face; else it ends, and another one begins.
    fn go_on<T: Clone + fmt::Debug + Send + 'static>(
        &mut self,
        now: Instant,
        id: FaceId,
        attributes: &FaceAttributes,
        before: Option<Recovering<T>>,
        timers: &mut Timers,
    ) -> Option<Recovering<T>> {
        let settings = attributes.recovery;
        let mut recovering = match before {
            Some(before) if before.settings == settings => before,
            before => {
                if let Some(before) = before {
                    self.retire(id, before, timers);
                }
                if settings.is_off() {
                    return None;
                }
                let rng = self.rng.substream(&format!("recovery/{}", self.made));
                self.made += 1;
                let mut end = settings.build(Sessions::of_node(self.node, rng));
                if !attributes.permanent {
                    end.share(&self.pool);
                    self.peers.insert(id);
                }
                let is_upstream = attributes.upstream;
                let (due, watch, packets) = Default::default();
                Recovering { settings, end, is_down: true, due, packets, watch, is_upstream }
            }
        };
        if std::mem::take(&mut recovering.is_down) {
            recovering.end.link_up(now, attributes.permanent);
        }
        Some(recovering)
    }

    /// Closes the recovery of a link; its state is kept if `keep`.
    pub(super) fn down(
        &mut self,
        now: Instant,
        id: FaceId,
        link: &mut Link,
        keep: bool,
        timers: &mut Timers,
    ) {
        self.rest(id, link);
        if !keep {
            return self.forget(id, timers);
        }
        match self.resting.get_mut(&id) {
            Some(Resting::Wire(it)) => it.down(now, id, timers),
            Some(Resting::Value(it)) => it.down(now, id, timers),
            None => {}
        }
    }

    /// Keeps the recovery of a link until a link of the face is up again.
    pub(super) fn rest(&mut self, id: FaceId, link: &mut Link) {
        let resting = match link {
            Link::Wire(link) => link.recovery.take().map(Resting::Wire),
            Link::Value(link) => link.recovery.take().map(Resting::Value),
        };
        resting.map(|resting| self.resting.insert(id, resting));
    }

    /// Ends the recovery of a face that is down.
    pub(super) fn forget(&mut self, id: FaceId, timers: &mut Timers) {
        match self.resting.remove(&id) {
            Some(Resting::Wire(it)) => self.retire(id, it, timers),
            Some(Resting::Value(it)) => self.retire(id, it, timers),
            None => {}
        }
    }

    /// Ends a recovery; its held frames are lost with it.
    fn retire<T>(&mut self, id: FaceId, mut it: Recovering<T>, timers: &mut Timers) {
        timers.set(&mut it.due, Duty::Recovery, id, None);
        self.peers.remove(&id);
        let all = it.end.counters();
        let given_up = all.given_up + all.held;
        self.past += Counters { given_up, held: 0, held_bytes: 0, ..all };
    }

    /// Handles the expired timer of a face's recovery.
    pub(super) fn fire(
        &mut self,
        now: Instant,
        id: FaceId,
        link: Option<&mut Link>,
        timers: &mut Timers,
    ) {
        match link {
            Some(Link::Wire(link)) => {
                if let Some(it) = &mut link.recovery {
                    it.fire(now);
                }
            }
            Some(Link::Value(link)) => {
                if let Some(it) = &mut link.recovery {
                    it.fire(now);
                }
            }
            None => match self.resting.get_mut(&id) {
                Some(Resting::Wire(it)) => it.fire_resting(now, id, timers),
                Some(Resting::Value(it)) => it.fire_resting(now, id, timers),
                None => {}
            },
        }
    }

    /// Begins to detect a silent neighbour of a link that is up. Values come from simulations, which report faces.
    pub(super) fn begin_watch(link: &mut Link) {
        if let Link::Wire(link) = link {
            link.recovery.iter_mut().for_each(Recovering::begin_watch);
        }
    }

    /// Whether the links hold more for their peers than is allowed in all.
    #[inline]
    pub(super) fn are_full(&self) -> bool {
        self.pool.is_full()
    }

    /// Halves the frames of the peer that holds most, until a quarter of the memory is free: then a search of all peers
    /// is rare.
    pub(super) fn shed(&mut self, ports: &mut [(FaceId, Box<Port>)]) {
        let mut held = |id| Some(port(ports, id)?.link.recovery_counters()?.memory_bytes());
        let mut peers: BinaryHeap<_> =
            self.peers.iter().filter_map(|id| Some((held(*id)?, *id))).collect();
        while self.pool.held_bytes() > POOL_BYTES / 4 * 3
            && let Some((bytes, id)) = peers.pop()
            && bytes > 0
        {
            match port(ports, id).map(|port| &mut port.link) {
                Some(Link::Wire(link)) => link.recovery.iter_mut().for_each(|it| it.end.shed()),
                Some(Link::Value(link)) => link.recovery.iter_mut().for_each(|it| it.end.shed()),
                None => {}
            }
            let left = port(ports, id).and_then(|port| port.link.recovery_counters());
            peers.push((left.map_or(0, |it| it.memory_bytes()), id));
        }
    }

    /// Whether the neighbour of a link has left all questions unanswered.
    pub(super) fn is_silent(link: &Link) -> bool {
        match link {
            Link::Wire(link) => link.recovery.as_ref().is_some_and(Recovering::is_silent),
            Link::Value(_) => false,
        }
    }

    /// Counters of the recovery of a face.
    pub(super) fn counters(&self, id: FaceId, link: Option<&Link>) -> Option<Counters> {
        let up = link.and_then(Link::recovery_counters);
        up.or_else(|| self.resting.get(&id).map(Resting::counters))
    }

    /// Counters of all recoveries, including those that are gone; `None` if there never was one.
    pub(super) fn all<'a>(&self, links: impl Iterator<Item = &'a Link>) -> Option<Counters> {
        let (mut all, mut any) = (self.past, self.past != Counters::default());
        let resting = self.resting.values().map(Resting::counters);
        for counters in links.filter_map(Link::recovery_counters).chain(resting) {
            all += counters;
            any = true;
        }
        any.then_some(all)
    }

    /// Whether both ends of the link of a face recover losses.
    pub(super) fn agreement(&self, id: FaceId, link: Option<&Link>) -> Agreement {
        let up = link.and_then(|link| match link {
            Link::Wire(link) => Some(link.recovery.as_ref()?.end.agreement()),
            Link::Value(link) => Some(link.recovery.as_ref()?.end.agreement()),
        });
        let resting = || match self.resting.get(&id)? {
            Resting::Wire(it) => Some(it.end.agreement()),
            Resting::Value(it) => Some(it.end.agreement()),
        };
        up.or_else(resting).unwrap_or(Agreement::Off)
    }
}

impl<T> Recovering<T> {
    fn down(&mut self, now: Instant, id: FaceId, timers: &mut Timers) {
        self.is_down = true;
        self.end.link_down(now);
        // Nothing can be asked over a link that is down.
        if let Some(watch) = &mut self.watch {
            **watch = Watch::new(self.is_upstream, false);
        }
        self.arm(id, timers);
    }

    fn fire_resting(&mut self, now: Instant, id: FaceId, timers: &mut Timers) {
        self.end.fire(now);
        self.arm(id, timers);
    }
}

impl Resting {
    fn counters(&self) -> Counters {
        match self {
            Self::Wire(it) => it.end.counters(),
            Self::Value(it) => it.end.counters(),
        }
    }
}

impl Link {
    fn recovery_counters(&self) -> Option<Counters> {
        match self {
            Self::Wire(link) => Some(link.recovery.as_ref()?.end.counters()),
            Self::Value(link) => Some(link.recovery.as_ref()?.end.counters()),
        }
    }
}
