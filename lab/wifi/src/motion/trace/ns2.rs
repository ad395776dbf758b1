//! Movement files of ns-2 ("The ns Manual", 2011, §16), as `setdest`, BonnMotion and SUMO write them and tutorials show
//! them.
//!
//! `$node_(3) set X_ 10.0` gives a place, and `$ns_ at 2.5 "$node_(3) setdest 50.0 20.0 1.5"` sends a node from where it
//! is at that time to a place at a speed in m/s. The variables may have any name: `$ns`, `$n(3)`, `$n3`.
//!
//! Commands without a time come first; of commands at one time, each `set` comes before each `setdest`.
//!
//! Differences: heights are ignored; a `set` with a time moves the node at once. Commands that move no node, such as those
//! of `god_`, and `set` of a variable are skipped. Other Tcl (loops, expressions) is an error.
use super::{MOST, TraceError, metres, seconds};
use crate::motion::Motion;
use crate::propagation::Position;
use recoup_core::time::Instant;
use std::collections::BTreeMap;

/// Reads a movement file: motions by the numbers of nodes. Commands count in the order of their times.
///
/// # Errors
/// If a line is not understood, or there are too many.
pub fn ns2(text: &str) -> Result<BTreeMap<u32, Motion>, TraceError> {
    let mut commands: BTreeMap<u32, Vec<Timed>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let wrong = |problem: &str| TraceError { line: number, problem: problem.into() };
        if number > MOST {
            return Err(wrong("the file has too many lines"));
        }
        for statement in statements(line) {
            if let Some((node, command)) = read(statement).map_err(wrong)? {
                commands.entry(node).or_default().push(command);
            }
        }
    }
    Ok(commands.into_iter().map(|(node, commands)| (node, travel(commands))).collect())
}

/// The statements of a line, without comments: semicolons outside quotation marks separate them.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let parts = line.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == ';' && !is_quoted
    });
    parts.map(str::trim).take_while(|part| !part.starts_with('#')).filter(|part| !part.is_empty())
}

/// Effect of a statement: node, and command with its time; `None` if it moves nothing.
fn read(statement: &str) -> Result<Option<(u32, Timed)>, &'static str> {
    const HOW: &str = "is no movement: write `$node_(0) set X_ 1.0` or \
                       `$ns_ at 2.5 \"$node_(0) setdest 1.0 2.0 1.5\"`, and leave out other commands";
    let words: Vec<&str> =
        statement.split([' ', '\t', '"', '{', '}']).filter(|word| !word.is_empty()).collect();
    let (at, words) = match words[..] {
        [simulator, "at", time, ref rest @ ..] if simulator.starts_with('$') => {
            (Some(seconds(time).ok_or("that is no time")?), rest)
        }
        ref words => (None, words),
    };
    match words {
        // The object that knows distances in hops, and the size of a node in nam.
        ["$god_", "set-dist", ..]
        | ["set", "god_", "[God", "instance]"]
        | ["set", "god_", "[create-god", _]
        | ["create-god", _]
        | [_, "initial_node_pos", _, _] => return Ok(None),
        // A variable.
        ["set", name, value] if !name.ends_with('_') && !value.contains('[') => return Ok(None),
        _ => {}
    }
    let [node, verb, rest @ ..] = words else { return Err(HOW) };
    let node = node_number(node).ok_or(HOW)?;
    let values: Vec<f64> = rest.iter().filter_map(|word| metres(word)).collect();
    let command = match (*verb, rest, &values[..]) {
        ("set", ["X_", _], [x]) => Command::SetX(*x),
        ("set", ["Y_", _], [y]) => Command::SetY(*y),
        ("set", ["Z_", _], [_]) | ("random-motion", ["0"], _) => return Ok(None),
        ("setdest", [_, _, _], [x, y, speed]) if *speed >= 0.0 => {
            Command::Go(Position { x: *x, y: *y }, *speed)
        }
        _ => return Err(HOW),
    };
    Ok(Some((node, (at, command))))
}

/// The number of `$node_(3)`, `$n(3)` or `$n3`.
fn node_number(word: &str) -> Option<u32> {
    let name = word.strip_prefix('$')?;
    let digits = match name.strip_suffix(')') {
        Some(name) => name.split_once('(')?.1,
        None => {
            name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        }
    };
    digits.parse().ok()
}

/// Command of a line of ns-2.
#[derive(Clone, Copy, Debug)]
enum Command {
    SetX(f64),
    SetY(f64),
    /// To a place at a speed.
    Go(Position, f64),
}

/// A command with its time in ns, if it has one.
type Timed = (Option<u64>, Command);

fn travel(mut commands: Vec<Timed>) -> Motion {
    commands.sort_by_key(|(at, command)| (*at, matches!(command, Command::Go(..))));
    let mut points: Vec<(u64, Position)> = Vec::new();
    for (at, command) in commands {
        let at = at.unwrap_or(0);
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
    fn lines_of_tutorials_are_read() {
        let text = "# movement\nset val(x) 500 ;# the area\n$node_(1) set X_ 5.0; $node_(1) set Y_ 2.0\n\
            $ns at 1.0 \"$node_(1) setdest 15.0 2.0 10.0\"\n$ns at 1.0 \"$n2 setdest 3 0 1\" ;# go\n";
        let motions = ns2(text).unwrap();
        assert_eq!(place(&motions[&1], 1_500), (10.0, 2.0));
        assert_eq!(place(&motions[&2], 2_000), (1.0, 0.0));
    }

    #[test]
    fn no_line_is_passed_over() {
        for line in [
            "$ns_ at 1 \"$node_(0) setdst 1 2 3\"",
            "$ns_ at 1 \"$node_($i) setdest 1 2 3\"",
            "for {set i 0} {$i < 3} {incr i} {",
            "$node_(0) set X_ [expr rand()]",
            "nonsense",
        ] {
            let error = ns2(&format!("\n{line}\n")).unwrap_err();
            assert!(error.to_string().starts_with("2: "), "{line}: {error}");
        }
    }

    #[test]
    fn node_sent_at_zero_starts_from_its_place() {
        for set in ["$node_(0) set X_ 4", "$ns_ at 0.0 \"$node_(0) set X_ 4\""] {
            let text = format!("$ns_ at 0.0 \"$node_(0) setdest 14 0 2\"\n{set}\n");
            let motion = &ns2(&text).unwrap()[&0];
            assert_eq!([0, 1_000, 9_000].map(|at| place(motion, at).0), [4.0, 6.0, 14.0], "{set}");
        }
    }

    #[test]
    fn commands_that_move_no_node_are_skipped() {
        let text = "set god_ [God instance]\nset god_ [create-god 3]\ncreate-god 3\n\
            $god_ set-dist 0 1 2\n$ns_ at 1.5 \"$god_ set-dist 0 1 3\"\n\
            $ns_ initial_node_pos $node_(0) 20\n";
        assert!(ns2(text).unwrap().is_empty());
        assert!(ns2("set god_ [exec ls]\n").is_err());
    }

    #[test]
    fn commands_are_sorted_by_time() {
        let text = "$ns_ at 4.0 \"$node_(0) setdest 0 0 1\"\n$node_(0) set X_ 4\n\
            $ns_ at 1.0 \"$node_(0) setdest 10 0 2\"\n";
        let motions = ns2(text).unwrap();
        let xs = [500, 1_000, 2_000, 4_000, 5_000, 20_000].map(|at| place(&motions[&0], at).0);
        assert_eq!(xs, [4.0, 4.0, 6.0, 10.0, 9.0, 0.0]);
    }
}
