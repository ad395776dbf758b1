//! CsTracer.
use crate::network::NodeId;
use crate::observe::{Observation, Observer};
use crate::record::period::Period;
use crate::record::place::Places;
use crate::record::table::{Cell, Sheet, Table, Type};
use crate::record::{Recorder, seconds};
use recoup_forwarder::event::NodeEvent;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `ndnsim-cache`: two rows for each node and period.
pub(in crate::record) struct CacheTrace {
    places: Arc<Places>,
    period: Period,
    /// Hits and misses by node.
    counts: Vec<[u64; 2]>,
    sheet: Sheet,
}

impl CacheTrace {
    pub(in crate::record) fn new(places: Arc<Places>, rows: usize, period: Duration) -> Self {
        // The last header ends with a tab, as ndnSIM's.
        let columns = [
            ("Time", "s", Type::F64),
            ("Node", "", Type::Text),
            ("Type", "", Type::Text),
            ("Packets", "packets", Type::U64),
        ];
        Self {
            period: Period::new(period),
            counts: vec![[0; 2]; places.nodes()],
            sheet: Sheet::new(Table::new("ndnsim-cache", &columns), rows),
            places,
        }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((_, end)) = self.period.due(now) {
            for (number, counts) in self.counts.iter_mut().enumerate() {
                let name = Cell::Text(self.places.node(NodeId(number as u32)));
                for (kind, count) in ["CacheHits", "CacheMisses"].into_iter().zip(counts) {
                    let count = Cell::U64(std::mem::take(count));
                    self.sheet.push(&[seconds(end), name, Cell::Text(kind), count]);
                }
            }
        }
    }
}

impl Observer for CacheTrace {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.roll(now);
        let (node, what) = match *observation {
            Observation::Node { node, event: NodeEvent::CsHit { .. } } => (node, 0),
            Observation::Node { node, event: NodeEvent::CsMiss { .. } } => (node, 1),
            _ => return,
        };
        if let Some(counts) = self.counts.get_mut(node.0 as usize) {
            counts[what] += 1;
        }
    }
}

impl Recorder for CacheTrace {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        self.take()
    }
}
