//! Answers for one name that verification rejects: the time of the next Interest, and the number of them.
//!
//! The rule: if no two rejected answers name different signers, one source gives them, and the Interests follow within
//! `SAME_WAIT`; any other answer restores the backoff up to `WAIT_MAX`; their number is the same in both cases.
//!
//! An attacker that repeats a forged packet therefore has to be ahead of the genuine one as often as before. A packet of
//! other content is no forged one but a stale one: a cache drops it in time, so the Interests back off.
use crate::fetch::OTHER_CONTENT;
use crate::time::{Duration, Instant};
use recoup_packet::data::Data;
use recoup_packet::manifest;
use recoup_packet::name::Name;
use recoup_packet::signature::{KeyLocator, SignatureType, Verdict};
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Wait after the second rejected answer; it doubles.
const WAIT: Duration = Duration::from_millis(50);
/// Longest wait after a rejected answer.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Longest wait after rejected answers of one source.
const SAME_WAIT: Duration = Duration::from_millis(100);
/// Wait after the last Interest for a copy of the same answer.
const LAST_WAIT: Duration = Duration::from_millis(200);
/// Least and most retransmissions for one name after rejected answers: of one source within 0.15 s and 1.5 s, of several
/// within 10.5 s.
const RETRIES: RangeInclusive<u32> = 3..=15;
/// Most retransmissions for one name if each answer was invalid: within 1.6 s. A further copy is hardly better.
const INVALID_RETRIES: u32 = 6;

/// Rejection of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Reason, as the end of "the packet …".
    pub why: &'static str,
    /// The signer that the packet names.
    pub signer: Option<String>,
    /// Its chain of certificates is invalid, as that of further copies will be; or it states that there is no packet.
    pub is_invalid: bool,
}

impl Rejection {
    /// The rejection of `data` for this reason.
    #[must_use]
    pub fn new(data: &Data, why: &'static str) -> Self {
        Self { why, signer: signer(data), is_invalid: false }
    }

    /// The rejection that a verdict on `data` states.
    #[must_use]
    pub fn of(verdict: Verdict, data: &Data) -> Option<Self> {
        match verdict {
            Verdict::Bad(why) => Some(Self::new(data, why)),
            Verdict::Invalid(why) => Some(Self { is_invalid: true, ..Self::new(data, why) }),
            Verdict::Verified | Verdict::NotVerified | Verdict::Pending => None,
        }
    }

    /// Whether the packet belongs to other content of the name.
    fn is_stale(&self) -> bool {
        matches!(self.why, OTHER_CONTENT | manifest::OTHER_CONTENT)
    }
}

/// The signer that a packet names; `None` without one.
fn signer(data: &Data) -> Option<String> {
    let info = data.signature_info();
    match info.key_locator.filter(|_| info.typ != SignatureType::DigestSha256)? {
        KeyLocator::Name(value) => {
            Name::from_value(value.to_vec().into()).ok().map(|name| name.to_string())
        }
        KeyLocator::Digest(digest) => {
            let mut text = "the key with the digest ".to_owned();
            for byte in digest {
                let _ = write!(text, "{byte:02x}");
            }
            Some(text)
        }
    }
}

/// Rejected answers for one name.
#[derive(Clone, Debug, Default)]
pub struct Rejections {
    /// Interests with rejected answers.
    pub count: u32,
    /// Of them, those whose answer was invalid.
    invalid: u32,
    /// The last one.
    last: Option<Rejection>,
    /// The first signer that one of them names.
    signer: Option<String>,
    /// Two of them name different signers.
    differ: bool,
    /// One of them belongs to other content.
    is_stale: bool,
}

impl Rejections {
    /// Without a rejected answer.
    pub const NONE: Self =
        Self { count: 0, invalid: 0, last: None, signer: None, differ: false, is_stale: false };

    /// Records a rejected answer; `is_first` if it is the first one to its Interest.
    pub fn record(&mut self, rejection: Rejection, is_first: bool) {
        if is_first {
            self.count += 1;
            self.invalid += u32::from(rejection.is_invalid);
        }
        let is_other = |signer: &String| self.signer.as_ref().is_some_and(|known| known != signer);
        self.differ |= rejection.signer.as_ref().is_some_and(is_other);
        self.signer = self.signer.take().or_else(|| rejection.signer.clone());
        self.is_stale |= rejection.is_stale();
        self.last = Some(rejection);
    }

    /// The last rejection.
    #[must_use]
    pub fn last(&self) -> Option<&Rejection> {
        self.last.as_ref()
    }

    /// Whether there were rejected answers, and each of them was invalid.
    #[must_use]
    pub fn are_invalid(&self) -> bool {
        self.count > 0 && self.invalid == self.count
    }

    /// Whether one source may have given all of them, which will give no other.
    fn have_one_source(&self) -> bool {
        !self.differ && !self.is_stale
    }

    /// Most retransmissions after rejected answers: a budget of their own, as large as that of the `retries` within
    /// [`RETRIES`], and finite even where that is not. It is smaller if all were invalid.
    fn limit(&self, retries: Option<u32>) -> u32 {
        let most = if self.are_invalid() { INVALID_RETRIES } else { *RETRIES.end() };
        retries.map_or(most, |retries| retries.clamp(*RETRIES.start(), most))
    }

    /// Whether no Interest follows the last rejected answer.
    #[must_use]
    pub fn are_too_many(&self, retries: Option<u32>) -> bool {
        self.count > self.limit(retries)
    }

    /// Time of the next Interest after a rejected answer; after the last one, of the end. `None` if the timeout of the last
    /// one decides.
    #[must_use]
    pub fn due(&self, now: Instant, retries: Option<u32>) -> Option<Instant> {
        let is_last = self.are_too_many(retries);
        let wait = match self.count.checked_sub(2) {
            // A genuine copy may follow that of another source until the timeout.
            _ if is_last && !self.are_invalid() && !self.have_one_source() => return None,
            _ if is_last => LAST_WAIT,
            None => Duration::ZERO,
            Some(times) => {
                let most = if self.have_one_source() { SAME_WAIT } else { WAIT_MAX };
                WAIT.saturating_mul(1u32.checked_shl(times).unwrap_or(u32::MAX)).min(most)
            }
        };
        Some(now + wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(why: &'static str, signer: &str) -> Rejection {
        Rejection { why, signer: Some(signer.into()), is_invalid: false }
    }

    /// Time until the last Interest for rejected answers that follow at once, and the number of the answers.
    fn spent(rejections: impl Iterator<Item = Rejection>) -> (u32, Duration) {
        let (mut all, mut now) = (Rejections::default(), Instant::ZERO);
        for rejection in rejections {
            all.record(rejection, true);
            now = all.due(now, Some(15)).unwrap_or(now);
            if all.are_too_many(Some(15)) {
                break;
            }
        }
        (all.count, now.since(Instant::ZERO))
    }

    #[test]
    fn answers_of_one_source_end_soon() {
        let same = std::iter::repeat_with(|| rejection("is forged", "/a"));
        let (count, time) = spent(same);
        assert_eq!(count, 16);
        assert!(time < Duration::from_millis(2_000), "{time:?}");
    }

    #[test]
    fn differing_or_stale_answers_are_waited_for() {
        let signers = (0..).map(|number| rejection("is forged", &format!("/{number}")));
        let stale = std::iter::repeat_with(|| rejection(OTHER_CONTENT, "/a"));
        let manifests = std::iter::repeat_with(|| rejection(manifest::OTHER_CONTENT, "/a"));
        for all in [
            &mut signers.into_iter() as &mut dyn Iterator<Item = Rejection>,
            &mut stale.into_iter(),
            &mut manifests.into_iter(),
        ] {
            let (count, time) = spent(all);
            assert_eq!(count, 16);
            assert!(time > Duration::from_secs(8), "{time:?}");
        }
    }

    #[test]
    fn further_answers_to_one_interest_count_once() {
        let mut all = Rejections::default();
        (0..9).for_each(|at| all.record(rejection("is forged", "/a"), at == 0));
        assert_eq!(all.count, 1);
    }
}
