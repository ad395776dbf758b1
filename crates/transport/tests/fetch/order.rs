//! Losses told by the order in which Data arrives, on a path with a round trip of 100 ms and 10 Mbit/s.
use crate::world::{Answer, World, name, segment_of};
use recoup_packet::data::{Data, Description, SignatureShape};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::NoVerifier;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Delivery, FetchConfig};
use recoup_transport::loss::Phase;
use recoup_transport::random::Rng;
use recoup_transport::rto::Sampling;
use recoup_transport::time::{Duration, Instant};
use recoup_transport::{congestion, loss, rto};
use std::collections::BTreeMap;

const RTT: Duration = Duration::from_millis(100);
/// 1,100 octets at 10 Mbit/s.
const PACKET: Duration = Duration::from_micros(880);
const SEGMENTS: u64 = 3_000;
const FLAVOURS: [&str; 3] = ["newreno", "cubic", "compound"];

/// What becomes of an Interest: how long its Data is held up, or nothing comes.
type Fate = dyn FnMut(u64, u32) -> Option<Duration>;

fn udugama(flavour: &str) -> String {
    format!("udugama2013(flavour={flavour})")
}

fn config(congestion: &str, loss: &str) -> FetchConfig {
    let rto = rto::parse("jacobson(max=64s)").expect("an estimator");
    let congestion = congestion::parse(congestion).expect("a window");
    FetchConfig {
        loss: loss::parse(loss).expect("a detector"),
        sampling: Sampling::Every,
        discover: false,
        verifier: Box::new(NoVerifier),
        delivery: Delivery::Unordered,
        ..FetchConfig::new(name("/a/file/v=7"), rto, congestion, Rng::from_seed(1))
    }
}

fn describe(interest: &Interest) -> Data {
    Data::describe(Description {
        name: interest.name.clone(),
        final_block: Some(Convention::Typed.segment(SEGMENTS - 1)),
        content_octets: 1_000,
        signature: SignatureShape::Total { packet_octets: 1_100 },
        content_type: Default::default(),
        freshness: Duration::ZERO,
    })
    .expect("a packet")
}

/// Fetches everything. `fate` is told the segment and how often it has been asked for.
fn run(config: FetchConfig, fate: &mut Fate) -> World {
    let mut world = World::new(config);
    let (mut free, mut times) = (Instant::ZERO, BTreeMap::new());
    let result = world.run_timed(|now, interest| {
        let segment = segment_of(interest).expect("a segment");
        let times = times.entry(segment).or_insert(0);
        *times += 1;
        if segment >= SEGMENTS {
            return Vec::new();
        }
        // The bottleneck is passed in order; what is held up is held up behind it.
        free = free.max(now + RTT - PACKET) + PACKET;
        let arrived = fate(segment, *times).map(|held_up| free + held_up);
        arrived.map(|at| (at.since(now), Answer::Data(describe(interest)))).into_iter().collect()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(world.summary.segments, SEGMENTS);
    world
}

/// The first transmissions of `burst` segments are lost.
fn burst(at: u64, burst: u64) -> impl FnMut(u64, u32) -> Option<Duration> {
    move |segment, times| {
        let lost = times == 1 && (at..at + burst).contains(&segment);
        (!lost).then_some(Duration::ZERO)
    }
}

fn phases(world: &World) -> Vec<(Instant, Phase)> {
    let phase = |(at, event): &(Instant, Event)| match event {
        Event::Phase { phase } => Some((*at, *phase)),
        _ => None,
    };
    world.events.iter().filter_map(phase).collect()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[test]
fn a_loss_is_suspected_at_the_third_and_found_at_the_sixth_data_out_of_order() {
    let world = run(config(&udugama("newreno"), "smart"), &mut burst(1_000, 1));
    let [(pre_at, Phase::Pre), (fast_at, Phase::Fast), (over_at, Phase::Normal)] =
        phases(&world)[..]
    else {
        panic!("{:?}", phases(&world));
    };
    assert_eq!((fast_at.since(pre_at), over_at.since(fast_at)), (PACKET * 3, RTT));
}

#[test]
fn tcps_repair_takes_a_round_trip_for_each_loss_and_the_selective_one_takes_one() {
    for flavour in FLAVOURS {
        for losses in [1, 2, 3, 4, 8] {
            for (version, round_trips) in [("simple2", losses), ("simple3", 1), ("smart", 1)] {
                let world = run(config(&udugama(flavour), version), &mut burst(1_000, losses));
                let summary = &world.summary;
                let what = format!("{flavour}, {version}, {losses}: {summary:?}");
                assert_eq!((summary.recovery.entries, summary.timeouts), (1, 0), "{what}");
                assert_eq!((summary.repaired, summary.lost_by_order), (losses, losses), "{what}");
                assert_eq!((summary.reductions.total(), summary.spurious), (1, 0), "{what}");
                let time = millis(summary.recovery.time);
                // Compound's window keeps growing meanwhile, and a queue with it.
                let slack = if flavour == "compound" { 1.05 } else { 1.01 };
                let least = 100.0 * round_trips as f64;
                assert!((least..least * slack + 8.0).contains(&time), "{what}: {time} ms");
            }
        }
    }
}
