//! Finding out which version of an object to fetch.
//!
//! Two ways, as two lanes: the metadata Interest of RDR (`/name/32=metadata`), and a prefix probe
//! (`/name` with CanBePrefix) for producers without metadata. The probe sets out when metadata is
//! refused or stays away for one timeout; whichever answers first decides. Timeouts double with
//! every attempt of a lane.
use super::error::FetchError;
use crate::time::{Duration, Instant};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;

/// What discovery found out.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Name of the object: what precedes the segment number, version included if there is one.
    pub(crate) object: Name,
    /// How the object writes its version and its segment numbers.
    pub(crate) convention: Convention,
    /// The last segment, if it was said.
    pub(crate) last: Option<u64>,
    /// The object is this single packet, which has no segment number.
    pub(crate) single: Option<Data>,
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
}

/// One way of asking.
#[derive(Debug)]
struct Lane {
    attempts: u32,
    /// When to ask (again); `None` once the lane has ended or not begun.
    due: Option<Instant>,
    /// An answer to the last attempt was of no use, and set when to ask again.
    is_answered: bool,
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
    Ended(FetchError),
}

impl Lane {
    const IDLE: Self =
        Self { attempts: 0, due: None, is_answered: false, unrouted: 0, state: LaneState::Idle };

    fn begin(&mut self, now: Instant) {
        if self.state == LaneState::Idle {
            self.state = LaneState::Asking;
            self.due = Some(now);
        }
    }

    /// It has asked as often as `retries` allows.
    fn is_exhausted(&self, retries: Option<u32>) -> bool {
        let nowhere = self.unrouted == self.attempts;
        retries.is_some_and(|retries| self.attempts > affordable(retries, nowhere))
    }

    fn end(&mut self, why: FetchError) {
        self.state = LaneState::Ended(why);
        self.due = None;
    }

    /// The first useless answer sets the time: a flood of others must not put it off for ever.
    fn ask_again_at(&mut self, at: Instant) {
        if let Some(due) = &mut self.due {
            *due = if self.is_answered { at.min(*due) } else { at };
            self.is_answered = true;
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
    metadata: Lane,
    probe: Lane,
}

/// Waits between refused attempts, before doubling.
pub(crate) const REFUSED_WAIT: Duration = Duration::from_millis(50);
/// Longest wait between refused attempts.
pub(crate) const REFUSED_WAIT_MAX: Duration = Duration::from_secs(1);
/// Retries where there has never been a route: over 1.5 s, in which a producer may register its name.
const UNROUTED_RETRIES: u32 = 5;
/// Longest wait between attempts of a lane.
const WAIT_MAX: Duration = Duration::from_secs(4);

impl Discovery {
    /// A discovery of the latest version of `name`.
    pub(crate) fn new(
        name: Name,
        convention: Convention,
        must_be_fresh: bool,
        retries: Option<u32>,
        now: Instant,
    ) -> Self {
        let mut metadata = Lane::IDLE;
        metadata.begin(now);
        Self {
            metadata_name: metadata::discovery_name(&name),
            name,
            convention,
            must_be_fresh,
            retries,
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
        if self.metadata.attempts > 0 && self.metadata.due.is_some_and(|due| due <= now) {
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
            lane.attempts += 1;
            lane.is_answered = false;
            lane.due = Some(now + backed_off(rto, lane.attempts - 1, WAIT_MAX.max(rto)));
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
            if lane.due.is_none() || lane.attempts == 0 || !asked.is_prefix_of(name) {
                continue;
            }
            let wait = backed_off(REFUSED_WAIT, lane.attempts, REFUSED_WAIT_MAX);
            lane.ask_again_at(now + wait);
            lane.state = LaneState::Untrusted(why);
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
            .flatten()
            .filter(|metadata| self.name.is_prefix_of(&metadata.versioned));
        let Some(metadata) = found else {
            self.metadata.end(FetchError::NotFound(self.name.clone()));
            self.probe.begin(now);
            return Answer::Unusable;
        };
        let version = metadata.versioned.last();
        Answer::Found(Box::new(Found {
            convention: version
                .and_then(|version| Convention::of_version(&version))
                .unwrap_or(self.convention),
            last: metadata.final_block,
            object: metadata.versioned,
            single: None,
        }))
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
        let last = data.final_block().and_then(|block| convention.parse_segment(&block));
        let single = segment.is_none().then(|| data.clone());
        Answer::Found(Box::new(Found { object, convention, last, single }))
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
    match lane.state {
        LaneState::Refused(reason) => FetchError::Refused { name, reason, attempts },
        LaneState::Untrusted(why) => FetchError::Untrusted { name, why },
        _ => FetchError::NoAnswer { name, attempts },
    }
}

/// Of the two lanes' reasons, the one that tells the user more. That there is no metadata does not
/// mean that there is no object, so the probe has the last word on existence.
fn graver<'a>(metadata: &'a FetchError, probe: &'a FetchError) -> &'a FetchError {
    let rank = |error: &FetchError| match error {
        FetchError::Untrusted { .. } => 2,
        FetchError::Refused { .. } => 1,
        _ => 0,
    };
    match (metadata, probe) {
        (FetchError::NotFound(_), _) | (_, FetchError::NotFound(_)) => probe,
        _ if rank(metadata) >= rank(probe) => metadata,
        _ => probe,
    }
}
