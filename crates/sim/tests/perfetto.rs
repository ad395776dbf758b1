//! Traces against the run that they show, read with messages of their own.
#[path = "simulation/build.rs"]
mod build;

use build::lossy_line;
use prost::Message;
use recoup_sim::perfetto::Perfetto;
use recoup_sim::simulation::{Digest, Simulation};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, tag = "8")]
    timestamp: u64,
    #[prost(uint32, tag = "10")]
    sequence: u32,
    #[prost(message, optional, tag = "11")]
    event: Option<Event>,
    #[prost(message, optional, tag = "60")]
    track: Option<Track>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(int32, tag = "9")]
    typ: i32,
    #[prost(uint64, tag = "11")]
    track: u64,
    #[prost(string, tag = "23")]
    name: String,
    #[prost(double, optional, tag = "44")]
    value: Option<f64>,
    #[prost(fixed64, repeated, tag = "47")]
    flows: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint64, optional, tag = "5")]
    parent: Option<u64>,
}

const BEGIN: i32 = 1;
const END: i32 = 2;
const INSTANT: i32 = 3;

/// The trace of a run, the packet-hops of the run, and its segments.
fn traced() -> (Trace, u64) {
    let network = lossy_line();
    let mut perfetto = Perfetto::new(&network, Vec::new());
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut perfetto]);
    let bytes = perfetto.finish().unwrap();
    (Trace::decode(&bytes[..]).unwrap(), ended.balance.hops())
}

/// Names of the tracks from the outermost one to this one.
fn path(tracks: &BTreeMap<u64, Track>, uuid: u64) -> String {
    let track = &tracks[&uuid];
    let above = track.parent.map(|parent| path(tracks, parent) + "/").unwrap_or_default();
    above + &track.name
}

struct Slice {
    place: String,
    name: String,
    from: u64,
    to: u64,
    flow: Option<u64>,
}

/// All slices. Slices of one track neither overlap nor stay open.
fn slices(trace: &Trace) -> Vec<Slice> {
    let tracks = tracks(trace);
    let mut events: BTreeMap<u64, Vec<(u64, &Event)>> = BTreeMap::new();
    for packet in &trace.packets {
        assert_eq!(packet.sequence, 1);
        if let Some(event) = packet.event.as_ref().filter(|it| [BEGIN, END].contains(&it.typ)) {
            events.entry(event.track).or_default().push((packet.timestamp, event));
        }
    }
    let mut slices = Vec::new();
    for (track, events) in events {
        assert!(events.is_sorted_by_key(|(time, _)| *time), "{}", path(&tracks, track));
        for pair in events.chunks(2) {
            let [(from, begin), (to, end)] = pair else { panic!("an open slice") };
            assert_eq!((begin.typ, end.typ), (BEGIN, END));
            let (place, name) = (path(&tracks, track), begin.name.clone());
            slices.push(Slice {
                place,
                name,
                from: *from,
                to: *to,
                flow: begin.flows.first().copied(),
            });
        }
    }
    slices
}

fn tracks(trace: &Trace) -> BTreeMap<u64, Track> {
    let all = trace.packets.iter().filter_map(|packet| packet.track.clone());
    all.map(|track| (track.uuid, track)).collect()
}

#[test]
fn each_packet_on_a_link_is_a_slice() {
    let (trace, hops) = traced();
    let (tracks, slices) = (tracks(&trace), slices(&trace));
    let windows = tracks.values().filter(|track| track.name == "window").count();
    assert_eq!(windows, 1, "only a consumer has one");
    let carried: Vec<_> = slices.iter().filter(|it| it.place.ends_with("/on the link")).collect();
    let is_loss = |packet: &&Packet| {
        packet
            .event
            .as_ref()
            .is_some_and(|it| it.typ == INSTANT && it.name.starts_with("lost: Data"))
    };
    let lost: Vec<_> = trace.packets.iter().filter(is_loss).collect();
    assert!(!lost.is_empty());
    assert!(lost.iter().all(|packet| {
        let event = packet.event.as_ref().unwrap();
        path(&tracks, event.track).ends_with("/n2 to n1") && event.name.ends_with("(model)")
    }));
    assert_eq!(carried.len() as u64, hops + lost.len() as u64);
    // 10 ms of delay, and the time for the bytes; a loss is known before.
    let short = carried.iter().filter(|it| it.to - it.from < 10_000_000).count();
    assert!(short <= lost.len(), "{short}");
}

#[test]
fn slow_link_makes_packets_wait() {
    let (trace, _) = traced();
    let slices = slices(&trace);
    let waiting: Vec<_> = slices.iter().filter(|it| it.place.ends_with("/waiting")).collect();
    assert!(waiting.iter().any(|it| it.to - it.from > 5_000_000));
    let tracks = tracks(&trace);
    let queue = trace.packets.iter().filter_map(|it| it.event.as_ref()).filter_map(|event| {
        path(&tracks, event.track).ends_with("n2 to n1/queue").then_some(event.value?)
    });
    let longest = queue.fold(0.0, f64::max);
    assert!((2.0..=11.0).contains(&longest), "{longest}");
}

#[test]
fn arrows_join_a_segment_and_its_packets() {
    let (trace, _) = traced();
    let slices = slices(&trace);
    let segments: Vec<_> = slices.iter().filter(|it| it.place.ends_with("/segments")).collect();
    let count = segments.len();
    assert!(count >= 30, "{count}");
    let names: BTreeSet<&str> = segments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), count, "each segment once");
    for segment in segments {
        let flow = segment.flow.expect("a flow");
        let hops: Vec<_> = slices
            .iter()
            .filter(|it| it.flow == Some(flow) && it.place.ends_with("/on the link"))
            .collect();
        // There and back, over both links.
        assert!(hops.len() >= 4, "{} has {} hops", segment.name, hops.len());
        assert!(hops.iter().all(|it| it.from >= segment.from));
        assert!(hops.iter().any(|it| it.to == segment.to && it.name.starts_with("Data")));
    }
}

#[test]
fn trace_changes_no_run() {
    let run = |with_trace: bool| {
        let network = lossy_line();
        let mut digest = Digest::new();
        let mut perfetto = Perfetto::new(&network, io::sink());
        let mut simulation = Simulation::new(network, 3).unwrap();
        match with_trace {
            true => simulation.run(&mut [&mut digest, &mut perfetto]),
            false => simulation.run(&mut [&mut digest]),
        };
        digest.value()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn full_disk_is_an_error() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let network = lossy_line();
    let mut perfetto = Perfetto::new(&network, Full);
    Simulation::new(network, 1).unwrap().run(&mut [&mut perfetto]);
    assert_eq!(perfetto.finish().err().map(|it| it.kind()), Some(io::ErrorKind::StorageFull));
}
