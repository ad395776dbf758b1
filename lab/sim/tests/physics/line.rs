//! Small networks, and what is seen in them.
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, FetchPlan, LinkId, LinkOptions, LinkPlan, Network,
    NodeId, NodePlan, PacketShape, Popularity, ProducePlan, RequestPlan, RoutePlan, ServePlan,
    Stop,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::{Ended, Simulation};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchOptions, Retries};
use recoup_transport::queue::QueueLimit;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::time::{Duration, Instant};

/// Prefix of all names in these networks.
pub(crate) const PREFIX: &str = "/x";

/// Nodes `n0`, `n1`, … one behind the other, with a route from each to the last.
pub(crate) fn line(links: &[(LinkOptions, LinkOptions)]) -> Network {
    let mut network = Network {
        stop: Stop { at: Instant::from_millis(100_000_000), when_done: true },
        ..Network::default()
    };
    for number in 0..=links.len() {
        network.nodes.push(NodePlan { name: format!("n{number}"), ..NodePlan::default() });
    }
    for (number, (forth, back)) in (0..).zip(links) {
        network.links.push(LinkPlan {
            name: format!("n{number}-n{}", number + 1),
            ends: (NodeId(number), NodeId(number + 1)),
            forth: forth.clone(),
            back: back.clone(),
            ..LinkPlan::default()
        });
        network.routes.push(RoutePlan {
            node: NodeId(number),
            prefix: PREFIX.parse().unwrap(),
            hops: vec![(LinkId(number), 1)],
        });
    }
    network
}

/// A channel of so many bits per second and milliseconds, with a queue that holds everything.
pub(crate) fn channel(rate_bits: u64, delay: u64) -> LinkOptions {
    let delay = Duration::from_millis(delay);
    LinkOptions { rate_bits, delay, queue: QueueLimit::UNLIMITED, ..LinkOptions::default() }
}

/// Adds an application that starts at once.
pub(crate) fn add(network: &mut Network, name: &str, node: u32, kind: ApplicationKind) {
    let (name, node) = (name.to_owned(), NodeId(node));
    let start = Instant::ZERO;
    network.applications.push(ApplicationPlan { name, node, start, stop: None, kind });
}

/// A fetch of [`PREFIX`] with such a window and patience enough never to ask twice.
pub(crate) fn fetch(window: u32) -> ApplicationKind {
    ApplicationKind::Fetch(Box::new(FetchPlan {
        options: FetchOptions {
            discover: false,
            rto: "constant(rto=60s)".parse().unwrap(),
            sampling: "every".parse().unwrap(),
            congestion: format!("fixed(window={window})").parse().unwrap(),
            loss: "timeout".parse().unwrap(),
            lifetime: Duration::from_secs(60),
            retries: Retries(Some(3)),
            no_progress: Duration::from_secs(120),
            rto_check: Duration::ZERO,
            react_to_marks: false,
            ..FetchOptions::default()
        },
        ..FetchPlan::new(PREFIX.parse().unwrap())
    }))
}

/// A producer of [`PREFIX`]: segments of 1,024 bytes in packets of 1,250.
pub(crate) fn serve(segments: u64) -> ApplicationKind {
    ApplicationKind::Serve(ServePlan {
        prefix: PREFIX.parse().unwrap(),
        size_bytes: segments * 1_024,
        options: ServeOptions {
            segment_bytes: 1_024,
            freshness: Duration::ZERO,
            version: Version::None,
            ..ServeOptions::default()
        },
        packet: PacketShape::Total(1_250),
    })
}

/// Answers everything below [`PREFIX`] with packets of 1,000 bytes.
pub(crate) fn produce() -> ApplicationKind {
    ApplicationKind::Produce(ProducePlan {
        prefix: PREFIX.parse().unwrap(),
        content: 500.into(),
        freshness: Duration::ZERO,
        packet: PacketShape::Total(1_000),
    })
}

/// Asks so many times below [`PREFIX`], and never again.
pub(crate) fn request(
    requests: u64,
    arrival: Arrival,
    popularity: Popularity,
    contents: u64,
) -> ApplicationKind {
    ApplicationKind::Request(Box::new(RequestPlan {
        prefixes: vec![PREFIX.parse().unwrap()],
        contents,
        popularity,
        arrival,
        requests: Some(requests),
        rto: None,
        retries: None,
        lifetime: Duration::from_secs(10),
        rto_scan: None,
        pending: None,
    }))
}

/// An arrival at a consumer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Got {
    pub(crate) at: Instant,
    pub(crate) segment: u64,
    pub(crate) bytes: u32,
    pub(crate) rtt: Duration,
}

/// Notes what the tests look at.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) got: Vec<Got>,
    pub(crate) timeouts: u64,
    /// Packets dropped by queues of nodes.
    pub(crate) dropped: u64,
    pub(crate) events: Vec<(Instant, NodeId, NodeEvent)>,
    /// Packets with a congestion mark that arrived somewhere.
    pub(crate) marked: u64,
}

impl Observer for Notes {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Application { report: Report::Event(event), .. } => {
                self.on_event(now, event)
            }
            Observation::Dropped { reason: DropReason::QueueFull, .. } => self.dropped += 1,
            Observation::Node { node, event } => match event {
                NodeEvent::CsHit { .. } | NodeEvent::CsMiss { .. } | NodeEvent::Marked { .. } => {
                    self.events.push((now, *node, *event));
                }
                _ => {}
            },
            Observation::Arrived { packet, .. } => {
                self.marked += u64::from(packet.hop.congestion_mark > 0);
            }
            _ => {}
        }
    }
}

impl Notes {
    fn on_event(&mut self, at: Instant, event: &Event) {
        match *event {
            Event::Received { segment, content_bytes: bytes, rtt, .. } => {
                self.got.push(Got { at, segment, bytes, rtt: rtt.duration() });
            }
            Event::TimedOut { .. } => self.timeouts += 1,
            _ => {}
        }
    }

    /// Content in bits per second of all that was got.
    pub(crate) fn goodput(&self) -> f64 {
        self.settled_goodput(0)
    }

    /// Content in bits per second, so many at the start and at the end left out.
    pub(crate) fn settled_goodput(&self, skipped: usize) -> f64 {
        let got = &self.got[skipped..self.got.len() - skipped];
        let (first, last) = (got[0], got[got.len() - 1]);
        let bytes: u64 = got[1..].iter().map(|got| u64::from(got.bytes)).sum();
        bytes as f64 * 8.0 / last.at.since(first.at).as_secs_f64()
    }
}

/// Runs a network to its end.
pub(crate) fn run(network: &Network, seed: u64) -> (Notes, Ended) {
    let mut notes = Notes::default();
    let ended = Simulation::new(network.clone(), seed).unwrap().run(&mut [&mut notes]);
    assert_eq!(ended.balance.check(), Ok(()));
    (notes, ended)
}
