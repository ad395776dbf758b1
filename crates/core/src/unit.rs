//! Quantities with their units: durations, rates, sizes, packet counts, probabilities.
//!
//! Algorithm specs, the command line, scenario files and configuration files share this grammar: a decimal number, an
//! optional space and a unit (`10ms`, `1.5 s`, `10 Mbit/s`, `64 KiB`, `32 packets`). Only 0 needs no unit: `delay = 10`
//! could mean milliseconds or seconds. Values are exact integers of the smallest unit; a fraction of that unit is cut
//! off. Printed text parses to the same value.
pub mod as_text;
mod byte_rate;

pub use byte_rate::byte_limit;

use crate::spec::nearest;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// The text is not a quantity of the expected kind. Prints as one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// The text does not follow the grammar.
    #[error("`{text}` is not a {kind}; write it like {example}")]
    Malformed {
        /// The text.
        text: String,
        /// The expected kind, such as "rate".
        kind: &'static str,
        /// A correct text, in quotes.
        example: &'static str,
    },
    /// The unit is missing.
    #[error("{text} has no unit; write a {kind} like {example}")]
    NoUnit {
        /// The number.
        text: String,
        /// The expected kind.
        kind: &'static str,
        /// A correct text, in quotes.
        example: &'static str,
    },
    /// The kind has no such unit, but one with a similar spelling.
    #[error("`{text}` is not a {kind}: no unit is called `{unit}`; did you mean `{near}`?")]
    UnknownUnit {
        /// The text.
        text: String,
        /// The expected kind.
        kind: &'static str,
        /// The unit that was given.
        unit: String,
        /// The unit with the nearest spelling.
        near: &'static str,
    },
    /// The text counts bytes where a rate counts bits.
    #[error("`{text}` counts bytes, and a rate counts bits; write {bits}")]
    CountsBytes {
        /// The text.
        text: String,
        /// Rate in bits per second.
        bits: String,
    },
    /// The value exceeds 64 bits of the smallest unit.
    #[error("`{0}` is too large")]
    TooLarge(String),
    /// The value lies outside the permitted range.
    #[error("{0}")]
    OutOfRange(&'static str),
}

impl From<UnitError> for String {
    fn from(error: UnitError) -> Self {
        error.to_string()
    }
}

/// A kind of quantity. Units are ordered from the largest to the smallest.
struct Kind {
    name: &'static str,
    units: &'static [(&'static str, u64)],
    aliases: &'static [(&'static str, &'static str)],
    /// Words that are no units, each with the unit that it stands for.
    words: &'static [(&'static str, &'static str)],
    /// The unit in which zero is printed.
    zero: &'static str,
    example: &'static str,
}

const DURATION: Kind = Kind {
    name: "duration",
    units: &[
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ],
    aliases: &[("µs", "us"), ("μs", "us"), ("m", "min")],
    words: &[
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("msec", "ms"),
        ("msecs", "ms"),
        ("millis", "ms"),
        ("millisecond", "ms"),
        ("milliseconds", "ms"),
        ("usec", "us"),
        ("usecs", "us"),
        ("micros", "us"),
        ("microsecond", "us"),
        ("microseconds", "us"),
        ("nsec", "ns"),
        ("nanos", "ns"),
        ("nanosecond", "ns"),
        ("nanoseconds", "ns"),
        ("mins", "min"),
        ("minute", "min"),
        ("minutes", "min"),
        ("hr", "h"),
        ("hrs", "h"),
        ("hour", "h"),
        ("hours", "h"),
    ],
    zero: "s",
    example: "\"10 ms\" or \"1.5 s\"",
};

const RATE: Kind = Kind {
    name: "rate",
    units: &[
        ("Tbit/s", 1_000_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Mbit/s", 1_000_000),
        ("kbit/s", 1_000),
        ("bit/s", 1),
    ],
    aliases: &[
        ("Tbps", "Tbit/s"),
        ("Gbps", "Gbit/s"),
        ("Mbps", "Mbit/s"),
        ("kbps", "kbit/s"),
        ("Kbps", "kbit/s"),
        ("Kbit/s", "kbit/s"),
        ("bps", "bit/s"),
        ("Gb/s", "Gbit/s"),
        ("Mb/s", "Mbit/s"),
        ("kb/s", "kbit/s"),
    ],
    words: &[
        ("bit", "bit/s"),
        ("bits", "bit/s"),
        ("k", "kbit/s"),
        ("kb", "kbit/s"),
        ("kbit", "kbit/s"),
        ("kbits", "kbit/s"),
        ("m", "Mbit/s"),
        ("mb", "Mbit/s"),
        ("mbit", "Mbit/s"),
        ("mbits", "Mbit/s"),
        ("mbps", "Mbit/s"),
        ("g", "Gbit/s"),
        ("gb", "Gbit/s"),
        ("gbit", "Gbit/s"),
        ("gbits", "Gbit/s"),
        ("gbps", "Gbit/s"),
    ],
    zero: "bit/s",
    example: "\"10 Mbit/s\"",
};

const SIZE: Kind = Kind {
    name: "size",
    units: &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("B", 1),
    ],
    aliases: &[
        ("Gi", "GiB"),
        ("G", "GB"),
        ("Mi", "MiB"),
        ("M", "MB"),
        ("Ki", "KiB"),
        ("KB", "kB"),
        ("k", "kB"),
        ("bytes", "B"),
        ("byte", "B"),
    ],
    words: &[
        ("kilobyte", "kB"),
        ("kilobytes", "kB"),
        ("megabyte", "MB"),
        ("megabytes", "MB"),
        ("gigabyte", "GB"),
        ("gigabytes", "GB"),
        ("kibibytes", "KiB"),
        ("mebibytes", "MiB"),
        ("gibibytes", "GiB"),
    ],
    zero: "B",
    example: "\"1448 B\", \"64 KiB\" or \"10 MB\"",
};

const PACKETS: Kind = Kind {
    name: "number of packets",
    units: &[("packets", 1)],
    aliases: &[("packet", "packets"), ("pkts", "packets"), ("p", "packets")],
    words: &[],
    zero: "packets",
    example: "\"32 packets\"",
};

/// Reads a duration, such as `200ms`, `1.5 s`, `10us` or `2min`.
///
/// # Errors
/// The text is not a duration, or longer than 584 years.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    DURATION.read(text).map(Duration::from_nanos)
}

/// Reads a duration longer than 0.
///
/// # Errors
/// As [`duration`]; the duration is 0.
pub fn interval(text: &str) -> Result<Duration, UnitError> {
    match duration(text)? {
        Duration::ZERO => Err(UnitError::OutOfRange("must be longer than 0")),
        interval => Ok(interval),
    }
}

/// Reads an InterestLifetime or a FreshnessPeriod: whole milliseconds, at least one.
///
/// # Errors
/// As [`interval`]; the packet format cannot carry the duration.
pub fn milliseconds(text: &str) -> Result<Duration, UnitError> {
    let interval = interval(text)?;
    match interval.subsec_nanos() % 1_000_000 {
        0 => Ok(interval),
        _ => Err(UnitError::OutOfRange("the packet format carries whole milliseconds")),
    }
}

/// Prints a duration, such as `10 ms`.
#[must_use]
pub fn print_duration(duration: Duration) -> String {
    DURATION.print(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Prints a duration without a space, in the largest unit from `s` down that gives a whole number: `200ms`.
#[must_use]
pub fn print_compact_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let mut units = DURATION.units.iter().filter(|(_, factor)| *factor <= 1_000_000_000);
    let whole = units.find(|(_, factor)| nanos.is_multiple_of(u128::from(*factor)));
    let (unit, factor) = whole.copied().unwrap_or(("ns", 1));
    format!("{}{unit}", nanos / u128::from(factor))
}

/// Reads a rate in bits per second; `unlimited` is 0.
///
/// # Errors
/// The text is not a rate, or the rate is 0.
pub fn rate(text: &str) -> Result<u64, UnitError> {
    match text.trim() {
        "unlimited" => Ok(0),
        text => match RATE.read(text).map_err(|error| byte_rate::in_bits(text).unwrap_or(error))? {
            0 => Err(UnitError::OutOfRange(
                "a rate of 0 carries nothing; write \"unlimited\", or use an outage",
            )),
            bits => Ok(bits),
        },
    }
}

/// Prints a rate in bits per second; 0 is `unlimited`.
#[must_use]
pub fn print_rate(bits_per_second: u64) -> String {
    if bits_per_second == 0 { "unlimited".into() } else { RATE.print(bits_per_second) }
}

/// Reads a number of bytes with its unit.
///
/// # Errors
/// The text is not a size, has no unit, or exceeds 64 bits.
pub fn bytes(text: &str) -> Result<u64, UnitError> {
    SIZE.read(text)
}

/// Reads a number of bytes; a number without a unit counts bytes, as on a command line.
///
/// # Errors
/// The text is not a size, or exceeds 64 bits.
pub fn bare_bytes(text: &str) -> Result<u64, UnitError> {
    match split(text.trim()) {
        (number, "") if is_decimal(number) => SIZE.read(&format!("{number} B")),
        _ => SIZE.read(text),
    }
}

/// Prints a number of bytes.
#[must_use]
pub fn print_bytes(bytes: u64) -> String {
    SIZE.print(bytes)
}

/// Reads a number of bytes up to 16 MiB.
///
/// # Errors
/// As [`bytes()`]; the number is larger.
pub fn few_bytes(text: &str) -> Result<u32, UnitError> {
    match bytes(text)? {
        bytes @ 0..=0x100_0000 => Ok(bytes as u32),
        _ => Err(UnitError::OutOfRange("must be at most 16 MiB")),
    }
}

/// The most bytes of content for which a Data packet has space, beside its name and signature.
pub const MAX_CONTENT_BYTES: u64 = 8600;

/// Reads the number of content bytes of one Data packet; a number without a unit counts bytes.
///
/// # Errors
/// As [`bare_bytes`]; the number is 0 or above [`MAX_CONTENT_BYTES`].
pub fn content_bytes(text: &str) -> Result<u64, UnitError> {
    match bare_bytes(text)? {
        bytes @ 1..=MAX_CONTENT_BYTES => Ok(bytes),
        _ => {
            let bounds = "a segment holds 1 to 8600 bytes, since a packet holds 8800";
            Err(UnitError::OutOfRange(bounds))
        }
    }
}

/// The capacity of a queue or a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// Reads a capacity: packets, bytes, `unlimited`, or `0`.
///
/// # Errors
/// The text is neither a number of packets nor a size.
pub fn capacity(text: &str) -> Result<Capacity, UnitError> {
    let text = text.trim();
    match text {
        "unlimited" => return Ok(Capacity::Unlimited),
        "0" => return Ok(Capacity::Packets(0)),
        _ => {}
    }
    if let Ok(packets) = PACKETS.read(text) {
        return Ok(Capacity::Packets(packets));
    }
    SIZE.read(text).map(Capacity::Bytes).map_err(|error| {
        let kind = "number of packets or bytes";
        let example = "\"32 packets\", \"64 KiB\", \"unlimited\" or 0";
        match error {
            UnitError::NoUnit { text, .. } => UnitError::NoUnit { text, kind, example },
            UnitError::TooLarge(_) => error,
            _ => UnitError::Malformed { text: text.to_owned(), kind, example },
        }
    })
}

/// Prints a capacity.
#[must_use]
pub fn print_capacity(capacity: Capacity) -> String {
    match capacity {
        Capacity::Packets(1) => "1 packet".into(),
        Capacity::Packets(packets) => format!("{packets} packets"),
        Capacity::Bytes(bytes) => print_bytes(bytes),
        Capacity::Unlimited => "unlimited".into(),
    }
}

/// Reads a plain number: decimal, fraction (`1/8`), percentage (`2%`) or `inf`; never NaN.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let value = match (text.split_once('/'), text.strip_suffix('%')) {
        (Some((above, below)), _) => {
            above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?
        }
        (_, Some(percent)) => percent.trim().parse::<f64>().ok()? / 100.0,
        _ => text.parse().ok()?,
    };
    (!value.is_nan()).then_some(value)
}

/// Reads a probability from 0 to 1, such as `2%`, `0.02` or `1/50`.
///
/// # Errors
/// The text is not a number, or lies outside.
pub fn probability(text: &str) -> Result<f64, UnitError> {
    number(text.trim())
        .filter(|value| (0.0..=1.0).contains(value))
        .ok_or(UnitError::OutOfRange("write a probability such as 2% or 0.02"))
}

impl Kind {
    fn read(&self, text: &str) -> Result<u64, UnitError> {
        let (kind, example) = (self.name, self.example);
        let text = text.trim();
        let (number, unit) = split(text);
        let malformed = || UnitError::Malformed { text: text.to_owned(), kind, example };
        if !is_decimal(number) {
            return Err(malformed());
        }
        let factor = match unit {
            "" if digits(number, 1) == Some(0) => 1,
            "" => return Err(UnitError::NoUnit { text: number.to_owned(), kind, example }),
            unit => self.factor(unit).ok_or_else(|| match self.nearest(unit) {
                Some(near) => {
                    let (text, unit) = (text.to_owned(), unit.to_owned());
                    UnitError::UnknownUnit { text, kind, unit, near }
                }
                None => malformed(),
            })?,
        };
        digits(number, factor).ok_or_else(|| UnitError::TooLarge(text.to_owned()))
    }

    fn factor(&self, unit: &str) -> Option<u64> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == unit);
        let unit = alias.map_or(unit, |(_, unit)| unit);
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
    }

    fn nearest(&self, unit: &str) -> Option<&'static str> {
        let word = self.words.iter().find(|(word, _)| word.eq_ignore_ascii_case(unit));
        if let Some((_, unit)) = word {
            return Some(unit);
        }
        nearest(unit, self.units.iter().map(|(name, _)| *name))
    }

    /// In the largest unit that gives a whole number, or with at most three decimals.
    fn print(&self, value: u64) -> String {
        let whole = self.units.iter().find(|(_, factor)| value.is_multiple_of(*factor));
        let short = self.units.iter().find(|(_, factor)| {
            value >= *factor && factor.is_multiple_of(1000) && value.is_multiple_of(factor / 1000)
        });
        match (whole, short) {
            _ if value == 0 => format!("0 {}", self.zero),
            (Some((_, w)), Some((unit, s))) if s > w && value / w >= 10_000 => {
                let fraction = format!("{:03}", value % s / (s / 1000));
                format!("{}.{} {unit}", value / s, fraction.trim_end_matches('0'))
            }
            (Some((unit, factor)), _) => format!("{} {unit}", value / factor),
            (None, _) => value.to_string(),
        }
    }
}

/// Reads a whole number of digits only, as in a port: no sign stands before it.
#[must_use]
pub fn whole<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

/// `number` times `factor`, exactly; `None` if the text is not a decimal number or the product exceeds 64 bits.
fn digits(number: &str, factor: u64) -> Option<u64> {
    if !is_decimal(number) {
        return None;
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    // Further decimals are below one in every unit.
    let fraction = fraction.get(..15).unwrap_or(fraction);
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let whole = whole.parse::<u64>().ok().map(u128::from)?.checked_mul(u128::from(factor))?;
    let part = fraction.parse::<u128>().ok()? * u128::from(factor) / scale;
    u64::try_from(whole.checked_add(part)?).ok()
}

/// Digits, with digits behind a point or without.
fn is_decimal(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    [whole, fraction]
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The number and its unit.
fn split(text: &str) -> (&str, &str) {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], text[at..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_follow_with_or_without_a_space() {
        assert_eq!(rate("10 Mbit/s"), Ok(10_000_000));
        assert_eq!(rate("1.5Gbps"), Ok(1_500_000_000));
        assert_eq!(rate("unlimited"), Ok(0));
        assert_eq!(duration("0.3ms"), Ok(Duration::from_micros(300)));
        assert_eq!(duration("10 µs"), Ok(Duration::from_micros(10)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(duration("0.0000000019s"), Ok(Duration::from_nanos(1)));
        assert_eq!(duration("100000h"), Ok(Duration::from_secs(360_000_000)));
        assert_eq!(bytes("10 MiB"), Ok(10_485_760));
        assert_eq!(bare_bytes("8000"), Ok(8000));
        assert_eq!(bare_bytes("64KiB"), Ok(65_536));
        assert_eq!(capacity("1 packet"), Ok(Capacity::Packets(1)));
        assert_eq!(capacity("64 KiB"), Ok(Capacity::Bytes(65_536)));
        assert_eq!(capacity("0"), Ok(Capacity::Packets(0)));
    }

    #[test]
    fn errors_show_a_correct_text() {
        let message = |error: UnitError| error.to_string();
        assert_eq!(
            message(duration("10").unwrap_err()),
            "10 has no unit; write a duration like \"10 ms\" or \"1.5 s\""
        );
        assert_eq!(
            message(rate("10 Mbits").unwrap_err()),
            "`10 Mbits` is not a rate: no unit is called `Mbits`; did you mean `Mbit/s`?"
        );
        assert_eq!(
            message(rate("10 cats").unwrap_err()),
            "`10 cats` is not a rate; write it like \"10 Mbit/s\""
        );
        assert!(message(rate("0 Mbit/s").unwrap_err()).contains("outage"));
        assert!(message(capacity("32").unwrap_err()).contains("packets or bytes"));
        assert!(message(bytes("99999999999999 GiB").unwrap_err()).contains("too large"));
        for wrong in ["", "fast", "-3 s", "1e9 s", "s", "1.2.3 s", ".5 s", "1. s", "4 parsecs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        let digits = "340282366920938463463374607431.9s";
        assert!(duration(digits).is_err(), "more than 128 bits");
    }

    #[test]
    fn words_for_units_name_the_unit() {
        let near = |error: UnitError| match error {
            UnitError::UnknownUnit { near, .. } => near,
            other => panic!("{other}"),
        };
        for (text, unit) in [("4sec", "s"), ("4 Seconds", "s"), ("10 msec", "ms"), ("1 hour", "h")]
        {
            assert_eq!(near(duration(text).unwrap_err()), unit, "{text}");
        }
        assert_eq!(near(rate("10 mbps").unwrap_err()), "Mbit/s");
        assert_eq!(near(bytes("10 megabytes").unwrap_err()), "MB");
    }

    #[test]
    fn whole_numbers_have_no_sign() {
        assert_eq!((whole::<u16>("6363"), whole::<u16>("007")), (Some(6363), Some(7)));
        assert!(["", "+1", "-1", "1.0", " 1", "65536"].iter().all(|it| whole::<u16>(it).is_none()));
    }

    #[test]
    fn ranges_are_checked() {
        assert!(interval("0").is_err() && interval("1ns").is_ok());
        assert!(milliseconds("10us").is_err() && milliseconds("2 s").is_ok());
        assert!(content_bytes("0").is_err() && content_bytes("9000").is_err());
        assert_eq!(content_bytes("8000"), Ok(8000));
        assert_eq!((probability("2%"), probability("1/50")), (Ok(0.02), Ok(0.02)));
        assert!(probability("101%").is_err() && probability("nan").is_err());
    }

    #[test]
    fn printed_text_uses_the_largest_fitting_unit() {
        assert_eq!(print_rate(10_000_000), "10 Mbit/s");
        assert_eq!(print_rate(1_500_000_000), "1500 Mbit/s");
        assert_eq!(print_duration(Duration::from_micros(300)), "300 us");
        assert_eq!(print_duration(Duration::from_micros(59_812)), "59.812 ms");
        assert_eq!(print_duration(Duration::ZERO), "0 s");
        assert_eq!(print_duration(Duration::from_secs(300)), "5 min");
        assert_eq!(print_compact_duration(Duration::from_secs(300)), "300s");
        assert_eq!(print_compact_duration(Duration::ZERO), "0s");
        assert_eq!(print_bytes(1448), "1448 B");
        assert_eq!(print_bytes(10 << 20), "10 MiB");
    }

    proptest! {
        #[test]
        fn printed_text_parses_to_the_same_value(value: u64) {
            prop_assert_eq!(rate(&print_rate(value)), Ok(value));
            let span = Duration::from_nanos(value);
            prop_assert_eq!(duration(&print_duration(span)), Ok(span));
            prop_assert_eq!(duration(&print_compact_duration(span)), Ok(span));
            prop_assert_eq!(bytes(&print_bytes(value)), Ok(value));
            let packets = Capacity::Packets(value);
            prop_assert_eq!(capacity(&print_capacity(packets)), Ok(packets));
        }

        #[test]
        fn no_text_causes_a_panic(text: String, number in "[0-9.]{0,40}", unit in "[a-zA-Z/%]{0,6}") {
            for text in [text, format!("{number}{unit}"), format!("{number} {unit}")] {
                let _ = (rate(&text), duration(&text), bytes(&text), bare_bytes(&text));
                let _ = byte_limit(&text);
                let _ = (capacity(&text), super::number(&text), probability(&text));
            }
        }
    }
}
