//! A consumer of the demo: the fetch loop of `recoup fetch`, with one transport.
use crate::demo::args::Transport;
use crate::demo::producer;
use crate::error::{Exit, Failure};
use crate::fetch::observer::Observer;
use crate::fetch::sink::MemorySink;
use crate::fetch::transfer;
use crate::link::way::WayCount;
use crate::picture::Point;
use crate::session::Session;
use recoup::Verify;
use recoup::options::{self, FetchOptions, in_order};
use recoup::tally::Tally;
use recoup_io::face::FaceUri;
use recoup_packet::signature::sha256;
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;
use std::net::SocketAddr;

/// Most content that is kept in memory, in bytes.
const LIMIT: usize = 1 << 30;

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
    pub tally: Tally,
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
        let mut session = Session::new(false)?;
        let uri: FaceUri = format!("udp://{address}")
            .parse()
            .map_err(|error| Failure::new(Exit::Other, format!("{error}")))?;
        let Transport { label, rto, congestion, loss, recovery } = self.transport;
        session.set_recovery(*recovery);
        session.open(&uri)?;
        let full = (rto.full(), congestion.full(), loss.full());
        let options = FetchOptions {
            rto: rto.clone(),
            congestion: congestion.clone(),
            loss: loss.clone(),
            verify: Verify::Digest,
            rto_check: Duration::ZERO,
            ..FetchOptions::default()
        };
        let rng = Rng::from_seed(self.seed).substream("consumer");
        let mut config = options::config(&options, producer::name(), (0, None), rng)?;
        config.delivery = in_order();
        let mut observer = Observer::tracking();
        let sink = Box::new(MemorySink::new(LIMIT));
        let (_, sink) = transfer::run(&mut session, config, sink, &mut observer, None)?;
        Ok(Consumed {
            label: label.clone(),
            rto: full.0,
            congestion: full.1,
            loss: full.2,
            recovery: recovery.to_string(),
            points: observer.points().to_vec(),
            tally: observer.tally,
            digest: sha256(&sink.into_content()),
            link: Default::default(),
        })
    }
}
