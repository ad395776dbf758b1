//! Hits, misses and evictions of content stores, in bins of time.
use super::bins::Count;
use super::place::Places;
use super::seconds;
use super::table::{Cell, Sheet};
use crate::network::NodeId;
use crate::observe::Observation;
use recoup_forwarder::event::NodeEvent;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// Makes `caches`: a row for each node whose content store was asked or gave something up.
#[derive(Default)]
pub(super) struct Caches {
    /// Hits, misses, packets that were given up.
    counts: BTreeMap<NodeId, [u64; 3]>,
}

impl Count for Caches {
    const COLUMNS: &'static str =
        "time_s f64 s, node text, hits u64, misses u64, evicted u64 packets";

    fn count(&mut self, _: &Places, observation: &Observation<'_>) {
        let Observation::Node { node, event } = *observation else {
            return;
        };
        let (what, count) = match event {
            NodeEvent::CsHit { .. } => (0, 1),
            NodeEvent::CsMiss { .. } => (1, 1),
            NodeEvent::CsEvicted { packets } => (2, u64::from(packets)),
            _ => return,
        };
        self.counts.entry(node).or_default()[what] += count;
    }

    fn rows(&mut self, places: &Places, start: Instant, _: f64, sheet: &mut Sheet) {
        for (node, counts) in std::mem::take(&mut self.counts) {
            let [hits, misses, evicted] = counts.map(Cell::U64);
            sheet.push(&[seconds(start), Cell::Text(places.node(node)), hits, misses, evicted]);
        }
    }
}
