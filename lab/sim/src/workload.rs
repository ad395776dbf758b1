//! Applications of a simulation: consumers, producers, and the schedule of requests.
//!
//! A fetch and a served object are the machines of `recoup fetch` and `recoup serve`. A consumer of a catalogue is the
//! loop of a fetch with another source of requests. The others are machines of the same kind, made for experiments.
pub mod arrival;
mod fetch;
pub mod log;
pub mod popularity;
mod produce;
mod request;
mod serve;
pub mod size;

pub use produce::Produce;

use crate::network::{ApplicationKind, PacketShape};
pub use popularity::Tables;
use recoup_packet::data::SignatureShape;
use recoup_packet::name::Name;
use recoup_transport::application::Application;
use recoup_transport::random::Rng;

/// An application, ready to be attached.
pub struct Made {
    /// The machine.
    pub application: Box<dyn Application>,
    /// The prefixes that it answers.
    pub prefixes: Vec<Name>,
}

/// Makes the application of a plan; `None` for background traffic, which is attached to no node.
///
/// # Errors
/// The problem of the plan, as the end of a sentence.
pub fn make(
    kind: &ApplicationKind,
    rng: &Rng,
    tables: &mut Tables,
) -> Result<Option<Made>, String> {
    let (application, prefixes): (Box<dyn Application>, _) = match kind {
        ApplicationKind::Fetch(plan) => (Box::new(fetch::make(plan, rng)?), Vec::new()),
        ApplicationKind::Serve(plan) => (Box::new(serve::make(plan)?), vec![plan.prefix.clone()]),
        ApplicationKind::Produce(plan) => {
            plan.content.check()?;
            let produce = Produce::new(plan).map_err(|error| error.to_string())?;
            (Box::new(produce), vec![plan.prefix.clone()])
        }
        ApplicationKind::Request(plan) => (Box::new(request::make(plan, rng, tables)?), Vec::new()),
        ApplicationKind::Background(_) => return Ok(None),
    };
    Ok(Some(Made { application, prefixes }))
}

/// Whether an application is finite.
pub fn ends(kind: &ApplicationKind) -> bool {
    match kind {
        ApplicationKind::Fetch(_) => true,
        ApplicationKind::Request(plan) => plan.requests.is_some() || plan.arrival.is_finite(),
        ApplicationKind::Serve(_)
        | ApplicationKind::Produce(_)
        | ApplicationKind::Background(_) => false,
    }
}

/// The shape in the words of packets.
pub fn signature_shape(shape: PacketShape) -> SignatureShape {
    match shape {
        PacketShape::Digest => SignatureShape::Digest,
        PacketShape::Signature(bytes) => SignatureShape::Signed {
            typ: recoup_packet::signature::SignatureType::Null,
            key_locator_bytes: None,
            value_bytes: bytes as usize,
        },
        PacketShape::Total(bytes) => SignatureShape::Total { packet_bytes: bytes as usize },
    }
}
