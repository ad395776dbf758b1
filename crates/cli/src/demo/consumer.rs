//! A consumer of the demo: the fetch loop of `recoup fetch`, with one transport.
use crate::demo::args::Transport;
use crate::demo::producer;
use crate::error::Failure;
use crate::format;
use crate::link::way::WayCount;
use crate::picture::Point;
use recoup::{Client, Event, FetchOptions, FetchStats, Verify};
use recoup_packet::signature::sha256;
use recoup_transport::time::{Duration, Instant};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parameters of a run.
#[derive(Debug)]
pub(crate) struct Consumer<'a> {
    /// Its transport.
    pub transport: &'a Transport,
    /// Where nonces come from.
    pub seed: u64,
}

/// A run.
#[derive(Debug)]
pub(crate) struct Consumed {
    /// Name of the transport.
    pub label: String,
    /// The timer with all its parameters.
    pub rto: String,
    /// The congestion control with all its parameters.
    pub congestion: String,
    /// The loss detector with all its parameters.
    pub loss: String,
    /// How the link recovers its losses.
    pub recovery: String,
    /// Everything that was counted.
    pub stats: FetchStats,
    /// One point per segment.
    pub points: Vec<Point>,
    /// Of what arrived.
    pub digest: [u8; 32],
    /// Counts of the link, toward the producer and back.
    pub link: (WayCount, WayCount),
}

impl Consumer<'_> {
    /// Fetches the content from the link at `address`.
    pub(crate) fn run(&self, address: SocketAddr) -> Result<Consumed, Failure> {
        let Transport { label, rto, congestion, loss, recovery } = self.transport;
        let options = FetchOptions {
            rto: rto.clone(),
            congestion: congestion.clone(),
            loss: loss.clone(),
            verify: Verify::Digest,
            rto_check: Duration::ZERO,
            ..FetchOptions::default()
        };
        let client = Client::builder()
            .face(format!("udp://{address}"))
            .recovery(*recovery)
            .options(options)
            .seed(self.seed)
            .connect()?;
        let track = Arc::<Mutex<Track>>::default();
        let own = Arc::clone(&track);
        let fetch = client.fetch(producer::name()).on_event(move |now, event| {
            lock(&own).record(now, event);
        });
        let content = fetch.to_vec()?;
        let Track { stats, points, .. } = std::mem::take(&mut *lock(&track));
        Ok(Consumed {
            label: label.clone(),
            rto: rto.full(),
            congestion: congestion.full(),
            loss: loss.full(),
            recovery: recovery.to_string(),
            points,
            stats,
            digest: sha256(&content),
            link: Default::default(),
        })
    }
}

/// Counters, and one point per segment for a picture.
#[derive(Debug, Default)]
struct Track {
    stats: FetchStats,
    points: Vec<Point>,
    /// Timeout in force at the first transmission of segments that have not arrived.
    pending: HashMap<u64, Duration>,
}

fn lock(track: &Mutex<Track>) -> MutexGuard<'_, Track> {
    track.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Track {
    fn record(&mut self, now: Instant, event: &Event) {
        self.stats.on_event(now, event);
        match *event {
            Event::Sent { segment, transmissions: 1, rto } => {
                self.pending.insert(segment, rto.into());
            }
            Event::Received { segment, content_bytes, rtt, delay, transmissions, .. } => {
                let rto = self.pending.remove(&segment).unwrap_or_default();
                self.points.push(Point {
                    segment,
                    rtt_ms: format::ms(rtt.into()),
                    delay_ms: format::ms(delay.into()),
                    rto_ms: format::ms(rto),
                    arrived_s: now.since(self.stats.started.unwrap_or(now)).as_secs_f64(),
                    transmissions,
                    bytes: content_bytes,
                });
            }
            _ => {}
        }
    }
}
