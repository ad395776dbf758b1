//! Sequences of traces made by hand, and the verdict on each timeout.
use super::*;
use crate::network::{ApplicationPlan, Direction, FetchPlan, LinkId, RequestPlan};
use crate::network::{Arrival, Popularity};
use crate::observe::LossReason;
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::trace::Trace;
use recoup_packet::interest::Interest;
use std::sync::Arc;

const C1: ApplicationId = ApplicationId(0);
const C2: ApplicationId = ApplicationId(1);
const APP: AppId = AppId(7);

/// Consumers on nodes of their own (numbers as the applications'), and an oracle that watches them.
struct Bench {
    oracle: Oracle,
    now: Instant,
    /// Hash of the requested names.
    hash: u64,
}

impl Bench {
    fn new(kinds: Vec<ApplicationKind>) -> Self {
        let applications = kinds.into_iter().enumerate().map(|(place, kind)| ApplicationPlan {
            name: format!("c{}", place + 1),
            node: NodeId(place as u32),
            start: Instant::ZERO,
            stop: None,
            kind,
        });
        let network = Network { applications: applications.collect(), ..Network::default() };
        let mut bench = Self { oracle: Oracle::new(&network), now: Instant::ZERO, hash: 0 };
        for place in 0..network.applications.len() as u32 {
            bench.see(&Observation::Started { application: ApplicationId(place), app: Some(APP) });
        }
        bench
    }

    fn fetches(count: usize) -> Self {
        Self::new((0..count).map(|_| fetch()).collect())
    }

    fn see(&mut self, observation: &Observation<'_>) {
        self.oracle.on(self.now, observation);
    }

    fn at(&mut self, ms: u64) -> &mut Self {
        self.now = Instant::from_millis(ms);
        self
    }

    fn event(&mut self, application: ApplicationId, event: Event) -> &mut Self {
        self.see(&Observation::Application { application, report: &Report::Event(event) });
        self
    }

    fn node(&mut self, event: NodeEvent) -> &mut Self {
        self.see(&Observation::Node { node: NodeId(9), event });
        self
    }

    /// The application sends a segment; the node has given it the id before.
    fn send(&mut self, application: ApplicationId, segment: u64, n: u32, id: u64) -> &mut Self {
        let born = NodeEvent::TraceBorn { id, app: APP, hash: self.hash };
        self.see(&Observation::Node { node: NodeId(application.0), event: born });
        self.event(application, Event::Sent { segment, transmissions: n, rto: ms(200).into() })
    }

    fn timeout(&mut self, application: ApplicationId, segment: u64) -> &mut Self {
        self.event(application, Event::TimedOut { segment })
    }

    fn receive(&mut self, application: ApplicationId, segment: u64) -> &mut Self {
        let received = Event::Received {
            segment,
            content_bytes: 1,
            wire_bytes: 1,
            rtt: ms(1).into(),
            delay: ms(1).into(),
            transmissions: 1,
        };
        self.event(application, received)
    }

    fn sample(&mut self, segment: u64, rtt: u64) -> &mut Self {
        let (rtt, rto) = (ms(rtt).into(), ms(200).into());
        self.event(C1, Event::Sampled { segment, rtt, srtt: rtt, rttvar: rtt, rto })
    }

    fn lose(&mut self, ids: &[u64]) -> &mut Self {
        let (link, direction, reason) = (LinkId(0), Direction::Forth, LossReason::Model);
        self.see(&Observation::Lost { link, direction, packet: &packet(ids), reason });
        self
    }

    fn double(&mut self, ids: &[u64]) -> &mut Self {
        let (link, direction) = (LinkId(0), Direction::Forth);
        self.see(&Observation::Doubled { link, direction, packet: &packet(ids) });
        self
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        std::iter::from_fn(|| self.oracle.poll()).map(|timeout| timeout.verdict).collect()
    }

    /// Number of transmissions in memory.
    fn kept(&self) -> usize {
        let current = self.oracle.consumers.iter().map(|it| it.current.len()).sum::<usize>();
        self.oracle.ledger.len() + self.oracle.open.len() + current
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn packet(ids: &[u64]) -> Packet {
    let interest = Interest::new("/a".parse().unwrap());
    let mut packet = Packet::interest(Arc::new(interest), &NameHasher::new(1));
    let trace = &mut packet.hop.extra_mut().trace;
    ids.iter().for_each(|id| trace.merge(Trace::of(*id)));
    packet
}

fn fetch() -> ApplicationKind {
    ApplicationKind::Fetch(Box::new(FetchPlan::new("/a".parse().unwrap())))
}

fn request() -> ApplicationKind {
    ApplicationKind::Request(Box::new(RequestPlan {
        prefixes: Vec::new(),
        contents: 10,
        popularity: Popularity::Uniform,
        arrival: Arrival::Constant(1.0),
        requests: None,
        rto: None,
        retries: None,
        lifetime: ms(4000),
        rto_scan: None,
        pending: None,
    }))
}

#[test]
fn timeout_with_data_in_flight_is_spurious() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).at(200).timeout(C1, 0);
    assert_eq!(bench.verdicts(), []);
    bench.at(210).node(NodeEvent::TraceDelivered { id: 1, app: APP }).receive(C1, 0);
    assert_eq!(bench.verdicts(), [Verdict::Bad]);
    assert_eq!(bench.kept(), 0);
}

#[test]
fn timeout_after_the_only_loss_is_genuine() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).lose(&[1]).at(200).timeout(C1, 0);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
    // The same where the copy dies only after the timeout.
    bench.send(C1, 1, 1, 2).at(400).timeout(C1, 1);
    assert_eq!(bench.verdicts(), []);
    bench.node(NodeEvent::TraceDied { id: 2 });
    assert_eq!(bench.verdicts(), [Verdict::Good]);
}

#[test]
fn only_first_timeouts_are_judged() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).lose(&[1]).at(200).timeout(C1, 0);
    bench.send(C1, 0, 2, 2).lose(&[2]).at(400).timeout(C1, 0);
    bench.send(C1, 0, 3, 3).node(NodeEvent::TraceDelivered { id: 3, app: APP }).receive(C1, 0);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
    assert_eq!(bench.kept(), 0);
}

#[test]
fn aggregated_interest_is_answered_with_its_entry() {
    let mut bench = Bench::fetches(2);
    // The second consumer's Interest waits in a node; only the first one's copy travels on.
    bench.send(C1, 0, 1, 1).send(C2, 0, 1, 2).at(200).timeout(C1, 0).timeout(C2, 0);
    bench.lose(&[1]);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
    // A retransmission of the first one fetches Data, which answers both in that node.
    bench.send(C1, 0, 2, 3).node(NodeEvent::TraceDelivered { id: 2, app: APP });
    assert_eq!(bench.verdicts(), [Verdict::Bad]);
}

#[test]
fn aggregated_interest_dies_with_its_entry() {
    let mut bench = Bench::fetches(2);
    bench.send(C2, 0, 1, 2).at(200).timeout(C2, 0).node(NodeEvent::TraceDied { id: 2 });
    assert_eq!(bench.verdicts(), [Verdict::Good]);
    assert_eq!(bench.oracle.score(C2).map(|score| score.good), Some(1));
    assert_eq!(bench.oracle.score(C1), Some(&Score::default()));
}

#[test]
fn with_several_ways_the_last_copy_decides() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).node(NodeEvent::TraceCopied { id: 1, copies: 2 });
    bench.lose(&[1]).at(200).timeout(C1, 0).node(NodeEvent::TraceDied { id: 1 });
    assert_eq!(bench.verdicts(), []);
    bench.node(NodeEvent::TraceSuperseded { id: 1 });
    assert_eq!(bench.verdicts(), [Verdict::Bad]);
    // All copies are gone:
    bench.send(C1, 1, 1, 2).node(NodeEvent::TraceCopied { id: 2, copies: 1 }).at(400);
    bench.lose(&[2]).timeout(C1, 1).lose(&[2]);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
}

#[test]
fn what_a_channel_doubles_must_be_lost_twice() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).double(&[1]).lose(&[1]).at(200).timeout(C1, 0);
    assert_eq!(bench.verdicts(), []);
    bench.lose(&[1]);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
}

#[test]
fn a_lost_answer_kills_all_that_it_answered() {
    let mut bench = Bench::fetches(2);
    bench.send(C1, 0, 1, 1).send(C2, 0, 1, 2).at(200).timeout(C1, 0).timeout(C2, 0);
    bench.lose(&[1, 2]);
    assert_eq!(bench.verdicts(), [Verdict::Good, Verdict::Good]);
}

#[test]
fn timeouts_open_at_the_end_count_neither_way() {
    let mut bench = Bench::fetches(1);
    bench.send(C1, 0, 1, 1).send(C1, 1, 1, 2).at(200).timeout(C1, 0);
    bench.oracle.finish();
    assert_eq!(bench.verdicts(), [Verdict::Undecided]);
    let score = bench.oracle.score(C1).unwrap();
    assert_eq!((score.bad, score.good, score.undecided), (0, 0, 1));
    assert_eq!(score.bad_share(), None);
}

#[test]
fn segment_in_time_leaves_no_state() {
    let mut bench = Bench::fetches(1);
    for segment in 0..100 {
        bench.send(C1, segment, 1, segment);
        bench.node(NodeEvent::TraceDelivered { id: segment, app: APP }).receive(C1, segment);
    }
    assert_eq!(bench.verdicts(), []);
    assert_eq!(bench.kept(), 0);
    assert!(bench.oracle.followed());
}

#[test]
fn ids_and_transmissions_match_in_any_order() {
    let mut bench = Bench::fetches(1);
    bench.event(C1, Event::Probed);
    bench.event(C1, Event::Sent { segment: 0, transmissions: 1, rto: ms(200).into() });
    for id in [10, 11] {
        let born = NodeEvent::TraceBorn { id, app: APP, hash: 0 };
        bench.see(&Observation::Node { node: NodeId(0), event: born });
    }
    bench.node(NodeEvent::TraceDied { id: 10 }).at(200).timeout(C1, 0);
    assert_eq!(bench.verdicts(), [], "the probe's id is not the segment's");
    bench.node(NodeEvent::TraceDied { id: 11 });
    assert_eq!(bench.verdicts(), [Verdict::Good]);
}

#[test]
fn genuine_timeout_is_compared_with_the_latest_sample() {
    let mut bench = Bench::fetches(1);
    bench.sample(5, 80).sample(6, 50).send(C1, 0, 1, 1).lose(&[1]).at(200).timeout(C1, 0);
    let timeout = bench.oracle.poll().unwrap();
    assert_eq!((timeout.rtt, timeout.relative()), (Some(ms(50)), Some(4.0)));
    assert_eq!((timeout.sent, timeout.expired), (Instant::ZERO, Instant::from_millis(200)));
}

#[test]
fn catalogue_consumer_compares_by_content() {
    let mut bench = Bench::new(vec![request()]);
    for (segment, hash, rtt) in [(0, 100, 80), (1, 200, 50)] {
        bench.hash = hash;
        bench.send(C1, segment, 1, segment).receive(C1, segment).sample(segment, rtt);
    }
    // The third request is for the first one's content, the fourth for another.
    for (segment, hash) in [(2, 100), (3, 300)] {
        bench.hash = hash;
        bench.send(C1, segment, 1, segment).lose(&[segment]).timeout(C1, segment);
    }
    let relative: Vec<_> = std::iter::from_fn(|| bench.oracle.poll()).map(|it| it.rtt).collect();
    assert_eq!(relative, [Some(ms(80)), Some(ms(50))]);
    let score = bench.oracle.score(C1).unwrap();
    assert_eq!(score.relative_wait(), Some((2.5 + 4.0) / 2.0));
}

#[test]
fn restarted_fetch_begins_anew() {
    let mut bench = Bench::new(vec![request()]);
    bench.send(C1, 5, 1, 1).at(100).send(C1, 5, 1, 2).lose(&[1]).at(300).timeout(C1, 5);
    assert_eq!(bench.verdicts(), []);
    bench.lose(&[2]);
    assert_eq!(bench.verdicts(), [Verdict::Good]);
}
