//! Random networks whose faces and routes come and go, with forged and stale M flags. The invariants hold for every
//! seed; a failure names the seed. `RECOUP_SWARM_SEEDS=5000..50000` runs others.
use crate::bench::{question, special};
use crate::tester::{Probe, Tester};
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::Packet;
use recoup_packet::nack::NackReason;
use recoup_transport::application::AppOutput;
use recoup_transport::random::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

const NODES: u32 = 6;
const STORM_MILLIS: u64 = 400;
const NAMES: u64 = 12;

fn seeds() -> std::ops::Range<u64> {
    #[expect(clippy::disallowed_methods, reason = "the seeds of a test may be given")]
    let given = std::env::var("RECOUP_SWARM_SEEDS").ok();
    let range = given.as_deref().and_then(|it| it.split_once(".."));
    let number = |text: &str, default| text.parse().unwrap_or(default);
    range.map_or(0..2_000, |(from, until)| number(from, 0)..number(until, 2_000))
}

/// Node 0 is the consumer, node 5 the producer; every two nodes may have a link, and every node a route over any of
/// its links.
struct Storm {
    tester: Tester,
    rng: Rng,
    consumer: Probe,
    links: Vec<(u32, u32)>,
    nonce: u32,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let mobility = ["mldr", "eln", "mldr(lost=20ms,residual=0)"][(seed % 3) as usize];
        let strategy = ["best-route", "multicast"][(seed % 2) as usize];
        let mut tester = Tester::new(NODES, |node| {
            let rng = Rng::from_seed(100 * seed + u64::from(node));
            NodeConfig { rng, ..NodeConfig::deterministic(0) }.with(|it| {
                it.mobility = mobility.parse().unwrap();
                it.strategy = strategy.parse().unwrap();
            })
        });
        let mut rng = Rng::from_seed(seed).substream("storm");
        let mut links = Vec::new();
        for one in 0..NODES {
            for other in one + 1..NODES {
                if other == one + 1 || rng.below(3) == 0 {
                    tester.link(one, other, 1 + rng.below(9));
                    links.push((one, other));
                }
            }
        }
        for &(one, other) in &links {
            tester.route(one, "/a", other);
            if rng.below(3) == 0 {
                tester.route(other, "/a", one);
            }
        }
        let (consumer, producer) = (Probe::default(), Probe::default());
        tester.attach(0, &consumer, &[]);
        tester.attach(NODES - 1, &producer, &["/a"]);
        Self { tester, rng, consumer, links, nonce: 1 }
    }

    fn run(&mut self) {
        let mut at = 0;
        while at < STORM_MILLIS {
            at += 1 + self.rng.below(12);
            self.tester.run(at);
            self.happen();
        }
        for (one, other) in self.links.clone() {
            self.both(one, other, true);
        }
        self.tester.run(STORM_MILLIS + 10_000);
    }

    fn happen(&mut self) {
        let (one, other) = self.links[self.rng.below(self.links.len() as u64) as usize];
        let name = format!("/a/{}", self.rng.below(NAMES));
        match self.rng.below(8) {
            0..3 => {
                self.nonce += 1;
                // Routes may loop, and no node has a store: answered Interests may loop within this hop limit.
                let interest = special(&name, self.nonce, |it| it.hop_limit = Some(16));
                self.consumer.put(AppOutput::Interest(Arc::new(interest)));
            }
            3 => self.both(one, other, false),
            4 => self.both(one, other, true),
            // Only one end notices.
            5 => self.tester.down(one, other),
            6 if self.rng.below(2) == 0 => self.tester.unroute(one, "/a", other),
            6 => self.tester.route(one, "/a", other),
            _ => self.forge(one, other, &name),
        }
    }

    fn both(&mut self, one: u32, other: u32, up: bool) {
        for (node, to) in [(one, other), (other, one)] {
            if up {
                let delay = 1 + self.rng.below(9);
                self.tester.up(node, to, delay);
            } else {
                self.tester.down(node, to);
            }
        }
    }

    /// A forged or stale M flag, with a nonce among those in use.
    fn forge(&mut self, node: u32, face: u32, name: &str) {
        let nonce = self.rng.below(u64::from(self.nonce) + 5) as u32;
        let reason = [NackReason::Mobility, NackReason::Loss][self.rng.below(2) as usize];
        let hasher: NameHasher = self.tester.node(node).hasher().clone();
        let packet = Packet::nack(Arc::new(question(name, nonce)), reason, &hasher);
        self.tester.forge(node, face, packet);
    }
}

#[test]
fn handovers_deliver_no_duplicate() {
    let (mut delivered, mut asked, mut notified) = (0, 0, 0);
    for seed in seeds() {
        let mut storm = Storm::new(seed);
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| storm.run()));
        assert!(ran.is_ok(), "seed {seed}");
        let packets = storm.tester.carried();
        assert!(packets < 40_000, "seed {seed}: {packets} packets: they go round");
        for node in 0..NODES {
            assert_eq!(storm.tester.node(node).pit_len(), 0, "seed {seed}, node {node}");
        }
        let mut came: BTreeMap<String, u32> = BTreeMap::new();
        for line in storm.consumer.received() {
            let words: Vec<_> = line.split(' ').collect();
            if let ["data", name] = words[2..] {
                *came.entry(name.to_owned()).or_default() += 1;
            }
            notified += u32::from(words.contains(&"mobility") || words.contains(&"held"));
        }
        // An application may request a name again: there are never more answers than Interests.
        let answers: u32 = came.values().sum();
        assert!(answers < storm.nonce, "seed {seed}: {came:?}");
        (delivered, asked) = (delivered + answers, asked + storm.nonce - 1);
    }
    assert!(delivered > asked / 4 && notified > 0, "{delivered} of {asked}, {notified} notified");
}
