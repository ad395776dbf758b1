//! A served object: the producer loop of `recoup serve`, with content of which only the length matters.
use super::signature_shape;
use crate::network::ServePlan;
use recoup_packet::data::{ContentType, Data, DescribeError, MAX_DESCRIBED_CONTENT, Template};
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::serve::{Form, Library, Opened, Serve, ServeConfig, Zeros};

pub(super) fn make(plan: &ServePlan) -> Result<Serve, String> {
    let segment_bytes = usize::try_from(plan.options.segment_bytes).unwrap_or(usize::MAX);
    if !(1..=MAX_DESCRIBED_CONTENT).contains(&segment_bytes) {
        return Err(format!("a segment has 1 to {MAX_DESCRIBED_CONTENT} bytes of content"));
    }
    let form = Form::Described(signature_shape(plan.packet));
    let config = plan.options.config(plan.prefix.clone(), Box::new(DigestSigner), 0);
    let config = ServeConfig { form, ..config };
    describe_last(plan, segment_bytes).map_err(|error| error.to_string())?;
    let object = Blank { bytes: plan.size_bytes, version: plan.version() };
    Ok(Serve::new(config, Box::new(object)))
}

/// The segment with the longest name, with as much content as one holds: if there is such a packet, there are the others.
fn describe_last(plan: &ServePlan, segment_bytes: usize) -> Result<Data, DescribeError> {
    let last = plan.size_bytes.div_ceil(plan.options.segment_bytes).saturating_sub(1);
    let last = Convention::Typed.segment(last);
    let version = plan.version().map(|version| Convention::Typed.version(version));
    let object = version.map_or_else(|| plan.prefix.clone(), |it| plan.prefix.append(it));
    let content_bytes = usize::try_from(plan.size_bytes).unwrap_or(usize::MAX).min(segment_bytes);
    let (name, shape) = (object.append(last), signature_shape(plan.packet));
    let template = Template::new(ContentType::Blob, plan.options.freshness, Some(last), shape);
    template.describe(name, content_bytes)
}

/// An object of zeros.
#[derive(Debug)]
struct Blank {
    bytes: u64,
    version: Option<u64>,
}

impl Library for Blank {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(Zeros { bytes: self.bytes }),
            version: self.version,
            suffix: None,
            mtime_ns: None,
            mode: None,
        })
    }
}
