//! Values of options: how they are spelled, and what is said when they are misspelled.
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Reads a duration such as `200ms`, `1.5s`, `10us`, `2min`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        "" if number == "0" => 1.0,
        "" if !number.is_empty() => {
            return Err(format!("`{number}` has no unit; write {number}ms or {number}s"));
        }
        _ => return Err("write a duration such as 200ms, 4s or 1.5s".into()),
    };
    let seconds = decimal(number).ok_or("write a duration such as 200ms, 4s or 1.5s")? * scale;
    if seconds > 1e9 {
        return Err("that is longer than 30 years".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads a duration that must not be zero.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be longer than 0".into()),
        duration => Ok(duration),
    }
}

/// Reads an InterestLifetime or FreshnessPeriod: whole milliseconds, at least one.
pub(crate) fn milliseconds(text: &str) -> Result<Duration, String> {
    let duration = positive_duration(text)?;
    if duration.subsec_nanos() % 1_000_000 != 0 {
        return Err("the packet format carries whole milliseconds".into());
    }
    Ok(duration)
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Bits per second.
    pub bits: u64,
}

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const HOW: &str = "write a rate such as 10Mbit/s, 500kbit/s or 1Gbit/s";
        let (number, unit) = split(text);
        let unit = unit.strip_suffix("bit/s").or_else(|| unit.strip_suffix("bps")).ok_or(HOW)?;
        let scale = match unit {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => return Err(HOW.into()),
        };
        let bits = decimal(number).ok_or(HOW)? * scale;
        if !(1.0..=1e12).contains(&bits) {
            return Err("a rate lies between 1bit/s and 1000Gbit/s".into());
        }
        Ok(Self { bits: bits as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.bits {
            1_000_000_000.. => (1e9, "G"),
            1_000_000.. => (1e6, "M"),
            1_000.. => (1e3, "k"),
            _ => (1.0, ""),
        };
        write!(f, "{}{unit}bit/s", self.bits as f64 / scale)
    }
}

/// Reads a size in octets such as `8000`, `64KiB`, `5MB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const HOW: &str = "write a size in octets such as 8000, 64KiB or 5MB";
    let (number, unit) = split(text);
    let scale = match unit {
        "" | "B" => 1.0,
        "k" | "kB" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "KiB" | "Ki" => 1024.0,
        "MiB" | "Mi" => 1_048_576.0,
        "GiB" | "Gi" => 1_073_741_824.0,
        _ => return Err(HOW.into()),
    };
    let octets = decimal(number).ok_or(HOW)? * scale;
    if octets > 9e15 { Err("too large".into()) } else { Ok(octets as u64) }
}

/// Reads the number of a version, as it stands behind `v=` in a name or alone.
pub(crate) fn version(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let number = text.strip_prefix("v=").unwrap_or(text);
    number
        .parse()
        .map_err(|_| "write the number of a version such as 1795181568575000 or v=7".into())
}

/// Reads a probability such as `2%` or `0.02`.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    const HOW: &str = "write a share such as 2% or 0.02";
    let value = match text.trim().strip_suffix('%') {
        Some(number) => decimal(number.trim()).ok_or(HOW)? / 100.0,
        None => decimal(text.trim()).ok_or(HOW)?,
    };
    if value < 1.0 { Ok(value) } else { Err("must be below 100%".into()) }
}

/// Reads the content of one Data packet in octets.
pub(crate) fn segment_size(text: &str) -> Result<usize, String> {
    match size(text)? {
        octets @ 1..=8600 => Ok(octets as usize),
        _ => Err("a segment holds 1 to 8600 octets, since a packet holds 8800".into()),
    }
}

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

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], text[at..].trim())
}

fn decimal(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if digits { text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_carry_their_unit() {
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("10us"), Ok(Duration::from_micros(10)));
        assert_eq!(duration("4000").unwrap_err(), "`4000` has no unit; write 4000ms or 4000s");
        for wrong in ["", "fast", "-3s", "1e9s", "s", "4 parsecs", "1.2.3s", "99999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_are_in_bits() {
        assert_eq!("10Mbit/s".parse(), Ok(Rate { bits: 10_000_000 }));
        assert_eq!("1.5Gbps".parse(), Ok(Rate { bits: 1_500_000_000 }));
        assert_eq!(Rate { bits: 10_000_000 }.to_string(), "10Mbit/s");
        for wrong in ["10", "10MB/s", "0Mbit/s", "fastbit/s", "9e9Gbit/s"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }

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

    #[test]
    fn sizes_and_shares_have_bounds() {
        assert_eq!(size("64KiB"), Ok(65536));
        assert_eq!(segment_size("8000"), Ok(8000));
        assert!(segment_size("0").is_err() && segment_size("9000").is_err());
        assert_eq!(probability("2%"), Ok(0.02));
        assert!(probability("100%").is_err());
    }
}
