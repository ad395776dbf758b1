//! Arriving Data: matching, verification, and updates of the transfer.
use super::{Reports, Transfer, emit, timer};
use crate::application::Report;
use crate::congestion::{Delivered, LossKind};
use crate::event::{Cause, Event, Signal};
use crate::fetch::belonging::{Belonging, OTHER_CONTENT};
use crate::fetch::error::FetchError;
use crate::fetch::scoreboard::{Sign, Slot};
use crate::fetch::source::Source;
use crate::fetch::{Arrival, Control};
use crate::rejection::Rejection;
use crate::rto::{self, Answer, RttSample, Trail};
use crate::time::{Duration, Instant};
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::lp::anticipation::{self, Record};
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::Verdict;

/// Relation of Data to the transfer.
enum Match {
    /// An answer to a missing segment.
    Awaited(u64),
    /// An answer to an Interest that was withdrawn by its timeout.
    Withdrawn(u64),
    /// Unsolicited or duplicate Data.
    Stray,
}

/// An accepted answer.
pub(super) struct Accepted {
    pub(super) now: Instant,
    pub(super) segment: u64,
    /// State of the segment before.
    pub(super) slot: Slot,
    rtt: Duration,
    /// Number of the Data in the macroflow.
    number: u64,
    /// Segments in flight before it arrived.
    in_flight: u32,
    /// Segments that counted against the window before it arrived.
    load: u64,
    /// Segments by which the lowest missing one advanced.
    pub(super) advance: u64,
    /// Node that answered, if known.
    provider: Option<u64>,
    /// Time that nodes added to the round trip.
    reduction: Duration,
    /// Records of nodes about announced segments.
    trail: Option<OwnTrail>,
}

/// Announcement of an answered Interest, and the records about it.
struct OwnTrail {
    announced: Vec<Option<u64>>,
    records: Vec<Record>,
}

impl<S: Source> Transfer<S> {
    /// Matches Data of `segment`, if any, with the transfer.
    fn recognise(&self, control: &Control, segment: Option<u64>) -> Match {
        match segment.and_then(|segment| Some((segment, self.board.get(segment)?))) {
            Some((segment, slot))
                if slot.is_timed_out() && !control.config.options.accepts_late_data() =>
            {
                Match::Withdrawn(segment)
            }
            Some((segment, slot)) if slot.is_awaited() => Match::Awaited(segment),
            _ => Match::Stray,
        }
    }

    /// The segment of Data of that name, if it is missing.
    pub(in crate::fetch) fn awaits(&self, control: &Control, name: &Name) -> Option<u64> {
        match self.recognise(control, self.source.answered(name)) {
            Match::Awaited(segment) => Some(segment),
            Match::Withdrawn(_) | Match::Stray => None,
        }
    }

    /// Whether Data states other content than the wanted one. An application Nack states none.
    pub(in crate::fetch) fn is_other_content(&self, data: &Data) -> bool {
        !self.progress.belonging.permits(data) && data.content_type() != ContentType::Nack
    }

    /// Whether the only answers for the segment were forged or negative.
    pub(in crate::fetch) fn is_disputed(&self, segment: u64) -> bool {
        self.disputes.has_answers(segment)
    }

    /// Processes arrivals, in order. Returns the time of the last progress, if any.
    pub(in crate::fetch) fn on_arrivals(
        &mut self,
        control: &mut Control,
        arrivals: &mut [Arrival],
        reports: &mut Reports,
    ) -> Option<Instant> {
        for arrival in &mut *arrivals {
            arrival.segment = self.source.answered(arrival.data.name());
        }
        let mut verdicts = self.judge_together(control, arrivals).into_iter().peekable();
        let mut progress = None;
        for (place, arrival) in arrivals.iter_mut().enumerate() {
            let verdict = verdicts.next_if(|(judged, _)| *judged == place);
            let verdict = verdict.map(|(_, verdict)| verdict);
            loop {
                let next = arrival.segment.and_then(|segment| self.source.next_answered(segment));
                if self.on_data(control, arrival, verdict, reports) {
                    progress = Some(arrival.at);
                }
                if next.is_none() {
                    break;
                }
                arrival.segment = next;
            }
            if self.is_lost() {
                break;
            }
        }
        // Once for all of them: no timer fires in between.
        self.set_alarm(control);
        progress
    }

    /// Verdicts on solicited Data, with its index among the arrivals. Verification of a batch is faster than one by
    /// one. A further answer for a segment has none yet: it counts only if the first one proves forged.
    fn judge_together(&mut self, control: &Control, arrivals: &[Arrival]) -> Vec<(usize, Verdict)> {
        if arrivals.len() < 2 || !control.config.verifier.judges() {
            return Vec::new();
        }
        self.batches = self.batches.wrapping_add(1);
        let (mut places, mut data) = (Vec::with_capacity(arrivals.len()), Vec::new());
        data.reserve(arrivals.len());
        for (place, arrival) in arrivals.iter().enumerate() {
            if let Match::Awaited(segment) = self.recognise(control, arrival.segment)
                && !self.is_other_content(&arrival.data)
                && self.board.claim(segment, self.batches)
            {
                places.push(place);
                data.push(&arrival.data);
            }
        }
        places.into_iter().zip(control.config.verifier.verify_batch(&data)).collect()
    }

    /// Processes Data, with its verdict if there is one yet. Returns true for progress. An empty segment is none,
    /// because a producer can make them without end.
    fn on_data(
        &mut self,
        control: &mut Control,
        arrival: &Arrival,
        verdict: Option<Verdict>,
        reports: &mut Reports,
    ) -> bool {
        let segment = match self.recognise(control, arrival.segment) {
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
        if self.is_other_content(&arrival.data) {
            let rejection = Rejection::new(&arrival.data, OTHER_CONTENT);
            self.on_forged(control, arrival.at, segment, rejection, reports);
            return false;
        }
        if control.config.verifier.judges() {
            let verdict = verdict.unwrap_or_else(|| control.config.verifier.verify(&arrival.data));
            if let Some(rejection) = Rejection::of(verdict, &arrival.data) {
                self.on_forged(control, arrival.at, segment, rejection, reports);
                return false;
            }
            match verdict {
                Verdict::NotVerified => emit(reports, Event::Unverified { segment }),
                Verdict::Pending => return false,
                _ => {}
            }
        }
        if S::ORDERED && arrival.data.content_type() == ContentType::Nack {
            let why = FetchError::denied(arrival.data.name().clone(), &arrival.data);
            self.on_denied(arrival.at, segment, why);
            return false;
        }
        match control.config.verifier.content(&arrival.data) {
            Ok(content) => self.accept(control, arrival, segment, content, reports),
            Err(why) => {
                emit(reports, Event::Rejected { segment: Some(segment), why });
                self.end_unreadable(arrival.data.name(), why);
                return false;
            }
        }
        !arrival.data.content().is_empty()
    }

    /// The first accepted segment decides which content the others have to belong to.
    fn learn_content(&mut self, data: &Data, reports: &mut Reports) {
        if S::ORDERED && self.progress.belonging == Belonging::Unknown {
            let id = data.object_id();
            self.progress.belonging = Belonging::Stated(id);
            reports.extend(id.map(Report::Identified));
        }
    }

    fn accept(
        &mut self,
        control: &mut Control,
        arrival: &Arrival,
        segment: u64,
        content: Bytes,
        reports: &mut Reports,
    ) {
        let Arrival { at: now, data, congestion_mark, provider, reduction, .. } = arrival;
        let (in_flight, load, base) =
            (self.board.in_flight(), self.sending.load(&self.board), self.board.base());
        let Some(slot) = self.board.receive(segment) else {
            return;
        };
        self.learn_content(data, reports);
        self.sending.timers.cancel(timer::<S>(segment));
        self.disputes.remove(segment);
        self.progress.high_data = self.progress.high_data.max(segment);
        self.progress.nowhere = false;
        let content_bytes = content.len();
        if !reduction.is_zero() {
            emit(reports, Event::Prolonged { segment, by: (*reduction).into() });
        }
        let rtt = now.since(slot.sent);
        // Contents without an order cannot arrive out of order.
        let advance = if S::ORDERED { self.board.base() - base } else { 1 };
        let (now, provider, reduction, number) = (*now, *provider, *reduction, arrival.number);
        let trail = arrival.fields.as_ref().and_then(|fields| self.trail(fields));
        let accepted = Accepted {
            now,
            segment,
            slot,
            rtt,
            number,
            in_flight,
            load,
            advance,
            provider,
            reduction,
            trail,
        };
        let is_found = S::ORDERED || data.content_type() != ContentType::Nack;
        let event = if is_found {
            Event::Received {
                segment,
                content_bytes: content_bytes as u32,
                wire_bytes: data.encoded_len() as u32,
                rtt: accepted.rtt.into(),
                delay: now.since(slot.first_sent).into(),
                transmissions: slot.transmissions,
            }
        } else {
            Event::Nacked { segment: Some(segment), reason: NackReason::None }
        };
        emit(reports, event);
        self.judge_spurious(control, &accepted, reports);
        self.sample(control, &accepted, reports);
        // A link repairs some of many. Rerouted, all take the longer way, which is one event.
        if reduction.is_zero() {
            self.progress.detoured = false;
        } else if !self.progress.detoured && accepted.slot.lost.is_none() {
            let order = accepted.slot.flow_order;
            self.progress.detoured = self.on_repaired(control, now, order, reports);
        }
        self.grow(control, &accepted, *congestion_mark > 0, reports);
        self.judge_order(control, &accepted, reports);
        self.sending.note_window(control, reports);
        self.sending.update_segment_size(control, content_bytes as u64);
        if let Some(last) = self.source.announced_end(data) {
            self.announce_end(control, last, reports);
        }
        if is_found {
            self.progress.assembler.take(segment, content, reports);
        }
        self.source.on_settled(segment);
    }

    /// Detects spurious losses. A loss was spurious if the answer to the transmission before arrived: while the
    /// retransmission was queued, or sooner after it than any round trip (RFC 3522 uses a timestamp instead). If all
    /// losses of an event were spurious, recovery is undone.
    fn judge_spurious(
        &mut self,
        control: &mut Control,
        accepted: &Accepted,
        reports: &mut Reports,
    ) {
        let Accepted { now, segment, slot, rtt, reduction, .. } = *accepted;
        let Some(lost) = slot.lost else { return };
        // A link repaired it, which took longer than the timeout.
        let repaired = !reduction.is_zero() && lost.sign != Sign::Rejection;
        if repaired || slot.is_queued() || self.min_rtt.is_some_and(|min| rtt < min / 2) {
            if let Some(cause) = lost.cause {
                emit(reports, Event::Inferred { segment, cause, holds: false });
            }
            if repaired {
                let cause = Cause::Wireless;
                emit(reports, Event::Explained { segment, cause, judged: true });
            } else {
                emit(reports, Event::Spurious { segment, cause: lost.sign.into() });
            }
            if lost.sign == Sign::Order {
                control.loss.on_spurious(now);
            }
            // The window was not reduced for a rejection.
            if lost.sign != Sign::Rejection {
                self.take_back(control, now, lost.flow_order, reports);
            }
        } else if lost.sign == Sign::Order && slot.timeouts == 0 {
            emit(reports, Event::Repaired { segment });
        }
    }

    /// Records about an announcement; none if no node added any.
    fn trail(&self, fields: &Ignorable) -> Option<OwnTrail> {
        let records = anticipation::records(fields.get(field::RECORDS)?).collect();
        let names = fields.get(field::ANTICIPATED);
        let names = names.and_then(|names| anticipation::decode_names(names).ok());
        let names = names.unwrap_or_default();
        let announced = names.iter().map(|name| self.source.content(name)).collect();
        Some(OwnTrail { announced, records })
    }

    /// Updates the estimator: under Karn's rule, unless it sets the lifetime.
    fn sample(&mut self, control: &mut Control, accepted: &Accepted, reports: &mut Reports) {
        let Accepted { now, segment, slot, in_flight, provider, reduction, .. } = accepted;
        if self.sending.probed && *segment == 0 {
            self.sampler.on_abandoned(*segment);
            return;
        }
        let (net, target) = (accepted.net_rtt(self.min_rtt), self.source.target(*segment));
        if slot.transmissions == 1 && reduction.is_zero() {
            self.min_rtt = Some(self.min_rtt.map_or(net, |min| min.min(net)));
        }
        if !self.source.is_timed() {
            return;
        }
        let rtt = if control.rto.sets_lifetime() {
            let rtt = now.since(slot.first_sent);
            let provider = *provider;
            let sample = RttSample { provider, target, ..RttSample::new(*segment, rtt) };
            control.rto.on_answer(*now, &Answer { sample, timeouts: slot.timeouts });
            rtt
        } else if slot.transmissions != 1 {
            if let Some(lost) = slot.lost {
                control.rto.on_progress(*now, now.since(lost.sent));
            }
            return self.sampler.on_abandoned(*segment);
        } else {
            let Some(sample) = self.sampler.on_delivered(*segment, net, *in_flight) else {
                return;
            };
            let sample = RttSample { provider: *provider, target, ..sample };
            let trail = accepted.trail.as_ref();
            let trail = trail.map(|OwnTrail { announced, records }| Trail { announced, records });
            rto::sample(control.rto.as_mut(), *now, &sample, trail.as_ref());
            net
        };
        let event = Event::Sampled {
            segment: *segment,
            rtt: rtt.into(),
            srtt: control.rto.srtt().unwrap_or_default().into(),
            rttvar: control.rto.rttvar().unwrap_or_default().into(),
            rto: control.rto.rto().into(),
        };
        emit(reports, event);
    }

    /// Updates the window: it grows, or shrinks for marked Data.
    fn grow(
        &mut self,
        control: &mut Control,
        accepted: &Accepted,
        marked: bool,
        reports: &mut Reports,
    ) {
        let Accepted { now, segment, slot, load, advance, provider, .. } = *accepted;
        if marked {
            emit(reports, Event::Marked { segment });
            if control.config.options.react_to_marks {
                let marked = ((slot.flow_order, segment), LossKind::Mark, 0);
                self.reduce(control, now, marked, reports);
                return;
            }
        }
        let delivered = Delivered {
            segment,
            order: slot.flow_order,
            highest_order: control.congestion.highest_order(),
            rtt: (slot.transmissions == 1).then(|| accepted.net_rtt(self.min_rtt)),
            path: provider,
            srtt: control.rto.srtt(),
            min_rtt: control.congestion.min_rtt(self.min_rtt),
            in_flight: control.congestion.in_flight(load),
            advance,
            remaining: control.congestion.remaining(self.remaining()),
        };
        control.congestion.on_delivered(now, accepted.number, &delivered);
    }
}

impl Accepted {
    /// Round-trip time without the time that nodes report to have added, but never less than the minimum seen: the
    /// report is not signed.
    pub(super) fn net_rtt(&self, least: Option<Duration>) -> Duration {
        let net = self.rtt.saturating_sub(self.reduction);
        if self.reduction.is_zero() {
            net
        } else {
            net.max(least.unwrap_or(self.rtt)).min(self.rtt)
        }
    }
}

impl From<Sign> for Signal {
    fn from(sign: Sign) -> Self {
        match sign {
            Sign::Timeout => Self::Timeout,
            Sign::Order => Self::Order,
            Sign::Rejection => Self::Nack,
        }
    }
}
