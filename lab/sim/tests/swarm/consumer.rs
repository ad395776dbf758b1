//! Consumers as a seed makes them. Each ends by itself, or is taken away.
use crate::dice::Dice;
use recoup_packet::name::Name;
use recoup_sim::network::{ApplicationKind, Arrival, FetchPlan, Popularity, RequestPlan};
use recoup_transport::fetch::{FetchOptions, Retries};
use recoup_transport::time::Duration;
use recoup_transport::{congestion, loss, rto};

/// Besides all timers by their names.
const TIMERS: [&str; 9] = [
    "constant(rto=200ms)",
    "constant(rto=30ms)",
    "jacobson(max=4s)",
    "jacobson(min=0ms,max=2s)",
    "rfc6298(max=8s)",
    "yang2016(max=4s)",
    "icp(min=20ms)",
    "ccntimer(min=20ms)",
    "per-source(wma)",
];
/// Besides all detectors by their names.
const DETECTORS: [&str; 4] = [
    "timeout",
    "out-of-order(frt=2,repair=first-hole)",
    "pre-recovery(frt=1,rescan=true,learn=true,decay=1,cap=0.5)",
    "time-threshold(frt=1,factor=1,share=1/4)",
];
/// Besides all windows by their names.
const WINDOWS: [&str; 9] = [
    "fixed(window=1)",
    "fixed(window=8)",
    "fixed(window=64)",
    "aimd(step=4,beta=0.9)",
    "aimd(beta=0)",
    "cubic(fast-convergence=false,reno-friendly=false)",
    "newreno(accounting=span)",
    "udugama2013(flavour=cubic)",
    "udugama2013(flavour=compound,update=per-data)",
];

fn timer(dice: &mut Dice) -> &'static str {
    dice.one_named(rto::names(), &TIMERS)
}

fn window(dice: &mut Dice) -> &'static str {
    dice.one_named(congestion::names(), &WINDOWS)
}

/// A fetch of an object that is there, with or without a version.
pub(crate) fn fetch(dice: &mut Dice, object: &Name, discover: bool) -> FetchPlan {
    let mut plan = FetchPlan {
        options: FetchOptions {
            discover,
            rto: timer(dice).parse().unwrap(),
            sampling: dice.one(&["per-rtt", "every", "rfc7323"]).parse().unwrap(),
            congestion: window(dice).parse().unwrap(),
            loss: dice.one_named(loss::names(), &DETECTORS).parse().unwrap(),
            lifetime: dice.millis(100, 4_000),
            retries: Retries(dice.chance(0.7).then(|| dice.between(0, 15) as u32)),
            no_progress: dice.millis(500, 8_000),
            rto_check: if dice.chance(0.3) { Duration::from_millis(10) } else { Duration::ZERO },
            react_to_marks: dice.chance(0.5),
            ..FetchOptions::default()
        },
        ..FetchPlan::new(object.clone())
    };
    let first = dice.between(0, 5);
    plan.options.must_be_fresh = dice.chance(0.2);
    plan.options.cancel_on_timeout = dice.chance(0.2);
    if dice.chance(0.1) {
        plan.first = first;
    }
    plan.last = dice.chance(0.1).then_some(first + 3);
    plan
}

/// A fetch that cannot but succeed where nothing is lost.
pub(crate) fn patient_fetch(dice: &mut Dice, object: &Name, discover: bool) -> FetchPlan {
    let options = fetch(dice, object, discover).options;
    FetchPlan {
        options: FetchOptions {
            lifetime: Duration::from_secs(10),
            retries: Retries(None),
            no_progress: Duration::from_secs(30),
            must_be_fresh: false,
            cancel_on_timeout: false,
            ..options
        },
        ..FetchPlan::new(object.clone())
    }
}

/// Requests; whether they end by themselves.
pub(crate) fn request(dice: &mut Dice, prefixes: &[Name]) -> (ApplicationKind, bool) {
    let requests = dice.chance(0.7).then(|| dice.magnitude(1, 400));
    let rate = dice.magnitude(5, 300) as f64;
    let (on, off) = (dice.millis(1, 200), dice.millis(1, 200));
    let batch = |dice: &mut Dice| (dice.millis(0, 3_000), dice.between(1, 40));
    let arrival = match dice.between(0, 4) {
        0 => Arrival::Constant(rate),
        1 => Arrival::Poisson(rate),
        2 => Arrival::OnOff { rate, on, off },
        3 => Arrival::Batches((0..dice.between(1, 5)).map(|_| batch(dice)).collect()),
        _ => Arrival::Window(Box::new(window(dice).parse().unwrap())),
    };
    let popularity = match dice.between(0, 2) {
        0 => Popularity::Sequential,
        1 => Popularity::Uniform,
        _ => Popularity::ZipfMandelbrot { q: 0.7, s: 0.9 },
    };
    let rto = if dice.chance(0.4) { "none" } else { timer(dice) };
    let retries = dice.chance(0.8).then(|| dice.between(0, 5) as u32);
    let windowed = matches!(arrival, Arrival::Window(_));
    let requests = if windowed { Some(requests.unwrap_or(100)) } else { requests };
    let bounded = requests.is_some() || matches!(arrival, Arrival::Batches(_));
    let ends = bounded && (rto == "none" || retries.is_some());
    let plan = RequestPlan {
        prefixes: prefixes.to_vec(),
        contents: dice.magnitude(1, 2_000),
        popularity,
        arrival,
        requests,
        rto: rto.parse().ok(),
        retries,
        lifetime: dice.millis(50, 4_000),
        rto_scan: None,
        pending: None,
    };
    (ApplicationKind::Request(Box::new(plan)), ends)
}
