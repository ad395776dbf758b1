//! `recoup ping`: round-trip times to a name.
pub(crate) mod args;
mod spread;

pub(crate) use args::PingArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::output::{self, Stream};
use crate::session::{self, Session};
use recoup::ping::{PingOptions, Pinger, ping_name};
use recoup::serve::Responder;
use recoup::uplink::Uplink;
use recoup_forwarder::face::AppId;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use serde::Serialize;
use spread::Spread;
use std::fmt;

/// Runs the command.
pub(crate) fn run(args: &PingArgs) -> Result<(), Failure> {
    if args.serve { respond(args) } else { ask(args) }
}

fn respond(args: &PingArgs) -> Result<(), Failure> {
    let mut session = Session::new(false)?;
    let app = session.attach(Box::new(Responder::default()), vec![ping_name(&args.name)]);
    let reached =
        session.reach(&args.listen, args.face.as_ref(), &ping_name(&args.name), "digest")?;
    let faces: Vec<_> = reached.faces.iter().map(ToString::to_string).collect();
    if args.json {
        let name = args.name.to_string();
        let face = faces.first().cloned().unwrap_or_default();
        output::json_line(&Listening { event: "listening", face, faces, name })?;
    } else if !args.quiet {
        output::eprint(&format!("answering {} at {}; Ctrl-C ends it", args.name, faces.join(", ")));
    }
    let mut answered = 0;
    while session.stop.wanted().is_none() {
        session.turn(app, &mut |_, output| {
            answered += u64::from(matches!(output, Report::Event(Event::Served { .. })));
            Ok(())
        })?;
    }
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
    let uplink = Uplink::toward(args.face.as_ref(), &ping_name(&args.name))?;
    let mut session = Session::new(false)?;
    let mut rng = session::seed()?;
    let options = PingOptions {
        prefix: ping_name(&args.name),
        interval: args.interval,
        timeout: args.timeout,
        count: args.count,
        first: args.start.unwrap_or_else(|| rng.below(1 << 53)),
    };
    session.connect(&uplink)?;
    let app = session.attach(Box::new(Pinger::new(options, rng)), Vec::new());
    let mut pings = Pings { command: "ping", name: args.name.to_string(), ..Pings::default() };
    let ended = until_done(args, &mut session, app, &mut pings);
    let ended = ended.and_then(|()| pings.verdict(&args.name));
    let ended = ended.map_err(|failure| session.unreachable_error().map_or(failure, Failure::from));
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
    session: &mut Session,
    app: AppId,
    pings: &mut Pings,
) -> Result<(), Failure> {
    let mut done = false;
    while !done && session.stop.wanted().is_none() {
        session.turn(app, &mut |_, output| {
            match output {
                Report::Event(event) => {
                    pings.count(&event);
                    return if args.quiet || args.json {
                        Ok(())
                    } else {
                        print_event(args, &event)
                    };
                }
                Report::Done(_) => done = true,
                _ => {}
            }
            Ok(())
        })?;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    #[serde(skip)]
    rtt: Spread,
    #[serde(skip)]
    no_route: u64,
}

#[derive(Debug, Serialize)]
struct RttMs {
    min: f64,
    avg: f64,
    max: f64,
    mdev: f64,
}

impl Pings {
    fn count(&mut self, event: &Event) {
        match *event {
            Event::Sent { .. } => self.sent += 1,
            Event::Received { rtt, .. } => {
                self.received += 1;
                self.rtt.add(rtt.into());
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
