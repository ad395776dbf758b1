//! Metrics from observations.
use super::*;
use crate::network::{Direction, NodeId};
use crate::observe::LossReason;
use crate::record::bench::*;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::Kind;
use recoup_transport::event::{Event, Signal};

const EACH: Detail = Detail { applications: true, nodes: true, links: true };

/// Runs a story and sums it up at the given millisecond.
fn summary(until: u64, story: impl FnOnce(&mut Feed<'_, Metrics>)) -> Summary {
    let mut metrics = Metrics::new(&network(), EACH);
    story(&mut Feed::new(&mut metrics));
    metrics.finish(at(until))
}

#[track_caller]
fn assert_metric(summary: &Summary, name: &str, value: f64) {
    let found = summary.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    assert!((found - value).abs() <= 1e-9 * value.abs().max(1.0), "{name} is {found}, not {value}");
}

#[test]
fn a_completed_fetch_has_its_time_and_rates() {
    let summary = summary(9000, |feed| {
        feed.at(100).send(C1, 0, 1, 200).send(C1, 1, 1, 200);
        feed.at(200).receive(C1, 0, 1, (100, 100));
        feed.at(2100).receive(C1, 1, 1, (2000, 2000)).done(C1);
    });
    assert_metric(&summary, "c1.completed", 1.0);
    assert_metric(&summary, "c1.time_s", 2.0);
    assert_metric(&summary, "c1.goodput_bps", 8000.0);
    assert_metric(&summary, "c1.throughput_bps", 10_000.0);
    assert_metric(&summary, "c1.rtt_mean_s", 1.05);
    assert_metric(&summary, "c1.rtt_min_s", 0.1);
    assert_eq!(summary.get("c2.time_s"), None, "it did not complete");
    assert_metric(&summary, "c2.completed", 0.0);
    assert_metric(&summary, "c2.stopped", 1.0);
    assert_eq!(summary.get("c1.stopped"), None, "it completed");
    assert_metric(&summary, "all.completed", 1.0);
    assert_eq!(summary.get("all.time_s"), None, "not all completed");
    assert_metric(&summary, "all.time_mean_s", 2.0);
    assert_metric(&summary, "all.jain", 0.5);
}

#[test]
fn time_of_all_spans_all_consumers() {
    let summary = summary(9000, |feed| {
        feed.at(100).send(C1, 0, 1, 200).at(300).send(C2, 0, 1, 200);
        feed.at(1100).receive(C1, 0, 1, (1000, 1000)).done(C1);
        feed.at(1300).receive(C2, 0, 1, (1000, 1000)).done(C2);
    });
    assert_metric(&summary, "all.time_s", 1.2);
    assert_metric(&summary, "all.time_mean_s", 1.0);
    assert_metric(&summary, "all.goodput_bps", 16_000.0 / 1.2);
    assert_metric(&summary, "all.goodput_mean_bps", 8000.0);
    assert_metric(&summary, "all.jain", 1.0);
    assert_metric(&summary, "all.consumers", 2.0);
}

#[test]
fn losses_are_counted_as_events_and_as_timeouts() {
    let summary = summary(9000, |feed| {
        for segment in 0..4 {
            feed.send(C1, segment, 1, 200);
        }
        feed.at(200);
        for segment in 0..3 {
            feed.event(C1, Event::TimedOut { segment });
        }
        feed.event(C1, Event::Reduced { cause: Signal::Timeout }).send(C1, 0, 2, 400);
        feed.at(300).receive(C1, 3, 1, (300, 300)).receive(C1, 0, 2, (100, 300));
    });
    assert_metric(&summary, "c1.timeouts", 3.0);
    assert_metric(&summary, "c1.loss_events", 1.0);
    assert_metric(&summary, "c1.loss_events_timeout", 1.0);
    assert_metric(&summary, "c1.loss_event_percent", 50.0);
    assert_metric(&summary, "c1.interests", 5.0);
    assert_metric(&summary, "c1.retransmissions", 1.0);
    assert_metric(&summary, "c1.rto_max_s", 0.2);
    assert_metric(&summary, "c1.rtt_max_s", 0.3);
    assert_metric(&summary, "c1.delay_min_s", 0.3);
}

#[test]
fn recovery_point_rises_only_after_new_interests() {
    let reduced = Event::Reduced { cause: Signal::Timeout };
    let rising = summary(9, |feed| {
        feed.send(C1, 0, 1, 1).event(C1, reduced).send(C1, 1, 1, 1).event(C1, reduced);
    });
    assert_metric(&rising, "c1.recovery_point_rises", 1.0);
    let standing = summary(9, |feed| {
        feed.send(C1, 1, 1, 1).event(C1, reduced).send(C1, 0, 2, 1).event(C1, reduced);
    });
    assert_metric(&standing, "c1.recovery_point_rises", 0.0);
    assert_metric(&standing, "all.recovery_point_rises", 0.0);
}

#[test]
fn a_window_counts_until_its_fetch_is_over() {
    let summary = summary(9000, |feed| {
        feed.window(C1, 1.0).send(C1, 0, 1, 200).at(1000).window(C1, 4.0);
        feed.at(2000).receive(C1, 0, 1, (1, 1)).done(C1);
    });
    assert_metric(&summary, "c1.window_mean", 2.5);
    assert_metric(&summary, "c1.window_max", 4.0);
    assert_eq!(summary.get("c2.window_mean"), None);
}

#[test]
fn spurious_timeouts_are_counted_apart_from_genuine() {
    let summary = summary(9000, |feed| {
        for id in 0..2 {
            feed.node(NodeId(0), NodeEvent::TraceBorn { id, app: AppId(0), hash: 0 })
                .send(C1, id, 1, 200);
        }
        let [rtt, srtt, rttvar, rto] = [50, 50, 10, 100].map(|it| ms(it).into());
        feed.event(C1, Event::Sampled { segment: 9, rtt, srtt, rttvar, rto });
        feed.node(R, NodeEvent::TraceDied { id: 0 }).at(200);
        feed.event(C1, Event::TimedOut { segment: 0 }).event(C1, Event::TimedOut { segment: 1 });
        feed.node(NodeId(0), NodeEvent::TraceDelivered { id: 1, app: AppId(0) });
    });
    assert_metric(&summary, "c1.bad_timeouts", 1.0);
    assert_metric(&summary, "c1.good_timeouts", 1.0);
    assert_metric(&summary, "c1.bad_timeout_share", 0.5);
    assert_metric(&summary, "c1.relative_wait", 4.0);
    assert_metric(&summary, "all.b", 0.5);
    assert_metric(&summary, "all.w", 4.0);
    assert_metric(&summary, "all.b_excluded", 1.0);
    assert_eq!(summary.get("c2.bad_timeout_share"), None);
    assert_metric(&summary, "c1.srtt_mean_s", 0.05);
}

#[test]
fn timeouts_are_unjudged_without_following() {
    let summary = summary(9, |feed| {
        feed.send(C1, 0, 1, 1).event(C1, Event::TimedOut { segment: 0 });
    });
    assert_eq!(summary.get("c1.bad_timeouts"), None);
    assert_eq!(summary.get("all.b"), None);
}

#[test]
fn nodes_count_hits_drops_and_hops() {
    let summary = summary(2000, |feed| {
        let packet = interest();
        let (link, direction) = (BOTTLENECK, Direction::Forth);
        feed.see(&Observation::Sent { link, direction, packet: &packet });
        feed.see(&Observation::Arrived { link, direction, packet: &packet });
        feed.sent(&data(10)).arrived(&data(10));
        for hash in 0..3 {
            feed.node(R, NodeEvent::CsMiss { hash }).node(R, NodeEvent::PitInserted { hash });
        }
        feed.node(R, NodeEvent::CsHit { hash: 0 });
        let (kind, reason) = (Some(Kind::Data), DropReason::QueueFull);
        feed.see(&Observation::Dropped { node: R, kind, reason });
        feed.at(1000).node(R, NodeEvent::PitExpired { hash: 0 });
    });
    assert_metric(&summary, "all.packet_hops", 2.0);
    assert_metric(&summary, "all.interest_hops", 1.0);
    assert_metric(&summary, "all.data_hops", 1.0);
    assert_metric(&summary, "all.cs_hit_ratio", 0.25);
    assert_metric(&summary, "all.drops_queue_full", 1.0);
    assert_metric(&summary, "all.drops_loop", 0.0);
    assert_metric(&summary, "node.r.interests_out", 1.0);
    assert_metric(&summary, "node.r.data_in", 1.0);
    assert_metric(&summary, "node.p.data_out", 1.0);
    assert_metric(&summary, "node.r.pit_max", 3.0);
    assert_metric(&summary, "node.r.pit_mean", 2.5);
    assert_metric(&summary, "node.r.drops_queue_full", 1.0);
    assert_eq!(summary.get("node.r.drops_loop"), None);
    assert_eq!(summary.get("node.n1.cs_hit_ratio"), None);
}

#[test]
fn links_report_utilisation_and_losses() {
    let packet = data(1000);
    let bytes = packet.bytes() as f64;
    let summary = summary(2000, |feed| {
        feed.sent(&packet).arrived(&packet).sent(&packet);
        let (link, direction, reason) = (BOTTLENECK, Direction::Back, LossReason::Model);
        feed.see(&Observation::Lost { link, direction, packet: &packet, reason });
    });
    assert_metric(&summary, "link.r-p.back.bytes", 2.0 * bytes);
    assert_metric(&summary, "link.r-p.back.utilisation", 2.0 * bytes * 8.0 / 1e6 / 2.0);
    assert_metric(&summary, "link.r-p.back.lost_model", 1.0);
    assert_metric(&summary, "link.r-p.forth.packets", 0.0);
    assert_metric(&summary, "all.lost", 1.0);
    assert_metric(&summary, "all.lost_link_down", 0.0);
}

#[test]
fn producer_reports_served_packets() {
    let summary = summary(9, |feed| {
        feed.event(P, Event::Served { content_bytes: 100, signed: true }).event(P, Event::Unknown);
    });
    assert_metric(&summary, "p1.served_bytes", 100.0);
    assert_metric(&summary, "p1.unknown", 1.0);
    assert_eq!(summary.get("p1.interests"), None);
}

#[test]
fn metric_names_are_unique_and_values_finite() {
    let summary = summary(9, |feed| {
        feed.send(C1, 0, 1, 1).window(C1, 1.0).at(5).receive(C1, 0, 1, (5, 5)).done(C1);
    });
    let mut names: Vec<&str> = summary.iter().map(|metric| metric.name.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(summary.iter().all(|metric| !metric.value.is_nan()));
    assert_eq!(summary.table().len(), count);
}
