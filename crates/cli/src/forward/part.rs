//! What a worker of a forwarder has carried, dropped and kept, to be added up.
use recoup_forwarder::drop::DropReason as NodeDrop;
use recoup_forwarder::shard::Tally;
use recoup_io::capture::{CaptureCounters, Capturer};
use recoup_io::driver::{Admission, Driver};
use recoup_io::face::{Counters, DropReason as FaceDrop, FaceId};
use std::collections::BTreeMap;

/// What one worker has, or several together.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// What the node has.
    pub(super) tally: Tally,
    /// What all faces carried and dropped, past ones included.
    pub(super) totals: Counters,
    /// What the node dropped, and what workers could not hand to each other.
    node_drops: BTreeMap<NodeDrop, u64>,
    /// Sockets that are there: whether they are usable, and what they carried and dropped.
    pub(super) faces: BTreeMap<FaceId, (bool, Counters)>,
    /// How peers were admitted.
    pub(super) admission: Admission,
    /// What was captured.
    pub(super) captures: CaptureCounters,
    /// Times that a worker read nothing for a millisecond because another one left its letters lying.
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

    /// What another worker has comes on top.
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

    /// What was dropped, by reason; frames that faces dropped have `face-` in front.
    pub(super) fn drops(&self) -> impl Iterator<Item = (String, u64)> {
        let of_node = self.node_drops.iter().map(|(reason, many)| (reason.to_string(), *many));
        let of_faces = FaceDrop::ALL
            .into_iter()
            .map(|reason| (format!("face-{reason}"), self.totals.dropped(reason)));
        of_node.chain(of_faces).filter(|(_, many)| *many > 0)
    }
}
