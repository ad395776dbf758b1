//! Floating car data of SUMO (`--fcd-output`): `<timestep time="1.00"><vehicle id="a" x="1.0" y="2.0"/>…`.
//!
//! With `--fcd-output.geo` places are degrees. They are projected to metres east and north of the south-west corner of
//! all places of the file (equirectangular projection at that corner's latitude).
use super::{MOST, TraceError, metres, seconds};
use crate::motion::Motion;
use crate::propagation::Position;
use recoup_core::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The unit of places in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// As the file has it: the options that SUMO writes into it decide, or else the speeds beside the places.
    Found,
    /// Metres.
    Metres,
    /// Degrees of longitude and latitude.
    Degrees,
}

/// A vehicle or a person at one step.
struct Sighting {
    at: u64,
    id: String,
    place: Position,
    speed: Option<f64>,
    line: usize,
}

/// Reads floating car data: motions by the names of vehicles and persons, each still before it appears and after it has
/// left.
///
/// # Errors
/// If the text is no XML or has too many elements, or an attribute is missing or no number. Likewise if time goes back, an
/// id is a duplicate at one time, or the unit of places is not known.
pub fn sumo(text: &str, unit: Unit) -> Result<BTreeMap<String, Motion>, TraceError> {
    let options = roxmltree::ParsingOptions {
        nodes_limit: MOST as u32,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        TraceError { line: error.pos().row as usize, problem: error.to_string() }
    })?;
    let mut sightings = sightings(&document)?;
    let unit = match unit {
        Unit::Found => found(&document, &sightings)?,
        given => given,
    };
    if unit == Unit::Degrees {
        project(&mut sightings)?;
    }
    let mut points: BTreeMap<String, Vec<(Instant, Position)>> = BTreeMap::new();
    for Sighting { at, id, place, .. } in sightings {
        points.entry(id).or_default().push((Instant::from_nanos(at), place));
    }
    Ok(points.into_iter().map(|(id, points)| (id, Motion::along(points))).collect())
}

fn sightings(document: &roxmltree::Document<'_>) -> Result<Vec<Sighting>, TraceError> {
    let line =
        |node: &roxmltree::Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let wrong = |node: &roxmltree::Node<'_, '_>, problem: &str| TraceError {
        line: line(node),
        problem: problem.to_owned(),
    };
    let root = document.root_element();
    if !root.has_tag_name("fcd-export") {
        return Err(wrong(
            &root,
            "this is no floating car data: the first element is no `fcd-export`",
        ));
    }
    let mut sightings = Vec::new();
    let (mut before, mut present) = (0, BTreeSet::new());
    for step in root.children().filter(roxmltree::Node::is_element) {
        if !step.has_tag_name("timestep") {
            return Err(wrong(&step, "this element is no `timestep`"));
        }
        let at = step.attribute("time").and_then(seconds);
        let at = at.ok_or_else(|| wrong(&step, "`time` is missing or no number"))?;
        if at < before {
            return Err(wrong(&step, "time goes back"));
        }
        if at > before {
            present.clear();
        }
        before = at;
        for moving in step.children().filter(roxmltree::Node::is_element) {
            if !["vehicle", "person", "container"].iter().any(|tag| moving.has_tag_name(*tag)) {
                return Err(wrong(
                    &moving,
                    "this element is no `vehicle`, `person` or `container`",
                ));
            }
            let number = |name: &str| moving.attribute(name).and_then(metres);
            let (x, y) = number("x")
                .zip(number("y"))
                .ok_or_else(|| wrong(&moving, "`x` or `y` is missing or no number"))?;
            let id = moving.attribute("id").ok_or_else(|| wrong(&moving, "`id` is missing"))?;
            if !present.insert(id) {
                return Err(wrong(&moving, &format!("`{id}` has a place at this time already")));
            }
            let (place, speed) = (Position { x, y }, number("speed"));
            sightings.push(Sighting { at, id: id.to_owned(), place, speed, line: line(&moving) });
        }
    }
    Ok(sightings)
}

/// Share of the way by the speeds that a way in degrees is at most: a degree has some 111 km.
const DEGREES_SHARE: f64 = 0.001;

/// The unit of a file, by SUMO's options in its first comment, or by the ways between steps beside the speeds.
fn found(document: &roxmltree::Document<'_>, sightings: &[Sighting]) -> Result<Unit, TraceError> {
    let comments = document.root().children().filter(roxmltree::Node::is_comment);
    for text in comments.filter_map(|comment| comment.text()) {
        if let Some((_, after)) = text.split_once("fcd-output.geo value=\"") {
            return Ok(if after.starts_with("true") { Unit::Degrees } else { Unit::Metres });
        }
    }
    let is_plain = |it: &Sighting| it.place.x.abs() > 180.0 || it.place.y.abs() > 90.0;
    if sightings.iter().any(is_plain) {
        return Ok(Unit::Metres);
    }
    let mut last: BTreeMap<&str, &Sighting> = BTreeMap::new();
    let (mut way, mut by_speed) = (0.0, 0.0);
    for here in sightings {
        if let Some(before) = last.insert(&here.id, here) {
            way += before.place.distance(here.place);
            by_speed += here.speed.unwrap_or(0.0) * (here.at - before.at) as f64 / 1e9;
        }
    }
    let has_speeds = sightings.iter().any(|it| it.speed.is_some());
    match (has_speeds, sightings.first()) {
        (true, _) if by_speed > 1.0 && way < by_speed * DEGREES_SHARE => Ok(Unit::Degrees),
        // Without speeds, a way of some metres in a whole file may as well be one of degrees.
        (false, Some(first)) if way < 1.0 => Err(TraceError {
            line: first.line,
            problem:
                "places may be metres or degrees; write unit=metres or unit=degrees beside the file"
                    .into(),
        }),
        _ => Ok(Unit::Metres),
    }
}

/// Metres in a degree of a great circle of the earth (mean radius 6,371,008.8 m).
const DEGREE_METRES: f64 = 111_195.08;

fn project(sightings: &mut [Sighting]) -> Result<(), TraceError> {
    let wrong = |it: &&Sighting| !(it.place.x.abs() <= 180.0 && it.place.y.abs() <= 90.0);
    if let Some(it) = sightings.iter().find(wrong) {
        let problem = "this is no place in degrees of longitude and latitude".into();
        return Err(TraceError { line: it.line, problem });
    }
    let least = |of: fn(&Sighting) -> f64| sightings.iter().map(of).fold(f64::INFINITY, f64::min);
    let (west, south) = (least(|it| it.place.x), least(|it| it.place.y));
    let shrink = libm::cos(south.to_radians());
    for Sighting { place, .. } in sightings {
        let (east, north) = (place.x - west, place.y - south);
        *place = Position { x: east * DEGREE_METRES * shrink, y: north * DEGREE_METRES };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(motion: &Motion, millis: u64) -> (f64, f64) {
        let Position { x, y } = motion.position(Instant::from_millis(millis));
        ((x * 1e3).round() / 1e3, (y * 1e3).round() / 1e3)
    }

    #[test]
    fn vehicles_of_sumo_follow_their_steps() {
        let text = r#"<fcd-export><timestep time="0.00"><vehicle id="a" x="0" y="5"/></timestep>
            <timestep time="2.00"><vehicle id="a" x="10" y="5"/><vehicle id="b" x="1" y="1"/></timestep>
            </fcd-export>"#;
        let motions = sumo(text, Unit::Found).unwrap();
        assert_eq!(place(&motions["a"], 500), (2.5, 5.0));
        assert_eq!(place(&motions["b"], 0), (1.0, 1.0));
    }

    const DEGREES: &str = r#"<fcd-export>
        <timestep time="0.00"><vehicle id="a" x="13.4000" y="60.0" speed="10"/></timestep>
        <timestep time="1.00"><vehicle id="a" x="13.4002" y="60.0" speed="11.1"/></timestep>
        </fcd-export>"#;

    #[test]
    fn degrees_become_metres() {
        let by_speed = sumo(DEGREES, Unit::Found).unwrap();
        assert_eq!(place(&by_speed["a"], 1_000), (11.12, 0.0));
        let silent = DEGREES.replace(" speed=\"10\"", "").replace(" speed=\"11.1\"", "");
        let error = sumo(&silent, Unit::Found).unwrap_err();
        assert!(error.to_string().contains("unit=degrees"), "{error}");
        let given = sumo(&silent, Unit::Degrees).unwrap();
        assert_eq!(place(&given["a"], 1_000), (11.12, 0.0));
        let options = "<!-- <fcd-output.geo value=\"true\"/> -->";
        let stated = sumo(&format!("{options}{silent}"), Unit::Found).unwrap();
        assert_eq!(place(&stated["a"], 1_000), (11.12, 0.0));
        assert_eq!(place(&sumo(&silent, Unit::Metres).unwrap()["a"], 0), (13.4, 60.0));
    }

    #[test]
    fn wrong_elements_have_a_line() {
        let wrong = |text: &str, unit| sumo(text, unit).unwrap_err().to_string();
        assert!(wrong("<fcd-export><timestep/></fcd-export>", Unit::Found).contains("`time`"));
        assert!(wrong("no xml", Unit::Found).starts_with("1: "));
        assert!(wrong("<routes/>", Unit::Found).contains("no floating car data"));
        let back = "<fcd-export>\n<timestep time=\"2\"/>\n<timestep time=\"1\"/>\n</fcd-export>";
        assert_eq!(wrong(back, Unit::Found), "3: time goes back");
        let ship = "<fcd-export>\n<timestep time=\"2\">\n<ship/></timestep></fcd-export>";
        assert!(wrong(ship, Unit::Found).starts_with("3: "));
        let twice = "<fcd-export>\n<timestep time=\"0\">\n<vehicle id=\"a\" x=\"0\" y=\"0\"/>\n\
            <person id=\"a\" x=\"9\" y=\"0\"/></timestep></fcd-export>";
        assert_eq!(wrong(twice, Unit::Found), "4: `a` has a place at this time already");
        let far = DEGREES.replace("13.4002", "213.4");
        assert!(wrong(&far, Unit::Degrees).starts_with("3: "));
    }
}
