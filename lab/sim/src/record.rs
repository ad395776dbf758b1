//! Records: tables made from the observations of a simulation, and from nothing else.
//!
//! A scenario names the records that it wants, each with its parameters ([`RecordPlan::parse`]):
//!
//! | record | table | a row |
//! |---|---|---|
//! | `segments` | `segments` | for each segment: time sent and received, RTT, RTO, timeouts, retransmissions |
//! | `window(every=0s)` | `window` | a change of a window |
//! | `rto(every=0s)` | `rto` | a sample of an RTO estimator and the resulting estimate |
//! | `events` | `events` | all other events of applications |
//! | `recoveries` | `recoveries` | a stay in fast recovery: its length, its widest window, the segments declared lost |
//! | `timeouts` | `timeouts` | a first timeout and whether it was genuine ([`crate::oracle`]) |
//! | `queue(every=10ms)` | `queue` | length of a link's queue in one direction |
//! | `pit(every=10ms)` | `pit` | pending Interests of a node |
//! | `goodput(bin=1s)` | `goodput`, `fairness` | rates of a consumer in a bin; Jain's index of all in it |
//! | `links(bin=1s)` | `links` | packets carried and lost by a link in a bin, and its utilisation |
//! | `caches(bin=1s)` | `caches` | hits, misses and evictions of a node in a bin |
//! | `residual(bin=1s)` | `residual` | packets sent by a face to a medium and lost there in a bin |
//! | `handoffs` | `handoffs` | a client that joined an access point: from which one, and the time in between |
//! | `drops(bin=1s)` | `drops` | packets discarded in a bin, by place, kind and reason |
//!
//! Memory is bounded: each table takes at most `rows` rows (a parameter of every record, a million by default). A full
//! table drops each second row and from then on takes each second one, and so on ([`table::Sheet`]; [`Table::every`]
//! holds the resulting step). `every` keeps rows of one curve apart from the start. To keep all of a long run, call
//! [`Records::take`] from time to time during the simulation, and write the returned tables. Captured packets are a
//! stream and no table: see [`crate::pcap`].
mod bins;
mod cache;
mod drop;
mod flow;
mod handoff;
mod period;
pub mod place;
mod plan;
mod queue;
mod rate;
mod recovery;
mod residual;
mod segment;
pub mod table;
mod timeout;
pub(crate) mod track;

pub use plan::RecordPlan;
pub use table::Table;

use crate::network::{ApplicationId, Network};
use crate::observe::{Observation, Observer};
use place::Places;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::sync::Arc;
use table::Sheet;

/// An observer that makes tables.
pub trait Recorder: Observer {
    /// Takes out the rows that are complete.
    fn take(&mut self) -> Vec<Table>;

    /// The run is over at `now`: completes what is open and takes out the rest.
    fn finish(&mut self, now: Instant) -> Vec<Table> {
        let _ = now;
        self.take()
    }
}

/// An observation, when it was made, and the places of its network.
#[derive(Clone, Copy)]
struct Seen<'a> {
    places: &'a Places,
    now: Instant,
    observation: &'a Observation<'a>,
}

/// The rule that fills a table.
trait Fill {
    /// Columns of the table, as [`table::Sheet::of`] reads them.
    const COLUMNS: &'static str;

    /// Takes in an observation, and appends the rows that it completes.
    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet);

    /// The run is over at `now`: appends the rows that are open.
    fn finish(&mut self, places: &Places, now: Instant, sheet: &mut Sheet) {
        let _ = (places, now, sheet);
    }
}

/// The recorder of one table.
struct Filled<F> {
    places: Arc<Places>,
    sheet: Sheet,
    fill: F,
}

impl<F: Fill> Filled<F> {
    /// A table of that name and at most so many rows.
    fn new(name: &str, rows: usize, places: Arc<Places>, fill: F) -> Self {
        Self { places, sheet: Sheet::of(name, F::COLUMNS, rows), fill }
    }
}

impl<F: Fill> Observer for Filled<F> {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.fill.on(Seen { places: &self.places, now, observation }, &mut self.sheet);
    }
}

impl<F: Fill> Recorder for Filled<F> {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.fill.finish(&self.places, now, &mut self.sheet);
        self.take()
    }
}

/// All records of a run.
#[derive(Default)]
pub struct Records {
    recorders: Vec<Box<dyn Recorder>>,
}

impl Records {
    /// The recorders of these plans for a simulation of `network`.
    pub fn new(network: &Network, plans: &[RecordPlan]) -> Self {
        let places = Arc::new(Places::new(network));
        let recorders = plans.iter().map(|plan| plan.recorder(network, &places));
        Self { recorders: recorders.collect() }
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.recorders.is_empty()
    }

    /// Takes out the rows that are complete; tables of the same name continue each other.
    pub fn take(&mut self) -> Vec<Table> {
        self.recorders.iter_mut().flat_map(|recorder| recorder.take()).collect()
    }

    /// The run is over at `now`: completes what is open and takes out the rest.
    pub fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.recorders.iter_mut().flat_map(|recorder| recorder.finish(now)).collect()
    }
}

impl Observer for Records {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        for recorder in &mut self.recorders {
            recorder.on(now, observation);
        }
    }
}

/// An instant as a cell, in seconds.
fn seconds<'a>(at: Instant) -> table::Cell<'a> {
    table::Cell::F64(at.as_secs_f64())
}

/// An event of an application, if the observation is one.
fn event<'a>(observation: &'a Observation<'_>) -> Option<(ApplicationId, &'a Event)> {
    match observation {
        Observation::Application { application, report: Report::Event(event) } => {
            Some((*application, event))
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod bench;
#[cfg(test)]
mod tests;
