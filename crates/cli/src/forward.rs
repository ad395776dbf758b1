//! `recoup forward`: a forwarder between applications and neighbours.
pub(crate) mod args;
pub(crate) mod config;
mod report;
mod scheduling;

pub(crate) use args::ForwardArgs;

use crate::error::{Exit, Failure};
use crate::output;
use crate::session::{driver_failure, face_failure, seed};
use crate::stop::Stop;
use config::ForwardConfig;
use recoup_forwarder::node::{Input, Machine, RouteChange};
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::FaceId;
use recoup_io::recording::{Heading, Recorder};
use recoup_transport::time::Duration;
use report::{Forwarded, Listening, Watched};
use std::fs::File;
use std::io::BufWriter;

/// The longest time between two looks at signals and at the recording.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// How long reading is put off where that collects packets.
const LINGER: Duration = Duration::from_micros(50);
/// How long the last frames may take to leave.
const FAREWELL: Duration = Duration::from_millis(500);

type Forwarder = Recorder<Watched, BufWriter<File>>;

/// Runs the command.
pub(crate) fn run(args: &ForwardArgs) -> Result<(), Failure> {
    let text = crate::config::read(&args.config)?;
    let config = ForwardConfig::parse(&args.config.display().to_string(), &text)?;
    let seed = seed()?.next_u64();
    let node = Watched::new(config.node(seed)?);
    let options = DriverOptions {
        marking: Some(Default::default()),
        on_demand_recovery: config.recovery,
        linger: Some(LINGER),
        ..DriverOptions::default()
    };
    let mut driver = Driver::with_options(options).map_err(|error| driver_failure(&error))?;
    driver.set_longest_wait(Some(LONGEST_WAIT));
    let stop = Stop::new(&driver.waker())?;
    let mut forwarder = record(args, node, Heading { seed, text })?;
    let listening = open(&config, &mut driver, &mut forwarder)?;
    if !args.quiet {
        config.warnings().iter().for_each(|line| output::tell(line));
    }
    begin(args, listening)?;
    let ended = until_stopped(args, &stop, &mut driver, &mut forwarder);
    driver.finish(FAREWELL);
    let finished = forwarder.finish().map_err(|error| unrecorded(args, &error));
    let forwarded = Forwarded::new(&driver, forwarder.machine());
    if args.json {
        output::json_line(&forwarded)?;
    } else if !args.quiet {
        output::print(format!("{forwarded}\n").as_bytes())?;
    }
    ended.and(finished)
}

fn record(args: &ForwardArgs, node: Watched, heading: Heading) -> Result<Forwarder, Failure> {
    let Some(path) = &args.record else {
        return Ok(Recorder::off(node));
    };
    let file = File::create(path)
        .map_err(|error| Failure::file("make the recording", path.display(), &error))?;
    Recorder::new(node, &heading, BufWriter::new(file)).map_err(|error| unrecorded(args, &error))
}

fn unrecorded(args: &ForwardArgs, error: &std::io::Error) -> Failure {
    let path = args.record.as_deref().unwrap_or(&args.config);
    Failure::file("write the recording", path.display(), error)
}

/// Opens everything that the configuration names; says where it listens.
fn open(
    config: &ForwardConfig,
    driver: &mut Driver,
    forwarder: &mut Forwarder,
) -> Result<Vec<String>, Failure> {
    let failed = |error| face_failure(&error);
    let mut listening = Vec::new();
    for uri in &config.listen {
        listening.push(driver.listen(uri).map_err(failed)?.uri.to_string());
    }
    let mut faces: Vec<FaceId> = Vec::new();
    for ((_, uri), recovery) in config.faces.iter().zip(&config.recoveries) {
        let face = driver.keep(uri).map_err(failed)?;
        driver.set_recovery(face, *recovery);
        faces.push(face);
    }
    for (place, scheduling) in config.scheduling() {
        if let Some(face) = faces.get(place) {
            let (face, scheduling) = (*face, Box::new(scheduling));
            forwarder.handle(driver.now(), Input::Schedule { face, scheduling });
        }
    }
    for route in &config.routes {
        let Some(face) = faces.get(route.face) else {
            continue;
        };
        let (prefix, cost) = (route.prefix.clone(), Some(route.cost));
        let change = RouteChange { prefix, face: *face, cost };
        forwarder.handle(driver.now(), Input::Route(change));
    }
    Ok(listening)
}

fn begin(args: &ForwardArgs, listening: Vec<String>) -> Result<(), Failure> {
    if args.json {
        return output::json_line(&Listening::new(listening));
    }
    if !args.quiet {
        let place = if listening.is_empty() { "nowhere".into() } else { listening.join(", ") };
        output::tell(&format!("forwarding; listening at {place}"));
    }
    Ok(())
}

fn until_stopped(
    args: &ForwardArgs,
    stop: &Stop,
    driver: &mut Driver,
    forwarder: &mut Forwarder,
) -> Result<(), Failure> {
    while stop.wanted().is_none() {
        driver.turn(forwarder, &mut |_, _, _| {}).map_err(|error| driver_failure(&error))?;
        while let Some(event) = driver.next_event() {
            if args.verbose {
                output::tell(&event.to_string());
            }
        }
        if let Some(error) = forwarder.trouble() {
            let failure = unrecorded(args, &error);
            return Err(match error.kind() {
                std::io::ErrorKind::Unsupported => Failure::new(Exit::Other, failure.message),
                _ => failure,
            });
        }
    }
    Ok(())
}
