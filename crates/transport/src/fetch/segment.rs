//! The transfer of one version of one object, segment by segment.
use super::assemble::Assembler;
use super::discover::{REFUSED_WAIT, REFUSED_WAIT_MAX, backed_off};
use super::end::End;
use super::error::FetchError;
use super::scoreboard::{Scoreboard, Slot};
use super::{Arrival, FetchConfig};
use crate::application::Report;
use crate::congestion::{Delivered, Loss, LossKind};
use crate::event::{Event, Signal};
use crate::rto::Sampler;
use crate::time::{Duration, Instant};
use crate::timer::Timers;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::Verdict;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Segment size assumed before the first one has arrived, in octets.
const ASSUMED_SEGMENT_BYTES: u64 = 8_000;

/// Why a segment waits to be asked for again without having timed out.
#[derive(Clone, Copy, Debug)]
enum Setback {
    Refused(NackReason),
    Untrusted(&'static str),
}

/// One transfer.
#[derive(Debug)]
pub(super) struct Transfer {
    object: Name,
    board: Scoreboard,
    timers: Timers,
    started: Instant,
    sampler: Sampler,
    min_rtt: Option<Duration>,
    end: End,
    assembler: Assembler,
    segment_bytes: Option<u64>,
    receive_budget: Option<u64>,
    setbacks: BTreeMap<u64, Setback>,
    /// The lowest segment that is not to be had. It counts once it turns out to lie before the end.
    failed: Option<(u64, FetchError)>,
    last_window: f64,
    /// Segment 0 was asked for by a prefix probe too, so that its Data may answer that.
    probed: bool,
    /// Send orders of what timed out at one instant; empty in between.
    lost: Vec<u64>,
    /// Highest segment that has arrived (`highData` of yang2016); 0 before any.
    high_data: u64,
    /// Highest segment that was asked for (`highInterest` of yang2016); 0 before any.
    high_interest: u64,
}

/// What Data is to the transfer.
enum Match {
    /// An answer that is awaited.
    Awaited(u64),
    /// An answer to an Interest that its timeout withdrew.
    Withdrawn(u64),
    /// Nothing that was asked for, or that is not there already.
    Stray,
}

type Reports = VecDeque<Report>;

fn emit(reports: &mut Reports, event: Event) {
    reports.push_back(Report::Event(event));
}

/// The timer of a segment: two segments on the board never share one.
fn timer(segment: u64) -> u32 {
    (segment % Scoreboard::SPAN) as u32
}

impl Transfer {
    pub(super) fn new(config: &FetchConfig, object: Name, probed: bool, now: Instant) -> Self {
        let board = Scoreboard::new(config.first, config.held.iter().cloned());
        Self {
            assembler: Assembler::new(config.delivery, board.base()),
            object,
            board,
            timers: Timers::new(),
            started: now,
            sampler: Sampler::new(config.sampling),
            min_rtt: None,
            end: End::new(config.last),
            segment_bytes: None,
            receive_budget: None,
            setbacks: BTreeMap::new(),
            failed: None,
            last_window: 0.0,
            probed,
            lost: Vec::new(),
            high_data: 0,
            high_interest: 0,
        }
    }

    /// The receiving socket holds that many octets.
    pub(super) fn set_receive_budget(&mut self, config: &mut FetchConfig, octets: Option<u64>) {
        self.receive_budget = octets;
        self.limit_window(config);
    }

    /// Bounds the window by what the receiving socket can hold, once a segment's size is known: a
    /// burst that overruns it is lost by our own doing.
    fn limit_window(&self, config: &mut FetchConfig) {
        if let (Some(budget), Some(bytes)) = (self.receive_budget, self.segment_bytes) {
            // Half of it: the kernel counts its own book-keeping against the budget.
            config.congestion.set_limit((budget / 2 / (bytes + 200)).max(1) as f64);
        }
    }

    fn learn_segment_size(&mut self, config: &mut FetchConfig, octets: u64) {
        if self.segment_bytes.is_none_or(|known| octets > known) {
            self.segment_bytes = Some(octets);
            self.limit_window(config);
        }
    }

    // --- asking ---------------------------------------------------------------------------------

    /// The next segment that may be asked for now: retransmissions before new ones.
    fn next_segment(&mut self, config: &FetchConfig) -> Option<u64> {
        if f64::from(self.board.in_flight()) + 1.0 > config.congestion.window() {
            return None;
        }
        if let Some(queued) = self.board.first_queued() {
            return Some(queued);
        }
        self.board.settle();
        let next = self.board.next();
        let bytes = self.segment_bytes.unwrap_or(ASSUMED_SEGMENT_BYTES);
        (self.end.may_include(next)
            && self.failed.as_ref().is_none_or(|(failed, _)| next < *failed)
            && !self.board.is_full()
            && self.assembler.has_room(self.board.in_flight(), bytes))
        .then_some(next)
    }

    pub(super) fn next_interest(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        reports: &mut Reports,
    ) -> Option<Interest> {
        let segment = self.next_segment(config)?;
        let transmissions = self.board.send(segment, now);
        self.high_interest = self.high_interest.max(segment);
        let rto = config.rto.rto();
        self.timers.arm(timer(segment), self.check_instant(config, now + rto));
        if transmissions == 1 {
            self.sampler.on_sent(segment);
        } else {
            self.sampler.on_abandoned(segment);
        }
        emit(reports, Event::Sent { segment, transmissions, rto: rto.into() });
        let mut interest = Interest::new(self.object.append(config.convention.segment(segment)));
        interest.must_be_fresh = config.must_be_fresh;
        Some(interest)
    }

    /// When a timeout due at `at` is noticed: at the first scan after it.
    fn check_instant(&self, config: &FetchConfig, at: Instant) -> Instant {
        let interval = config.rto_check.as_nanos() as u64;
        if interval == 0 {
            return at;
        }
        let elapsed = at.since(self.started).as_nanos() as u64;
        let scan = (elapsed / interval).saturating_add(1);
        self.started + Duration::from_nanos(scan.saturating_mul(interval))
    }

    // --- losing ---------------------------------------------------------------------------------

    /// Acts on every timeout that is due.
    pub(super) fn fire(&mut self, config: &mut FetchConfig, now: Instant, reports: &mut Reports) {
        let base = self.board.base();
        let mut lost = std::mem::take(&mut self.lost);
        while let Some(slot) = self.timers.pop_due(now) {
            let ahead = u64::from(slot).wrapping_sub(base) % Scoreboard::SPAN;
            let segment = base + ahead;
            let Some(known) = self.board.get(segment).copied() else {
                continue;
            };
            let setback = self.setbacks.remove(&segment);
            if !self.board.lose(segment, setback.is_none()) {
                continue;
            }
            if setback.is_none() {
                self.sampler.on_abandoned(segment);
                emit(reports, Event::TimedOut { segment });
                lost.push(known.order);
            }
            if config.retries.is_some_and(|retries| known.transmissions > retries) {
                let name = self.object.append(config.convention.segment(segment));
                let attempts = known.transmissions;
                let why = match setback {
                    Some(Setback::Refused(reason)) => {
                        FetchError::Refused { name, reason, attempts }
                    }
                    Some(Setback::Untrusted(why)) => FetchError::Untrusted { name, why },
                    None => FetchError::NoAnswer { name, attempts },
                };
                self.fail(segment, why);
            }
        }
        // Told together, so that congestion control knows what is still in flight.
        for order in lost.drain(..) {
            self.reduce(config, now, order, LossKind::Timeout, reports);
        }
        self.lost = lost;
    }

    /// Tells congestion control of a loss or a mark.
    fn reduce(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        order: u64,
        kind: LossKind,
        reports: &mut Reports,
    ) {
        let loss = Loss {
            kind,
            order,
            highest_order: self.board.highest_order(),
            high_data: self.high_data,
            high_interest: self.high_interest,
            in_flight: self.board.in_flight(),
            srtt: config.rto.srtt(),
            min_rtt: self.min_rtt,
        };
        if !config.congestion.on_loss(now, &loss) {
            return;
        }
        let cause = match kind {
            LossKind::Timeout => Signal::Timeout,
            LossKind::NackCongestion => Signal::Nack,
            LossKind::Mark => Signal::Mark,
        };
        emit(reports, Event::Reduced { cause });
        if kind != LossKind::Mark {
            config.rto.on_timeout(now);
        }
        self.note_window(config, reports);
    }

    fn note_window(&mut self, config: &FetchConfig, reports: &mut Reports) {
        let window = config.congestion.window();
        if window != self.last_window {
            self.last_window = window;
            emit(reports, Event::Window { window, ssthresh: config.congestion.ssthresh() });
        }
    }

    /// `segment` is not to be had.
    fn fail(&mut self, segment: u64, why: FetchError) {
        self.board.fail(segment);
        self.timers.cancel(timer(segment));
        self.setbacks.remove(&segment);
        self.sampler.on_abandoned(segment);
        if self.failed.as_ref().is_none_or(|(failed, _)| segment < *failed) {
            self.failed = Some((segment, why));
        }
    }

    pub(super) fn on_nack(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        interest: &Interest,
        reason: NackReason,
        reports: &mut Reports,
    ) {
        let Some(segment) = self.segment_of(config, &interest.name) else {
            return;
        };
        let Some(slot) = self.board.get(segment).copied() else {
            return;
        };
        emit(reports, Event::Nacked { segment: Some(segment), reason });
        match reason {
            NackReason::Duplicate => self.ask_again_at(segment, now, Setback::Refused(reason)),
            NackReason::Congestion => {
                self.reduce(config, now, slot.order, LossKind::NackCongestion, reports);
                self.set_back(segment, now, slot.transmissions, Setback::Refused(reason));
            }
            _ => self.set_back(segment, now, slot.transmissions, Setback::Refused(reason)),
        }
    }

    /// The segment is to be asked for again after a wait that doubles.
    fn set_back(&mut self, segment: u64, now: Instant, transmissions: u32, why: Setback) {
        let wait = backed_off(REFUSED_WAIT, transmissions.saturating_sub(1), REFUSED_WAIT_MAX);
        self.ask_again_at(segment, now + wait, why);
    }

    fn ask_again_at(&mut self, segment: u64, at: Instant, why: Setback) {
        if !self.board.get(segment).is_some_and(Slot::is_in_flight) {
            return;
        }
        // The first reason sets the time: a flood of others must not put it off for ever.
        let settled = self.setbacks.insert(segment, why).and(self.timers.due(timer(segment)));
        self.timers.arm(timer(segment), settled.map_or(at, |due| due.min(at)));
    }

    /// There is no way out: what was asked for is to be asked for again once there is one. Nobody
    /// is to blame, so the window stays.
    pub(super) fn on_disconnected(&mut self) {
        let Self { board, timers, sampler, .. } = self;
        board.lose_all(|segment| {
            timers.cancel(timer(segment));
            sampler.on_abandoned(segment);
        });
        self.setbacks.clear();
    }

    // --- receiving ------------------------------------------------------------------------------

    fn segment_of(&self, config: &FetchConfig, name: &Name) -> Option<u64> {
        if name.len() != self.object.len() + 1 {
            return None;
        }
        config.convention.parse_segment(&name.strip_prefix(&self.object)?.next()?)
    }

    /// What `data` is here.
    fn recognise(&self, config: &FetchConfig, data: &Data) -> Match {
        let segment = self.segment_of(config, data.name());
        match segment.and_then(|segment| Some((segment, self.board.get(segment)?))) {
            Some((segment, slot)) if config.cancel_on_timeout && slot.is_timed_out() => {
                Match::Withdrawn(segment)
            }
            Some((segment, slot)) if slot.is_awaited() => Match::Awaited(segment),
            _ => Match::Stray,
        }
    }

    fn awaited(&self, config: &FetchConfig, data: &Data) -> Option<u64> {
        match self.recognise(config, data) {
            Match::Awaited(segment) => Some(segment),
            Match::Withdrawn(_) | Match::Stray => None,
        }
    }

    /// Takes in what arrived, in this order. Returns when the last step forward was made, if any was.
    pub(super) fn on_arrivals(
        &mut self,
        config: &mut FetchConfig,
        arrivals: &[Arrival],
        reports: &mut Reports,
    ) -> Option<Instant> {
        let verdicts = self.verify_awaited(config, arrivals);
        let mut progress = None;
        for (arrival, verdict) in arrivals.iter().zip(verdicts) {
            if self.on_data(config, arrival, verdict, reports) {
                progress = Some(arrival.at);
            }
        }
        progress
    }

    /// Verdicts on what is awaited, all found at once, which is faster than one by one. A further answer
    /// for a segment has none yet: it counts only if the first one proves forged.
    fn verify_awaited(&self, config: &FetchConfig, arrivals: &[Arrival]) -> Vec<Option<Verdict>> {
        let mut verdicts = vec![None; arrivals.len()];
        let mut seen = BTreeSet::new();
        let (places, data): (Vec<_>, Vec<_>) = (verdicts.iter_mut().zip(arrivals))
            .map(|(place, arrival)| (place, &arrival.data))
            .filter(|(_, data)| self.awaited(config, data).is_some_and(|it| seen.insert(it)))
            .unzip();
        for (place, verdict) in places.into_iter().zip(config.verifier.verify_batch(&data)) {
            *place = Some(verdict);
        }
        verdicts
    }

    /// Takes in Data, with the verdict on it if there is one yet. Returns true if it was a step forward.
    fn on_data(
        &mut self,
        config: &mut FetchConfig,
        arrival: &Arrival,
        verdict: Option<Verdict>,
        reports: &mut Reports,
    ) -> bool {
        let (now, data) = (arrival.at, &arrival.data);
        let segment = match self.recognise(config, data) {
            Match::Awaited(segment) => segment,
            Match::Withdrawn(segment) => {
                emit(reports, Event::Withdrawn { segment });
                return false;
            }
            Match::Stray => {
                emit(reports, Event::Duplicate);
                return false;
            }
        };
        match verdict.unwrap_or_else(|| config.verifier.verify(data)) {
            Verdict::Bad(why) => {
                self.on_untrusted(now, segment, why, reports);
                return false;
            }
            Verdict::NotVerified => emit(reports, Event::Unverified { segment }),
            Verdict::Verified => {}
        }
        if data.content_type() == ContentType::Nack {
            self.fail(segment, FetchError::NotFound(data.name().clone()));
            return true;
        }
        self.accept(config, arrival, segment, reports);
        true
    }

    fn on_untrusted(
        &mut self,
        now: Instant,
        segment: u64,
        why: &'static str,
        reports: &mut Reports,
    ) {
        emit(reports, Event::Rejected { segment: Some(segment), why });
        if let Some(slot) = self.board.get(segment).copied() {
            self.set_back(segment, now, slot.transmissions, Setback::Untrusted(why));
        }
    }

    fn accept(
        &mut self,
        config: &mut FetchConfig,
        arrival: &Arrival,
        segment: u64,
        reports: &mut Reports,
    ) {
        let (now, data) = (arrival.at, &arrival.data);
        let in_flight = self.board.in_flight();
        let Some(slot) = self.board.receive(segment) else {
            return;
        };
        self.timers.cancel(timer(segment));
        self.setbacks.remove(&segment);
        self.high_data = self.high_data.max(segment);
        let content = data.content_bytes();
        let rtt = now.since(slot.sent);
        emit(
            reports,
            Event::Received {
                segment,
                content_bytes: content.len() as u32,
                wire_octets: data.encoded_len() as u32,
                rtt: rtt.into(),
                delay: now.since(slot.first_sent).into(),
                transmissions: slot.transmissions,
            },
        );
        self.judge_spurious(config, now, segment, &slot, reports);
        self.sample(config, now, segment, &slot, rtt, in_flight, reports);
        self.grow(config, arrival, segment, &slot, rtt, in_flight, reports);
        self.learn_segment_size(config, content.len() as u64);
        if let Some(last) = announced_end(config, data) {
            self.announce_end(config, last, reports);
        }
        self.deliver(segment, content, reports);
    }

    /// A retransmission was needless if the answer to an earlier transmission came after all: while
    /// the segment still waited for its retransmission, or sooner after it than any round trip
    /// (RFC 3522 asks the same question of a timestamp).
    fn judge_spurious(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        segment: u64,
        slot: &Slot,
        reports: &mut Reports,
    ) {
        let Some(lost) = slot.lost_order else { return };
        let too_soon = self.min_rtt.is_some_and(|min| now.since(slot.sent) < min / 2);
        if slot.is_queued() || too_soon {
            config.congestion.on_spurious(now, lost);
            emit(reports, Event::Spurious { segment });
        }
    }

    /// Feeds the estimator, under Karn's rule.
    #[expect(clippy::too_many_arguments, reason = "the facts of one arrival")]
    fn sample(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        segment: u64,
        slot: &Slot,
        rtt: Duration,
        in_flight: u32,
        reports: &mut Reports,
    ) {
        if slot.transmissions != 1 || (self.probed && segment == 0) {
            self.sampler.on_abandoned(segment);
            return;
        }
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        let Some(sample) = self.sampler.on_delivered(segment, rtt, in_flight) else {
            return;
        };
        config.rto.on_sample(now, &sample);
        let srtt = config.rto.srtt().unwrap_or_default().into();
        let rttvar = config.rto.rttvar().unwrap_or_default().into();
        let (rtt, rto) = (rtt.into(), config.rto.rto().into());
        emit(reports, Event::Sampled { segment, rtt, srtt, rttvar, rto });
    }

    /// Grows the window, or shrinks it where the Data was marked.
    #[expect(clippy::too_many_arguments, reason = "the facts of one arrival")]
    fn grow(
        &mut self,
        config: &mut FetchConfig,
        arrival: &Arrival,
        segment: u64,
        slot: &Slot,
        rtt: Duration,
        in_flight: u32,
        reports: &mut Reports,
    ) {
        if arrival.congestion_mark > 0 {
            emit(reports, Event::Marked { segment });
            if config.react_to_marks {
                return self.reduce(config, arrival.at, slot.order, LossKind::Mark, reports);
            }
        }
        let delivered = Delivered {
            segment,
            order: slot.order,
            highest_order: self.board.highest_order(),
            rtt: (slot.transmissions == 1).then_some(rtt),
            srtt: config.rto.srtt(),
            min_rtt: self.min_rtt,
            in_flight,
        };
        config.congestion.on_delivered(arrival.at, &delivered);
        self.note_window(config, reports);
    }

    fn deliver(&mut self, segment: u64, content: bytes::Bytes, reports: &mut Reports) {
        self.assembler.push(segment, content);
        while let Some((segment, content)) = self.assembler.pop() {
            reports.push_back(Report::Content { segment, content });
        }
    }

    /// The producer, or metadata, said which segment is the last.
    pub(super) fn announce_end(
        &mut self,
        config: &mut FetchConfig,
        last: u64,
        reports: &mut Reports,
    ) {
        if !self.end.announce(last) {
            return;
        }
        emit(reports, Event::EndKnown { last });
        let Some(end) = self.end.last().and_then(|last| last.checked_add(1)) else {
            return;
        };
        let moved_back = self.board.has_received_from(end)
            || self.assembler.handed_out().is_some_and(|handed| handed > end);
        let Self { board, timers, sampler, .. } = self;
        board.truncate(end, |segment| {
            timers.cancel(timer(segment));
            sampler.on_abandoned(segment);
        });
        self.setbacks.retain(|segment, _| *segment < end);
        if self.failed.as_ref().is_some_and(|(failed, _)| *failed >= end) {
            self.failed = None;
        }
        if config.first > last {
            let first = config.first;
            self.failed = Some((0, FetchError::RangeBeyondEnd { first, last }));
        } else if moved_back {
            self.failed = Some((0, FetchError::EndMovedBack { last }));
        }
    }

    pub(super) fn on_consumed(&mut self, bytes: u64) {
        self.assembler.consumed(bytes);
    }

    // --- ending ---------------------------------------------------------------------------------

    /// The outcome, once there is one.
    pub(super) fn conclusion(&self) -> Option<Result<(), FetchError>> {
        if let Some((segment, why)) = &self.failed {
            let certain = self.end.last().is_some_and(|last| *segment <= last);
            if certain || self.board.base() >= *segment {
                return Some(Err(why.clone()));
            }
        }
        let last = self.end.last()?;
        (self.board.base() > last && self.assembler.is_drained()).then_some(Ok(()))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timers.deadline()
    }
}

fn announced_end(config: &FetchConfig, data: &Data) -> Option<u64> {
    let block: Component<'_> = data.final_block()?;
    config.convention.parse_segment(&block)
}
