//! A consumer of the demo: the fetch loop of `recoup fetch`, with one timer.
use crate::demo::producer;
use crate::error::{Exit, Failure};
use crate::fetch::observer::Observer;
use crate::fetch::plan::{parse_congestion, parse_rto};
use crate::fetch::sink::MemorySink;
use crate::fetch::{in_order, transfer};
use crate::link::way::WayCount;
use crate::picture::Point;
use crate::session::Session;
use crate::tally::Tally;
use recoup_io::face::FaceUri;
use recoup_packet::signature::{DigestVerifier, sha256};
use recoup_transport::fetch::FetchConfig;
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;
use std::net::SocketAddr;

/// Most content that is kept in memory, in octets.
const LIMIT: usize = 1 << 30;

/// What decides about a run.
#[derive(Debug)]
pub(crate) struct Consumer<'a> {
    /// The timer.
    pub spec: &'a str,
    /// The window.
    pub congestion: &'a str,
    /// Where nonces come from.
    pub seed: u64,
}

/// A run.
#[derive(Debug)]
pub(crate) struct Consumed {
    /// The timer as it was asked for.
    pub label: String,
    /// The timer with all its parameters.
    pub rto: String,
    /// Everything that was counted.
    pub tally: Tally,
    /// One point per segment.
    pub points: Vec<Point>,
    /// Of what arrived.
    pub digest: [u8; 32],
    /// What the link did, toward the producer and back.
    pub link: (WayCount, WayCount),
}

impl Consumer<'_> {
    /// Fetches the content from the link at `address`.
    pub(crate) fn run(&self, address: SocketAddr) -> Result<Consumed, Failure> {
        let mut session = Session::new(false)?;
        let uri: FaceUri = format!("udp://{address}")
            .parse()
            .map_err(|error| Failure::new(Exit::Other, format!("{error}")))?;
        session.open(&uri)?;
        let (rto, congestion) = (parse_rto(self.spec)?, parse_congestion(self.congestion)?);
        let full = rto.to_string();
        let rng = Rng::from_seed(self.seed).substream("consumer");
        let config = FetchConfig {
            delivery: in_order(),
            verifier: Box::new(DigestVerifier),
            lifetime: Duration::from_secs(4),
            ..FetchConfig::new(producer::name(), rto, congestion, rng)
        };
        let mut observer = Observer::tracking();
        let sink = Box::new(MemorySink::new(LIMIT));
        let (_, sink) = transfer::run(&mut session, config, sink, &mut observer)?;
        Ok(Consumed {
            label: self.spec.to_owned(),
            rto: full,
            points: observer.points().to_vec(),
            tally: observer.tally,
            digest: sha256(&sink.into_content()),
            link: Default::default(),
        })
    }
}
