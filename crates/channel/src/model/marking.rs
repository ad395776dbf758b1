//! Whether and when packets are marked for congestion: `none`, `codel(threshold=64KiB,interval=100ms)`, `pie`, `red`.
//!
//! The algorithms are in `recoup_transport::link`; here is how they are written.
use recoup_forwarder::face::{Aqm, Marking};
use recoup_transport::link::{Pie, Red};
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::Duration;
use std::fmt;
use std::str::FromStr;

/// The marking of a link's packets, if there is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkMarking(pub Option<Aqm>);

const FAMILY: &[(&str, Reader<LinkMarking>)] = &[
    ("none", |spec| spec.finish().map(|()| LinkMarking(None))),
    ("codel", codel),
    ("pie", pie),
    ("red", red),
];

/// Durations of parameters are longer than 0.
const LEAST: Duration = Duration::from_micros(1);
const BYTES: &str = "a number of bytes, such as 65536, 64KiB or 64kB";

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
            Some(Aqm::Codel(Marking { threshold_bytes, interval })) => SpecWriter::new(f, "codel")
                .value("threshold", threshold_bytes)
                .duration("interval", interval)
                .finish(),
            Some(Aqm::Pie(Pie { target, update, burst })) => SpecWriter::new(f, "pie")
                .duration("target", target)
                .duration("update", update)
                .duration("burst", burst)
                .finish(),
            Some(Aqm::Red(Red { min_bytes, max_bytes, weight, every, slot })) => {
                SpecWriter::new(f, "red")
                    .value("min", min_bytes)
                    .value("max", max_bytes)
                    .value("weight", weight)
                    .value("every", every)
                    .duration("slot", slot)
                    .finish()
            }
        }
    }
}

fn codel(mut spec: Spec<'_>) -> Result<LinkMarking, SpecError> {
    let default = Marking::default();
    let threshold_bytes = spec.take("threshold", default.threshold_bytes, BYTES, bytes)?;
    let interval = spec.duration("interval", default.interval, LEAST)?;
    spec.finish()?;
    Ok(LinkMarking(Some(Aqm::Codel(Marking { threshold_bytes, interval }))))
}

fn pie(mut spec: Spec<'_>) -> Result<LinkMarking, SpecError> {
    let default = Pie::default();
    let target = spec.duration("target", default.target, LEAST)?;
    let update = spec.duration("update", default.update, LEAST)?;
    let burst = spec.duration("burst", default.burst, Duration::ZERO)?;
    spec.finish()?;
    Ok(LinkMarking(Some(Aqm::Pie(Pie { target, update, burst }))))
}

fn red(mut spec: Spec<'_>) -> Result<LinkMarking, SpecError> {
    let default = Red::default();
    let min_bytes = spec.take("min", default.min_bytes, BYTES, bytes)?;
    let max_bytes = spec.take("max", default.max_bytes, BYTES, bytes)?;
    if max_bytes <= min_bytes {
        return Err(spec.bad("max", max_bytes, "more than `min`"));
    }
    let weight = spec.take("weight", default.weight, "0 to 30, for 2^-weight", |text| {
        text.parse().ok().filter(|weight| *weight <= 30)
    })?;
    let every = spec.take("every", default.every, "a number of packets above 0", |text| {
        text.parse().ok().filter(|every| *every > 0)
    })?;
    let slot = spec.duration("slot", default.slot, LEAST)?;
    spec.finish()?;
    Ok(LinkMarking(Some(Aqm::Red(Red { min_bytes, max_bytes, weight, every, slot }))))
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

    fn parse(text: &str) -> Result<Option<Aqm>, SpecError> {
        text.parse::<LinkMarking>().map(|marking| marking.0)
    }

    #[test]
    fn thresholds_are_understood_with_their_units() {
        assert_eq!(parse("none"), Ok(None));
        assert_eq!(parse("codel"), Ok(Some(Marking::default().into())));
        for (text, threshold_bytes) in
            [("codel(threshold=64KiB)", 65_536), ("codel(threshold=64kB)", 64_000)]
        {
            let interval = Duration::from_millis(100);
            assert_eq!(parse(text), Ok(Some(Marking { threshold_bytes, interval }.into())));
        }
        assert_eq!(parse("pie"), Ok(Some(Aqm::Pie(Pie::default()))));
        assert_eq!(parse("red"), Ok(Some(Aqm::Red(Red::default()))));
        for text in ["codel(threshold=many)", "codel(threshold=1GB)", "blue", "red(every=0)"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("red(min=9kB,max=9kB)").is_err());
        for text in [
            "none",
            "codel(threshold=64000,interval=5ms)",
            "pie(target=5ms,update=15ms,burst=0s)",
            "red(min=1000,max=3000,weight=2,every=10,slot=1ms)",
        ] {
            assert_eq!(text.parse::<LinkMarking>().unwrap().to_string(), text);
        }
    }
}
