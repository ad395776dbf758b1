//! A bottleneck that several consumers share: what each gets, with and without a scheduler in front of it.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::network::{ApplicationId, Network};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::Simulation;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;

/// Content on the bottleneck: packets of 1,250 bytes hold 1,024.
const CONTENT_BITS: f64 = 10e6 * 1_024.0 / 1_250.0;

/// Two clients behind a router, one of them greedy, and a bottleneck of 10 Mbit/s to the server.
fn two_clients(scheduler: &str, modest: &str, object: [&str; 2]) -> Network {
    let [one, other] = object;
    let text = format!(
        r#"
        stop = "12 s"
        [topology]
        links = ["greedy-router", "modest-router", "router-server"]
        [link]
        rate = "100 Mbit/s"
        delay = "5 ms"
        [links.router-server]
        rate = "10 Mbit/s"
        [nodes.router]
        scheduler = "{scheduler}"
        [fetch]
        flow-nonce = true
        loss = "timeout"
        rto = "jacobson"
        [serve]
        size = "100 MB"
        segment = "1024 B"
        packet = "1250 B"
        [applications.greedy]
        kind = "fetch"
        node = "greedy"
        object = "{one}"
        congestion = "fixed(window=500)"
        rto = "constant(rto=4s)"
        [applications.modest]
        kind = "fetch"
        node = "modest"
        object = "{other}"
        congestion = "{modest}"
        [applications.one]
        kind = "serve"
        node = "server"
        prefix = "/one"
        [applications.other]
        kind = "serve"
        node = "server"
        prefix = "/other"
        "#
    );
    let file = ScenarioFile::parse(&text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let files = |_: &str| Err(String::new());
    let scenario = file.scenario(&file.point(0).unwrap(), &files).unwrap();
    scenario.network(1).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Bytes of content that each consumer received from the fourth second on.
#[derive(Default)]
struct Shares([u64; 2]);

impl Observer for Shares {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Application { application: ApplicationId(number), report } = observation
            && let Report::Event(Event::Received { content_bytes, .. }) = report
            && now >= Instant::from_millis(4_000)
        {
            self.0[*number as usize] += u64::from(*content_bytes);
        }
    }
}

/// Shares of greedy and modest in the content on the bottleneck.
fn shares(network: Network) -> [f64; 2] {
    let mut shares = Shares::default();
    Simulation::new(network, 1).unwrap().run(&mut [&mut shares]);
    shares.0.map(|bytes| bytes as f64 * 8.0 / 8.0 / CONTENT_BITS)
}

const DIFFERENT: [&str; 2] = ["/one", "/other"];

#[test]
fn without_a_scheduler_the_greedy_takes_nearly_all() {
    let [greedy, modest] = shares(two_clients("none", "aimd", DIFFERENT));
    assert!(greedy > 0.75 && modest < 0.25, "{greedy} {modest}");
}

#[test]
fn two_that_want_more_get_half_each() {
    for (scheduler, modest) in [
        ("max-min", "aimd"),
        ("max-min", "cubic"),
        ("max-min(share=flow)", "aimd"),
        ("drr", "aimd"),
        ("drr(share=flow)", "cubic"),
    ] {
        let [one, other] = shares(two_clients(scheduler, modest, DIFFERENT));
        println!("{scheduler} {modest}: {one:.3} {other:.3}");
        for share in [one, other] {
            assert!((share - 0.5).abs() < 0.05, "{scheduler}, {modest}: {one} {other}");
        }
    }
}

#[test]
fn nonces_separate_consumers_of_one_content() {
    // No cache keeps passing packets, and one consumer is far ahead of the other: nothing is shared.
    let mut network = two_clients("max-min(share=flow)", "aimd", ["/one", "/one"]);
    network.applications[1].start = Instant::from_millis(1_000);
    let [one, other] = shares(network);
    assert!((one - 0.5).abs() < 0.05 && (other - 0.5).abs() < 0.05, "{one} {other}");
}

#[test]
fn modest_flow_is_served_in_full() {
    for scheduler in ["max-min", "max-min(share=flow)", "drr"] {
        // 4 segments in each round trip of 21 ms.
        let [greedy, modest] = shares(two_clients(scheduler, "fixed(window=4)", DIFFERENT));
        println!("{scheduler}: {greedy:.3} {modest:.3}");
        let wanted = 4.0 * 1_024.0 * 8.0 / 0.021_3 / CONTENT_BITS;
        assert!((modest / wanted - 1.0).abs() < 0.1, "{scheduler}: {modest} of {wanted}");
        assert!((greedy / (1.0 - modest) - 1.0).abs() < 0.1, "{scheduler}: {greedy} {modest}");
    }
}
