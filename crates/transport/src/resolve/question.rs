//! The request of one certificate.
use super::{MAX_ATTEMPTS, MAX_COPIES, MAX_INTERESTS, PATIENCE, displaced};
use crate::rejection::{Rejection, Rejections};
use crate::time::{Duration, Instant};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::name::Name;
use recoup_packet::signature::{Certificates, Verdict};

/// Longest time between two Interests for one certificate, unless the first timeout is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Time after a Nack for the first Interest, halved. It doubles.
const SHORT_WAIT: Duration = Duration::from_millis(50);

/// A certificate that is fetched.
#[derive(Debug)]
pub(super) struct Question {
    /// Name of the certificate, or of its key.
    pub(super) name: Name,
    /// Certificates between a packet and this one.
    pub(super) depth: u32,
    /// A packet needs it, and not only a copy of another certificate.
    pub(super) is_wanted: bool,
    pub(super) until: Instant,
    /// Timeout of the first Interest. That of the path grows while packets wait for this certificate.
    rto: Option<Duration>,
    /// Interests sent.
    pub(super) attempts: u32,
    /// Interests that had an answer, and the number of the last of them.
    answered: (u32, u32),
    rejected: Rejections,
    /// Number of the last Interest with a rejected answer.
    rejected_at: u32,
    /// The last verdict on a rejected answer.
    pub(super) verdict: Option<Verdict>,
    /// Time of the next Interest.
    due: Instant,
    pub(super) held: Vec<Held>,
}

/// A copy that waits for its signer.
#[derive(Debug)]
pub(super) struct Held {
    certificate: Data,
    /// Name of the missing certificate.
    pub(super) signer: Name,
}

impl Question {
    pub(super) fn new(now: Instant, name: Name, depth: u32) -> Self {
        Self {
            name,
            depth,
            is_wanted: depth == 0,
            until: now + PATIENCE,
            rto: None,
            attempts: 0,
            answered: (0, 0),
            rejected: Rejections::NONE,
            rejected_at: 0,
            verdict: None,
            due: now,
            held: Vec::new(),
        }
    }

    /// Whether no further Interest is sent.
    fn is_spent(&self) -> bool {
        self.attempts - self.answered.0 >= MAX_ATTEMPTS
            || self.rejected.are_too_many(None)
            || self.attempts >= MAX_INTERESTS
    }

    /// Whether it is to be given up.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.until || self.is_spent() && self.held.is_empty() && now >= self.due
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due && !self.is_spent()
    }

    pub(super) fn deadline(&self) -> Instant {
        match self.is_spent() && !self.held.is_empty() {
            true => self.until,
            false => self.due.min(self.until),
        }
    }

    /// Whether another request may take its place: it has timed out, or a deeper one needs the place, and it has no copy
    /// but such as follow rejected ones.
    pub(super) fn gives_way(&self, now: Instant, depth: u32) -> bool {
        let is_early = self.attempts == 1 && now < self.due && self.depth >= depth;
        self.attempts > 0 && !is_early && (self.held.is_empty() || self.rejected.count > 1)
    }

    pub(super) fn on_sent(&mut self, now: Instant, rto: Duration) {
        let rto = *self.rto.get_or_insert(rto);
        self.due = now + rto.saturating_mul(1 << self.attempts).min(LONGEST_WAIT.max(rto));
        self.attempts += 1;
    }

    pub(super) fn on_nack(&mut self, now: Instant) {
        self.due = self.due.min(now + SHORT_WAIT.saturating_mul(1 << self.attempts));
    }

    /// Records an answer to the last Interest.
    pub(super) fn on_answer(&mut self) {
        if self.answered.1 != self.attempts {
            self.answered = (self.answered.0 + 1, self.attempts);
        }
    }

    /// Records that an answer was rejected. The first one after each Interest sets the time of the next.
    pub(super) fn on_rejected(&mut self, now: Instant, verdict: Verdict, data: &Data) {
        self.verdict = Some(verdict);
        let Some(mut rejection) = Rejection::of(verdict, data) else { return };
        // A producer that states that there is no such packet hardly states anything else later.
        rejection.is_invalid |= data.content_type() == ContentType::Nack;
        let is_first = std::mem::replace(&mut self.rejected_at, self.attempts) != self.attempts;
        self.rejected.record(rejection, is_first);
        if let Some(due) = self.rejected.due(now, None).filter(|_| is_first) {
            self.due = self.due.min(due);
        }
    }

    pub(super) fn judge(&self, data: &Data, certificates: &dyn Certificates) -> Verdict {
        // The requested name is complete, or that of a key, which issuer and version follow, or the version alone.
        let extra = data.name().len() - self.name.len();
        match (data.content_type(), extra) {
            (ContentType::Key, 0..=2) | (ContentType::Manifest, 0) => certificates.take(data),
            _ if certificates.is_key(data) => certificates.take(data),
            _ => Verdict::Bad("is no certificate"),
        }
    }

    /// Holds a copy until its signer is there, unless an equal one is held.
    pub(super) fn hold(&mut self, data: &Data, signer: Name) {
        if self.held.iter().any(|copy| copy.certificate.wire() == data.wire()) {
            return;
        }
        if self.held.len() >= MAX_COPIES {
            let keys: Vec<&Name> = self.held.iter().map(|copy| &copy.signer).collect();
            displaced(&keys, &signer, |_| 0).map(|place| self.held.remove(place));
        }
        self.held.push(Held { certificate: data.clone().detached(), signer });
    }

    /// Verifies held copies again. Returns whether one of them is accepted.
    pub(super) fn judge_held(&mut self, now: Instant, certificates: &dyn Certificates) -> bool {
        for mut copy in std::mem::take(&mut self.held) {
            match self.judge(&copy.certificate, certificates) {
                Verdict::Pending => {
                    copy.signer = certificates.missing(&copy.certificate).unwrap_or(copy.signer);
                    self.held.push(copy);
                }
                Verdict::Verified => return true,
                rejected => self.on_rejected(now, rejected, &copy.certificate),
            }
        }
        false
    }
}
