//! Finding out which version of an object to fetch.
//!
//! Two ways, as two lanes: the metadata Interest of RDR (`/name/32=metadata`), and a prefix probe
//! (`/name` with CanBePrefix) for producers without metadata. The probe sets out when metadata is
//! refused or stays away for one timeout; whichever answers first decides. Timeouts double with
//! every attempt of a lane. Where no round trip is known, the first timeout is 1 s; the first Interest of a lane is repeated
//! once before it ([`EARLY`]).
//!
//! A version that is not newer than the one that the caller has ([`FetchConfig::newer_than`]) decides nothing: an old
//! packet, however well signed, can be replayed by anybody. Its lane asks again after a wait that doubles.
use super::FetchConfig;
use super::error::FetchError;
use crate::time::{Duration, Instant};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use std::ops::RangeInclusive;

/// What discovery found out.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Name of the object: what precedes the segment number, version included if there is one.
    pub(crate) object: Name,
    /// How the object writes its version and its segment numbers.
    pub(crate) convention: Convention,
    /// The last segment, if it was said.
    pub(crate) last: Option<u64>,
    /// The metadata of the object, if its producer has them.
    pub(crate) metadata: Option<Box<Metadata>>,
    /// The object is this single packet, which has no segment number.
    pub(crate) single: Option<Data>,
    /// Round trip of the answer, if its Interest was sent once.
    pub(crate) rtt: Option<Duration>,
}

/// What became of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It belongs to nobody here, or nobody asked for it.
    Foreign,
    /// It said no, or nothing of use; discovery goes on.
    Unusable,
    /// It decides.
    Found(Box<Found>),
    /// The producer contradicts itself.
    Contradiction(FetchError),
}

/// One way of asking.
#[derive(Debug)]
struct Lane {
    attempts: u32,
    /// When the last attempt was sent.
    sent: Instant,
    /// When to ask (again); `None` once the lane has ended or not begun.
    due: Option<Instant>,
    /// An answer to the last attempt was of no use, and set when to ask again.
    is_answered: bool,
    /// The next attempt is the early one, before the timeout of the first.
    is_early: bool,
    /// A forged answer to the last attempt came.
    is_forged: bool,
    /// How many attempts had forged answers; these are not charged to the retries.
    forged: u32,
    /// 1 once the early attempt was made, which is not charged to the retries.
    early: u32,
    /// How many attempts were refused for want of a route.
    unrouted: u32,
    state: LaneState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LaneState {
    Idle,
    Asking,
    Refused(NackReason),
    Untrusted(&'static str),
    Stale(FetchError),
    Ended(FetchError),
}

impl Lane {
    const IDLE: Self = Self {
        attempts: 0,
        sent: Instant::ZERO,
        due: None,
        is_answered: false,
        is_early: false,
        is_forged: false,
        forged: 0,
        early: 0,
        unrouted: 0,
        state: LaneState::Idle,
    };

    fn begin(&mut self, now: Instant) {
        if self.state == LaneState::Idle {
            self.state = LaneState::Asking;
            self.due = Some(now);
        }
    }

    /// It has asked as often as `retries` allows, or forged answers do not end.
    fn is_exhausted(&self, retries: Option<u32>) -> bool {
        let (nowhere, charged) = (
            self.unrouted == self.attempts,
            self.attempts.saturating_sub(self.forged + self.early),
        );
        self.forged > forged_retries(retries)
            || retries.is_some_and(|retries| charged > affordable(retries, nowhere))
    }

    /// An attempt leaves; an answer to the first one is awaited for `rto`.
    fn on_sent(&mut self, now: Instant, rto: Duration, retries: Option<u32>) {
        self.attempts += 1;
        let was_early = std::mem::take(&mut self.is_early);
        self.early += u32::from(was_early);
        self.is_early = self.attempts == 1 && rto > EARLY && retries != Some(0);
        let wait = match (self.is_early, was_early) {
            (true, _) => EARLY,
            (_, true) => rto.saturating_sub(EARLY),
            _ => backed_off(rto, self.attempts - self.early - 1, WAIT_MAX.max(rto)),
        };
        (self.sent, self.due) = (now, Some(now + wait));
        (self.is_answered, self.is_forged) = (false, false);
    }

    fn end(&mut self, why: FetchError) {
        self.state = LaneState::Ended(why);
        self.due = None;
    }

    /// Round trip of an answer that arrives now; nothing where it may answer one of several attempts (Karn).
    fn rtt(&self, now: Instant) -> Option<Duration> {
        (self.attempts == 1).then(|| now.since(self.sent))
    }

    /// An attempt waits for its answer.
    fn is_asking(&self) -> bool {
        self.due.is_some() && self.attempts > 0
    }

    /// An answer named no version that is new enough.
    fn on_stale(&mut self, now: Instant, why: FetchError) {
        let times = self.attempts.saturating_sub(1);
        self.ask_again_at(now + backed_off(REFUSED_WAIT, times, REFUSED_WAIT_MAX));
        self.state = LaneState::Stale(why);
    }

    /// The first useless answer sets the time: a flood of others must not put it off for ever.
    fn ask_again_at(&mut self, at: Instant) {
        if let Some(due) = &mut self.due {
            *due = if self.is_answered { at.min(*due) } else { at };
            (self.is_answered, self.is_early) = (true, false);
        }
    }

    /// A forged answer came: the lane asks again at once, from the second such attempt on after a wait. After the last attempt
    /// it only waits for its timeout.
    fn on_forged(&mut self, now: Instant, retries: Option<u32>, why: &'static str) {
        self.state = LaneState::Untrusted(why);
        if std::mem::replace(&mut self.is_forged, true) {
            return;
        }
        self.forged += 1;
        if self.forged <= forged_retries(retries) {
            self.ask_again_at(now + forged_wait(self.forged));
        }
    }
}

/// The discovery of one object.
#[derive(Debug)]
pub(crate) struct Discovery {
    name: Name,
    metadata_name: Name,
    convention: Convention,
    must_be_fresh: bool,
    retries: Option<u32>,
    newer_than: Option<u64>,
    /// The highest version that an answer named.
    newest: Option<u64>,
    metadata: Lane,
    probe: Lane,
}

/// An Interest of discovery is repeated once after this time, before its first timeout, which has no round trip to go by
/// and is 1 s (RFC 6298, 2.1). An Interest is small and idempotent, and one more changes no load: RFC 8305 (section 5) begins
/// another connection after the same time.
const EARLY: Duration = Duration::from_millis(250);
/// Waits between refused attempts, before doubling.
pub(crate) const REFUSED_WAIT: Duration = Duration::from_millis(50);
/// Longest wait between refused attempts.
pub(crate) const REFUSED_WAIT_MAX: Duration = Duration::from_secs(1);
/// Least and most retransmissions for one name because of forged answers: over 0.15 s and 10.5 s, as they back off.
const FORGED_RETRIES: RangeInclusive<u32> = 3..=15;
/// Retries where there has never been a route: over 1.5 s, in which a producer may register its name.
const UNROUTED_RETRIES: u32 = 5;
/// Longest wait between attempts of a lane.
const WAIT_MAX: Duration = Duration::from_secs(4);

impl Discovery {
    /// A discovery of the latest version of the name in `config`.
    pub(crate) fn new(config: &FetchConfig, now: Instant) -> Self {
        let mut metadata = Lane::IDLE;
        metadata.begin(now);
        Self {
            metadata_name: metadata::discovery_name(&config.name),
            name: config.name.clone(),
            convention: config.convention,
            must_be_fresh: config.must_be_fresh,
            retries: config.retries,
            newer_than: config.newer_than,
            newest: None,
            metadata,
            probe: Lane::IDLE,
        }
    }

    /// When the next Interest is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        [self.metadata.due, self.probe.due].into_iter().flatten().min()
    }

    /// The next Interest that is due, without nonce and lifetime. `rto` is the wait for the first
    /// attempt's answer.
    pub(crate) fn poll(&mut self, now: Instant, rto: Duration) -> Option<Interest> {
        let is_late = self.metadata.due.is_some_and(|due| due <= now) && !self.metadata.is_early;
        if self.metadata.attempts > 0 && is_late {
            self.probe.begin(now);
        }
        for is_probe in [false, true] {
            let name = if is_probe { &self.name } else { &self.metadata_name };
            let lane = if is_probe { &mut self.probe } else { &mut self.metadata };
            if lane.due.is_none_or(|due| due > now) {
                continue;
            }
            if lane.is_exhausted(self.retries) {
                let why = exhausted(lane, name);
                lane.end(why);
                continue;
            }
            lane.on_sent(now, rto, self.retries);
            let mut interest = Interest::new(name.clone());
            interest.can_be_prefix = true;
            interest.must_be_fresh = !is_probe || self.must_be_fresh;
            return Some(interest);
        }
        None
    }

    /// The prefix probe set out.
    pub(crate) fn has_probed(&self) -> bool {
        self.probe.attempts > 0
    }

    /// Why discovery has failed, once both lanes have ended.
    pub(crate) fn failure(&self) -> Option<FetchError> {
        match (&self.metadata.state, &self.probe.state) {
            (LaneState::Ended(first), LaneState::Ended(second)) => {
                Some(graver(first, second).clone())
            }
            _ => None,
        }
    }

    /// Why what came so far was of no use, as long as discovery goes on.
    pub(crate) fn objection(&self) -> Option<FetchError> {
        let objects =
            |lane: &&Lane| matches!(lane.state, LaneState::Untrusted(_) | LaneState::Stale(_));
        let lane = [&self.metadata, &self.probe].into_iter().find(objects)?;
        Some(exhausted(lane, &self.name))
    }

    /// An answer was forged or stale.
    pub(crate) fn doubts(&self) -> bool {
        self.objection().is_some()
    }

    /// Data of that name would answer a lane that asks.
    pub(crate) fn awaits(&self, name: &Name) -> bool {
        let lanes = [(&self.metadata, &self.metadata_name), (&self.probe, &self.name)];
        lanes.iter().any(|(lane, asked)| lane.is_asking() && asked.is_prefix_of(name))
    }

    /// Everything is to be asked again at once: there was no way out, now there is one.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.metadata.ask_again_at(now);
        self.probe.ask_again_at(now);
    }

    /// The network refused an Interest. Returns false if it was not one of discovery's.
    pub(crate) fn on_nack(&mut self, now: Instant, name: &Name, reason: NackReason) -> bool {
        let lane = if *name == self.metadata_name {
            &mut self.metadata
        } else if *name == self.name {
            &mut self.probe
        } else {
            return false;
        };
        lane.unrouted += u32::from(reason == NackReason::NoRoute && !lane.is_answered);
        let wait = match reason {
            NackReason::Duplicate => Duration::ZERO,
            _ => backed_off(REFUSED_WAIT, lane.attempts.saturating_sub(1), REFUSED_WAIT_MAX),
        };
        lane.ask_again_at(now + wait);
        if lane.due.is_some() {
            lane.state = LaneState::Refused(reason);
        }
        true
    }

    /// Data arrived whose signature or digest is wrong: the lanes it answers ask again. Metadata
    /// answers the probe as well, whose name is a prefix of it: a forwarder's cache does just that.
    pub(crate) fn on_untrusted(&mut self, now: Instant, name: &Name, why: &'static str) {
        for (lane, asked) in
            [(&mut self.metadata, &self.metadata_name), (&mut self.probe, &self.name)]
        {
            if lane.is_asking() && asked.is_prefix_of(name) {
                lane.on_forged(now, self.retries, why);
            }
        }
    }

    /// Data arrived.
    pub(crate) fn on_data(&mut self, now: Instant, data: &Data) -> Answer {
        if self.metadata_name.is_prefix_of(data.name()) {
            self.on_metadata(now, data)
        } else if self.has_probed() && self.name.is_prefix_of(data.name()) {
            self.on_probe(now, data)
        } else {
            Answer::Foreign
        }
    }

    fn on_metadata(&mut self, now: Instant, data: &Data) -> Answer {
        let found = (data.content_type() != ContentType::Nack)
            .then(|| Metadata::decode(data.content_bytes()).ok())
            .flatten();
        let Some(metadata) = found else {
            self.metadata.end(FetchError::NotFound(self.name.clone()));
            self.probe.begin(now);
            return Answer::Unusable;
        };
        if !self.name.is_prefix_of(&metadata.versioned) {
            let (name, named) = (self.name.clone(), metadata.versioned);
            return Answer::Contradiction(FetchError::OtherObject { name, named });
        }
        if let Some(why) = self.staleness(&metadata.versioned) {
            self.metadata.on_stale(now, why);
            return Answer::Unusable;
        }
        let version = metadata.versioned.last();
        Answer::Found(Box::new(Found {
            convention: version
                .and_then(|version| Convention::of_version(&version))
                .unwrap_or(self.convention),
            last: metadata.final_block,
            object: metadata.versioned.clone(),
            metadata: Some(Box::new(metadata)),
            single: None,
            rtt: self.metadata.rtt(now),
        }))
    }

    /// Why an object is not new enough; `None` if it is.
    fn staleness(&mut self, object: &Name) -> Option<FetchError> {
        let (than, version) = (self.newer_than?, version_of(object));
        self.newest = self.newest.max(version);
        let (name, newest) = (self.name.clone(), self.newest);
        version.is_none_or(|version| version <= than).then_some(FetchError::Stale {
            name,
            newest,
            than,
        })
    }

    fn on_probe(&mut self, now: Instant, data: &Data) -> Answer {
        let name = data.name();
        if data.content_type() == ContentType::Nack {
            self.probe.end(FetchError::NotFound(self.name.clone()));
            return Answer::Unusable;
        }
        let number = name.last();
        let convention =
            number.as_ref().and_then(Convention::of_segment).unwrap_or(self.convention);
        let segment = number.and_then(|number| convention.parse_segment(&number));
        let object = match segment {
            Some(_) if name.len() > self.name.len() => name.prefix(name.len() - 1),
            None if *name == self.name => self.name.clone(),
            _ => {
                // Another object below this name: not an answer to the question.
                self.probe.ask_again_at(now + REFUSED_WAIT_MAX);
                return Answer::Unusable;
            }
        };
        if let Some(why) = self.staleness(&object) {
            self.probe.on_stale(now, why);
            return Answer::Unusable;
        }
        let last = data.final_block().and_then(|block| convention.parse_segment(&block));
        let single = segment.is_none().then(|| data.clone());
        let rtt = self.probe.rtt(now);
        Answer::Found(Box::new(Found { object, convention, last, metadata: None, single, rtt }))
    }
}

/// The number of the version in which a name ends.
pub(crate) fn version_of(object: &Name) -> Option<u64> {
    let last = object.last()?;
    Convention::of_version(&last)?.parse_version(&last)
}

/// How many retransmissions forged answers may cause for one name: a budget of their own, as large as that of the retries
/// within [`FORGED_RETRIES`], and finite even where that is not.
pub(crate) fn forged_retries(retries: Option<u32>) -> u32 {
    let (least, most) = (*FORGED_RETRIES.start(), *FORGED_RETRIES.end());
    retries.map_or(most, |retries| retries.clamp(least, most))
}

/// How long a retransmission waits after `forged` transmissions with forged answers.
pub(crate) fn forged_wait(forged: u32) -> Duration {
    match forged.checked_sub(2) {
        None => Duration::ZERO,
        Some(times) => backed_off(REFUSED_WAIT, times, REFUSED_WAIT_MAX),
    }
}

/// How many of `retries` are worth making: where each attempt so far was refused for want of a route
/// it leads nowhere, unless a producer is about to appear.
pub(crate) fn affordable(retries: u32, nowhere: bool) -> u32 {
    if nowhere { retries.min(UNROUTED_RETRIES) } else { retries }
}

/// `wait` doubled `times` times, at most `limit`.
pub(crate) fn backed_off(wait: Duration, times: u32, limit: Duration) -> Duration {
    wait.saturating_mul(1u32.checked_shl(times).unwrap_or(u32::MAX)).min(limit)
}

fn exhausted(lane: &Lane, name: &Name) -> FetchError {
    let (name, attempts) = (name.clone(), lane.attempts);
    match &lane.state {
        LaneState::Stale(why) => why.clone(),
        LaneState::Refused(reason) => FetchError::Refused { name, reason: *reason, attempts },
        LaneState::Untrusted(why) => FetchError::Untrusted { name, why },
        _ => FetchError::NoAnswer { name, attempts },
    }
}

/// Of the two lanes' reasons, the one that tells the user more. That there is no metadata does not
/// mean that there is no object, so the probe has the last word on existence.
fn graver<'a>(metadata: &'a FetchError, probe: &'a FetchError) -> &'a FetchError {
    let rank = |error: &FetchError| match error {
        FetchError::Untrusted { .. } => 3,
        FetchError::Stale { .. } => 2,
        FetchError::Refused { .. } => 1,
        _ => 0,
    };
    match (metadata, probe) {
        (FetchError::Stale { .. }, FetchError::NotFound(_)) => metadata,
        (FetchError::NotFound(_), _) | (_, FetchError::NotFound(_)) => probe,
        _ if rank(metadata) >= rank(probe) => metadata,
        _ => probe,
    }
}
