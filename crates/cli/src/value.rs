//! Values of options: their spelling, and the messages about misspelled ones.
use std::fmt;
use std::str::FromStr;

/// A range of segments: `10..20` is 10 to 19, `10..=19` the same, `10..` all from 10, `..20` the first 20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentRange {
    /// First segment.
    pub begin: u64,
    /// First segment that is no longer wanted; `None`: up to the last.
    pub end: Option<u64>,
}

impl FromStr for SegmentRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const HOW: &str =
            "write a range of segment numbers such as 10..20 (10 to 19), 10..=19 or 10..";
        let (begin, end) = text.trim().split_once("..").ok_or(HOW)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| HOW.to_owned());
        let begin = if begin.trim().is_empty() { 0 } else { number(begin)? };
        let end = match end.trim() {
            "" => None,
            end => Some(match end.strip_prefix('=') {
                Some(last) => number(last)?.checked_add(1).ok_or(HOW)?,
                None => number(end)?,
            }),
        };
        if end.is_some_and(|end| end <= begin) {
            return Err(format!("the range {} is empty", text.trim()));
        }
        Ok(Self { begin, end })
    }
}

impl fmt::Display for SegmentRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.begin)?;
        self.end.map_or(Ok(()), |end| write!(f, "{end}"))
    }
}

/// Adds `key=value` to a specification such as `cubic` or `jacobson(k=8)`.
///
/// This is how `--init-cwnd 4` becomes `cubic(init-cwnd=4)`.
pub(crate) fn with_parameter(spec: &str, key: &str, value: &str) -> Result<String, String> {
    let spec = spec.trim();
    let Some((name, rest)) = spec.split_once('(') else {
        return Ok(format!("{spec}({key}={value})"));
    };
    let inside = rest.trim_end().trim_end_matches(')').trim();
    let taken = |one: &str| one.split('=').next().is_some_and(|word| word.trim() == key);
    if inside.split(',').any(taken) {
        return Err(format!("`{key}` is given twice: as --{key} and in `{spec}`"));
    }
    let comma = if inside.is_empty() { "" } else { "," };
    Ok(format!("{name}({inside}{comma}{key}={value})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_written() {
        let range = |begin, end| Ok(SegmentRange { begin, end });
        assert_eq!("10..20".parse(), range(10, Some(20)));
        assert_eq!("10..=19".parse(), range(10, Some(20)));
        assert_eq!("10..".parse(), range(10, None));
        assert_eq!("..5".parse(), range(0, Some(5)));
        assert_eq!("..".parse(), range(0, None));
        for wrong in ["10", "20..10", "5..5", "a..b", "0..=18446744073709551615", "-1..3"] {
            assert!(wrong.parse::<SegmentRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shortcuts_join_a_specification() {
        assert_eq!(with_parameter("cubic", "init-cwnd", "4").unwrap(), "cubic(init-cwnd=4)");
        assert_eq!(with_parameter("cubic()", "c", "1").unwrap(), "cubic(c=1)");
        assert_eq!(with_parameter("aimd(step=2)", "beta", "1/2").unwrap(), "aimd(step=2,beta=1/2)");
        assert!(with_parameter("aimd(beta=0.5)", "beta", "0.7").is_err());
    }
}
