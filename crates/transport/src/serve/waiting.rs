//! Interests that wait until a source can be read, or for their application Nack.
//!
//! Their number is limited. Each waits no longer than its lifetime and [`LONGEST_WAIT`], because a later answer finds
//! no pending Interest.
use crate::application::ReturnPath;
use crate::time::{Duration, Instant};
use recoup_packet::denial::Denial;
use recoup_packet::interest::{DEFAULT_LIFETIME, Interest};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most Interests that wait.
const LIMIT: usize = 1_024;
/// Longest time that an Interest waits.
const LONGEST_WAIT: Duration = DEFAULT_LIFETIME;

/// An Interest to be answered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) interest: Arc<Interest>,
    pub(super) path: ReturnPath,
    /// End of the wait, set when it begins.
    expires: Option<Instant>,
    /// The Interest waits for its application Nack, with that reason.
    pub(super) denied: Option<Denial>,
}

impl Pending {
    pub(super) fn new(interest: Arc<Interest>, path: ReturnPath) -> Self {
        Self { interest, path, expires: None, denied: None }
    }
}

/// The waiting Interests, and the time of their next attempt.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    entries: VecDeque<(Instant, Pending)>,
}

impl Waiting {
    /// Adds an Interest to be retried at `until`; `false` if the limit is reached.
    pub(super) fn push(&mut self, now: Instant, until: Instant, mut pending: Pending) -> bool {
        if self.entries.len() >= LIMIT {
            return false;
        }
        let lifetime = pending.interest.lifetime_or_default().min(LONGEST_WAIT);
        pending.expires.get_or_insert(now + lifetime);
        self.entries.push_back((until.max(now + Duration::from_nanos(1)), pending));
        true
    }

    /// Moves the Interests that are due to `questions`, in order of arrival, and drops those that have expired.
    pub(super) fn release(&mut self, now: Instant, questions: &mut VecDeque<Pending>) {
        for _ in 0..self.entries.len() {
            let Some((until, pending)) = self.entries.pop_front() else {
                return;
            };
            if until > now {
                self.entries.push_back((until, pending));
            } else if pending.expires.is_none_or(|expires| expires > now) {
                questions.push_back(pending);
            }
        }
    }

    /// Time of the next attempt.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.entries.iter().map(|(until, _)| *until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(number: u64) -> Pending {
        let name = "/p".parse().unwrap();
        Pending::new(Arc::new(Interest::new(name)), ReturnPath(number))
    }

    fn released(waiting: &mut Waiting, now: Instant) -> Vec<u64> {
        let mut questions = VecDeque::new();
        waiting.release(now, &mut questions);
        questions.iter().map(|pending| pending.path.0).collect()
    }

    #[test]
    fn interests_are_released_in_order_when_due() {
        let mut waiting = Waiting::default();
        for (number, until) in [(1, 20), (2, 10), (3, 20)] {
            assert!(waiting.push(Instant::ZERO, Instant::from_millis(until), pending(number)));
        }
        assert_eq!(waiting.deadline(), Some(Instant::from_millis(10)));
        assert_eq!(released(&mut waiting, Instant::from_millis(10)), [2]);
        assert_eq!(released(&mut waiting, Instant::from_millis(20)), [1, 3]);
        assert_eq!(waiting.deadline(), None);
    }

    #[test]
    fn expired_interest_is_forgotten() {
        let mut waiting = Waiting::default();
        assert!(waiting.push(Instant::ZERO, Instant::ZERO, pending(1)));
        assert_eq!(waiting.deadline(), Some(Instant::from_nanos(1)));
        assert_eq!(released(&mut waiting, Instant::ZERO + LONGEST_WAIT), [0; 0]);
        assert_eq!(waiting.deadline(), None);
    }

    #[test]
    fn number_of_waiting_interests_is_limited() {
        let mut waiting = Waiting::default();
        let until = Instant::from_millis(1);
        let kept = (0..2_000).filter(|n| waiting.push(Instant::ZERO, until, pending(*n))).count();
        assert_eq!(kept, LIMIT);
    }
}
