//! Links that send again what they lose: the recovery at each face that has one.
//!
//! Recovery stands below everything else of a link: a packet is numbered at the moment at which its frame leaves, after
//! queue and marks, and what comes is judged before it is read. What is kept of a permanent face outlives its going down,
//! so that a neighbour that is found again is asked for what was lost meanwhile.
//! A permanent face greets its neighbour when it comes up: both ends know each other before the first packet leaves.
mod value;
mod wire;

use crate::face::{FaceAttributes, FaceForm, FaceId};
use crate::node::Node;
use crate::packet::Packet;
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::link::wldr::Pool;
use recoup_transport::link::{LinkRecovery, Recovery};
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use wire::Lean;
use wire::Piece;

/// Bytes that are held at most for all peers together that opened their faces, beyond the least share of each.
const POOL_BYTES: u64 = 64 << 20;

/// The recovery at faces that have one.
#[derive(Debug)]
pub(crate) struct Guards {
    guards: BTreeMap<FaceId, Guard>,
    /// When which of them has something to do.
    due: BTreeSet<(Instant, FaceId)>,
    /// What guards did that are gone.
    past: Counters,
    /// How many there were: each draws a session of its own.
    made: u64,
    /// Faces of other workers that have one.
    elsewhere: BTreeSet<FaceId>,
    /// Memory of frames held for peers that opened their faces.
    pool: Arc<Pool>,
}

impl Default for Guards {
    fn default() -> Self {
        Self {
            guards: BTreeMap::new(),
            due: BTreeSet::new(),
            past: Counters::default(),
            made: 0,
            elsewhere: BTreeSet::new(),
            pool: Arc::new(Pool::new(POOL_BYTES)),
        }
    }
}

/// The recovery at one face.
#[derive(Debug)]
struct Guard {
    recovery: Recovery,
    end: End,
    down: bool,
    /// As it stands in [`Guards::due`].
    due: Option<Instant>,
    /// How many packets left.
    packets: u64,
}

/// One end of a link, with what it holds.
#[derive(Debug)]
enum End {
    Wire(Box<dyn LinkRecovery<Piece>>),
    Value(Box<dyn LinkRecovery<Packet>>),
}

/// Calls a method that both kinds of ends have.
macro_rules! end {
    ($end:expr, $it:ident => $call:expr) => {
        match $end {
            End::Wire($it) => $call,
            End::Value($it) => $call,
        }
    };
}

impl Guards {
    /// Whether no face has one, which is all that others pay then.
    pub(crate) fn is_empty(&self) -> bool {
        self.guards.is_empty()
    }

    /// Whether this face has one.
    pub(crate) fn has(&self, face: FaceId) -> bool {
        let is_here = !self.is_empty() && self.guards.contains_key(&face);
        is_here || (!self.elsewhere.is_empty() && self.elsewhere.contains(&face))
    }

    /// Another worker has this face, with recovery or without.
    pub(crate) fn note_elsewhere(&mut self, face: FaceId, attributes: &FaceAttributes) {
        match attributes.recovery.is_off() {
            true => self.elsewhere.remove(&face),
            false => self.elsewhere.insert(face),
        };
    }

    /// When one of them has something to do.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// What the recovery of a face did so far.
    pub(crate) fn counters(&self, face: FaceId) -> Option<Counters> {
        self.guards.get(&face).map(|guard| end!(&guard.end, it => it.counters()))
    }

    /// A face is up; `rng` gives the session of a guard that it has for the first time.
    fn up(&mut self, now: Instant, id: FaceId, attributes: &FaceAttributes, rng: &Rng) {
        let recovery = attributes.recovery;
        if recovery.is_off() {
            return self.remove(id);
        }
        let same = |guard: &Guard| guard.recovery == recovery && guard.end.fits(attributes.form);
        if !self.guards.get(&id).is_some_and(same) {
            self.remove(id);
            let rng = rng.substream(&format!("recovery/{}", self.made));
            self.made += 1;
            let mut end = match attributes.form {
                FaceForm::Wire { .. } => End::Wire(recovery.build(rng)),
                FaceForm::Value { .. } => End::Value(recovery.build(rng)),
            };
            if !attributes.permanent {
                end!(&mut end, it => it.share(&self.pool));
            }
            self.guards.insert(id, Guard { recovery, end, down: true, due: None, packets: 0 });
        }
        if let Some(guard) = self.guards.get_mut(&id)
            && std::mem::take(&mut guard.down)
        {
            end!(&mut guard.end, it => it.link_up(now, attributes.permanent));
        }
    }

    /// A face is down; what is known of its link is kept if it may come up again.
    fn down(&mut self, now: Instant, id: FaceId, keep: bool) {
        if !keep {
            self.elsewhere.remove(&id);
            return self.remove(id);
        }
        if let Some(guard) = self.guards.get_mut(&id) {
            guard.down = true;
            end!(&mut guard.end, it => it.link_down(now));
        }
        self.note(id);
    }

    fn remove(&mut self, id: FaceId) {
        let Some(guard) = self.guards.remove(&id) else {
            return;
        };
        guard.due.map(|due| self.due.remove(&(due, id)));
        let all = end!(&guard.end, it => it.counters());
        // What it held is lost with it.
        let given_up = all.given_up + all.held;
        self.past += Counters { given_up, held: 0, held_octets: 0, ..all };
    }

    /// Notes anew when a guard has something to do.
    fn note(&mut self, id: FaceId) {
        if let Some(guard) = self.guards.get_mut(&id) {
            guard.note(id, &mut self.due);
        }
    }

    /// The guard of a face that is up.
    fn up_at(&mut self, id: FaceId) -> Option<&mut Guard> {
        self.guards.get_mut(&id).filter(|guard| !guard.down)
    }
}

impl Guard {
    /// Notes anew when it has something to do.
    fn note(&mut self, id: FaceId, all: &mut BTreeSet<(Instant, FaceId)>) {
        let due = end!(&self.end, it => it.deadline());
        self.set_due(id, all, due);
    }

    /// It has something to do at `now`, as soon as everything else is done.
    fn wake(&mut self, id: FaceId, all: &mut BTreeSet<(Instant, FaceId)>, now: Instant) {
        self.set_due(id, all, Some(now));
    }

    fn set_due(&mut self, id: FaceId, all: &mut BTreeSet<(Instant, FaceId)>, due: Option<Instant>) {
        if due != self.due {
            self.due.map(|before| all.remove(&(before, id)));
            due.map(|due| all.insert((due, id)));
            self.due = due;
        }
    }
}

impl End {
    fn fits(&self, form: FaceForm) -> bool {
        matches!(
            (self, form),
            (Self::Wire(_), FaceForm::Wire { .. }) | (Self::Value(_), FaceForm::Value { .. })
        )
    }
}

impl Node {
    /// What the recovery of a face did so far; `None` if it has none.
    #[must_use]
    pub fn recovery(&self, face: FaceId) -> Option<Counters> {
        self.guards.counters(face)
    }

    /// Whether the far end of a face and this end recover what the link between them loses.
    #[must_use]
    pub fn link_recovery(&self, face: FaceId) -> Agreement {
        let guard = self.guards.guards.get(&face);
        guard.map_or(Agreement::Off, |guard| end!(&guard.end, it => it.agreement()))
    }

    /// What the recoveries of all faces did so far, past ones included; `None` if there never was one.
    #[must_use]
    pub fn recovered(&self) -> Option<Counters> {
        let mut all = self.guards.past;
        for guard in self.guards.guards.values() {
            all += end!(&guard.end, it => it.counters());
        }
        (!self.guards.is_empty() || all != Counters::default()).then_some(all)
    }

    pub(crate) fn guard_up(&mut self, now: Instant, id: FaceId, attributes: &FaceAttributes) {
        self.guards.up(now, id, attributes, &self.rng);
        self.drain_guard(now, id);
    }

    pub(crate) fn guard_down(&mut self, now: Instant, id: FaceId, keep: bool) {
        self.guards.down(now, id, keep);
    }

    /// Does what is due at one face; `false` if nothing is.
    pub(crate) fn fire_guard(&mut self, now: Instant) -> bool {
        match self.guards.due.first() {
            Some(&(due, id)) if due <= now => {
                if let Some(guard) = self.guards.guards.get_mut(&id) {
                    end!(&mut guard.end, it => it.fire(now));
                }
                self.drain_guard(now, id);
                true
            }
            _ => false,
        }
    }

    /// Whether the recovery of a face waits for it.
    fn guard_waits(&self, id: FaceId) -> bool {
        let guard = self.guards.guards.get(&id);
        guard.is_some_and(|guard| end!(&guard.end, it => it.waits()))
    }

    /// Lets leave what may leave, and accounts for what will not leave any more.
    fn drain_guard(&mut self, now: Instant, id: FaceId) {
        match self.guards.guards.get(&id).map(|guard| &guard.end) {
            Some(End::Wire(_)) => self.drain_wire(now, id),
            Some(End::Value(_)) => self.drain_value(now, id),
            None => return,
        }
        self.guards.note(id);
    }
}
