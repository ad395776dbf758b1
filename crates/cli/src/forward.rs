//! `recoup forward`: a forwarder between applications and neighbours.
pub(crate) mod args;
mod board;
pub(crate) mod config;
mod limits;
mod metrics;
mod opened;
mod report;
mod scheduling;
mod standard;
mod status;

pub(crate) use args::ForwardArgs;

use crate::error::{Exit, Failure};
use crate::output;
use crate::session::{driver_failure, seed};
use crate::stop::Stop;
use board::Board;
use config::ForwardConfig;
use opened::Opened;
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Machine, Node};
use recoup_io::clock::unix_time;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::http::HttpServer;
use recoup_io::recording::{Heading, Recorder};
use recoup_transport::time::Duration;
use report::{Forwarded, Listening};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The longest time between two looks at signals and at the recording.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// How long reading is put off where that collects packets.
const LINGER: Duration = Duration::from_micros(50);
/// How often the node is told the time of day, which others may set.
const TELL_TIME: Duration = Duration::from_secs(60);
/// How long the last frames may take to leave.
const FAREWELL: Duration = Duration::from_millis(500);

type Forwarder = Recorder<Node, BufWriter<File>>;

/// Runs the command.
pub(crate) fn run(args: &ForwardArgs) -> Result<(), Failure> {
    let (file, text) = match &args.config {
        Some(path) => (path.display().to_string(), crate::config::read(path)?),
        None => ("the standard configuration".to_owned(), standard::text()),
    };
    let mut config = ForwardConfig::parse(&file, &text)?;
    let seed = seed()?.next_u64();
    let node = config.node(seed)?;
    let options = DriverOptions {
        managed: true,
        marking: Some(Default::default()),
        on_demand_recovery: config.recovery,
        linger: Some(LINGER),
        ..config.limits.driver()
    };
    let mut driver = Driver::with_options(options).map_err(|error| driver_failure(&error))?;
    driver.set_longest_wait(Some(LONGEST_WAIT));
    if let Err(error) = driver.follow_interfaces()
        && args.verbose
    {
        output::tell(&format!("recoup: faces do not follow the network interfaces: {error}"));
    }
    let stop = Stop::new(&driver.waker())?;
    let mut forwarder = record(args, node, Heading { seed, text })?;
    tell_time(&driver, &mut forwarder);
    let mut opened = Opened::default();
    opened.follow(&config, &mut driver, &mut forwarder, Opening::First)?;
    if args.config.is_none() {
        standard::let_everybody_in(&config.listen);
    }
    if !args.quiet {
        config.warnings().iter().for_each(|line| output::tell(line));
    }
    let board = Arc::new(Board::new(driver.waker()));
    let http = watched(args.metrics.or(config.metrics), &board)?;
    let hangup = Stop::heed_hangup(&driver.waker())?;
    begin(args, opened.places(), http.as_ref())?;
    let mut between = |driver: &mut Driver, forwarder: &mut Forwarder| {
        board.serve(driver, forwarder.machine());
        if hangup.take() {
            reload(args, &mut config, &mut opened, driver, forwarder);
        }
    };
    let ended = until_stopped(args, &stop, &mut between, &mut driver, &mut forwarder);
    drop(http);
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

/// Commands are judged by the time of day, which only we know.
fn tell_time(driver: &Driver, forwarder: &mut Forwarder) {
    let micros = unix_time().as_micros() as u64;
    forwarder.handle(driver.now(), Notice::TimeOfDay { micros }.into());
}

fn record(args: &ForwardArgs, node: Node, heading: Heading) -> Result<Forwarder, Failure> {
    let Some(path) = &args.record else {
        return Ok(Recorder::off(node));
    };
    let file = File::create(path)
        .map_err(|error| Failure::file("make the recording", path.display(), &error))?;
    Recorder::new(node, &heading, BufWriter::new(file)).map_err(|error| unrecorded(args, &error))
}

fn unrecorded(args: &ForwardArgs, error: &std::io::Error) -> Failure {
    let path = args.record.as_deref().map(Path::display);
    Failure::file("write the recording", path.map_or_else(String::new, |it| it.to_string()), error)
}

/// Whether a configuration is followed for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    First,
    Again,
}

/// Reads the configuration again and follows it; what is wrong with it is told, and nothing changes then.
fn reload(
    args: &ForwardArgs,
    config: &mut ForwardConfig,
    opened: &mut Opened,
    driver: &mut Driver,
    forwarder: &mut Forwarder,
) {
    let Some(path) = &args.config else {
        return output::tell(
            "recoup: there is no configuration to be read again; start with --config",
        );
    };
    let read = |text: String| ForwardConfig::parse(&path.display().to_string(), &text);
    let changed = match crate::config::read(path).and_then(read) {
        Ok(changed) => changed,
        Err(failure) => return output::tell(&format!("recoup: {failure}; nothing has changed")),
    };
    if changed.fixed_text() != config.fixed_text() {
        output::tell(
            "recoup: changes in [node], [limits] and [management], but for strategies, need a new start",
        );
    }
    match opened.follow(&changed, driver, forwarder, Opening::Again) {
        Ok(()) if args.quiet => {}
        Ok(()) => output::tell(&format!(
            "configuration read again; listening at {}",
            opened.places().join(", ")
        )),
        Err(failure) => output::tell(&format!("recoup: {failure}")),
    }
    *config = changed;
}

/// Serves the status page and metrics, if that is wanted.
fn watched(address: Option<SocketAddr>, board: &Arc<Board>) -> Result<Option<HttpServer>, Failure> {
    let start = |address| {
        let failed = |error| Failure::file("serve metrics at", address, &error);
        status::serve(address, Arc::clone(board)).map_err(failed)
    };
    address.map(start).transpose()
}

fn begin(
    args: &ForwardArgs,
    listening: Vec<String>,
    http: Option<&HttpServer>,
) -> Result<(), Failure> {
    let page = http.map(|http| format!("http://{}/", http.address()));
    if args.json {
        return output::json_line(&Listening::new(listening, page));
    }
    if !args.quiet {
        let place = if listening.is_empty() { "nowhere".into() } else { listening.join(", ") };
        let page = page.map_or_else(String::new, |page| format!("; status at {page}"));
        output::tell(&format!("forwarding; listening at {place}{page}"));
    }
    Ok(())
}

fn until_stopped(
    args: &ForwardArgs,
    stop: &Stop,
    between: &mut dyn FnMut(&mut Driver, &mut Forwarder),
    driver: &mut Driver,
    forwarder: &mut Forwarder,
) -> Result<(), Failure> {
    let mut told = driver.now();
    while stop.wanted().is_none() {
        let now = driver.now();
        if now.since(told) > TELL_TIME {
            told = now;
            tell_time(driver, forwarder);
        }
        driver.turn(forwarder, &mut |_, _, _| {}).map_err(|error| driver_failure(&error))?;
        between(driver, forwarder);
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
