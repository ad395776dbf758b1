//! Macroflows: fetches over one path that share one congestion control.
//!
//! A path has one congestion window, however many objects are fetched over it. Fetches of a macroflow send by one window
//! and one pacer, and their deliveries and losses go to one congestion control. A fetch that begins later finds the
//! window of the path, and its round-trip time. A fetch without such company is a macroflow of its own.
//!
//! *Division.* A fetch is backlogged if it has a segment to request and memory for its content. Backlogged fetches get
//! equal parts of the window that the others leave (max-min fairness). A fetch without Interests in flight may always send
//! if the window permits. If the window is smaller than the number of fetches, they take turns.
//!
//! *Order.* Congestion controls identify transmissions by their send order in the macroflow. A fetch also counts its own
//! transmissions, by which its loss detector judges. Fetches judge Data one after the other, each its own. Deliveries of
//! one wake-up therefore wait until all fetches have judged, and reach the congestion control in the order of arrival.
//!
//! Source: RFC 3124 (Congestion Manager) for macroflows; RFC 9040 for what begins with the state of earlier flows.
//!
//! Differences: nothing is apportioned in advance, because the node polls all its applications whenever one of them has
//! received something. Timers and loss detectors belong to each fetch. State without any fetch is forgotten after
//! [`REMEMBERED`], except for the round-trip time.
use super::FetchConfig;
use super::pacer::Pacer;
use crate::congestion::{Accounting, CongestionControl, Delivered, Loss, LossCause};
use crate::time::{Duration, Instant};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// Time without any fetch after which the state of the path is forgotten: as long as the default remembers a base
/// round trip.
const REMEMBERED: Duration = Duration::from_secs(10);

/// Time since a delivery within which the path is no silent one.
const SILENT: Duration = Duration::from_secs(1);

/// The congestion state of a path. Clones are the same macroflow.
///
/// Its fetches have equal congestion controls, and their applications are attached to one node.
#[derive(Clone)]
pub struct Macroflow {
    state: Rc<RefCell<State>>,
    /// The smoothed round trip of the latest delivery.
    srtt: Rc<Cell<Option<Duration>>>,
}

impl fmt::Debug for Macroflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        f.debug_struct("Macroflow")
            .field("congestion", &state.congestion)
            .field("fetches", &state.fetches)
            .finish_non_exhaustive()
    }
}

/// State that the fetches of a macroflow share.
struct State {
    congestion: Box<dyn CongestionControl>,
    pacer: Pacer,
    /// Highest send order.
    orders: u64,
    fetches: u64,
    /// Number of the latest fetch.
    numbers: u64,
    /// Segments of all fetches that count against the window.
    load: u64,
    backlogged: Backlogged,
    /// The fetch that sent last.
    last: u64,
    min_rtt: Option<Duration>,
    last_active: Instant,
    last_delivery: Option<Instant>,
    receive: Receive,
    batch: Batch,
}

/// Data of one wake-up.
#[derive(Debug, Default)]
struct Batch {
    /// Number of the latest Data.
    arrivals: u64,
    /// Data that its fetch has not judged yet.
    unjudged: u64,
    /// Deliveries that wait for it: number, time, and facts.
    waiting: Vec<(u64, Instant, Delivered)>,
    /// Latest time that the congestion control knows.
    latest: Instant,
}

/// Fetches that have a segment to request, and memory for its content.
#[derive(Clone, Copy, Debug, Default)]
struct Backlogged {
    fetches: u64,
    load: u64,
    /// Those without Interests in flight.
    idle: u64,
}

/// Limit by the receive buffer of the face.
#[derive(Clone, Copy, Debug, Default)]
struct Receive {
    /// Sum of the shares of the fetches that transfer, in bytes; 0 without a limit.
    bytes: u64,
    /// Size of the largest segment.
    segment_bytes: Option<u64>,
}

impl State {
    fn new(config: &FetchConfig) -> Self {
        Self {
            congestion: build(config),
            pacer: Pacer::default(),
            orders: 0,
            fetches: 0,
            numbers: 0,
            load: 0,
            backlogged: Backlogged::default(),
            last: 0,
            min_rtt: None,
            last_active: Instant::ZERO,
            last_delivery: None,
            receive: Receive::default(),
            batch: Batch::default(),
        }
    }

    /// Hands the congestion control the deliveries that wait, in the order of arrival.
    fn flush(&mut self) {
        self.batch.waiting.sort_unstable_by_key(|(number, ..)| *number);
        for (_, now, delivered) in self.batch.waiting.drain(..) {
            self.batch.latest = self.batch.latest.max(now);
            self.congestion.on_delivered(self.batch.latest, &delivered);
        }
    }

    /// The time for the congestion control, for which no time passes backwards: a fetch may judge Data after the timer of
    /// another one has expired.
    fn pass(&mut self, now: Instant) -> Instant {
        self.batch.latest = self.batch.latest.max(now);
        self.batch.latest
    }

    /// Limits the window by the receive buffer, once a segment's size is known: a larger burst would overrun the
    /// buffer.
    fn limit_window(&mut self) {
        let Receive { bytes, segment_bytes } = self.receive;
        // Half of it: the kernel charges its own overhead to the buffer.
        let segments = |segment: u64| (bytes / 2 / (segment + 200)).max(1) as f64;
        let limit = segment_bytes.filter(|_| bytes > 0).map_or(f64::INFINITY, segments);
        self.congestion.set_limit(limit);
    }
}

fn build(config: &FetchConfig) -> Box<dyn CongestionControl> {
    let mut congestion = config.options.congestion.build();
    congestion.seed(config.rng.substream("congestion"));
    congestion
}

impl Macroflow {
    /// A macroflow without fetches, with the congestion control of `config` in its initial state.
    #[must_use]
    pub fn new(config: &FetchConfig) -> Self {
        Self { state: Rc::new(RefCell::new(State::new(config))), srtt: Rc::default() }
    }

    /// Another macroflow over the same face: only the round-trip time is common.
    #[must_use]
    pub fn beside(&self, config: &FetchConfig) -> Self {
        Self { srtt: Rc::clone(&self.srtt), ..Self::new(config) }
    }

    /// The smoothed round trip of the latest delivery.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt.get()
    }

    /// Whether it has fetches.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.state.borrow().fetches > 0
    }

    /// Adds a fetch. A congestion control that counts by segment numbers is not shared.
    pub(super) fn join(&self, now: Instant, config: &FetchConfig) -> Member {
        let is_shareable = self.state.borrow().congestion.is_shareable();
        let flow = if is_shareable { self.clone() } else { self.beside(config) };
        let mut state = flow.state.borrow_mut();
        if state.fetches == 0 {
            state.receive = Receive::default();
            if now.since(state.last_active) > REMEMBERED {
                (state.congestion, state.pacer, state.min_rtt) =
                    (build(config), Pacer::default(), None);
            }
            state.limit_window();
        }
        state.fetches += 1;
        state.numbers += 1;
        let number = state.numbers;
        drop(state);
        let (load, is_backlogged, receive_bytes, blocked, unjudged) = (0, false, None, None, 0);
        let has_answered = false;
        Member { flow, number, load, is_backlogged, receive_bytes, blocked, unjudged, has_answered }
    }
}

/// The part of one fetch in its macroflow.
pub(super) struct Member {
    flow: Macroflow,
    /// Its number among the fetches of the macroflow, from 1.
    number: u64,
    /// Its segments that count against the window, as it reported them last.
    load: u64,
    is_backlogged: bool,
    receive_bytes: Option<u64>,
    /// Time at which pacing permits the next Interest that the window allows.
    blocked: Option<Instant>,
    /// Its Data that it has not judged yet.
    unjudged: u64,
    /// Its producer has answered, if only the discovery.
    has_answered: bool,
}

impl Member {
    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.flow.state.borrow())
    }

    /// Calls the congestion control, which then knows all deliveries that have been judged.
    fn congestion<T>(&self, call: impl FnOnce(&mut dyn CongestionControl) -> T) -> T {
        let mut state = self.flow.state.borrow_mut();
        state.flush();
        call(state.congestion.as_mut())
    }

    /// Segments that may be in flight, of all fetches.
    pub(super) fn window(&self) -> f64 {
        self.read(|state| state.congestion.window())
    }

    /// Slow-start threshold.
    pub(super) fn ssthresh(&self) -> f64 {
        self.read(|state| state.congestion.ssthresh())
    }

    /// Delay-based part of the window.
    pub(super) fn delay_window(&self) -> f64 {
        self.read(|state| state.congestion.delay_window())
    }

    /// Segments that count against the window.
    pub(super) fn accounting(&self) -> Accounting {
        self.read(|state| state.congestion.accounting())
    }

    /// Lower limit of the retransmission timeout.
    pub(super) fn least_timeout(&self) -> Option<Duration> {
        self.read(|state| state.congestion.least_timeout())
    }

    /// Upper limit of the retransmission timeout in a silence.
    pub(super) fn silence_timeout(&self) -> Option<Duration> {
        self.read(|state| state.congestion.silence_timeout())
    }

    /// Highest send order in the macroflow.
    pub(super) fn highest_order(&self) -> u64 {
        self.read(|state| state.orders)
    }

    /// Segments of the macroflow in flight, if so many are of this fetch.
    pub(super) fn in_flight(&self, own: u64) -> u32 {
        let others = self.read(|state| state.load - self.load);
        u32::try_from(others + own).unwrap_or(u32::MAX)
    }

    /// Least round-trip time of the macroflow, if this is the least one of the fetch.
    pub(super) fn min_rtt(&self, own: Option<Duration>) -> Option<Duration> {
        self.read(|state| own.into_iter().chain(state.min_rtt).min())
    }

    /// Segments that have not been requested yet, if so many are of this fetch. Further fetches may follow where there
    /// are several.
    pub(super) fn remaining(&self, own: Option<u64>) -> Option<u64> {
        own.filter(|_| self.is_alone())
    }

    /// Whether the macroflow has no other fetch.
    pub(super) fn is_alone(&self) -> bool {
        self.read(|state| state.fetches == 1)
    }

    // --- sending --------------------------------------------------------------------------------

    /// Records the segments that count against the window, and whether the fetch could send another one.
    pub(super) fn report(&mut self, load: u64, is_backlogged: bool) {
        if (load, is_backlogged) == (self.load, self.is_backlogged) {
            return;
        }
        let mut state = self.flow.state.borrow_mut();
        state.load = state.load - self.load + load;
        if self.is_backlogged {
            state.backlogged.fetches -= 1;
            state.backlogged.load -= self.load;
            state.backlogged.idle -= u64::from(self.load == 0);
        }
        if is_backlogged {
            state.backlogged.fetches += 1;
            state.backlogged.load += load;
            state.backlogged.idle += u64::from(load == 0);
        }
        (self.load, self.is_backlogged) = (load, is_backlogged);
    }

    /// Whether the window permits one more segment beside so many of this fetch, and it is the turn of this fetch.
    pub(super) fn may_send(&self, load: u64) -> bool {
        self.read(|state| {
            let window = state.congestion.window();
            let all = state.load - self.load + load;
            all as f64 + 1.0 <= window && (state.fetches == 1 || self.is_next(state, window))
        })
    }

    fn is_next(&self, state: &State, window: f64) -> bool {
        let Backlogged { fetches, load, idle } = state.backlogged;
        let left = window - (state.load - load) as f64;
        let has_part = self.load == 0 || (self.load as f64) < left / fetches.max(1) as f64;
        let has_had_turn = self.load == 0 && state.last == self.number && idle > 1;
        has_part && !has_had_turn
    }

    /// Whether pacing permits an Interest now; if not, the time of the next one is recorded. `remaining` segments of
    /// the fetch have not been requested yet.
    pub(super) fn is_paced(&mut self, now: Instant, remaining: Option<u64>) -> bool {
        let remaining = self.remaining(remaining);
        let mut state = self.flow.state.borrow_mut();
        let rate = state.congestion.pacing_rate(remaining);
        self.blocked = state.pacer.wait(now, rate);
        self.blocked.is_none()
    }

    /// Records that no Interest waits for the pacer.
    pub(super) fn release(&mut self) {
        self.blocked = None;
    }

    /// Time at which pacing permits the next Interest.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.blocked
    }

    /// Records an Interest. Returns its send order in the macroflow.
    pub(super) fn on_sent(&mut self, now: Instant, remaining: Option<u64>) -> u64 {
        let remaining = self.remaining(remaining);
        let state = &mut *self.flow.state.borrow_mut();
        let (rate, window) = (state.congestion.pacing_rate(remaining), state.congestion.window());
        state.pacer.on_sent(now, rate, window);
        (state.last, state.last_active) = (self.number, now);
        state.orders += 1;
        state.orders
    }

    // --- answers and losses ---------------------------------------------------------------------

    /// Data for the fetch waited for this process for so long.
    pub(super) fn on_waited(&self, wait: Duration) {
        let state = &mut *self.flow.state.borrow_mut();
        state.pacer.on_waited(wait);
        state.congestion.on_waited(state.pacer.waits());
    }

    /// Data for the fetch arrived. Returns its number in the macroflow.
    pub(super) fn on_arrival(&mut self) -> u64 {
        let batch = &mut self.flow.state.borrow_mut().batch;
        (self.unjudged, batch.unjudged) = (self.unjudged + 1, batch.unjudged + 1);
        batch.arrivals += 1;
        batch.arrivals
    }

    /// A segment arrived, in Data of this number.
    pub(super) fn on_delivered(&mut self, now: Instant, number: u64, delivered: &Delivered) {
        self.flow.srtt.set(delivered.srtt.or(self.flow.srtt.get()));
        let mut state = self.flow.state.borrow_mut();
        self.has_answered = true;
        (state.last_active, state.min_rtt) = (now, delivered.min_rtt);
        state.last_delivery = Some(now);
        if state.fetches == 1 && state.batch.waiting.is_empty() {
            let now = state.pass(now);
            state.congestion.on_delivered(now, delivered);
        } else {
            state.batch.waiting.push((number, now, *delivered));
        }
    }

    /// The fetch has judged all its Data.
    pub(super) fn on_judged(&mut self) {
        let mut state = self.flow.state.borrow_mut();
        state.batch.unjudged -= std::mem::take(&mut self.unjudged);
        if state.batch.unjudged == 0 {
            state.flush();
        }
    }

    /// Inferred cause of a loss.
    pub(super) fn cause(&self, loss: &Loss) -> Option<LossCause> {
        self.congestion(|it| it.cause(loss))
    }

    /// Records that the producer has answered.
    pub(super) fn on_answer(&mut self) {
        self.has_answered = true;
    }

    /// Whether the producer has never answered, while the path delivers to other fetches: a loss shows nothing of the path.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        let delivers = |at: Instant| now.since(at) < SILENT;
        let is_mute = !self.has_answered && !self.is_alone();
        is_mute && self.read(|state| state.last_delivery.is_some_and(delivers))
    }

    /// A transmission was lost. True if this begins a new loss event.
    pub(super) fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool {
        let now = self.flow.state.borrow_mut().pass(now);
        self.congestion(|it| it.on_loss(now, loss))
    }

    /// A link repaired a transmission. True if the window was reduced.
    pub(super) fn on_repaired(&mut self, now: Instant, loss: &Loss) -> bool {
        let now = self.flow.state.borrow_mut().pass(now);
        self.congestion(|it| it.on_repaired(now, loss))
    }

    /// The loss of a transmission was spurious. True if the window was restored.
    pub(super) fn on_spurious(&mut self, now: Instant, order: u64) -> bool {
        let now = self.flow.state.borrow_mut().pass(now);
        self.congestion(|it| it.on_spurious(now, order))
    }

    /// A recovery episode is over.
    pub(super) fn on_recovered(&mut self, now: Instant) {
        let now = self.flow.state.borrow_mut().pass(now);
        self.congestion(|it| it.on_recovered(now));
    }

    // --- receive buffer -------------------------------------------------------------------------

    /// Sets the share of this fetch in the receive buffer of the face, in bytes.
    pub(super) fn set_receive_bytes(&mut self, bytes: Option<u64>) {
        let mut state = self.flow.state.borrow_mut();
        let before = std::mem::replace(&mut self.receive_bytes, bytes);
        let receive = &mut state.receive;
        receive.bytes = (receive.bytes - before.unwrap_or(0)).saturating_add(bytes.unwrap_or(0));
        state.limit_window();
    }

    /// Records the size of a segment.
    pub(super) fn on_segment_bytes(&mut self, bytes: u64) {
        let mut state = self.flow.state.borrow_mut();
        if state.receive.segment_bytes.is_none_or(|known| bytes > known) {
            state.receive.segment_bytes = Some(bytes);
            state.limit_window();
        }
    }
}

impl Drop for Member {
    /// Interests of the fetch that are in flight are withdrawn.
    fn drop(&mut self) {
        self.report(0, false);
        self.on_judged();
        let mut state = self.flow.state.borrow_mut();
        state.fetches -= 1;
        state.receive.bytes -= self.receive_bytes.unwrap_or(0);
        state.limit_window();
    }
}

#[cfg(test)]
mod tests;
