//! Access points and clients: beacons, and the exchange by which a client comes to an access point.
//!
//! Differences: a client asks without having to be known on the wired side, both ends forget what they
//! numbered at one instant, and a client acknowledges what a former access point still sends to it.
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
    /// Every client begins at the access point that it hears best, and every access point to send beacons.
    pub(super) fn gather(&mut self) {
        let mut best: Vec<Option<(f64, u32)>> = vec![None; self.stations.len()];
        let mut heard = std::mem::take(&mut self.heard);
        for point in 0..self.stations.len() as u32 {
            if self.stations[point as usize].role != Role::AccessPoint {
                continue;
            }
            self.links.hear(point, 0, 20, &mut heard);
            for neighbour in heard.iter().filter(|one| one.power >= self.ear.preamble) {
                let best = &mut best[neighbour.station as usize];
                if best.is_none_or(|(power, _)| neighbour.power > power) {
                    *best = Some((neighbour.power, point));
                }
            }
            self.arm(0, point as usize);
        }
        self.heard = heard;
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
    pub(super) fn queue_beacon(&mut self, now: u64, who: usize) {
        let station = &mut self.stations[who];
        station.beacon_at += self.plan.infrastructure.beacon_nanos;
        let line = station.line_of(&self.plan, Category::Beacon);
        if station.is_down || !self.stations[who].lines[line].queue.is_empty() {
            return;
        }
        self.stations[who].counters.beacons += 1;
        let beacon = Content::Management(Management::Beacon);
        self.enqueue(now, who, Address::All, Category::Beacon, beacon);
    }

    /// An access point that works again goes on where it would be.
    pub(super) fn resume_beacons(&mut self, now: u64, who: usize) {
        let (station, interval) = (&mut self.stations[who], self.plan.infrastructure.beacon_nanos);
        if station.role == Role::AccessPoint && station.beacon_at < now {
            station.beacon_at += (now - station.beacon_at).div_ceil(interval.max(1)) * interval;
        }
    }

    pub(super) fn note_beacon(&mut self, now: u64, who: usize, from: StationId, power: f64) {
        let station = &mut self.stations[who];
        if let Some(association) = &mut station.association {
            association.on_beacon(now, from, to_db(power));
            station.counters.beacons += 1;
        }
    }

    // --- coming and going -----------------------------------------------------------------------

    /// Does what a client wants to do.
    pub(super) fn decide(&mut self, now: u64, who: usize) {
        let client = StationId(who as u32);
        loop {
            let station = &mut self.stations[who];
            let step = station.association.as_mut().filter(|_| !station.is_down);
            let Some(step) = step.and_then(|association| association.step(now)) else {
                return;
            };
            match step {
                Step::Leave(point) => {
                    self.outputs.push_back(MediumOutput::Left { client, point });
                    self.forget_here(now, who, point);
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
                    self.manage(now, who, point, request);
                }
            }
        }
    }

    /// A client that failed belongs to nobody.
    pub(super) fn part(&mut self, who: usize) {
        let station = &mut self.stations[who];
        station.is_away = false;
        let Some(association) = &mut station.association else {
            return;
        };
        let (client, left) = (StationId(who as u32), association.point());
        association.reset();
        if let Some(point) = left {
            self.outputs.push_back(MediumOutput::Left { client, point });
        }
    }

    fn manage(&mut self, now: u64, who: usize, to: StationId, management: Management) {
        let (to, load) = (Address::Station(to), Content::Management(management));
        self.enqueue(now, who, to, Category::Voice, load);
    }

    /// Management for a station came.
    pub(super) fn on_management(
        &mut self,
        now: u64,
        who: usize,
        from: StationId,
        management: Management,
    ) {
        let is_asked = self.stations[who]
            .association
            .as_ref()
            .is_some_and(|association| association.asked() == Some(from));
        match management {
            Management::Beacon => {}
            Management::AuthenticationRequest => {
                self.manage(now, who, from, Management::AuthenticationResponse);
            }
            Management::AuthenticationResponse if is_asked => {
                let before = self.stations[who].association.as_ref().and_then(Association::before);
                self.manage(now, who, from, Management::AssociationRequest { before });
            }
            Management::AssociationRequest { .. } => {
                self.manage(now, who, from, Management::AssociationResponse);
            }
            Management::AssociationResponse if is_asked => self.join(now, who, from),
            Management::AuthenticationResponse | Management::AssociationResponse => {}
        }
    }

    /// A client comes to an access point; what they numbered before is void.
    fn join(&mut self, now: u64, who: usize, point: StationId) {
        let client = StationId(who as u32);
        let Some(association) = &mut self.stations[who].association else {
            return;
        };
        let before = association.before();
        association.joined(now, point);
        self.stations[who].counters.associations += 1;
        self.stations[point.0 as usize].counters.associations += 1;
        self.forget(now, point, client);
        self.forget_here(now, who, point);
        self.sever(client, point);
        self.outputs.push_back(MediumOutput::Joined { client, point, before });
    }

    /// A management frame was not acknowledged: who asked looks around again.
    pub(super) fn on_unanswered(&mut self, from: StationId, management: Management) {
        let asks = matches!(
            management,
            Management::AuthenticationRequest | Management::AssociationRequest { .. }
        );
        if let (true, Some(association)) = (asks, &mut self.stations[from.0 as usize].association) {
            association.refused();
        }
    }

    // --- what is void ---------------------------------------------------------------------------

    /// Gives up what waits in one station for another, and what was numbered on that way.
    pub(super) fn forget(&mut self, now: u64, from: StationId, to: StationId) {
        let who = from.0 as usize;
        if who >= self.stations.len() || to.0 as usize >= self.stations.len() {
            return;
        }
        self.settle(now, who);
        self.forget_here(now, who, to);
        self.sever(from, to);
        self.arm(now, who);
    }

    fn forget_here(&mut self, now: u64, who: usize, to: StationId) {
        let from = StationId(who as u32);
        for line in 0..self.stations[who].lines.len() {
            let is_granted = self.stations[who].access.contenders[line].claim == Claim::Granted;
            let mut place = 0;
            while let Some(queued) = self.stations[who].lines[line].queue.get_mut(place) {
                place += 1;
                if queued.to != Address::Station(to) || queued.is_management() {
                    continue;
                }
                let has_arrived = std::mem::replace(&mut queued.has_arrived, true);
                queued.is_void = true;
                let loads: Vec<L> = queued.loads().filter(|_| !has_arrived).cloned().collect();
                self.stations[who].counters.departed += loads.len() as u64;
                for load in loads {
                    self.lose(from, Address::Station(to), Content::Above(load), Discard::Departed);
                }
            }
            let mut is_front = true;
            self.stations[who].lines[line].queue.retain(|queued| {
                // What is being sent ends as it may.
                let is_sent = queued.is_flying || is_granted && is_front;
                is_front = false;
                !queued.is_void || is_sent
            });
        }
        self.claim(now, who);
    }

    /// The way from one station to another begins anew: numbers, what came out of order, rates.
    ///
    /// The way back goes on: what still waits there keeps its numbers.
    fn sever(&mut self, from: StationId, to: StationId) {
        let sender: &mut Station<L> = &mut self.stations[from.0 as usize];
        sender.minstrels.retain(|(id, _)| *id != to);
        sender.peers.iter_mut().filter(|peer| peer.id == to).for_each(Peer::begin_anew);
        let receiver: &mut Station<L> = &mut self.stations[to.0 as usize];
        receiver.received.retain(|(id, _)| *id != from);
        let peers = receiver.peers.iter_mut().filter(|peer| peer.id == from);
        // It came, and waited only for what will not come any more.
        for load in peers
            .flat_map(|peer| std::mem::replace(&mut peer.reorder, Reorder::new()).into_waiting())
        {
            self.outputs.push_back(MediumOutput::Arrived { at: to, from, load, is_copy: false });
        }
    }
}
