//! Goodput of a fetch: what the window and the bottleneck let through, and no more.
use crate::line::{Notes, add, channel, fetch, line, run, serve};
use crate::significance::{assert_within, scaled};
use recoup_sim::network::{
    ApplicationKind, Arrival, BackgroundPlan, Direction, LinkId, LinkOptions, Network,
};
use recoup_transport::fetch::Retries;
use recoup_transport::time::Duration;

/// Bytes of a frame with Data, and of one with an Interest.
const DATA: u64 = 1_250 + 38;
const INTEREST: u64 = 60;

/// Rates in bits per second, and delays in milliseconds, of three links with a bottleneck in the middle.
const LINKS: [(u64, u64); 3] = [(10_000_000, 5), (5_000_000, 10), (20_000_000, 3)];

fn framed(channel: LinkOptions) -> LinkOptions {
    let interest_bytes = Some(u32::try_from(INTEREST).unwrap());
    LinkOptions { overhead_bytes: 38, interest_bytes, ..channel }
}

fn three_links() -> Network {
    line(&LINKS.map(|(rate, delay)| {
        let channel = framed(channel(rate, delay));
        (channel.clone(), channel)
    }))
}

fn fetched(mut network: Network, window: u32, segments: u64) -> Notes {
    let producer = u32::try_from(network.nodes.len() - 1).unwrap();
    add(&mut network, "consumer", 0, fetch(window));
    add(&mut network, "producer", producer, serve(segments));
    let (notes, _) = run(&network, 1);
    assert_eq!((notes.got.len() as u64, notes.timeouts), (segments, 0));
    notes
}

/// Transmission time of `bytes`, in seconds.
fn transmission(bytes: u64, rate_bits: u64) -> f64 {
    (bytes * 8) as f64 / rate_bits as f64
}

/// Seconds from an Interest to its Data on an idle path.
fn base_rtt() -> f64 {
    let link = |(rate, delay)| transmission(INTEREST + DATA, rate) + 2e-3 * delay as f64;
    LINKS.into_iter().map(link).sum()
}

#[test]
fn small_window_is_sent_once_per_round_trip() {
    for window in [1, 4, 16] {
        let notes = fetched(three_links(), window, scaled(20_000, 4_000));
        let expected = f64::from(window) * 1_024.0 * 8.0 / base_rtt();
        assert_within(&format!("goodput of W={window}"), notes.goodput(), expected, 0.005);
        // The window that is sent at once at the start is spread out from then on.
        let settled = notes.got[usize::try_from(window).unwrap()..].iter();
        let longest = settled.map(|got| got.rtt).max().unwrap();
        assert!((longest.as_secs_f64() - base_rtt()).abs() < 1e-7, "{longest:?}");
    }
}

#[test]
fn large_window_fills_the_bottleneck() {
    for window in [64, 400] {
        let notes = fetched(three_links(), window, scaled(20_000, 4_000));
        let expected = 5e6 * 1_024.0 / DATA as f64;
        assert_within(&format!("goodput of W={window}"), notes.goodput(), expected, 0.005);
        // Little's law: what the path does not hold waits in front of the bottleneck.
        let last = notes.got.iter().rev().nth(window as usize + 1).unwrap();
        let rtt = f64::from(window) * transmission(DATA, 5_000_000);
        assert_within(&format!("RTT of W={window}"), last.rtt.as_secs_f64(), rtt, 0.005);
    }
}

#[test]
fn delays_add_up_and_rates_are_per_direction() {
    let (forth, back) = (framed(channel(1_000_000, 40)), framed(channel(8_000_000, 5)));
    let notes = fetched(line(&[(forth, back)]), 1, 500);
    let rtt = 0.045 + transmission(INTEREST, 1_000_000) + transmission(DATA, 8_000_000);
    assert!(notes.got.iter().all(|got| (got.rtt.as_secs_f64() - rtt).abs() < 1e-8));
    assert_within("goodput", notes.goodput(), 1_024.0 * 8.0 / rtt, 0.005);
}

#[test]
fn slow_uplink_of_interests_limits_data() {
    let (forth, back) = (framed(channel(64_000, 10)), framed(channel(100_000_000, 10)));
    let notes = fetched(line(&[(forth, back)]), 100, 2_000);
    let expected = 1_024.0 * 8.0 / transmission(INTEREST, 64_000);
    assert_within("goodput", notes.goodput(), expected, 0.005);
}

#[test]
fn background_traffic_leaves_the_rest_of_the_rate() {
    for arrival in [Arrival::Constant(250.0), Arrival::Poisson(250.0)] {
        let mut network = three_links();
        let background = BackgroundPlan {
            link: LinkId(1),
            direction: Direction::Back,
            frame_bytes: 1_000,
            arrival: arrival.clone(),
        };
        add(&mut network, "background", 1, ApplicationKind::Background(background));
        let notes = fetched(network, 400, scaled(40_000, 8_000));
        let expected = (5e6 - 2e6) * 1_024.0 / DATA as f64;
        // A Poisson stream is only as even as its number of frames makes it.
        let frames = 250.0 * notes.got.last().unwrap().at.as_secs_f64();
        let even = matches!(arrival, Arrival::Constant(_));
        let share = if even { 0.005 } else { 3.0 * 2.0 / 3.0 / frames.sqrt() };
        // At the start the window meets an idle link.
        let goodput = notes.settled_goodput(2_000);
        assert_within(&format!("goodput beside {arrival:?}"), goodput, expected, share);
    }
}

#[test]
fn processing_time_adds_to_round_trips() {
    let mut network = three_links();
    network.nodes[1].processing = "constant(time=2ms)".parse().unwrap();
    let notes = fetched(network.clone(), 1, 500);
    let expected = base_rtt() + 2.0 * 0.002;
    assert!(notes.got.iter().all(|got| (got.rtt.as_secs_f64() - expected).abs() < 1e-8));
    // An Interest and a Data packet for each segment, one after the other.
    let notes = fetched(network, 20, scaled(20_000, 8_000));
    assert_within("goodput", notes.goodput(), 1_024.0 * 8.0 / 0.004, 0.005);
}

#[test]
fn random_losses_cost_their_share() {
    // A constant window behind a timeout that is exact: each loss costs one transmission, and the
    // number of transmissions of a segment is geometric.
    let mut network = line(&[(framed(channel(0, 5)), framed(channel(0, 5)))]);
    network.links[0].back.loss = "bernoulli(p=0.1)".parse().unwrap();
    let ApplicationKind::Fetch(mut plan) = fetch(1) else { panic!() };
    plan.options.rto = "constant(rto=11ms)".parse().unwrap();
    plan.options.retries = Retries(None);
    plan.options.lifetime = Duration::from_millis(11);
    add(&mut network, "consumer", 0, ApplicationKind::Fetch(plan));
    let segments = scaled(100_000, 20_000);
    add(&mut network, "producer", 1, serve(segments));
    let (notes, _) = run(&network, 1);
    let expected = 1_024.0 * 8.0 / (0.010 + 0.011 * 0.1 / 0.9);
    // The number of losses has this relative deviation, and a tenth of the time is theirs.
    let deviation = 0.11 * (10.0 / segments as f64).sqrt();
    assert_within("goodput", notes.goodput(), expected, 3.0 * deviation);
}
