//! Figures as people read them.
use std::time::Duration;

/// Octets as hexadecimal digits.
pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Octets: `5.00 MB`, `800 B`.
pub(crate) fn octets(count: u64) -> String {
    scaled(count as f64, "B")
}

/// A rate from bits and time: `9.87 Mbit/s`.
pub(crate) fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, "bit/s")
}

fn scaled(value: f64, unit: &str) -> String {
    let (scale, prefix) = match value {
        v if v >= 1e12 => (1e12, "T"),
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e3 => (1e3, "k"),
        _ => return format!("{value:.0} {unit}"),
    };
    let value = value / scale;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {prefix}{unit}")
}

/// Milliseconds with as many digits as matter: `0.136 ms`, `41.2 ms`, `1250 ms`.
pub(crate) fn milliseconds(ms: f64) -> String {
    let digits = match ms {
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    format!("{ms:.digits$}")
}

/// A duration in milliseconds.
pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Time on the wall: `4.21 s`, `2 min 5 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    match whole {
        0..60 => format!("{:.3} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Time that is left: `0:07`, `1:02:05`.
pub(crate) fn remaining(duration: Duration) -> String {
    let (hours, minutes, seconds) =
        (duration.as_secs() / 3600, duration.as_secs() / 60 % 60, duration.as_secs() % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_carry_three_digits() {
        assert_eq!(octets(800), "800 B");
        assert_eq!(octets(5_000_000), "5.00 MB");
        assert_eq!(rate(98_700_000.0), "98.7 Mbit/s");
        assert_eq!(milliseconds(0.1361), "0.136");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}
