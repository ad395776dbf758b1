//! Counters of a forwarder's worker, which can be added up.
use recoup_forwarder::drop::DropReason as NodeDrop;
use recoup_forwarder::shard::Tally;
use recoup_io::capture::{CaptureCounters, Capturer};
use recoup_io::driver::{Admission, Driver};
use recoup_io::face::{Counters, DropReason as FaceDrop, FaceId};
use std::collections::BTreeMap;

/// Counters of one worker, or the sum of several.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Counters of the node.
    pub(super) tally: Tally,
    /// Counters of all faces, closed ones included.
    pub(super) totals: Counters,
    /// Drops of the node, and of rings between workers.
    node_drops: BTreeMap<NodeDrop, u64>,
    /// Existing sockets: whether they are up, and their counters.
    pub(super) faces: BTreeMap<FaceId, (bool, Counters)>,
    /// Counters of admitted peers.
    pub(super) admission: Admission,
    /// Counters of captures.
    pub(super) captures: CaptureCounters,
    /// Milliseconds in which a worker read nothing because another one did not take its messages.
    pub(super) held_up: u64,
}

impl Part {
    pub(super) fn of(driver: &Driver, capturer: &Capturer) -> Self {
        let face = |id| (id, (driver.is_up(id), driver.counters(id).unwrap_or_default()));
        Self {
            tally: capturer.node().tally(),
            totals: driver.totals(),
            node_drops: driver.node_drops().clone(),
            faces: driver.faces().map(face).collect(),
            admission: driver.admission(),
            captures: capturer.counters(),
            held_up: driver.held_up(),
        }
    }

    /// Adds another worker's counters.
    pub(super) fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.totals.add(&other.totals);
        for (reason, count) in &other.node_drops {
            *self.node_drops.entry(*reason).or_default() += count;
        }
        self.faces.extend(&other.faces);
        self.admission.add(&other.admission);
        self.captures.frames += other.captures.frames;
        self.captures.failures += other.captures.failures;
        self.held_up += other.held_up;
    }

    /// Drops by reason; those of faces begin with `face-`.
    pub(super) fn drops(&self) -> impl Iterator<Item = (String, u64)> {
        let of_node = self.node_drops.iter().map(|(reason, many)| (reason.to_string(), *many));
        let of_faces = FaceDrop::ALL
            .into_iter()
            .map(|reason| (format!("face-{reason}"), self.totals.dropped(reason)));
        of_node.chain(of_faces).filter(|(_, many)| *many > 0)
    }
}
