//! Flows: the packets of one content for one originator.
//!
//! Source: Udugama et al., hop-by-hop fairness (2013). A flow is the name of the content without the segment, and the
//! flow nonce of the originator.
use crate::hash::{NameHasher, mix};
use crate::packet::Hop;
use recoup_packet::lp::field;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;

/// The flow nonce of a packet.
pub(crate) fn nonce_of(hop: &Hop) -> Option<u64> {
    hop.extra.as_ref().and_then(|extra| field::flow_nonce(&extra.carried))
}

/// Hash of the content that a name belongs to: the name without its segment.
pub(crate) fn content(hasher: &NameHasher, name: &Name) -> u64 {
    let segment = name.last().filter(|last| Convention::of_segment(last).is_some());
    let end = name.value().len() - segment.map_or(0, |segment| segment.encoded_len());
    hasher.hash(&name.value()[..end])
}

/// Hash of a flow: that of its content, and the nonce of its originator.
pub(crate) fn flow(hasher: &NameHasher, content: u64, nonce: Option<u64>) -> u64 {
    nonce.map_or(content, |nonce| mix(content ^ hasher.hash(&nonce.to_be_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_ignores_the_segment() {
        let hasher = NameHasher::new(1);
        let of = |name: &str, nonce| flow(&hasher, content(&hasher, &name.parse().unwrap()), nonce);
        assert_eq!(of("/a/v=1/seg=1", None), of("/a/v=1/seg=2", None));
        assert_eq!(of("/a/v=1/seg=1", Some(7)), of("/a/v=1/seg=200", Some(7)));
        assert_eq!(of("/a/v=1/%00%01", None), of("/a/v=1/seg=2", None));
        let others = [of("/a/v=2/seg=1", None), of("/a/v=1/seg=1", Some(8)), of("/a/v=1/b", None)];
        for other in others {
            assert_ne!(of("/a/v=1/seg=1", None), other);
            assert_ne!(of("/a/v=1/seg=1", Some(7)), other);
        }
    }
}
