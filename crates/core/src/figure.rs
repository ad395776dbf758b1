//! Formats of figures for people.
use std::time::Duration;

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes with a unit: `5.00 MB`, `800 B`.
pub fn bytes(count: u64) -> String {
    scaled(count as f64, "B")
}

/// A part of a number of bytes, with one unit if both have it: `18.0 of 41.2 MB`, `999 kB of 41.2 MB`.
pub fn of(done: u64, total: u64) -> String {
    let (done, total) = (bytes(done), bytes(total));
    let unit = |text: &str| text.split(' ').nth(1).unwrap_or_default().to_owned();
    match done.split_once(' ') {
        Some((figure, of)) if of == unit(&total) => format!("{figure} of {total}"),
        _ => format!("{done} of {total}"),
    }
}

/// A share: `1.2 %`, `12 %`, `<0.1 %`.
pub fn share(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 0.1 => "<0.1 %".into(),
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// A rate from bits and time: `9.87 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, "bit/s")
}

fn scaled(value: f64, unit: &str) -> String {
    let (scale, prefix) = match value {
        v if v >= 999.5e9 => (1e12, "T"),
        v if v >= 999.5e6 => (1e9, "G"),
        v if v >= 999.5e3 => (1e6, "M"),
        v if v >= 999.5 => (1e3, "k"),
        _ => return format!("{value:.0} {unit}"),
    };
    let value = value / scale;
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {prefix}{unit}")
}

/// Milliseconds with as many digits as matter: `0.136 ms`, `41.2 ms`, `1250 ms`.
pub fn milliseconds(ms: f64) -> String {
    let digits = match ms {
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    format!("{ms:.digits$}")
}

/// A duration in milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Time on the wall: `4.21 s`, `2 min 5 s`.
pub fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    match whole {
        0..60 => format!("{:.3} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Time as it is felt: `52 ms`, `3.2 s`, `2 min 5 s`.
pub fn brief(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds < 59.95 => format!("{seconds:.1} s"),
        seconds if seconds < 60.0 => format!("{seconds:.0} s"),
        _ => self::seconds(duration),
    }
}

/// Time as a clock shows it: `0:07`, `1:02:05`.
pub fn clock(duration: Duration) -> String {
    let (hours, minutes, seconds) =
        (duration.as_secs() / 3600, duration.as_secs() / 60 % 60, duration.as_secs() % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A text in lines of so many columns, broken after spaces and commas where it has some; lines that go on are indented.
pub fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let mut wrapped: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut open = String::new();
        for piece in line.split_inclusive([' ', ',']) {
            let width = open.chars().count() + piece.trim_end().chars().count();
            if width > columns && !open.trim().is_empty() {
                wrapped.push(open.trim_end().to_owned());
                open = " ".repeat(indent);
            }
            open.push_str(piece);
        }
        wrapped.push(open.trim_end().to_owned());
    }
    wrapped.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_carry_three_digits() {
        assert_eq!(bytes(800), "800 B");
        assert_eq!(bytes(5_000_000), "5.00 MB");
        assert_eq!(rate(98_700_000.0), "98.7 Mbit/s");
        assert_eq!(milliseconds(0.1361), "0.136");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(bytes(999_900_000_000), "1.00 TB");
        assert_eq!(brief(Duration::from_millis(52)), "52 ms");
        assert_eq!(brief(Duration::from_millis(3_240)), "3.2 s");
        assert_eq!(brief(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!((bytes(9_999_999).as_str(), bytes(99_990_000).as_str()), ("10.0 MB", "100 MB"));
    }

    #[test]
    fn parts_share_the_unit_of_the_whole() {
        assert_eq!(of(18_000_000, 41_200_000), "18.0 of 41.2 MB");
        assert_eq!(of(999_000, 41_200_000), "999 kB of 41.2 MB");
        assert_eq!(of(0, 800), "0 of 800 B");
    }

    #[test]
    fn lines_break_between_words() {
        let text =
            "  received      41.2 MB in 3.8 s: goodput 86.8 Mbit/s\n  timer         a(b=1,c=2,d=3)";
        let narrow = "  received      41.2 MB in 3.8 s:\n                goodput 86.8\n                Mbit/s\n  \
                      timer         a(b=1,c=2,d=3)";
        assert_eq!(wrapped(text, 33, 16), narrow);
        assert_eq!(wrapped(text, 80, 16), text);
        assert_eq!(wrapped("a(b=1,c=2,d=3)", 8, 2), "a(b=1,\n  c=2,\n  d=3)");
        assert_eq!(wrapped("word", 2, 1), "word");
    }

    #[test]
    fn small_shares_are_not_nothing() {
        let texts = [0.0, 0.0004, 0.0123, 0.0999, 1.0].map(share);
        assert_eq!(texts, ["0.0 %", "<0.1 %", "1.2 %", "10 %", "100 %"]);
    }
}
