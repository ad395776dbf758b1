//! How long the rest of a campaign takes.
use super::Task;
use std::time::{Duration, Instant};

/// Costs of runs so far, by point, for the estimate of the others.
pub(super) struct Ledger {
    begun: Instant,
    jobs: usize,
    pub(super) done: usize,
    /// Seconds of all finished runs.
    seconds: f64,
    /// Of no point if none has several missing runs.
    points: Vec<PointCosts>,
    /// Seconds of the missing runs of points of which a run has ended.
    known_s: f64,
    /// Missing runs of the other points.
    unknown: usize,
}

/// Costs of the runs of a point.
#[derive(Clone, Copy)]
struct PointCosts {
    missing: u32,
    /// Seconds of a run; NaN if none has ended. The last run counts half.
    each_s: f32,
}

impl PointCosts {
    /// Seconds of the missing runs; `None` if no run has ended.
    fn left_s(self) -> Option<f64> {
        (!self.each_s.is_nan()).then(|| f64::from(self.missing) * f64::from(self.each_s))
    }
}

impl Ledger {
    pub(super) fn new(tasks: impl Iterator<Item = Task>, points: usize, jobs: usize) -> Self {
        let mut points = vec![PointCosts { missing: 0, each_s: f32::NAN }; points];
        let (seconds, known_s, mut unknown) = (0.0, 0.0, 0);
        for task in tasks {
            if let Some(point) = points.get_mut(task.stage) {
                point.missing += 1;
            }
            unknown += 1;
        }
        Self { begun: Instant::now(), jobs, done: 0, seconds, points, known_s, unknown }
    }

    pub(super) fn note(&mut self, task: Task, elapsed_s: f64) {
        self.done += 1;
        self.seconds += elapsed_s;
        let Some(costs) = self.points.get_mut(task.stage) else {
            self.unknown -= 1;
            return;
        };
        match costs.left_s() {
            Some(left_s) => self.known_s -= left_s,
            None => self.unknown -= costs.missing as usize,
        }
        costs.missing -= 1;
        let elapsed_s = elapsed_s as f32;
        let is_first = costs.each_s.is_nan();
        costs.each_s = if is_first { elapsed_s } else { f32::midpoint(costs.each_s, elapsed_s) };
        self.known_s += costs.left_s().unwrap_or_default();
    }

    /// A point of which nothing was run costs what the others do on average.
    pub(super) fn left(&self) -> Option<Duration> {
        if self.done == 0 {
            return None;
        }
        let work = self.known_s.max(0.0) + self.unknown as f64 * self.seconds / self.done as f64;
        // What ran side by side until now is the best guess of how much will.
        let beside = self.seconds / self.begun.elapsed().as_secs_f64().max(1e-3);
        let seconds = work / beside.clamp(1.0, self.jobs as f64);
        (seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
    }
}
