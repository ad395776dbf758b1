//! Faces as the tables know them: attributes, counters and slots.
use super::share::Share;
use crate::face::{FaceAttributes, FaceId};
use crate::limits::{self, FaceLimits};
use crate::packet::Kind;
use crate::strategy::{FaceFacts, Faces};
use crate::table::{Pit, PitId};
use recoup_transport::management::FaceCounters;
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// A network face that is up.
#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) attributes: FaceAttributes,
    /// Packets received since the face is up; its link counts those sent.
    pub(crate) received: FaceCounters,
    /// Slots of the face, if faces are limited.
    pub(crate) share: Share,
}

/// The network faces that are up, and state of others.
#[derive(Debug, Default)]
pub(crate) struct FaceTable {
    /// By number. Insertions and removals search and move the others: entries are small.
    faces: Vec<(FaceId, Box<Face>)>,
    /// Routes of each network face, up or not.
    routes: BTreeMap<FaceId, u32>,
    /// Limits of faces without their own.
    limits: FaceLimits,
    /// Faces are limited, so their slots are counted.
    is_counting: bool,
    /// A face has, or had, local fields.
    any_local_fields: bool,
    /// A face has, or had, a rate limit.
    is_metering: bool,
    /// Slots of the PIT taken by network faces, including those that are gone.
    taken: usize,
    /// Slots taken by provisional faces.
    taken_provisionally: usize,
    /// Upstream faces.
    upstream: BTreeSet<FaceId>,
}

impl Faces for FaceTable {
    #[inline]
    fn facts(&self, face: FaceId) -> Option<FaceFacts> {
        if face.app().is_some() {
            return Some(FaceFacts::APPLICATION);
        }
        self.get(face).map(Face::facts)
    }
}

impl FaceTable {
    /// A table without faces, with the default limits of faces.
    pub(crate) fn new(limits: FaceLimits) -> Self {
        let (is_counting, is_metering) = (!limits.is_off(), limits.rate.is_some());
        Self { limits, is_counting, is_metering, ..Self::default() }
    }

    /// A network face that is up.
    #[inline]
    pub(crate) fn get(&self, face: FaceId) -> Option<&Face> {
        Some(&self.faces[self.place(face).ok()?].1)
    }

    /// A network face that is up, mutable.
    #[inline]
    pub(crate) fn get_mut(&mut self, face: FaceId) -> Option<&mut Face> {
        let place = self.place(face).ok()?;
        Some(&mut self.faces[place].1)
    }

    /// Index of a face, or its insertion point. While no face between is gone, the distance from the first is that of
    /// the numbers.
    #[inline]
    fn place(&self, id: FaceId) -> Result<usize, usize> {
        let first = self.faces.first().map_or(0, |(first, _)| first.0);
        let guess = id.0.wrapping_sub(first) as usize;
        if self.faces.get(guess).is_some_and(|(known, _)| *known == id) {
            return Ok(guess);
        }
        self.search(id)
    }

    #[inline(never)]
    fn search(&self, id: FaceId) -> Result<usize, usize> {
        self.faces.binary_search_by_key(&id, |(known, _)| *known)
    }

    /// Adds a face that is up. If its link `stays`, so do its slots.
    pub(crate) fn up(&mut self, id: FaceId, attributes: FaceAttributes, stays: bool) {
        self.any_local_fields |= attributes.local_fields;
        self.is_metering |= attributes.limits.is_some_and(|limits| limits.rate.is_some());
        let before = self.provisional_slots(id);
        if stays && let Some(face) = self.get_mut(id) {
            face.attributes = attributes;
            self.taken_provisionally += self.provisional_slots(id);
            self.taken_provisionally -= before;
            return self.note_upstream(id, attributes.upstream);
        }
        self.down(id);
        self.note_upstream(id, attributes.upstream);
        let place = self.place(id).unwrap_or_else(|place| place);
        let face = Face { attributes, received: FaceCounters::default(), share: Share::default() };
        self.faces.insert(place, (id, Box::new(face)));
    }

    /// Removes a face.
    pub(crate) fn down(&mut self, id: FaceId) -> Option<Face> {
        self.taken_provisionally -= self.provisional_slots(id);
        self.note_upstream(id, false);
        let (_, face) = self.faces.remove(self.place(id).ok()?);
        Some(*face)
    }

    fn note_upstream(&mut self, id: FaceId, is_upstream: bool) {
        match is_upstream {
            true => self.upstream.insert(id),
            false => self.upstream.remove(&id),
        };
    }

    /// Whether a face gets IncomingFaceId fields.
    #[inline]
    pub(crate) fn has_local_fields(&self, id: FaceId) -> bool {
        self.any_local_fields && self.get(id).is_some_and(|face| face.attributes.local_fields)
    }

    /// Whether the slots of faces are counted.
    #[inline]
    pub(crate) const fn is_counting(&self) -> bool {
        self.is_counting
    }

    /// Whether an Interest of a network face is within its rate limit.
    #[inline]
    pub(crate) fn admits(&mut self, now: Instant, id: FaceId) -> bool {
        let default = self.limits;
        if !self.is_metering {
            return true;
        }
        self.get_mut(id).is_none_or(|face| {
            let rate = face.limits(&default).rate;
            rate.is_none_or(|rate| face.share.meter.admits(now, rate))
        })
    }

    /// Whether an Interest of a face may become pending, with the PIT `limit`.
    #[inline]
    pub(crate) fn admits_pending(&self, id: FaceId, slots: u8, limit: usize) -> bool {
        let Some(face) = self.get(id) else {
            return true;
        };
        let (limits, taken, slots) =
            (face.limits(&self.limits), face.share.slots, usize::from(slots));
        limits.admits_pending(taken, slots, self.taken, limit)
            && (!face.attributes.provisional
                || limits::admits_provisional(taken, slots, self.taken_provisionally, limit))
    }

    /// Slots of a face, if it is provisional.
    fn provisional_slots(&self, id: FaceId) -> usize {
        let provisional = self.get(id).filter(|face| face.attributes.provisional);
        provisional.map_or(0, |face| face.share.slots)
    }

    /// Whether Interests of a network face are pending, as far as that is counted.
    pub(crate) fn has_pending(&self, id: FaceId) -> bool {
        self.get(id).is_some_and(|face| face.share.slots > 0)
    }

    /// Takes slots for a pending Interest of a network face.
    #[inline]
    pub(crate) fn take_slots(&mut self, id: FaceId, slots: u8, entry: PitId, pit: &Pit) {
        let Some(face) = self.get_mut(id) else {
            return;
        };
        let provisional = face.attributes.provisional;
        face.share.slots += usize::from(slots);
        if !face.attributes.permanent {
            let is_there = |ticket| {
                let id_of = pit.by_ticket(ticket);
                id_of.is_some_and(|entry| pit.entry(entry).in_record(id).is_some())
            };
            face.share.tickets.push(pit.ticket(entry), is_there);
        }
        self.taken += usize::from(slots);
        self.taken_provisionally += if provisional { usize::from(slots) } else { 0 };
    }

    /// Releases the slots of an Interest that is no longer pending.
    #[inline]
    pub(crate) fn release_slots(&mut self, id: FaceId, slots: u8) {
        if id.app().is_some() {
            return;
        }
        debug_assert!(self.taken >= usize::from(slots), "nothing is given back twice");
        self.taken = self.taken.saturating_sub(slots.into());
        if let Some(face) = self.get_mut(id) {
            let before = face.share.slots;
            face.share.slots = before.saturating_sub(slots.into());
            if face.attributes.provisional {
                self.taken_provisionally -= before.min(slots.into());
            }
        }
    }

    /// Counts one more route of a face, or one less.
    pub(crate) fn count_route(&mut self, face: FaceId, more: bool) {
        let count = self.routes.entry(face).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.routes.remove(&face);
        }
    }

    /// Whether a face has routes.
    pub(crate) fn has_routes_to(&self, face: FaceId) -> bool {
        self.routes.contains_key(&face)
    }

    /// Removes the route count of a face.
    pub(crate) fn forget_routes(&mut self, face: FaceId) {
        self.routes.remove(&face);
    }

    /// The first upstream face.
    pub(crate) fn first_upstream(&self) -> Option<FaceId> {
        self.upstream.first().copied()
    }

    /// Whether a face that is up has a route.
    pub(crate) fn has_route(&self) -> bool {
        self.routes.keys().any(|face| self.get(*face).is_some())
    }
}

impl Face {
    /// Limits of the face: its own, or `default`.
    #[inline]
    fn limits<'a>(&'a self, default: &'a FaceLimits) -> &'a FaceLimits {
        self.attributes.limits.as_ref().unwrap_or(default)
    }

    /// Counts a received packet.
    #[inline]
    pub(crate) fn count_in(&mut self, kind: Kind) {
        match kind {
            Kind::Interest => self.received.in_interests += 1,
            Kind::Data => self.received.in_data += 1,
            Kind::Nack => self.received.in_nacks += 1,
            Kind::Idle => {}
        }
    }

    /// Attributes of the face for strategies.
    pub(crate) fn facts(&self) -> FaceFacts {
        let FaceAttributes { link_type, local, .. } = self.attributes;
        FaceFacts { link_type, local }
    }
}
