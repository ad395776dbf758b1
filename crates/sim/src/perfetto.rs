//! Traces for the Perfetto viewer (<https://ui.perfetto.dev>): what a simulation does, over time.
//!
//! | track | below | content |
//! |---|---|---|
//! | a node | | instants: packets that it discarded, with the reason |
//! | `pending Interests` | its node | a curve |
//! | a direction of a link, such as `r1 to r2` | the sending node | instants: packets lost there |
//! | `queue` | the direction | a curve: packets |
//! | `waiting`, `on the link` | the direction | a slice for each packet |
//! | a consumer | its node | as in [`recoup_trace::consumer`] |
//!
//! Arrows join all slices of one name: a segment, its Interests and its Data, hop by hop. For this the network must follow
//! transmissions ([`Network::follow_transmissions`]); otherwise segments are not shown.
//!
//! A trace is written during the run. Memory holds what is in flight, and the last time of each of 65,536 packets in nodes,
//! by which waiting is known.
use crate::follow::{InFlight, Requests, Sightings, word};
use crate::network::{ApplicationId, Network, NodeId};
use crate::observe::{LossReason, Observation, Observer};
use crate::record::place::{Channel, Places};
use crate::record::track::{Pits, Queues};
use crate::simulation::name_hash;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_trace::consumer::Consumer;
use recoup_trace::writer::{Lane, Lanes, Note, Track, Writer, number, text};
use recoup_transport::application::Report;
use recoup_transport::time::Instant;
use std::io::{self, Write};

/// Writes a trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    writer: Writer<W>,
    places: Places,
    nodes: Vec<NodeTracks>,
    channels: Vec<ChannelTracks>,
    /// `None` for producers and other traffic.
    applications: Vec<Option<Consumer>>,
    requests: Requests,
    on_the_link: InFlight<Lane>,
    queues: Queues,
    pits: Pits,
    sightings: Sightings,
}

#[derive(Debug)]
struct NodeTracks {
    node: Track,
    pending: Track,
}

#[derive(Debug)]
struct ChannelTracks {
    channel: Track,
    queue: Track,
    waiting: Lanes,
    carried: Lanes,
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace of a simulation of `network`.
    pub fn new(network: &Network, out: W) -> Self {
        let (places, mut writer) = (Places::new(network), Writer::new(out));
        let nodes: Vec<NodeTracks> = (0..places.nodes() as u32)
            .map(|id| {
                let node = writer.track(places.node(NodeId(id)), None, None);
                let pending = writer.track("pending Interests", Some(node), Some("Interests"));
                NodeTracks { node, pending }
            })
            .collect();
        let node = |id: Option<NodeId>| {
            id.and_then(|id| nodes.get(id.0 as usize)).map(|tracks| tracks.node)
        };
        let channels = places.channels().map(|channel| {
            let name = |id: Option<NodeId>| id.map_or("?", |id| places.node(id));
            let (from, to) = (places.sender(channel), places.receiver(channel));
            let label = format!("{} to {}", name(from), name(to));
            let track = writer.track(&label, node(from), None);
            ChannelTracks {
                channel: track,
                queue: writer.track("queue", Some(track), Some("packets")),
                waiting: Lanes::new(track, "waiting"),
                carried: Lanes::new(track, "on the link"),
            }
        });
        let channels = channels.collect();
        let applications = (0..places.applications() as u32).map(ApplicationId).map(|id| {
            if !places.is_consumer(id) {
                return None;
            }
            let (name, home) = (places.application(id), node(places.home(id)));
            Some(Consumer::new(&mut writer, name, home))
        });
        let applications = applications.collect();
        Self {
            queues: Queues::new(&places),
            pits: Pits::new(&places),
            writer,
            nodes,
            channels,
            applications,
            requests: Requests::new(network),
            on_the_link: InFlight::default(),
            sightings: Sightings::default(),
            places,
        }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of `out`, after which nothing was written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    // --- packets ----------------------------------------------------------------------------------

    fn on_sent(&mut self, now: Instant, channel: Channel, packet: &Packet) {
        let seen = self.sightings.waited_since(&self.places, now, channel, packet);
        let Some(tracks) = self.channels.get_mut(channel.index()) else { return };
        let writer = &mut self.writer;
        if let Some(seen) = seen {
            let lane = tracks.waiting.take(writer, seen);
            writer.begin(seen, lane, label(packet), flow(packet), annotations(packet));
            tracks.waiting.end(writer, now, lane);
        }
        let lane = tracks.carried.take(writer, now);
        writer.begin(now, lane, label(packet), flow(packet), annotations(packet));
        self.on_the_link.send(channel, packet, lane);
    }

    /// A packet has left a link. A doubled one leaves it twice, and was sent once.
    fn on_left(
        &mut self,
        now: Instant,
        channel: Channel,
        packet: &Packet,
        lost: Option<LossReason>,
    ) {
        let Some(tracks) = self.channels.get_mut(channel.index()) else { return };
        if let Some(lane) = self.on_the_link.leave(channel, packet) {
            tracks.carried.end(&mut self.writer, now, lane);
        }
        if let Some(reason) = lost {
            let name = format!("lost: {} ({})", label(packet), reason.name());
            self.writer.instant(now, tracks.channel, name, flow(packet));
        }
    }
}

/// The arrows of a packet. Frames without a packet have no name that would join them.
fn flow(packet: &Packet) -> Option<u64> {
    (packet.kind() != Kind::Idle).then(|| name_hash(packet.name()))
}

/// Kind and last component of a packet's name.
fn label(packet: &Packet) -> String {
    let last = packet.name().last().map(|component| component.to_string());
    format!("{} {}", word(packet.kind()), last.unwrap_or_default())
}

fn annotations(packet: &Packet) -> Vec<Note> {
    vec![text("name", &packet.name().to_string()), number("bytes", packet.bytes() as u64)]
}

impl<W: Write> Observer for Perfetto<W> {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let Self { places, channels, writer, queues, requests, applications, .. } = self;
        requests.on(places, observation, |id, request| {
            if let Some(Some(consumer)) = applications.get_mut(id.0 as usize)
                && request.transmissions == 1
            {
                consumer.begin(writer, now, request.segment, Some(request.hash));
            }
        });
        self.sightings.on(places, now, observation);
        queues.on(places, observation, |channel, waiting| {
            if let Some(tracks) = channels.get(channel.index()) {
                writer.value(now, tracks.queue, waiting.packets as f64);
            }
        });
        if let Some((node, pending)) = self.pits.on(&self.places, observation)
            && let Some(tracks) = self.nodes.get(node.0 as usize)
        {
            self.writer.value(now, tracks.pending, pending as f64);
        }
        match *observation {
            Observation::Application { application, report: Report::Event(event) } => {
                if let Some(Some(consumer)) = applications.get_mut(application.0 as usize) {
                    consumer.on(&mut self.writer, now, event);
                }
            }
            Observation::Sent { link, direction, packet } => {
                self.on_sent(now, Channel::new(link, direction), packet);
            }
            Observation::Arrived { link, direction, packet } => {
                self.on_left(now, Channel::new(link, direction), packet, None);
            }
            Observation::Lost { link, direction, packet, reason } => {
                self.on_left(now, Channel::new(link, direction), packet, Some(reason));
            }
            Observation::Dropped { node, kind: _, reason } => {
                if let Some(tracks) = self.nodes.get(node.0 as usize) {
                    self.writer.instant(now, tracks.node, format!("dropped: {reason}"), None);
                }
            }
            _ => {}
        }
    }
}
