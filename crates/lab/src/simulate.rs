//! One run: a simulation from its network to its end, with its metrics and records.
use crate::campaign::{Outcome, Runner, Stage};
use crate::folder::{Draft, Shelf};
use crate::{Error, ErrorKind};
use recoup_sim::metric::Metrics;
use recoup_sim::network::Network;
use recoup_sim::observe::Observer;
use recoup_sim::pcap::Capture;
use recoup_sim::record::Records;
use recoup_sim::simulation::{Cause, Digest, Ended, Simulation};
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
        let network = stage
            .scenario
            .network(seed)
            .map_err(|problems| broken(stage, seed, &problems.to_string()))?;
        let record = stage.scenario.record();
        let mut digest = Digest::new();
        let mut metrics = Metrics::new(&network, record.detail());
        let mut records = Records::new(&network, &record.plans());
        let mut observers: Vec<&mut dyn Observer> = vec![&mut digest, &mut metrics];
        if !records.is_empty() {
            observers.push(&mut records);
        }
        let mut capture = Captured::begin(stage, seed, &network, shelf)?;
        observers.extend(capture.as_mut().map(|captured| &mut captured.packets as _));
        let mut simulation =
            simulation(network, seed).map_err(|what| broken(stage, seed, &what))?;
        let Some(ended) = run_sliced(&mut simulation, &mut observers, stop) else {
            return Ok(None);
        };
        if ended.cause == Cause::Unbalanced {
            return Err(broken(stage, seed, "packets vanished or came from nowhere"));
        }
        if let Some(captured) = capture {
            captured.draft.keep(captured.packets.finish())?;
        }
        Ok(Some(Outcome {
            digest: format!("{:016x}", digest.value()),
            end_s: ended.at.as_secs_f64(),
            metrics: metrics.finish(ended.at).iter().cloned().collect(),
            tables: records.finish(ended.at),
        }))
    }
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
        network: &Network,
        shelf: Option<&Shelf>,
    ) -> Result<Option<Self>, Error> {
        let Some((shelf, options)) = shelf.zip(stage.scenario.capture(network)) else {
            return Ok(None);
        };
        let (draft, file) = shelf.begin_capture(&stage.key, seed)?;
        let packets = Capture::new(network, &options, BufWriter::new(file));
        let packets = packets.map_err(|error| draft.failure(&error))?;
        Ok(Some(Self { packets, draft }))
    }
}

fn simulation(network: Network, seed: u64) -> Result<Simulation, String> {
    Simulation::new(network, seed).map_err(|error| error.to_string())
}

/// Runs to the end, unless the flag is raised before.
fn run_sliced(
    simulation: &mut Simulation,
    observers: &mut [&mut dyn Observer],
    stop: &AtomicBool,
) -> Option<Ended> {
    // The simulated time of a slice depends on the density of events.
    let mut step = Duration::from_millis(10);
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        if let Some(ended) = simulation.run_until(simulation.now() + step, observers) {
            return Some(ended);
        }
        step = match begun.elapsed() {
            short if short < SLICE / 2 => step.saturating_mul(2),
            long if long > SLICE * 2 => (step / 2).max(Duration::from_micros(1)),
            _ => step,
        };
    }
    None
}

fn broken(stage: &Stage, seed: u64, what: &str) -> Error {
    let label = stage.point.label();
    let at = if label.is_empty() { String::new() } else { format!(" at {label}") };
    Error::new(ErrorKind::Other, format!("seed {seed}{at}: {what}"))
}
