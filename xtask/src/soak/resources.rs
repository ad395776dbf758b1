//! Memory and descriptors of the processes that are never killed, judged by their slopes.

use super::Soak;
use super::network::{Network, Role};
use std::fmt::Write;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(500);
/// Share of the time in which tables fill: not judged.
const WARM_UP: f64 = 0.25;
/// Growth of resident memory over the judged time that is no leak: bytes, and a share of the mean.
const MEMORY: f64 = 8e6;
const MEMORY_SHARE: f64 = 0.05;
/// In a shorter time than this, in seconds, queues and caches still fill: memory must stay below a limit, in bytes.
const FILLS_WITHIN: f64 = 600.0;
const MEMORY_LIMIT: f64 = 128e6;
/// Growth of the number of descriptors that is no leak.
const DESCRIPTORS: f64 = 6.0;
/// Bytes of a page.
const PAGE: f64 = 4_096.0;

/// Samples of a process: time in seconds, resident bytes, descriptors.
type Samples = Vec<(f64, f64, f64)>;

/// Samples of all lasting processes.
pub(super) struct Resources<'a> {
    soak: &'a Soak,
    samples: Mutex<[Samples; Role::LASTING.len()]>,
}

impl<'a> Resources<'a> {
    pub(super) fn new(soak: &'a Soak) -> Self {
        Self { soak, samples: Mutex::default() }
    }

    /// Samples until the soak is over.
    pub(super) fn watch(&self, network: &Network) {
        while !self.soak.is_over() {
            let next = Instant::now() + EVERY;
            let time = self.soak.start.elapsed().as_secs_f64();
            for (index, role) in Role::LASTING.into_iter().enumerate() {
                let sample = network.id(role).and_then(sample);
                if let Some((memory, descriptors)) = sample {
                    let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
                    samples[index].push((time, memory, descriptors));
                }
            }
            self.soak.sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Records processes that grow, and returns the growth of all.
    pub(super) fn judge(&self) -> String {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from("growth of memory and descriptors:");
        let mut table = String::from("process\ttime_s\tresident_bytes\tdescriptors\n");
        for (role, samples) in Role::LASTING.into_iter().zip(&*samples) {
            for (time, memory, descriptors) in samples {
                let name = role.name();
                let _ = writeln!(table, "{name}\t{time:.1}\t{memory}\t{descriptors}");
            }
            let skipped = (samples.len() as f64 * WARM_UP) as usize;
            let judged = samples.get(skipped..).unwrap_or_default();
            let memory = growth(judged.iter().map(|it| (it.0, it.1)));
            let descriptors = growth(judged.iter().map(|it| (it.0, it.2)));
            let mean = judged.iter().map(|it| it.1).sum::<f64>() / judged.len().max(1) as f64;
            let (grown, share) = (memory / 1e6, 100.0 * memory / mean);
            let name = role.name();
            let _ = write!(text, " {name} {grown:+.1} MB ({share:+.1} %) {descriptors:+.1},");
            let last = judged.last().map_or(0.0, |it| it.0);
            let most = judged.iter().map(|it| it.1).fold(0.0, f64::max);
            if judged.is_empty() || most > MEMORY_LIMIT {
                self.soak.fail(format!("memory of {name}: {:.1} MB", most / 1e6));
            } else if last >= FILLS_WITHIN && memory > MEMORY.max(mean * MEMORY_SHARE) {
                self.soak.fail(format!("memory of {name} grows by {grown:.1} MB ({share:.1} %)"));
            }
            if descriptors > DESCRIPTORS {
                self.soak.fail(format!("descriptors of {name} grow by {descriptors:.1}"));
            }
        }
        let _ = fs::write(self.soak.folder.join("resources.tsv"), table);
        text.trim_end_matches(',').to_string()
    }
}

/// Resident bytes and descriptors of a process.
fn sample(id: u32) -> Option<(f64, f64)> {
    let pages = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
    let resident: f64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).ok()?.count();
    Some((PAGE * resident, descriptors as f64))
}

/// The slope of a line of least squares, times the length of the time.
fn growth(samples: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = samples.clone().count().max(1) as f64;
    let (time, value) = samples.clone().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let (mean_time, mean) = (time / count, value / count);
    let covariance: f64 = samples.clone().map(|it| (it.0 - mean_time) * (it.1 - mean)).sum();
    let variance: f64 = samples.clone().map(|it| (it.0 - mean_time).powi(2)).sum();
    let times = || samples.clone().map(|it| it.0);
    let length = times().fold(0.0, f64::max) - times().fold(f64::INFINITY, f64::min);
    if variance > 0.0 { covariance / variance * length } else { 0.0 }
}
