//! Rates that are written in bytes: a limit as `curl` takes it, and the answer where a rate in bits belongs.
use super::{RATE, UnitError, bytes, digits, print_rate, split};

/// The error of a rate that is written in bytes per second, with the same rate in bits; `None` for other texts.
pub(super) fn in_bits(text: &str) -> Option<UnitError> {
    let bits = byte_rate(text)?.checked_mul(8)?;
    Some(UnitError::CountsBytes { text: text.to_owned(), bits: print_rate(bits) })
}

/// Reads a size with `/s` or `ps` behind it, such as `20 MB/s` or `20 MBps`. In an alias of a rate, such as `kb/s`, `b` stands
/// for bits.
fn byte_rate(text: &str) -> Option<u64> {
    let (number, unit) = split(text.trim());
    let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?;
    let counts_bytes = unit.ends_with('B') || unit.ends_with("bytes") || unit.ends_with("byte");
    counts_bytes.then(|| bytes(&format!("{number} {}", unit.trim_end())).ok())?
}

/// Reads a limit of a rate in bytes per second, as `curl` and `wget` write it: a number of bytes, `k`, `M` or `G` behind it for
/// powers of 1024. A size per second (`2 MB/s`) and a rate in bits (`20 Mbit/s`) are read, too.
///
/// # Errors
/// The text is none of these, or the rate is 0.
pub fn byte_limit(text: &str) -> Result<u64, UnitError> {
    let text = text.trim();
    let (number, unit) = split(text);
    let factor = match unit {
        "" => Some(1),
        "k" | "K" => Some(1 << 10),
        "m" | "M" => Some(1 << 20),
        "g" | "G" => Some(1 << 30),
        _ => None,
    };
    let limit = match factor.map(|factor| digits(number, factor)) {
        Some(limit) => limit,
        None => match byte_rate(text) {
            None if unit.contains("bit") || unit.contains("b/s") || unit.contains("bps") => {
                Some(RATE.read(text)? / 8)
            }
            limit => limit,
        },
    };
    match limit {
        Some(0) => Err(UnitError::OutOfRange("a limit of 0 lets nothing arrive")),
        Some(limit) => Ok(limit),
        None => Err(UnitError::Malformed {
            text: text.to_owned(),
            kind: "limit of a rate",
            example: "500k (kibibytes a second), \"2 MB/s\" or \"20 Mbit/s\"",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::rate;

    #[test]
    fn rate_in_bytes_is_answered_in_bits() {
        for (text, bits) in [
            ("20 MB/s", "160 Mbit/s"),
            ("1.5MBps", "12 Mbit/s"),
            ("1 KiB/s", "8192 bit/s"),
            ("100 bytes/s", "800 bit/s"),
        ] {
            let message = rate(text).unwrap_err().to_string();
            assert!(message.ends_with(&format!("write {bits}")), "{message}");
        }
        assert_eq!(rate("20 Mb/s"), Ok(20_000_000));
    }

    #[test]
    fn limits_are_spelled_as_curl_does() {
        for (text, limit) in [
            ("500", 500),
            ("500k", 512_000),
            ("1.5M", 1_572_864),
            ("1G", 1 << 30),
            ("2 MB/s", 2_000_000),
            ("64KiB/s", 65_536),
            ("20 Mbit/s", 2_500_000),
            ("8 kb/s", 1_000),
        ] {
            assert_eq!(byte_limit(text), Ok(limit), "{text}");
        }
        for wrong in ["", "0", "fast", "-1", "1x", "5 cats/s", "1 Mbits"] {
            assert!(byte_limit(wrong).is_err(), "{wrong}");
        }
    }
}
