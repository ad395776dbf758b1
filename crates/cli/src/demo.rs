//! `recoup demo`: the main job in one command, without any set-up.
pub(crate) mod args;
mod consumer;
mod producer;
mod report;

pub(crate) use args::DemoArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::link::way::Way;
use crate::output::{self, Stream};
use crate::picture::{self, Curve};
use args::Transport;
use consumer::{Consumed, Consumer};
use producer::Producer;
use recoup_channel::channel::ChannelError;
use recoup_channel::link::LinkOptions;
use recoup_io::relay::{Relay, Span};
use recoup_packet::signature::sha256;
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::spec::SpecError;
use recoup_transport::unit;
use report::{Demo, Link, Row};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

/// Name of the picture.
const PICTURE: &str = "recoup-demo.svg";

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let transports = args.transports();
    let content = content(args);
    let digest = sha256(&content);
    introduce(args);
    let producer = Producer::start(&content, args.segment_size)?;
    let runs = all(args, &transports, &producer)?;
    drop(producer);
    let path = draw(args, &runs)?;
    let rows = runs.iter().map(|run| Row::new(run, run.digest == digest));
    let demo = Demo {
        command: "demo",
        link: Link::new(args),
        bytes: content.len() as u64,
        segment_bytes: args.segment_size,
        sha256: format::hex(&digest),
        picture: path.display().to_string(),
        runs: rows.collect(),
    };
    if args.json {
        output::json(&demo, Stream::Out)?;
    } else if !args.quiet {
        output::print(format!("{demo}\n").as_bytes())?;
    }
    match demo.runs.iter().find(|row| !row.intact) {
        Some(row) => {
            let message = format!("{}: other bytes arrived than were sent", row.transport);
            Err(Failure::new(Exit::Verification, message))
        }
        None => Ok(()),
    }
}

fn introduce(args: &DemoArgs) {
    if args.quiet || args.json {
        return;
    }
    output::eprint(&format!(
        "{} in segments of {} bytes over {} with {} ms each way,\n\
         a queue of {} and {} % loss, once with each transport: at the same time,\n\
         over links with the same losses …",
        format::bytes(args.size),
        args.segment_size,
        unit::print_rate(args.rate),
        format::milliseconds(format::ms(args.delay)),
        format::bytes(args.queue),
        args.loss * 100.0
    ));
}

/// Bytes that compress badly and differ everywhere, so that a misplaced segment shows.
fn content(args: &DemoArgs) -> Vec<u8> {
    let mut rng = Rng::from_seed(args.seed).substream("content");
    let words = (0..args.size.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes());
    let mut content: Vec<u8> = words.collect();
    content.truncate(args.size as usize);
    content
}

/// Every transport over a link of its own; the links lose the same packets, counted from the first.
fn all(
    args: &DemoArgs,
    transports: &[Transport],
    producer: &Producer,
) -> Result<Vec<Consumed>, Failure> {
    let plan = LinkOptions {
        rate_bits: args.rate,
        delay: args.delay,
        queue: QueueLimit::of_bytes(args.queue),
        loss: format!("bernoulli(p={})", args.loss)
            .parse()
            .map_err(|error: SpecError| Failure::usage(error.to_string()))?,
        ..LinkOptions::default()
    };
    let near = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let span = Span { near, peer: None, far: producer.address() };
    let wrong = |error: ChannelError| Failure::new(Exit::Usage, error.to_string());
    let way = |rng: Rng| Way::new(&plan, Vec::new(), rng).map_err(wrong);
    let rng = Rng::from_seed(args.seed).substream("link");
    let one = |transport: &Transport| -> Result<Consumed, Failure> {
        let (forth, back) = (way(rng.substream("toward"))?, way(rng.substream("back"))?);
        let relay = Relay::start(span, forth, back)
            .map_err(|error| Failure::new(Exit::Other, format!("cannot open a link: {error}")))?;
        let consumer = Consumer { transport, seed: args.seed };
        let mut consumed = consumer.run(relay.address())?;
        let broken = || Failure::new(Exit::Other, "the link broke down");
        let relayed = relay.finish().ok_or_else(broken)?;
        consumed.link = (relayed.forth.count(), relayed.back.count());
        Ok(consumed)
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            transports.iter().map(|transport| scope.spawn(move || one(transport))).collect();
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Failure::new(Exit::Other, "a run broke down")))
        });
        joined.collect()
    })
}

fn draw(args: &DemoArgs, runs: &[Consumed]) -> Result<std::path::PathBuf, Failure> {
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::file("make the folder", args.out.display(), &error))?;
    let path = args.out.join(PICTURE);
    let curve = |run: &Consumed| Curve { label: run.label.clone(), points: run.points.clone() };
    let curves: Vec<_> = runs.iter().map(curve).collect();
    let title = format!(
        "{} over {}, {} ms round trip, {} % loss",
        format::bytes(args.size),
        unit::print_rate(args.rate),
        format::milliseconds(2.0 * format::ms(args.delay)),
        args.loss * 100.0
    );
    picture::draw_arrivals(&path, &title, &curves)?;
    Ok(path)
}
