//! Recorded motion: ns-2 movement files, and floating car data of SUMO.
//!
//! ns-2 ("The ns Manual", 2011, §16): `$node_(3) set X_ 10.0` gives a place, and
//! `$ns_ at 2.5 "$node_(3) setdest 50.0 20.0 1.5"` sends a node from where it is at that time to a place at a
//! speed in m/s. SUMO's `--fcd-output`: `<timestep time="1.00"><vehicle id="a" x="1.0" y="2.0"/>…`.
//!
//! Differences: heights are ignored; a `set` with a time moves the node at once.
use super::Motion;
use crate::propagation::Position;
use recoup_core::time::Instant;
use std::collections::BTreeMap;

/// Error of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// Where, from 1; 0 where that is not known.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

/// Most lines or elements of a file.
const MOST: usize = 10_000_000;
/// Times beyond a year are no times of a run, in seconds.
const MOST_SECONDS: f64 = 31_536_000.0;

/// Reads an ns-2 movement file: motions by the numbers of nodes. Commands count in the order of their times.
///
/// # Errors
/// If a line that moves a node cannot be read (other lines are passed over), or there are too many.
pub fn ns2(text: &str) -> Result<BTreeMap<u32, Motion>, TraceError> {
    let mut commands: BTreeMap<u32, Vec<(u64, Command)>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |problem: &str| TraceError { line: number + 1, problem: problem.into() };
        if number >= MOST {
            return Err(wrong("the file has too many lines"));
        }
        if let Some((node, at, command)) = ns2_line(line).map_err(wrong)? {
            commands.entry(node).or_default().push((at, command));
        }
    }
    Ok(commands.into_iter().map(|(node, commands)| (node, travel(commands))).collect())
}

/// Effect of a line: time, node and command; `None` if it moves nothing.
fn ns2_line(line: &str) -> Result<Option<(u32, u64, Command)>, &'static str> {
    let words: Vec<&str> = line.split([' ', '\t', '"']).filter(|word| !word.is_empty()).collect();
    let (at, words) = match words[..] {
        ["$ns_", "at", time, ref rest @ ..] => (seconds(time).ok_or("that is no time"), rest),
        ref words => (Ok(0), words),
    };
    let [node, verb, rest @ ..] = words else {
        return Ok(None);
    };
    let Some(node) = node.strip_prefix("$node_(").and_then(|node| node.strip_suffix(')')) else {
        return Ok(None);
    };
    let (at, node) = (at?, node.parse().map_err(|_| "that is no number of a node")?);
    let values: Vec<f64> = rest.iter().filter_map(|word| metres(word)).collect();
    let command = match (*verb, rest, &values[..]) {
        ("set", ["X_", _], [x]) => Command::SetX(*x),
        ("set", ["Y_", _], [y]) => Command::SetY(*y),
        ("set", ["Z_", _], _) => return Ok(None),
        ("setdest", [_, _, _], [x, y, speed]) if *speed >= 0.0 => {
            Command::Go(Position { x: *x, y: *y }, *speed)
        }
        _ => return Err("write `set X_ 1.0` or `setdest 1.0 2.0 1.5`"),
    };
    Ok(Some((node, at, command)))
}

/// Reads floating car data of SUMO: motions by the names of vehicles and persons, each still before it
/// appears and after it has left.
///
/// # Errors
/// If it is no XML or has too many elements, an attribute is missing or no number, or time goes back.
pub fn sumo(text: &str) -> Result<BTreeMap<String, Motion>, TraceError> {
    let options = roxmltree::ParsingOptions {
        nodes_limit: MOST as u32,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        TraceError { line: error.pos().row as usize, problem: error.to_string() }
    })?;
    let wrong = |node: &roxmltree::Node<'_, '_>, problem: String| TraceError {
        line: document.text_pos_at(node.range().start).row as usize,
        problem,
    };
    let missing = |node: &roxmltree::Node<'_, '_>, what: &str| {
        wrong(node, format!("{what} is missing or no number"))
    };
    let mut points: BTreeMap<String, Vec<(Instant, Position)>> = BTreeMap::new();
    let mut before = 0;
    for step in document.descendants().filter(|node| node.has_tag_name("timestep")) {
        let at = step.attribute("time").and_then(seconds).ok_or_else(|| missing(&step, "time"))?;
        if at < before {
            return Err(wrong(&step, "time goes back".into()));
        }
        before = at;
        let moves = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name("vehicle") || node.has_tag_name("person")
        };
        for vehicle in step.children().filter(moves) {
            let number = |name| vehicle.attribute(name).and_then(metres);
            let id = vehicle.attribute("id").ok_or_else(|| missing(&vehicle, "id"))?;
            let x = number("x").ok_or_else(|| missing(&vehicle, "x"))?;
            let y = number("y").ok_or_else(|| missing(&vehicle, "y"))?;
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

/// Command of a line of ns-2.
#[derive(Clone, Copy, Debug)]
enum Command {
    SetX(f64),
    SetY(f64),
    /// To a place at a speed.
    Go(Position, f64),
}

fn travel(mut commands: Vec<(u64, Command)>) -> Motion {
    commands.sort_by_key(|(at, _)| *at);
    let mut points: Vec<(u64, Position)> = Vec::new();
    for (at, command) in commands {
        let mut here = stop(&mut points, at);
        match command {
            Command::SetX(x) => here.x = x,
            Command::SetY(y) => here.y = y,
            Command::Go(..) => {}
        }
        match points.last_mut() {
            Some(last) if last.0 == at => last.1 = here,
            _ => points.push((at, here)),
        }
        if let Command::Go(to, speed) = command
            && speed > 0.0
        {
            let nanos = (here.distance(to) / speed * 1e9).min(1e18) as u64;
            points.push((at.saturating_add(nanos), to));
        }
    }
    Motion::along(points.into_iter().map(|(at, place)| (Instant::from_nanos(at), place)))
}

/// Where a way leads until `at`; what it does later is given up.
fn stop(points: &mut Vec<(u64, Position)>, at: u64) -> Position {
    let Some((end, there)) = points.last().copied() else {
        return Position::default();
    };
    if end <= at {
        // It rests until then.
        points.push((at, there));
        return there;
    }
    points.pop();
    let (begin, here) = points.last().copied().unwrap_or((0, there));
    let part = (at - begin) as f64 / (end - begin) as f64;
    let place =
        Position { x: here.x + part * (there.x - here.x), y: here.y + part * (there.y - here.y) };
    points.push((at, place));
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(motion: &Motion, millis: u64) -> (f64, f64) {
        let Position { x, y } = motion.position(Instant::from_millis(millis));
        ((x * 1e6).round() / 1e6, (y * 1e6).round() / 1e6)
    }

    #[test]
    fn ns2_nodes_start_from_their_current_position() {
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
    fn useless_line_is_an_error_with_its_number() {
        let error = ns2("$node_(0) set X_ 1\n$node_(0) setdest 1 2\n").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(ns2("$ns_ at never \"$node_(0) setdest 1 2 3\"").is_err());
        assert!(ns2("$ns_ at 1 \"$node_(0) setdest 1 2 -3\"").is_err());
        assert!(ns2("$ns_ at 1 \"$node_(0) setdest 1 nan 3\"").is_err());
        assert!(ns2("$god_ set-dist 1 2 3\n").unwrap().is_empty());
    }

    #[test]
    fn commands_are_sorted_by_time() {
        let text = "$ns_ at 4.0 \"$node_(0) setdest 0 0 1\"\n$node_(0) set X_ 4\n\
            $ns_ at 1.0 \"$node_(0) setdest 10 0 2\"\n";
        let motions = ns2(text).unwrap();
        let xs = [500, 1_000, 2_000, 4_000, 5_000, 20_000].map(|at| place(&motions[&0], at).0);
        assert_eq!(xs, [4.0, 4.0, 6.0, 10.0, 9.0, 0.0]);
    }

    #[test]
    fn vehicles_of_sumo_follow_their_steps() {
        let text = r#"<fcd-export><timestep time="0.00"><vehicle id="a" x="0" y="5"/></timestep>
            <timestep time="2.00"><vehicle id="a" x="10" y="5"/><vehicle id="b" x="1" y="1"/></timestep>
            </fcd-export>"#;
        let motions = sumo(text).unwrap();
        assert_eq!(place(&motions["a"], 500), (2.5, 5.0));
        assert_eq!(place(&motions["b"], 0), (1.0, 1.0));
        assert!(sumo("<fcd-export><timestep/></fcd-export>").is_err());
        assert!(sumo("no xml").is_err());
        let back = "<f>\n<timestep time=\"2\"/>\n<timestep time=\"1\"/>\n</f>";
        assert_eq!(sumo(back).unwrap_err().to_string(), "line 3: time goes back");
    }
}
