//! A draw of fading holds for a coherence time, or for one MPDU of an aggregate.
use crate::harness::{Datagram, row};
use recoup_core::random::Rng;
use recoup_core::time::Instant;
use recoup_wifi::fading::{FadingPlan, Hold};
use recoup_wifi::medium::{Medium, MediumInput, MediumOutput, Traced};
use recoup_wifi::plan::{Category, MediumPlan, RateControl};
use recoup_wifi::rate::Rate;
use recoup_wifi::{Address, StationId};

const FRAMES: u32 = 12;
const PAYLOAD: u32 = 1_472;
/// At this distance a good part of the draws of Rayleigh fading leaves too little power.
const METRES: f64 = 15.0;

/// Bytes of the first and of the second aggregate that carry the same frames.
fn aggregates(hold: Hold, seed: u64) -> (u32, u32) {
    let rate = Rate::Ht { mcs: 7, wide: true, short_guard: true };
    let fading = FadingPlan {
        nakagami_m: Some(1.0),
        hold,
        surrounding_speed: 1.0,
        carrier_hz: 5.2e9,
        ..FadingPlan::default()
    };
    let plan = MediumPlan { fading, ..MediumPlan::n(RateControl::Constant(rate)) };
    let mut medium = Medium::new(plan, row(2, METRES), &Rng::from_seed(seed));
    medium.trace(true);
    let (from, to) = (StationId(0), Address::Station(StationId(1)));
    for segment in 0..FRAMES {
        let load = Datagram { bytes: PAYLOAD, segment, to: 1 };
        let category = Category::BestEffort;
        medium.handle(Instant::from_nanos(0), MediumInput::Frame { from, to, category, load });
    }
    let mut sent = Vec::new();
    while let Some(now) = medium.deadline().filter(|at| at.as_nanos() < 1_000_000_000) {
        while let Some(output) = medium.poll(now) {
            if let MediumOutput::Traced(Traced::Sent { is_data: true, bytes, .. }) = output {
                sent.push(bytes);
            }
        }
    }
    // The first frame of a queue goes alone.
    let again = sent.iter().position(|bytes| *bytes > PAYLOAD * (FRAMES - 2)).unwrap_or_default();
    (sent.get(again).copied().unwrap_or_default(), sent.get(again + 1).copied().unwrap_or_default())
}

/// Seeds of a hundred in which some frames of the first aggregate, and not all, are in the next one.
fn partial_losses(hold: Hold) -> usize {
    let results = (0..100).map(|seed| aggregates(hold, seed));
    results.filter(|(first, again)| (1..*first).contains(again)).count()
}

#[test]
fn parts_of_an_aggregate_fade_alone() {
    let (alone, together) = (partial_losses(Hold::Mpdu), partial_losses(Hold::Coherence));
    assert!(alone >= 85, "{alone}");
    assert!(together <= 20, "{together}");
}
