//! Counters of the last minutes, so that a page that is opened shows them at once.
use super::board::{Board, Picture};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two samples.
const EVERY: Duration = Duration::from_secs(2);
/// Samples of five minutes.
const SAMPLES: usize = 150;

/// The latest samples, oldest first.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<VecDeque<Sample>>);

/// Counters at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Milliseconds since 1970.
    at_ms: u64,
    interests_in: u64,
    data_out: u64,
    pending: u64,
    hits: u64,
    misses: u64,
    unsatisfied: u64,
    /// Packets and frames that went no further.
    dropped: u64,
    /// Frames that links sent again.
    resent: u64,
}

impl Sample {
    pub(super) fn of(picture: &Picture) -> Self {
        let Picture { status, cs, drops, recovered, .. } = picture;
        Self {
            at_ms: status.now_millis,
            interests_in: status.counters.in_interests,
            data_out: status.counters.out_data,
            pending: status.pit_entries,
            hits: cs.hits,
            misses: cs.misses,
            unsatisfied: status.unsatisfied,
            dropped: drops.iter().map(|(_, many)| many).sum(),
            resent: recovered.as_ref().map_or(0, |counters| counters.resent),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "at_ms": self.at_ms,
            "interests_in": self.interests_in,
            "data_out": self.data_out,
            "pending": self.pending,
            "hits": self.hits,
            "misses": self.misses,
            "unsatisfied": self.unsatisfied,
            "dropped": self.dropped,
            "resent": self.resent,
        })
    }
}

impl History {
    /// Samples the board from now on, for as long as the result is held.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub(super) fn keep(board: &Arc<Board>) -> io::Result<Arc<Self>> {
        let history = Arc::new(Self::default());
        let (kept, board) = (Arc::downgrade(&history), Arc::clone(board));
        let work = move || {
            while let Some(history) = kept.upgrade() {
                if let Some(picture) = board.sample() {
                    history.add(Sample::of(&picture));
                }
                drop(history);
                thread::sleep(EVERY);
            }
        };
        thread::Builder::new().name("history".into()).spawn(work)?;
        Ok(history)
    }

    /// All samples.
    pub(super) fn json(&self) -> Value {
        self.lock().iter().map(Sample::json).collect()
    }

    fn add(&self, sample: Sample) {
        let mut samples = self.lock();
        if samples.len() == SAMPLES {
            samples.pop_front();
        }
        samples.push_back(sample);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Sample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_samples_give_way() {
        let history = History::default();
        let sample = Sample {
            at_ms: 0,
            interests_in: 1,
            data_out: 2,
            pending: 3,
            hits: 4,
            misses: 5,
            unsatisfied: 6,
            dropped: 7,
            resent: 8,
        };
        (0..SAMPLES as u64 + 5).for_each(|at_ms| history.add(Sample { at_ms, ..sample }));
        let json = history.json();
        assert_eq!(json.as_array().map(Vec::len), Some(SAMPLES));
        assert_eq!((&json[0]["at_ms"], &json[0]["resent"]), (&json!(5), &json!(8)));
    }
}
