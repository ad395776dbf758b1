//! Who hears whom, how strong and when: neighbours by grid, so that a frame costs what hears it.
//!
//! Stations are binned in cells as large as a signal reaches at most. While nobody moves and nothing fades,
//! powers and delays of a station's neighbours are computed once. What moves is binned anew every second,
//! with room for what it can travel until then; powers are then computed frame by frame.
use super::error::from_db;
use super::fading::Fading;
use super::motion::Motion;
use super::plan::MediumPlan;
use super::propagation::{PathLoss, Position, delay_nanos};
use recoup_transport::random::Rng;
use std::collections::BTreeMap;

const REBIN_NANOS: u64 = 1_000_000_000;
/// Cells are never smaller, in metres, or a grid of a plan without reach would have no end.
const LEAST_CELL: f64 = 1.0;

/// A station that hears another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) station: u32,
    /// In milliwatts.
    pub(super) power: f64,
    pub(super) delay_nanos: u64,
}

#[derive(Debug)]
pub(super) struct Links {
    path_loss: PathLoss,
    power_dbm: f64,
    sensitivity: f64,
    motions: Vec<Motion>,
    fading: Fading,
    cell: f64,
    cells: BTreeMap<(i64, i64), Vec<u32>>,
    /// By station, while they hold: who may hear it.
    near: Vec<Option<Vec<Neighbour>>>,
    is_still: bool,
    bin_again_at: u64,
}

impl Links {
    pub(super) fn new(plan: &MediumPlan, motions: Vec<Motion>, rng: Rng) -> Self {
        let fading = Fading::new(plan.fading, rng);
        let is_still = motions.iter().all(Motion::is_still) && !fading.is_restless();
        let top_speed = motions.iter().map(Motion::top_speed).fold(0.0, f64::max);
        let loss = plan.power_dbm - plan.hearing.sensitivity_dbm + fading.headroom_db();
        let reach = plan.path_loss.reach(loss) + 2.0 * top_speed * REBIN_NANOS as f64 / 1e9;
        let mut links = Self {
            path_loss: plan.path_loss,
            power_dbm: plan.power_dbm,
            sensitivity: from_db(plan.hearing.sensitivity_dbm),
            near: vec![None; motions.len()],
            motions,
            fading,
            cell: reach.max(LEAST_CELL),
            cells: BTreeMap::new(),
            is_still,
            bin_again_at: 0,
        };
        links.bin(0);
        links
    }

    /// Fills `list` with those who hear a frame of `width_mhz` that `from` sends at `now`.
    pub(super) fn hear(&mut self, from: u32, now: u64, width_mhz: u32, list: &mut Vec<Neighbour>) {
        list.clear();
        if now >= self.bin_again_at && !self.is_still {
            self.bin(now);
        }
        if self.near[from as usize].is_none() {
            self.near[from as usize] = Some(self.look_around(from, now));
        }
        let least = self.sensitivity * f64::from(width_mhz / 20);
        let near = self.near[from as usize].as_deref().unwrap_or_default();
        if self.is_still {
            list.extend(near.iter().filter(|neighbour| neighbour.power >= least));
        } else {
            let here = self.motions[from as usize].at(now);
            let powers = near.iter().map(|other| self.link(from, here, other.station, now));
            list.extend(powers.filter(|neighbour| neighbour.power >= least));
        }
    }

    /// Where a station is.
    pub(super) fn position(&self, station: u32, now: u64) -> Position {
        self.motions[station as usize].at(now)
    }

    fn look_around(&self, from: u32, now: u64) -> Vec<Neighbour> {
        let here = self.motions[from as usize].at(now);
        let (x, y) = self.cell_of(here);
        let cells = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
        let stations = cells.filter_map(|cell| self.cells.get(&cell)).flatten();
        let mut near: Vec<Neighbour> = stations
            .filter(|station| **station != from)
            .map(|station| self.link(from, here, *station, now))
            .collect();
        near.sort_by_key(|neighbour| neighbour.station);
        near
    }

    fn link(&self, from: u32, here: Position, station: u32, now: u64) -> Neighbour {
        let distance = here.distance(self.motions[station as usize].at(now));
        let mut dbm = self.power_dbm - self.path_loss.loss_db(distance);
        if !self.fading.is_none() {
            let (one, other) = (&self.motions[from as usize], &self.motions[station as usize]);
            let ((ax, ay), (bx, by)) = (one.velocity(now), other.velocity(now));
            let speed = libm::sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by));
            let metres = one.metres(now) + other.metres(now);
            dbm += self.fading.gain_db((from, station), now, speed, metres);
        }
        Neighbour { station, power: from_db(dbm), delay_nanos: delay_nanos(distance) }
    }

    fn bin(&mut self, now: u64) {
        self.cells.clear();
        for station in 0..self.motions.len() {
            let cell = self.cell_of(self.motions[station].at(now));
            self.cells.entry(cell).or_default().push(station as u32);
        }
        self.near.fill(None);
        self.bin_again_at = now.saturating_add(REBIN_NANOS);
    }

    fn cell_of(&self, position: Position) -> (i64, i64) {
        let place = |metres: f64| libm::floor(metres / self.cell) as i64;
        (place(position.x), place(position.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::plan::RateControl;
    use crate::wifi::rate::Rate;
    use recoup_transport::time::Instant;

    fn plan() -> MediumPlan {
        MediumPlan::n(RateControl::Constant(Rate::Ofdm(0)))
    }

    fn heard(links: &mut Links, from: u32, now: u64) -> Vec<u32> {
        let mut list = Vec::new();
        links.hear(from, now, 20, &mut list);
        list.iter().map(|neighbour| neighbour.station).collect()
    }

    #[test]
    fn the_grid_finds_whom_a_search_through_all_finds() {
        let mut rng = Rng::from_seed(5);
        let places: Vec<Position> = (0..200)
            .map(|_| Position { x: rng.unit_f64() * 2e3 - 1e3, y: rng.unit_f64() * 2e3 - 1e3 })
            .collect();
        let motions = places.iter().map(|place| Motion::still(*place)).collect();
        let mut links = Links::new(&plan(), motions, Rng::from_seed(1));
        let reach = plan().path_loss.reach(16.0 + 101.0);
        for from in 0..200 {
            let all: Vec<u32> = (0..200)
                .filter(|to| *to != from)
                .filter(|to| places[from as usize].distance(places[*to as usize]) <= reach)
                .collect();
            assert_eq!(heard(&mut links, from, 0), all, "{from}");
        }
    }

    #[test]
    fn what_moves_comes_into_hearing_when_it_is_near() {
        let far = Position { x: 1_000.0, y: 0.0 };
        let until = Instant::from_millis(1_000_000);
        let motions =
            vec![Motion::still(Position::default()), Motion::linear(far, (-10.0, 0.0), until)];
        let mut links = Links::new(&plan(), motions, Rng::from_seed(1));
        let first =
            (0..100_000_u64).find(|millis| !heard(&mut links, 0, millis * 1_000_000).is_empty());
        let reach = plan().path_loss.reach(117.0);
        let expected = (1_000.0 - reach) * 100.0;
        assert!((first.unwrap() as f64 - expected).abs() < 2.0, "{first:?} {expected}");
    }
}
