//! One run: a simulation from its network to its end, with its metrics and records.
use crate::campaign::{Outcome, Runner, Stage};
use crate::folder::{Draft, Shelf};
use crate::pulse::{Pulse, Shown};
use crate::{Error, ErrorKind};
use recoup_sim::network::Network;
use recoup_sim::observe::Observer;
use recoup_sim::pcap::{Capture, CaptureOptions};
use recoup_sim::run::Run;
use std::fs::File;
use std::io::BufWriter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Simulated time between two checks of the stop flag.
const SLICE: Duration = Duration::from_millis(50);

/// Runs simulations.
#[derive(Debug)]
pub struct Simulations;

impl Runner for Simulations {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        shelf: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error> {
        run(stage, seed, shelf, stop, None)
    }
}

/// Runs simulations, and shows one of those in progress.
#[derive(Debug)]
pub struct Followed<'a>(pub &'a Pulse);

impl Runner for Followed<'_> {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        shelf: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error> {
        run(stage, seed, shelf, stop, Some(self.0))
    }
}

fn run(
    stage: &Stage,
    seed: u64,
    shelf: Option<&Shelf>,
    stop: &AtomicBool,
    pulse: Option<&Pulse>,
) -> Result<Option<Outcome>, Error> {
    let scenario = stage.scenario()?;
    let network =
        scenario.network(seed).map_err(|problems| broken(stage, seed, &problems.to_string()))?;
    let mut capture = Captured::begin(stage, seed, scenario.capture(&network), &network, shelf)?;
    let record = scenario.record();
    let mut run = Run::new(network, seed, record.detail(), &record.plans())
        .map_err(|error| broken(stage, seed, &error.to_string()))?;
    let packets = capture.as_mut().map(|it| &mut it.packets as _);
    let shown = pulse.map(|pulse| pulse.begin(stage.point.label(), seed));
    if !run_sliced(&mut run, packets, shown, stop) {
        return Ok(None);
    }
    let results = run.finish().map_err(|error| broken(stage, seed, &error.to_string()))?;
    let Some(results) = results else { return Ok(None) };
    if let Some(captured) = capture {
        captured.draft.keep(captured.packets.finish())?;
    }
    Ok(Some(Outcome {
        digest: format!("{:016x}", results.digest),
        end_s: results.end.as_secs_f64(),
        metrics: results.metrics.iter().cloned().collect(),
        tables: results.tables,
    }))
}

/// A capture and the file that it becomes.
struct Captured {
    packets: Capture<BufWriter<File>>,
    draft: Draft,
}

impl Captured {
    /// Begins one if the scenario wants it and there is a shelf for it.
    fn begin(
        stage: &Stage,
        seed: u64,
        options: Option<CaptureOptions>,
        network: &Network,
        shelf: Option<&Shelf>,
    ) -> Result<Option<Self>, Error> {
        let Some((shelf, options)) = shelf.zip(options) else {
            return Ok(None);
        };
        let (draft, file) = shelf.begin_capture(&stage.key, seed)?;
        let packets = Capture::new(network, &options, BufWriter::new(file));
        let packets = packets.map_err(|error| draft.failure(&error))?;
        Ok(Some(Self { packets, draft }))
    }
}

/// Runs to the end, unless the flag is raised before. Returns whether it has ended.
fn run_sliced(
    run: &mut Run,
    mut more: Option<&mut dyn Observer>,
    mut shown: Option<Shown<'_>>,
    stop: &AtomicBool,
) -> bool {
    // The simulated time of a slice depends on the density of events.
    let mut step = Duration::from_millis(10);
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let more = more.as_mut().map(|more| &mut **more as _);
        if run.run_until(run.now() + step, more) {
            return true;
        }
        if let Some(shown) = &mut shown {
            shown.update(run.now(), run.metrics());
        }
        step = match begun.elapsed() {
            short if short < SLICE / 2 => step.saturating_mul(2),
            long if long > SLICE * 2 => (step / 2).max(Duration::from_micros(1)),
            _ => step,
        };
    }
    false
}

fn broken(stage: &Stage, seed: u64, what: &str) -> Error {
    let label = stage.point.label();
    let at = if label.is_empty() { String::new() } else { format!(" at {label}") };
    Error::new(ErrorKind::Other, format!("seed {seed}{at}: {what}"))
}
