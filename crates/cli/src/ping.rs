//! `recoup ping`: round-trip times to a name.
pub(crate) mod args;
mod spread;

pub(crate) use args::PingArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::output::{self, Stream};
use crate::stop::Stop;
use recoup::patience::Patience;
use recoup::ping::{PingOptions, ping_name};
use recoup::uplink::Uplink;
use recoup::{Arrivals, Builder, Bytes, Client, Event};
use recoup_forwarder::face::Recovery;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use serde::Serialize;
use spread::Spread;
use std::fmt;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long an answer is fresh, as ndnpingserver has it.
const FRESHNESS: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(args: &PingArgs) -> Result<(), Failure> {
    if args.serve { respond(args) } else { ask(args) }
}

/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// A client whose links lose what they lose.
fn client() -> Builder {
    Client::builder().recovery(Recovery::Off).allow_local_names(true)
}

fn respond(args: &PingArgs) -> Result<(), Failure> {
    let stop = Stop::polled()?;
    let builder = client().stopped_by(stop.flag());
    let builder = match args.listen.is_empty() {
        true => builder.uplink(Uplink::find(args.face.as_ref())?),
        false => builder.alone(),
    };
    let server = builder.connect()?.serve(ping_name(&args.name)).freshness(FRESHNESS);
    let server = server.listen_at(args.listen.iter().cloned()).answer(|_| Some(Bytes::new()));
    let server = server.map_err(|error| stop.end(error.into()))?;
    crate::serve::warn_of_scope(&ping_name(&args.name));
    let faces = server.faces().to_vec();
    if args.json {
        let name = args.name.to_string();
        let face = faces.first().cloned().unwrap_or_default();
        output::json_line(&Listening { event: "listening", face, faces, name })?;
    } else if !args.quiet {
        output::eprint(&format!("answering {} at {}; Ctrl-C ends it", args.name, faces.join(", ")));
    }
    crate::serve::until_stopped(&server, &stop)?;
    let answered = server.summary().segments;
    if args.json {
        output::json_line(&Stopped { event: "stopped", answered })
    } else {
        output::eprint(&format!("{answered} answered"));
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Listening {
    event: &'static str,
    face: String,
    faces: Vec<String>,
    name: String,
}

#[derive(Debug, Serialize)]
struct Stopped {
    event: &'static str,
    answered: u64,
}

fn ask(args: &PingArgs) -> Result<(), Failure> {
    recoup::name::check_length(&ping_name(&args.name))?;
    let face = args.face.as_ref();
    let uplink = Uplink::toward(face, &ping_name(&args.name), &mut Patience::default())?;
    let stop = Stop::polled()?;
    let options = PingOptions {
        interval: args.interval,
        timeout: args.timeout,
        count: args.count,
        first: args.start,
    };
    let mut events = client().uplink(uplink).connect()?.pings(&args.name, options)?;
    let mut pings = Pings { command: "ping", name: args.name.to_string(), ..Pings::default() };
    let ended = until_done(args, &stop, &mut events, &mut pings);
    let ended = ended.and_then(|()| pings.verdict(&args.name));
    pings.conclude(ended.as_ref().err().cloned());
    if args.json {
        output::json(&pings, Stream::Out)?;
    } else {
        output::print(format!("{pings}\n").as_bytes())?;
    }
    ended
}

fn until_done(
    args: &PingArgs,
    stop: &Stop,
    events: &mut Arrivals<Event>,
    pings: &mut Pings,
) -> Result<(), Failure> {
    let mut first = None;
    while stop.wanted().is_none() {
        match events.next_within(LOOK) {
            Poll::Pending => {}
            Poll::Ready(None) => break,
            Poll::Ready(Some(event)) => {
                let event = event?;
                let now = Instant::now();
                pings.count(&event, now.duration_since(*first.get_or_insert(now)).as_secs_f64());
                if !args.quiet && !args.json {
                    print_event(args, &event)?;
                }
            }
        }
    }
    Ok(())
}

fn print_event(args: &PingArgs, event: &Event) -> Result<(), Failure> {
    let name = &args.name;
    let line = match *event {
        Event::Received { segment, rtt, .. } => {
            let rtt = format::milliseconds(format::ms(rtt.into()));
            format!("content from {name}: seq={segment} time={rtt} ms\n")
        }
        Event::TimedOut { segment } => format!("timeout from {name}: seq={segment}\n"),
        Event::Nacked { segment: Some(segment), reason } => {
            format!("Nack from {name}: seq={segment} reason={reason}\n")
        }
        _ => return Ok(()),
    };
    output::print(line.as_bytes())
}

/// The result, serialised as in `docs/library.md`.
#[derive(Debug, Default, Serialize)]
struct Pings {
    command: &'static str,
    name: String,
    sent: u64,
    received: u64,
    nacks: u64,
    timeouts: u64,
    lost_share: f64,
    rtt_ms: Option<RttMs>,
    /// The first answers, at most [`MOST_ROUND_TRIPS`].
    round_trips: Vec<RoundTrip>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    #[serde(skip)]
    rtt: Spread,
    #[serde(skip)]
    no_route: u64,
}

/// One answer.
#[derive(Debug, Serialize)]
struct RoundTrip {
    seq: u64,
    /// Time of the Interest since the first one, in seconds.
    sent_s: f64,
    rtt_ms: f64,
}

/// Most round trips of a document; the rest is only counted.
const MOST_ROUND_TRIPS: usize = 1_000_000;

#[derive(Debug, Serialize)]
struct RttMs {
    min: f64,
    avg: f64,
    max: f64,
    mdev: f64,
}

impl Pings {
    /// Counts an event, `now` seconds after the first one.
    fn count(&mut self, event: &Event, now: f64) {
        match *event {
            Event::Sent { .. } => self.sent += 1,
            Event::Received { segment: seq, rtt, .. } => {
                self.received += 1;
                let rtt = Duration::from(rtt);
                self.rtt.add(rtt);
                if self.round_trips.len() < MOST_ROUND_TRIPS {
                    let sent_s = (now - rtt.as_secs_f64()).max(0.0);
                    self.round_trips.push(RoundTrip { seq, sent_s, rtt_ms: format::ms(rtt) });
                }
            }
            Event::TimedOut { .. } => self.timeouts += 1,
            Event::Nacked { reason, .. } => {
                self.nacks += 1;
                self.no_route += u64::from(reason == NackReason::NoRoute);
            }
            _ => {}
        }
    }

    fn conclude(&mut self, error: Option<Failure>) {
        let lost = match &error {
            // Nothing answers any more: no Interest in flight is undecided.
            Some(failure) if failure.exit != Exit::Cancelled => {
                self.sent.saturating_sub(self.received)
            }
            _ => self.nacks + self.timeouts,
        };
        let decided = self.received + lost;
        self.lost_share = if decided == 0 { 0.0 } else { lost as f64 / decided as f64 };
        self.error = error;
        self.rtt_ms = (self.rtt.count > 0).then(|| RttMs {
            min: self.rtt.min * 1e3,
            avg: self.rtt.mean() * 1e3,
            max: self.rtt.max * 1e3,
            mdev: self.rtt.deviation() * 1e3,
        });
    }

    fn verdict(&self, name: &Name) -> Result<(), Failure> {
        if self.received > 0 || self.nacks + self.timeouts == 0 {
            return Ok(());
        }
        if self.no_route > 0 {
            let message = format!("the forwarder has no route to {name}");
            return Err(Failure::new(Exit::NotFound, message)
                .advise("start `recoup ping --serve` or ndnpingserver there"));
        }
        Err(Failure::new(Exit::TimedOut, format!("no answer for {name}"))
            .advise("start `recoup ping --serve` or ndnpingserver there, or check the name"))
    }
}

impl fmt::Display for Pings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} sent, {} received, {} Nacks, {:.1} % lost",
            self.name,
            self.sent,
            self.received,
            self.nacks,
            self.lost_share * 100.0
        )?;
        match &self.rtt_ms {
            None => Ok(()),
            Some(RttMs { min, avg, max, mdev }) => {
                let [min, avg, max, mdev] =
                    [min, avg, max, mdev].map(|ms| format::milliseconds(*ms));
                write!(f, "\nrtt min/avg/max/mdev = {min}/{avg}/{max}/{mdev} ms")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreachable_peer_has_lost_everything() {
        let share = |received, error| {
            let mut pings = Pings { sent: 3, received, ..Pings::default() };
            pings.conclude(error);
            pings.lost_share
        };
        let unreachable = Failure::new(Exit::Unreachable, "no peer answers");
        assert_eq!(share(0, Some(unreachable.clone())), 1.0);
        assert_eq!(share(2, Some(unreachable)), 1.0 / 3.0);
        assert_eq!(share(2, None), 0.0);
        assert_eq!(share(2, Some(Failure::signal(2, "interrupted"))), 0.0);
    }
}
