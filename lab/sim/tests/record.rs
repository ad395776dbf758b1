//! Records and metrics against the simulation that they are made from: their counts equal its state.
#[path = "simulation/build.rs"]
mod build;

use build::{applications, fetch, line, link, produce, request, serve};
use recoup_forwarder::packet::Kind;
use recoup_sim::channel::LossReason;
use recoup_sim::metric::{Detail, Metrics, Summary};
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, BackgroundPlan, CsCapacity, Direction, Fault,
    LinkId, Network, NodeId, Order,
};
use recoup_sim::pcap::{Capture, CaptureOptions};
use recoup_sim::record::table::{Cell, Table, Values};
use recoup_sim::record::{RecordPlan, Records};
use recoup_sim::simulation::{Ended, Simulation};
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// A line with everything on it: losses, both orders, other traffic, caches, faults.
fn busy() -> Network {
    let mut network = line(5, &link(5_000_000, 10));
    network.nodes[2].options.cache = CsCapacity::Packets(50);
    network.links[0].back.loss = "bernoulli(p=0.02)".parse().unwrap();
    network.links[1].back.order = Order::DelayThenRate;
    network.links[1].back.queue = QueueLimit::of_packets(32);
    network.links[2].back.rate_bits = 2_000_000;
    network.links[2].back.queue = QueueLimit::of_packets(10);
    network.links[3].back.duplicate = "bernoulli(p=0.02)".parse().unwrap();
    let at = Instant::from_millis;
    let slow = link(1_000_000, 20);
    network.faults = vec![
        (at(800), Fault::LinkDown(LinkId(0))),
        (at(1_000), Fault::LinkUp(LinkId(0))),
        (at(1_500), Fault::NodeDown(NodeId(3))),
        (at(1_700), Fault::NodeUp(NodeId(3))),
        (at(2_500), Fault::Change(LinkId(2), Direction::Back, Box::new(slow))),
    ];
    applications(
        &mut network,
        [
            serve(4, "/f", 600_000),
            produce(4, "/d", 500),
            fetch(0, "/f"),
            request(1, "/d", Arrival::Poisson(200.0), 400),
        ],
    );
    let arrival = Arrival::Poisson(60.0);
    let (link, direction, frame_bytes) = (LinkId(3), Direction::Back, 1_500);
    let plan = BackgroundPlan { link, direction, frame_bytes, arrival };
    network.applications.push(ApplicationPlan {
        name: "noise".into(),
        node: NodeId(4),
        start: Instant::ZERO,
        stop: Some(at(4_000)),
        kind: ApplicationKind::Background(plan),
    });
    network
}

fn records(network: &Network, plans: &[&str]) -> Records {
    let plans: Vec<_> = plans.iter().map(|plan| RecordPlan::parse(plan).unwrap()).collect();
    Records::new(network, &plans)
}

fn measured(network: &Network) -> (Summary, Vec<Table>, Ended) {
    let detail = Detail { applications: true, nodes: true, links: true };
    let mut metrics = Metrics::new(network, detail);
    let mut records = records(network, &["segments", "goodput(bin=100ms)", "links(bin=100ms)"]);
    let mut simulation = Simulation::new(network.clone(), 1).unwrap();
    let ended = simulation.run(&mut [&mut metrics, &mut records]);
    (metrics.finish(ended.at), records.finish(ended.at), ended)
}

fn column<'a>(tables: &'a [Table], table: &str, column: &str) -> &'a Values {
    let table = tables.iter().find(|it| it.name == table).unwrap();
    &table.column(column).unwrap().values
}

fn sum(values: &Values) -> f64 {
    (0..values.len())
        .map(|row| match values.get(row) {
            Cell::F64(value) => value,
            Cell::U64(value) => value as f64,
            other => panic!("{other:?} is no number"),
        })
        .sum()
}

#[test]
fn recorded_queues_equal_those_of_the_simulation() {
    let network = busy();
    let mut records = records(&network, &["queue(every=0s)", "pit(every=0s)"]);
    let mut simulation = Simulation::new(network.clone(), 1).unwrap();
    let mut queues: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let mut pits: BTreeMap<String, u64> = BTreeMap::new();
    let mut longest = 0;
    while simulation.next_at().is_some_and(|at| at < Instant::from_millis(4_000)) {
        simulation.step(&mut [&mut records]);
        let tables = records.take();
        let [queue, pit] = &tables[..] else { panic!("two tables") };
        let word = |table: &Table, column: usize, row| match table.columns[column].values.get(row) {
            Cell::Text(word) => word.to_owned(),
            other => panic!("{other:?} is no word"),
        };
        let number = |table: &Table, column: usize, row| match table.columns[column].values.get(row)
        {
            Cell::U64(number) => number,
            other => panic!("{other:?} is no number"),
        };
        for row in 0..queue.len() {
            let key = (word(queue, 1, row), word(queue, 2, row));
            queues.insert(key, (number(queue, 3, row), number(queue, 4, row)));
        }
        for row in 0..pit.len() {
            pits.insert(word(pit, 1, row), number(pit, 2, row));
        }
        for (number, plan) in network.links.iter().enumerate() {
            for (direction, name) in [(Direction::Forth, "forth"), (Direction::Back, "back")] {
                let there = simulation.waiting(LinkId(number as u32), direction);
                let key = (plan.name.clone(), name.to_owned());
                let recorded = queues.get(&key).copied().unwrap_or_default();
                assert_eq!(
                    recorded,
                    (there.packets, there.bytes),
                    "{key:?} at {}",
                    simulation.now()
                );
                longest = longest.max(there.packets);
            }
        }
        for (number, plan) in network.nodes.iter().enumerate() {
            let there = simulation.node(NodeId(number as u32)).unwrap().pit_len() as u64;
            let recorded = pits.get(&plan.name).copied().unwrap_or_default();
            assert_eq!(recorded, there, "{} at {}", plan.name, simulation.now());
        }
    }
    assert!(longest >= 10 && pits.len() == 5, "{longest} waited at most");
}

#[test]
fn metrics_agree_with_the_balance() {
    let (summary, _, ended) = measured(&busy());
    let metric = |name: &str| summary.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    assert_eq!(metric("all.packet_hops"), ended.balance.hops() as f64);
    let delivered = ended.balance.delivered(Some(Kind::Data));
    assert_eq!(metric("all.data_hops"), delivered as f64);
    for reason in LossReason::ALL.into_iter().filter(|it| *it != LossReason::Superfluous) {
        let kinds = [Kind::Interest, Kind::Data, Kind::Nack];
        let lost: u64 = kinds.iter().map(|kind| ended.balance.lost(Some(*kind), reason)).sum();
        let name = format!("all.lost_{}", reason.name().replace('-', "_"));
        assert_eq!(metric(&name), lost as f64, "{name}");
    }
    assert!(metric("all.lost_model") > 0.0 && metric("all.cs_hits") > 0.0);
    let sent: f64 = summary
        .iter()
        .filter(|it| it.name.starts_with("link.") && it.name.ends_with(".packets"))
        .map(|it| it.value)
        .sum();
    let kinds = [Kind::Interest, Kind::Data, Kind::Nack];
    let handed: u64 = kinds.iter().map(|kind| ended.balance.sent(Some(*kind))).sum();
    assert_eq!(sent, handed as f64);
}

#[test]
fn tables_add_up_to_the_metrics() {
    let (summary, tables, _) = measured(&busy());
    let metric = |name: &str| summary.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    assert_eq!(sum(column(&tables, "segments", "content_bytes")), metric("all.content_bytes"));
    assert_eq!(sum(column(&tables, "segments", "packet_bytes")), metric("all.packet_bytes"));
    assert_eq!(sum(column(&tables, "segments", "transmissions")), metric("all.interests"));
    assert_eq!(sum(column(&tables, "segments", "timeouts")), metric("all.timeouts"));
    assert_eq!(sum(column(&tables, "goodput", "segments")), metric("all.segments"));
    assert_eq!(sum(column(&tables, "links", "lost")), metric("all.lost"));
    assert_eq!(metric("fetch-2.segments"), 600.0);
}

#[test]
fn full_link_has_the_throughput_of_its_rate() {
    let mut network = line(3, &link(10_000_000, 10));
    network.links[1].back.rate_bits = 5_000_000;
    network.links[1].back.interest_bytes = Some(0);
    network.links[1].forth.interest_bytes = Some(0);
    applications(&mut network, [serve(2, "/f", 3_000_000), fetch(0, "/f")]);
    let ApplicationKind::Fetch(plan) = &mut network.applications[1].kind else { panic!() };
    plan.options.congestion = "fixed(window=64)".parse().unwrap();
    let (summary, ..) = measured(&network);
    let metric = |name: &str| summary.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    assert!(metric("fetch-1.throughput_bps") > 0.97 * 5e6);
    assert!((0.97..=1.0).contains(&metric("link.n1-n2.back.utilisation")));
    assert_eq!(metric("link.n1-n2.forth.utilisation"), 0.0);
    assert!(metric("link.n1-n2.back.queue_max") > 10.0);
    assert_eq!(metric("fetch-1.loss_events"), 0.0);
    assert_eq!(metric("fetch-1.window_mean"), 64.0);
}

#[test]
fn a_capture_holds_every_arrival_and_every_loss() {
    let network = busy();
    let mut capture = Capture::new(&network, &CaptureOptions::default(), Vec::new()).unwrap();
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut capture]);
    let kinds = [Kind::Interest, Kind::Data, Kind::Nack];
    let lost = |kind| LossReason::ALL.map(|reason| ended.balance.lost(Some(kind), reason));
    let lost: u64 = kinds.into_iter().flat_map(lost).sum();
    assert_eq!(capture.packets(), ended.balance.hops() + lost);
    assert!(capture.finish().unwrap().len() > 1_000_000);
}
