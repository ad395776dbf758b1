//! Measurements of faces by prefix, for strategies.
//!
//! Gains and formulas are those of the strategies. The table limits their number, and removes those not used for a
//! while (5 min, as NFD's ASF strategy).
use super::pit::is_equal;
use super::recency::Recency;
use super::slab::Slab;
use crate::face::FaceId;
use crate::hash::NameHasher;
use hashbrown::HashTable;
use recoup_packet::name::Name;
use recoup_transport::rto::{BackoffUntil, Jacobson, JacobsonSettings, RtoEstimator};
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;

/// Settings of estimators of the soft timeout of pending Interests (see `crate::soft_timeout`).
const SOFT: JacobsonSettings = JacobsonSettings {
    alpha: 1.0 / 8.0,
    beta: 1.0 / 4.0,
    k: 4.0,
    init: Duration::from_millis(20),
    min: Duration::from_millis(1),
    max: Duration::from_secs(4),
    backoff: 2.0,
    global_backoff: true,
    backoff_until: BackoffUntil::Sample,
    new_mean: false,
};

/// Options of a measurements table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasurementOptions {
    /// Lifetime of a prefix after its last use.
    pub lifetime: Duration,
    /// Most prefixes remembered; the one used longest ago is dropped.
    pub limit: usize,
}

impl Default for MeasurementOptions {
    fn default() -> Self {
        Self { lifetime: Duration::from_secs(300), limit: 1 << 14 }
    }
}

/// Measurements of one face toward one prefix.
#[derive(Debug)]
pub struct FaceMeasurement {
    /// The face.
    pub face: FaceId,
    /// Smoothed round-trip time in seconds, after the first answer.
    pub rtt: Option<f64>,
    /// Smoothed share of answered Interests, from 0 to 1; 1 at first.
    pub satisfaction: f64,
    /// Time of the last Interest.
    pub asked: Option<Instant>,
    /// A strategy's estimator of the timeout there, if it uses one.
    pub estimator: Option<Box<dyn RtoEstimator>>,
}

impl FaceMeasurement {
    const fn new(face: FaceId) -> Self {
        Self { face, rtt: None, satisfaction: 1.0, asked: None, estimator: None }
    }

    /// Records an answer after `rtt`, if that is known; both averages move by `gain` (0 to 1).
    pub fn satisfied(&mut self, rtt: Option<Duration>, gain: f64) {
        self.satisfaction += gain * (1.0 - self.satisfaction);
        if let Some(sample) = rtt.map(|rtt| rtt.as_secs_f64()) {
            let before = self.rtt.unwrap_or(sample);
            self.rtt = Some(before + gain * (sample - before));
        }
    }

    /// Records a Nack, or a timeout.
    pub fn failed(&mut self, gain: f64) {
        self.satisfaction -= gain * self.satisfaction;
    }
}

/// The pinned face of one prefix, and its unanswered Interests.
#[derive(Debug)]
pub struct Pin {
    /// The face.
    pub face: FaceId,
    /// Consecutive timeouts, by hash of the name.
    failures: Vec<(u64, u32)>,
}

impl Pin {
    /// Most names counted.
    const MOST: usize = 256;

    /// Counts a timeout of the name with that hash. Returns the number of consecutive ones.
    pub fn fail(&mut self, name: u64) -> u32 {
        let place = self.failures.iter().position(|(known, _)| *known == name);
        let place = place.unwrap_or_else(|| {
            if self.failures.len() >= Self::MOST {
                self.failures.clear();
            }
            self.failures.push((name, 0));
            self.failures.len() - 1
        });
        let (_, count) = &mut self.failures[place];
        *count = count.saturating_add(1);
        *count
    }

    /// Resets the count of the name with that hash.
    pub fn forget(&mut self, name: u64) {
        self.failures.retain(|(known, _)| *known != name);
    }
}

/// Measurements of one prefix.
#[derive(Debug)]
pub struct Measured {
    prefix: Name,
    hash: u64,
    used: Instant,
    /// Set by [`Measurements::wish_exploration`].
    exploration: bool,
    faces: SmallVec<[FaceMeasurement; 2]>,
    /// Estimator of all faces together, for soft timeouts.
    soft: Option<Jacobson>,
    pin: Option<Box<Pin>>,
}

impl Measured {
    fn new(prefix: &Name, hash: u64, used: Instant) -> Self {
        let (prefix, faces) = (prefix.clone(), SmallVec::new());
        Self { prefix, hash, used, exploration: false, faces, soft: None, pin: None }
    }

    /// Measurements of faces, in the order of their first use.
    #[must_use]
    pub fn faces(&self) -> &[FaceMeasurement] {
        &self.faces
    }

    /// Measurements of `face`, mutable.
    pub fn face(&mut self, face: FaceId) -> &mut FaceMeasurement {
        let place = self.faces.iter().position(|known| known.face == face).unwrap_or_else(|| {
            self.faces.push(FaceMeasurement::new(face));
            self.faces.len() - 1
        });
        &mut self.faces[place]
    }

    /// Whether exploration was requested since the last call.
    pub fn take_exploration(&mut self) -> bool {
        std::mem::take(&mut self.exploration)
    }
}

/// Measurements of faces, by prefix.
#[derive(Debug)]
pub struct Measurements {
    hasher: NameHasher,
    options: MeasurementOptions,
    slots: Slab<Measured>,
    index: HashTable<u32>,
    recency: Recency,
    /// The slot used last: Interests of one prefix often arrive in succession.
    recent: u32,
}

impl Measurements {
    /// An empty table.
    #[must_use]
    pub fn new(hasher: NameHasher, options: MeasurementOptions) -> Self {
        let (slots, recency) = (Slab::default(), Recency::default());
        Self { hasher, options, slots, index: HashTable::new(), recency, recent: u32::MAX }
    }

    /// Measurements of `face` toward `prefix`, mutable.
    pub fn face(&mut self, now: Instant, prefix: &Name, face: FaceId) -> &mut FaceMeasurement {
        self.of(now, prefix).face(face)
    }

    /// Measurements of the faces toward `prefix`, in the order of their first use.
    #[must_use]
    pub fn faces(&mut self, now: Instant, prefix: &Name) -> &[FaceMeasurement] {
        &self.of(now, prefix).faces
    }

    /// The next Interest below `prefix` should try another face than the best.
    pub fn wish_exploration(&mut self, now: Instant, prefix: &Name) {
        self.of(now, prefix).exploration = true;
    }

    /// The pinned face of `prefix`, if any.
    pub fn pin(&mut self, now: Instant, prefix: &Name) -> Option<&mut Pin> {
        self.of(now, prefix).pin.as_deref_mut()
    }

    /// Pins `prefix` to `face`.
    pub fn pin_to(&mut self, now: Instant, prefix: &Name, face: FaceId) {
        self.of(now, prefix).pin = Some(Box::new(Pin { face, failures: Vec::new() }));
    }

    /// Removes the pin of `prefix`.
    pub fn unpin(&mut self, now: Instant, prefix: &Name) {
        self.of(now, prefix).pin = None;
    }

    /// Estimator of the round trip toward `prefix`, by any face.
    pub(crate) fn soft(&mut self, now: Instant, prefix: &Name) -> &mut impl RtoEstimator {
        self.of(now, prefix).soft.get_or_insert_with(|| Jacobson::new(SOFT))
    }

    /// Removes a face, for instance because its number may be reused.
    pub fn forget_face(&mut self, face: FaceId) {
        for measured in self.slots.iter_mut() {
            measured.faces.retain(|known| known.face != face);
            measured.pin.take_if(|pin| pin.face == face);
        }
    }

    /// Number of stored prefixes, expired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no prefix is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.len() == 0
    }

    /// Measurements of `prefix`, used `now`.
    pub fn of(&mut self, now: Instant, prefix: &Name) -> &mut Measured {
        self.forget(now);
        let is_recent = |it: &Measured| is_equal(it.prefix.value(), prefix.value());
        if !self.slots.get(self.recent).is_some_and(is_recent) {
            let hash = self.hasher.hash(prefix.value());
            self.recent = match self.find(prefix, hash) {
                Some(slot) => {
                    self.recency.touch(slot);
                    slot
                }
                None => self.insert(prefix, hash, now),
            };
        }
        let Self { hasher, slots, recent, .. } = self;
        let fresh = || Measured::new(prefix, hasher.hash(prefix.value()), now);
        let measured = slots.get_or_insert_with(*recent, fresh);
        measured.used = now;
        measured
    }

    fn find(&self, prefix: &Name, hash: u64) -> Option<u32> {
        let is = |measured: &Measured| measured.hash == hash && measured.prefix == *prefix;
        self.index.find(hash, |slot| self.slots.get(*slot).is_some_and(is)).copied()
    }

    fn insert(&mut self, prefix: &Name, hash: u64, now: Instant) -> u32 {
        if self.slots.len() >= self.options.limit.max(1) {
            self.remove_oldest();
        }
        let slot = self.slots.insert(Measured::new(prefix, hash, now));
        let slots = &self.slots;
        self.index.insert_unique(hash, slot, |slot| slots.get(*slot).map_or(0, |slot| slot.hash));
        self.recency.add(slot);
        slot
    }

    fn forget(&mut self, now: Instant) {
        let lifetime = self.options.lifetime;
        while let Some(oldest) = self.recency.oldest().and_then(|slot| self.slots.get(slot))
            && oldest.used + lifetime <= now
        {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        let Some(slot) = self.recency.oldest() else {
            return;
        };
        self.recency.remove(slot);
        if let Some(measured) = self.slots.remove(slot)
            && let Ok(place) = self.index.find_entry(measured.hash, |other| *other == slot)
        {
            place.remove();
        }
    }
}

#[cfg(test)]
mod tests;
