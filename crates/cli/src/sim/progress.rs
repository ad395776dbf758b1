//! The bar of a campaign: runs that are done, how long the rest takes.
use crate::{format, output, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recoup_lab::campaign::Watch;
use recoup_lab::journal::Row;
use recoup_sim::record::Table;
use std::time::{Duration, Instant};

/// Time between two lines where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Watches a campaign: counts runs, and draws a bar on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// Stands in front of the counts.
    pub label: String,
    begun: Instant,
    /// Runs that were made.
    pub made: usize,
    /// Lines take the place of the bar, where standard error is no terminal; the time of the last one.
    lines: Option<Instant>,
    /// Packet-hops of these runs.
    pub hops: f64,
    /// Seconds that they took, one after the other.
    pub busy_s: f64,
}

impl Progress {
    /// A bar if standard error is a terminal and it is `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        let bar = (wanted && terminal::can_draw()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            ProgressBar::with_draw_target(None, target).with_style(style())
        });
        let (label, begun) = (String::new(), Instant::now());
        let lines = (wanted && bar.is_none()).then_some(begun);
        Self { bar, label, begun, made: 0, lines, hops: 0.0, busy_s: 0.0 }
    }

    /// Removes the bar; returns the time since it was drawn.
    pub(crate) fn finish(&self) -> Duration {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
        self.begun.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Watch for Progress {
    fn progress(&mut self, done: usize, all: usize, left: Option<Duration>) {
        let left = left.map(|left| format!(", {} left", format::clock(left))).unwrap_or_default();
        let text = format!("{}{done} of {all} runs{left}", self.label);
        if let Some(last) = self.lines.filter(|last| last.elapsed() >= LINE_EVERY) {
            self.lines = Some(last + last.elapsed());
            output::eprint(&text);
        }
        if let Some(bar) = &self.bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(text);
        }
    }

    fn ended(&mut self, row: &Row, _: &[Table]) {
        self.made += 1;
        self.hops += row.metric("all.packet_hops").unwrap_or(0.0);
        self.busy_s += row.elapsed_s;
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:20} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}
