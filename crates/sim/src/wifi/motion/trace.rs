//! Recorded motion: ns-2 movement files, and floating car data of SUMO.
//!
//! ns-2 ("The ns Manual", 2011, §16): `$node_(3) set X_ 10.0` gives a place, and
//! `$ns_ at 2.5 "$node_(3) setdest 50.0 20.0 1.5"` sends a node from where it is at that time to a place at a
//! speed in m/s. SUMO's `--fcd-output`: `<timestep time="1.00"><vehicle id="a" x="1.0" y="2.0"/>…`.
//!
//! Differences: heights are ignored; a `set` with a time moves the node at once.
use super::Motion;
use crate::wifi::propagation::Position;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// Where, from 1; 0 where that is not known.
    pub line: usize,
    /// What.
    pub problem: String,
}

/// Most lines, way-points or vehicles that are read.
const MOST: usize = 10_000_000;
/// Times beyond a year are no times of a run, in seconds.
const MOST_SECONDS: f64 = 31_536_000.0;

/// Reads an ns-2 movement file: motions by the numbers of nodes.
///
/// # Errors
/// If a line that moves a node cannot be read; other lines are passed over.
pub fn ns2(text: &str) -> Result<BTreeMap<u32, Motion>, TraceError> {
    let mut travels: BTreeMap<u32, Travel> = BTreeMap::new();
    for (number, line) in text.lines().enumerate().take(MOST) {
        let wrong = |problem: &str| TraceError { line: number + 1, problem: problem.into() };
        let words: Vec<&str> =
            line.split([' ', '\t', '"']).filter(|word| !word.is_empty()).collect();
        let (at, words) = match words[..] {
            ["$ns_", "at", time, ref rest @ ..] => {
                (seconds(time).ok_or_else(|| wrong("that is no time"))?, rest)
            }
            ref words => (0, words),
        };
        let [node, verb, rest @ ..] = words else {
            continue;
        };
        let Some(node) = node.strip_prefix("$node_(").and_then(|node| node.strip_suffix(')'))
        else {
            continue;
        };
        let node = node.parse().map_err(|_| wrong("that is no number of a node"))?;
        let values: Vec<f64> = rest.iter().filter_map(|word| metres(word)).collect();
        let travel = travels.entry(node).or_default();
        match (*verb, rest, &values[..]) {
            ("set", ["X_", _], [x]) => travel.jump(at, |place| place.x = *x),
            ("set", ["Y_", _], [y]) => travel.jump(at, |place| place.y = *y),
            ("set", ["Z_", _], _) => {}
            ("setdest", _, [x, y, speed]) => travel.go(at, Position { x: *x, y: *y }, *speed),
            _ => return Err(wrong("write `set X_ 1.0` or `setdest 1.0 2.0 1.5`")),
        }
    }
    Ok(travels.into_iter().map(|(node, travel)| (node, travel.motion())).collect())
}

/// Reads floating car data of SUMO: motions by the names of vehicles, each still before it appears and after
/// it has left.
///
/// # Errors
/// If it is no XML, or an attribute is missing or no number.
pub fn sumo(text: &str) -> Result<BTreeMap<String, Motion>, TraceError> {
    let document = roxmltree::Document::parse(text).map_err(|error| TraceError {
        line: error.pos().row as usize,
        problem: error.to_string(),
    })?;
    let line =
        |node: &roxmltree::Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let mut points: BTreeMap<String, Vec<(Instant, Position)>> = BTreeMap::new();
    let steps = document.descendants().filter(|node| node.has_tag_name("timestep"));
    for step in steps.take(MOST) {
        let wrong = |node: &roxmltree::Node<'_, '_>, what: &str| TraceError {
            line: line(node),
            problem: format!("{what} is missing or no number"),
        };
        let at = step.attribute("time").and_then(seconds).ok_or_else(|| wrong(&step, "time"))?;
        for vehicle in step.children().filter(|node| node.has_tag_name("vehicle")) {
            let number = |name| vehicle.attribute(name).and_then(metres);
            let id = vehicle.attribute("id").ok_or_else(|| wrong(&vehicle, "id"))?;
            let x = number("x").ok_or_else(|| wrong(&vehicle, "x"))?;
            let y = number("y").ok_or_else(|| wrong(&vehicle, "y"))?;
            let point = (Instant::from_nanos(at), Position { x, y });
            points.entry(id.to_owned()).or_default().push(point);
        }
    }
    Ok(points.into_iter().map(|(id, points)| (id, Motion::along(points))).collect())
}

/// A time in seconds, in ns.
fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=MOST_SECONDS).contains(&seconds).then_some((seconds * 1e9) as u64)
}

fn metres(text: &str) -> Option<f64> {
    text.parse().ok().filter(|metres: &f64| metres.abs() <= 1e9)
}

/// A node on its way.
#[derive(Debug, Default)]
struct Travel {
    points: Vec<(u64, Position)>,
}

impl Travel {
    fn jump(&mut self, at: u64, change: impl FnOnce(&mut Position)) {
        let mut place = self.stop(at);
        change(&mut place);
        match self.points.last_mut() {
            Some(last) if last.0 == at => last.1 = place,
            _ => self.points.push((at, place)),
        }
    }

    fn go(&mut self, at: u64, to: Position, speed: f64) {
        let from = self.stop(at);
        self.points.push((at, from));
        if speed > 0.0 {
            let nanos = (from.distance(to) / speed * 1e9).min(1e18) as u64;
            self.points.push((at.saturating_add(nanos), to));
        }
    }

    /// Where it is at `at`, and where its way ends from then on.
    fn stop(&mut self, at: u64) -> Position {
        let points = self.points.iter().map(|(at, place)| (Instant::from_nanos(*at), *place));
        let place = Motion::along(points).at(at);
        if self.points.last().is_some_and(|(end, _)| *end > at) {
            self.points.retain(|(end, _)| *end <= at);
            self.points.push((at, place));
        }
        place
    }

    fn motion(self) -> Motion {
        Motion::along(self.points.into_iter().map(|(at, place)| (Instant::from_nanos(at), place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(motion: &Motion, millis: u64) -> (f64, f64) {
        let Position { x, y } = motion.position(Instant::from_millis(millis));
        ((x * 1e6).round() / 1e6, (y * 1e6).round() / 1e6)
    }

    #[test]
    fn nodes_of_ns_2_go_where_they_are_sent_from_where_they_are() {
        let text = "# two nodes\n$node_(0) set X_ 10.0\n$node_(0) set Y_ 20.0\n$node_(0) set Z_ 0.0\n\
            $ns_ at 1.0 \"$node_(0) setdest 20.0 20.0 2.0\"\n\
            $ns_ at 3.0 \"$node_(0) setdest 14.0 30.0 1.0\"\n$node_(7) set X_ 5\n";
        let motions = ns2(text).unwrap();
        let first = &motions[&0];
        assert_eq!(place(first, 0), (10.0, 20.0));
        assert_eq!(place(first, 2_000), (12.0, 20.0));
        assert_eq!(place(first, 3_000), (14.0, 20.0), "sent elsewhere on its way");
        assert_eq!(place(first, 8_000), (14.0, 25.0));
        assert_eq!(place(&motions[&7], 9_000), (5.0, 0.0));
    }

    #[test]
    fn a_line_that_moves_nothing_anywhere_is_an_error_with_its_number() {
        let error = ns2("$node_(0) set X_ 1\n$node_(0) setdest 1 2\n").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(ns2("$ns_ at never \"$node_(0) setdest 1 2 3\"").is_err());
        assert!(ns2("$god_ set-dist 1 2 3\n").unwrap().is_empty());
    }

    #[test]
    fn vehicles_of_sumo_are_where_each_step_has_them() {
        let text = r#"<fcd-export><timestep time="0.00"><vehicle id="a" x="0" y="5"/></timestep>
            <timestep time="2.00"><vehicle id="a" x="10" y="5"/><vehicle id="b" x="1" y="1"/></timestep>
            </fcd-export>"#;
        let motions = sumo(text).unwrap();
        assert_eq!(place(&motions["a"], 500), (2.5, 5.0));
        assert_eq!(place(&motions["b"], 0), (1.0, 1.0));
        assert!(sumo("<fcd-export><timestep/></fcd-export>").is_err());
        assert!(sumo("no xml").is_err());
    }
}
