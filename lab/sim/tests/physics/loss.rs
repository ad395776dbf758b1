//! Losses on a channel: how many, and in how long bursts.
use crate::carry::{Fate, fates, millisecond_a_frame, offered};
use crate::significance::{assert_likely, chi_square_p, scaled};
use recoup_sim::channel::LossReason;
use recoup_sim::network::{Arrival, LinkOptions};

/// Frames of a full channel, true if the model loses them.
fn taken(loss: &str, frames: u64) -> Vec<bool> {
    let plan = LinkOptions { loss: loss.parse().unwrap(), ..millisecond_a_frame() };
    let fates = fates(&plan, 1, offered(&Arrival::Constant(1_000.0), 1, frames));
    assert_eq!(fates.len() as u64, frames);
    fates
        .iter()
        .map(|fate| match fate {
            Fate::Lost(LossReason::Model) => true,
            Fate::Lost(reason) => panic!("lost by {reason:?}"),
            Fate::Arrived(_) => false,
        })
        .collect()
}

fn share(taken: &[bool]) -> f64 {
    taken.iter().filter(|taken| **taken).count() as f64 / taken.len() as f64
}

/// How long each run of losses is.
fn bursts(taken: &[bool]) -> Vec<u64> {
    let runs = taken.chunk_by(|a, b| a == b).filter(|run| run[0]);
    runs.map(|run| run.len() as u64).collect()
}

#[test]
fn independent_losses_follow_their_probability() {
    let frames = scaled(2_000_000, 300_000);
    for p in [0.001, 0.05, 0.3] {
        let taken = taken(&format!("bernoulli(p={p})"), frames);
        let deviation = (p * (1.0 - p) / frames as f64).sqrt();
        assert_likely(&format!("share at p={p}"), share(&taken), p, deviation);
    }
}

#[test]
fn independent_losses_come_at_geometric_distances() {
    let p = 0.2;
    let taken = taken("bernoulli(p=0.2)", 300_000);
    let mut counts = vec![0_u64; 60];
    let mut distance = 0;
    for taken in taken {
        if taken {
            counts[distance.min(59)] += 1;
            distance = 0;
        } else {
            distance += 1;
        }
    }
    let gaps = counts.iter().sum::<u64>() as f64;
    let tail = |k: i32| (1.0_f64 - p).powi(k);
    let law = |k: i32| gaps * if k == 59 { tail(59) } else { tail(k) * p };
    let expected: Vec<f64> = (0..60).map(law).collect();
    let probability = chi_square_p(&counts, &expected);
    assert!(probability > 0.01, "{probability}");
}

#[test]
fn gilbert_elliott_has_share_and_bursts() {
    let frames = scaled(2_000_000, 400_000);
    for (p, r) in [(0.01, 0.25), (0.002, 0.05), (0.1, 0.5)] {
        let taken = taken(&format!("gilbert-elliott(p={p},r={r})"), frames);
        let expected = p / (p + r);
        // The state is a chain whose correlation falls by 1 - p - r with each frame.
        let memory = (2.0 - p - r) / (p + r);
        let deviation = (expected * (1.0 - expected) * memory / frames as f64).sqrt();
        assert_likely(&format!("share at p={p} r={r}"), share(&taken), expected, deviation);
        let bursts = bursts(&taken);
        let mean = bursts.iter().sum::<u64>() as f64 / bursts.len() as f64;
        let deviation = (1.0 - r).sqrt() / r / (bursts.len() as f64).sqrt();
        assert_likely(&format!("burst at p={p} r={r}"), mean, 1.0 / r, deviation);
    }
}

#[test]
fn gilbert_elliott_mixes_losses_of_both_states() {
    let (p, r, good, bad) = (0.02, 0.1, 0.01, 0.6);
    let frames = scaled(2_000_000, 400_000);
    let taken = taken("gilbert-elliott(p=0.02,r=0.1,good=0.01,bad=0.6)", frames);
    let (is_bad, memory) = (p / (p + r), (2.0 - p - r) / (p + r));
    let expected = is_bad * bad + (1.0 - is_bad) * good;
    let of_states = is_bad * (1.0 - is_bad) * (bad - good) * (bad - good) * memory;
    let within = is_bad * bad * (1.0 - bad) + (1.0 - is_bad) * good * (1.0 - good);
    let deviation = ((of_states + within) / frames as f64).sqrt();
    assert_likely("share", share(&taken), expected, deviation);
}

#[test]
fn fading_channel_loses_the_share_of_bad_time() {
    let frames = scaled(4_000_000, 600_000);
    let taken = taken("sojourn(good-time=400ms,bad-time=100ms)", frames);
    // A process with two exponential states: its correlation falls by 1/(400 ms) + 1/(100 ms).
    let (expected, seconds) = (0.2, frames as f64 / 1e3);
    let deviation = (2.0 * expected * (1.0 - expected) / (12.5 * seconds)).sqrt();
    assert_likely("share", share(&taken), expected, deviation);
    let bursts = bursts(&taken);
    let mean = bursts.iter().sum::<u64>() as f64 / bursts.len() as f64;
    // What is seen at each millisecond is a chain in discrete time that leaves the bad state with this
    // probability.
    let leaves = 0.8 * (1.0 - libm::exp(-0.001 * 12.5));
    let deviation = (1.0 - leaves).sqrt() / leaves / (bursts.len() as f64).sqrt();
    assert_likely("burst in frames", mean, 1.0 / leaves, deviation);
}

#[test]
fn duplicates_follow_their_probability() {
    let frames = 100_000;
    let plan =
        LinkOptions { duplicate: "bernoulli(p=0.1)".parse().unwrap(), ..millisecond_a_frame() };
    let mut arrived = 0_u64;
    let offered = offered(&Arrival::Constant(1_000.0), 1, frames);
    crate::carry::carry(&plan, 1, offered, |_, _, _| arrived += 1);
    let deviation = (0.09 * frames as f64).sqrt();
    assert_likely("arrivals", arrived as f64, 1.1 * frames as f64, deviation);
}
