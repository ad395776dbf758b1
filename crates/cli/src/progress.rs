//! The progress line, and the live view below it: only on a terminal, drawn at most ten times a second.
mod line;
pub mod live;
mod strip;
mod target;

use crate::{format, terminal};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use line::View;
use live::{Live, Vitals};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use target::Margined;

/// The rate shown is the mean over this time.
const RATE_OVER: Duration = Duration::from_secs(2);
/// Shows that the command runs.
const SPINNER: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Delay of the line beside content on standard output, from the start and from the first content:
/// the reader may write to the same terminal.
const BESIDE_CONTENT: Duration = Duration::from_secs(1);

/// Total and completed amount.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// Segments of one object.
    Segments {
        /// Received.
        done: u64,
        /// Total, if known.
        of: Option<u64>,
    },
    /// Files of a folder.
    Files {
        /// Received.
        done: u64,
        /// Known so far.
        of: u64,
    },
}

/// Progress of a fetch.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Received part of the requested content.
    pub extent: Extent,
    /// Bytes of content held before this run.
    pub held_bytes: u64,
    /// Bytes of content that arrived in this run.
    pub fetched_bytes: u64,
    /// Transmissions that were lost.
    pub lost: u64,
    /// Interests sent.
    pub interests: u64,
    /// Time of the last arrival; `None` before the first Interest for a segment.
    pub last_arrival: Option<Instant>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Window in segments, if there is one yet.
    pub window: Option<f64>,
    /// The forwarder is unreachable.
    pub disconnected: bool,
}

/// A line on standard error.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    terminal: Term,
    drawn: Option<Instant>,
    /// Time from which the line is drawn.
    from: Instant,
    /// Times and bytes, for the rate.
    history: VecDeque<(Instant, u64)>,
    live: Option<Live>,
}

impl Progress {
    /// A line, if standard error is a terminal and `wanted`.
    pub fn new(wanted: bool) -> Option<Self> {
        if !wanted || !terminal::can_draw() {
            return None;
        }
        Some(Self::on(Term::stderr()))
    }

    fn on(terminal: Term) -> Self {
        Self {
            bar: bar(&terminal),
            terminal,
            drawn: None,
            from: Instant::ZERO,
            history: VecDeque::new(),
            live: None,
        }
    }

    /// The line with the live view below it.
    #[must_use]
    pub fn with_live_view(self) -> Self {
        Self { live: Some(Live::default()), ..self }
    }

    /// The line of a command that writes content to standard output.
    #[must_use]
    pub fn beside_content(self) -> Self {
        Self { from: Instant::ZERO + BESIDE_CONTENT, ..self }
    }

    /// Hides the line for a while: the first content is about to be written to standard output.
    pub fn make_way(&mut self, now: Instant) {
        self.finish();
        self.bar = bar(&self.terminal);
        self.from = now + BESIDE_CONTENT;
    }

    /// Whether the line is due for an update.
    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.from && self.drawn.is_none_or(|drawn| now.since(drawn) >= DRAW_EVERY)
    }

    /// Shows the state.
    pub fn show(&mut self, now: Instant, state: &State) {
        self.drawn = Some(now);
        let rate = self.rate(now, state.fetched_bytes);
        let columns = format::columns(&self.terminal);
        let (width, text) = View { now, rate, state }.fit(columns);
        let mut lines = vec![line(now, width, &text, state.extent)];
        if let Some(live) = &mut self.live {
            let State { window, srtt, lost, interests, .. } = *state;
            live.push(now, Vitals { window, srtt, rate, lost, interests });
            lines.extend(live.rows(columns));
        }
        // One change: each one is drawn, and a line of another width than the terminal's would leave a dead line.
        self.bar.set_message(lines.join("\n"));
    }

    /// Hides the line while `write` runs.
    pub fn above(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn rate(&mut self, now: Instant, bytes: u64) -> f64 {
        while self.history.front().is_some_and(|(at, _)| now.since(*at) > RATE_OVER) {
            self.history.pop_front();
        }
        self.history.push_back((now, bytes));
        let (at, before) = self.history.front().copied().unwrap_or((now, bytes));
        let seconds = now.since(at).as_secs_f64();
        if seconds > 0.0 { bytes.saturating_sub(before) as f64 * 8.0 / seconds } else { 0.0 }
    }
}

fn bar(terminal: &Term) -> ProgressBar {
    let target = Box::new(Margined::new(terminal.clone()));
    let bar =
        ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like_with_hz(target, 10));
    let style = ProgressStyle::with_template("{msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The progress line: a bar of that width, or a sign of life where the total is not known, and the text.
fn line(now: Instant, width: usize, text: &str, extent: Extent) -> String {
    let (done, of) = match extent {
        Extent::Segments { done, of } => (done, of),
        Extent::Files { done, of } => (done, Some(of)),
    };
    match of {
        _ if width == 0 => text.to_owned(),
        None => {
            let turns = now.as_nanos() / DRAW_EVERY.as_nanos() as u64;
            let place = (turns % SPINNER.len() as u64) as usize;
            format!("{} {text}", SPINNER[place])
        }
        Some(of) => {
            let halves = u128::from(done.min(of)) * 2 * width as u128 / u128::from(of.max(1));
            let (full, half) = ((halves / 2) as usize, if halves % 2 == 1 { "╸" } else { "" });
            let bar = "━".repeat(full) + half;
            format!("{bar:width$} {text}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;

    /// The last segment came 0.9 s after the start.
    fn state() -> State {
        State { last_arrival: Some(Instant::from_millis(900)), ..line::tests::state() }
    }

    #[test]
    fn last_columns_stay_free_for_an_echo() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = File::options().append(true).open(file.path()).unwrap();
        let mut progress =
            Progress::on(Term::read_write_pair(File::open(file.path()).unwrap(), write));
        progress.show(Instant::from_millis(1_000), &state());
        progress.finish();
        let mut drawn = String::new();
        file.reopen().unwrap().read_to_string(&mut drawn).unwrap();
        assert!(drawn.contains("18.0 of 40.0 MB"), "{drawn:?}");
        for line in drawn.split(['\r', '\n']) {
            let shown = console::strip_ansi_codes(line);
            assert!(shown.chars().count() <= 80 - target::MARGIN, "{shown:?}");
        }
        assert!(drawn.ends_with("\r\u{1b}[2K"), "{drawn:?}");
    }

    #[test]
    fn each_line_fits_whatever_changes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = File::options().append(true).open(file.path()).unwrap();
        let read = File::open(file.path()).unwrap();
        let mut progress = Progress::on(Term::read_write_pair(read, write)).with_live_view();
        for (tenth, lost) in [(10, 0), (20, 0), (30, 400), (40, 12_000), (50, 0)] {
            let mut state = State { lost, ..state() };
            if tenth == 50 {
                state.extent = Extent::Segments { done: 7, of: None };
            }
            progress.show(Instant::from_millis(tenth * 100), &state);
            std::thread::sleep(std::time::Duration::from_millis(120));
        }
        let drawn = std::fs::read_to_string(file.path()).unwrap();
        for line in drawn.split(['\r', '\n']) {
            let shown = console::strip_ansi_codes(line);
            assert!(shown.chars().count() <= 80 - target::MARGIN, "{shown:?}");
        }
    }

    #[test]
    fn live_view_has_a_line_for_each_row() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = File::options().append(true).open(file.path()).unwrap();
        let read = File::open(file.path()).unwrap();
        let mut progress = Progress::on(Term::read_write_pair(read, write)).with_live_view();
        progress.show(Instant::from_millis(1_000), &state());
        let drawn = std::fs::read_to_string(file.path()).unwrap();
        let drawn = console::strip_ansi_codes(&drawn).into_owned();
        let begins: Vec<_> = drawn.split('\n').map(|line| line.trim_start_matches('\r')).collect();
        for (line, begin) in begins.iter().rev().zip(["losses ", "goodput ", "RTT ", "window "]) {
            assert!(line.starts_with(begin), "{line:?} of {drawn:?}");
            assert!(line.chars().count() <= 80 - target::MARGIN, "{line:?}");
        }
        progress.finish();
        let drawn = std::fs::read_to_string(file.path()).unwrap();
        assert!(drawn.matches("\r\u{1b}[2K").count() >= 5, "{drawn:?}");
    }

    #[test]
    fn line_beside_content_appears_late() {
        let progress = Progress::on(Term::stderr());
        assert!(progress.is_due(Instant::ZERO));
        let progress = progress.beside_content();
        assert!(!progress.is_due(Instant::from_millis(999)));
        assert!(progress.is_due(Instant::from_millis(1_000)));
    }

    #[test]
    fn line_makes_way_for_the_first_content() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = File::options().append(true).open(file.path()).unwrap();
        let read = File::open(file.path()).unwrap();
        let mut progress = Progress::on(Term::read_write_pair(read, write)).beside_content();
        progress.show(Instant::from_millis(1_200), &state());
        progress.make_way(Instant::from_millis(1_300));
        let drawn = std::fs::read_to_string(file.path()).unwrap();
        assert!(drawn.contains("18.0 of 40.0 MB"), "{drawn:?}");
        assert!(drawn.ends_with("\r\u{1b}[2K"), "{drawn:?}");
        assert!(!progress.is_due(Instant::from_millis(2_299)));
        assert!(progress.is_due(Instant::from_millis(2_300)));
    }
}
