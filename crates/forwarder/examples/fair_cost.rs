//! Cost of a scheduler in a forwarder, for each exchange of an Interest and its Data.
//!
//! `cargo run --release -p recoup-forwarder --example fair_cost`
//!
//! One node has two wire faces, toward consumers and toward a producer. With a scheduler both faces have it:
//! Interests pass the one, Data the other. A figure is the least processor time of several runs, less that of the
//! loop around the node. *Pass*: the link is not full, so each packet is measured and passes. *Wait*: each flow has
//! two Interests in flight, a new one for each answer, so nearly every packet is queued, and timers release it.
//! Without a scheduler as many are queued at the producer, so that the tables hold the same.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time")]
use bytes::{Bytes, BytesMut};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::queue::{Capacity, Scheduling};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::hint::black_box;

const EXCHANGES: u64 = 400_000;
const RUNS: usize = 5;
const CONSUMERS: FaceId = FaceId(1);
const PRODUCER: FaceId = FaceId(2);
/// Time from one Interest to the next.
const SPACING: Duration = Duration::from_micros(10);
const FLOWS: [u32; 4] = [1, 10, 1_000, 10_000];
const SCHEDULERS: [&str; 3] = ["none", "max-min", "drr"];

/// Frames that differ in two numbers, at known places: of the flow and of the segment.
struct Template {
    frame: Bytes,
    flow_at: usize,
    segment_at: usize,
}

fn name() -> String {
    // Numbers of fixed length, to be found and replaced.
    "/bench/FLOWFLOW/v=1/seg=16909060".to_owned()
}

fn find(frame: &[u8], what: &[u8]) -> usize {
    frame.windows(what.len()).position(|window| window == what).expect("the template has it")
}

impl Template {
    fn new(frame: Bytes) -> Self {
        let (flow_at, segment_at) = (find(&frame, b"FLOWFLOW"), find(&frame, &[1, 2, 3, 4]));
        Self { frame, flow_at, segment_at }
    }

    fn interest() -> Self {
        let mut interest = Interest::new(name().parse().expect("a name"));
        interest.nonce = Some(7);
        interest.lifetime = Some(Duration::from_secs(4));
        Self::new(interest.to_bytes())
    }

    fn data() -> Self {
        let name = name().parse().expect("a name");
        Self::new(DataBuilder::new(&name).build(&[0; 1_000], &DigestSigner).wire())
    }

    fn write(&self, pool: &mut BytesMut, flow: [u8; 8], segment: [u8; 4]) -> Bytes {
        let start = pool.len();
        pool.extend_from_slice(&self.frame);
        pool[start + self.flow_at..][..8].copy_from_slice(&flow);
        pool[start + self.segment_at..][..4].copy_from_slice(&segment);
        pool.split().freeze()
    }

    fn read(&self, frame: &[u8]) -> ([u8; 8], [u8; 4]) {
        let flow = frame[self.flow_at..][..8].try_into().expect("eight bytes");
        (flow, frame[self.segment_at..][..4].try_into().expect("four bytes"))
    }
}

/// Processor time of this thread, in nanoseconds.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("Linux counts it")
}

fn node(scheduler: &str, bits: u64) -> Node {
    let options = NodeConfig { pit_limit: 1 << 20, ..NodeConfig::deterministic(0) };
    let mut node = Node::new(options);
    for face in [CONSUMERS, PRODUCER] {
        if let Ok(discipline) = scheduler.parse() {
            let capacity = Capacity::symmetric(bits);
            let scheduling = Box::new(Scheduling { discipline, capacity });
            node.handle(Instant::ZERO, Input::Schedule { face, scheduling });
        }
        let attributes = FaceAttributes { permanent: true, ..FaceAttributes::wire(8_800) };
        node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
    }
    let prefix = "/bench".parse().expect("a name");
    let route = RouteChange { prefix, face: PRODUCER, cost: Some(1) };
    node.handle(Instant::ZERO, Input::Route(route));
    node
}

struct Harness {
    interest: Template,
    data: Template,
    pool: BytesMut,
    answered: u64,
    done: u64,
    /// Interests at the producer, and how many of them are answered later.
    held: VecDeque<Bytes>,
    holds: usize,
}

impl Harness {
    fn new() -> Self {
        let pool = BytesMut::with_capacity(1 << 16);
        let (interest, data) = (Template::interest(), Template::data());
        Self { interest, data, pool, answered: 0, done: 0, held: VecDeque::new(), holds: 0 }
    }

    fn pool(&mut self) -> &mut BytesMut {
        self.pool.reserve(1 << 11);
        &mut self.pool
    }

    fn ask(&mut self, number: u64, flows: u32) -> Bytes {
        // Flows take turns in an order that memory cannot foresee.
        let flow = number.wrapping_mul(7_919) % u64::from(flows);
        let segment = (number / u64::from(flows)) as u32 | 0x0100_0000;
        self.pool();
        self.interest.write(&mut self.pool, (flow | 1 << 63).to_be_bytes(), segment.to_be_bytes())
    }

    fn answer(&mut self, frame: &[u8]) -> Bytes {
        let (flow, segment) = self.interest.read(frame);
        self.answered += 1;
        self.pool();
        self.data.write(&mut self.pool, flow, segment)
    }

    /// Carries out everything that follows.
    fn drain(&mut self, node: &mut Node, now: Instant) {
        while let Some(output) = node.poll(now) {
            match output {
                Output::Send { face: PRODUCER, frame } => {
                    self.held.push_back(frame.body().clone());
                    let due = self.held.len() > self.holds;
                    let Some(frame) = self.held.pop_front_if(|_| due) else { continue };
                    let frame = self.answer(&frame);
                    node.handle(now, Input::Frame { face: PRODUCER, frame });
                }
                Output::Send { frame, .. } => self.done += u64::from(black_box(frame).len() > 9),
                _ => {}
            }
        }
    }
}

/// Processor nanoseconds for each exchange; the loop alone if there is no node. Interests wait at the producer unless
/// the node `schedules`.
fn measure(node: Option<Node>, flows: u32, waits: bool, schedules: bool) -> f64 {
    let mut harness = Harness::new();
    let (mut now, mut node) = (Instant::from_millis(1), node);
    let in_flight = if waits { u64::from(flows) * 2 } else { 1 };
    harness.holds = if waits && !schedules { in_flight as usize - 1 } else { 0 };
    let before = cpu_nanos();
    for number in 0..EXCHANGES {
        let frame = harness.ask(number, flows);
        let Some(node) = &mut node else {
            let frame = harness.answer(&frame);
            harness.done += u64::from(black_box(frame).len() > 9);
            continue;
        };
        if !waits {
            now += SPACING;
        }
        while let Some(due) = node.deadline().filter(|due| *due <= now) {
            harness.drain(node, due);
        }
        node.handle(now, Input::Frame { face: CONSUMERS, frame });
        harness.drain(node, now);
        while number + 1 - harness.done >= in_flight
            && let Some(due) = node.deadline()
        {
            now = now.max(due);
            harness.drain(node, now);
        }
    }
    let nanos = cpu_nanos() - before;
    assert!(harness.done + in_flight >= EXCHANGES, "{} of {EXCHANGES} exchanges", harness.done);
    nanos as f64 / harness.done as f64
}

fn least(runs: impl Fn() -> f64) -> f64 {
    (0..RUNS).map(|_| runs()).fold(f64::INFINITY, f64::min)
}

fn main() {
    for (title, bits) in [("pass", 100_000_000_000), ("wait", 1_000_000_000)] {
        let waits = title == "wait";
        println!("{title}: nanoseconds for each exchange, and speed compared with no scheduler");
        for flows in FLOWS {
            let around = least(|| measure(None, flows, waits, false));
            let cost = |it: &str| measure(Some(node(it, bits)), flows, waits, it != "none");
            let costs = SCHEDULERS.map(|it| least(|| cost(it)) - around);
            print!("{flows:>6} flows");
            for (scheduler, cost) in SCHEDULERS.iter().zip(costs) {
                print!("  {scheduler} {cost:.0} ({:.2})", costs[0] / cost);
            }
            println!();
        }
    }
}
