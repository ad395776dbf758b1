//! A consumer that looks for its source, and the source moves: the strategy `discover` with timers that set the lifetime.
use recoup_forwarder::packet::Body;
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::network::{LinkId, Network};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::Simulation;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};

/// The source is reachable from `a` until 2 s, and from `b` afterwards, without any notice. Links of the consumer have
/// `loss`.
fn moving_source(timer: &str, loss: &str) -> Network {
    let text = format!(
        r#"
        stop = "5 min"
        [topology]
        links = ["c-a", "c-b", "a-source", "b-source"]
        [link]
        rate = "2 Mbit/s"
        delay = "5 ms"
        [links.c-a.back]
        loss = "{loss}"
        [nodes.c]
        strategy = "discover"
        [[route]]
        node = "c"
        prefix = "/file"
        via = ["a", "b"]
        [applications.c1]
        kind = "fetch"
        node = "c"
        object = "/file"
        congestion = "fixed(window=4,accounting=span)"
        loss = "timeout"
        rto = "{timer}"
        rto-check = 0
        retries = "unlimited"
        [applications.p1]
        kind = "serve"
        node = "source"
        prefix = "/file"
        size = "1 MB"
        segment = "1024 B"
        [[event]]
        at = "0 s"
        outage = "b-source"
        for = "2 s"
        [[event]]
        at = "2 s"
        outage = "a-source"
        "#
    );
    let file = ScenarioFile::parse(&text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let files = |_: &str| Err(String::new());
    let scenario = file.scenario(&file.point(0).unwrap(), &files).unwrap();
    scenario.network(1).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Interests that the consumer sent toward `a` and `b`, when, and with which lifetime; its timeouts, and its end.
#[derive(Default)]
struct Watch {
    asked: [Vec<(Instant, Duration)>; 2],
    timeouts: Vec<Instant>,
    done: Option<Instant>,
}

impl Observer for Watch {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Sent { link: LinkId(link @ 0..=1), packet, .. } => {
                if let Body::Interest(interest) = &packet.body {
                    let lifetime = interest.lifetime.unwrap_or_default();
                    self.asked[*link as usize].push((now, lifetime));
                }
            }
            Observation::Application { report: Report::Event(Event::TimedOut { .. }), .. } => {
                self.timeouts.push(now);
            }
            Observation::Application { report: Report::Done(Ok(())), .. } => self.done = Some(now),
            _ => {}
        }
    }
}

fn watch(timer: &str, loss: &str) -> Watch {
    let mut watch = Watch::default();
    Simulation::new(moving_source(timer, loss), 1).unwrap().run(&mut [&mut watch]);
    watch
}

const MOVE: Instant = Instant::from_millis(2_000);

#[test]
fn a_source_that_moves_is_found_again() {
    for timer in ["ccntimer", "wma", "icp", "tcp", "constant"] {
        let watch = watch(timer, "none");
        assert!(watch.done.is_some(), "{timer}");
        let [toward_a, toward_b] = &watch.asked;
        let early = toward_b.iter().filter(|(at, _)| *at < MOVE).count();
        assert!(early <= 4, "{timer}: pinned to the first source, {early}");
        let last = toward_a.last().map(|(at, _)| *at).unwrap();
        let late = toward_b.iter().filter(|(at, _)| *at > last).count();
        assert!(late > 300, "{timer}: pinned to the second source, {late}");
    }
}

#[test]
fn search_begins_at_the_third_timeout() {
    for timer in ["ccntimer", "wma"] {
        let watch = watch(timer, "none");
        let toward_b = watch.asked[1].iter().filter(|(at, _)| *at > MOVE);
        let (found, lifetime) = *toward_b.clone().next().unwrap();
        assert_eq!(lifetime, Duration::from_secs(4), "{timer}: a source may be far");
        // Two lifetimes of some 0.1 s, stretched by the timeouts of the four segments that wait.
        let wait = found.since(MOVE).as_secs_f64();
        assert!((0.3..1.5).contains(&wait), "{timer}: {wait} s");
        let timeouts = watch.timeouts.iter().filter(|at| **at <= found).count();
        assert!((9..=12).contains(&timeouts), "{timer}: {timeouts}");
    }
}

#[test]
fn one_loss_does_not_unpin() {
    let lossy = watch("ccntimer", "trace(packets=40 80 120)");
    let early = |at: &&(Instant, Duration)| at.0 < MOVE;
    assert!(lossy.timeouts.iter().filter(|at| **at < MOVE).count() >= 3);
    assert!(lossy.asked[1].iter().filter(early).count() <= 4, "never retransmitted");
}
