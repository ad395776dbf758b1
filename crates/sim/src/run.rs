//! A run with what is kept of it: its digest, metrics and records.
use crate::metric::{Detail, Metrics, Summary};
use crate::network::Network;
use crate::observe::Observer;
use crate::record::{RecordPlan, Records, Table};
use crate::simulation::{Cause, Digest, Ended, Imbalance, NetworkError, Simulation};
use recoup_transport::time::Instant;

/// A simulation with the observers of its results.
pub struct Run {
    simulation: Simulation,
    digest: Digest,
    metrics: Metrics,
    records: Records,
    ended: Option<Ended>,
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Time of the end.
    pub end: Instant,
    /// The digest of all observations.
    pub digest: u64,
    /// The metrics.
    pub metrics: Summary,
    /// The records.
    pub tables: Vec<Table>,
}

/// The simulator is wrong, and so may be all results of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packets vanished or came from nowhere: {0}")]
pub struct Unbalanced(pub Imbalance);

impl Run {
    /// Begins a run of `network`; every random choice follows from `seed`.
    ///
    /// # Errors
    /// If the network refers to something that does not exist; the error names it.
    pub fn new(
        network: Network,
        seed: u64,
        detail: Detail,
        plans: &[RecordPlan],
    ) -> Result<Self, NetworkError> {
        Ok(Self {
            digest: Digest::new(),
            metrics: Metrics::new(&network, detail),
            records: Records::new(&network, plans),
            simulation: Simulation::new(network, seed)?,
            ended: None,
        })
    }

    /// The simulated time.
    pub fn now(&self) -> Instant {
        self.simulation.now()
    }

    /// The metrics so far.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Runs all events until `until`, which `more` observes as well. Returns whether the run has ended.
    pub fn run_until(&mut self, until: Instant, more: Option<&mut dyn Observer>) -> bool {
        if self.ended.is_none() {
            let mut observers: Vec<&mut dyn Observer> = vec![&mut self.digest, &mut self.metrics];
            if !self.records.is_empty() {
                observers.push(&mut self.records);
            }
            observers.extend(more);
            self.ended = self.simulation.run_until(until, &mut observers);
        }
        self.ended.is_some()
    }

    /// The results; `None` before the end.
    ///
    /// # Errors
    /// If packets vanished or came from nowhere.
    pub fn finish(mut self) -> Result<Option<Results>, Unbalanced> {
        let Some(ended) = self.ended else { return Ok(None) };
        if let Cause::Unbalanced(imbalance) = ended.cause {
            return Err(Unbalanced(imbalance));
        }
        Ok(Some(Results {
            end: ended.at,
            digest: self.digest.value(),
            metrics: self.metrics.finish(ended.at),
            tables: self.records.finish(ended.at),
        }))
    }
}
