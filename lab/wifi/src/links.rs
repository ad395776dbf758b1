//! Stations in range, with power and delay: neighbours by grid, so that a frame costs only its receivers.
//!
//! Stations are binned in cells as large as a signal reaches at most. Moving stations are binned anew every second,
//! with a margin for their travel until then. In between nothing is computed: the position of a station, and the loss
//! of a signal to it, are computed when a frame is sent. For two fixed stations without fading that happens once.
use super::error::from_db;
use super::fading::{Fading, Known};
use super::motion::{Motion, State};
use super::plan::MediumPlan;
use super::propagation::{Gain, Position, delay_nanos};
use recoup_core::random::Rng;
use std::collections::BTreeMap;

const REBIN_NANOS: u64 = 1_000_000_000;
/// Cells are never smaller, in metres, or a grid of a plan without reach would have no end.
const LEAST_CELL: f64 = 1.0;

/// A station in range of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) station: u32,
    /// In milliwatts.
    pub(super) power: f64,
    pub(super) delay_nanos: u64,
}

/// A station that may be in range of another.
#[derive(Clone, Copy, Debug)]
struct Near {
    station: u32,
    /// Without motion: its reception, if nothing fades.
    unfaded: Option<Neighbour>,
    /// Without motion and fading: its reception.
    fixed: Option<Neighbour>,
    /// Fading and shadowing of the pair.
    known: Known,
}

impl Near {
    fn new(station: u32) -> Self {
        Self { station, unfaded: None, fixed: None, known: Known::default() }
    }
}

/// The stations around another.
#[derive(Clone, Debug)]
enum Around {
    /// Those that may be in range.
    Changing(Vec<Near>),
    /// Without motion and fading: those in range of frames of 20 and of 40 MHz.
    Fixed([Vec<Neighbour>; 2]),
}

#[derive(Debug)]
pub(super) struct Links {
    gain: Gain,
    /// In milliwatts.
    power: f64,
    sensitivity: f64,
    motions: Vec<Motion>,
    /// By station: the leg that it was on last.
    legs: Vec<u32>,
    fading: Fading,
    cell: f64,
    cells: BTreeMap<(i64, i64), Vec<u32>>,
    /// By station, while they hold: the stations that may be in range.
    near: Vec<Option<Around>>,
    /// Whether no station moves.
    is_still: bool,
    bin_again_at: u64,
}

impl Links {
    pub(super) fn new(plan: &MediumPlan, motions: Vec<Motion>, rng: Rng) -> Self {
        let fading = Fading::new(plan.fading, &rng);
        let top_speed = motions.iter().map(Motion::top_speed).fold(0.0, f64::max);
        let loss = plan.power_dbm - plan.receiver.sensitivity_dbm + fading.headroom_db();
        let reach = plan.path_loss.reach(loss) + 2.0 * top_speed * REBIN_NANOS as f64 / 1e9;
        let mut links = Self {
            gain: Gain::new(plan.path_loss),
            power: from_db(plan.power_dbm),
            sensitivity: from_db(plan.receiver.sensitivity_dbm),
            near: vec![None; motions.len()],
            legs: vec![0; motions.len()],
            is_still: motions.iter().all(Motion::is_still),
            motions,
            fading,
            cell: reach.max(LEAST_CELL),
            cells: BTreeMap::new(),
            bin_again_at: 0,
        };
        links.bin(0);
        links
    }

    /// Fills `list` with the stations in range of a frame of `width_mhz` that `from` sends at `now`.
    pub(super) fn reach(&mut self, from: u32, now: u64, width_mhz: u32, list: &mut Vec<Neighbour>) {
        list.clear();
        if now >= self.bin_again_at && !self.is_still {
            self.bin(now);
        }
        let mut around = match self.near[from as usize].take() {
            Some(around) => around,
            None => self.look_around(from, now),
        };
        match &mut around {
            Around::Fixed(lists) => list.clone_from(&lists[usize::from(width_mhz > 20)]),
            Around::Changing(near) => {
                let least = self.least(width_mhz);
                let here = self.state(from, now);
                let reached = near.iter_mut().map(|other| match other.fixed {
                    Some(fixed) => fixed,
                    None => self.link(from, &here, other, now),
                });
                list.extend(reached.filter(|neighbour| neighbour.power >= least));
            }
        }
        self.near[from as usize] = Some(around);
    }

    /// The weakest power that is noticed in a frame of `width_mhz`, in milliwatts.
    fn least(&self, width_mhz: u32) -> f64 {
        self.sensitivity * f64::from(width_mhz / 20)
    }

    /// Whether each MPDU of an aggregate fades by itself.
    pub(super) fn fade_per_mpdu(&self) -> bool {
        self.fading.is_per_mpdu()
    }

    /// Power at `to` of a frame that `from` sends at `at`, in milliwatts.
    pub(super) fn power_at(&mut self, from: u32, to: u32, at: u64) -> f64 {
        let here = self.state(from, at);
        self.link(from, &here, &mut Near::new(to), at).power
    }

    fn state(&mut self, station: u32, now: u64) -> State {
        self.motions[station as usize].state(now, &mut self.legs[station as usize])
    }

    fn look_around(&mut self, from: u32, now: u64) -> Around {
        let here = self.state(from, now);
        let (x, y) = self.cell_of(here.position);
        let cells = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
        let stations = cells.filter_map(|cell| self.cells.get(&cell)).flatten();
        let others = stations.copied().filter(|station| *station != from);
        let mut near: Vec<Near> = others.map(Near::new).collect();
        near.sort_by_key(|other| other.station);
        if self.motions[from as usize].is_still() {
            for other in &mut near {
                if !self.motions[other.station as usize].is_still() {
                    continue;
                }
                let there = self.state(other.station, now);
                other.unfaded = Some(self.unfaded(&here, &there, other.station));
                if !self.fading.is_restless() {
                    other.fixed = Some(self.link(from, &here, other, now));
                }
            }
        }
        let all: Option<Vec<Neighbour>> = near.iter().map(|other| other.fixed).collect();
        let Some(all) = all else { return Around::Changing(near) };
        let in_range = |width_mhz| {
            let least = self.least(width_mhz);
            all.iter().copied().filter(|neighbour| neighbour.power >= least).collect()
        };
        Around::Fixed([20, 40].map(in_range))
    }

    fn link(&mut self, from: u32, here: &State, other: &mut Near, now: u64) -> Neighbour {
        let station = other.station;
        // Two stations without motion have neither speed nor travelled metres.
        let (mut neighbour, speed, metres) = match other.unfaded {
            Some(neighbour) => (neighbour, 0.0, 0.0),
            None => {
                let there = self.state(station, now);
                let neighbour = self.unfaded(here, &there, station);
                (neighbour, here.speed_to(&there), here.metres + there.metres)
            }
        };
        if !self.fading.is_none() {
            let pair = (from, station);
            neighbour.power *= self.fading.gain(&mut other.known, pair, now, speed, metres);
        }
        neighbour
    }

    /// Reception at `station` of a frame that is sent `here`, if nothing fades.
    fn unfaded(&self, here: &State, there: &State, station: u32) -> Neighbour {
        let distance = here.position.distance(there.position);
        let power = self.power * self.gain.at(distance);
        Neighbour { station, power, delay_nanos: delay_nanos(distance) }
    }

    fn bin(&mut self, now: u64) {
        self.cells.clear();
        for station in 0..self.motions.len() as u32 {
            let cell = self.cell_of(self.motions[station as usize].at(now));
            self.cells.entry(cell).or_default().push(station);
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
    use crate::error::to_db;
    use crate::fading::Hold;
    use crate::plan::RateControl;
    use crate::rate::Rate;
    use recoup_core::time::Instant;

    fn plan() -> MediumPlan {
        MediumPlan::n(RateControl::Constant(Rate::Ofdm(0)))
    }

    fn reached(links: &mut Links, from: u32, now: u64) -> Vec<u32> {
        let mut list = Vec::new();
        links.reach(from, now, 20, &mut list);
        list.iter().map(|neighbour| neighbour.station).collect()
    }

    #[test]
    fn grid_finds_the_stations_of_a_full_search() {
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
            assert_eq!(reached(&mut links, from, 0), all, "{from}");
        }
    }

    #[test]
    fn kept_neighbours_are_those_computed() {
        let places =
            (0..60).map(|n| Position { x: f64::from(n % 8) * 31.0, y: f64::from(n / 8) * 47.0 });
        let motions: Vec<Motion> = places.map(Motion::still).collect();
        let mut links = Links::new(&plan(), motions, Rng::from_seed(1));
        let mut list = Vec::new();
        for (from, width_mhz) in (0..60).flat_map(|from| [(from, 20), (from, 40), (from, 20)]) {
            links.reach(from, 0, width_mhz, &mut list);
            let here = links.state(from, 0);
            let others = (0..60)
                .filter(|to| *to != from)
                .map(|station| links.link(from, &here, &mut Near::new(station), 0));
            let others: Vec<Neighbour> = others.collect();
            let least = links.least(width_mhz);
            let expected = others.into_iter().filter(|neighbour| neighbour.power >= least);
            assert_eq!(list, expected.collect::<Vec<_>>(), "{from}");
            assert!(matches!(links.near[from as usize], Some(Around::Fixed(_))));
        }
    }

    #[test]
    fn fades_change_where_the_loss_is_kept() {
        let mut plan = plan();
        (plan.fading.nakagami_m, plan.fading.hold) = (Some(1.0), Hold::Mpdu);
        let places = (0..20).map(|n| Position { x: f64::from(n) * 9.0, y: 0.0 });
        let motions: Vec<Motion> = places.map(Motion::still).collect();
        let mut links = Links::new(&plan, motions, Rng::from_seed(1));
        let mut list = Vec::new();
        let mut powers = Vec::new();
        for now in [0, 1_000, 2_000] {
            links.reach(3, now, 20, &mut list);
            let here = links.state(3, now);
            let computed: Vec<Neighbour> = list
                .iter()
                .map(|it| links.link(3, &here, &mut Near::new(it.station), now))
                .collect();
            assert_eq!(list, computed, "at {now}");
            powers.push(list.iter().find(|it| it.station == 4).unwrap().power);
        }
        assert!(powers[0] != powers[1] && powers[1] != powers[2], "{powers:?}");
    }

    #[test]
    fn moving_station_comes_into_range() {
        let far = Position { x: 1_000.0, y: 0.0 };
        let until = Instant::from_millis(1_000_000);
        let motions =
            vec![Motion::still(Position::default()), Motion::linear(far, (-10.0, 0.0), until)];
        let mut links = Links::new(&plan(), motions, Rng::from_seed(1));
        let first =
            (0..100_000_u64).find(|millis| !reached(&mut links, 0, millis * 1_000_000).is_empty());
        let reach = plan().path_loss.reach(117.0);
        let expected = (1_000.0 - reach) * 100.0;
        assert!((first.unwrap() as f64 - expected).abs() < 2.0, "{first:?} {expected}");
    }

    #[test]
    fn grid_follows_moving_stations() {
        let area = crate::motion::RandomWaypoint {
            from: Position { x: -800.0, y: -800.0 },
            to: Position { x: 800.0, y: 800.0 },
            slowest: 1.0,
            fastest: 40.0,
            pause: recoup_core::time::Duration::from_millis(300),
        };
        let mut rng = Rng::from_seed(9);
        let until = Instant::from_millis(20_000);
        let motions: Vec<Motion> =
            (0..60).map(|_| Motion::random_waypoint(&area, &mut rng, until)).collect();
        let mut links = Links::new(&plan(), motions.clone(), Rng::from_seed(1));
        let reach = plan().path_loss.reach(117.0);
        for (turn, now) in (0..20_000_000_000).step_by(37_000_000).enumerate() {
            let from = (turn % 60) as u32;
            let here = motions[from as usize].at(now);
            let near =
                |to: &u32| *to != from && here.distance(motions[*to as usize].at(now)) <= reach;
            let all: Vec<u32> = (0..60).filter(near).collect();
            assert_eq!(reached(&mut links, from, now), all, "{from} at {now}");
        }
    }

    #[test]
    fn moving_station_receives_power_by_distance() {
        let until = Instant::from_millis(10_000);
        let motion = Motion::linear(Position { x: 10.0, y: 0.0 }, (13.9, 0.0), until);
        let motions = vec![Motion::still(Position::default()), motion];
        let mut links = Links::new(&plan(), motions, Rng::from_seed(1));
        let mut list = Vec::new();
        for millis in [0, 1, 500, 999, 1_001, 2_500] {
            links.reach(0, millis * 1_000_000, 20, &mut list);
            let metres = 10.0 + 13.9 * millis as f64 / 1e3;
            let dbm = 16.0 + to_db(plan().path_loss.gain(metres));
            let reached = to_db(list[0].power);
            assert!((reached - dbm).abs() < 1e-6, "at {millis} ms: {reached} {dbm}");
        }
    }
}
