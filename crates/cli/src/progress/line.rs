//! The text of the progress line; fields that do not fit are dropped whole.
use super::target::MARGIN;
use super::{Extent, State};
use crate::format;
use recoup_transport::time::{Duration, Instant};

/// Narrowest and widest bar, in columns.
const MIN_BAR: usize = 8;
const MAX_BAR: usize = 40;
/// Less important fields need a bar of this width or none.
const FAIR_BAR: usize = 16;
/// Between two fields.
const GAP: &str = "  ";
/// Time without an arrival after which the line reports it.
const SILENCE: Duration = Duration::from_secs(3);

/// A state at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    /// Time since the command began.
    pub(super) now: Instant,
    /// Bits per second over [`RATE_OVER`](super::RATE_OVER).
    pub(super) rate: f64,
    /// Received part.
    pub(super) state: &'a State,
}

impl View<'_> {
    /// The width of the bar, 0 for none, and the text beside it.
    pub(super) fn fit(&self, columns: usize) -> (usize, String) {
        let room = columns.saturating_sub(MARGIN);
        let mut text = String::new();
        for field in self.fields() {
            append(&mut text, &field, room);
        }
        for field in self.details() {
            append(&mut text, &field, room.saturating_sub(FAIR_BAR + 1));
        }
        let bar = room.saturating_sub(width(&text) + 1).min(MAX_BAR);
        (if bar < MIN_BAR { 0 } else { bar }, text)
    }

    /// Fields, most important first.
    fn fields(&self) -> Vec<String> {
        let state = self.state;
        let elapsed = Duration::from_nanos(self.now.as_nanos());
        let clock = format::clock(elapsed);
        let done = state.held_bytes + state.fetched_bytes;
        let idle = state.last_arrival.map_or(elapsed, |at| self.now.since(at));
        let mut fields = Vec::new();
        match (state.extent, self.total()) {
            (Extent::Segments { done: segments, of: Some(of) }, Some(total)) => {
                let percent = 100 * u128::from(segments) / u128::from(of.max(1));
                fields.push(format!("{percent:>3} %"));
                fields.push(format::of(done, total));
            }
            (Extent::Files { done: files, of }, _) => {
                fields.push(format!("{files} of {of} files"));
                fields.push(format::bytes(done));
            }
            _ if done == 0 => {
                let what =
                    if state.disconnected { "no connection" } else { "waiting for an answer" };
                return vec![what.into(), clock];
            }
            _ => fields.push(format::bytes(done)),
        }
        if state.disconnected {
            fields.extend(["no connection".into(), clock]);
        } else if idle >= SILENCE {
            fields.extend([format!("idle for {}", format::clock(idle)), clock]);
        } else {
            fields.extend([clock, format::rate(self.rate)]);
            fields.extend(self.left().map(|left| format!("{} left", format::clock(left))));
        }
        if state.lost > 0 {
            let share = state.lost as f64 / state.interests.max(1) as f64;
            fields.push(format!("{} lost", format::share(share)));
        }
        fields
    }

    /// Details for experts.
    fn details(&self) -> Vec<String> {
        let rtt = self.state.srtt.map(|srtt| {
            let srtt = format::milliseconds(format::ms(srtt));
            format!("RTT {srtt} ms")
        });
        rtt.into_iter()
            .chain([format!("window {:.0}", self.state.window.unwrap_or_default())])
            .collect()
    }

    /// Estimated bytes of the whole, from the received segments.
    fn total(&self) -> Option<u64> {
        let Extent::Segments { done, of: Some(of) } = self.state.extent else { return None };
        let bytes = self.state.held_bytes + self.state.fetched_bytes;
        let total = u128::from(bytes) * u128::from(of) / u128::from(done.max(1));
        (done > 0).then(|| u64::try_from(total).unwrap_or(u64::MAX))
    }

    /// Estimated remaining time.
    fn left(&self) -> Option<Duration> {
        let missing =
            self.total()?.saturating_sub(self.state.held_bytes + self.state.fetched_bytes);
        let seconds = missing as f64 * 8.0 / self.rate;
        (seconds.is_finite() && seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
    }
}

/// Appends a field if it fits into `room` columns.
fn append(text: &mut String, field: &str, room: usize) {
    let gap = if text.is_empty() { "" } else { GAP };
    if width(text) + gap.len() + field.len() <= room {
        text.push_str(gap);
        text.push_str(field);
    }
}

/// Columns of a text; the fields are ASCII.
fn width(text: &str) -> usize {
    text.len()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A download of 5,000 segments, not yet half of them here.
    pub(crate) fn state() -> State {
        State {
            extent: Extent::Segments { done: 2_250, of: Some(5_000) },
            held_bytes: 0,
            fetched_bytes: 18_000_000,
            lost: 27,
            interests: 2_250,
            last_arrival: Some(Instant::from_millis(7_000)),
            srtt: Some(Duration::from_micros(30_170)),
            window: Some(98.0),
            disconnected: false,
        }
    }

    fn line(state: &State, columns: usize) -> (usize, String) {
        View { now: Instant::from_millis(7_000), rate: 103e6, state }.fit(columns)
    }

    #[test]
    fn line_holds_what_fits() {
        let state = state();
        assert_eq!(line(&state, 40), (8, " 45 %  18.0 of 40.0 MB  0:07".into()));
        let text = " 45 %  18.0 of 40.0 MB  0:07  103 Mbit/s  0:01 left  1.2 % lost";
        assert_eq!(line(&state, 80), (13, text.into()));
        let more = format!("{text}  RTT 30.17 ms  window 98");
        assert_eq!(line(&state, 200), (MAX_BAR, more));
    }

    #[test]
    fn no_field_is_cut_at_any_width() {
        let extremes = [
            state(),
            State { extent: Extent::Segments { done: 0, of: None }, fetched_bytes: 0, ..state() },
            State {
                extent: Extent::Segments { done: 0, of: Some(1) },
                fetched_bytes: 0,
                ..state()
            },
            State {
                extent: Extent::Segments { done: 124_999_999, of: Some(125_000_000) },
                fetched_bytes: 999_900_000_000,
                lost: 124_999_999,
                interests: 125_000_000,
                srtt: Some(Duration::from_secs(59)),
                window: Some(1e9),
                ..state()
            },
            State { extent: Extent::Files { done: 99_999, of: 100_000 }, ..state() },
            State { fetched_bytes: u64::MAX / 4, held_bytes: u64::MAX / 4, ..state() },
            State { disconnected: true, ..state() },
            State { last_arrival: Some(Instant::ZERO), ..state() },
        ];
        let hours = Instant::from_millis(99 * 3_600_000 + 59 * 60_000);
        for state in extremes {
            for (now, rate) in [(Instant::ZERO, 0.0), (hours, 1.0), (hours, 999.9e9)] {
                let view = View { now, rate, state: &state };
                let whole: Vec<String> = view.fields().into_iter().chain(view.details()).collect();
                for columns in [40, 80, 200] {
                    let (bar, text) = view.fit(columns);
                    let all = bar + usize::from(bar > 0) + text.len();
                    assert!(all < columns, "{all} of {columns}: {text}");
                    assert!(text.is_ascii(), "{text}");
                    for field in text.trim_start().split(GAP) {
                        let known = whole.iter().any(|whole| whole.trim_start() == field);
                        assert!(known, "{field:?} of {text:?}");
                    }
                    assert!(text.contains(&whole[0]), "{columns}: {text}");
                }
            }
        }
    }

    #[test]
    fn resumed_download_counts_from_where_it_was() {
        let state = State { held_bytes: 16_000_000, fetched_bytes: 2_000_000, ..state() };
        let text = line(&state, 80).1;
        assert!(text.starts_with(" 45 %  18.0 of 40.0 MB  0:07"), "{text}");
    }

    #[test]
    fn silence_is_named() {
        let state = State { last_arrival: Some(Instant::from_millis(2_000)), ..state() };
        let text = line(&state, 40).1;
        assert_eq!(text, " 45 %  18.0 of 40.0 MB  idle for 0:05");
        let cut_off = State { disconnected: true, ..state };
        assert_eq!(line(&cut_off, 40).1, " 45 %  18.0 of 40.0 MB  no connection");
        let nothing = State {
            extent: Extent::Segments { done: 0, of: None },
            fetched_bytes: 0,
            last_arrival: None,
            ..state
        };
        assert!(line(&nothing, 80).1.starts_with("waiting for an answer  0:07"));
    }
}
