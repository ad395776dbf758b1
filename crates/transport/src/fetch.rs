//! The fetch loop: retrieves one object, over all hops, as an application of a node.
//!
//! 1. *Discover* the version (RDR metadata, or a prefix probe), unless the name carries one.
//! 2. *Request*: window and reader permitting, retransmissions before new segments; the scoreboard records the order.
//! 3. *Judge*: Data is verified, sampled and delivered. A segment is retransmitted if it timed out, was overtaken,
//!    was answered by a Nack or was forged. A retry budget per segment and a limit on the time without progress end the
//!    fetch. An empty segment is no progress.
//!
//! *A forged copy is no answer.* An Interest stays pending here until Data for it was verified. A forged copy
//! consumes the pending Interest of the nodes that it passed, the node of this consumer included. Therefore:
//! - the node passes on further Data of a name whose answer was forged or is not verified yet
//!   ([`Application::awaits`]), so that the genuine copy counts although it comes second;
//! - the fetch loop retransmits at once, which renews the pending Interest in other nodes. From the second forged
//!   answer on it backs off, because a poisoned cache repeats its answer;
//! - such a retransmission is charged to a budget of its own, of 3 to 15 for each name, and not to the retries. After
//!   the last one the fetch ends ([`FetchError::Untrusted`]). It has MustBeFresh, which a forged copy in a
//!   cache does not satisfy for longer than it claims to be fresh.
//!
//! Three timers are separate and ordered. The *retransmission timeout* (estimated) triggers a retransmission. The
//! *Interest lifetime* (in the packet) limits how long forwarders keep the pending Interest. It is never shorter than
//! the timeout, so that an answer within the timeout still has its reverse path; some timers set both
//! ([`RtoEstimator::sets_lifetime`](crate::rto::RtoEstimator::sets_lifetime)). *Suppression* in forwarders (NFD 10 to 250 ms, ndnd 400 to 500 ms) drops a
//! retransmission that follows too soon. A suppressed one counts as lost, so the next waits twice as long
//! (exponential backoff). Each one has a fresh nonce, so that no dead-nonce list detects a loop.
//!
//! Source: S. Yang's consumer (2016), whose four designs are parameters of this loop: its window (`yang2016`,
//! `fixed`), its timer (`yang2016`), its sampling, its scan (`rto_check`), and whether a timeout withdraws the
//! Interest ([`FetchOptions`]).
//!
//! Differences:
//! - the lowest queued segment is retransmitted first, not the one queued for longest: a reader in order needs it
//!   sooner;
//! - timeouts found by one scan are judged together, before any retransmission;
//! - Nacks, congestion marks, verification, the reader's back-pressure and lost faces are handled as well.
mod assemble;
mod belonging;
mod config;
mod consumer;
mod discover;
mod end;
mod error;
mod limit;
mod macroflow;
mod options;
mod pacer;
mod pending;
mod scoreboard;
mod segment;
mod source;
pub mod stats;
mod verify;

pub use assemble::Delivery;
pub use belonging::{Belonging, OTHER_CONTENT};
pub use config::{FetchConfig, Kept};
pub use consumer::Consumer;
pub use discover::{DENIALS, DENIED_WAIT, REPEAT_AFTER, denied_wait};
pub use error::{FetchError, Signers};
pub use limit::RateLimit;
pub use macroflow::Macroflow;
pub use options::{FetchOptions, Retries};
pub use source::Source;
pub use stats::FetchStats;
pub use verify::Verify;

use crate::application::{AppInput, AppOutput, Application, Asked, Beside, Report};
use crate::event::Event;
use crate::rejection::Rejection;
use crate::rto::RttSample;
use crate::time::{Duration, Instant};
use assemble::Assembler;
use config::{Control, ReceiveBuffer};
use discover::{Answer, Discovery};
use limit::Limited;
use pending::Pending;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::Verdict;
use segment::Transfer;
use source::Object;
use std::collections::VecDeque;
use std::sync::Arc;

/// Data received and not processed yet.
#[derive(Debug)]
struct Arrival {
    at: Instant,
    data: Data,
    congestion_mark: u64,
    /// Node that answered, if known.
    provider: Option<u64>,
    /// The satisfied Interest, if one was pending.
    asked: Option<Asked>,
    /// Time that nodes report to have added to the round trip.
    reduction: Duration,
    /// Further link fields, if the timer uses them.
    fields: Option<Box<Ignorable>>,
    /// Segment number of the Data, once it is parsed.
    segment: Option<u64>,
    /// Its number in the macroflow; 0 where it has one fetch only.
    number: u64,
}

impl Arrival {
    /// Data that arrives at `now`; its link fields are kept if the timer uses them.
    fn new(
        now: Instant,
        data: Data,
        congestion_mark: u64,
        beside: Beside,
        keeps_fields: bool,
    ) -> Self {
        let Beside { provider, fields, asked } = beside;
        let reported = fields.as_ref().and_then(|it| field::time(it, field::RTT_REDUCTION));
        let (at, reduction, segment, number) = (now, reported.unwrap_or_default(), None, 0);
        let fields = fields.filter(|_| keeps_fields);
        Self { at, data, congestion_mark, provider, asked, reduction, fields, segment, number }
    }
}

#[derive(Debug)]
enum Phase {
    Start,
    Discovering(Box<Discovery>),
    Transferring(Box<Transfer<Object>>),
    Ended,
}

/// The fetch of one object.
pub struct Fetch {
    control: Control,
    phase: Phase,
    connected: bool,
    buffer: ReceiveBuffer,
    last_progress: Instant,
    /// Time at which the fetch ends without any answer; `None` after the first answer, or without a limit.
    answer_by: Option<Instant>,
    /// The fetch ends then, complete or not.
    complete_by: Option<Instant>,
    limited: Limited,
    arrivals: Vec<Arrival>,
    /// Packets that wait for certificates, if the verifier checks chains of them.
    pending: Pending,
    reports: VecDeque<Report>,
}

impl Fetch {
    /// A fetch that begins at its first `poll`, once a face is up, with its algorithms in their initial state.
    pub fn new(config: FetchConfig) -> Self {
        let macroflow = Macroflow::new(&config);
        Self::joining(&macroflow, Instant::ZERO, config)
    }

    /// A fetch that shares the congestion control of its path: that of `macroflow`, which was made for equal
    /// [`FetchOptions::congestion`].
    pub fn joining(macroflow: &Macroflow, now: Instant, config: FetchConfig) -> Self {
        Self {
            pending: Pending::of(&config.name),
            limited: Limited::new(config.rate_limit.clone()),
            answer_by: None,
            complete_by: None,
            control: Control::new(config, macroflow, now),
            phase: Phase::Start,
            connected: false,
            buffer: ReceiveBuffer::default(),
            last_progress: Instant::ZERO,
            arrivals: Vec::new(),
            reports: VecDeque::new(),
        }
    }

    /// Time for the first answer, if it is limited: never longer than that for any progress.
    fn first_answer(&self) -> Option<Duration> {
        let FetchConfig { first_answer, options, .. } = &self.control.config;
        first_answer.map(|within| within.min(options.no_progress))
    }

    fn start(&mut self, now: Instant) {
        self.last_progress = now;
        self.answer_by = self.first_answer().map(|within| now + within);
        self.complete_by = self.control.config.options.max_time.map(|within| now + within);
        let version = self.control.config.name.last();
        let shown = version.and_then(|version| Convention::of_version(&version));
        self.control.convention = shown.unwrap_or(self.control.convention);
        // What the owner has is compared with what the producer has, also if the name has a version.
        let compares = self.control.config.kept.is_some();
        if compares || self.control.config.options.discover && shown.is_none() {
            let discovery = Discovery::new(&self.control, now);
            self.phase = Phase::Discovering(Box::new(discovery));
        } else if let Some(than) = self.control.config.options.newer_than
            && let newest = discover::version_of(&self.control.config.name)
            && newest.is_none_or(|version| version <= than)
        {
            let name = self.control.config.name.clone();
            self.end(Err(FetchError::Stale { name, newest, than }));
        } else if self.control.config.only_discovers {
            let object = Box::new(self.control.config.name.clone());
            self.reports.push_back(Report::Resolved { object, metadata: None });
            self.end(Ok(()));
        } else {
            self.transfer(
                now,
                self.control.config.name.clone(),
                self.control.config.known_last,
                (self.control.config.belonging, false),
            );
        }
    }

    fn transfer(
        &mut self,
        now: Instant,
        object: Name,
        last: Option<u64>,
        (belonging, probed): (Belonging, bool),
    ) {
        let source = Object::new(object, self.control.convention);
        let mut transfer = Transfer::new(&self.control, source, probed, now);
        transfer.bind(belonging);
        self.reports.extend(belonging.id().map(Report::Identified));
        self.control.congestion.set_receive_bytes(self.buffer.share());
        if let Some(last) = last {
            transfer.announce_end(&mut self.control, last, &mut self.reports);
        }
        self.phase = Phase::Transferring(Box::new(transfer));
    }

    fn end(&mut self, result: Result<(), FetchError>) {
        self.phase = Phase::Ended;
        self.control.congestion.report(0, false);
        self.pending = Pending::of(&self.control.config.name);
        let wanted = self.control.config.options.verify.wanted();
        self.reports
            .push_back(Report::Done(result.map_err(|error| Box::new(error.wanting(wanted)))));
    }

    /// Processes the arrivals since the last call, in order.
    fn judge_arrivals(&mut self) {
        if self.arrivals.is_empty() {
            return self.control.congestion.on_judged();
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let mut judged = 0;
        while let Some(arrival) = arrivals.get(judged) {
            match &mut self.phase {
                Phase::Discovering(_) => self.judge_answer(arrival),
                Phase::Transferring(transfer) => {
                    let rest = &mut arrivals[judged..];
                    let step = transfer.on_arrivals(&mut self.control, rest, &mut self.reports);
                    self.last_progress = step.unwrap_or(self.last_progress);
                    if transfer.is_lost() {
                        self.pending = Pending::of(&self.control.config.name);
                    }
                    break;
                }
                Phase::Start | Phase::Ended => break,
            }
            judged += 1;
        }
        arrivals.clear();
        self.arrivals = arrivals;
        self.control.congestion.on_judged();
        if let Phase::Transferring(transfer) = &mut self.phase {
            transfer.note_window(&self.control, &mut self.reports);
        }
    }

    fn judge_answer(&mut self, arrival: &Arrival) {
        let Phase::Discovering(discovery) = &mut self.phase else {
            return;
        };
        let (now, data) = (arrival.at, &arrival.data);
        let verdict = self.control.config.verifier.verify(data);
        if let Some(rejection) = Rejection::of(verdict, data) {
            let why = rejection.why;
            discovery.on_untrusted(now, data, arrival.asked, &rejection);
            self.reports.push_back(Report::Event(Event::Rejected { segment: None, why }));
            return;
        }
        if verdict == Verdict::Pending {
            return;
        }
        let found = match discovery.on_data(now, data, arrival.asked) {
            Answer::Found(found) => found,
            Answer::Contradiction(why) => return self.end(Err(why)),
            Answer::Unsolicited | Answer::Unusable => return,
        };
        let probed = discovery.has_probed();
        self.last_progress = now;
        let kept = self.control.config.kept.as_ref();
        let is_kept = kept.is_some_and(|kept| kept.is(&found.object, found.belonging));
        self.reports.extend(is_kept.then_some(Report::Kept));
        let object = Box::new(found.object.clone());
        self.reports.push_back(Report::Resolved { object, metadata: found.metadata });
        if self.control.config.only_discovers || is_kept {
            return self.end(Ok(()));
        }
        if let Some(single) = found.single {
            let name = single.name().clone();
            let content = match self.control.config.verifier.content(&single) {
                Ok(content) => content,
                Err(why) => return self.end(Err(FetchError::untrusted(name, why))),
            };
            self.reports.push_back(Report::Event(Event::EndKnown { last: 0 }));
            Assembler::new(self.control.config.delivery, 0).take(0, content, &mut self.reports);
            return self.end(Ok(()));
        }
        self.control.convention = found.convention;
        if let Some(rtt) = found.rtt.filter(|_| !self.control.rto.sets_lifetime()) {
            // The first segments use this round trip instead of the initial timeout.
            let sample = RttSample { provider: arrival.provider, ..RttSample::new(0, rtt) };
            self.control.rto.on_sample(now, &sample);
            self.control.is_measured = true;
        }
        self.control.congestion.on_answer();
        self.transfer(now, found.object, found.last, (found.belonging, probed));
    }

    fn on_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) {
        if self.pending.on_nack(now, &interest.name) {
            return;
        }
        match &mut self.phase {
            Phase::Discovering(discovery) => {
                let ours = discovery.on_nack(now, &interest.name, reason);
                let event = Event::Nacked { segment: None, reason };
                self.reports.extend(ours.then_some(Report::Event(event)));
            }
            Phase::Transferring(transfer) => {
                transfer.on_nack(&mut self.control, now, interest, reason, &mut self.reports);
            }
            _ => {}
        }
    }

    fn limit(&mut self) {
        if let Phase::Transferring(_) = &self.phase {
            self.control.congestion.set_receive_bytes(self.buffer.share());
        }
    }

    fn on_face(&mut self, now: Instant, connected: bool) {
        if self.connected == connected || matches!(self.phase, Phase::Ended) {
            return;
        }
        self.connected = connected;
        let event = if connected { Event::Connected } else { Event::Disconnected };
        self.reports.push_back(Report::Event(event));
        match &mut self.phase {
            Phase::Discovering(discovery) if connected => discovery.restart(now),
            Phase::Transferring(transfer) if connected => {
                transfer.on_connected(&self.control, now);
            }
            Phase::Transferring(transfer) => {
                transfer.on_disconnected(&mut self.control, now, &mut self.reports);
            }
            _ => {}
        }
    }

    /// The next Interest of the current phase that may be sent now, and its announcement.
    fn next_interest(&mut self, now: Instant) -> Option<(Interest, Option<Box<Ignorable>>)> {
        if !self.connected {
            if let Phase::Transferring(transfer) = &self.phase {
                transfer.hold(&mut self.control);
            }
            return None;
        }
        let (interest, rto, announced) = match &mut self.phase {
            Phase::Discovering(_) if self.pending.holds(now) => None,
            Phase::Discovering(discovery) => {
                let rto = self.control.rto.rto();
                let waits = self.pending.arrivals().next().is_some();
                let interest = discovery.poll(now, rto, waits);
                if interest.is_some() {
                    self.reports.push_back(Report::Event(Event::Probed));
                }
                interest.map(|interest| (interest, rto, None))
            }
            Phase::Transferring(transfer)
                if transfer.is_lost() || !self.limited.allows(now, transfer.in_flight()) =>
            {
                transfer.hold(&mut self.control);
                None
            }
            Phase::Transferring(transfer) => {
                transfer.next_interest(&mut self.control, now, &mut self.reports)
            }
            _ => None,
        }?;
        Some((self.control.finish(interest, rto), announced))
    }

    /// Ends the fetch if it has succeeded or failed.
    fn conclude(&mut self, now: Instant) {
        let verdict = match &self.phase {
            Phase::Discovering(discovery) => discovery.failure().map(Err),
            Phase::Transferring(transfer) => transfer.conclusion(),
            Phase::Start | Phase::Ended => return,
        };
        if let Some(result) = verdict {
            self.end(result);
        } else if self.answer_by.is_some_and(|deadline| deadline <= now) {
            let name = self.control.config.name.clone();
            let within = self.first_answer().unwrap_or_default();
            self.end(Err(FetchError::NoFirstAnswer { name, within }));
        } else if self.complete_by.is_some_and(|deadline| deadline <= now) {
            let within = self.control.config.options.max_time.unwrap_or_default();
            self.end(Err(FetchError::TooSlow(within)));
        } else if self.progress_deadline().is_some_and(|deadline| deadline <= now) {
            let objection = match &mut self.phase {
                Phase::Discovering(discovery) => discovery.objection(),
                Phase::Transferring(transfer) => transfer.objection(),
                Phase::Start | Phase::Ended => None,
            };
            let why = objection
                .or_else(|| self.pending.objection())
                .unwrap_or(FetchError::NoProgress(self.control.config.options.no_progress));
            self.end(Err(why));
        }
    }

    /// Fires expired timers and does one step.
    #[inline(never)]
    fn advance(&mut self, now: Instant) -> Option<AppOutput> {
        match &mut self.phase {
            Phase::Ended => return None,
            Phase::Start => self.start(now),
            _ => {}
        }
        if let Some(first) = self.arrivals.first() {
            self.control.congestion.on_waited(now.since(first.at));
        }
        let certificate = self.resolve(now);
        self.judge_arrivals();
        if let Phase::Transferring(transfer) = &mut self.phase {
            let waits = |name: &Name| self.pending.has(|it| it == name);
            transfer.fire(&mut self.control, now, &waits, &mut self.reports);
        }
        if let Some((interest, rto)) = certificate {
            return Some(AppOutput::Interest(Arc::new(self.control.finish(interest, rto))));
        }
        if let Some((interest, announced)) = self.next_interest(now) {
            let interest = Arc::new(interest);
            return Some(match announced {
                None => AppOutput::Interest(interest),
                Some(fields) => AppOutput::InterestWith { interest, fields },
            });
        }
        if self.reports.is_empty() {
            self.conclude(now);
        }
        self.reports.pop_front().map(AppOutput::Report)
    }

    /// Time at which the fetch ends without new Data; `None` while it waits for the reader. The time in which the limit of the
    /// rate permits no Interest does not count.
    fn progress_deadline(&self) -> Option<Instant> {
        let waits = self.waits_for_reader();
        let since =
            self.limited.deadline().map_or(self.last_progress, |it| it.max(self.last_progress));
        (!waits).then(|| since + self.control.config.options.no_progress)
    }

    fn waits_for_reader(&self) -> bool {
        matches!(&self.phase, Phase::Transferring(transfer) if transfer.waits_for_reader())
    }
}

impl Application for Fetch {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::Data { .. } if matches!(self.phase, Phase::Ended) => {}
            AppInput::Data { data, congestion_mark, beside } => {
                self.answer_by = None;
                self.limited.on_arrival(now, data.encoded_len());
                let keeps_fields = self.control.announces > 0;
                let arrival = Arrival::new(now, data, congestion_mark, beside, keeps_fields);
                let number = self.control.congestion.on_arrival();
                self.arrivals.push(Arrival { number, ..arrival });
            }
            AppInput::Nack { interest, reason } => {
                self.answer_by = None;
                self.on_nack(now, &interest, reason);
            }
            AppInput::Held { interest } => {
                if let Phase::Transferring(transfer) = &mut self.phase {
                    transfer.on_held(now, &interest, &mut self.reports);
                }
            }
            AppInput::Consumed { bytes } => {
                if self.waits_for_reader() {
                    self.last_progress = now;
                }
                if let Phase::Transferring(transfer) = &mut self.phase {
                    transfer.on_consumed(bytes);
                }
            }
            AppInput::Shared { among } => {
                self.buffer.among = among;
                self.limit();
            }
            AppInput::FaceUp { receive_budget } => {
                self.buffer.bytes = receive_budget;
                self.limit();
                self.on_face(now, true);
            }
            AppInput::FaceDown if self.control.config.options.follows_faces => {
                self.on_face(now, false)
            }
            AppInput::FaceDown => {}
            AppInput::Interest { .. } | AppInput::TimeOfDay(_) => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        match self.reports.pop_front() {
            Some(report) => Some(AppOutput::Report(report)),
            None => self.advance(now),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let phase = match &self.phase {
            Phase::Ended => return None,
            Phase::Start => return Some(Instant::ZERO),
            Phase::Discovering(discovery) if self.connected => {
                let due = discovery.deadline();
                due.map(|due| self.pending.held_until().map_or(due, |held| held.max(due)))
            }
            Phase::Transferring(transfer) => {
                let limited = self.limited.deadline().filter(|_| self.connected);
                segment::earlier(transfer.deadline(&self.control), limited)
            }
            Phase::Discovering(_) => None,
        };
        let certificates = self.pending.deadline().filter(|_| self.connected);
        let limits = self.progress_deadline().into_iter().chain(self.answer_by);
        let limits = limits.chain(self.complete_by);
        phase.into_iter().chain(limits).chain(certificates).min()
    }

    fn awaits(&self, data: &Data) -> bool {
        let Self { control, arrivals, .. } = self;
        let is_unjudged = || {
            let mut unjudged = arrivals.iter().chain(self.pending.arrivals());
            unjudged.any(|it| it.data.name_value() == data.name_value())
        };
        self.pending.awaits(data.name())
            || control.config.verifier.judges()
                && match &self.phase {
                    Phase::Discovering(it) => {
                        it.awaits(data, None) && (it.is_disputed() || is_unjudged())
                    }
                    Phase::Transferring(it) => it
                        .awaits(control, data.name())
                        .is_some_and(|segment| it.is_disputed(segment) || is_unjudged()),
                    Phase::Start | Phase::Ended => false,
                }
    }

    fn flow_nonce(&self) -> Option<u64> {
        let rng = &self.control.rng;
        self.control.config.options.flow_nonce.then(|| rng.substream("flow-nonce").next_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use recoup_packet::{data::DataBuilder, signature::DigestSigner};

    #[test]
    fn data_after_the_end_is_not_kept() {
        let name: Name = "/a/file/v=7".parse().expect("a name");
        let data = DataBuilder::new(&name).build(b"late", &DigestSigner);
        let config = FetchConfig::new(name, FetchOptions::default(), Rng::from_seed(1));
        let mut fetch = Fetch::new(config);
        fetch.end(Ok(()));
        fetch.handle(
            Instant::ZERO,
            AppInput::Data { data, congestion_mark: 0, beside: Beside::default() },
        );
        assert!(fetch.arrivals.is_empty());
    }
}
