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

/// A run without results.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The simulator is wrong, and so may be all results of the run.
    #[error("packets vanished or came from nowhere: {0}")]
    Unbalanced(Imbalance),
    /// The simulated time does not move.
    #[error(
        "the simulated time stands still at {0} s, where something is answered at once without end: \
         limit `requests`, or give a cache or a link on the way a delay"
    )]
    Standstill(f64),
}

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
    /// If packets vanished or came from nowhere, or the time stood still.
    pub fn finish(mut self) -> Result<Option<Results>, RunError> {
        let Some(ended) = self.ended else { return Ok(None) };
        match ended.cause {
            Cause::Unbalanced(imbalance) => return Err(RunError::Unbalanced(imbalance)),
            Cause::Standstill => {
                return Err(RunError::Standstill(ended.at.as_nanos() as f64 / 1e9));
            }
            Cause::Done | Cause::Time | Cause::Quiet => {}
        }
        Ok(Some(Results {
            end: ended.at,
            digest: self.digest.value(),
            metrics: self.metrics.finish(ended.at),
            tables: self.records.finish(ended.at),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{
        ApplicationKind, ApplicationPlan, Arrival, NodeId, NodePlan, PacketShape, Popularity,
        ProducePlan, RequestPlan,
    };
    use recoup_packet::name::Name;
    use recoup_transport::time::Duration;

    #[test]
    fn requests_answered_at_once_are_an_error() {
        let mut network = Network::default();
        network.nodes.push(NodePlan { name: "n".into(), ..NodePlan::default() });
        let prefix: Name = "/a".parse().unwrap();
        let produce = ProducePlan {
            prefix: prefix.clone(),
            content: 1.into(),
            freshness: Duration::from_secs(1),
            packet: PacketShape::Digest,
        };
        let request = RequestPlan {
            prefixes: vec![prefix],
            contents: 3,
            popularity: Popularity::Uniform,
            arrival: Arrival::Window(Box::new("cubic".parse().unwrap())),
            requests: None,
            rto: None,
            retries: None,
            lifetime: Duration::from_secs(4),
            rto_scan: None,
            pending: None,
        };
        let kinds =
            [ApplicationKind::Produce(produce), ApplicationKind::Request(Box::new(request))];
        for (kind, name) in kinds.into_iter().zip(["p", "r"]) {
            let (name, node, start, stop) = (name.to_owned(), NodeId(0), Instant::ZERO, None);
            network.applications.push(ApplicationPlan { name, node, start, stop, kind });
        }
        network.stop.at = Instant::from_millis(1_000);
        let mut run = Run::new(network, 1, Detail::default(), &[]).unwrap();
        assert!(run.run_until(Instant::from_millis(2_000), None));
        let error = run.finish().unwrap_err();
        assert_eq!(error, RunError::Standstill(0.0));
        assert!(error.to_string().contains("stands still at 0 s"), "{error}");
    }
}
