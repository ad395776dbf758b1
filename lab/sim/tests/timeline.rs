//! Causes of a late segment, in networks where they are known beforehand.
#[path = "simulation/build.rs"]
mod build;

use build::{applications, fetch, line, link, produce, request, serve};
use recoup_forwarder::packet::Kind;
use recoup_sim::network::{
    ApplicationId, ApplicationKind, Arrival, CsCapacity, Direction, LinkId, Network, NodeId,
    Popularity,
};
use recoup_sim::observe::LossReason;
use recoup_sim::record::place::Channel;
use recoup_sim::simulation::{Digest, Simulation};
use recoup_sim::timeline::{Cause, Loss, Remedy, Source, Step, Timeline, Verdict, Wanted};
use recoup_transport::time::Duration;

const FORTH: Direction = Direction::Forth;
const BACK: Direction = Direction::Back;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs to the end and follows a segment of the last application.
fn followed(mut network: Network, wanted: Wanted) -> Timeline {
    network.follow_transmissions = true;
    let last = ApplicationId(network.applications.len() as u32 - 1);
    let mut timeline = Timeline::new(&network, last, wanted);
    Simulation::new(network, 1).unwrap().run(&mut [&mut timeline]);
    timeline
}

/// A line of four nodes, 10 ms from one to the next, with a fetch of 40 segments, one after the other.
fn fetching(rto: &str, change: impl FnOnce(&mut Network)) -> Network {
    let mut network = line(4, &link(10_000_000, 10));
    applications(&mut network, [serve(3, "/f", 40_000), fetch(0, "/f")]);
    if let Some(ApplicationKind::Fetch(plan)) =
        network.applications.last_mut().map(|it| &mut it.kind)
    {
        plan.options.rto = rto.parse().unwrap();
        plan.options.congestion = "fixed(window=1)".parse().unwrap();
    }
    change(&mut network);
    network
}

fn segment(rto: &str, number: u64, change: impl FnOnce(&mut Network)) -> (Timeline, Verdict) {
    let timeline = followed(fetching(rto, change), Wanted::Segment(number));
    let verdict = timeline.verdict().expect("it was requested");
    (timeline, verdict)
}

fn steps(timeline: &Timeline) -> Vec<Step> {
    timeline.moments().iter().map(|moment| moment.step).collect()
}

#[test]
fn undisturbed_segment_is_never_queued() {
    let (timeline, verdict) = segment("constant(rto=500ms)", 7, |_| {});
    assert!(!verdict.is_late());
    assert_eq!((verdict.cause, verdict.spurious), (Cause::Way, None));
    assert_eq!(verdict.source, Some(Source::Producer(NodeId(3))));
    let steps = steps(&timeline);
    assert!(matches!(steps[0], Step::Asked { transmissions: 1, .. }), "{steps:?}");
    let came = |want: Kind| {
        let of = |step: &&Step| matches!(step, Step::Came { kind, .. } if *kind == want);
        steps.iter().filter(of).count()
    };
    assert_eq!((came(Kind::Interest), came(Kind::Data)), (3, 3));
    for step in &steps {
        if let Step::Left { waited, again, own, .. } = step {
            assert_eq!((*waited, *again, *own), (Duration::ZERO, false, true));
        }
        if let Step::Came { excess, travelled, .. } = step {
            assert_eq!(*excess, Some(Duration::ZERO));
            assert!(travelled.unwrap() > ms(10), "{step:?}");
        }
    }
    assert!(matches!(steps.last(), Some(Step::Received { transmissions: 1, .. })));
    assert!(timeline.moments().is_sorted_by_key(|moment| moment.at));
}

#[test]
fn lost_data_is_attributed_to_link_and_timer() {
    // The eighth Data over the second link; its retransmission is the ninth.
    let (timeline, verdict) = segment("constant(rto=500ms)", 7, |network| {
        network.links[1].back.loss = "trace(packets=8)".parse().unwrap();
    });
    assert!(verdict.is_late());
    let lost = Loss::Channel(Channel::new(LinkId(1), BACK), Kind::Data, LossReason::Model);
    let Cause::Repair { loss, remedy, after, in_vain } = verdict.cause else {
        panic!("{verdict:?}")
    };
    assert_eq!((loss, remedy, in_vain), (Some(lost), Remedy::Timer(ms(500)), 1));
    assert_eq!(after, ms(500));
    assert_eq!(verdict.spurious, None);
    let delay = verdict.delay.unwrap();
    assert!(delay > ms(560) && delay < ms(600), "{delay:?}");
    assert_eq!(timeline.transmissions().len(), 2);
    let (_, next) = segment("constant(rto=500ms)", 8, |network| {
        network.links[1].back.loss = "trace(packets=8)".parse().unwrap();
    });
    assert_eq!(next.cause, Cause::Way);
}

#[test]
fn lost_interest_differs_from_lost_data() {
    let (_, verdict) = segment("constant(rto=500ms)", 4, |network| {
        network.links[2].forth.loss = "trace(packets=5)".parse().unwrap();
    });
    let Cause::Repair { loss: Some(loss), .. } = verdict.cause else { panic!("{verdict:?}") };
    let lost = Channel::new(LinkId(2), FORTH);
    assert_eq!(loss, Loss::Channel(lost, Kind::Interest, LossReason::Model));
}

#[test]
fn early_timer_is_spurious() {
    let (timeline, verdict) = segment("constant(rto=50ms)", 5, |_| {});
    // 60 ms on three links, there and back, and the rate.
    let early = verdict.spurious.expect("spurious");
    assert!(early > ms(10) && early < ms(15), "{early:?}");
    assert_eq!(verdict.cause, Cause::Way);
    assert_eq!(
        timeline.transmissions()[0].expired.map(|at| at.since(timeline.transmissions()[0].at)),
        Some(ms(50))
    );
}

#[test]
fn queueing_names_its_queue() {
    // Forty segments at once; the second link is a tenth as fast.
    let mut network = fetching("constant(rto=5s)", |network| {
        network.links[1].back.rate_bits = 1_000_000;
    });
    if let Some(ApplicationKind::Fetch(plan)) =
        network.applications.last_mut().map(|it| &mut it.kind)
    {
        plan.options.congestion = "fixed(window=40)".parse().unwrap();
    }
    let timeline = followed(network, Wanted::Segment(39));
    let verdict = timeline.verdict().unwrap();
    let Cause::Queue { channel, kind, time } = verdict.cause else { panic!("{verdict:?}") };
    assert_eq!((channel, kind), (Channel::new(LinkId(1), BACK), Kind::Data));
    // 39 packets of some 1,050 bytes are before it.
    assert!(time > ms(280) && time < ms(345), "{time:?}");
}

#[test]
fn content_names_the_cache_it_came_from() {
    let mut network = line(4, &link(10_000_000, 10));
    network.nodes[1].options.cache = CsCapacity::Packets(100);
    let twice = || Arrival::Batches(vec![(Duration::ZERO, 1), (ms(500), 1)]);
    applications(&mut network, [produce(3, "/d", 100), request(0, "/d", twice(), 2)]);
    if let Some(ApplicationKind::Request(plan)) =
        network.applications.last_mut().map(|it| &mut it.kind)
    {
        (plan.popularity, plan.contents) = (Popularity::Uniform, 1);
    }
    let first = followed(network.clone(), Wanted::Segment(0));
    assert_eq!(first.verdict().unwrap().source, Some(Source::Producer(NodeId(3))));
    let second = followed(network.clone(), Wanted::Segment(1));
    let verdict = second.verdict().unwrap();
    assert_eq!(verdict.source, Some(Source::Cache(NodeId(1))));
    assert!(steps(&second).contains(&Step::Cached { node: NodeId(1) }));
    assert!(verdict.delay < first.verdict().unwrap().delay);
    let by_name = followed(network, Wanted::Content("/d/1".parse().unwrap()));
    assert_eq!(by_name.moments(), first.moments(), "the first request");
}

#[test]
fn aggregated_interest_shares_loss_and_answer() {
    // Both ask at once by the same router; the first one's Interest goes on.
    let mut network = Network::default();
    for name in ["c1", "c2", "r", "p"] {
        network
            .nodes
            .push(recoup_sim::network::NodePlan { name: name.into(), ..Default::default() });
    }
    for (from, to) in [(0, 2), (1, 2), (2, 3)] {
        build::join(&mut network, NodeId(from), NodeId(to), &link(0, 10));
    }
    let once = || Arrival::Batches(vec![(Duration::ZERO, 1)]);
    applications(
        &mut network,
        [produce(3, "/d", 100), request(0, "/d", once(), 1), request(1, "/d", once(), 1)],
    );
    for application in &mut network.applications[1..] {
        let ApplicationKind::Request(plan) = &mut application.kind else { continue };
        (plan.popularity, plan.rto) = (Popularity::Sequential, "constant(rto=300ms)".parse().ok());
    }
    let timeline = followed(network, Wanted::Segment(0));
    let steps = steps(&timeline);
    assert!(steps.contains(&Step::Joined { node: NodeId(2) }), "{steps:?}");
    let verdict = timeline.verdict().unwrap();
    assert_eq!(verdict.source, Some(Source::Producer(NodeId(3))));
    let foreign = |step: &Step| matches!(step, Step::Came { own: false, kind: Kind::Data, .. });
    assert!(steps.iter().any(foreign), "{steps:?}");
}

#[test]
fn what_never_comes_has_its_last_loss() {
    let (_, verdict) = segment("constant(rto=200ms)", 3, |network| {
        network.links[0].back.loss = "trace(packets=4-10000)".parse().unwrap();
    });
    assert!(verdict.is_late() && verdict.delay.is_none());
    let lost = Loss::Channel(Channel::new(LinkId(0), BACK), Kind::Data, LossReason::Model);
    assert_eq!(verdict.cause, Cause::Missing(Some(lost)));
}

#[test]
fn unrequested_segment_has_no_verdict() {
    let timeline = followed(fetching("constant(rto=500ms)", |_| {}), Wanted::Segment(40));
    assert_eq!((timeline.verdict(), timeline.moments().len()), (None, 0));
    assert!(timeline.median().is_some_and(|median| median > ms(60) && median < ms(65)));
}

#[test]
fn following_does_not_change_the_run() {
    let run = |follow| {
        let mut network = fetching("jacobson", |network| {
            network.links[1].back.loss = "bernoulli(p=0.1)".parse().unwrap();
        });
        network.follow_transmissions = follow;
        let mut digest = Digest::without_traces();
        Simulation::new(network, 3).unwrap().run(&mut [&mut digest]);
        digest.value()
    };
    assert_eq!(run(true), run(false));
}
