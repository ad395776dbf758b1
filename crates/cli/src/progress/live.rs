//! The live view: window, RTT, goodput and losses since the start, each as a row of blocks below the progress line.
use super::strip::Strip;
use super::target::MARGIN;
use crate::format;
use recoup_transport::time::{Duration, Instant};

/// Seconds of one place of a series, at first.
const EVERY: f64 = 0.1;
/// Columns of a row's name, and of its value with the gap before it.
const NAME: usize = 8;
const VALUE: usize = 26;
/// Fewest blocks of a row; on a narrower terminal there are no rows.
const FEWEST: usize = 6;

/// State of a transfer or run, for the rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vitals {
    /// Window in segments, if there is one yet.
    pub window: Option<f64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Bits of content per second.
    pub rate: f64,
    /// Transmissions that were lost so far.
    pub lost: u64,
    /// Interests sent so far.
    pub interests: u64,
}

/// Series of a transfer or run.
#[derive(Debug)]
pub struct Live {
    window: Strip,
    rtt: Strip,
    goodput: Strip,
    losses: Strip,
    latest: Vitals,
}

/// Series that begin at time zero.
impl Default for Live {
    fn default() -> Self {
        Self {
            window: Strip::of_level(EVERY),
            rtt: Strip::of_level(EVERY),
            goodput: Strip::of_level(EVERY),
            losses: Strip::of_count(EVERY),
            latest: Vitals::default(),
        }
    }
}

impl Live {
    /// Adds the state at `now`.
    pub fn push(&mut self, now: Instant, vitals: Vitals) {
        let at = now.as_secs_f64();
        if let Some(window) = vitals.window {
            self.window.push(at, window);
        }
        if let Some(srtt) = vitals.srtt {
            self.rtt.push(at, format::ms(srtt));
        }
        self.goodput.push(at, vitals.rate);
        self.losses.push(at, vitals.lost.saturating_sub(self.latest.lost) as f64);
        self.latest = vitals;
    }

    /// The rows for a terminal with so many columns, each in a line of its own.
    pub fn rows(&self, columns: usize) -> Vec<String> {
        let width = columns.saturating_sub(MARGIN + NAME + VALUE);
        if width < FEWEST {
            return Vec::new();
        }
        let Self { window, rtt, goodput, losses, latest } = self;
        let segments = latest.window.map_or("–".into(), |window| {
            format!("{window:.0} segments, most {:.0}", window.max(self.window.most()))
        });
        let srtt = latest.srtt.map_or("–".into(), |srtt| {
            let most = format::milliseconds(rtt.most());
            format!("{} ms, most {most}", format::milliseconds(format::ms(srtt)))
        });
        let share = latest.lost as f64 / latest.interests.max(1) as f64;
        let lost = match latest.lost {
            0 => "none".into(),
            lost => format!("{lost} ({})", format::share(share)),
        };
        let rate = format::rate(latest.rate);
        let row = |name: &str, strip: &Strip, value: String| {
            let value = fitting(value);
            format!("{name:NAME$}{:width$}  {value}", strip.draw(width))
        };
        vec![
            row("window", window, segments),
            row("RTT", rtt, srtt),
            row("goodput", goodput, rate),
            row("losses", losses, lost),
        ]
    }
}

/// A value that fits its columns: no number is cut, the largest value so far is left out instead.
fn fitting(value: String) -> String {
    match value.split_once(", ") {
        Some((latest, _)) if value.chars().count() > VALUE - 2 => latest.to_owned(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(seconds: u64) -> Live {
        let mut live = Live::default();
        for tenth in 0..seconds * 10 {
            live.push(
                Instant::from_millis(tenth * 100),
                Vitals {
                    window: Some(2.0 + tenth as f64),
                    srtt: Some(Duration::from_micros(30_170)),
                    rate: 103e6,
                    lost: tenth / 20,
                    interests: 1 + tenth * 10,
                },
            );
        }
        live
    }

    #[test]
    fn rows_fit_every_terminal() {
        for (seconds, columns) in [(1, 80), (10, 80), (100_000, 80), (60, 44), (60, 200)] {
            let rows = transfer(seconds).rows(columns);
            assert_eq!(rows.len(), 4);
            for row in rows {
                assert!(row.chars().count() <= columns - MARGIN, "{columns}: {row}");
            }
        }
        assert_eq!(transfer(60).rows(42), Vec::<String>::new());
    }

    #[test]
    fn no_number_is_cut() {
        let mut live = Live::default();
        let window = Some(1_234_567.0);
        let srtt = Some(Duration::from_micros(123_456_789));
        let vitals = Vitals { window, srtt, rate: 1e12, lost: 1_234_567, interests: 9_999_999 };
        live.push(Instant::ZERO, vitals);
        let rows = live.rows(60);
        for (row, end) in
            rows.iter().zip(["1234567 segments", "most 123457", "bit/s", "1234567 (12 %)"])
        {
            assert!(row.ends_with(end) && row.chars().count() <= 60 - MARGIN, "{row}");
        }
    }

    #[test]
    fn rows_show_the_latest_values() {
        let rows = transfer(4).rows(60);
        assert!(rows[0].starts_with("window  ▁▁▂"), "{}", rows[0]);
        assert!(rows[0].ends_with("█  41 segments, most 41"), "{}", rows[0]);
        assert!(rows[1].ends_with("█  30.17 ms, most 30.17"), "{}", rows[1]);
        assert!(rows[2].ends_with("█  103 Mbit/s"), "{}", rows[2]);
        assert!(rows[3].starts_with("losses              █"), "{}", rows[3]);
        assert!(rows[3].ends_with("  1 (0.3 %)"), "{}", rows[3]);
        let nothing = Live::default().rows(60);
        assert!(nothing[0].ends_with(" –") && nothing[3].ends_with(" none"), "{nothing:?}");
    }
}
