//! The transfer of one version of one object, segment by segment.
use super::Control;
use super::assemble::Assembler;
use super::belonging::Belonging;
use super::discover::REPEAT_AFTER;
use super::end::End;
use super::error::FetchError;
use super::scoreboard::Scoreboard;
use super::source::Source;
use crate::application::Report;
use crate::congestion::Accounting;
use crate::event::Event;
use crate::rto::{Question, Sampler};
use crate::time::{Duration, Instant};
use crate::timer::Timers;
use lose::Disputes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{Ignorable, anticipation, field};
use recoup_packet::name::Name;
use recover::Watch;
use std::collections::VecDeque;

mod arrive;
mod lose;
mod postpone;
mod recover;

/// Segment size assumed before the first one has arrived, in bytes.
const ASSUMED_SEGMENT_BYTES: u64 = 8_000;

/// The transfer of what a source requests; a request is called a segment, as it is one of an object.
#[derive(Debug)]
pub(super) struct Transfer<S> {
    source: S,
    board: Scoreboard,
    sending: Sending,
    watch: Watch,
    disputes: Disputes,
    progress: Progress,
    sampler: Sampler,
    min_rtt: Option<Duration>,
    /// Number of batches of answers processed.
    batches: u32,
}

/// When and how much is requested.
#[derive(Debug)]
struct Sending {
    timers: Timers,
    started: Instant,
    accounting: Accounting,
    /// A prefix probe requested segment 0 too, so that its Data may answer the probe.
    probed: bool,
    segment_bytes: Option<u64>,
    /// The last window reported.
    last_window: f64,
    /// Highest segment requested (`highInterest` of yang2016); 0 before any.
    high_interest: u64,
}

/// How far the transfer is, and how it ends.
#[derive(Debug)]
struct Progress {
    end: End,
    /// Identifier that segments have to state; always unknown where requests are no parts of one object.
    belonging: Belonging,
    assembler: Assembler,
    /// The lowest abandoned segment. The fetch fails once it turns out to lie before the end.
    failed: Option<(u64, FetchError)>,
    /// Highest segment received (`highData` of yang2016); 0 before any.
    high_data: u64,
    /// All answers so far were Nacks with reason NoRoute.
    nowhere: bool,
    /// The latest answers took a longer way, by a repair or a reroute, and the window was reduced for that.
    detoured: bool,
}

type Reports = VecDeque<Report>;

fn emit(reports: &mut Reports, event: Event) {
    reports.push_back(Report::Event(event));
}

/// The earlier of two optional instants.
#[inline]
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (only, None) | (None, only) => only,
    }
}

/// Timer slot of a segment: two segments on the scoreboard never share one.
fn timer<S: Source>(segment: u64) -> u32 {
    (segment % S::SPAN) as u32
}

impl Sending {
    fn update_segment_size(&mut self, control: &mut Control, bytes: u64) {
        if self.segment_bytes.is_none_or(|known| bytes > known) {
            self.segment_bytes = Some(bytes);
            control.congestion.on_segment_bytes(bytes);
        }
    }

    /// Segments that count against the window.
    fn load(&self, board: &Scoreboard) -> u64 {
        match self.accounting {
            Accounting::Outstanding => u64::from(board.in_flight()),
            Accounting::Span => board.span(),
        }
    }

    /// Time of the first scan at or after `at`.
    fn check_instant(&self, control: &Control, at: Instant) -> Instant {
        let interval = control.config.options.rto_check.as_nanos() as u64;
        if interval == 0 {
            return at;
        }
        let elapsed = at.since(self.started).as_nanos() as u64;
        let scan = (elapsed / interval).saturating_add(1);
        self.started + Duration::from_nanos(scan.saturating_mul(interval))
    }

    fn note_window(&mut self, control: &Control, reports: &mut Reports) {
        let window = control.congestion.window();
        if window != self.last_window {
            self.last_window = window;
            let ssthresh = control.congestion.ssthresh();
            let delay_window = control.congestion.delay_window();
            emit(reports, Event::Window { window, ssthresh, delay_window });
        }
    }
}

impl<S: Source> Transfer<S> {
    pub(super) fn new(control: &Control, source: S, probed: bool, now: Instant) -> Self {
        let beyond = control.config.last.and_then(|last| last.checked_add(1)).unwrap_or(u64::MAX);
        let held = control.config.held.iter().map(|run| run.start..run.end.min(beyond));
        let board = Scoreboard::new(control.config.first, held, S::SPAN);
        Self {
            sending: Sending {
                timers: Timers::new(),
                started: now,
                accounting: control.congestion.accounting(),
                probed,
                segment_bytes: None,
                last_window: 0.0,
                high_interest: 0,
            },
            progress: Progress {
                end: End::new(control.config.last),
                belonging: Belonging::Unknown,
                assembler: Assembler::new(control.config.delivery, board.base()),
                failed: None,
                high_data: 0,
                nowhere: true,
                detoured: false,
            },
            watch: Watch::new(control.loss.repair()),
            disputes: Disputes::default(),
            source,
            board,
            sampler: Sampler::new(control.config.options.sampling),
            min_rtt: None,
            batches: 0,
        }
    }

    /// Sets what segments have to state about their content.
    pub(super) fn bind(&mut self, belonging: Belonging) {
        self.progress.belonging = belonging;
    }

    // --- sending --------------------------------------------------------------------------------

    /// The next segment to send: retransmissions before new ones.
    fn next_segment(
        &mut self,
        control: &mut Control,
        is_due: bool,
        reports: &mut Reports,
    ) -> Option<u64> {
        let queued = self.board.first_queued();
        let load = match (self.sending.accounting, queued) {
            (Accounting::Span, Some(_)) => u64::from(self.board.repeated()),
            _ => self.sending.load(&self.board),
        };
        if std::mem::take(&mut self.watch.probing) && queued.is_some() {
            return queued;
        }
        if !control.congestion.may_send(load) {
            return None;
        }
        if queued.is_some() {
            return queued;
        }
        if !S::ORDERED && is_due && self.board.is_full() {
            self.give_up_lowest(reports);
        }
        self.board.settle();
        (is_due && self.may_request_next()).then_some(self.board.next())
    }

    /// Whether the lowest segment never requested may be requested, window permitting.
    fn may_request_next(&self) -> bool {
        let next = self.board.next();
        self.progress.end.may_include(next)
            && self.progress.failed.as_ref().is_none_or(|(failed, _)| next < *failed)
            && !self.may_be_beyond_end(next)
            && !self.board.is_full()
            && self.has_room()
    }

    /// Whether the content of one more segment fits the delivery limit.
    fn has_room(&self) -> bool {
        let bytes = self.sending.segment_bytes.unwrap_or(ASSUMED_SEGMENT_BYTES);
        self.progress.assembler.has_room(self.board.in_flight(), bytes)
    }

    /// Whether all requested segments have arrived and the reader has to consume content before the next request.
    pub(super) fn waits_for_reader(&self) -> bool {
        let board = &self.board;
        board.in_flight() == 0
            && board.first_queued().is_none()
            && !board.has_deferred()
            && !self.has_room()
    }

    /// Segments that have not been requested yet, if the end of the object is known.
    fn remaining(&self) -> Option<u64> {
        self.progress.end.last().map(|last| (last + 1).saturating_sub(self.board.next()))
    }

    /// Interests without an answer that are not declared lost.
    pub(super) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Records that no Interest may be sent for now, for another reason than the window and the pace.
    pub(super) fn hold(&self, control: &mut Control) {
        control.congestion.release();
        control.congestion.report(self.sending.load(&self.board), false);
    }

    /// The next Interest that may be sent, without nonce and lifetime, its timeout, and its announcement.
    pub(super) fn next_interest(
        &mut self,
        control: &mut Control,
        now: Instant,
        reports: &mut Reports,
    ) -> Option<(Interest, Duration, Option<Box<Ignorable>>)> {
        control.congestion.release();
        let is_due = self.source.is_due(now);
        let is_backlogged = control.congestion.is_alone()
            || self.board.first_queued().is_some()
            || is_due && self.may_request_next();
        control.congestion.report(self.sending.load(&self.board), is_backlogged);
        if !is_due && self.board.first_queued().is_none() {
            self.watch.probing = false;
            return None;
        }
        let segment = self.next_segment(control, is_due, reports)?;
        let remaining = self.remaining();
        if !control.congestion.is_paced(now, remaining) {
            return None;
        }
        let flow_order = control.congestion.on_sent(now, remaining);
        let transmissions = self.board.send(segment, flow_order, now);
        if transmissions == 1 {
            self.source.on_requested(segment);
        }
        let rto = self.timeout(control, now, segment, transmissions);
        let repeats = self.repeats(segment, rto);
        self.sending.high_interest = self.sending.high_interest.max(segment);
        let due = match self.source.follows_estimate() {
            true => now,
            false if repeats => now + REPEAT_AFTER,
            false => now + rto,
        };
        self.sending.timers.arm(timer::<S>(segment), self.sending.check_instant(control, due));
        self.watch.on_sent(self.board.highest_order(), segment);
        if self.watch.deadline().is_none() {
            self.set_alarm(control);
        }
        if transmissions == 1 {
            self.sampler.on_sent(segment);
        } else {
            self.sampler.on_abandoned(segment);
        }
        emit(reports, Event::Sent { segment, transmissions, rto: rto.into() });
        let mut interest = Interest::new(self.source.name(segment));
        // A cache may repeat a forged answer, or a negative one.
        interest.must_be_fresh = control.config.options.must_be_fresh || self.is_disputed(segment);
        let announced = if transmissions == 1 { self.announcement(control, segment) } else { None };
        Some((interest, rto, announced))
    }

    /// Timeout of a transmission.
    fn timeout(
        &self,
        control: &Control,
        now: Instant,
        segment: u64,
        transmissions: u32,
    ) -> Duration {
        let timeout = self.backed_off_timeout(control, now, segment, transmissions);
        control.congestion.silence_timeout().map_or(timeout, |most| timeout.min(most))
    }

    /// Timeout without the limit in a silence.
    fn backed_off_timeout(
        &self,
        control: &Control,
        now: Instant,
        segment: u64,
        transmissions: u32,
    ) -> Duration {
        let target = self.source.target(segment);
        let retransmissions = transmissions.saturating_sub(1);
        let rto = control.rto.rto_for(now, &Question { target, retransmissions });
        control.congestion.least_timeout().map_or(rto, |least| rto.max(least))
    }

    /// Names the segments behind this one, up to the number that the timer uses.
    fn announcement(&mut self, control: &Control, segment: u64) -> Option<Box<Ignorable>> {
        if control.announces == 0 {
            return None;
        }
        let names = self.source.upcoming(segment, control.announces, self.progress.end.last());
        if names.is_empty() {
            return None;
        }
        let mut fields = Ignorable::default();
        fields.set(field::ANTICIPATED, anticipation::encode_names(&names));
        Some(Box::new(fields))
    }

    // --- window and end ------------------------------------------------------------------------

    /// Reports the window if it has changed.
    pub(super) fn note_window(&mut self, control: &Control, reports: &mut Reports) {
        self.sending.note_window(control, reports);
    }

    /// Abandons `segment`.
    fn fail(&mut self, segment: u64, why: FetchError) {
        self.board.fail(segment);
        self.source.on_settled(segment);
        self.sending.timers.cancel(timer::<S>(segment));
        self.disputes.remove(segment);
        self.sampler.on_abandoned(segment);
        if self.progress.failed.as_ref().is_none_or(|(failed, _)| segment < *failed) {
            self.progress.failed = Some((segment, why));
        }
    }

    /// Ends the fetch, because content of an accepted packet cannot be decrypted. Another Interest would show a stranger how many
    /// packets were decrypted before.
    fn end_unreadable(&mut self, name: &Name, why: &'static str) {
        let name = name.clone();
        self.progress.failed.get_or_insert((0, FetchError::untrusted(name, why))).0 = 0;
    }

    /// Whether the fetch ends whatever else arrives.
    pub(super) fn is_lost(&self) -> bool {
        self.progress.failed.as_ref().is_some_and(|(failed, _)| *failed == 0)
    }

    /// Records the last segment, as the producer or metadata announced it.
    pub(super) fn announce_end(&mut self, control: &mut Control, last: u64, reports: &mut Reports) {
        if !self.progress.end.announce(last) {
            return;
        }
        emit(reports, Event::EndKnown { last });
        let Some(end) = self.progress.end.last().and_then(|last| last.checked_add(1)) else {
            return;
        };
        let moved_back = self.board.has_received_from(end)
            || self.progress.assembler.handed_out().is_some_and(|handed| handed > end);
        let Self { board, sending, sampler, .. } = self;
        board.truncate(end, |segment| {
            sending.timers.cancel(timer::<S>(segment));
            sampler.on_abandoned(segment);
        });
        self.disputes.truncate(end);
        if self.progress.failed.as_ref().is_some_and(|(failed, _)| *failed >= end) {
            self.progress.failed = None;
        }
        if control.config.first > last {
            let first = control.config.first;
            self.progress.failed = Some((0, FetchError::RangeBeyondEnd { first, last }));
        } else if moved_back {
            self.progress.failed = Some((0, FetchError::EndMovedBack { last }));
        }
    }

    pub(super) fn on_consumed(&mut self, bytes: u64) {
        self.progress.assembler.consumed(bytes);
    }

    // --- ending ---------------------------------------------------------------------------------

    /// The outcome, once there is one.
    pub(super) fn conclusion(&self) -> Option<Result<(), FetchError>> {
        if let Some((segment, why)) = &self.progress.failed {
            let certain = self.progress.end.last().is_some_and(|last| *segment <= last);
            if certain || self.board.base() >= *segment {
                return Some(Err(why.clone()));
            }
        }
        let is_over = match self.progress.end.last() {
            Some(last) => self.board.base() > last,
            None => self.board.span() == 0 && self.source.is_exhausted(),
        };
        is_over.then_some(Ok(()))
    }

    pub(super) fn deadline(&self, control: &Control) -> Option<Instant> {
        earlier(
            self.sending.timers.deadline(),
            earlier(self.watch.deadline(), control.congestion.deadline()),
        )
    }

    /// When the source permits the next request.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.source.deadline()
    }
}
