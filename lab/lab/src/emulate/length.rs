//! How long packets are: as a network has them, and as processes send them.
use super::plan::ConsumerPart;
use recoup_packet::data::{ContentType, DataBuilder, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_sim::network::{PacketShape, ServePlan};
use recoup_sim::workload::signature_shape;

const CONVENTION: Convention = Convention::Typed;
/// A segment whose number takes two bytes, as those of most objects do.
const TYPICAL: u64 = 1_000;

/// Bytes by which a Data packet of the network is longer than one of `recoup serve`. Numbers of segments take one, two
/// or more bytes in both.
///
/// # Errors
/// If it is shorter.
pub(super) fn missing(plan: &ServePlan) -> Result<u32, String> {
    let shape = signature_shape(plan.packet);
    if shape == SignatureShape::Digest {
        return Ok(0);
    }
    let (planned, made) = (planned(plan, shape)?, made(plan));
    let missing = planned.checked_sub(made).and_then(|bytes| u32::try_from(bytes).ok());
    missing.ok_or_else(|| match plan.packet {
        PacketShape::Total(bytes) => {
            format!("packets of {bytes} bytes are too short for their content")
        }
        _ => "its signature is shorter than a digest".into(),
    })
}

fn object(plan: &ServePlan) -> Name {
    match plan.version() {
        Some(version) => plan.prefix.append(CONVENTION.version(version)),
        None => plan.prefix.clone(),
    }
}

fn planned(plan: &ServePlan, shape: SignatureShape) -> Result<usize, String> {
    let name = object(plan).append(CONVENTION.segment(TYPICAL));
    let last = Some(CONVENTION.segment(TYPICAL));
    let template = Template::new(ContentType::Blob, plan.options.freshness, last, shape);
    let data = template.describe(name, plan.options.segment_bytes as usize);
    data.map(|data| data.encoded_len()).map_err(|error| error.to_string())
}

fn made(plan: &ServePlan) -> usize {
    let name = object(plan).append(CONVENTION.segment(TYPICAL));
    let builder = DataBuilder::new(&name).freshness(plan.options.freshness);
    let builder = builder.final_block(CONVENTION.segment(TYPICAL));
    builder.build(&vec![0; plan.options.segment_bytes as usize], &DigestSigner).encoded_len()
}

/// Bytes of the longest Interest for a segment.
pub(super) fn longest_interest(consumers: &[ConsumerPart]) -> u32 {
    let of = |ConsumerPart { plan, .. }: &ConsumerPart| {
        let mut interest = Interest::new(plan.object.append(CONVENTION.segment(TYPICAL)));
        (interest.nonce, interest.lifetime) = (Some(0), Some(plan.options.lifetime));
        u32::try_from(interest.encoded_len()).unwrap_or(u32::MAX)
    };
    consumers.iter().map(of).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::serve::{ServeOptions, Version};
    use recoup_transport::time::Duration;

    fn plan(packet: PacketShape) -> ServePlan {
        ServePlan {
            prefix: "/p1/file".parse().unwrap(),
            size_bytes: 10 << 20,
            options: ServeOptions {
                segment_bytes: 1024,
                freshness: Duration::from_secs(10),
                version: Version::None,
                ..ServeOptions::default()
            },
            packet,
        }
    }

    #[test]
    fn packet_length_differs_by_the_missing_bytes() {
        let made = made(&plan(PacketShape::Digest));
        assert!((1_080..1_130).contains(&made), "{made}");
        assert_eq!(missing(&plan(PacketShape::Total(1_448))), Ok(1_448 - made as u32));
        assert_eq!(missing(&plan(PacketShape::Digest)), Ok(0));
        let shorter = missing(&plan(PacketShape::Total(made as u32 - 10)));
        assert!(shorter.unwrap_err().contains("too short"));
        assert!(missing(&plan(PacketShape::Total(1_000))).is_err());
    }
}
