//! Fetches the certificates that a verifier misses, up to its trust anchors, and the manifests with digests of segments.
//!
//! The resolver requests one certificate after the other and passes each to the verifier ([`Certificates`]), which alone
//! decides on trust. A certificate whose own signer is missing is held until that one arrives.
//!
//! Limits: [`MAX_QUESTIONS`] certificates at a time, chains of [`MAX_DEPTH`], [`MAX_ATTEMPTS`] Interests for each and
//! [`PATIENCE`] for each. A forged answer costs one of the attempts.
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

/// Most certificates that are fetched or held at a time.
pub const MAX_QUESTIONS: usize = 32;
/// Most certificates that are queued.
pub const MAX_QUEUED: usize = 256;
/// Most certificates between a packet and its anchor.
pub const MAX_DEPTH: u32 = 16;
/// Most Interests for one certificate.
pub const MAX_ATTEMPTS: u32 = 5;
/// Longest time for one certificate, with those that it needs.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Longest time between two Interests for one certificate, unless the first timeout is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Time after a Nack for the first Interest, halved.
const NACK_WAIT: Duration = Duration::from_millis(50);

/// A certificate that is fetched, or held.
#[derive(Debug)]
struct Question {
    /// Name of the certificate, or of its key.
    name: Name,
    /// Certificates between a packet and this one.
    depth: u32,
    until: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Interests are sent; the next one is due then.
    Asking { attempts: u32, due: Instant },
    /// The certificate waits for its signer, of that name; it came after so many Interests.
    Holding { certificate: Data, signer: Name, attempts: u32 },
}

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
    questions: Vec<Question>,
    /// Oldest first.
    queue: VecDeque<Queued>,
    /// A certificate was accepted or given up since [`take_news`](Self::take_news).
    news: bool,
}

impl Resolver {
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

    fn ask(&mut self, now: Instant, name: &Name, depth: u32, certificates: &dyn Certificates) {
        if let Some(known) = self.questions.iter_mut().find(|it| it.name == *name) {
            known.depth = known.depth.max(depth);
            return;
        }
        if depth >= MAX_DEPTH {
            return self.fail(name, certificates);
        }
        if depth == 0 {
            self.enqueue(name);
            return self.admit(now);
        }
        if self.questions.len() < MAX_QUESTIONS || self.displace(now, depth) {
            self.begin(now, name.clone(), depth);
        }
    }

    fn begin(&mut self, now: Instant, name: Name, depth: u32) {
        self.queue.retain(|queued| queued.name != name);
        let state = State::Asking { attempts: 0, due: now };
        self.questions.push(Question { name, depth, until: now + PATIENCE, state });
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

    /// Gives up a certificate, and those that need it.
    fn fail(&mut self, name: &Name, certificates: &dyn Certificates) {
        self.remove(name).iter().for_each(|name| certificates.give_up(name));
        self.news = true;
    }

    /// Removes a certificate, and those that need it. Returns their names.
    fn remove(&mut self, name: &Name) -> Vec<Name> {
        let mut removed = vec![name.clone()];
        let mut place = 0;
        while let Some(name) = removed.get(place).cloned() {
            self.questions.retain(|question| {
                let needs_it =
                    matches!(&question.state, State::Holding { signer, .. } if *signer == name);
                if needs_it {
                    removed.push(question.name.clone());
                }
                !needs_it && question.name != name
            });
            place += 1;
        }
        removed
    }

    /// Removes the certificate with the most timeouts, of a packet rather than of another certificate. It is not given up.
    /// A chain that answers take further displaces certificates of packets even before their timeout. Returns `false` if
    /// there is none.
    fn displace(&mut self, now: Instant, depth: u32) -> bool {
        let overdue = self.questions.iter().filter_map(|question| match question.state {
            State::Asking { attempts: 1, due } if now < due && question.depth >= depth => None,
            State::Asking { attempts: attempts @ 1.., .. } => Some((question, attempts)),
            State::Asking { .. } | State::Holding { .. } => None,
        });
        let last = overdue.min_by_key(|(it, attempts)| (it.depth, Reverse(*attempts), it.until));
        let Some(name) = last.map(|(question, _)| question.name.clone()) else {
            return false;
        };
        self.remove(&name);
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
        self.questions.iter().position(|question| {
            matches!(question.state, State::Asking { attempts: 1.., .. })
                && question.name.is_prefix_of(name)
        })
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
        match self.judge(place, data, certificates) {
            Verdict::Verified => {
                self.questions.swap_remove(place);
                self.news = true;
                self.judge_held(now, certificates);
            }
            Verdict::Pending => self.hold(now, place, data, certificates),
            Verdict::Bad(_) | Verdict::NotVerified => {
                if let State::Asking { due, .. } = &mut self.questions[place].state {
                    *due = now;
                }
            }
        }
        true
    }

    fn judge(&self, place: usize, data: &Data, certificates: &dyn Certificates) -> Verdict {
        // The requested name is complete, or that of a key, which issuer and version follow, or the version alone.
        let extra = data.name().len() - self.questions[place].name.len();
        match (data.content_type(), extra) {
            (ContentType::Key, 0..=2) | (ContentType::Manifest, 0) => certificates.take(data),
            _ if certificates.is_key(data) => certificates.take(data),
            _ => Verdict::Bad("is no certificate"),
        }
    }

    /// Holds a certificate whose signer is missing.
    fn hold(&mut self, now: Instant, place: usize, data: &Data, certificates: &dyn Certificates) {
        let Some(signer) = certificates.missing(data) else {
            return;
        };
        let question = &mut self.questions[place];
        let depth = question.depth + 1;
        let attempts = match question.state {
            State::Asking { attempts, .. } | State::Holding { attempts, .. } => attempts,
        };
        let certificate = data.clone().detached();
        question.state = State::Holding { certificate, signer: signer.clone(), attempts };
        if self.signs_itself(&signer) {
            return self.fail(&signer, certificates);
        }
        self.ask(now, &signer, depth, certificates);
        if !self.questions.iter().any(|question| question.name == signer) {
            // No place for the signer: the chain begins anew with the next packet that needs it.
            self.remove(&signer);
        }
    }

    /// Whether the chain from `name` on returns to it.
    fn signs_itself(&self, name: &Name) -> bool {
        let mut next = name;
        for _ in 0..=self.questions.len() {
            let held = self.questions.iter().find_map(|question| match &question.state {
                State::Holding { signer, .. } if question.name == *next => Some(signer),
                _ => None,
            });
            match held {
                Some(signer) if signer == name => return true,
                Some(signer) => next = signer,
                None => return false,
            }
        }
        true
    }

    /// Verifies held certificates again, until none of them can be decided.
    fn judge_held(&mut self, now: Instant, certificates: &dyn Certificates) {
        let mut place = 0;
        while let Some(question) = self.questions.get(place) {
            let State::Holding { certificate, attempts, .. } = &question.state else {
                place += 1;
                continue;
            };
            let (certificate, attempts) = (certificate.clone(), *attempts);
            match certificates.take(&certificate) {
                Verdict::Verified => {
                    self.questions.swap_remove(place);
                    place = 0;
                }
                Verdict::Pending => {
                    self.hold(now, place, &certificate, certificates);
                    place += 1;
                }
                Verdict::Bad(_) | Verdict::NotVerified => {
                    // A forged one: the next Interest may bring another.
                    self.questions[place].state = State::Asking { attempts, due: now };
                    place += 1;
                }
            }
        }
    }

    /// Handles a Nack. Returns whether it was for a certificate: the next Interest follows after a wait that doubles.
    pub fn on_nack(&mut self, now: Instant, name: &Name) -> bool {
        let Some(question) = self.questions.iter_mut().find(|question| question.name == *name)
        else {
            return false;
        };
        if let State::Asking { attempts, due } = &mut question.state {
            *due = (*due).min(now + NACK_WAIT.saturating_mul(1 << *attempts));
        }
        true
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
        let over = |question: &Question| match question.state {
            _ if now >= question.until => true,
            State::Asking { attempts, due } => attempts >= MAX_ATTEMPTS && now >= due,
            State::Holding { .. } => false,
        };
        while let Some(place) = self.questions.iter().position(over) {
            let name = self.questions[place].name.clone();
            self.fail(&name, certificates);
        }
        self.admit(now);
        for Question { name, state, .. } in &mut self.questions {
            if let State::Asking { attempts, due } = state
                && now >= *due
            {
                *due = now + rto.saturating_mul(1 << *attempts).min(LONGEST_WAIT.max(rto));
                *attempts += 1;
                let mut interest = Interest::new(name.clone());
                // A key may have several certificates: the latest one is needed.
                interest.must_be_fresh = is_key_name(name);
                interest.can_be_prefix = interest.must_be_fresh || is_content_key(name);
                return Some(interest);
            }
        }
        None
    }

    /// Time of the next call of [`poll`](Self::poll).
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let due = self.questions.iter().map(|question| match question.state {
            State::Asking { due, .. } => due.min(question.until),
            State::Holding { .. } => question.until,
        });
        due.min()
    }
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
