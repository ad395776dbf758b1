//! Answers to a fetch, over what producers have and what lies between: the right one, with a limited number of packets.
use crate::tester::Tester;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::strategy::{BestRoute, Multicast, Strategy};
use recoup_forwarder::table::CsCapacity;
use recoup_packet::denial::Denial;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError, FetchOptions};
use recoup_transport::random::Rng;
use recoup_transport::serve::{Library, Opened, Serve, ServeOptions, Zeros};
use recoup_transport::time::{Duration, Instant};

/// A file `f` of three segments and a folder, a file that cannot be read, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shelf {
    Full,
    Empty,
}

impl Library for Shelf {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let suffix = match path.to_string().as_str() {
            "/f" => None,
            "/" => Some("/32=ls".parse().unwrap()),
            _ => return None,
        };
        let source = Box::new(Zeros { bytes: 20_000 });
        let opened = Opened { source, version: Some(7), suffix, mtime_ns: None, mode: None };
        (*self == Self::Full).then_some(opened)
    }

    fn failure(&self) -> Option<Denial> {
        (*self == Self::Full).then_some(Denial::Forbidden)
    }
}

/// Names that are fetched, and the outcome of each.
const WANTED: [(&str, Outcome); 7] = [
    ("/r/f", Outcome::Whole),
    ("/r", Outcome::Whole),
    ("/r/f/v=7", Outcome::Whole),
    ("/r/f/v=8", Outcome::Absent),
    ("/r/v=5", Outcome::Absent),
    ("/r/no", Outcome::Unreadable),
    ("/r/no/32=ls", Outcome::Unreadable),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Whole,
    Absent,
    Unreadable,
}

/// Forwarders between the consumer and the producers, and the producers with their one-way delays.
struct Network {
    forwarders: u32,
    strategy: Strategy,
    producers: Vec<(Shelf, u64)>,
}

impl Network {
    /// Outcome of a fetch, packets on all links, and duration.
    fn fetch(&self, uri: &str) -> (Outcome, u64, Duration) {
        let cached = |node| match node {
            0 => NodeConfig::deterministic(0),
            _ => NodeConfig::deterministic(0)
                .with(|options| options.cache = CsCapacity::Packets(1_000)),
        };
        let last = self.forwarders;
        let nodes = 1 + last + self.producers.len() as u32;
        let mut network = Tester::new(nodes, cached);
        for node in 0..last {
            network.link(node, node + 1, 1);
            network.route(node, "/", node + 1);
        }
        network.node(last).set_strategy(&Name::root(), &self.strategy);
        for (producer, (shelf, delay)) in (last + 1..).zip(&self.producers) {
            network.link(last, producer, *delay);
            network.route(last, "/r", producer);
            let signer = Box::new(DigestSigner);
            let config = ServeOptions::default().config("/r".parse().unwrap(), signer, 0);
            let serve = Serve::new(config, Box::new(*shelf));
            network.attach_application(producer, Box::new(serve), &["/r"]);
        }
        let name = uri.parse().unwrap();
        let config = FetchConfig::new(name, FetchOptions::default(), Rng::from_seed(1));
        network.attach_application(0, Box::new(Fetch::new(config)), &[]);
        network.run(100_000);
        let (at, result) = network.done.take().expect("it has ended");
        let outcome = match result.map_err(|error| *error) {
            Ok(()) => Outcome::Whole,
            Err(FetchError::NotFound(_)) => Outcome::Absent,
            Err(FetchError::Unreadable { .. }) => Outcome::Unreadable,
            Err(other) => panic!("{uri}: {other}"),
        };
        (outcome, network.carried(), at.since(Instant::ZERO))
    }

    fn check(&self, uri: &str, expected: Outcome, what: &str) {
        let (outcome, packets, duration) = self.fetch(uri);
        assert_eq!(outcome, expected, "{uri}, {what}");
        // Two lanes of five rounds, each of two Interests with one or two answers on every link.
        let links = u64::from(self.forwarders) + self.producers.len() as u64;
        assert!(packets <= 50 * links, "{uri}, {what}: {packets} packets");
        assert!(duration < Duration::from_millis(900), "{uri}, {what}: {duration:?}");
    }
}

#[test]
fn each_name_has_its_answer_through_caches() {
    for forwarders in 0..3 {
        for (uri, expected) in WANTED {
            let (strategy, producers) = (BestRoute.into(), vec![(Shelf::Full, 1)]);
            let network = Network { forwarders, strategy, producers };
            network.check(uri, expected, &format!("{forwarders} forwarders"));
        }
        let (strategy, producers) = (BestRoute.into(), vec![(Shelf::Empty, 1)]);
        let network = Network { forwarders, strategy, producers };
        network.check("/r/f", Outcome::Absent, "an empty producer");
    }
}

#[test]
fn one_of_two_producers_suffices() {
    for strategy in [Strategy::from(Multicast), Strategy::from(BestRoute)] {
        for (uri, expected) in WANTED {
            for producers in [
                vec![(Shelf::Empty, 1), (Shelf::Full, 1)],
                vec![(Shelf::Empty, 1), (Shelf::Full, 5)],
                vec![(Shelf::Full, 5), (Shelf::Empty, 1)],
            ] {
                let what = format!("{strategy} of {producers:?}");
                Network { forwarders: 1, strategy: strategy.clone(), producers }
                    .check(uri, expected, &what);
            }
        }
    }
}

#[test]
fn far_answer_is_received_after_a_near_denial() {
    for delay in [5, 15, 19, 25, 35, 45, 55, 65, 75, 85] {
        let producers = vec![(Shelf::Empty, 1), (Shelf::Full, delay)];
        let network = Network { forwarders: 1, strategy: Multicast.into(), producers };
        let (outcome, ..) = network.fetch("/r/f");
        assert_eq!(outcome, Outcome::Whole, "at {delay} ms");
    }
}
