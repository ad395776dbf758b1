//! The progress bar: only on a terminal, drawn at most ten times a second.
use crate::format;
use crate::tally::Tally;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// The rate shown is the mean over this time.
const RATE_OVER: Duration = Duration::from_secs(2);
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// How much there is, and how much of it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// Segments of one object, of how many if known.
    Segments {
        /// Those that are there.
        done: u64,
        /// Those that are wanted.
        of: Option<u64>,
    },
    /// Files of a folder.
    Files {
        /// Those that are there.
        done: u64,
        /// Those that are known so far.
        of: u64,
    },
}

/// A bar on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    drawn: Option<Instant>,
    /// (when, octets so far), for the rate.
    history: VecDeque<(Instant, u64)>,
}

impl Progress {
    /// A bar, if standard error is a terminal and `wanted`.
    pub(crate) fn new(wanted: bool) -> Option<Self> {
        if !wanted || !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        bar.set_style(style(false));
        Some(Self { bar, drawn: None, history: VecDeque::new() })
    }

    /// Whether it was not shown a moment ago.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.drawn.is_none_or(|drawn| now.since(drawn) >= DRAW_EVERY)
    }

    /// Shows the state.
    pub(crate) fn show(&mut self, now: Instant, tally: &Tally, extent: Extent) {
        self.drawn = Some(now);
        let rate = self.rate(now, tally.content_bytes);
        let (done, of) = match extent {
            Extent::Segments { done, of } => (done, of),
            Extent::Files { done, of } => (done, Some(of)),
        };
        if let Some(of) = of {
            if self.bar.length().is_none() {
                self.bar.set_style(style(true));
            }
            self.bar.set_length(of);
        }
        self.bar.set_position(done);
        self.bar.set_message(state(tally, rate, extent));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn rate(&mut self, now: Instant, octets: u64) -> f64 {
        while self.history.front().is_some_and(|(at, _)| now.since(*at) > RATE_OVER) {
            self.history.pop_front();
        }
        self.history.push_back((now, octets));
        let (at, before) = self.history.front().copied().unwrap_or((now, octets));
        let seconds = now.since(at).as_secs_f64();
        if seconds > 0.0 { (octets - before) as f64 * 8.0 / seconds } else { 0.0 }
    }
}

fn style(total: bool) -> ProgressStyle {
    let template = if total { "{bar:20} {wide_msg}" } else { "{spinner} {wide_msg}" };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}

/// What stands beside the bar.
fn state(tally: &Tally, rate: f64, extent: Extent) -> String {
    let (mut text, left) = match extent {
        Extent::Segments { done, of: Some(of) } => (
            format!("{:.0} % ", 100.0 * done as f64 / of.max(1) as f64),
            left(tally, rate, of.saturating_sub(done)),
        ),
        Extent::Segments { of: None, .. } => (String::new(), None),
        Extent::Files { done, of } => (format!("{done} of {of} files  "), None),
    };
    let _ = write!(text, "{}  {}", format::octets(tally.content_bytes), format::rate(rate));
    if let Some(left) = left {
        let _ = write!(text, "  {} left", format::remaining(left));
    }
    if let Some(srtt) = tally.srtt {
        let srtt = format::milliseconds(format::ms(srtt));
        let _ = write!(text, "  RTT {srtt} ms");
    }
    let _ = write!(text, "  window {:.0}  lost {}", tally.window.unwrap_or(0.0), tally.timeouts);
    if tally.disconnected {
        text.push_str("  no connection");
    }
    text
}

/// How long the rest takes at this rate, if that can be said.
fn left(tally: &Tally, rate: f64, missing: u64) -> Option<Duration> {
    let segment_bits = tally.content_bytes as f64 * 8.0 / tally.segments.max(1) as f64;
    let seconds = missing as f64 * segment_bits / rate;
    (seconds.is_finite() && seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
}
