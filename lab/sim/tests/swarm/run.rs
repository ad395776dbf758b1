//! One seed: its simulation runs until no event is left, and is checked.
use crate::checker::Checker;
use crate::plan::{Swarmed, plan};
use recoup_forwarder::packet::Kind;
use recoup_sim::network::{Direction, LinkId, Network, NodeId};
use recoup_sim::observe::Observer;
use recoup_sim::record::{RecordPlan, Records};
use recoup_sim::simulation::{Cause, Digest, Simulation};

/// Counts over all simulations together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) simulations: u64,
    pub(crate) hops: u64,
    pub(crate) lost: u64,
    pub(crate) faults: u64,
    pub(crate) fetched: u64,
    pub(crate) failed: u64,
    pub(crate) requests: u64,
    pub(crate) answered: u64,
    pub(crate) timeouts: u64,
    pub(crate) nacks: u64,
}

impl Facts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.simulations += other.simulations;
        self.hops += other.hops;
        self.lost += other.lost;
        self.faults += other.faults;
        self.fetched += other.fetched;
        self.failed += other.failed;
        self.requests += other.requests;
        self.answered += other.answered;
        self.timeouts += other.timeouts;
        self.nacks += other.nacks;
    }
}

/// Runs a seed and panics if something does not hold.
pub(crate) fn check(seed: u64) -> Facts {
    let swarmed = plan(seed);
    let mut digest = Digest::new();
    let facts = run(&swarmed, seed, &mut digest);
    if seed.is_multiple_of(8) {
        let mut again = Both(Digest::new(), records(&swarmed.network));
        run(&swarmed, seed, &mut again);
        assert_eq!(again.0, digest, "a second run with records is another");
    }
    facts
}

/// A digest and records of the same run.
struct Both(Digest, Records);

impl Observer for Both {
    fn on(
        &mut self,
        now: recoup_transport::time::Instant,
        observation: &recoup_sim::observe::Observation<'_>,
    ) {
        self.1.on(now, observation);
        self.0.on(now, observation);
    }
}

fn records(network: &Network) -> Records {
    let mut names = vec!["segments", "window", "rto", "queue", "pit", "goodput", "links", "drops"];
    if network.follow_transmissions {
        names.push("timeouts");
    }
    let plans: Vec<RecordPlan> =
        names.iter().map(|name| RecordPlan::parse(name).unwrap()).collect();
    Records::new(network, &plans)
}

/// Runs until nothing is left to happen.
pub(crate) fn run(swarmed: &Swarmed, seed: u64, witness: &mut dyn Observer) -> Facts {
    let network = &swarmed.network;
    let mut checker = Checker::new(swarmed);
    let mut simulation =
        Simulation::new(network.clone(), seed).expect("the swarm draws valid simulations");
    let ended = simulation.run(&mut [&mut checker, witness]);
    let expected = [Cause::Done, Cause::Quiet];
    assert!(expected.contains(&ended.cause), "it ended by {:?} at {}", ended.cause, ended.at);
    assert_eq!(ended.balance.check(), Ok(()));
    if ended.cause == Cause::Done {
        assert!(network.stop.when_done, "the run ended too early");
    }
    // The rest: packets in flight arrive, pending Interests expire, and producers and background traffic that outlive
    // the consumers are stopped.
    while simulation.step(&mut [&mut checker, witness]) {}
    check_rest(network, &simulation, &checker);
    checker.finish()
}

/// Invariants at the end of a run.
fn check_rest(network: &Network, simulation: &Simulation, checker: &Checker) {
    assert_eq!(simulation.next_at(), None);
    let balance = simulation.balance();
    for kind in [Some(Kind::Interest), Some(Kind::Data), Some(Kind::Nack), None] {
        assert_eq!(balance.in_flight(kind), 0, "{kind:?} are still on their way");
    }
    assert_eq!(balance.check(), Ok(()));
    for link in (0..network.links.len() as u32).map(LinkId) {
        for direction in [Direction::Forth, Direction::Back] {
            let waiting = simulation.waiting(link, direction);
            assert_eq!((waiting.packets, waiting.bytes), (0, 0), "{link:?} {direction:?}");
        }
    }
    for node in (0..network.nodes.len() as u32).map(NodeId) {
        if !checker.is_down(node) {
            let pending = simulation.node(node).map_or(0, |node| node.pit_len());
            assert_eq!(pending, 0, "Interests stay pending at {node:?}");
        }
    }
    checker.compare(&balance);
}
