//! A run as a page: one HTML file, without a server and without a network, in which one watches it ([`recoup_sim::film`]).
//!
//! The file holds a style sheet, a script and the run. The run is a document of names and columns of numbers, compressed and
//! written in base64. So no name of a scenario can be taken for a part of the page. Times are ticks, as many as fit 32 bits.
mod columns;
mod layout;

use crate::preview;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use columns::{Columns, NONE};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use recoup_core::figure;
use recoup_forwarder::packet::Kind;
use recoup_sim::film::{Film, Meaning, Measure, Scene};
use recoup_sim::network::{ApplicationKind, LinkOptions, Network, NodeId};
use recoup_sim::observe::LossReason;
use recoup_transport::time::Instant;
use serde_json::{Value, json};
use std::fmt;
use std::io::{self, Write};

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// The script of the page, in the order of use.
const SCRIPT: [&str; 5] = [
    include_str!("page/run.js"),
    include_str!("page/network.js"),
    include_str!("page/curves.js"),
    include_str!("page/segments.js"),
    include_str!("page/player.js"),
];

/// The part of a run that its page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Packets on links.
    pub packets: usize,
    /// Packets that were sent after the end of the page.
    pub omitted: u64,
    /// The end of the page.
    pub end: Instant,
}

impl Extent {
    /// The part of the run that `film` holds.
    pub fn of(film: &Film) -> Self {
        Self { packets: film.crossings.len(), omitted: film.omitted, end: film.end }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (packets, end) = (self.packets, figure::seconds(self.end.since(Instant::ZERO)));
        match self.omitted {
            0 => write!(f, "{packets} packets in {end}"),
            omitted => write!(
                f,
                "the first {packets} packets, until {end}; {omitted} later ones are left out"
            ),
        }
    }
}

/// Writes the page of a run.
///
/// # Errors
/// The first error of `out`.
pub fn write(
    network: &Network,
    film: &Film,
    title: &str,
    run: &str,
    mut out: impl Write,
) -> io::Result<()> {
    let script = SCRIPT.concat();
    let data = STANDARD.encode(compressed(&document(network, film, title, run))?);
    let (title, run) = (escape(title), escape(run));
    let values =
        [("title", &*title), ("run", &run), ("style", STYLE), ("script", &script), ("data", &data)];
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (key, after) = after.split_once("}}").unwrap_or_default();
        let value = values.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value);
        out.write_all(value.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    out.flush()
}

/// Text of a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The run: the length of a JSON document, the document, and the columns that it describes.
fn document(network: &Network, film: &Film, title: &str, run: &str) -> Vec<u8> {
    let clock = Clock { nanos: film.end.as_nanos() / u64::from(NONE) + 1 };
    let mut columns = Columns::default();
    packets(film, &clock, &mut columns);
    segments(film, &clock, &mut columns);
    marks(film, &clock, &mut columns);
    let curves = curves(film, &clock, &mut columns);
    let motions = motions(network, film, &clock, &mut columns);
    let positions = layout::positions(network);
    let nodes =
        network.nodes.iter().zip(&positions.of).map(|(node, (x, y))| json!([node.name, x, y]));
    let links = network.links.iter().zip(0..).map(|(link, number)| {
        let is_aerial = film.places().is_aerial(recoup_sim::network::LinkId(number));
        json!({
            "name": link.name,
            "ends": [link.ends.0.0, link.ends.1.0],
            "aerial": is_aerial,
            "channels": [channel(&link.forth), channel(&link.back)],
        })
    });
    let applications = network.applications.iter().map(|plan| {
        let word = match plan.kind {
            ApplicationKind::Fetch(_) | ApplicationKind::Request(_) => "consumer",
            ApplicationKind::Serve(_) | ApplicationKind::Produce(_) => "producer",
            ApplicationKind::Background(_) => "other traffic",
        };
        json!([plan.name, plan.node.0, word])
    });
    let header = json!({
        "title": title,
        "run": run,
        "seconds": clock.nanos as f64 / 1e9,
        "end": clock.ticks(film.end),
        "omitted": film.omitted,
        "plane": positions.are_metres,
        "nodes": nodes.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
        "applications": applications.collect::<Vec<_>>(),
        "reasons": LossReason::ALL.map(LossReason::name),
        "names": film.names,
        "texts": film.texts,
        "curves": curves,
        "motions": motions,
        "columns": columns.heads(),
    });
    columns.behind(&header)
}

fn channel(options: &LinkOptions) -> Value {
    json!({ "text": preview::channel(options), "queue": options.queue.packets })
}

/// Times as numbers of 32 bits.
struct Clock {
    /// Length of a tick.
    nanos: u64,
}

impl Clock {
    /// Ticks until then; at most one before [`NONE`].
    fn ticks(&self, at: Instant) -> u32 {
        u32::try_from(at.as_nanos() / self.nanos).map_or(NONE - 1, |ticks| ticks.min(NONE - 1))
    }

    /// Ticks until then, or [`NONE`].
    fn until(&self, at: Option<Instant>) -> u32 {
        at.map_or(NONE, |at| self.ticks(at))
    }
}

fn packets(film: &Film, clock: &Clock, columns: &mut Columns) {
    // A copy made on a link becomes known after packets that were sent later.
    let mut all: Vec<_> = film.crossings.iter().collect();
    all.sort_by_key(|it| it.sent);
    columns.times("packets.sent", all.iter().map(|it| clock.ticks(it.sent)));
    columns.u32s("packets.left", all.iter().map(|it| clock.until(it.left)));
    columns.u32s("packets.since", all.iter().map(|it| clock.ticks(it.since)));
    columns.u32s("packets.channel", all.iter().map(|it| it.channel.index() as u32));
    columns.u32s("packets.name", all.iter().map(|it| it.name.unwrap_or(NONE)));
    columns.u32s("packets.bytes", all.iter().map(|it| it.bytes));
    let kind = |kind| match kind {
        Kind::Interest => 0,
        Kind::Data => 1,
        Kind::Nack => 2,
        Kind::Idle => 3,
    };
    columns.u8s("packets.kind", all.iter().map(|it| kind(it.kind)));
    let reason = |lost: Option<LossReason>| {
        let place = LossReason::ALL.iter().position(|reason| Some(*reason) == lost);
        place.map_or(0, |place| place as u8 + 1)
    };
    columns.u8s("packets.lost", all.iter().map(|it| reason(it.lost)));
}

fn segments(film: &Film, clock: &Clock, columns: &mut Columns) {
    let all = || film.segments.iter();
    columns.times("segments.asked", all().map(|it| clock.ticks(it.asked)));
    columns.u32s("segments.ended", all().map(|it| clock.until(it.ended)));
    columns.f32s("segments.rto", all().map(|it| it.rto.as_secs_f32() * 1e3));
    columns.u32s("segments.application", all().map(|it| it.application.0));
    columns.f64s("segments.number", all().map(|it| it.number as f64));
    columns.u32s("segments.name", all().map(|it| it.name));
    columns.u32s("segments.transmissions", all().map(|it| it.transmissions));
    columns.u32s("segments.bytes", all().map(|it| it.bytes));
}

fn marks(film: &Film, clock: &Clock, columns: &mut Columns) {
    let all = || film.marks.iter();
    let scene = |scene| match scene {
        Scene::Node(NodeId(number)) => (0, number),
        Scene::Application(id) => (1, id.0),
        Scene::Link(id) => (2, id.0),
    };
    let meaning = |meaning| match meaning {
        Meaning::Step => 0,
        Meaning::Drop => 1,
        Meaning::Missed => 2,
        Meaning::Down => 3,
        Meaning::Up => 4,
        Meaning::Redundant => 5,
    };
    columns.times("marks.at", all().map(|it| clock.ticks(it.at)));
    columns.u32s("marks.place", all().map(|it| scene(it.scene).1));
    columns.u32s("marks.name", all().map(|it| it.name.unwrap_or(NONE)));
    columns.u32s("marks.text", all().map(|it| it.text));
    columns.u8s("marks.scene", all().map(|it| scene(it.scene).0));
    columns.u8s("marks.meaning", all().map(|it| meaning(it.meaning)));
}

/// Curves, each with two columns of its number.
fn curves(film: &Film, clock: &Clock, columns: &mut Columns) -> Vec<Value> {
    let each = film.curves.iter().zip(0..).map(|((measure, points), number): (_, u32)| {
        columns.times(&format!("curves.{number}.at"), points.iter().map(|it| clock.ticks(it.0)));
        columns.f32s(&format!("curves.{number}.value"), points.iter().map(|it| it.1 as f32));
        match *measure {
            Measure::Window(id) => json!(["window", id.0]),
            Measure::Rtt(id) => json!(["RTT", id.0]),
            Measure::Queue(channel) => json!(["queue", channel]),
        }
    });
    each.collect()
}

/// Nodes that move, each with three columns of its number.
fn motions(network: &Network, film: &Film, clock: &Clock, columns: &mut Columns) -> Vec<u32> {
    let stations = network.wifi.iter().flat_map(|plan| &plan.stations);
    let moving = stations.filter(|station| !station.motion.is_still());
    let each = moving.zip(0..).map(|(station, number): (_, u32)| {
        // One way-point after the end, so that the last leg is whole.
        let mut points: Vec<_> = station.motion.way_points().collect();
        let kept = points.iter().position(|(at, _)| *at >= film.end);
        let last = station.motion.position(film.end);
        points.truncate(kept.unwrap_or(points.len()));
        points.push((film.end, last));
        columns.times(&format!("motions.{number}.at"), points.iter().map(|it| clock.ticks(it.0)));
        columns.f32s(&format!("motions.{number}.x"), points.iter().map(|it| it.1.x as f32));
        columns.f32s(&format!("motions.{number}.y"), points.iter().map(|it| it.1.y as f32));
        station.node.0
    });
    each.collect()
}

#[cfg(test)]
mod tests;
