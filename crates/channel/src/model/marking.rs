//! Whether and when packets are marked for congestion: `none`, `codel(threshold=64KiB,interval=100ms)`.
//!
//! The algorithm is `recoup_transport::link::Marker`; here is how it is written.
use recoup_forwarder::face::Marking;
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::Duration;
use std::fmt;
use std::str::FromStr;

/// The marking of a link's packets, if there is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkMarking(pub Option<Marking>);

const FAMILY: &[(&str, Reader<LinkMarking>)] =
    &[("none", |spec| spec.finish().map(|()| LinkMarking(None))), ("codel", codel)];

impl FromStr for LinkMarking {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "way of marking", FAMILY)
    }
}

impl fmt::Display for LinkMarking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.pad("none"),
            Some(Marking { threshold_bytes, interval }) => SpecWriter::new(f, "codel")
                .value("threshold", threshold_bytes)
                .duration("interval", interval)
                .finish(),
        }
    }
}

fn codel(mut spec: Spec<'_>) -> Result<LinkMarking, SpecError> {
    let default = Marking::default();
    let expected = "a number of bytes, such as 65536, 64KiB or 64kB";
    let threshold_bytes = spec.take("threshold", default.threshold_bytes, expected, bytes)?;
    let least = Duration::from_micros(1);
    let interval = spec.duration("interval", default.interval, least)?;
    spec.finish()?;
    Ok(LinkMarking(Some(Marking { threshold_bytes, interval })))
}

/// Reads a number of bytes with or without a unit.
fn bytes(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "" | "B" => 1,
        "kB" => 1_000,
        "KiB" => 1_024,
        "MB" => 1_000_000,
        "MiB" => 1_048_576,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Marking>, SpecError> {
        text.parse::<LinkMarking>().map(|marking| marking.0)
    }

    #[test]
    fn thresholds_are_understood_with_their_units() {
        assert_eq!(parse("none"), Ok(None));
        assert_eq!(parse("codel"), Ok(Some(Marking::default())));
        for (text, threshold_bytes) in
            [("codel(threshold=64KiB)", 65_536), ("codel(threshold=64kB)", 64_000)]
        {
            let interval = Duration::from_millis(100);
            assert_eq!(parse(text), Ok(Some(Marking { threshold_bytes, interval })));
        }
        for text in ["codel(threshold=many)", "codel(threshold=1GB)", "red"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["none", "codel(threshold=64000,interval=5ms)"] {
            assert_eq!(text.parse::<LinkMarking>().unwrap().to_string(), text);
        }
    }
}
