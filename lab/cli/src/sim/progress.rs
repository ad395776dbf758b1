//! The bar of a campaign: runs that are done, how long the rest takes, and a live view of a run in progress.
use crate::progress::live::{Live, Vitals};
use crate::{format, output, terminal};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recoup_lab::campaign::Watch;
use recoup_lab::journal::Row;
use recoup_lab::pulse::{Glance, Pulse};
use recoup_sim::record::Table;
use std::sync::Arc;
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
    view: Option<LiveView>,
}

/// The live view of one run after the other.
#[derive(Debug)]
struct LiveView {
    pulse: Arc<Pulse>,
    live: Live,
    latest: Option<Glance>,
}

impl Progress {
    /// A bar if standard error is a terminal and it is `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        let bar = (wanted && terminal::can_draw()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            ProgressBar::with_draw_target(None, target).with_style(style(""))
        });
        let (label, begun) = (String::new(), Instant::now());
        let lines = (wanted && bar.is_none()).then_some(begun);
        Self { bar, label, begun, made: 0, lines, hops: 0.0, busy_s: 0.0, view: None }
    }

    /// The bar with a live view of the runs that `pulse` shows.
    #[must_use]
    pub(crate) fn with_live_view(mut self, pulse: Arc<Pulse>) -> Self {
        if let Some(bar) = &self.bar {
            bar.set_style(style("\n{prefix}"));
        }
        self.view = Some(LiveView { pulse, live: Live::default(), latest: None });
        self
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
            if let Some(view) = &mut self.view {
                view.look();
                bar.set_prefix(view.rows(format::columns(&Term::stderr())).join("\n"));
            }
        }
    }

    fn ended(&mut self, row: &Row, _: &[Table]) {
        self.made += 1;
        self.hops += row.metric("all.packet_hops").unwrap_or(0.0);
        self.busy_s += row.elapsed_s;
    }
}

impl LiveView {
    /// Takes in the latest state of the run that is shown.
    fn look(&mut self) {
        let Some(glance) = self.pulse.look() else { return };
        let before = match self.latest.take() {
            Some(before) if before.run == glance.run => Some(before),
            _ => {
                self.live = Live::default();
                None
            }
        };
        let (since, bytes) =
            before.map_or((0.0, 0), |it| (it.at.as_secs_f64(), it.consumers.content_bytes));
        let all = &glance.consumers;
        let seconds = glance.at.as_secs_f64() - since;
        if seconds > 0.0 {
            let rate = all.content_bytes.saturating_sub(bytes) as f64 * 8.0 / seconds;
            let (lost, interests) = (all.lost(), all.interests);
            let vitals = Vitals { window: all.window, srtt: all.srtt, rate, lost, interests };
            self.live.push(glance.at, vitals);
        }
        self.latest = Some(glance);
    }

    /// The name of the run and its time, and its series.
    fn rows(&self, columns: usize) -> Vec<String> {
        let Some(Glance { point, seed, at, .. }) = &self.latest else { return Vec::new() };
        let point = if point.is_empty() { String::new() } else { format!("{point}, ") };
        let title = format!("{:.3} s simulated: {point}seed {seed}", at.as_secs_f64());
        let title = console::truncate_str(&title, columns.saturating_sub(1), "…").into_owned();
        std::iter::once(title).chain(self.live.rows(columns)).collect()
    }
}

/// The bar, and what is below it.
fn style(below: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{{bar:20}} {{wide_msg}}{below}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}
