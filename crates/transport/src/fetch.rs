//! The fetch loop: one object, over all hops, as an application of a node.
//!
//! 1. *Discover* the version (RDR metadata, or a prefix probe), unless the name carries one.
//! 2. *Ask*: window and reader permitting, retransmit before new; the scoreboard notes the order.
//! 3. *Judge*: Data is verified, sampled and delivered; what stays away past its timeout, is lost by the
//!    order in which other Data arrives, is refused or proves forged is asked for again, within a retry budget per segment and a bound on the time
//!    without progress. An empty segment is no progress.
//!
//! *A forged copy is no answer.* An Interest stays pending here until Data for it was verified. A forged copy takes the pending
//! Interest of the nodes that it passed, this consumer's own node included. Therefore:
//! - the node hands over further Data of a name whose answer was forged or is not verified yet
//!   ([`Application::awaits`]), so that the genuine copy counts although it comes second;
//! - the fetch loop retransmits at once, which renews the pending Interest in nodes further on; from the second forged
//!   answer on it backs off, because a poisoned cache repeats its answer;
//! - such a retransmission is charged to a budget of its own, of 3 to 15 for each name, and not to the retries. After the
//!   timeout of the last one the fetch ends ([`FetchError::Untrusted`]).
//!
//! Three clocks are kept apart and in order. The *retransmission timeout* (estimated) says when to
//! ask again. The *Interest lifetime* (in the packet) says how long forwarders remember the question;
//! it is never shorter than the timeout, so that an answer within the timeout still finds its way; some timers make
//! the two one ([`RtoEstimator::sets_lifetime`]).
//! *Suppression* in forwarders (NFD 10 to 250 ms, ndnd 400 to 500 ms) swallows a retransmission that
//! follows too soon; a swallowed one is just lost, so the next waits twice as long (the back-off), and
//! each one has a fresh nonce, so that no dead-nonce list takes it for a loop.
//!
//! Source: S. Yang's consumer (2016), whose four designs are parameters of this loop: its window
//! (`yang2016`, `fixed`), its timer (`yang2016`), its sampling, its scan (`rto_check`), and whether a
//! timeout withdraws the Interest (`cancel_on_timeout`).
//!
//! Differences:
//! - of what waits to be asked for again the lowest segment goes first, not the one that has waited
//!   longest: a reader in order needs it sooner;
//! - timeouts found by one scan are judged together, before any segment is asked for again;
//! - Nacks, congestion marks, verification, a reader's pace and lost faces have a say.
mod assemble;
mod discover;
mod end;
mod error;
mod options;
mod pacer;
mod pending;
mod scoreboard;
mod segment;
pub mod summary;
mod verify;

pub use assemble::Delivery;
pub use error::FetchError;
pub use options::{FetchOptions, Retries};
pub use verify::Verify;

use crate::application::{AppInput, AppOutput, Application, Report};
use crate::congestion::CongestionControl;
use crate::event::Event;
use crate::loss::{self, LossDetector};
use crate::random::Rng;
use crate::rto::{RtoEstimator, RttSample, Sampling};
use crate::time::{Duration, Instant};
use assemble::Assembler;
use discover::{Answer, Discovery};
use pending::Pending;
use recoup_packet::data::Data;
use recoup_packet::interest::{DEFAULT_LIFETIME, Interest};
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{AutoVerifier, Verdict, Verifier};
use segment::Transfer;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What to fetch and how.
pub struct FetchConfig {
    /// Name of the object, with or without a version.
    pub name: Name,
    /// Find out the latest version first, unless `name` ends in one.
    pub discover: bool,
    /// Only a version with a higher number than this one is fetched; answers that name no such version are stale and are
    /// asked for again within the retry budget.
    pub newer_than: Option<u64>,
    /// The fetch ends once its object is known ([`Report::Resolved`]), without content.
    pub only_discovers: bool,
    /// How segment numbers are written, where neither the version in `name` nor discovery shows it.
    pub convention: Convention,
    /// First segment to fetch.
    pub first: u64,
    /// Last segment to fetch; `None` means the object's last.
    pub last: Option<u64>,
    /// Segments that are there already: ascending, disjoint; none with `Delivery::Ordered`, which waits for
    /// each.
    pub held: Vec<Range<u64>>,
    /// Number of the object's last segment, where it is known from before and no version is discovered. If all segments up to it
    /// are held, the fetch ends without any Interest.
    pub known_last: Option<u64>,
    /// How content is handed out.
    pub delivery: Delivery,
    /// Estimator of the retransmission timeout.
    pub rto: Box<dyn RtoEstimator>,
    /// Which round trips are samples.
    pub sampling: Sampling,
    /// Congestion control.
    pub congestion: Box<dyn CongestionControl>,
    /// Rule that declares a segment lost before its timer expires.
    pub loss: Box<dyn LossDetector>,
    /// A congestion mark reduces the window.
    pub react_to_marks: bool,
    /// Judge of every Data packet. If it judges by chains of certificates, the fetch loop fetches them.
    pub verifier: Box<dyn Verifier>,
    /// Interest lifetime, if the timer does not set it; raised to the retransmission timeout where that is longer.
    pub lifetime: Duration,
    /// How often a segment is asked for again; `None` means without limit.
    pub retries: Option<u32>,
    /// A segment that was asked for so often without an answer is left out, and the fetch goes on without it. Not for content in
    /// order ([`Delivery::Ordered`]), which would wait for it.
    pub leaves_holes: bool,
    /// What was asked for by a face that is gone is asked for again as soon as there is one; otherwise only timers tell of it.
    pub follows_faces: bool,
    /// Longest time in which nothing new arrives, though something is asked for: time in which content in order only waits
    /// for its reader does not count.
    pub no_progress: Duration,
    /// Timeouts are looked for at multiples of this interval (yang2016 and ndnget: 10 ms), and found
    /// by the first look after them; zero means exactly when they expire.
    pub rto_check: Duration,
    /// A timeout withdraws the Interest: Data that comes before the segment was asked for again is
    /// not used.
    pub cancel_on_timeout: bool,
    /// Ask for segments with MustBeFresh.
    pub must_be_fresh: bool,
    /// Interests carry a flow nonce, so that routers which share links fairly tell this fetch from others of the
    /// same content.
    pub flow_nonce: bool,
    /// Source of nonces.
    pub rng: Rng,
}

impl FetchConfig {
    /// The defaults for `name`: discovery, everything, losses declared by timers, verification by digest where a
    /// packet has one ([`AutoVerifier`]).
    pub fn new(
        name: Name,
        rto: Box<dyn RtoEstimator>,
        congestion: Box<dyn CongestionControl>,
        rng: Rng,
    ) -> Self {
        Self {
            name,
            discover: true,
            newer_than: None,
            only_discovers: false,
            convention: Convention::Typed,
            first: 0,
            last: None,
            held: Vec::new(),
            known_last: None,
            delivery: Delivery::Unordered,
            rto,
            sampling: Sampling::Rfc7323,
            congestion,
            loss: Box::new(loss::Timeout),
            react_to_marks: true,
            verifier: Box::new(AutoVerifier),
            lifetime: DEFAULT_LIFETIME,
            retries: Some(15),
            leaves_holes: false,
            follows_faces: true,
            no_progress: Duration::from_secs(60),
            rto_check: Duration::ZERO,
            cancel_on_timeout: false,
            must_be_fresh: false,
            flow_nonce: false,
            rng,
        }
    }
}

/// What arrived and was not judged yet.
#[derive(Debug)]
struct Arrival {
    at: Instant,
    data: Data,
    congestion_mark: u64,
    /// Which node answered, if it said so.
    provider: Option<u64>,
    /// By how much nodes on the way say that they lengthened the round trip.
    reduction: Duration,
    /// What else came beside it, if the timer learns from what nodes on the way recorded.
    fields: Option<Box<Ignorable>>,
    /// Number of the segment that it brings, once that is looked at.
    segment: Option<u64>,
}

#[derive(Debug)]
enum Phase {
    Start,
    Discovering(Box<Discovery>),
    Transferring(Box<Transfer>),
    Ended,
}

/// The fetch of one object.
pub struct Fetch {
    config: FetchConfig,
    phase: Phase,
    connected: bool,
    receive_budget: Option<u64>,
    /// How many share it.
    among: u64,
    last_progress: Instant,
    arrivals: Vec<Arrival>,
    /// What waits for certificates, if the verifier judges by chains of them.
    pending: Pending,
    reports: VecDeque<Report>,
}

impl Fetch {
    /// A fetch that begins at its first `poll`, once a face is up.
    pub fn new(mut config: FetchConfig) -> Self {
        config.congestion.seed(config.rng.substream("congestion"));
        Self {
            config,
            phase: Phase::Start,
            connected: false,
            receive_budget: None,
            among: 1,
            last_progress: Instant::ZERO,
            arrivals: Vec::new(),
            pending: Pending::default(),
            reports: VecDeque::new(),
        }
    }

    fn start(&mut self, now: Instant) {
        self.last_progress = now;
        let version = self.config.name.last();
        let shown = version.and_then(|version| Convention::of_version(&version));
        self.config.convention = shown.unwrap_or(self.config.convention);
        if self.config.discover && shown.is_none() {
            let discovery = Discovery::new(&self.config, now);
            self.phase = Phase::Discovering(Box::new(discovery));
        } else if let Some(than) = self.config.newer_than
            && let newest = discover::version_of(&self.config.name)
            && newest.is_none_or(|version| version <= than)
        {
            let name = self.config.name.clone();
            self.end(Err(FetchError::Stale { name, newest, than }));
        } else if self.config.only_discovers {
            let object = Box::new(self.config.name.clone());
            self.reports.push_back(Report::Resolved { object, metadata: None });
            self.end(Ok(()));
        } else {
            self.transfer(now, self.config.name.clone(), self.config.known_last, false);
        }
    }

    fn transfer(&mut self, now: Instant, object: Name, last: Option<u64>, probed: bool) {
        let mut transfer = Transfer::new(&self.config, object, probed, now);
        let share = self.share();
        transfer.set_receive_budget(&mut self.config, share);
        if let Some(last) = last {
            transfer.announce_end(&mut self.config, last, &mut self.reports);
        }
        self.phase = Phase::Transferring(Box::new(transfer));
    }

    fn end(&mut self, result: Result<(), FetchError>) {
        self.phase = Phase::Ended;
        self.pending = Pending::default();
        self.reports.push_back(Report::Done(result.map_err(Box::new)));
    }

    /// Judges what arrived since the last drain, in order of arrival.
    fn judge_arrivals(&mut self) {
        if self.arrivals.is_empty() {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let mut judged = 0;
        while let Some(arrival) = arrivals.get(judged) {
            match &mut self.phase {
                Phase::Discovering(_) => self.judge_answer(arrival),
                Phase::Transferring(transfer) => {
                    let rest = &mut arrivals[judged..];
                    let step = transfer.on_arrivals(&mut self.config, rest, &mut self.reports);
                    self.last_progress = step.unwrap_or(self.last_progress);
                    break;
                }
                Phase::Start | Phase::Ended => break,
            }
            judged += 1;
        }
        arrivals.clear();
        self.arrivals = arrivals;
    }

    fn judge_answer(&mut self, arrival: &Arrival) {
        let Phase::Discovering(discovery) = &mut self.phase else {
            return;
        };
        let (now, data) = (arrival.at, &arrival.data);
        match self.config.verifier.verify(data) {
            Verdict::Bad(why) => {
                discovery.on_untrusted(now, data.name(), why);
                self.reports.push_back(Report::Event(Event::Rejected { segment: None, why }));
                return;
            }
            Verdict::Pending => return,
            Verdict::Verified | Verdict::NotVerified => {}
        }
        let found = match discovery.on_data(now, data) {
            Answer::Found(found) => found,
            Answer::Contradiction(why) => return self.end(Err(why)),
            Answer::Foreign | Answer::Unusable => return,
        };
        let probed = discovery.has_probed();
        self.last_progress = now;
        let object = Box::new(found.object.clone());
        self.reports.push_back(Report::Resolved { object, metadata: found.metadata });
        if self.config.only_discovers {
            return self.end(Ok(()));
        }
        if let Some(single) = found.single {
            self.reports.push_back(Report::Event(Event::EndKnown { last: 0 }));
            Assembler::new(self.config.delivery, 0).take(0, &single, &mut self.reports);
            return self.end(Ok(()));
        }
        self.config.convention = found.convention;
        if let Some(rtt) = found.rtt.filter(|_| !self.config.rto.sets_lifetime()) {
            // The first segments need not wait for a timeout of a path of which nothing is known.
            let sample = RttSample { provider: arrival.provider, ..RttSample::new(0, rtt) };
            self.config.rto.on_sample(now, &sample);
        }
        self.transfer(now, found.object, found.last, probed);
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
                transfer.on_nack(&mut self.config, now, interest, reason, &mut self.reports);
            }
            _ => {}
        }
    }

    /// What the receiving socket can hold of this fetch alone, in octets.
    fn share(&self) -> Option<u64> {
        self.receive_budget.map(|octets| octets / self.among)
    }

    fn limit(&mut self) {
        let share = self.share();
        if let Phase::Transferring(transfer) = &mut self.phase {
            transfer.set_receive_budget(&mut self.config, share);
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
                transfer.on_connected(&self.config, now);
            }
            Phase::Transferring(transfer) => {
                transfer.on_disconnected(&mut self.config, now, &mut self.reports);
            }
            _ => {}
        }
    }

    fn finish(&self, mut interest: Interest, nonce: u32, rto: Duration) -> Interest {
        interest.nonce = Some(nonce);
        let FetchConfig { rto: timer, lifetime, .. } = &self.config;
        interest.lifetime = Some(if timer.sets_lifetime() { rto } else { (*lifetime).max(rto) });
        interest
    }

    /// The next Interest of the current phase, if one may leave now, and what it announces.
    fn next_interest(&mut self, now: Instant) -> Option<(Interest, Option<Box<Ignorable>>)> {
        if !self.connected {
            return None;
        }
        let (interest, rto, announced) = match &mut self.phase {
            Phase::Discovering(_) if self.pending.holds(now) => None,
            Phase::Discovering(discovery) => {
                let rto = self.config.rto.rto();
                let interest = discovery.poll(now, rto);
                if interest.is_some() {
                    self.reports.push_back(Report::Event(Event::Probed));
                }
                interest.map(|interest| (interest, rto, None))
            }
            Phase::Transferring(transfer) => {
                transfer.next_interest(&self.config, now, &mut self.reports)
            }
            _ => None,
        }?;
        let nonce = self.config.rng.next_u32();
        Some((self.finish(interest, nonce, rto), announced))
    }

    /// Ends the fetch if there is a reason to.
    fn conclude(&mut self, now: Instant) {
        let verdict = match &self.phase {
            Phase::Discovering(discovery) => discovery.failure().map(Err),
            Phase::Transferring(transfer) => transfer.conclusion(),
            Phase::Start | Phase::Ended => return,
        };
        if let Some(result) = verdict {
            self.end(result);
        } else if self.progress_deadline().is_some_and(|deadline| deadline <= now) {
            let objection = match &self.phase {
                Phase::Discovering(discovery) => discovery.objection(),
                _ => None,
            };
            let why = objection.unwrap_or(FetchError::NoProgress(self.config.no_progress));
            self.end(Err(why));
        }
    }

    /// Fires what is due and does one step.
    #[inline(never)]
    fn advance(&mut self, now: Instant) -> Option<AppOutput> {
        match &mut self.phase {
            Phase::Ended => return None,
            Phase::Start => self.start(now),
            _ => {}
        }
        let certificate = self.resolve(now);
        self.judge_arrivals();
        if let Phase::Transferring(transfer) = &mut self.phase {
            transfer.fire(&mut self.config, now, &mut self.reports);
        }
        if let Some((interest, rto)) = certificate {
            let nonce = self.config.rng.next_u32();
            return Some(AppOutput::Interest(Arc::new(self.finish(interest, nonce, rto))));
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

    /// When the fetch ends if nothing new arrives; `None` as long as it is the reader's turn.
    fn progress_deadline(&self) -> Option<Instant> {
        let waits = self.waits_for_reader();
        (!waits).then(|| self.last_progress + self.config.no_progress)
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
                let provider = beside.provider;
                let fields = beside.fields;
                let said = fields.as_ref().and_then(|it| field::time(it, field::RTT_REDUCTION));
                let (at, reduction, segment) = (now, said.unwrap_or_default(), None);
                let fields = fields.filter(|_| self.config.rto.announces() > 0);
                self.arrivals.push(Arrival {
                    at,
                    data,
                    congestion_mark,
                    provider,
                    reduction,
                    fields,
                    segment,
                });
            }
            AppInput::Nack { interest, reason } => self.on_nack(now, &interest, reason),
            AppInput::Held { interest } => {
                if let Phase::Transferring(transfer) = &mut self.phase {
                    transfer.on_held(&self.config, now, &interest, &mut self.reports);
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
                self.among = among.max(1);
                self.limit();
            }
            AppInput::FaceUp { receive_budget } => {
                self.receive_budget = receive_budget;
                self.limit();
                self.on_face(now, true);
            }
            AppInput::FaceDown if self.config.follows_faces => self.on_face(now, false),
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
            Phase::Transferring(transfer) => transfer.deadline(),
            Phase::Discovering(_) => None,
        };
        let certificates = self.pending.deadline().filter(|_| self.connected);
        phase.into_iter().chain(self.progress_deadline()).chain(certificates).min()
    }

    fn awaits(&self, data: &Data) -> bool {
        let Self { config, arrivals, .. } = self;
        let is_unjudged = || {
            let mut unjudged = arrivals.iter().chain(self.pending.arrivals());
            unjudged.any(|it| it.data.name_value() == data.name_value())
        };
        self.pending.awaits(data.name())
            || config.verifier.judges()
                && match &self.phase {
                    Phase::Discovering(it) => {
                        it.awaits(data.name()) && (it.doubts() || is_unjudged())
                    }
                    Phase::Transferring(it) => it
                        .awaits(config, data.name())
                        .is_some_and(|segment| it.doubts(segment) || is_unjudged()),
                    Phase::Start | Phase::Ended => false,
                }
    }

    fn flow_nonce(&self) -> Option<u64> {
        let rng = &self.config.rng;
        self.config.flow_nonce.then(|| rng.substream("flow-nonce").next_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Beside;
    use crate::{congestion, rto};
    use recoup_packet::{data::DataBuilder, signature::DigestSigner};

    #[test]
    fn what_arrives_after_the_end_is_not_kept() {
        let name: Name = "/a/file/v=7".parse().expect("a name");
        let data = DataBuilder::new(&name).build(b"late", &DigestSigner);
        let rto = rto::parse("constant(rto=33ms)").expect("an estimator");
        let congestion = congestion::parse("cubic").expect("an algorithm");
        let mut fetch = Fetch::new(FetchConfig::new(name, rto, congestion, Rng::from_seed(1)));
        fetch.end(Ok(()));
        fetch.handle(
            Instant::ZERO,
            AppInput::Data { data, congestion_mark: 0, beside: Beside::default() },
        );
        assert!(fetch.arrivals.is_empty());
    }
}
