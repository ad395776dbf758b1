//! Two recorded timelines, run again with the back-offs that were drawn: every frame must start when it did.
use crate::harness::Chain;
use recoup_core::random::Rng;
use recoup_wifi::medium::{Medium, Traced};
use recoup_wifi::plan::MediumPlan;
use recoup_wifi::rate::Rate;
use recoup_wifi::{Address, StationId};
use std::collections::BTreeMap;

/// A frame in the timeline: start (ns), sender, receiver, data or not, bytes, Mbit/s, retransmission or not, time on
/// the air (ns).
type Frame = (u64, u32, u32, bool, u32, String, bool, u64);

struct Timeline {
    frames: Vec<Frame>,
    backoffs: BTreeMap<u32, Vec<u32>>,
}

fn read(text: &str) -> Timeline {
    let mut timeline = Timeline { frames: Vec::new(), backoffs: BTreeMap::new() };
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (node, number) = (fields[2].parse().unwrap(), fields[4].parse().unwrap());
        if fields[3] == "BACKOFF_DRAW" {
            timeline.backoffs.entry(node).or_default().push(number);
            continue;
        }
        let nanos = |text: &str| (text.parse::<f64>().unwrap() * 1e3).round() as u64;
        let rate = fields[6].replace("ErpOfdmRate", "ofdm-").replace("Mbps", "");
        let (to, is_data) = (fields[5].parse().unwrap(), fields[3] == "TX_DATA");
        let is_retry = fields[7] == "1";
        let frame = (nanos(fields[1]), node, to, is_data, number, rate, is_retry, nanos(fields[8]));
        timeline.frames.push(frame);
    }
    timeline
}

fn replay(text: &str, mbits: u8, metres: f64, hops: u32, window: u32) {
    let recorded = read(text);
    let plan = MediumPlan::g(Rate::ofdm(mbits).unwrap());
    let chain = Chain::new(plan, metres, hops, window);
    let mut medium = Medium::new(plan, chain.stations(), &Rng::from_seed(1));
    for (station, slots) in &recorded.backoffs {
        medium.replay_backoffs(StationId(*station), slots.iter().copied());
    }
    medium.trace(true);
    // The first frame finds the medium idle and goes out after its own inter-frame space.
    let start = recorded.frames[0].0 - plan.timing.aifs_nanos(2);
    let end = recorded.frames.last().unwrap().0;
    let mut frames: Vec<Frame> = Vec::new();
    chain.run_with(medium, start, end, &mut |at, traced| {
        let Traced::Sent { from, to: Address::Station(to), is_data, is_retry, bytes, rate, nanos } =
            traced
        else {
            return;
        };
        frames.push((at, from.0, to.0, is_data, bytes, rate.to_string(), is_retry, nanos));
    });
    for (number, (found, expected)) in frames.iter().zip(&recorded.frames).enumerate() {
        assert_eq!(found, expected, "frame {number}");
    }
    assert_eq!(frames.len(), recorded.frames.len());
}

#[test]
fn fast_hop_replays_the_recorded_frames() {
    replay(include_str!("microtrace_1hop_w1_54.csv"), 54, 150.0, 1, 1);
}

#[test]
fn hidden_ends_replay_the_recorded_frames() {
    replay(include_str!("microtrace_2hop_w4_hidden24.csv"), 24, 500.0, 2, 4);
}
