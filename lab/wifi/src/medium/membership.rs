//! Access points and clients: beacons, and the exchange by which a client joins an access point.
//!
//! Differences: a client joins without being known on the wired side. Both ends reset their sequence numbers at the
//! same time. A client acknowledges frames that a former access point still sends to it.
use super::super::association::{Association, Step};
use super::super::content::{Content, Management};
use super::super::error::to_db;
use super::super::plan::{Category, Role};
use super::super::reorder::Reorder;
use super::super::{Address, StationId};
use super::station::{Peer, Station};
use super::{Discard, Medium, MediumOutput};
use crate::access::Claim;
use recoup_core::load::Load;

impl<L: Load + Clone> Medium<L> {
    /// Associates every client with the access point that it receives best, and starts the beacons of all access
    /// points.
    pub(super) fn gather(&mut self) {
        let mut best: Vec<Option<(f64, u32)>> = vec![None; self.stations.len()];
        let mut neighbours = std::mem::take(&mut self.neighbours);
        for point in 0..self.stations.len() as u32 {
            if self.stations[point as usize].role != Role::AccessPoint {
                continue;
            }
            self.links.reach(point, 0, 20, &mut neighbours);
            for neighbour in neighbours.iter().filter(|one| one.power >= self.receiver.preamble) {
                let best = &mut best[neighbour.station as usize];
                if best.is_none_or(|(power, _)| neighbour.power > power) {
                    *best = Some((neighbour.power, point));
                }
            }
            self.arm(0, point as usize);
        }
        self.neighbours = neighbours;
        for (client, best) in best.into_iter().enumerate() {
            if let (Some((power, point)), Some(association)) =
                (best, &mut self.stations[client].association)
            {
                association.begin(StationId(point), to_db(power));
                self.arm(0, client);
            }
        }
    }

    // --- beacons --------------------------------------------------------------------------------

    /// A beacon is due.
    pub(super) fn queue_beacon(&mut self, now: u64, index: usize) {
        let station = &mut self.stations[index];
        station.beacon_at += self.plan.infrastructure.beacon_nanos;
        let line = station.line_of(&self.plan, Category::Beacon);
        if station.is_down || !self.stations[index].lines[line].queue.is_empty() {
            return;
        }
        self.stations[index].counters.beacons += 1;
        let beacon = Content::Management(Management::Beacon);
        self.enqueue(now, index, Address::All, Category::Beacon, beacon);
    }

    /// A restarted access point keeps its schedule of beacons.
    pub(super) fn resume_beacons(&mut self, now: u64, index: usize) {
        let (station, interval) =
            (&mut self.stations[index], self.plan.infrastructure.beacon_nanos);
        if station.role == Role::AccessPoint && station.beacon_at < now {
            station.beacon_at += (now - station.beacon_at).div_ceil(interval.max(1)) * interval;
        }
    }

    pub(super) fn note_beacon(&mut self, now: u64, index: usize, from: StationId, power: f64) {
        let station = &mut self.stations[index];
        if let Some(association) = &mut station.association {
            association.on_beacon(now, from, to_db(power));
            station.counters.beacons += 1;
        }
    }

    // --- coming and going -----------------------------------------------------------------------

    /// Does what a client wants to do.
    pub(super) fn decide(&mut self, now: u64, index: usize) {
        let client = StationId(index as u32);
        loop {
            let station = &mut self.stations[index];
            let step = station.association.as_mut().filter(|_| !station.is_down);
            let Some(step) = step.and_then(|association| association.step(now)) else {
                return;
            };
            match step {
                Step::Leave(point) => {
                    self.outputs.push_back(MediumOutput::Left { client, point });
                    self.forget_here(now, index, point);
                }
                Step::Fall => {
                    station.is_away = true;
                    station.stop();
                    for line in &mut station.lines {
                        line.queue.retain(|queued| !queued.has_arrived);
                        line.queue.iter_mut().for_each(|queued| queued.is_flying = false);
                    }
                }
                Step::Ask(point) => {
                    station.is_away = false;
                    let request = Management::AuthenticationRequest;
                    self.manage(now, index, point, request);
                }
            }
        }
    }

    /// A failed client leaves its access point.
    pub(super) fn part(&mut self, index: usize) {
        let station = &mut self.stations[index];
        station.is_away = false;
        let Some(association) = &mut station.association else {
            return;
        };
        let (client, left) = (StationId(index as u32), association.point());
        association.reset();
        if let Some(point) = left {
            self.outputs.push_back(MediumOutput::Left { client, point });
        }
    }

    fn manage(&mut self, now: u64, index: usize, to: StationId, management: Management) {
        let (to, load) = (Address::Station(to), Content::Management(management));
        self.enqueue(now, index, to, Category::Voice, load);
    }

    /// Management for a station came.
    pub(super) fn on_management(
        &mut self,
        now: u64,
        index: usize,
        from: StationId,
        management: Management,
    ) {
        let is_asked = self.stations[index]
            .association
            .as_ref()
            .is_some_and(|association| association.asked() == Some(from));
        match management {
            Management::Beacon => {}
            Management::AuthenticationRequest => {
                self.manage(now, index, from, Management::AuthenticationResponse);
            }
            Management::AuthenticationResponse if is_asked => {
                let before =
                    self.stations[index].association.as_ref().and_then(Association::before);
                self.manage(now, index, from, Management::AssociationRequest { before });
            }
            Management::AssociationRequest { .. } => {
                self.manage(now, index, from, Management::AssociationResponse);
            }
            Management::AssociationResponse if is_asked => self.join(now, index, from),
            Management::AuthenticationResponse | Management::AssociationResponse => {}
        }
    }

    /// A client joins an access point; earlier sequence numbers are void.
    fn join(&mut self, now: u64, index: usize, point: StationId) {
        let client = StationId(index as u32);
        let Some(association) = &mut self.stations[index].association else {
            return;
        };
        let before = association.before();
        association.joined(now, point);
        self.stations[index].counters.associations += 1;
        self.stations[point.0 as usize].counters.associations += 1;
        self.forget(now, point, client);
        self.forget_here(now, index, point);
        self.sever(client, point);
        self.outputs.push_back(MediumOutput::Joined { client, point, before });
    }

    /// A management frame was not acknowledged: its client scans again.
    pub(super) fn on_unanswered(&mut self, from: StationId, management: Management) {
        let asks = matches!(
            management,
            Management::AuthenticationRequest | Management::AssociationRequest { .. }
        );
        if let (true, Some(association)) = (asks, &mut self.stations[from.0 as usize].association) {
            association.rejected();
        }
    }

    // --- what is void ---------------------------------------------------------------------------

    /// Gives up what waits in one station for another, and what was numbered on that way.
    pub(super) fn forget(&mut self, now: u64, from: StationId, to: StationId) {
        let index = from.0 as usize;
        if index >= self.stations.len() || to.0 as usize >= self.stations.len() {
            return;
        }
        self.settle(now, index);
        self.forget_here(now, index, to);
        self.sever(from, to);
        self.arm(now, index);
    }

    fn forget_here(&mut self, now: u64, index: usize, to: StationId) {
        let from = StationId(index as u32);
        for line in 0..self.stations[index].lines.len() {
            let is_granted = self.stations[index].access.contenders[line].claim == Claim::Granted;
            let mut place = 0;
            while let Some(queued) = self.stations[index].lines[line].queue.get_mut(place) {
                place += 1;
                if queued.to != Address::Station(to) || queued.is_management() {
                    continue;
                }
                let has_arrived = std::mem::replace(&mut queued.has_arrived, true);
                queued.is_void = true;
                let loads: Vec<L> = queued.loads().filter(|_| !has_arrived).cloned().collect();
                self.stations[index].counters.departed += loads.len() as u64;
                for load in loads {
                    self.lose(from, Address::Station(to), Content::Above(load), Discard::Departed);
                }
            }
            let mut is_front = true;
            self.stations[index].lines[line].queue.retain(|queued| {
                // What is being sent ends as it may.
                let is_sent = queued.is_flying || is_granted && is_front;
                is_front = false;
                !queued.is_void || is_sent
            });
        }
        self.claim(now, index);
    }

    /// The way from one station to another begins anew: numbers, what came out of order, rates.
    ///
    /// The return direction continues: frames queued there keep their numbers.
    fn sever(&mut self, from: StationId, to: StationId) {
        let sender: &mut Station<L> = &mut self.stations[from.0 as usize];
        sender.adaptations.retain(|(id, _)| *id != to);
        sender.peers.iter_mut().filter(|peer| peer.id == to).for_each(Peer::begin_anew);
        let receiver: &mut Station<L> = &mut self.stations[to.0 as usize];
        receiver.received.retain(|(id, _)| *id != from);
        let peers = receiver.peers.iter_mut().filter(|peer| peer.id == from);
        // It came, and waited only for what will not come any more.
        for peer in peers {
            for load in peer.reorder.take_waiting() {
                let arrived = MediumOutput::Arrived { at: to, from, load, is_copy: false };
                self.outputs.push_back(arrived);
            }
            peer.reorder = Reorder::new();
        }
    }
}
