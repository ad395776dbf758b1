//! `recoup forward`: a forwarder between applications and neighbours.
pub(crate) mod args;
mod board;
mod capturing;
pub(crate) mod config;
mod limits;
pub(crate) mod log;
mod metrics;
#[cfg(test)]
mod mistakes;
mod opened;
mod report;
mod scheduling;
mod standard;
mod status;
mod traced;
mod watch;

pub(crate) use args::ForwardArgs;

use crate::error::{Failure, driver_failure};
use crate::output;
use crate::stop::Stop;
use board::Board;
use config::ForwardConfig;
use log::{Event, Log};
use opened::Opened;
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Machine, Node};
use recoup_io::capture::Capturer;
use recoup_io::clock::unix_time;
use recoup_io::descriptor;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::http::HttpServer;
use recoup_transport::time::{Duration, Instant};
use report::{Forwarded, Listening};
use std::net::SocketAddr;
use std::sync::Arc;
use traced::Traced;
use watch::Watch;

/// Longest interval of checks for signals and the recording.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// Receive coalescing: longest delay before reading.
const COALESCING: Duration = Duration::from_micros(50);
/// Busy polling: longest time before sleeping.
const POLLING: Duration = Duration::from_micros(50);
/// A limit of descriptors too low for the quotas of faces.
const FEW_DESCRIPTORS: usize = 1_024;
/// Time for the last frames to be sent.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(args: &ForwardArgs) -> Result<(), Failure> {
    let (file, text) = match &args.config {
        Some(path) => (path.display().to_string(), crate::config::read(path)?),
        None => ("the standard configuration".to_owned(), standard::text()),
    };
    let config = ForwardConfig::parse(&file, &text)?;
    let log = args.log(config.log);
    let seed = recoup::session::seed()?.next_u64();
    let mut driver = open_driver(args, &config)?;
    let (stop, hangup) = Stop::reloading(&driver.waker())?;
    let mut forwarder = Traced::new(Capturer::new(config.node(seed)), args.trace.as_deref(), seed)?;
    set_time_of_day(&driver, &mut forwarder);
    let mut opened = Opened::default();
    let failures = opened.follow(&config, &mut driver, &mut forwarder, Opening::First);
    failures.into_iter().next().map_or(Ok(()), Err)?;
    capture(&config, &opened, &driver, &mut forwarder);
    if let Some(failure) = forwarder.capturer_mut().next_failure() {
        return Err(capturing::failure(&failure));
    }
    if args.config.is_none() {
        standard::let_everybody_in(&config.listen);
    }
    let notices = config.warnings().into_iter().chain(opened.take_notices());
    let notices = notices.chain(warn_of_descriptors(driver.descriptors()));
    notices.for_each(|text| log.write(&Event::Notice { text }));
    let board = Arc::new(Board::new(driver.waker()));
    let http = watched(args.metrics.or(config.metrics), &board)?;
    begin(args, log, opened.places(), http.as_ref())?;
    let mut watch = Watch::default();
    let mut between = |driver: &mut Driver, forwarder: &mut Traced| {
        board.serve(driver, forwarder.capturer());
        if hangup.take() {
            reload(args, log, &config, &mut opened, driver, forwarder);
        }
        forwarder.flush(driver.now(), log);
        report(log, &mut watch, driver, forwarder.capturer_mut());
    };
    let ended = until_stopped(&stop, &mut between, &mut driver, &mut forwarder);
    drop(http);
    driver.finish(DRAIN_TIME);
    let finished = forwarder.finish();
    let forwarded = Forwarded::new(&driver, forwarder.capturer().node());
    if args.json {
        output::json_line(&forwarded)?;
    } else if !args.quiet {
        output::print(format!("{forwarded}\n").as_bytes())?;
    }
    ended.and(finished)
}

/// The driver of the forwarder, with the configured limits.
fn open_driver(args: &ForwardArgs, config: &ForwardConfig) -> Result<Driver, Failure> {
    // The log names a limit that could not be raised when it is reached.
    let _ = descriptor::raise_limit();
    let made = Driver::with_options(DriverOptions {
        managed: true,
        marking: Some(Default::default()),
        on_demand_recovery: config.recovery,
        coalesce: Some(COALESCING),
        busy_poll: Some(POLLING),
        ..config.limits.driver()
    });
    let mut driver = made.map_err(|error| driver_failure(&error))?;
    driver.set_longest_wait(Some(LONGEST_WAIT));
    if let Err(error) = driver.follow_interfaces()
        && args.verbose
    {
        output::eprint(&format!("recoup: faces do not follow the network interfaces: {error}"));
    }
    Ok(driver)
}

/// The warning for a low limit of descriptors.
fn warn_of_descriptors(descriptors: usize) -> Option<String> {
    (descriptors < FEW_DESCRIPTORS).then(|| {
        format!(
            "only {descriptors} descriptors may be open, of which connections take half and local applications a quarter; \
             raise the limit (ulimit -n, LimitNOFILE=)"
        )
    })
}

/// Passes the time of day to the forwarder, which checks the age of commands.
fn set_time_of_day(driver: &Driver, forwarder: &mut Traced) {
    let now = driver.now();
    let micros = driver.time_of_day().micros(now);
    forwarder.handle(now, Notice::TimeOfDay { micros }.into());
}

/// Starts the configured captures.
fn capture(config: &ForwardConfig, opened: &Opened, driver: &Driver, forwarder: &mut Traced) {
    let wish = capturing::wish(config, |name| opened.face(name));
    let since_1970 = unix_time().saturating_sub(driver.now().since(Instant::ZERO));
    forwarder.capturer_mut().capture(wish, since_1970);
}

/// Logs events since the last call, and flushes captures.
fn report(log: Log, watch: &mut Watch, driver: &mut Driver, capturer: &mut Capturer) {
    while let Some(event) = driver.next_event() {
        log.write(&watch.face(&event));
    }
    capturer.flush(driver.now());
    while let Some(failure) = capturer.next_failure() {
        log.write(&Event::CaptureEnded { text: capturing::failure(&failure).to_string() });
    }
    watch.look(driver, capturer.node(), &log);
}

/// Whether a configuration is the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    First,
    Again,
}

/// Reads the configuration again and applies it; an error is logged and changes nothing. Keys that
/// need a restart are compared with the configuration of the start, `began`.
fn reload(
    args: &ForwardArgs,
    log: Log,
    began: &ForwardConfig,
    opened: &mut Opened,
    driver: &mut Driver,
    forwarder: &mut Traced,
) {
    let Some(path) = &args.config else {
        let text = "there is no configuration to be read again; start with --config";
        return log.write(&Event::Failed { text: text.into() });
    };
    let read = |text: String| ForwardConfig::parse(&path.display().to_string(), &text);
    let changed = match crate::config::read(path).and_then(read) {
        Ok(changed) => changed,
        Err(failure) => {
            return log.write(&Event::Failed { text: format!("{failure}; nothing has changed") });
        }
    };
    if changed.fixed_text() != began.fixed_text() {
        let text = "changes in [node], [limits] and [management], but for strategies and captures, need a new start";
        log.write(&Event::Notice { text: text.into() });
    }
    let failures = opened.follow(&changed, driver, forwarder, Opening::Again);
    // Log the reload after captures follow it: readers may open the files at once.
    capture(&changed, opened, driver, forwarder);
    if failures.is_empty() {
        log.write(&Event::Reloaded { places: opened.places() });
    }
    failures.iter().for_each(|failure| log.write(&Event::failed(failure)));
    opened.take_notices().into_iter().for_each(|text| log.write(&Event::Notice { text }));
}

/// Starts the status page and metrics, if configured.
fn watched(address: Option<SocketAddr>, board: &Arc<Board>) -> Result<Option<HttpServer>, Failure> {
    let start = |address| {
        let failed = |error| Failure::file("serve metrics at", address, &error);
        status::serve(address, Arc::clone(board)).map_err(failed)
    };
    address.map(start).transpose()
}

fn begin(
    args: &ForwardArgs,
    log: Log,
    listening: Vec<String>,
    http: Option<&HttpServer>,
) -> Result<(), Failure> {
    let page = http.map(|http| format!("http://{}/", http.address()));
    if args.json {
        return output::json_line(&Listening::new(listening, page));
    }
    log.write(&Event::Forwarding { places: listening, page });
    Ok(())
}

fn until_stopped(
    stop: &Stop,
    between: &mut dyn FnMut(&mut Driver, &mut Traced),
    driver: &mut Driver,
    forwarder: &mut Traced,
) -> Result<(), Failure> {
    while stop.wanted().is_none() {
        driver.turn(forwarder, &mut |_, _, _| {}).map_err(|error| driver_failure(&error))?;
        between(driver, forwarder);
    }
    Ok(())
}
