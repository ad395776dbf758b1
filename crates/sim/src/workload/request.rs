//! A consumer of a catalogue: requests single Data packets, by a schedule or as a window permits.
//!
//! Each request is an Interest of its own, even for a pending content; one Data packet answers all requests for it.
//! Requests are numbered from 0; events name them by that number, as those of a fetch name segments. Without an
//! estimator of the timeout a request expires with its Interest's lifetime and is not retransmitted. An application
//! Nack (no such content) ends a request like Data, but counts as a Nack and not as received.
use super::arrival::Arrivals;
use super::popularity::{Chooser, Tables};
use crate::network::{Arrival, RequestPlan};
use pending::{Asked, Pending};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::lp::anticipation::{self, Record};
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::{AppInput, AppOutput, Application, Beside, Report};
use recoup_transport::congestion::{CongestionControl, Delivered, Loss, LossKind};
use recoup_transport::event::Event;
use recoup_transport::random::Rng;
use recoup_transport::rto::{self, Question, RtoEstimator, RttSample, Target, Trail};
use recoup_transport::time::{Duration, Instant};
use recoup_transport::timer::Timers;
use std::collections::VecDeque;
use std::sync::Arc;

mod pending;

/// Why a plan is no consumer: what is wrong, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(String);

/// The machine.
#[derive(Debug)]
pub struct Request {
    prefixes: Vec<Name>,
    chooser: Chooser,
    /// How many contents an Interest announces.
    announces: usize,
    /// Contents that were drawn ahead, to be announced.
    upcoming: VecDeque<u64>,
    arrival: Arrival,
    /// Once it has begun.
    arrivals: Option<Arrivals>,
    congestion: Option<Box<dyn CongestionControl>>,
    rto: Option<Box<dyn RtoEstimator>>,
    requests: Option<u64>,
    retries: Option<u32>,
    lifetime: Duration,
    rng: Rng,
    choices: Rng,
    nonces: Rng,
    pending: Pending,
    timers: Timers,
    made: u64,
    highest_order: u64,
    /// Highest number of a request that was answered.
    high_data: u64,
    min_rtt: Option<Duration>,
    window: f64,
    outbox: VecDeque<Out>,
    is_done: bool,
}

#[derive(Debug)]
enum Out {
    Event(Event),
    Ask(u64, Option<Box<Ignorable>>),
    Done,
}

impl Request {
    /// A consumer as planned, which begins when it is first polled; `rng` is its own stream.
    ///
    /// # Errors
    /// If the plan names what there is not.
    pub fn new(plan: &RequestPlan, rng: &Rng, tables: &mut Tables) -> Result<Self, RequestError> {
        if plan.prefixes.is_empty() {
            return Err(RequestError("a catalogue has at least one prefix".into()));
        }
        if let Some(problem) = plan.arrival.problem() {
            return Err(RequestError(problem));
        }
        let congestion = match &plan.arrival {
            Arrival::Window(congestion) => Some(congestion.build()),
            _ => None,
        };
        let mut rto = plan.rto.as_ref().map(|rto| rto.build());
        let announces =
            rto.as_mut().and_then(|rto| rto.anticipating()).map_or(0, |it| it.announces());
        let chooser = Chooser::new(plan.popularity, plan.contents, tables).map_err(RequestError)?;
        Ok(Self {
            prefixes: plan.prefixes.clone(),
            chooser,
            announces,
            upcoming: VecDeque::new(),
            arrival: plan.arrival.clone(),
            arrivals: None,
            window: congestion.as_ref().map_or(0.0, |congestion| congestion.window()),
            congestion,
            rto,
            requests: plan.requests,
            retries: plan.retries,
            lifetime: plan.lifetime,
            rng: rng.clone(),
            choices: rng.substream("popularity"),
            nonces: rng.substream("nonce"),
            pending: Pending::default(),
            timers: Timers::new(),
            made: 0,
            highest_order: 0,
            high_data: 0,
            min_rtt: None,
            outbox: VecDeque::new(),
            is_done: false,
        })
    }

    // --- asking ---------------------------------------------------------------------------------

    fn begin(&mut self, now: Instant) {
        let arrivals = Arrivals::new(&self.arrival, now, self.rng.substream("arrival"));
        self.arrivals = Some(arrivals);
        self.report_window();
    }

    /// Does one thing that is due; `false` if nothing is.
    fn advance(&mut self, now: Instant) -> bool {
        if let Some(slot) = self.timers.pop_due(now) {
            self.on_timeout(now, slot);
            return true;
        }
        if let Some(count) = self.arrivals.as_mut().and_then(|arrivals| arrivals.pop_due(now)) {
            for _ in 0..count.min(self.left()) {
                self.request(now);
            }
            return true;
        }
        if self.congestion.is_some()
            && self.window >= self.pending.len() as f64 + 1.0
            && self.left() > 0
        {
            self.request(now);
            return true;
        }
        if self.is_done || !self.is_exhausted() || self.pending.len() > 0 {
            return false;
        }
        self.is_done = true;
        self.outbox.push_back(Out::Done);
        true
    }

    /// How many requests are still to be made.
    fn left(&self) -> u64 {
        self.requests.map_or(u64::MAX, |requests| requests - self.made)
    }

    fn is_exhausted(&self) -> bool {
        let over = self.arrivals.as_ref().is_some_and(|arrivals| arrivals.deadline().is_none());
        self.left() == 0 || self.congestion.is_none() && over
    }

    fn request(&mut self, now: Instant) {
        let content = self.draw();
        let (number, transmissions) = (self.made, 0);
        self.made += 1;
        let slot = self.pending.insert(Asked {
            content,
            number,
            first: now,
            last: now,
            transmissions,
            order: 0,
            next: None,
        });
        self.send(now, slot);
    }

    /// The next content; as many more are drawn ahead as the estimator wants to announce.
    fn draw(&mut self) -> u64 {
        let ahead = self.announces;
        while self.upcoming.len() <= ahead {
            self.upcoming.push_back(self.chooser.draw(&mut self.choices));
        }
        self.upcoming.pop_front().unwrap_or_default()
    }

    /// The link fields of a first Interest, if it announces others.
    fn announcement(&self) -> Option<Box<Ignorable>> {
        if self.upcoming.is_empty() {
            return None;
        }
        let names: Vec<Name> = self.upcoming.iter().map(|content| self.name(*content)).collect();
        let mut fields = Ignorable::default();
        fields.set(field::ANTICIPATED, anticipation::encode_names(&names));
        Some(Box::new(fields))
    }

    fn target(&self, content: u64) -> Target {
        Target { content, class: content % self.prefixes.len() as u64 }
    }

    fn send(&mut self, now: Instant, slot: u32) {
        let asked = self.pending.slots[slot as usize];
        let question =
            Question { target: self.target(asked.content), retransmissions: asked.transmissions };
        let patience = self.rto.as_ref().map_or(self.lifetime, |rto| rto.rto_for(now, &question));
        self.timers.arm(slot, now + patience);
        self.highest_order += 1;
        let asked = &mut self.pending.slots[slot as usize];
        (asked.last, asked.order) = (now, self.highest_order);
        asked.transmissions += 1;
        let (segment, transmissions, content) = (asked.number, asked.transmissions, asked.content);
        let fields = if transmissions == 1 { self.announcement() } else { None };
        self.outbox.push_back(Out::Ask(content, fields));
        self.report(Event::Sent { segment, transmissions, rto: patience.into() });
    }

    fn interest(&mut self, content: u64) -> Interest {
        let mut interest = Interest::new(self.name(content));
        interest.nonce = Some(self.nonces.next_u32());
        let timer = self.rto.as_ref().filter(|rto| rto.sets_lifetime());
        interest.lifetime = Some(timer.map_or(self.lifetime, |rto| rto.rto()));
        interest
    }

    fn name(&self, content: u64) -> Name {
        let mut digits = Digits::default();
        self.prefix(content).append(Component::generic(digits.of(content)))
    }

    fn prefix(&self, content: u64) -> &Name {
        &self.prefixes[(content % self.prefixes.len() as u64) as usize]
    }

    /// The content that a name means, if it is one of the catalogue's.
    fn content(&self, name: &Name) -> Option<u64> {
        let last = name.last()?;
        let content = std::str::from_utf8(last.value()).ok()?.parse().ok()?;
        let prefix = self.prefix(content);
        (name.len() == prefix.len() + 1 && prefix.is_prefix_of(name)).then_some(content)
    }

    // --- what comes back ------------------------------------------------------------------------

    fn on_data(&mut self, now: Instant, data: &Data, is_marked: bool, beside: &Beside) {
        let mut next = self.content(data.name()).and_then(|content| self.pending.take(content));
        if next.is_none() {
            self.report(Event::Duplicate);
        }
        while let Some(slot) = next {
            let in_flight = self.pending.len() as u32;
            let asked = self.pending.free(slot);
            next = asked.next;
            self.timers.cancel(slot);
            let answer = Answer { data, is_marked, beside, in_flight };
            self.on_answer(now, &asked, &answer);
        }
    }

    /// Whatever the answer is, it has made the round trip.
    fn on_answer(&mut self, now: Instant, asked: &Asked, answer: &Answer<'_>) {
        let Answer { data, is_marked, in_flight, .. } = *answer;
        let segment = asked.number;
        self.high_data = self.high_data.max(segment);
        let rtt = now.since(asked.last);
        self.report(if data.content_type() == ContentType::Nack {
            Event::Nacked { segment: Some(segment), reason: NackReason::None }
        } else {
            Event::Received {
                segment,
                content_bytes: data.content().len() as u32,
                wire_bytes: data.encoded_len() as u32,
                rtt: rtt.into(),
                delay: now.since(asked.first).into(),
                transmissions: asked.transmissions,
            }
        });
        let rtt = (asked.transmissions == 1).then_some(rtt);
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.sample(now, asked, answer.beside);
        if is_marked {
            self.report(Event::Marked { segment });
            self.lose(now, LossKind::Mark, asked.order, in_flight);
        }
        let (highest_order, min_rtt) = (self.highest_order, self.min_rtt);
        let srtt = self.srtt();
        if let Some(congestion) = &mut self.congestion {
            let order = asked.order;
            // Contents of a catalogue have no order, so none of them comes out of order.
            let advance = 1;
            let path = answer.beside.provider;
            let delivered = Delivered {
                segment,
                order,
                highest_order,
                rtt,
                path,
                srtt,
                min_rtt,
                in_flight,
                advance,
                remaining: None,
            };
            congestion.on_delivered(now, &delivered);
        }
        self.report_window();
    }

    /// Feeds the estimator: under Karn's rule, unless it sets the lifetime.
    fn sample(&mut self, now: Instant, asked: &Asked, beside: &Beside) {
        let takes_all = self.rto.as_ref().is_some_and(|rto| rto.sets_lifetime());
        if self.rto.is_none() || (asked.transmissions > 1 && !takes_all) {
            return;
        }
        let (rtt, timeouts) = (now.since(asked.first), asked.transmissions.saturating_sub(1));
        let (target, provider) = (self.target(asked.content), beside.provider);
        let sample = RttSample { target, provider, ..RttSample::new(asked.number, rtt) };
        let records = beside.fields.as_ref().and_then(|fields| fields.get(field::RECORDS));
        match records.map(|records| (records, self.announced(beside))) {
            Some((records, announced)) => {
                let records: Vec<Record> = anticipation::records(records).collect();
                let trail = Trail { announced: &announced, records: &records };
                self.teach(asked.number, rtt, |rto| rto::sample(rto, now, &sample, Some(&trail)));
            }
            None => {
                let answer = rto::Answer { sample, timeouts };
                self.teach(asked.number, rtt, |rto| rto.on_answer(now, &answer));
            }
        }
    }

    /// The contents that the answered Interest announced.
    fn announced(&self, beside: &Beside) -> Vec<Option<u64>> {
        let names = beside.fields.as_ref().and_then(|fields| fields.get(field::ANTICIPATED));
        let names = names.and_then(|names| anticipation::decode_names(names).ok());
        names.unwrap_or_default().iter().map(|name| self.content(name)).collect()
    }

    /// Updates the estimator, and reports its new state.
    fn teach(&mut self, segment: u64, rtt: Duration, update: impl FnOnce(&mut dyn RtoEstimator)) {
        let Some(estimator) = &mut self.rto else {
            return;
        };
        update(estimator.as_mut());
        let sampled = Event::Sampled {
            segment,
            rtt: rtt.into(),
            srtt: estimator.srtt().unwrap_or(rtt).into(),
            rttvar: estimator.rttvar().unwrap_or_default().into(),
            rto: estimator.rto().into(),
        };
        self.report(sampled);
    }

    fn on_nack(&mut self, now: Instant, name: &Name, reason: NackReason) {
        let Some(content) = self.content(name) else {
            return;
        };
        let mut next = self.pending.head(content);
        while let Some(slot) = next {
            let asked = &self.pending.slots[slot as usize];
            next = asked.next;
            let (segment, order) = (asked.number, asked.order);
            self.report(Event::Nacked { segment: Some(segment), reason });
            if reason == NackReason::Congestion {
                self.lose(now, LossKind::NackCongestion, order, self.pending.len() as u32);
            }
            if self.rto.is_none() {
                self.give_up(slot);
            }
        }
    }

    fn on_timeout(&mut self, now: Instant, slot: u32) {
        let asked = &self.pending.slots[slot as usize];
        let (segment, order, transmissions) = (asked.number, asked.order, asked.transmissions);
        self.report(Event::TimedOut { segment });
        let is_new = self.lose(now, LossKind::Timeout, order, self.pending.len() as u32);
        let is_last = self.retries.is_some_and(|retries| transmissions > retries);
        match &mut self.rto {
            Some(rto) if !is_last => {
                if rto.sets_lifetime() {
                    rto.on_expiry(now, transmissions);
                } else if is_new {
                    rto.on_timeout(now);
                }
                self.send(now, slot);
            }
            _ => self.give_up(slot),
        }
    }

    /// Signals a loss to the window, if there is one; `true` if it is a new loss event.
    fn lose(&mut self, now: Instant, kind: LossKind, order: u64, in_flight: u32) -> bool {
        let (highest_order, min_rtt) = (self.highest_order, self.min_rtt);
        let srtt = self.srtt();
        let Some(congestion) = &mut self.congestion else {
            return kind == LossKind::Timeout;
        };
        let loss = Loss {
            kind,
            order,
            highest_order,
            high_data: self.high_data,
            high_interest: self.made.saturating_sub(1),
            in_flight,
            evidence: 0,
            srtt,
            min_rtt,
        };
        let is_new = congestion.on_loss(now, &loss);
        if is_new {
            self.report(Event::Reduced { cause: kind.into() });
            self.report_window();
        }
        is_new
    }

    fn give_up(&mut self, slot: u32) {
        self.timers.cancel(slot);
        self.pending.remove(slot);
    }

    fn srtt(&self) -> Option<Duration> {
        self.rto.as_ref().and_then(|rto| rto.srtt())
    }

    fn report(&mut self, event: Event) {
        self.outbox.push_back(Out::Event(event));
    }

    fn report_window(&mut self) {
        let Some(congestion) = &self.congestion else {
            return;
        };
        let (window, ssthresh) = (congestion.window(), congestion.ssthresh());
        if window != self.window || self.made == 0 {
            self.window = window;
            let delay_window = congestion.delay_window();
            self.report(Event::Window { window, ssthresh, delay_window });
        }
    }
}

impl Application for Request {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::Data { .. } if self.is_done => {}
            AppInput::Data { data, congestion_mark, beside } => {
                self.on_data(now, &data, congestion_mark > 0, &beside)
            }
            AppInput::Nack { interest, reason } => self.on_nack(now, &interest.name, reason),
            AppInput::Interest { .. }
            | AppInput::Consumed { .. }
            | AppInput::Shared { .. }
            | AppInput::TimeOfDay(_)
            | AppInput::FaceUp { .. }
            | AppInput::Held { .. }
            | AppInput::FaceDown => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self.arrivals.is_none() {
            self.begin(now);
        }
        while self.outbox.is_empty() {
            if !self.advance(now) {
                return None;
            }
        }
        Some(match self.outbox.pop_front()? {
            Out::Event(event) => AppOutput::Report(Report::Event(event)),
            Out::Ask(content, None) => AppOutput::Interest(Arc::new(self.interest(content))),
            Out::Ask(content, Some(fields)) => {
                AppOutput::InterestWith { interest: Arc::new(self.interest(content)), fields }
            }
            Out::Done => AppOutput::Report(Report::Done(Ok(()))),
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let Some(arrivals) = &self.arrivals else {
            return Some(Instant::ZERO);
        };
        let arrival = if self.left() > 0 { arrivals.deadline() } else { None };
        [arrival, self.timers.deadline()].into_iter().flatten().min()
    }
}

/// An answer to the requests for a content.
struct Answer<'a> {
    data: &'a Data,
    is_marked: bool,
    beside: &'a Beside,
    /// Requests without an answer before it.
    in_flight: u32,
}

/// Buffer for the digits of a number.
#[derive(Default)]
struct Digits([u8; 20]);

impl Digits {
    fn of(&mut self, mut number: u64) -> &[u8] {
        let mut from = self.0.len();
        loop {
            from -= 1;
            self.0[from] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[from..];
            }
        }
    }
}

#[cfg(test)]
mod tests;
