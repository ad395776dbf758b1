//! A served object: the producer loop of `recoup serve`, with content of which only the length matters.
use super::signature_shape;
use crate::network::ServePlan;
use recoup_packet::data::{ContentType, Data, DescribeError, MAX_DESCRIBED_CONTENT, Template};
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::serve::{Form, Library, Opened, Serve, ServeConfig, Unknown, Zeros};
use recoup_transport::time::Duration;

/// Freshness period of metadata, as in `recoup serve`.
const METADATA_FRESHNESS: Duration = Duration::from_millis(10);

pub(super) fn make(plan: &ServePlan) -> Result<Serve, String> {
    let segment_bytes = usize::try_from(plan.segment_octets).unwrap_or(usize::MAX);
    if !(1..=MAX_DESCRIBED_CONTENT).contains(&segment_bytes) {
        return Err(format!("a segment has 1 to {MAX_DESCRIBED_CONTENT} octets of content"));
    }
    let config = ServeConfig {
        prefix: plan.prefix.clone(),
        convention: Convention::Typed,
        segment_bytes,
        freshness: plan.freshness,
        metadata_freshness: METADATA_FRESHNESS,
        unknown: Unknown::Nack,
        form: Form::Described(signature_shape(plan.packet)),
        signer: Box::new(DigestSigner),
        manifest_signer: None,
        epoch_micros: 0,
    };
    describe_last(plan, segment_bytes).map_err(|error| error.to_string())?;
    let object = Blank { octets: plan.size_octets, version: plan.version };
    Ok(Serve::new(config, Box::new(object)))
}

/// The segment with the longest name, with as much content as one holds: if there is such a packet, there are the others.
fn describe_last(plan: &ServePlan, segment_bytes: usize) -> Result<Data, DescribeError> {
    let last = plan.size_octets.div_ceil(plan.segment_octets).saturating_sub(1);
    let last = Convention::Typed.segment(last);
    let version = plan.version.map(|version| Convention::Typed.version(version));
    let object = version.map_or_else(|| plan.prefix.clone(), |it| plan.prefix.append(it));
    let content_octets = usize::try_from(plan.size_octets).unwrap_or(usize::MAX).min(segment_bytes);
    let (name, shape) = (object.append(last), signature_shape(plan.packet));
    let template = Template::new(ContentType::Blob, plan.freshness, Some(last), shape);
    template.describe(name, content_octets)
}

/// An object of zeros.
#[derive(Debug)]
struct Blank {
    octets: u64,
    version: Option<u64>,
}

impl Library for Blank {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(Zeros { bytes: self.octets }),
            version: self.version,
            suffix: None,
            mtime_ns: None,
            mode: None,
        })
    }
}
