//! Motions as they are written: `linear(speed=50km/h,heading=90)`.
//!
//! | motion | meaning |
//! |---|---|
//! | `still` | stays at its place |
//! | `linear(speed=,heading=0)` | from its place in a straight line; headings are degrees, 0 is east, 90 north |
//! | `shuttle(east=,north=,speed=,pause=0s,begin=here)` | from its place to the one so many metres east and north of it, and back, again and again; with `begin=anywhere` from a random point of that way, in either direction |
//! | `random-waypoint(west=,south=,east=,north=,speed=,slowest=,pause=0s)` | within an area ([`RandomWaypoint`]); speeds lie between `slowest` (the same as `speed` unless given) and `speed` |
//! | `ns2(file=,node=)` | as a movement file of ns-2 has it ([`super::trace::ns2`]) |
//! | `sumo(file=,vehicle=,unit=)` | as floating car data of SUMO have it ([`super::trace::sumo`]), in `metres` or `degrees` |
//! | `bonnmotion(file=,node=,dimensions=2)` | as a file of BonnMotion has it ([`super::trace::bonnmotion`]); nodes count from 0 |
use super::trace::Unit;
use super::{Motion, RandomWaypoint};
use crate::propagation::Position;
use recoup_core::random::Rng;
use recoup_core::spec::{self, Reader, Spec, SpecError};
use recoup_core::time::{Duration, Instant};

/// Motion of a station.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionPlan {
    /// Not at all.
    Still,
    /// In a straight line, with that velocity in m/s.
    Linear((f64, f64)),
    /// To and fro.
    Shuttle {
        /// The other end, in metres east and north of the place where it begins.
        offset: (f64, f64),
        /// In m/s.
        speed: f64,
        /// Rest at each end.
        pause: Duration,
        /// Whether it begins anywhere on its path, in either direction.
        anywhere: bool,
    },
    /// From one random place to the next.
    RandomWaypoint(RandomWaypoint),
    /// Motion from a file.
    Recorded(Recording),
}

/// A node's motion in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recording {
    /// A node of an ns-2 movement file.
    Ns2 {
        /// The file.
        file: String,
        /// Number of the node.
        node: u32,
    },
    /// A vehicle of SUMO's floating car data.
    Sumo {
        /// The file.
        file: String,
        /// Name of the vehicle.
        vehicle: String,
        /// Unit of places.
        unit: Unit,
    },
    /// A node of a file of BonnMotion.
    BonnMotion {
        /// The file.
        file: String,
        /// Number of the node: its line, from 0.
        node: u32,
        /// 2 or 3.
        dimensions: usize,
    },
}

/// Why a plan has no motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MotionError {
    /// Too many way-points.
    #[error(
        "turns more than {MOST_POINTS} times before the end; make the run shorter, the way longer or the speed lower"
    )]
    Restless,
    /// A trace file.
    #[error("is in a file")]
    Recorded,
}

/// Most way-points of one station.
pub const MOST_POINTS: usize = 1 << 20;
/// Highest speed, in m/s.
const MOST_SPEED: f64 = 1_000.0;
/// Longest distance, in metres.
const MOST_METRES: f64 = 1e7;

const FAMILY: &[(&str, Reader<MotionPlan>)] = &[
    ("still", |spec| spec.finish().map(|()| MotionPlan::Still)),
    ("linear", linear),
    ("shuttle", shuttle),
    ("random-waypoint", random_waypoint),
    ("ns2", ns2),
    ("sumo", sumo),
    ("bonnmotion", bonnmotion),
];

impl MotionPlan {
    /// Reads a motion as it is written.
    ///
    /// # Errors
    /// If the text cannot be read; the error names the offending part and the remedy.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "motion", FAMILY)
    }

    /// Whether it begins at a place that has to be given.
    pub fn needs_place(&self) -> bool {
        matches!(self, Self::Still | Self::Linear(_) | Self::Shuttle { .. })
    }

    /// The file that it is in.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Recorded(
                Recording::Ns2 { file, .. }
                | Recording::Sumo { file, .. }
                | Recording::BonnMotion { file, .. },
            ) => Some(file),
            _ => None,
        }
    }

    /// The motion until `until` of a station that begins at `place`, unless it begins elsewhere.
    ///
    /// # Errors
    /// If it has too many way-points, or is in a file.
    pub fn motion(
        &self,
        place: Position,
        until: Instant,
        rng: &mut Rng,
    ) -> Result<Motion, MotionError> {
        let motion = match self {
            Self::Still => Motion::still(place),
            Self::Linear(velocity) => Motion::linear(place, *velocity, until),
            Self::Shuttle { offset, speed, pause, anywhere } => {
                let there = Position { x: place.x + offset.0, y: place.y + offset.1 };
                let (ends, part) = match anywhere {
                    false => ((place, there), 0.0),
                    true if rng.unit_f64() < 0.5 => ((place, there), rng.unit_f64()),
                    true => ((there, place), rng.unit_f64()),
                };
                Motion::shuttle(ends, part, *speed, *pause, until)
            }
            Self::RandomWaypoint(plan) => Motion::random_waypoint(plan, rng, until),
            Self::Recorded(_) => return Err(MotionError::Recorded),
        };
        if motion.points.len() >= MOST_POINTS { Err(MotionError::Restless) } else { Ok(motion) }
    }
}

fn linear(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let speed = speed(&mut spec, "speed", None)?;
    let heading = spec.number("heading", 0.0, -360.0..=360.0, "degrees from -360 to 360")?;
    spec.finish()?;
    Ok(MotionPlan::Linear((speed * cos_degrees(heading), speed * cos_degrees(heading - 90.0))))
}

fn shuttle(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let offset = (metres(&mut spec, "east", Some(0.0))?, metres(&mut spec, "north", Some(0.0))?);
    let speed = speed(&mut spec, "speed", None)?;
    let pause = spec.duration("pause", Duration::ZERO, Duration::ZERO)?;
    if offset == (0.0, 0.0) {
        return Err(spec.bad("east", "0", "another place: so many metres, here or at `north`"));
    }
    let anywhere = spec.take("begin", false, "here or anywhere", |text| match text {
        "here" => Some(false),
        "anywhere" => Some(true),
        _ => None,
    })?;
    spec.finish()?;
    Ok(MotionPlan::Shuttle { offset, speed, pause, anywhere })
}

fn random_waypoint(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let mut side = |key| metres(&mut spec, key, None);
    let (west, south, east, north) = (side("west")?, side("south")?, side("east")?, side("north")?);
    let fastest = speed(&mut spec, "speed", None)?;
    let slowest = speed(&mut spec, "slowest", Some(fastest))?;
    let pause = spec.duration("pause", Duration::ZERO, Duration::ZERO)?;
    if west > east || south > north {
        return Err(spec.bad("east", east, "more than `west`, and `north` more than `south`"));
    }
    if slowest > fastest {
        return Err(spec.bad("slowest", slowest, "a speed up to `speed`"));
    }
    spec.finish()?;
    let (from, to) = (Position { x: west, y: south }, Position { x: east, y: north });
    Ok(MotionPlan::RandomWaypoint(RandomWaypoint { from, to, slowest, fastest, pause }))
}

fn ns2(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let (file, node) = (text(&mut spec, "file")?, node(&mut spec)?);
    spec.finish()?;
    Ok(MotionPlan::Recorded(Recording::Ns2 { file, node }))
}

fn bonnmotion(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let (file, node) = (text(&mut spec, "file")?, node(&mut spec)?);
    let dimensions = spec.take("dimensions", 2, "2 or 3", |text| match text {
        "2" => Some(2),
        "3" => Some(3),
        _ => None,
    })?;
    spec.finish()?;
    Ok(MotionPlan::Recorded(Recording::BonnMotion { file, node, dimensions }))
}

fn sumo(mut spec: Spec<'_>) -> Result<MotionPlan, SpecError> {
    let (file, vehicle) = (text(&mut spec, "file")?, text(&mut spec, "vehicle")?);
    let unit = spec.take("unit", Unit::Found, "metres or degrees", |text| match text {
        "metres" => Some(Unit::Metres),
        "degrees" => Some(Unit::Degrees),
        _ => None,
    })?;
    spec.finish()?;
    Ok(MotionPlan::Recorded(Recording::Sumo { file, vehicle, unit }))
}

fn node(spec: &mut Spec<'_>) -> Result<u32, SpecError> {
    let missing = "the number of a node in the file";
    let node = spec.take("node", None, missing, |text| text.parse().ok().map(Some))?;
    node.ok_or_else(|| spec.bad("node", "", missing))
}

/// A speed: `13.9`, `13.9m/s` or `50km/h`; it must be given unless there is a default.
pub(crate) fn speed(
    spec: &mut Spec<'_>,
    key: &'static str,
    default: Option<f64>,
) -> Result<f64, SpecError> {
    let expected = "a speed such as 13.9m/s or 50km/h";
    let given = spec.take(key, default, expected, |text| {
        let (number, factor) = match (text.strip_suffix("km/h"), text.strip_suffix("m/s")) {
            (Some(number), _) => (number, 1.0 / 3.6),
            (None, Some(number)) => (number, 1.0),
            (None, None) => (text, 1.0),
        };
        let speed = number.trim().parse::<f64>().ok()? * factor;
        let least = if default == Some(0.0) { 0.0 } else { 0.01 };
        (least..=MOST_SPEED).contains(&speed).then_some(Some(speed))
    })?;
    given.ok_or_else(|| spec.bad(key, "", expected))
}

fn metres(spec: &mut Spec<'_>, key: &'static str, default: Option<f64>) -> Result<f64, SpecError> {
    let expected = "metres such as 80m";
    let given = spec.take(key, default, expected, |text| {
        let number: f64 = text.strip_suffix('m').unwrap_or(text).trim().parse().ok()?;
        (number.abs() <= MOST_METRES).then_some(Some(number))
    })?;
    given.ok_or_else(|| spec.bad(key, "", expected))
}

fn text(spec: &mut Spec<'_>, key: &'static str) -> Result<String, SpecError> {
    let given = spec.take(key, String::new(), "a name", |text| Some(text.to_owned()))?;
    if given.is_empty() { Err(spec.bad(key, "", "a name")) } else { Ok(given) }
}

/// Exact where a straight road is meant.
fn cos_degrees(degrees: f64) -> f64 {
    match libm::fmod(libm::fabs(degrees), 360.0) {
        0.0 => 1.0,
        180.0 => -1.0,
        90.0 | 270.0 => 0.0,
        other => libm::cos(other.to_radians()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, millis: u64) -> (f64, f64) {
        let until = Instant::from_millis(100_000);
        let place = Position { x: 10.0, y: 5.0 };
        let motion = MotionPlan::parse(text).unwrap().motion(place, until, &mut Rng::from_seed(1));
        let Position { x, y } = motion.unwrap().position(Instant::from_millis(millis));
        ((x * 1e6).round() / 1e6, (y * 1e6).round() / 1e6)
    }

    #[test]
    fn headings_are_degrees_from_east() {
        assert_eq!(at("linear(speed=36km/h)", 2_000), (30.0, 5.0));
        assert_eq!(at("linear(speed=2m/s,heading=90)", 2_000), (10.0, 9.0));
        assert_eq!(at("linear(speed=2,heading=-180)", 2_000), (6.0, 5.0));
        assert_eq!(at("still", 2_000), (10.0, 5.0));
    }

    #[test]
    fn shuttle_may_begin_anywhere_on_its_path() {
        let plan = MotionPlan::parse("shuttle(east=8m,speed=2m/s,begin=anywhere)").unwrap();
        assert!(plan.needs_place());
        let until = Instant::from_millis(20_000);
        let (mut quarters, mut eastward) = ([0; 4], 0);
        for seed in 0..400 {
            let place = Position { x: 10.0, y: 5.0 };
            let motion = plan.motion(place, until, &mut Rng::from_seed(seed)).unwrap();
            let x = |millis| motion.position(Instant::from_millis(millis)).x;
            quarters[((x(0) - 10.0) / 2.0) as usize] += 1;
            eastward += u32::from(x(1) > x(0));
            assert!((motion.top_speed() - 2.0).abs() < 1e-6);
            assert!((x(8_000) - x(0)).abs() < 1e-6, "there and back takes eight seconds");
        }
        assert!(quarters.iter().all(|count| (70..130).contains(count)), "{quarters:?}");
        assert!((160..240).contains(&eastward), "{eastward}");
        assert!(MotionPlan::parse("shuttle(east=8m,speed=2m/s,begin=there)").is_err());
    }

    #[test]
    fn shuttle_returns_and_rests_at_its_ends() {
        let shuttle = "shuttle(east=8m,north=6,speed=10m/s,pause=500ms)";
        let places = [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500].map(|at_| at(shuttle, at_));
        let (here, half, there) = ((10.0, 5.0), (14.0, 8.0), (18.0, 11.0));
        assert_eq!(places, [half, there, there, half, here, here, half]);
    }

    #[test]
    fn wrong_motion_is_named() {
        let wrong = |text: &str| MotionPlan::parse(text).unwrap_err().to_string();
        assert!(wrong("linear(heading=3)").contains("speed"), "{}", wrong("linear(heading=3)"));
        assert!(wrong("linear(speed=-3)").contains("speed"));
        assert!(wrong("linear(speed=9e9)").contains("50km/h"));
        assert!(wrong("shuttle(speed=1)").contains("east"));
        assert!(wrong("random-waypoint(west=0,south=0,east=-1,north=0,speed=1)").contains("west"));
        assert!(wrong("ns2(file=a)").contains("node") && wrong("sumo(vehicle=a)").contains("file"));
        assert!(wrong("teleport").contains("random-waypoint"));
        let mad = "shuttle(east=0.001,speed=1000)";
        let until = Instant::from_millis(100_000);
        let plan = MotionPlan::parse(mad).unwrap();
        let motion = plan.motion(Position::default(), until, &mut Rng::from_seed(1));
        assert_eq!(motion, Err(MotionError::Restless));
    }
}
