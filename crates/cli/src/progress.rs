//! The progress bar: only on a terminal, drawn at most ten times a second.
use crate::format;
use crate::tally::Tally;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// The rate shown is the mean over this time.
const RATE_OVER: Duration = Duration::from_secs(2);
const DRAW_EVERY: Duration = Duration::from_millis(100);

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
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(style(false));
        Some(Self {
            bar,
            drawn: None,
            history: VecDeque::new(),
        })
    }

    /// Shows the state, unless it was shown a moment ago. `first` segments are there from before, the
    /// range wanted has `total` segments if known.
    pub(crate) fn show(&mut self, now: Instant, tally: &Tally, already: u64, total: Option<u64>) {
        if self
            .drawn
            .is_some_and(|drawn| now.since(drawn) < DRAW_EVERY)
        {
            return;
        }
        self.drawn = Some(now);
        if let (Some(total), None) = (total, self.bar.length()) {
            self.bar.set_style(style(true));
            self.bar.set_length(total);
        } else if let Some(total) = total {
            self.bar.set_length(total);
        }
        self.bar.set_position(already + tally.segments);
        let rate = self.rate(now, tally.octets);
        self.bar.set_message(state(tally, rate));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn rate(&mut self, now: Instant, octets: u64) -> f64 {
        while self
            .history
            .front()
            .is_some_and(|(at, _)| now.since(*at) > RATE_OVER)
        {
            self.history.pop_front();
        }
        self.history.push_back((now, octets));
        let (at, before) = self.history.front().copied().unwrap_or((now, octets));
        let seconds = now.since(at).as_secs_f64();
        if seconds > 0.0 {
            (octets - before) as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }
}

fn style(total: bool) -> ProgressStyle {
    let template = if total {
        "{bar:24} {share} {msg} {left}"
    } else {
        "{spinner} {pos} segments {msg}"
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "share",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{:3.0} %", state.fraction() * 100.0);
            },
        )
        .with_key(
            "left",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{} left", format::remaining(state.eta()));
            },
        )
        .progress_chars("━╸ ")
}

fn state(tally: &Tally, rate: f64) -> String {
    let mut text = format!("{} {}", format::octets(tally.octets), format::rate(rate));
    if let Some(srtt) = tally.srtt {
        let _ = write!(text, " rtt {} ms", format::milliseconds(format::ms(srtt)));
    }
    let _ = write!(text, " window {:.0} lost {}", tally.window, tally.timeouts);
    if tally.disconnected {
        text.push_str(" (no connection)");
    }
    text
}
