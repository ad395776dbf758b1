//! The producer of `recoup ping --serve`: an answer to everything below its prefix.
use bytes::BytesMut;
use recoup_packet::data::DataBuilder;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::convert::Infallible;

/// As ndnpingserver has it.
const FRESHNESS: Duration = Duration::from_secs(1);

/// The machine.
#[derive(Debug, Default)]
pub(crate) struct Responder {
    pool: BytesMut,
    outputs: VecDeque<AppOutput>,
}

impl Responder {
    /// A machine that answers with empty Data.
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

impl Application for Responder {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        let AppInput::Interest { interest, path } = input else {
            return;
        };
        let built: Result<_, Infallible> = DataBuilder::new(&interest.name)
            .freshness(FRESHNESS)
            .encode_with(&mut self.pool, 0, |_| Ok(()), &DigestSigner);
        let data = match built {
            Ok(data) => data,
            Err(never) => match never {},
        };
        self.outputs.push_back(AppOutput::Data { data, path });
        let served = Event::Served { content_bytes: 0, signed: true };
        self.outputs.push_back(AppOutput::Report(Report::Event(served)));
    }

    fn poll(&mut self, _now: Instant) -> Option<AppOutput> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
