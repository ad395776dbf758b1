//! Discovery of the version of an object.
//!
//! There are two lanes: the metadata Interest of RDR (`/name/32=metadata`), and a prefix probe (`/name` with
//! CanBePrefix) for producers without metadata. The probe starts when metadata is answered by a Nack or unanswered
//! for one timeout. The first valid answer decides. Timeouts double with every attempt of a lane. Without a known
//! round trip, the first timeout is 1 s, and the first Interest of a lane is repeated once before it ([`EARLY`]).
//!
//! An answer belongs to the lane whose Interest it satisfied ([`Asked`]). Its name may be longer: a cache answers the
//! prefix probe with what it has below the name, such as the application Nack of the metadata.
//!
//! An application Nack reports what one producer lacks. Another producer of the prefix may have the object, so a lane ends
//! after [`DENIALS`] of them. In between it sends Interests that caches do not answer (MustBeFresh), each twice
//! ([`REPEAT_AFTER`]).
//!
//! Rejected answers end a lane by the rule of the module `rejection`: if no two of them name
//! different signers, one source gives them, and the lane ends within 1.5 s on an idle path.
//!
//! A version that is not newer than the caller's ([`FetchOptions::newer_than`](super::FetchOptions::newer_than)) decides nothing: any node can replay
//! an old packet, however well signed. Its lane retransmits after a wait that doubles.
use super::Control;
use super::belonging::Belonging;
use super::error::FetchError;
use crate::application::Asked;
use crate::rejection::{Rejection, Rejections};
use crate::time::{Duration, Instant};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::manifest;
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;

/// Result of discovery.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Name of the object: the prefix of the segment number, with the version if there is one.
    pub(crate) object: Name,
    /// Naming convention of the object's version and segment numbers.
    pub(crate) convention: Convention,
    /// Identifier that its segments have to state.
    pub(crate) belonging: Belonging,
    /// Number of the last segment, if known.
    pub(crate) last: Option<u64>,
    /// The metadata of the object, if its producer has them.
    pub(crate) metadata: Option<Box<Metadata>>,
    /// The object is this single packet, which has no segment number.
    pub(crate) single: Option<Data>,
    /// Round-trip time of the answer, if its Interest was sent once.
    pub(crate) rtt: Option<Duration>,
}

/// Effect of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The answer is unsolicited.
    Unsolicited,
    /// The answer is negative or unusable; discovery continues.
    Unusable,
    /// The answer decides.
    Found(Box<Found>),
    /// The producer contradicts itself.
    Contradiction(FetchError),
}

/// One kind of discovery Interest, with its retransmissions.
#[derive(Debug)]
struct Lane {
    attempts: u32,
    /// Time of the last attempt.
    sent: Instant,
    /// Time of the next attempt; `None` if the lane has ended or not begun.
    due: Option<Instant>,
    /// The last attempt had an unusable answer, which set the time of the next attempt.
    is_answered: bool,
    /// The next attempt is the early one, before the timeout of the first.
    is_early: bool,
    /// A forged answer to the last attempt came.
    is_forged: bool,
    /// Rejected answers; their attempts are not charged to the retries.
    rejected: Rejections,
    /// Attempts with answers that waited for certificates, which are not charged either.
    waited: u32,
    /// Early attempts, which are not charged to the retries.
    early: u32,
    /// Attempts answered by an application Nack, which are not charged to the retries.
    denials: u32,
    /// An answer shows that caches are of no use: Interests are to reach a producer.
    avoids_caches: bool,
    /// Attempts answered by a Nack with reason NoRoute.
    unrouted: u32,
    state: LaneState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LaneState {
    Idle,
    Asking,
    Nacked(NackReason),
    Untrusted(Rejection),
    Stale(FetchError),
    Denied(FetchError),
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
        rejected: Rejections::NONE,
        waited: 0,
        early: 0,
        denials: 0,
        avoids_caches: false,
        unrouted: 0,
        state: LaneState::Idle,
    };

    fn begin(&mut self, now: Instant) {
        if self.state == LaneState::Idle {
            self.state = LaneState::Asking;
            self.due = Some(now);
        }
    }

    /// Whether the retries, or those for forged answers, are spent.
    fn is_exhausted(&self, retries: Option<u32>) -> bool {
        let (nowhere, charged) = (
            self.unrouted == self.attempts,
            self.attempts
                .saturating_sub(self.rejected.count + self.waited + self.early + self.denials),
        );
        self.rejected.are_too_many(retries)
            || retries.is_some_and(|retries| charged > affordable(retries, nowhere))
    }

    /// Records an attempt; the timeout of the first one is `rto`.
    fn on_sent(&mut self, now: Instant, rto: Duration, retries: Option<u32>) {
        self.attempts += 1;
        let was_early = std::mem::take(&mut self.is_early);
        self.early += u32::from(was_early);
        let early = if self.denials > 0 { REPEAT_AFTER } else { EARLY };
        let repeats = if self.denials > 0 { !was_early } else { self.attempts == 1 };
        self.is_early = repeats && rto > early && retries != Some(0);
        let charged = self.attempts.saturating_sub(self.early + self.denials);
        let wait = match (self.is_early, was_early) {
            (true, _) => early,
            (_, true) => rto.saturating_sub(early),
            _ => backed_off(rto, charged.saturating_sub(1), WAIT_MAX.max(rto)),
        };
        (self.sent, self.due) = (now, Some(now + wait));
        (self.is_answered, self.is_forged) = (false, false);
    }

    fn end(&mut self, why: FetchError) {
        self.state = LaneState::Ended(why);
        self.due = None;
    }

    /// Round-trip time of an answer that arrives now; none if it may answer one of several attempts (Karn).
    fn rtt(&self, now: Instant) -> Option<Duration> {
        (self.attempts == 1).then(|| now.since(self.sent))
    }

    /// Whether an attempt is unanswered.
    fn is_asking(&self) -> bool {
        self.due.is_some() && self.attempts > 0
    }

    /// Handles an answer that names no version that is new enough.
    fn on_stale(&mut self, now: Instant, why: FetchError) {
        let times = self.attempts.saturating_sub(1);
        self.retransmit_at(now + backed_off(NACK_WAIT, times, NACK_WAIT_MAX));
        self.state = LaneState::Stale(why);
    }

    /// Handles a packet that is no denial and names no object.
    fn on_unusable(&mut self, now: Instant) {
        let times = self.attempts.saturating_sub(1);
        self.avoids_caches = true;
        self.retransmit_at(now + backed_off(UNUSABLE_WAIT, times, NACK_WAIT_MAX));
    }

    /// Handles the answer `why` that the object does not exist, or cannot be had. The last one ends the lane.
    fn on_denied(&mut self, now: Instant, why: FetchError) {
        if self.is_answered || !self.is_asking() {
            return;
        }
        let why = match &self.state {
            LaneState::Denied(before) => graver(before, &why).clone(),
            _ => why,
        };
        self.denials += 1;
        self.avoids_caches = true;
        if self.denials >= DENIALS {
            return self.end(why);
        }
        self.retransmit_at(now + denied_wait(self.denials));
        self.state = LaneState::Denied(why);
    }

    /// The first unusable answer sets the time: later ones cannot postpone it for ever.
    fn retransmit_at(&mut self, at: Instant) {
        if let Some(due) = &mut self.due {
            *due = if self.is_answered { at.min(*due) } else { at };
            (self.is_answered, self.is_early) = (true, false);
        }
    }

    /// Handles a forged answer: the lane retransmits at once, from the second such attempt on after a wait.
    fn on_forged(&mut self, now: Instant, retries: Option<u32>, rejection: Rejection) {
        self.state = LaneState::Untrusted(rejection.clone());
        let is_first = !std::mem::replace(&mut self.is_forged, true);
        self.rejected.record(rejection, is_first);
        if let Some(due) = self.rejected.due(now, retries).filter(|_| is_first) {
            self.retransmit_at(due);
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
    /// The highest version named by an answer.
    newest: Option<u64>,
    metadata: Lane,
    probe: Lane,
}

/// Delay of the early repetition of a discovery Interest. The first timeout is 1 s (RFC 6298, 2.1), because no round
/// trip is known. An Interest is small and idempotent, so one more changes no load. RFC 8305 (section 5) begins
/// another connection after the same time.
const EARLY: Duration = Duration::from_millis(250);
/// Application Nacks for one name after which it does not exist.
pub const DENIALS: u32 = 5;
/// Wait after the first application Nack; it doubles. It is longer than caches call such a Nack fresh, and short: the
/// answer of a farther producer finds a pending Interest only while there is one.
pub const DENIED_WAIT: Duration = Duration::from_millis(2);
/// Wait after the first answer that states nothing about the object; it doubles.
const UNUSABLE_WAIT: Duration = Duration::from_millis(15);
/// After an application Nack each Interest is sent again while it is pending: forwarders send the second one to another
/// producer (best-route). It is longer than they suppress it, and shorter than a producer waits with its Nack.
pub const REPEAT_AFTER: Duration = Duration::from_millis(15);
/// Wait after the first Nack; it doubles.
pub(crate) const NACK_WAIT: Duration = Duration::from_millis(50);
/// Longest wait after a Nack.
pub(crate) const NACK_WAIT_MAX: Duration = Duration::from_secs(1);
/// Retries after NoRoute Nacks: over 1.5 s, in which a producer may register its name.
const UNROUTED_RETRIES: u32 = 5;
/// Longest wait between attempts of a lane.
const WAIT_MAX: Duration = Duration::from_secs(4);

impl Discovery {
    /// Starts the discovery of the latest version of the configured name.
    pub(crate) fn new(control: &Control, now: Instant) -> Self {
        let mut metadata = Lane::IDLE;
        metadata.begin(now);
        Self {
            metadata_name: metadata::discovery_name(&control.config.name),
            name: control.config.name.clone(),
            convention: control.convention,
            must_be_fresh: control.config.options.must_be_fresh,
            retries: control.config.options.retries.0,
            newer_than: control.config.options.newer_than,
            newest: None,
            metadata,
            probe: Lane::IDLE,
        }
    }

    /// Time of the next Interest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        [self.metadata.due, self.probe.due].into_iter().flatten().min()
    }

    /// The next Interest that is due, without nonce and lifetime. `rto` is the timeout of the first attempt. While an answer
    /// waits for a certificate, no lane ends.
    pub(crate) fn poll(&mut self, now: Instant, rto: Duration, waits: bool) -> Option<Interest> {
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
            if lane.is_exhausted(self.retries) && waits {
                lane.due = Some(now + rto);
                continue;
            }
            if lane.is_exhausted(self.retries) {
                let why = exhausted(lane, name);
                lane.end(why);
                continue;
            }
            lane.waited += u32::from(waits && lane.attempts > 0 && !lane.is_forged);
            lane.on_sent(now, rto, self.retries);
            let mut interest = Interest::new(name.clone());
            interest.can_be_prefix = true;
            // A cache may repeat a forged answer.
            interest.must_be_fresh =
                !is_probe || self.must_be_fresh || lane.avoids_caches || lane.rejected.count > 0;
            return Some(interest);
        }
        None
    }

    /// Whether the prefix probe was sent.
    pub(crate) fn has_probed(&self) -> bool {
        self.probe.attempts > 0
    }

    /// The reason of the failure, once both lanes have ended. If each answer of the metadata lane had an invalid chain of
    /// certificates, the probe is not waited for: nothing usable would be signed by another key.
    pub(crate) fn failure(&self) -> Option<FetchError> {
        match (&self.metadata.state, &self.probe.state) {
            (LaneState::Ended(why), LaneState::Asking | LaneState::Untrusted(_))
                if self.metadata.rejected.are_invalid() && self.probe.attempts > 1 =>
            {
                Some(why.clone())
            }
            (LaneState::Ended(first), LaneState::Ended(second)) => {
                Some(graver(first, second).clone())
            }
            _ => None,
        }
    }

    /// Reason why the answers so far were unusable, while discovery continues.
    pub(crate) fn objection(&self) -> Option<FetchError> {
        let objects =
            |lane: &&Lane| matches!(lane.state, LaneState::Untrusted(_) | LaneState::Stale(_));
        let lane = [&self.metadata, &self.probe].into_iter().find(objects)?;
        Some(exhausted(lane, &self.name))
    }

    /// Whether an answer was forged, stale or negative, and another may be better.
    pub(crate) fn is_disputed(&self) -> bool {
        self.objection().is_some() || self.metadata.denials + self.probe.denials > 0
    }

    /// Whether Data answers a lane.
    pub(crate) fn awaits(&self, data: &Data, asked: Option<Asked>) -> bool {
        let lanes = [(&self.metadata, &self.metadata_name), (&self.probe, &self.name)];
        lanes.iter().any(|(lane, name)| lane.is_asking() && is_answer(name, data, asked))
    }

    /// Retransmits at once: an uplink is up again.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.metadata.retransmit_at(now);
        self.probe.retransmit_at(now);
    }

    /// Handles a Nack. Returns false if its Interest was not one of discovery's.
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
            // As for a segment: only the first fresh nonce may help.
            NackReason::Duplicate if lane.attempts < 2 => Duration::ZERO,
            _ => backed_off(NACK_WAIT, lane.attempts.saturating_sub(1), NACK_WAIT_MAX),
        };
        lane.retransmit_at(now + wait);
        if lane.due.is_some() {
            lane.state = LaneState::Nacked(reason);
        }
        true
    }

    /// Handles Data with a wrong signature or digest: the lanes whose Interests it answers retransmit.
    pub(crate) fn on_untrusted(
        &mut self,
        now: Instant,
        data: &Data,
        asked: Option<Asked>,
        rejection: &Rejection,
    ) {
        for (lane, name) in
            [(&mut self.metadata, &self.metadata_name), (&mut self.probe, &self.name)]
        {
            if lane.is_asking() && is_answer(name, data, asked) {
                lane.on_forged(now, self.retries, rejection.clone());
            }
        }
    }

    /// Handles Data, which satisfied the Interest `asked` if one was pending.
    pub(crate) fn on_data(&mut self, now: Instant, data: &Data, asked: Option<Asked>) -> Answer {
        let is_metadata = self.metadata_name.is_prefix_of(data.name());
        let for_metadata = is_answer(&self.metadata_name, data, asked);
        let for_probe = self.has_probed() && is_answer(&self.name, data, asked);
        let found = (is_metadata && data.content_type() != ContentType::Nack)
            .then(|| Metadata::decode(data.content_bytes()).ok())
            .flatten();
        match found {
            Some(metadata) if for_metadata => self.on_metadata(now, metadata, false),
            Some(metadata) if for_probe => self.on_metadata(now, metadata, true),
            _ if for_metadata => {
                self.metadata.on_denied(now, FetchError::denied(self.name.clone(), data));
                self.probe.begin(now);
                self.probe.avoids_caches = true;
                Answer::Unusable
            }
            _ if for_probe && is_metadata => {
                self.probe.on_unusable(now);
                Answer::Unusable
            }
            _ if for_probe => self.on_probe(now, data),
            _ => Answer::Unsolicited,
        }
    }

    /// Handles metadata, which caches also answer the probe with.
    fn on_metadata(&mut self, now: Instant, metadata: Metadata, is_probe: bool) -> Answer {
        if !self.is_own(&metadata.versioned) {
            let (name, named) = (self.name.clone(), metadata.versioned);
            return Answer::Contradiction(FetchError::OtherObject { name, named });
        }
        let staleness = self.staleness(&metadata.versioned);
        let lane = if is_probe { &mut self.probe } else { &mut self.metadata };
        if let Some(why) = staleness {
            lane.on_stale(now, why);
            return Answer::Unusable;
        }
        let version = metadata.versioned.last();
        Answer::Found(Box::new(Found {
            convention: version
                .and_then(|version| Convention::of_version(&version))
                .unwrap_or(self.convention),
            belonging: Belonging::of_metadata(metadata.object_id),
            last: metadata.final_block,
            object: metadata.versioned.clone(),
            metadata: Some(Box::new(metadata)),
            single: None,
            rtt: lane.rtt(now),
        }))
    }

    /// Whether an answer may name this object: it lies below the requested name, and adds no local scope to it.
    fn is_own(&self, object: &Name) -> bool {
        self.name.is_prefix_of(object) && self.name.may_lead_to(object)
    }

    /// The reason why an object is not new enough; `None` if it is.
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

    /// Whether the name is that of a list of digests of the object or of one of its versions.
    fn has_manifest(&self, name: &Name) -> bool {
        manifest::parse(name).is_some_and(|(object, _)| self.name.is_prefix_of(&object))
    }

    fn on_probe(&mut self, now: Instant, data: &Data) -> Answer {
        let name = data.name();
        if data.content_type() == ContentType::Nack {
            match *name == self.name {
                true => self.probe.on_denied(now, FetchError::denied(self.name.clone(), data)),
                // This Nack states nothing about the object.
                false => self.probe.on_unusable(now),
            }
            return Answer::Unusable;
        }
        let number = name.last();
        let convention =
            number.as_ref().and_then(Convention::of_segment).unwrap_or(self.convention);
        let segment = number.and_then(|number| convention.parse_segment(&number));
        let object = match segment {
            Some(_) if name.len() > self.name.len() && !self.has_manifest(name) => name.parent(),
            None if *name == self.name => self.name.clone(),
            _ => {
                // Another object below this name does not answer the probe.
                self.probe.on_unusable(now);
                return Answer::Unusable;
            }
        };
        if !self.is_own(&object) {
            self.probe.retransmit_at(now + NACK_WAIT_MAX);
            return Answer::Unusable;
        }
        if let Some(why) = self.staleness(&object) {
            self.probe.on_stale(now, why);
            return Answer::Unusable;
        }
        let last = data.final_block().and_then(|block| convention.parse_segment(&block));
        let single = segment.is_none().then(|| data.clone());
        let rtt = self.probe.rtt(now);
        let belonging = Belonging::Stated(data.object_id());
        let found = Found { object, convention, belonging, last, metadata: None, single, rtt };
        Answer::Found(Box::new(found))
    }
}

/// Whether Data answers an Interest for `name`: the one that it satisfied, or any whose name is a prefix if none was
/// pending.
fn is_answer(name: &Name, data: &Data, asked: Option<Asked>) -> bool {
    match asked {
        Some(asked) => asked.is_for(name, data),
        None => name.is_prefix_of(data.name()),
    }
}

/// The version number at the end of a name.
pub(crate) fn version_of(object: &Name) -> Option<u64> {
    let last = object.last()?;
    Convention::of_version(&last)?.parse_version(&last)
}

/// Wait before a retransmission after `denials` application Nacks.
#[must_use]
pub fn denied_wait(denials: u32) -> Duration {
    backed_off(DENIED_WAIT, denials.saturating_sub(1), NACK_WAIT_MAX)
}

/// The part of `retries` that is made: fewer if each attempt so far was answered by a NoRoute Nack.
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
        LaneState::Stale(why) | LaneState::Denied(why) => why.clone(),
        LaneState::Nacked(reason) => FetchError::Nacked { name, reason: *reason, attempts },
        LaneState::Untrusted(rejection) => FetchError::rejected(name, rejection),
        _ => FetchError::NoAnswer { name, attempts },
    }
}

/// The more useful of the failures of both lanes. Missing metadata does not mean a missing object, so the probe
/// decides on existence.
fn graver<'a>(metadata: &'a FetchError, probe: &'a FetchError) -> &'a FetchError {
    let rank = |error: &FetchError| match error {
        FetchError::Untrusted { .. } => 3,
        FetchError::Stale { .. } => 2,
        FetchError::Nacked { .. } => 1,
        _ => 0,
    };
    match (metadata, probe) {
        (FetchError::Unreadable { .. }, FetchError::NotFound(_)) => metadata,
        (_, FetchError::Unreadable { .. }) => probe,
        (FetchError::Stale { .. }, FetchError::NotFound(_)) => metadata,
        (FetchError::NotFound(_), _) | (_, FetchError::NotFound(_)) => probe,
        _ if rank(metadata) >= rank(probe) => metadata,
        _ => probe,
    }
}
