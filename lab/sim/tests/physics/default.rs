//! The default transport where it could harm others or itself: many own flows, silences, policers.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::network::{ApplicationId, Network};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::Simulation;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Counts of one fetch.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    received: u64,
    /// Segments received from `Counts::since` on.
    late: u64,
    sent_again: u64,
    ended: Option<Instant>,
}

/// Counts of all fetches.
#[derive(Debug, Default)]
struct Counts {
    since: Instant,
    of: BTreeMap<u32, Count>,
}

impl Observer for Counts {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let Observation::Application { application: ApplicationId(number), report } = observation
        else {
            return;
        };
        let Report::Event(event) = report else { return };
        match event {
            Event::Sent { transmissions, .. } => {
                self.of.entry(*number).or_default().sent_again += u64::from(*transmissions > 1);
            }
            Event::Received { .. } => {
                let count = self.of.entry(*number).or_default();
                count.received += 1;
                count.late += u64::from(now >= self.since);
                count.ended = Some(now);
            }
            _ => {}
        }
    }
}

fn run(text: &str, since: Instant) -> Counts {
    let file = ScenarioFile::parse(text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let scenario = file.scenario(&file.point(0).unwrap(), &|_: &str| Err(String::new())).unwrap();
    let network: Network = scenario.network(1).unwrap_or_else(|problems| panic!("{problems}"));
    let mut counts = Counts { since, ..Counts::default() };
    Simulation::new(network, 1).unwrap().run(&mut [&mut counts]);
    counts
}

/// So many fetches of endless objects, one each 100 ms, over one bottleneck with a round trip of 40 ms and a buffer as
/// long: Jain's index from 10 s on, and the share of segments that were sent again.
fn own_flows(flows: u32, mbit: u32, congestion: &str) -> (f64, f64) {
    let (mut links, mut rest) = (String::new(), String::new());
    for n in 0..flows {
        let _ = write!(links, "\"c{n}-r\", ");
        let start = n * 100;
        let _ = write!(
            rest,
            "[links.c{n}-r]\ndelay = \"2 ms\"\n[applications.c{n}]\nkind = \"fetch\"\nnode = \"c{n}\"\nobject = \"/{n}\"\n\
             start = \"{start} ms\"\n[applications.p{n}]\nkind = \"serve\"\nnode = \"p\"\nprefix = \"/{n}\"\n"
        );
    }
    let queue = mbit * 1_000_000 / 25 / 8 / 1_300;
    let text = format!(
        r#"
        stop = "25 s"
        when-done = false
        [topology]
        links = [{links} "r-p"]
        [link]
        queue = "unlimited"
        [links.r-p]
        rate = "{mbit} Mbit/s"
        delay = "18 ms"
        queue = "{queue} packets"
        [fetch]
        congestion = "{congestion}"
        [serve]
        size = "40000 MB"
        segment = "1200 B"
        packet = "1300 B"
        {rest}"#
    );
    let counts = run(&text, Instant::from_millis(10_000)).of;
    let shares: Vec<f64> = counts.values().map(|count| count.late as f64).collect();
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let again: u64 = counts.values().map(|count| count.sent_again).sum();
    let received: u64 = counts.values().map(|count| count.received).sum();
    (sum * sum / (shares.len() as f64 * squares), again as f64 / received as f64)
}

#[test]
fn own_flows_share_without_waste() {
    for (flows, mbit) in [(8, 5), (16, 20)] {
        let (jain, again) = own_flows(flows, mbit, "recoup");
        let (_, usual) = own_flows(flows, mbit, "cubic");
        println!("{flows} over {mbit} Mbit/s: {jain:.3}, {again:.3} sent again, CUBIC {usual:.3}");
        assert!(jain >= 0.95, "{flows}, {mbit}: {jain}");
        assert!(again <= usual + 0.02, "{flows}, {mbit}: {again}, CUBIC {usual}");
    }
}

/// One fetch of 6,000 segments over 80 ms, 10 Mbit/s and the rest of the text.
fn single(channel: &str, events: &str) -> Count {
    let text = format!(
        r#"
        stop = "100 s"
        [topology]
        links = ["c-p"]
        [links.c-p]
        rate = "10 Mbit/s"
        delay = "40 ms"
        queue = "200 packets"
        {channel}
        [fetch]
        object = "/f"
        [serve]
        size = "7.2 MB"
        segment = "1200 B"
        packet = "1300 B"
        [applications.c]
        kind = "fetch"
        node = "c"
        [applications.p]
        kind = "serve"
        node = "p"
        prefix = "/f"
        {events}"#
    );
    run(&text, Instant::ZERO).of.values().find(|count| count.received > 0).copied().unwrap()
}

#[test]
fn fetch_goes_on_a_second_after_an_outage() {
    let ended = |count: Count| count.ended.unwrap().as_secs_f64();
    let calm = ended(single("", ""));
    let outage = |seconds: u32| {
        let event = format!("[[event]]\nat = \"2 s\"\noutage = \"c-p\"\nfor = \"{seconds} s\"\n");
        ended(single("", &event))
    };
    for seconds in [3, 12, 40] {
        let late = outage(seconds) - calm - f64::from(seconds);
        println!("{seconds} s: {late:.2} s late");
        assert!(late < 1.5, "{seconds} s: {late} s late");
    }
}

#[test]
fn policer_loses_a_tenth_at_most() {
    // 500 packets a second, twenty in a row.
    let count = single("back = { loss = \"policer(rate=500,burst=20)\" }", "");
    assert_eq!(count.received, 6_000);
    let again = count.sent_again as f64 / count.received as f64;
    println!("{again:.3} sent again, {:?}", count.ended);
    assert!(again < 0.1, "{again}");
}

/// Share of a fetch that begins 2 s after one with NewReno, over 50 Mbit/s and 40 ms with a buffer as long.
fn share_beside_newreno() -> f64 {
    let text = r#"
        stop = "40 s"
        when-done = false
        [topology]
        links = ["a-r", "b-r", "r-p"]
        [link]
        queue = "unlimited"
        delay = "2 ms"
        [links.r-p]
        rate = "50 Mbit/s"
        delay = "18 ms"
        queue = "192 packets"
        [serve]
        size = "40000 MB"
        segment = "1200 B"
        packet = "1300 B"
        [applications.a]
        kind = "fetch"
        node = "a"
        object = "/a"
        start = "2 s"
        [applications.b]
        kind = "fetch"
        node = "b"
        object = "/b"
        congestion = "newreno"
        loss = "time-threshold(share=1/4)"
        rto = "jacobson(backoff-until=progress)"
        [applications.pa]
        kind = "serve"
        node = "p"
        prefix = "/a"
        [applications.pb]
        kind = "serve"
        node = "p"
        prefix = "/b"
        "#;
    let counts = run(text, Instant::from_millis(10_000)).of;
    let late: Vec<f64> = counts.values().map(|count| count.late as f64).collect();
    late[0] / late.iter().sum::<f64>()
}

#[test]
fn share_beside_newreno_is_about_half() {
    let share = share_beside_newreno();
    println!("share {share:.2}");
    assert!((0.35..=0.65).contains(&share), "{share}");
}
