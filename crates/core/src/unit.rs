//! Quantities with their units, as files and options write them: `10 Mbit/s`, `10 ms`, `32 packets`,
//! `10 MiB`.
//!
//! A quantity without a unit is refused: whether `delay = 10` means milliseconds or seconds is what
//! its reader must never have to guess. Only 0 needs no unit. What is printed is read back as the same
//! quantity; a fraction that is smaller than the smallest unit is cut off.
use crate::spec::nearest;
use crate::time::Duration;

/// A kind of quantity: what its units are worth, the largest first.
struct Kind {
    units: &'static [(&'static str, u64)],
    aliases: &'static [(&'static str, &'static str)],
    /// "a rate; write it like …".
    what: &'static str,
}

const RATE: Kind = Kind {
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
        ("Mb/s", "Mbit/s"),
        ("Gb/s", "Gbit/s"),
        ("kb/s", "kbit/s"),
    ],
    what: "rate; write it like \"10 Mbit/s\"",
};

const TIME: Kind = Kind {
    units: &[
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ],
    aliases: &[("µs", "us"), ("μs", "us"), ("m", "min")],
    what: "time; write it like \"10 ms\" or \"1.5 s\"",
};

const OCTETS: Kind = Kind {
    units: &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("B", 1),
    ],
    aliases: &[("KB", "kB"), ("octets", "B"), ("bytes", "B"), ("byte", "B"), ("octet", "B")],
    what: "number of octets; write it like \"1448 B\", \"64 KiB\" or \"10 MB\"",
};

const PACKETS: Kind = Kind {
    units: &[("packets", 1)],
    aliases: &[("packet", "packets"), ("pkts", "packets"), ("p", "packets")],
    what: "number of packets; write it like \"32 packets\"",
};

/// Reads bits per second; `unlimited` is 0.
pub fn rate(text: &str) -> Result<u64, String> {
    match text.trim() {
        "unlimited" => Ok(0),
        text => match RATE.read(text)? {
            0 => Err("a rate of 0 carries nothing; write \"unlimited\", or use an outage".into()),
            bits => Ok(bits),
        },
    }
}

/// Prints bits per second.
pub fn print_rate(bits: u64) -> String {
    if bits == 0 { "unlimited".into() } else { RATE.print(bits) }
}

/// Reads a time.
pub fn time(text: &str) -> Result<Duration, String> {
    TIME.read(text).map(Duration::from_nanos)
}

/// Prints a time.
pub fn print_time(time: Duration) -> String {
    TIME.print(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Reads a number of octets.
pub fn octets(text: &str) -> Result<u64, String> {
    OCTETS.read(text)
}

/// Prints a number of octets.
pub fn print_octets(octets: u64) -> String {
    OCTETS.print(octets)
}

/// Prints a number of packets.
fn print_packets(packets: u64) -> String {
    match packets {
        1 => "1 packet".into(),
        packets => format!("{packets} packets"),
    }
}

/// Room for packets: so many, so many octets, or without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Octets(u64),
    /// Without limit.
    Unlimited,
}

/// Reads room for packets.
pub fn room(text: &str) -> Result<Room, String> {
    const WHAT: &str =
        "write it like \"32 packets\", \"64 KiB\" or \"unlimited\", or 0 for no room at all";
    let text = text.trim();
    match text {
        "unlimited" => Ok(Room::Unlimited),
        "0" => Ok(Room::Packets(0)),
        _ => match (PACKETS.read(text), OCTETS.read(text)) {
            (Ok(packets), _) => Ok(Room::Packets(packets)),
            (_, Ok(octets)) => Ok(Room::Octets(octets)),
            _ => Err(match split(text) {
                (number, "") if !number.is_empty() => {
                    format!("{text} has no unit: packets or octets? {WHAT}")
                }
                _ => format!("`{text}` is no room for packets; {WHAT}"),
            }),
        },
    }
}

/// Prints room for packets.
pub fn print_room(room: Room) -> String {
    match room {
        Room::Packets(packets) => print_packets(packets),
        Room::Octets(octets) => print_octets(octets),
        Room::Unlimited => "unlimited".into(),
    }
}

impl Kind {
    fn read(&self, text: &str) -> Result<u64, String> {
        let (number, unit) = split(text.trim());
        let wrong = || format!("`{}` is no {}", text.trim(), self.what);
        if number.is_empty() {
            return Err(wrong());
        }
        let factor = match unit {
            "" if digits(number, 1) == Some(0) => 1,
            "" => return Err(format!("{number} has no unit; it is a {}", self.what)),
            unit => self.factor(unit).ok_or_else(|| self.unknown(text.trim(), unit))?,
        };
        match digits(number, factor) {
            Some(value) => Ok(value),
            None if digits(number, 1).is_none() => Err(wrong()),
            None => Err(format!("{} is too large", text.trim())),
        }
    }

    fn factor(&self, unit: &str) -> Option<u64> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == unit);
        let unit = alias.map_or(unit, |(_, unit)| unit);
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
    }

    fn unknown(&self, text: &str, unit: &str) -> String {
        let what = self.what;
        match nearest(unit, self.units.iter().map(|(name, _)| *name)) {
            None => format!("`{text}` is no {what}"),
            Some(near) => {
                format!("`{text}` is no {what}, and `{unit}` is no unit; did you mean `{near}`?")
            }
        }
    }

    /// In the largest unit that gives a whole number, or else at most three decimals.
    fn print(&self, value: u64) -> String {
        let whole = self.units.iter().find(|(_, factor)| value.is_multiple_of(*factor));
        let short = self.units.iter().find(|(_, factor)| {
            value >= *factor && factor.is_multiple_of(1000) && value.is_multiple_of(factor / 1000)
        });
        match (whole, short) {
            _ if value == 0 => format!("0 {}", self.zero_unit()),
            (Some((_, w)), Some((unit, s))) if s > w && value / w >= 10_000 => {
                let fraction = format!("{:03}", value % s / (s / 1000));
                format!("{}.{} {unit}", value / s, fraction.trim_end_matches('0'))
            }
            (Some((unit, factor)), _) => format!("{} {unit}", value / factor),
            (None, _) => value.to_string(),
        }
    }

    /// Zero is written in a unit that people use.
    fn zero_unit(&self) -> &'static str {
        let plain = ["s", "B", "bit/s", "packets"];
        self.units.iter().map(|(unit, _)| *unit).find(|unit| plain.contains(unit)).unwrap_or("")
    }
}

/// `number` times `factor`, exactly; none if it is no decimal number or too large.
fn digits(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    if !plain(whole) || !plain(fraction) {
        return None;
    }
    // More decimals are below one in every unit.
    let fraction = fraction.get(..15).unwrap_or(fraction);
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let whole = whole.parse::<u64>().ok().map(u128::from)?.checked_mul(u128::from(factor))?;
    let part = fraction.parse::<u128>().ok()? * u128::from(factor) / scale;
    u64::try_from(whole.checked_add(part)?).ok()
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
    fn units_are_understood_with_and_without_a_space() {
        assert_eq!(rate("10 Mbit/s"), Ok(10_000_000));
        assert_eq!(rate("1.5Gbps"), Ok(1_500_000_000));
        assert_eq!(rate("unlimited"), Ok(0));
        assert_eq!(time("0.3ms"), Ok(Duration::from_micros(300)));
        assert_eq!(time("10 µs"), Ok(Duration::from_micros(10)));
        assert_eq!(time("0"), Ok(Duration::ZERO));
        assert_eq!(octets("10 MiB"), Ok(10_485_760));
        assert_eq!(room("1 packet"), Ok(Room::Packets(1)));
        assert_eq!(room("64 KiB"), Ok(Room::Octets(65_536)));
        assert_eq!(room("0"), Ok(Room::Packets(0)));
    }

    #[test]
    fn what_is_wrong_is_answered_with_what_is_right() {
        assert_eq!(
            time("10").unwrap_err(),
            "10 has no unit; it is a time; write it like \"10 ms\" or \"1.5 s\""
        );
        assert_eq!(
            rate("10 Mbits").unwrap_err(),
            "`10 Mbits` is no rate; write it like \"10 Mbit/s\", and `Mbits` is no unit; \
             did you mean `Mbit/s`?"
        );
        assert!(rate("0 Mbit/s").unwrap_err().contains("outage"));
        assert!(room("32").unwrap_err().contains("packets or octets?"));
        assert!(octets("99999999999999 GiB").unwrap_err().contains("too large"));
        for wrong in ["", "fast", "-3 s", "1e9 s", "s", "1.2.3 s", ".5 s", "1. s", "4 parsecs"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn figures_are_printed_as_people_write_them() {
        assert_eq!(print_rate(10_000_000), "10 Mbit/s");
        assert_eq!(print_rate(1_500_000_000), "1500 Mbit/s");
        assert_eq!(print_time(Duration::from_micros(300)), "300 us");
        assert_eq!(print_time(Duration::from_micros(59_812)), "59.812 ms");
        assert_eq!(print_time(Duration::ZERO), "0 s");
        assert_eq!(print_time(Duration::from_secs(300)), "5 min");
        assert_eq!(print_octets(1448), "1448 B");
        assert_eq!(print_octets(10 << 20), "10 MiB");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(value: u64) {
            prop_assert_eq!(rate(&print_rate(value)), Ok(value));
            let duration = Duration::from_nanos(value);
            prop_assert_eq!(time(&print_time(duration)), Ok(duration));
            prop_assert_eq!(octets(&print_octets(value)), Ok(value));
            prop_assert_eq!(room(&print_packets(value)), Ok(Room::Packets(value)));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text: String, number in "[0-9.]{0,40}", unit in "[a-zA-Z/]{0,6}") {
            for text in [text, format!("{number}{unit}"), format!("{number} {unit}")] {
                let _ = (rate(&text), time(&text), octets(&text), room(&text));
            }
        }
    }
}
