//! A producer of single packets, made by a function.
use bytes::{Bytes, BytesMut};
use recoup_packet::data::{ContentType, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::signature::{DigestSigner, Signer};
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::serve::{ServeOptions, Unknown};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest packet, in bytes.
const PACKET_BYTES: usize = 8_800;

/// The function of a [`Responder`].
pub(crate) type Answer = Box<dyn FnMut(&Interest) -> Option<Bytes> + Send>;

/// A producer that answers each Interest with one packet, made by a function.
pub struct Responder {
    pub(super) answer: Answer,
    pub(super) freshness: Duration,
    pub(super) signer: Box<dyn Signer>,
    pub(super) unknown: Unknown,
    pub(super) pool: BytesMut,
    pub(super) outputs: VecDeque<AppOutput>,
}

impl Default for Responder {
    /// Answers with empty, signed Data that is fresh for 1 s, as ndnpingserver does.
    fn default() -> Self {
        Self {
            answer: Box::new(|_| Some(Bytes::new())),
            freshness: Duration::from_secs(1),
            signer: Box::new(DigestSigner),
            unknown: Unknown::Nack,
            pool: BytesMut::new(),
            outputs: VecDeque::new(),
        }
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("freshness", &self.freshness).finish_non_exhaustive()
    }
}

impl Responder {
    fn respond(&mut self, interest: &Interest, path: ReturnPath) {
        let called = catch_unwind(AssertUnwindSafe(|| (self.answer)(interest)));
        let content = called.unwrap_or_else(|_| {
            tracing::error!(name = %interest.name, "the function that answers Interests has panicked");
            None
        });
        self.answer_with(interest, path, content);
    }

    /// Answers with one packet; `None`: there is no such content.
    pub(crate) fn answer_with(
        &mut self,
        interest: &Interest,
        path: ReturnPath,
        content: Option<Bytes>,
    ) {
        let builder = DataBuilder::new(&interest.name).freshness(self.freshness);
        let content = content.filter(|content| {
            let fits = builder.max_len(content.len(), self.signer.as_ref()) <= PACKET_BYTES;
            if !fits {
                tracing::error!(name = %interest.name, bytes = content.len(), "the answer exceeds a packet");
            }
            fits
        });
        let event = match &content {
            Some(content) => Event::Served { content_bytes: content.len() as u32, signed: true },
            None => Event::Unknown,
        };
        self.outputs.push_back(AppOutput::Report(Report::Event(event)));
        let (builder, content) = match content {
            Some(content) => (builder, content),
            None if self.unknown == Unknown::Nack => (
                builder.content_type(ContentType::Nack).freshness(ServeOptions::METADATA_FRESHNESS),
                Bytes::new(),
            ),
            None => return,
        };
        let fill = |into: &mut [u8]| {
            into.copy_from_slice(&content);
            Ok::<_, Infallible>(())
        };
        let built = builder.encode_with(&mut self.pool, content.len(), fill, self.signer.as_ref());
        let data = match built {
            Ok(data) => data,
            Err(never) => match never {},
        };
        self.outputs.push_back(AppOutput::Data { data, path });
    }
}

impl Application for Responder {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        if let AppInput::Interest { interest, path } = input {
            self.respond(&interest, path);
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<AppOutput> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
