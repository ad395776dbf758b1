//! Complete simulations: repetition, conservation of packets, faults.
#[path = "simulation/build.rs"]
mod build;

use build::{applications, fetch, line, link, produce, request, run, serve};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::Kind;
use recoup_sim::channel::LossReason;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, BackgroundPlan, Direction, Fault, LinkId,
    LinkOptions, Network, NodeId, Order, Stop,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::{Cause, Digest, Ended, Simulation};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::{Duration, Instant};

/// Observations that a test needs.
#[derive(Default)]
struct Notes {
    done: Vec<(u32, Instant, bool)>,
    received: u64,
    timeouts: u64,
    dropped: u64,
    lost: Vec<LossReason>,
    faults: Vec<(usize, Instant)>,
}

impl Observer for Notes {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Application { application, report } => match report {
                Report::Done(result) => self.done.push((application.0, now, result.is_ok())),
                Report::Event(Event::Received { .. }) => self.received += 1,
                Report::Event(Event::TimedOut { .. }) => self.timeouts += 1,
                _ => {}
            },
            Observation::Dropped { .. } => self.dropped += 1,
            Observation::Lost { reason, .. } => self.lost.push(*reason),
            Observation::Fault { number } => self.faults.push((*number, now)),
            _ => {}
        }
    }
}

fn noted(network: Network) -> (Notes, Ended) {
    let mut notes = Notes::default();
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut notes]);
    (notes, ended)
}

#[test]
fn local_producer_answers_without_a_route() {
    let mut network = line(1, &link(10_000_000, 10));
    let ask = request(0, "/p", Arrival::Constant(100.0), 5);
    applications(
        &mut network,
        [serve(0, "/f", 100_000), produce(0, "/p", 100), fetch(0, "/f"), ask],
    );
    let (notes, _) = noted(network);
    assert_eq!((notes.done.len(), notes.timeouts), (2, 0), "{:?}", notes.done);
    assert!(notes.done.iter().all(|(_, at, is_ok)| *is_ok && *at < Instant::from_millis(1_000)));
}

fn lossy() -> Network {
    let mut network = line(3, &link(10_000_000, 10));
    network.links[1].back.loss = "bernoulli(p=0.02)".parse().unwrap();
    network.links[0].forth.jitter = "exponential(mean=1ms)".parse().unwrap();
    network.nodes[1].processing = "exponential(mean=0.1ms)".parse().unwrap();
    applications(&mut network, [serve(2, "/f", 1_000_000), fetch(0, "/f")]);
    network
}

#[test]
fn a_run_in_steps_is_the_same_run() {
    let mut simulation = Simulation::new(lossy(), 1).unwrap();
    let mut digest = Digest::new();
    let mut at = Instant::ZERO;
    let ended = loop {
        at += Duration::from_millis(7);
        if let Some(ended) = simulation.run_until(at, &mut [&mut digest]) {
            break ended;
        }
        assert_eq!(simulation.now(), at);
        assert_eq!(simulation.balance().check(), Ok(()));
    };
    // Neither steps nor observers change a run.
    let unseen = Simulation::new(lossy(), 1).unwrap().run(&mut []);
    assert_eq!(unseen, ended);
    assert_eq!((digest, ended), run(lossy(), 1));
}

#[test]
fn a_fetch_gets_everything_over_a_lossy_line() {
    let (notes, ended) = noted(lossy());
    assert_eq!(notes.received, 1_000);
    assert_eq!(notes.done.iter().map(|(id, _, ok)| (*id, *ok)).collect::<Vec<_>>(), [(1, true)]);
    let balance = &ended.balance;
    assert!(balance.lost(Some(Kind::Data), LossReason::Model) >= 5);
    assert_eq!(balance.sent(Some(Kind::Nack)), 0);
    assert!(balance.hops() >= 4_000);
}

#[test]
fn windows_of_one_wait_for_a_round_trip() {
    let mut network = line(4, &link(0, 10));
    applications(&mut network, [serve(3, "/f", 50_000), fetch(0, "/f")]);
    if let ApplicationKind::Fetch(plan) = &mut network.applications[1].kind {
        plan.options.congestion = "fixed(window=1)".parse().unwrap();
    }
    let (notes, ended) = noted(network);
    assert_eq!(notes.received, 50);
    assert_eq!(ended.at, Instant::from_millis(50 * 60));
}

#[test]
fn failed_link_loses_its_packets_and_recovers() {
    let mut network = lossy();
    let at = Instant::from_millis;
    network.faults = vec![
        (at(400), Fault::LinkUp(LinkId(1))),
        (at(100), Fault::LinkDown(LinkId(1))),
        (at(1_500), Fault::OutageBegins(LinkId(0), Direction::Back)),
        (at(1_600), Fault::OutageEnds(LinkId(0), Direction::Back)),
    ];
    let (notes, ended) = noted(network);
    assert_eq!(notes.faults, [(1, at(100)), (0, at(400)), (2, at(1_500)), (3, at(1_600))]);
    for reason in [LossReason::Down, LossReason::Outage] {
        assert!(notes.lost.contains(&reason), "{:?}", notes.lost);
    }
    assert_eq!((notes.received, ended.cause), (1_000, Cause::Done));
    assert!(ended.at > noted(lossy()).1.at + Duration::from_millis(150));
}

#[test]
fn restarted_node_keeps_only_its_place() {
    let mut network = lossy();
    let at = Instant::from_millis;
    network.faults =
        vec![(at(200), Fault::NodeDown(NodeId(1))), (at(300), Fault::NodeUp(NodeId(1)))];
    let (notes, ended) = noted(network.clone());
    assert_eq!((notes.received, ended.cause), (1_000, Cause::Done));
    network.faults =
        vec![(at(200), Fault::NodeDown(NodeId(2))), (at(300), Fault::NodeUp(NodeId(2)))];
    let (notes, ended) = noted(network.clone());
    assert_eq!((notes.received, ended.cause), (1_000, Cause::Done));
    // The consumer starts again from the beginning.
    network.faults =
        vec![(at(200), Fault::NodeDown(NodeId(0))), (at(300), Fault::NodeUp(NodeId(0)))];
    let (notes, ended) = noted(network.clone());
    assert!(notes.received > 1_000 && ended.cause == Cause::Done, "{}", notes.received);
    // No producer is left: the fetch gives up in its time.
    network.faults = vec![(at(200), Fault::NodeDown(NodeId(2)))];
    let (notes, ended) = noted(network);
    assert_eq!((notes.done.len(), notes.done[0].2, ended.cause), (1, false, Cause::Done));
}

#[test]
fn failing_node_drops_its_queue_and_traces() {
    #[derive(Default)]
    struct Deaths {
        dropped: u64,
        traces: u64,
    }
    impl Observer for Deaths {
        fn on(&mut self, _: Instant, observation: &Observation<'_>) {
            match observation {
                Observation::Dropped { node: NodeId(1), .. } => self.dropped += 1,
                Observation::Node { node: NodeId(1), event: NodeEvent::TraceDied { .. } } => {
                    self.traces += 1;
                }
                _ => {}
            }
        }
    }
    let mut network = line(3, &link(0, 1));
    network.nodes[1].processing = "constant(time=1s)".parse().unwrap();
    network.follow_transmissions = true;
    network.faults = vec![(Instant::from_millis(500), Fault::NodeDown(NodeId(1)))];
    network.stop.at = Instant::from_millis(600);
    let batch = Arrival::Batches(vec![(Duration::ZERO, 7)]);
    applications(&mut network, [produce(2, "/x", 100), request(0, "/x", batch, 7)]);
    let mut deaths = Deaths::default();
    Simulation::new(network, 1).unwrap().run(&mut [&mut deaths]);
    assert!(deaths.dropped >= 5, "{}", deaths.dropped);
    assert_eq!(deaths.traces, deaths.dropped);
}

#[test]
fn a_channel_that_changes_carries_on() {
    let mut network = lossy();
    let slow = LinkOptions { queue: QueueLimit::of_packets(5), ..link(1_000_000, 30) };
    let change = Fault::Change(LinkId(1), Direction::Back, Box::new(slow));
    network.faults = vec![(Instant::from_millis(100), change)];
    let (notes, ended) = noted(network);
    assert_eq!((notes.received, ended.cause), (1_000, Cause::Done));
    // 900 kB at 1 Mbit/s.
    assert!(ended.at > Instant::from_millis(6_000), "{}", ended.at);
}

#[test]
fn an_application_is_taken_away_in_its_time() {
    let mut network = lossy();
    network.applications[1].stop = Some(Instant::from_millis(150));
    let (notes, ended) = noted(network);
    assert!(notes.received < 1_000 && notes.done.is_empty());
    assert_eq!((ended.cause, ended.at), (Cause::Done, Instant::from_millis(150)));
}

#[test]
fn a_run_ends_in_its_time() {
    let mut network = lossy();
    network.stop = Stop { at: Instant::from_millis(50), when_done: true };
    let (notes, ended) = noted(network);
    assert_eq!((ended.cause, ended.at), (Cause::Time, Instant::from_millis(50)));
    assert!(notes.done.is_empty());
    assert!(ended.balance.in_flight(Some(Kind::Interest)) > 0);
    let (_, empty) = noted(Network::default());
    assert_eq!((empty.cause, empty.at), (Cause::Quiet, Instant::ZERO));
}

#[test]
fn background_traffic_takes_its_share_of_the_queue() {
    let busy = |rate: f64| {
        let mut network = line(2, &link(10_000_000, 5));
        applications(&mut network, [serve(1, "/f", 2_000_000), fetch(0, "/f")]);
        network.applications.push(ApplicationPlan {
            name: "cross".into(),
            node: NodeId(0),
            start: Instant::ZERO,
            stop: None,
            kind: ApplicationKind::Background(BackgroundPlan {
                link: LinkId(0),
                direction: Direction::Back,
                frame_bytes: 1_250,
                arrival: Arrival::Poisson(rate),
            }),
        });
        noted(network)
    };
    // 500 frames per second are half the rate.
    let (half, free) = (busy(500.0).1, busy(1.0).1);
    let ratio = half.at.as_secs_f64() / free.at.as_secs_f64();
    assert!((1.7..2.3).contains(&ratio), "{ratio}");
    assert!(half.balance.delivered(None) > 1_000);
}

#[test]
fn the_delay_may_come_first() {
    let mut network = lossy();
    for link in &mut network.links {
        for plan in [&mut link.forth, &mut link.back] {
            (plan.order, plan.queue) = (Order::DelayThenRate, QueueLimit::of_packets(32));
        }
    }
    let (notes, ended) = noted(network);
    assert_eq!((notes.received, ended.cause), (1_000, Cause::Done));
    assert!(notes.lost.contains(&LossReason::QueueFull));
    assert_eq!(notes.dropped, 0, "no packet waits in a node");
}

#[test]
fn one_packet_may_become_two() {
    let mut network = lossy();
    network.links[0].back.duplicate = "bernoulli(p=0.1)".parse().unwrap();
    let (notes, ended) = noted(network);
    assert_eq!(notes.received, 1_000);
    assert!(ended.balance.doubled(Some(Kind::Data)) > 50);
    // The consumer's node waits for one only.
    assert!(notes.dropped >= ended.balance.doubled(Some(Kind::Data)));
}

#[test]
fn what_is_wrong_is_named() {
    let wrong = |spoil: &dyn Fn(&mut Network)| {
        let mut network = lossy();
        spoil(&mut network);
        Simulation::new(network, 1).map(|_| ()).unwrap_err().to_string()
    };
    for (found, expected) in [
        (
            wrong(&|it| it.links[1].forth.loss = "trace(file=lift.txt)".parse().unwrap()),
            "link `n1-n2`, forth: loss: the file `lift.txt` has not been read",
        ),
        (wrong(&|it| it.nodes[1].name = "n0".into()), "node `n0`: this name is given twice"),
        (
            wrong(&|it| it.applications[1].node = NodeId(9)),
            "application `fetch-1`: there is no node number 9",
        ),
        (
            wrong(&|it| it.faults.push((Instant::ZERO, Fault::LinkDown(LinkId(7))))),
            "fault at 0.000000000s: there is no link number 7",
        ),
    ] {
        assert!(found.starts_with(expected), "{found}");
    }
}
