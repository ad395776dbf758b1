//! `recoup link`: an impaired link between two UDP faces.
mod args;
pub(crate) mod plan;
pub(crate) mod way;

pub(crate) use args::LinkArgs;

use crate::error::{Exit, Failure, face_failure, reason};
use crate::output;
use crate::stop::Stop;
use plan::LinkPlan;
use recoup_io::face::FaceUri;
use recoup_io::relay::{ClientCount, Relay, Relayed, Span};
use serde::Serialize;
use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use way::{Way, WayCount};

/// Interval of checks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// The first line of `recoup link --json`: the link is ready.
#[derive(Debug, Serialize)]
struct Listening {
    event: &'static str,
    /// Address for clients.
    face: String,
    /// The far end.
    far: String,
    /// The address from which the far end receives the first client's frames.
    far_face: String,
}

/// The last line of `recoup link --json`.
#[derive(Debug, Serialize)]
struct Linked {
    event: &'static str,
    elapsed_s: f64,
    forth: WayCount,
    back: WayCount,
    /// Frames that arrived at an end without a receiver.
    undelivered: u64,
    clients: Clients,
    /// Delay of frames beyond the plan, in microseconds.
    late_us: Late,
}

/// The clients at the near end.
#[derive(Debug, Serialize)]
struct Clients {
    admitted: u64,
    expired: u64,
    /// Frames of clients beyond the limit.
    rejected_frames: u64,
}

#[derive(Debug, Serialize)]
struct Late {
    times: u64,
    mean: f64,
    worst: f64,
}

/// Runs the command.
pub(crate) fn run(args: &LinkArgs) -> Result<(), Failure> {
    let plan = LinkPlan::new(args)?;
    let span = span(args)?;
    let (forth, back) = plan.ways(args.seed)?;
    let stop = Stop::polled()?;
    let failed = |error| {
        let Span { near, far, .. } = span;
        let message = format!("cannot open a link from {near} to {far}: {}", reason(&error));
        Failure::new(Exit::Local, message).advise("name addresses that are free and reachable")
    };
    let relay = Relay::start(span, forth, back).map_err(failed)?;
    let began = Instant::now();
    begin(args, &relay, span.far)?;
    while stop.wanted().is_none() && !relay.is_broken() {
        std::thread::sleep(LOOK);
    }
    let broken = || Failure::new(Exit::Other, "the link broke down");
    let relayed = relay.finish().ok_or_else(broken)?;
    let linked = Linked::new(&relayed, began.elapsed());
    if args.json {
        output::json_line(&linked)?;
    } else if !args.quiet {
        output::print(format!("{linked}\n").as_bytes())?;
    }
    Ok(())
}

fn span(args: &LinkArgs) -> Result<Span, Failure> {
    let address = |uri: &FaceUri| match uri {
        FaceUri::Udp(to) => {
            let all = to.resolve().map_err(|error| face_failure(&error))?;
            let none = || Failure::usage(format!("{uri} has no address"));
            all.first().copied().ok_or_else(none)
        }
        other => {
            let message = format!("{other} is no UDP face");
            Err(Failure::usage(message).advise("a link is between two of udp://host:port"))
        }
    };
    match args.between.as_slice() {
        [near, far] => {
            let peer = args.peer.as_ref().map(address).transpose()?;
            Ok(Span { near: address(near)?, peer, far: address(far)? })
        }
        _ => Err(Failure::usage("--between takes two faces")),
    }
}

fn begin(args: &LinkArgs, relay: &Relay<Way>, far: SocketAddr) -> Result<(), Failure> {
    let uri = |address: SocketAddr| format!("udp://{address}");
    let (near, far_face) = (relay.address(), uri(relay.far_address()));
    if args.json {
        let listening = Listening { event: "listening", face: uri(near), far: uri(far), far_face };
        return output::json_line(&listening);
    }
    if !args.quiet {
        output::eprint(&format!("a link from {} to {}", uri(near), uri(far)));
    }
    Ok(())
}

impl Linked {
    fn new(relayed: &Relayed<Way>, elapsed: Duration) -> Self {
        let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
        let lateness = &relayed.lateness;
        let (mean, worst) = (micros(lateness.mean()), micros(lateness.worst));
        let ClientCount { admitted, expired, rejected_frames } = relayed.clients;
        Self {
            event: "stopped",
            elapsed_s: elapsed.as_secs_f64(),
            forth: relayed.forth.count(),
            back: relayed.back.count(),
            undelivered: relayed.undelivered,
            clients: Clients { admitted, expired, rejected_frames },
            late_us: Late { times: lateness.times, mean, worst },
        }
    }
}

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (way, count) in [("forth", &self.forth), ("back", &self.back)] {
            write!(f, "  {way:12}{} entered, {} arrived", count.entered, count.delivered)?;
            for (reason, lost) in &count.lost {
                write!(f, ", {lost} {reason}")?;
            }
            writeln!(f)?;
        }
        let Clients { admitted, expired, rejected_frames } = self.clients;
        write!(f, "  clients     {admitted}, {expired} of them expired")?;
        if rejected_frames > 0 {
            write!(f, "; {rejected_frames} frames of others were rejected")?;
        }
        writeln!(f)?;
        let Late { mean, worst, .. } = self.late_us;
        write!(f, "  late        {mean:.0} µs on average, {worst:.0} µs at worst")
    }
}
