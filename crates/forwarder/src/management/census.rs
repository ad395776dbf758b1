//! Collects the counters of all workers of a forwarder, for datasets that contain them.
use super::{Census, Effect, MAX_ORDERS, Management, View, Waiting};
use crate::shard::{RingTask, Task};
use recoup_packet::nack::NackReason;
use recoup_transport::management::Dataset;
use recoup_transport::time::Instant;

impl Management {
    /// Whether a request for a dataset waits for the counters of other workers. Segments of a cached dataset do not.
    pub(super) fn is_to_be_counted(
        &self,
        now: Instant,
        waiting: &Waiting,
        dataset: &Dataset,
        depth: usize,
    ) -> bool {
        use Dataset::{CsInfo, FaceList, FaceQuery, Status};
        let interest = &waiting.request.interest;
        let is_sum = matches!(dataset, CsInfo | FaceList | FaceQuery(_) | Status);
        let is_first = interest.name.len() == depth && interest.can_be_prefix;
        let is_made = || self.shelf.recent(now, &interest.name).is_some();
        self.counts_others && is_sum && is_first && !waiting.counted && !is_made()
    }

    /// Queues a request until all counters are collected.
    pub(super) fn await_count(&mut self, waiting: Waiting) {
        if self.census.next.len() >= MAX_ORDERS {
            return self.reject(waiting.request.path, NackReason::Congestion);
        }
        self.census.next.push(waiting);
        if self.census.counting.is_empty() {
            self.count();
        }
    }

    /// Handles the end of a task. The sum of a count is in the [`View`] already.
    pub(crate) fn task_done(&mut self, RingTask { ticket, task }: RingTask, view: &impl View) {
        match task {
            Task::Count(_) => self.counted(),
            other => self.cs_done(ticket, other, view),
        }
    }

    /// Starts a collection for all waiting requests.
    fn count(&mut self) {
        let Census { counting, next } = &mut self.census;
        std::mem::swap(counting, next);
        if !counting.is_empty() {
            let task = RingTask { ticket: 0, task: Task::Count(Box::default()) };
            self.effects.push_back(Effect::Task(task));
        }
    }

    fn counted(&mut self) {
        let counted = |waiting| Waiting { counted: true, ..waiting };
        self.requests.extend(self.census.counting.drain(..).map(counted));
        self.count();
    }
}
