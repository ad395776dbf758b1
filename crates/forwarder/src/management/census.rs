//! Counting what all workers of a forwarder have, for datasets that say it.
use super::{Census, MAX_ORDERS, Node, Waiting};
use crate::face::FaceId;
use crate::shard::{Errand, Tally, Task};
use recoup_packet::nack::NackReason;
use recoup_transport::management::Dataset;
use recoup_transport::time::Instant;

impl Node {
    /// Whether a request for a dataset waits until others have said what they have. Segments of one that was made do not.
    pub(super) fn is_to_be_counted(
        &self,
        now: Instant,
        waiting: &Waiting,
        dataset: &Dataset,
        depth: usize,
    ) -> bool {
        use Dataset::{CsInfo, FaceList, FaceQuery, Status};
        let name = &waiting.interest.name;
        let is_sum = matches!(dataset, CsInfo | FaceList | FaceQuery(_) | Status);
        let is_first = name.len() == depth && waiting.interest.can_be_prefix;
        let shelf = self.management.as_ref().map(|management| &management.shelf);
        let is_made = || shelf.is_some_and(|shelf| shelf.young(now, name).is_some());
        self.shard.is_some() && is_sum && is_first && !waiting.counted && !is_made()
    }

    /// A request waits until all is counted.
    pub(super) fn await_count(&mut self, now: Instant, waiting: Waiting) {
        let Some(Census { counting, next }) = self.management.as_mut().map(|it| &mut it.census)
        else {
            return;
        };
        if next.len() >= MAX_ORDERS {
            let path = waiting.path;
            return self.refusal(now, FaceId::MANAGEMENT, NackReason::Congestion, path);
        }
        next.push(waiting);
        if counting.is_empty() {
            self.count(now);
        }
    }

    /// An errand came back.
    pub(crate) fn errand_is_done(&mut self, now: Instant, Errand { ticket, task }: Errand) {
        match task {
            Task::Count(tally) => self.note_count(now, *tally),
            other => self.cs_is_done(now, ticket, other),
        }
    }

    /// Begins to count for all who wait.
    fn count(&mut self, now: Instant) {
        let Some(census) = self.management.as_mut().map(|management| &mut management.census) else {
            return;
        };
        std::mem::swap(&mut census.counting, &mut census.next);
        if !census.counting.is_empty() {
            self.run_errand(now, 0, Task::Count(Box::default()));
        }
    }

    fn note_count(&mut self, now: Instant, tally: Tally) {
        self.note_others(tally);
        if let Some(management) = &mut self.management {
            let counted = |waiting| Waiting { counted: true, ..waiting };
            management.requests.extend(management.census.counting.drain(..).map(counted));
        }
        self.count(now);
    }
}
