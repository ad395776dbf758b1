//! A network for tests of observers, and what happens in it by hand.
use crate::network::{
    ApplicationId, ApplicationKind, ApplicationPlan, Direction, FetchPlan, LinkId, LinkOptions,
    LinkPlan, Network, NodeId, NodePlan, PacketShape, ServePlan,
};
use crate::observe::{Observation, Observer};
use bytes::Bytes;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::{AppId, FaceId};
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::packet::Packet;
use recoup_packet::data::Data;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

pub(crate) const C1: ApplicationId = ApplicationId(0);
pub(crate) const C2: ApplicationId = ApplicationId(1);
pub(crate) const P: ApplicationId = ApplicationId(2);
/// Node of the router.
pub(crate) const R: NodeId = NodeId(2);
/// The link from the router to the producer, 1 Mbit/s.
pub(crate) const BOTTLENECK: LinkId = LinkId(2);
/// The router's face on it.
pub(crate) const ROUTER_FACE: FaceId = FaceId(2);

/// Two consumers, a router and a producer: links `c1-r`, `c2-r`, `r-p`.
pub(crate) fn network() -> Network {
    let node = |name: &str| NodePlan { name: name.into(), ..NodePlan::default() };
    let channel = |rate_bits| LinkOptions { rate_bits, ..LinkOptions::default() };
    let link = |name: &str, ends: (u32, u32), rate| LinkPlan {
        name: name.into(),
        ends: (NodeId(ends.0), NodeId(ends.1)),
        forth: channel(rate),
        back: channel(rate),
        ..LinkPlan::default()
    };
    let application = |name: &str, node, kind| ApplicationPlan {
        name: name.into(),
        node: NodeId(node),
        start: Instant::ZERO,
        stop: None,
        kind,
    };
    Network {
        nodes: ["n1", "n2", "r", "p"].map(node).into(),
        links: vec![
            link("n1-r", (0, 2), 10_000_000),
            link("n2-r", (1, 2), 10_000_000),
            link("r-p", (2, 3), 1_000_000),
        ],
        applications: vec![
            application("c1", 0, fetch()),
            application("c2", 1, fetch()),
            application("p1", 3, serve()),
        ],
        follow_transmissions: true,
        ..Network::default()
    }
}

fn fetch() -> ApplicationKind {
    ApplicationKind::Fetch(Box::new(FetchPlan::new(name())))
}

fn serve() -> ApplicationKind {
    ApplicationKind::Serve(ServePlan {
        prefix: name(),
        size_bytes: 1000,
        options: ServeOptions {
            segment_bytes: 100,
            freshness: Duration::ZERO,
            version: Version::None,
            ..ServeOptions::default()
        },
        packet: PacketShape::Digest,
    })
}

fn name() -> Name {
    "/a".parse().unwrap()
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// An Interest packet.
pub(crate) fn interest() -> Packet {
    Packet::interest(Arc::new(Interest::new(name())), &NameHasher::new(1))
}

/// A Data packet with that many bytes of content.
pub(crate) fn data(content: usize) -> Packet {
    let name = name();
    let data: Data = DataBuilder::new(&name).build(&vec![7; content], &DigestSigner);
    Packet::data(data, &NameHasher::new(1))
}

/// Feeds observations to an observer.
pub(crate) struct Feed<'a, O> {
    pub(crate) observer: &'a mut O,
    pub(crate) now: Instant,
}

impl<'a, O: Observer> Feed<'a, O> {
    /// All applications have started.
    pub(crate) fn new(observer: &'a mut O) -> Self {
        let mut feed = Self { observer, now: Instant::ZERO };
        for application in [C1, C2, P] {
            feed.see(&Observation::Started { application, app: Some(AppId(0)) });
        }
        feed
    }

    pub(crate) fn see(&mut self, observation: &Observation<'_>) -> &mut Self {
        self.observer.on(self.now, observation);
        self
    }

    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.now = at(ms);
        self
    }

    pub(crate) fn report(&mut self, application: ApplicationId, report: &Report) -> &mut Self {
        self.see(&Observation::Application { application, report })
    }

    pub(crate) fn event(&mut self, application: ApplicationId, event: Event) -> &mut Self {
        self.report(application, &Report::Event(event))
    }

    pub(crate) fn send(
        &mut self,
        application: ApplicationId,
        segment: u64,
        transmissions: u32,
        rto_ms: u64,
    ) -> &mut Self {
        let rto = ms(rto_ms).into();
        self.event(application, Event::Sent { segment, transmissions, rto })
    }

    /// A segment of 1000 bytes of content in a packet of 1250 arrives.
    pub(crate) fn receive(
        &mut self,
        application: ApplicationId,
        segment: u64,
        transmissions: u32,
        (rtt_ms, delay_ms): (u64, u64),
    ) -> &mut Self {
        let (rtt, delay) = (ms(rtt_ms).into(), ms(delay_ms).into());
        let (content_bytes, wire_bytes) = (1000, 1250);
        let event =
            Event::Received { segment, content_bytes, wire_bytes, rtt, delay, transmissions };
        self.event(application, event)
    }

    pub(crate) fn window(&mut self, application: ApplicationId, window: f64) -> &mut Self {
        self.event(
            application,
            Event::Window { window, ssthresh: f64::INFINITY, delay_window: 0.0 },
        )
    }

    pub(crate) fn content(&mut self, application: ApplicationId) -> &mut Self {
        let content = Bytes::from_static(b"x");
        self.report(application, &Report::Content { segment: 0, content })
    }

    pub(crate) fn done(&mut self, application: ApplicationId) -> &mut Self {
        self.report(application, &Report::Done(Ok(())))
    }

    pub(crate) fn node(&mut self, node: NodeId, event: NodeEvent) -> &mut Self {
        self.see(&Observation::Node { node, event })
    }

    /// Data leaves the producer toward the router.
    pub(crate) fn sent(&mut self, packet: &Packet) -> &mut Self {
        self.see(&Observation::Sent { link: BOTTLENECK, direction: Direction::Back, packet })
    }

    /// The packet arrives there.
    pub(crate) fn arrived(&mut self, packet: &Packet) -> &mut Self {
        self.see(&Observation::Arrived { link: BOTTLENECK, direction: Direction::Back, packet })
    }
}
