//! BonnMotion's own format (`.movements`): a line for each node, with a time, x and y of each way-point, and z in three
//! dimensions.
//!
//! Source: Aschenbruck et al., "BonnMotion: a mobility scenario generation and analysis tool", SIMUTools 2010, and its
//! manual. Differences: heights are ignored; `#` begins a comment.
use super::{MOST, TraceError, metres, seconds};
use crate::motion::Motion;
use crate::propagation::Position;
use recoup_core::time::Instant;

/// Reads movements: the motion of each node, in the order of the lines.
///
/// # Errors
/// If a line is no list of way-points in that many dimensions, or its times do not ascend.
pub fn bonnmotion(text: &str, dimensions: usize) -> Result<Vec<Motion>, TraceError> {
    let mut motions = Vec::new();
    let mut count = 0;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        count += words.len();
        let wrong = |problem: String| TraceError { line, problem };
        if count > MOST {
            return Err(wrong("the file has too many way-points".into()));
        }
        motions.push(Motion::along(points(&words, dimensions).map_err(wrong)?));
    }
    Ok(motions)
}

fn points(words: &[&str], dimensions: usize) -> Result<Vec<(Instant, Position)>, String> {
    let values = dimensions + 1;
    if !words.len().is_multiple_of(values) {
        let (count, axes) = (words.len(), if dimensions == 3 { "x, y and z" } else { "x and y" });
        return Err(format!("{count} numbers are no way-points of a time, {axes} each"));
    }
    let mut points: Vec<(Instant, Position)> = Vec::new();
    for point in words.chunks_exact(values) {
        let at = seconds(point[0]).ok_or_else(|| format!("`{}` is no time", point[0]))?;
        let number =
            |word: &str| metres(word).ok_or_else(|| format!("`{word}` is no place in metres"));
        let (x, y) = (number(point[1])?, number(point[2])?);
        point.get(3).map_or(Ok(0.0), |z| number(z))?;
        let at = Instant::from_nanos(at);
        if points.last().is_some_and(|(last, _)| *last > at) {
            return Err(format!("{} s comes before the way-point in front of it", point[0]));
        }
        points.push((at, Position { x, y }));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_moves_a_node() {
        let motions = bonnmotion("0.0 1 2 10.0 11 2\n\n0 5 5 # rests\n", 2).unwrap();
        let at = |node: usize, millis| motions[node].position(Instant::from_millis(millis));
        assert_eq!((at(0, 5_000).x, at(0, 20_000).x, at(1, 9_000).y), (6.0, 11.0, 5.0));
        let high = bonnmotion("0 1 2 9 10 11 2 9\n", 3).unwrap();
        assert_eq!(high[0].position(Instant::from_millis(5_000)), Position { x: 6.0, y: 2.0 });
    }

    #[test]
    fn damaged_line_is_an_error_with_its_number() {
        let wrong = |text: &str| bonnmotion(text, 2).unwrap_err().to_string();
        assert!(wrong("0 1 2\n0 1\n").starts_with("2: 2 numbers are no way-points"));
        assert_eq!(wrong("0 1 x"), "1: `x` is no place in metres");
        assert_eq!(wrong("-1 1 2"), "1: `-1` is no time");
        assert_eq!(wrong("5 1 2 4 1 2"), "1: 4 s comes before the way-point in front of it");
    }
}
