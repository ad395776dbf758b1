//! Where stations are: still, on a straight line, or along way-points.
//!
//! Every motion is a list of way-points with straight legs between them, so that a position is a function
//! of time alone. The random way-point model is Johnson and Maltz, "Dynamic source routing in ad hoc
//! wireless networks", 1996.
//!
//! Differences: a traveller begins at a way-point, at rest. So the first legs are slower than in the long run (Yoon,
//! Liu and Noble, 2003); a run that must avoid that starts its measurement later.
pub mod plan;
pub mod trace;

use super::propagation::Position;
use plan::MOST_POINTS;
use recoup_core::random::Rng;
use recoup_core::time::{Duration, Instant};

/// Where a station is at each time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Way-points by time; never empty.
    points: Vec<Point>,
}

/// Where a station is at an instant, and how it moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) position: Position,
    /// In m/s.
    pub(super) velocity: (f64, f64),
    /// Metres travelled.
    pub(super) metres: f64,
}

impl State {
    /// Speed relative to another, in m/s.
    pub(super) fn speed_to(&self, other: &Self) -> f64 {
        let (x, y) = (self.velocity.0 - other.velocity.0, self.velocity.1 - other.velocity.1);
        libm::sqrt(x * x + y * y)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    at: u64,
    position: Position,
    /// Metres travelled until there.
    metres: f64,
}

/// The area in which a traveller chooses way-points, and how it travels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// A corner.
    pub from: Position,
    /// The opposite corner.
    pub to: Position,
    /// Slowest leg, in m/s; at least 0.01.
    pub slowest: f64,
    /// Fastest leg, in m/s.
    pub fastest: f64,
    /// Rest at each way-point.
    pub pause: Duration,
}

impl Motion {
    /// Always there.
    pub fn still(position: Position) -> Self {
        Self { points: vec![Point { at: 0, position, metres: 0.0 }] }
    }

    /// At `from` until the beginning, then in a straight line with that velocity (m/s) until `until`.
    pub fn linear(from: Position, velocity: (f64, f64), until: Instant) -> Self {
        let seconds = until.as_secs_f64();
        let to = Position { x: from.x + velocity.0 * seconds, y: from.y + velocity.1 * seconds };
        Self::along([(Instant::ZERO, from), (until, to)])
    }

    /// Through these places at these times, which must not go backwards; those that do are left out. Before
    /// the first and after the last it stands still. Without any place it stands at the origin.
    pub fn along(points: impl IntoIterator<Item = (Instant, Position)>) -> Self {
        let mut motion = Self { points: Vec::new() };
        for (at, position) in points {
            motion.extend(at.as_nanos(), position);
        }
        if motion.points.is_empty() { Self::still(Position::default()) } else { motion }
    }

    /// Between two places until `until`, with a rest at each, beginning when `part` of the first way is behind it; no more than
    /// [`MOST_POINTS`] way-points.
    pub fn shuttle(
        (here, there): (Position, Position),
        part: f64,
        speed: f64,
        pause: Duration,
        until: Instant,
    ) -> Self {
        let pause = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let way = |part: f64| ((part * here.distance(there) / speed.max(0.01) * 1e9) as u64).max(1);
        let (x, y) = (there.x - here.x, there.y - here.y);
        let mut motion = Self::still(Position { x: here.x + part * x, y: here.y + part * y });
        let (mut at, mut nanos) = (0_u64, way(1.0 - part));
        for to in [there, here].into_iter().cycle() {
            if at >= until.as_nanos() || motion.points.len() >= MOST_POINTS {
                break;
            }
            at = at.saturating_add(nanos);
            nanos = way(1.0);
            motion.extend(at, to);
            if pause > 0 {
                at = at.saturating_add(pause);
                motion.extend(at, to);
            }
        }
        motion
    }

    /// From a random place on through random places until `until`; no more than [`MOST_POINTS`] way-points.
    pub fn random_waypoint(plan: &RandomWaypoint, rng: &mut Rng, until: Instant) -> Self {
        let place = |rng: &mut Rng| Position {
            x: plan.from.x + rng.unit_f64() * (plan.to.x - plan.from.x),
            y: plan.from.y + rng.unit_f64() * (plan.to.y - plan.from.y),
        };
        let pause = u64::try_from(plan.pause.as_nanos()).unwrap_or(u64::MAX);
        let mut here = place(rng);
        let mut motion = Self::still(here);
        let mut at = 0_u64;
        while at < until.as_nanos() && motion.points.len() < MOST_POINTS {
            at = at.saturating_add(pause);
            motion.extend(at, here);
            let there = place(rng);
            let speed = plan.slowest + rng.unit_f64() * (plan.fastest - plan.slowest);
            let nanos = here.distance(there) / speed.max(0.01) * 1e9;
            at = at.saturating_add((nanos as u64).max(1));
            motion.extend(at, there);
            here = there;
        }
        motion
    }

    /// Where it is at `now`.
    pub fn position(&self, now: Instant) -> Position {
        self.at(now.as_nanos())
    }

    /// Its way-points, in the order of time, with straight legs between them.
    pub fn way_points(&self) -> impl Iterator<Item = (Instant, Position)> {
        self.points.iter().map(|point| (Instant::from_nanos(point.at), point.position))
    }

    /// Whether it ever moves.
    pub fn is_still(&self) -> bool {
        self.points.len() < 2
    }

    /// Its greatest speed, in m/s.
    pub fn top_speed(&self) -> f64 {
        self.points.windows(2).map(|leg| speed(&leg[0], &leg[1])).fold(0.0, f64::max)
    }

    pub(super) fn at(&self, now: u64) -> Position {
        let (here, there) = self.leg(now);
        let part = part(&here, &there, now);
        Position {
            x: here.position.x + part * (there.position.x - here.position.x),
            y: here.position.y + part * (there.position.y - here.position.y),
        }
    }

    /// Position and velocity at `now`; the caller keeps `leg`, which makes the next call fast.
    pub(super) fn state(&self, now: u64, leg: &mut u32) -> State {
        let (here, there) = self.leg_near(now, leg);
        let part = part(&here, &there, now);
        let (from, to) = (here.position, there.position);
        let (x, y) = (to.x - from.x, to.y - from.y);
        let velocity = if there.at <= now || there.at == here.at {
            (0.0, 0.0)
        } else {
            let seconds = (there.at - here.at) as f64 / 1e9;
            (x / seconds, y / seconds)
        };
        State {
            position: Position { x: from.x + part * x, y: from.y + part * y },
            velocity,
            metres: here.metres + part * (there.metres - here.metres),
        }
    }

    /// The way-points before and after `now`, looked for from the leg that was right last.
    fn leg_near(&self, now: u64, leg: &mut u32) -> (Point, Point) {
        let place = *leg as usize;
        let is_right = self.points.get(place).is_some_and(|point| point.at <= now)
            && self.points.get(place + 1).is_none_or(|point| now < point.at);
        if !is_right {
            let after = self.points.partition_point(|point| point.at <= now);
            *leg = after.saturating_sub(1) as u32;
        }
        let (place, last) = (*leg as usize, self.points.len() - 1);
        let there = if self.points[place].at <= now { place + 1 } else { place };
        (self.points[place], self.points[there.min(last)])
    }

    /// The way-points before and after `now`.
    fn leg(&self, now: u64) -> (Point, Point) {
        let mut nowhere = u32::MAX;
        self.leg_near(now, &mut nowhere)
    }

    fn extend(&mut self, at: u64, position: Position) {
        let metres = match self.points.last() {
            None => 0.0,
            Some(last) if last.at > at => return,
            Some(last) => last.metres + last.position.distance(position),
        };
        self.points.push(Point { at, position, metres });
    }
}

fn part(here: &Point, there: &Point, now: u64) -> f64 {
    if there.at <= here.at || now <= here.at {
        return 0.0;
    }
    ((now - here.at) as f64 / (there.at - here.at) as f64).min(1.0)
}

fn speed(here: &Point, there: &Point) -> f64 {
    let seconds = there.at.saturating_sub(here.at) as f64 / 1e9;
    if seconds > 0.0 { here.position.distance(there.position) / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(x: f64, y: f64) -> Position {
        Position { x, y }
    }

    #[test]
    fn a_straight_line_is_followed_and_ends() {
        let motion = Motion::linear(place(10.0, 0.0), (3.0, 4.0), Instant::from_millis(10_000));
        assert_eq!(motion.position(Instant::from_millis(2_000)), place(16.0, 8.0));
        assert_eq!(motion.position(Instant::from_millis(99_000)), place(40.0, 40.0));
        let state = |now| motion.state(now, &mut 0);
        assert_eq!((motion.top_speed(), state(2_000_000_000).metres), (5.0, 10.0));
        assert_eq!(state(1).velocity, (3.0, 4.0));
        assert_eq!(state(20_000_000_000).velocity, (0.0, 0.0));
    }

    #[test]
    fn places_out_of_order_are_left_out() {
        let at = Instant::from_millis;
        let motion = Motion::along([(at(5), place(1.0, 0.0)), (at(4), place(9.0, 9.0))]);
        assert_eq!(motion.position(at(4)), place(1.0, 0.0));
        assert_eq!(Motion::along([]).position(at(1)), place(0.0, 0.0));
    }

    #[test]
    fn random_traveller_stays_inside_within_its_speeds() {
        let plan = RandomWaypoint {
            from: place(0.0, 0.0),
            to: place(100.0, 50.0),
            slowest: 1.0,
            fastest: 2.0,
            pause: Duration::from_secs(1),
        };
        let until = Instant::from_millis(600_000);
        let motion = Motion::random_waypoint(&plan, &mut Rng::from_seed(1), until);
        assert!((1.0..2.001).contains(&motion.top_speed()), "{}", motion.top_speed());
        for second in 0..600 {
            let Position { x, y } = motion.position(Instant::from_millis(second * 1_000));
            assert!((0.0..=100.0).contains(&x) && (0.0..=50.0).contains(&y), "{x} {y}");
        }
        let again = Motion::random_waypoint(&plan, &mut Rng::from_seed(1), until);
        assert_eq!(motion, again);
    }
}
