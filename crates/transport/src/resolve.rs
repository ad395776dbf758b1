//! Fetches the certificates that a verifier misses, up to its trust anchors, and the manifests with digests of segments.
//!
//! The resolver requests one certificate after the other and passes each to the verifier ([`Certificates`]), which alone
//! decides on trust. A copy whose own signer is missing is held until that one arrives.
//!
//! Anybody can answer an Interest. Therefore only an answer that verification accepts ends a request:
//! - a request goes on while copies are held for it, up to [`MAX_COPIES`] that differ. One of them may be genuine;
//! - an Interest with an answer is not charged to the [`MAX_ATTEMPTS`] unanswered ones. After a rejected answer the next
//!   Interest follows soon, with MustBeFresh, as after rejected answers for segments (module `rejection`);
//! - if the signer of a held copy cannot be had, that copy is dropped, and the request goes on.
//!
//! Limits: [`MAX_QUESTIONS`] certificates at a time, chains of [`MAX_DEPTH`], [`MAX_INTERESTS`] Interests for each and
//! [`PATIENCE`] for each.
//!
//! Packets name what is fetched, and anybody may have made them. No Interest leaves for a name of local scope, nor for a name
//! that is a command ([`Name::may_lead_to`]): such a name is given up at once.
//!
//! Forged packets may name any number of keys. If all places are taken, a further certificate is queued and not given up. The
//! one that most packets need takes the place of one whose Interest has timed out.
use crate::time::{Duration, Instant};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{Certificates, Verdict};
use std::cmp::Reverse;
use std::collections::VecDeque;

mod question;

use question::{Held, Question};

/// Most certificates that are fetched or held at a time.
pub const MAX_QUESTIONS: usize = 32;
/// Most certificates that are queued.
pub const MAX_QUEUED: usize = 256;
/// Most certificates between a packet and its anchor.
pub const MAX_DEPTH: u32 = 16;
/// Most unanswered Interests for one certificate.
pub const MAX_ATTEMPTS: u32 = 5;
/// Most Interests for one certificate, all answered by rejected copies.
pub const MAX_INTERESTS: u32 = 16;
/// Most copies of one packet that wait for keys: all but one are forged.
pub const MAX_COPIES: usize = 8;
/// Longest time for one certificate and its chain.
pub const PATIENCE: Duration = Duration::from_secs(20);

const TOO_LONG: Verdict =
    Verdict::Invalid("is signed by a key whose chain of certificates is too long");
const LOCAL: Verdict = Verdict::Invalid("names a key by a name of local scope, or by a command");
const CIRCLE: Verdict =
    Verdict::Invalid("is signed by a key whose certificates sign each other in a circle");

/// A certificate that has no place.
#[derive(Debug)]
struct Queued {
    name: Name,
    /// Packets that needed it.
    packets: u32,
}

/// Fetches certificates.
#[derive(Debug, Default)]
pub struct Resolver {
    /// Name of what is fetched.
    object: Name,
    questions: Vec<Question>,
    /// Oldest first.
    queue: VecDeque<Queued>,
    /// A certificate was accepted or given up since [`take_news`](Self::take_news).
    news: bool,
}

impl Resolver {
    /// A resolver for the packets of `object`.
    #[must_use]
    pub fn of(object: Name) -> Self {
        Self { object, ..Self::default() }
    }

    /// Requests the certificate `name`, which a packet misses.
    pub fn want(&mut self, now: Instant, name: &Name, certificates: &dyn Certificates) {
        self.ask(now, name, 0, certificates);
    }

    /// Requests `name`, which a packet will soon miss, unless many requests are pending.
    pub fn want_ahead(&mut self, now: Instant, name: &Name, certificates: &dyn Certificates) {
        if self.questions.len() < MAX_QUESTIONS / 2 {
            self.ask(now, name, 0, certificates);
        }
    }

    /// Requests a certificate, which a packet needs (`depth` 0) or a copy of another certificate. Returns whether it is
    /// requested or queued.
    fn ask(
        &mut self,
        now: Instant,
        name: &Name,
        depth: u32,
        certificates: &dyn Certificates,
    ) -> bool {
        if let Some(known) = self.questions.iter_mut().find(|it| it.name == *name) {
            known.depth = known.depth.max(depth);
            known.is_wanted |= depth == 0;
            return true;
        }
        let may = self.object.may_lead_to(name);
        if depth >= MAX_DEPTH || !may {
            certificates.rule_out(name, if may { TOO_LONG } else { LOCAL });
            self.news = true;
            return false;
        }
        if depth == 0 {
            self.enqueue(name);
            self.admit(now);
            return true;
        }
        let has_place = self.questions.len() < MAX_QUESTIONS || self.displace(now, depth);
        if has_place {
            self.begin(now, name.clone(), depth);
        }
        has_place
    }

    fn begin(&mut self, now: Instant, name: Name, depth: u32) {
        self.queue.retain(|queued| queued.name != name);
        self.questions.push(Question::new(now, name, depth));
    }

    /// Queues a certificate, or counts the packet that needs it. A full queue drops the one that the fewest packets need.
    fn enqueue(&mut self, name: &Name) {
        if let Some(known) = self.queue.iter_mut().find(|it| it.name == *name) {
            known.packets = known.packets.saturating_add(1);
            return;
        }
        if self.queue.len() >= MAX_QUEUED {
            let all = self.queue.iter().enumerate();
            let least = all.min_by_key(|(place, it)| (it.packets, *place)).map(|(place, _)| place);
            least.and_then(|place| self.queue.remove(place));
        }
        self.queue.push_back(Queued { name: name.clone(), packets: 1 });
    }

    /// Requests queued certificates while there are places.
    fn admit(&mut self, now: Instant) {
        while !self.queue.is_empty()
            && (self.questions.len() < MAX_QUESTIONS || self.displace(now, 0))
        {
            let all = self.queue.iter().enumerate();
            let most = all.max_by_key(|(place, it)| (it.packets, Reverse(*place)));
            if let Some(next) = most.map(|(place, _)| place).and_then(|it| self.queue.remove(it)) {
                self.begin(now, next.name, 0);
            }
        }
    }

    /// Gives up a certificate, and judges the copies that need it.
    fn fail(&mut self, now: Instant, place: usize, certificates: &dyn Certificates) {
        let question = self.questions.swap_remove(place);
        match question.verdict {
            Some(verdict) => certificates.rule_out(&question.name, verdict),
            None => certificates.give_up(&question.name),
        }
        self.news = true;
        self.judge_held(now, certificates);
    }

    /// Removes the certificate with the most timeouts, of a packet rather than of another certificate, and the copies that
    /// need it. It is not given up. A chain that answers take further displaces certificates of packets even before their
    /// timeout. Returns `false` if there is none.
    fn displace(&mut self, now: Instant, depth: u32) -> bool {
        let overdue = self.questions.iter().filter(|question| question.gives_way(now, depth));
        let last = overdue
            .min_by_key(|question| (question.depth, Reverse(question.attempts), question.until));
        let Some(name) = last.map(|question| question.name.clone()) else {
            return false;
        };
        self.questions.retain(|question| question.name != name);
        for question in &mut self.questions {
            question.held.retain(|copy| copy.signer != name);
        }
        true
    }

    /// Whether Data of that name would answer a request.
    #[must_use]
    pub fn awaits(&self, name: &Name) -> bool {
        self.asked(name).is_some()
    }

    /// Whether an Interest was sent for that name itself.
    #[must_use]
    pub fn awaits_exactly(&self, name: &Name) -> bool {
        self.asked(name).is_some_and(|place| self.questions[place].name == *name)
    }

    fn asked(&self, name: &Name) -> Option<usize> {
        let is_asked = |it: &Question| it.attempts > 0 && it.name.is_prefix_of(name);
        self.questions.iter().position(is_asked)
    }

    /// Handles Data. Returns whether it answered a request.
    pub fn on_data(&mut self, now: Instant, data: &Data, certificates: &dyn Certificates) -> bool {
        use ContentType::{Key, Manifest, Nack};
        let Some(place) = self.asked(data.name()) else {
            return false;
        };
        if !matches!(data.content_type(), Key | Manifest | Nack) && !certificates.is_key(data) {
            return false;
        }
        let question = &mut self.questions[place];
        question.on_answer();
        match question.judge(data, certificates) {
            Verdict::Pending => self.hold(now, place, data, certificates),
            Verdict::Verified => {
                self.questions.swap_remove(place);
                self.news = true;
                self.judge_held(now, certificates);
            }
            rejected => {
                question.on_rejected(now, rejected, data);
                // If the right key signed it, the verdict on what waits for it is known.
                self.news |= matches!(rejected, Verdict::Invalid(_));
            }
        }
        true
    }

    /// Holds a copy whose signer is missing, and requests that one.
    fn hold(&mut self, now: Instant, place: usize, data: &Data, certificates: &dyn Certificates) {
        let Some(signer) = certificates.missing(data) else {
            return;
        };
        let (name, depth) = (self.questions[place].name.clone(), self.questions[place].depth);
        if self.needs(&signer, &name) {
            return self.questions[place].on_rejected(now, CIRCLE, data);
        }
        self.questions[place].hold(data, signer.clone());
        if self.ask(now, &signer, depth + 1, certificates) {
            return;
        }
        // No place for the signer, or a chain that is too long: a further Interest brings the copy again.
        let question = self.questions.iter_mut().find(|it| it.name == name);
        if let Some(question) = question {
            question.held.retain(|copy| copy.signer != signer);
            if depth + 1 >= MAX_DEPTH {
                question.on_rejected(now, TOO_LONG, data);
            }
        }
    }

    /// Whether the chain of a held copy leads from `signer` to `name`.
    fn needs(&self, signer: &Name, name: &Name) -> bool {
        let (mut reached, mut place) = (vec![signer], 0);
        while let Some(next) = reached.get(place).copied() {
            if next == name {
                return true;
            }
            let held = self.questions.iter().filter(|it| it.name == *next);
            for Held { signer, .. } in held.flat_map(|it| &it.held) {
                if !reached.contains(&signer) {
                    reached.push(signer);
                }
            }
            place += 1;
        }
        false
    }

    /// Verifies held copies again, until none of them can be decided.
    fn judge_held(&mut self, now: Instant, certificates: &dyn Certificates) {
        let mut place = 0;
        while let Some(question) = self.questions.get_mut(place) {
            if question.judge_held(now, certificates) {
                self.questions.swap_remove(place);
                (self.news, place) = (true, 0);
            } else {
                place += 1;
            }
        }
        self.request_signers(now, certificates);
        self.prune();
    }

    /// Requests what held copies miss now: a key that is verified may itself be encrypted.
    fn request_signers(&mut self, now: Instant, certificates: &dyn Certificates) {
        let is_asked = |name: &Name| self.questions.iter().any(|it| it.name == *name);
        let all = self.questions.iter().flat_map(|it| it.held.iter().map(|copy| (copy, it.depth)));
        let unasked = all.filter(|(copy, _)| !is_asked(&copy.signer));
        let unasked: Vec<_> = unasked.map(|(copy, depth)| (copy.signer.clone(), depth)).collect();
        for (signer, depth) in unasked {
            if !self.ask(now, &signer, depth + 1, certificates) {
                let held = self.questions.iter_mut().map(|it| &mut it.held);
                held.for_each(|held| held.retain(|copy| copy.signer != signer));
            }
        }
    }

    /// Ends requests that no packet and no held copy needs any longer.
    fn prune(&mut self) {
        let is_needed = |it: &Question, all: &[Question]| {
            it.is_wanted
                || all.iter().any(|other| other.held.iter().any(|copy| copy.signer == it.name))
        };
        while let Some(place) = self.questions.iter().position(|it| !is_needed(it, &self.questions))
        {
            self.questions.swap_remove(place);
        }
    }

    /// Handles a Nack. Returns whether it was for a certificate: the next Interest follows after a wait that doubles.
    pub fn on_nack(&mut self, now: Instant, name: &Name) -> bool {
        let question = self.questions.iter_mut().find(|question| question.name == *name);
        question.map(|question| question.on_nack(now)).is_some()
    }

    /// Whether a certificate was accepted or given up since the last [`take_news`](Self::take_news).
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.news
    }

    /// Whether a certificate was accepted or given up since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// The next Interest that is due, without nonce and lifetime; `rto` is the time to its first retransmission, which
    /// doubles with each up to 2 s.
    pub fn poll(
        &mut self,
        now: Instant,
        rto: Duration,
        certificates: &dyn Certificates,
    ) -> Option<Interest> {
        while let Some(place) = self.questions.iter().position(|it| it.is_over(now)) {
            self.fail(now, place, certificates);
        }
        self.admit(now);
        let question = self.questions.iter_mut().find(|it| it.is_due(now))?;
        question.on_sent(now, rto);
        let mut interest = Interest::new(question.name.clone());
        // A key may have several certificates: the latest one is needed. A cache may repeat a rejected answer.
        let is_of_key = is_key_name(&question.name);
        interest.must_be_fresh = is_of_key || question.verdict.is_some();
        interest.can_be_prefix = is_of_key || is_content_key(&question.name);
        Some(interest)
    }

    /// Time of the next call of [`poll`](Self::poll).
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.questions.iter().map(Question::deadline).min()
    }
}

/// Place of the copy that gives way to a further one, which waits for `key`, of those that wait for `keys`: the oldest of the
/// key that most copies wait for; of equal ones, of the key that is `needed` least. So copies that name few keys, or a key
/// that other packets do not need, do not displace the others.
pub fn displaced(keys: &[&Name], key: &Name, needed: impl Fn(&Name) -> usize) -> Option<usize> {
    let copies = |of: &Name| keys.iter().filter(|it| **it == of).count() + usize::from(key == of);
    let all = keys.iter().enumerate();
    let rank = |(place, of): &(usize, &&Name)| (Reverse(copies(of)), needed(of), *place);
    all.min_by_key(rank).map(|(place, _)| place)
}

/// Whether the name ends in `CK` and the identifier of a content key: that of the group follows.
fn is_content_key(name: &Name) -> bool {
    let word = name.len().checked_sub(2).and_then(|at| name.get(at));
    word.is_some_and(|it| it == Component::generic(b"CK"))
}

/// Whether the name ends in `KEY`, the identifier of a key, and perhaps an issuer: a version, at least, follows.
fn is_key_name(name: &Name) -> bool {
    let is_key_at = |from_end: usize| {
        let key_at = name.len().checked_sub(from_end);
        key_at.and_then(|at| name.get(at)).is_some_and(|it| it == Component::generic(b"KEY"))
    };
    is_key_at(2) || is_key_at(3)
}

#[cfg(test)]
mod tests;
