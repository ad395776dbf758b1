//! Films against the runs that they show.
#[path = "simulation/build.rs"]
mod build;

use build::{join, link, lossy_line};
use recoup_forwarder::packet::Kind;
use recoup_sim::film::{Film, MOST_EVENTS, Meaning, Measure, Scene};
use recoup_sim::network::{
    ApplicationId, Direction, Fault, LinkId, Network, NodeId, NodePlan, RoutePlan, StrategyPlan,
};
use recoup_sim::observe::LossReason;
use recoup_sim::record::place::Channel;
use recoup_sim::simulation::{Digest, Ended, Simulation};
use recoup_sim::timeline::{Step, Timeline, Wanted};
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::{Duration, Instant};

const CONSUMER: ApplicationId = ApplicationId(1);

fn filmed(network: Network, limit: usize) -> (Film, Ended) {
    let mut film = Film::new(&network, limit);
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut film]);
    (film, ended)
}

#[test]
fn each_packet_on_a_link_is_filmed() {
    let (film, ended) = filmed(lossy_line(), MOST_EVENTS);
    let lost = film.crossings.iter().filter(|it| it.lost.is_some()).count();
    assert!(lost > 0);
    assert_eq!(film.crossings.len() as u64, ended.balance.hops() + lost as u64);
    assert!(film.crossings.is_sorted_by_key(|it| it.sent));
    for packet in &film.crossings {
        let left = packet.left.expect("the run ends with nothing in flight");
        assert!(packet.since <= packet.sent && packet.sent <= left);
        match packet.lost {
            Some(reason) => {
                let channel = Channel::new(LinkId(1), Direction::Back);
                assert_eq!((reason, packet.channel), (LossReason::Model, channel));
            }
            None => assert!(left.since(packet.sent) >= Duration::from_millis(10)),
        }
        let name = &film.names[packet.name.unwrap() as usize];
        assert!(name.starts_with("/f/"), "{name}");
    }
    assert!(!film.is_cut() && film.omitted == 0);
}

#[test]
fn packets_have_the_times_of_the_timeline() {
    let network = lossy_line();
    let (mut film, mut timeline) =
        (Film::new(&network, MOST_EVENTS), Timeline::new(&network, CONSUMER, Wanted::Segment(40)));
    Simulation::new(network, 1).unwrap().run(&mut [&mut film, &mut timeline]);
    let segment = film.segments.iter().find(|it| it.number == 40).unwrap();
    let packets = || film.crossings.iter().filter(|it| it.name == Some(segment.name));
    let (mut sent, mut arrived, mut asked, mut received) = (0, 0, Vec::new(), None);
    for moment in timeline.moments() {
        match moment.step {
            Step::Left { channel, kind, waited, .. } => {
                sent += 1;
                let packet = packets()
                    .find(|it| (it.channel, it.kind, it.sent) == (channel, kind, moment.at));
                assert_eq!(packet.map(|it| it.sent.since(it.since)), Some(waited), "{moment:?}");
            }
            Step::Came { channel, kind, travelled, .. } => {
                arrived += 1;
                let packet = packets()
                    .find(|it| (it.channel, it.kind, it.left) == (channel, kind, Some(moment.at)));
                assert_eq!(packet.map(|it| moment.at.since(it.sent)), travelled, "{moment:?}");
            }
            Step::Asked { rto, .. } => asked.push((moment.at, rto)),
            Step::Received { .. } => received = Some(moment.at),
            _ => {}
        }
    }
    assert!(sent >= 4 && arrived >= 4);
    assert_eq!(packets().count(), sent);
    assert_eq!(((segment.asked, segment.rto), segment.ended), (asked[0], received));
    assert_eq!(segment.transmissions as usize, asked.len());
    assert_eq!(segment.bytes, 1_000);
}

#[test]
fn all_segments_end_with_their_bytes() {
    let (film, _) = filmed(lossy_line(), MOST_EVENTS);
    let mut numbers: Vec<_> = film.segments.iter().map(|it| it.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..300).collect::<Vec<_>>());
    assert!(film.segments.iter().all(|it| it.ended.is_some() && it.application == CONSUMER));
    let again = film.segments.iter().filter(|it| it.transmissions > 1).count();
    assert!(again > 0);
    let text = |mark: &recoup_sim::film::Mark| film.texts[mark.text as usize].clone();
    let sent = film.marks.iter().filter(|mark| text(mark).starts_with("sends Interest number"));
    let more: u32 = film.segments.iter().map(|it| it.transmissions - 1).sum();
    assert_eq!(sent.count() as u32, more);
}

#[test]
fn drop_in_a_queue_names_its_segment() {
    let mut network = lossy_line();
    // The producer's answers overflow the queue of its node.
    network.links[1].back.queue = QueueLimit::of_packets(3);
    network.links[1].back.loss = "none".parse().unwrap();
    let (film, _) = filmed(network, MOST_EVENTS);
    let drops: Vec<_> = film.marks.iter().filter(|it| it.meaning == Meaning::Drop).collect();
    assert!(!drops.is_empty());
    for drop in drops {
        assert_eq!(drop.scene, Scene::Node(NodeId(2)));
        assert!(film.texts[drop.text as usize].starts_with("Data is dropped: "));
        assert!(film.names[drop.name.expect("a name") as usize].starts_with("/f/"));
    }
    let queue = &film.curves[&Measure::Queue(Channel::new(LinkId(1), Direction::Back).index())];
    assert!(queue.is_sorted_by_key(|it| it.0));
    assert_eq!(queue.iter().map(|it| it.1).fold(0.0, f64::max), 3.0);
    assert!(film.curves.contains_key(&Measure::Window(CONSUMER)));
    assert!(!film.curves.contains_key(&Measure::Window(ApplicationId(0))), "a producer has none");
}

#[test]
fn looping_interest_is_no_loss() {
    let mut network = lossy_line();
    // The router also sends each Interest by a detour to the consumer, where it is a loop.
    network.nodes.push(NodePlan { name: "detour".into(), ..NodePlan::default() });
    let away = join(&mut network, NodeId(1), NodeId(3), &link(5_000_000, 1));
    join(&mut network, NodeId(3), NodeId(0), &link(5_000_000, 1));
    let hops = vec![(LinkId(1), 1), (away, 1)];
    network.routes.push(RoutePlan { node: NodeId(1), prefix: "/f".parse().unwrap(), hops });
    network.strategies.push(StrategyPlan {
        node: NodeId(1),
        prefix: "/f".parse().unwrap(),
        strategy: "broadcast".parse().unwrap(),
    });
    let (film, _) = filmed(network, MOST_EVENTS);
    let text =
        |it: &&recoup_sim::film::Mark| film.texts[it.text as usize].ends_with("dropped: loop");
    let loops: Vec<_> = film.marks.iter().filter(text).collect();
    assert!(loops.iter().all(|it| it.meaning == Meaning::Redundant));
    assert!(!loops.is_empty());
}

#[test]
fn faults_are_marks_of_their_link() {
    let mut network = lossy_line();
    network.faults.push((Instant::from_millis(300), Fault::LinkDown(LinkId(0))));
    network.faults.push((Instant::from_millis(400), Fault::LinkUp(LinkId(0))));
    let (film, _) = filmed(network, MOST_EVENTS);
    let faults = film.marks.iter().filter(|it| it.scene == Scene::Link(LinkId(0)));
    let faults: Vec<_> = faults.map(|it| (it.at.as_nanos() / 1_000_000, it.meaning)).collect();
    assert_eq!(faults, [(300, Meaning::Down), (400, Meaning::Up)]);
    assert!(film.crossings.iter().any(|it| it.lost == Some(LossReason::Down)));
}

#[test]
fn limit_ends_the_film_and_counts_packets() {
    let (whole, _) = filmed(lossy_line(), MOST_EVENTS);
    let (film, _) = filmed(lossy_line(), 500);
    assert!(film.is_cut() && film.end < whole.end);
    let points: usize = film.curves.values().map(Vec::len).sum();
    let events = film.crossings.len() + film.marks.len() + points;
    assert!((500..510).contains(&events), "{events}");
    assert_eq!(film.crossings.len() + film.omitted as usize, whole.crossings.len());
    let kept = &whole.crossings[..film.crossings.len()];
    assert!(film.crossings.iter().zip(kept).all(|(a, b)| (a.sent, a.name) == (b.sent, b.name)));
    assert!(film.crossings.iter().any(|it| it.left.is_none() && it.kind == Kind::Interest));
}

#[test]
fn film_changes_no_run() {
    let run = |with_film: bool| {
        let network = lossy_line();
        let (mut digest, mut film) = (Digest::new(), Film::new(&network, MOST_EVENTS));
        let mut simulation = Simulation::new(network, 3).unwrap();
        match with_film {
            true => simulation.run(&mut [&mut digest, &mut film]),
            false => simulation.run(&mut [&mut digest]),
        };
        digest.value()
    };
    assert_eq!(run(true), run(false));
}
