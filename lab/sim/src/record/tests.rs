//! Records of observations made by hand.
use super::bench::*;
use super::table::Values;
use super::*;
use crate::network::{Direction, Fault, LinkOptions, NodeId};
use crate::observe::LossReason;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::Kind;
use recoup_transport::event::{Event, Signal};
use recoup_transport::loss::Phase;

fn records(network: &Network, plans: &[&str]) -> Records {
    let plans: Vec<_> = plans.iter().map(|plan| RecordPlan::parse(plan).unwrap()).collect();
    Records::new(network, &plans)
}

/// A table as text, without its header.
fn rows(tables: &[Table], name: &str) -> Vec<String> {
    let table = tables.iter().find(|table| table.name == name).unwrap();
    let mut out = Vec::new();
    table.write_csv(&mut out).unwrap();
    String::from_utf8(out).unwrap().lines().skip(1).map(str::to_owned).collect()
}

fn queued(packets: u32, bytes: u32) -> NodeEvent {
    NodeEvent::Queued { face: ROUTER_FACE, packets, bytes }
}

#[test]
fn segment_has_one_row() {
    let mut records = records(&network(), &["segments"]);
    let mut feed = Feed::new(&mut records);
    feed.send(C1, 3, 1, 200).at(200).event(C1, Event::TimedOut { segment: 3 });
    feed.at(250).send(C1, 3, 2, 400).send(C2, 0, 1, 100);
    feed.at(300).receive(C1, 3, 2, (50, 300));
    let tables = records.finish(at(1000));
    assert_eq!(
        rows(&tables, "segments"),
        ["c1,3,0,0.25,0.3,0.05,0.3,0.2,0.4,2,1,1000,1250", "c2,0,0.25,0.25,,,,0.1,0.1,1,0,0,0",]
    );
}

#[test]
fn restarted_fetch_gets_new_rows() {
    let mut records = records(&network(), &["segments"]);
    let mut feed = Feed::new(&mut records);
    feed.send(C1, 3, 1, 200).at(500).send(C1, 3, 1, 200).at(600).receive(C1, 3, 1, (100, 100));
    let tables = records.finish(at(1000));
    assert_eq!(tables[0].column("first_sent_s").unwrap().values, Values::F64(vec![0.0, 0.5]));
}

#[test]
fn curves_follow_windows_and_estimates() {
    let mut records = records(&network(), &["window(every=10ms)", "rto"]);
    let mut feed = Feed::new(&mut records);
    feed.window(C1, 1.0).at(5).window(C1, 2.0).window(C2, 9.0).at(10).window(C1, 3.0);
    let [rtt, srtt, rttvar, rto] = [50, 60, 10, 100].map(|it| ms(it).into());
    feed.event(C1, Event::Sampled { segment: 4, rtt, srtt, rttvar, rto });
    let tables = records.finish(at(1000));
    assert_eq!(rows(&tables, "window"), ["0,c1,1,inf,0", "0.005,c2,9,inf,0", "0.01,c1,3,inf,0"]);
    assert_eq!(rows(&tables, "rto"), ["0.01,c1,4,0.05,0.06,0.01,0.1"]);
}

#[test]
fn other_reports_of_applications_are_events() {
    let mut records = records(&network(), &["events"]);
    let mut feed = Feed::new(&mut records);
    feed.at(7).event(C1, Event::Reduced { cause: Signal::Mark }).content(C1);
    feed.event(C1, Event::Spurious { segment: 2, cause: Signal::Order }).done(C1);
    let rows = rows(&records.finish(at(1000)), "events");
    assert_eq!(rows.len(), 6);
    let expected =
        ["0.007,c1,reduced,-1,mark", "0.007,c1,spurious,2,order", "0.007,c1,completed,-1,"];
    assert_eq!(rows[3..], expected);
}

#[test]
fn fast_recovery_records_its_widest_window() {
    let mut records = records(&network(), &["recoveries"]);
    let mut feed = Feed::new(&mut records);
    let phase = |phase| Event::Phase { phase };
    feed.window(C1, 20.0).at(5).event(C1, Event::Lost { segment: 3 }).window(C1, 13.0);
    feed.event(C1, phase(Phase::Fast)).at(9).window(C1, 17.5).window(C1, 16.0);
    feed.at(15).event(C1, phase(Phase::Normal)).window(C1, 30.0).at(20);
    feed.event(C2, phase(Phase::Pre)).event(C2, phase(Phase::Fast));
    feed.at(25).event(C2, Event::TimedOut { segment: 1 });
    let rows = rows(&records.finish(at(30)), "recoveries");
    assert_eq!(rows, ["0.005,c1,0.01,17.5,1,0,0,20", "0.02,c2,0.01,0,0,0,1,0"]);
}

#[test]
fn queue_follows_its_node_and_departures() {
    let mut records = records(&network(), &["queue(every=0s)"]);
    let mut feed = Feed::new(&mut records);
    let packet = data(100);
    let bytes = packet.bytes() as u32;
    let sent = Observation::Sent { link: BOTTLENECK, direction: Direction::Forth, packet: &packet };
    feed.see(&sent).node(R, queued(1, bytes)).node(R, queued(2, 2 * bytes));
    feed.at(1).see(&sent).see(&sent).see(&sent);
    let rows = rows(&records.finish(at(2)), "queue");
    let row = |time: &str, packets| format!("{time},r-p,forth,{packets},{}", packets * bytes);
    let expected = [row("0", 1), row("0", 2), row("0.001", 1), row("0.001", 0)];
    assert_eq!(rows, expected);
}

#[test]
fn channel_reports_its_own_queue() {
    let mut records = records(&network(), &["queue(every=0s)"]);
    let mut feed = Feed::new(&mut records);
    let (link, direction) = (BOTTLENECK, Direction::Back);
    for (packets, bytes) in [(0, 0), (1, 700), (1, 700), (2, 1400), (0, 0)] {
        feed.see(&Observation::Waiting { link, direction, packets, bytes });
    }
    let rows = rows(&records.finish(at(2)), "queue");
    assert_eq!(rows, ["0,r-p,back,1,700", "0,r-p,back,2,1400", "0,r-p,back,0,0"]);
}

#[test]
fn crash_clears_pending_interests() {
    let mut network = network();
    network.faults = vec![(at(5), Fault::NodeDown(R))];
    let mut records = records(&network, &["pit(every=0s)"]);
    let mut feed = Feed::new(&mut records);
    for event in [
        NodeEvent::PitInserted { hash: 1 },
        NodeEvent::PitInserted { hash: 2 },
        NodeEvent::PitInserted { hash: 3 },
        NodeEvent::PitSatisfied { hash: 1 },
    ] {
        feed.node(R, event);
    }
    feed.at(5).see(&Observation::Fault { number: 0 });
    let tables = records.finish(at(9));
    assert_eq!(tables[0].column("entries").unwrap().values, Values::U64(vec![1, 2, 3, 2, 0]));
}

#[test]
fn rates_belong_to_bins_and_active_consumers() {
    let mut records = records(&network(), &["goodput(bin=1s)"]);
    let mut feed = Feed::new(&mut records);
    feed.at(500).send(C1, 0, 1, 200).at(900).receive(C1, 0, 1, (400, 400));
    feed.at(1100).send(C2, 0, 1, 200).at(1500).receive(C2, 0, 1, (400, 400));
    feed.receive(C1, 1, 1, (400, 400)).receive(C1, 2, 1, (400, 400)).done(C1);
    feed.at(2500).receive(C2, 1, 1, (1000, 1000));
    let tables = records.finish(at(2500));
    assert_eq!(
        rows(&tables, "goodput"),
        ["0,c1,8000,10000,1", "1,c1,16000,20000,2", "1,c2,8000,10000,1", "2,c2,16000,20000,1",]
    );
    assert_eq!(rows(&tables, "fairness"), ["0,1,1", "1,0.9,2", "2,1,1"]);
}

#[test]
fn utilisation_follows_the_offered_packets() {
    let mut network = network();
    let slow = LinkOptions { rate_bits: 500_000, ..network.links[2].back.clone() };
    network.faults = vec![(at(1500), Fault::Change(BOTTLENECK, Direction::Back, Box::new(slow)))];
    let mut records = records(&network, &["links(bin=1s)"]);
    let packet = data(1000);
    let bytes = packet.bytes();
    let mut feed = Feed::new(&mut records);
    feed.at(100).sent(&packet).arrived(&packet);
    feed.at(1500).see(&Observation::Fault { number: 0 }).sent(&packet);
    let tables = records.finish(at(2000));
    let share = bytes as f64 * 8.0 / 1e6;
    assert_eq!(
        rows(&tables, "links"),
        [
            format!("0,r-p,back,1,{bytes},0,{share}"),
            format!("1,r-p,back,1,{bytes},0,{}", 2.0 * share),
        ]
    );
}

#[test]
fn caches_and_drops_are_counted_per_bin() {
    let mut records = records(&network(), &["caches(bin=1s)", "drops(bin=1s)"]);
    let mut feed = Feed::new(&mut records);
    feed.node(R, NodeEvent::CsMiss { hash: 1 }).node(R, NodeEvent::CsHit { hash: 1 });
    let (kind, reason) = (Some(Kind::Interest), DropReason::Loop);
    feed.see(&Observation::Dropped { node: R, kind, reason });
    feed.at(3000).node(R, NodeEvent::CsEvicted { packets: 5 });
    let packet = data(10);
    let (link, direction, reason) = (BOTTLENECK, Direction::Forth, LossReason::Model);
    for _ in 0..2 {
        feed.see(&Observation::Lost { link, direction, packet: &packet, reason });
    }
    let tables = records.finish(at(3500));
    assert_eq!(rows(&tables, "caches"), ["0,r,1,1,0", "3,r,0,0,5"]);
    assert_eq!(rows(&tables, "drops"), ["0,r,interest,loop,1", "3,r-p.forth,data,model,2"]);
}

#[test]
fn timeouts_come_with_their_verdicts() {
    let mut records = records(&network(), &["timeouts"]);
    let mut feed = Feed::new(&mut records);
    let born = NodeEvent::TraceBorn { id: 1, app: recoup_forwarder::face::AppId(0), hash: 0 };
    feed.node(NodeId(0), born).send(C1, 0, 1, 200);
    feed.at(200).event(C1, Event::TimedOut { segment: 0 });
    feed.node(R, NodeEvent::TraceDied { id: 1 });
    let rows = rows(&records.finish(at(300)), "timeouts");
    assert_eq!(rows, ["c1,0,0,0.2,0.2,,,good"]);
}

#[test]
fn what_was_taken_out_in_between_continues() {
    let mut records = records(&network(), &["window"]);
    Feed::new(&mut records).window(C1, 1.0);
    assert_eq!(rows(&records.take(), "window"), ["0,c1,1,inf,0"]);
    Feed::new(&mut records).window(C1, 2.0);
    assert_eq!(rows(&records.finish(at(9)), "window"), ["0,c1,2,inf,0"]);
    assert!(!records.is_empty());
}
