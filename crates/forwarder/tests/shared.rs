//! A wire face with several senders: fragments are reassembled by sender.
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::signature::DigestSigner;
use recoup_transport::link::Fragmenter;
use recoup_transport::time::Instant;

const CONSUMER: FaceId = FaceId(1);
const SHARED: FaceId = FaceId(2);
const MTU: usize = 1_000;

/// Frames of a node after an input.
fn feed(node: &mut Node, input: Input) -> Vec<(FaceId, Bytes)> {
    let now = Instant::from_millis(1);
    node.handle(now, input);
    let outputs = std::iter::from_fn(|| node.poll(now));
    let sent = |output| match output {
        Output::Send { face, frame } => Some((face, frame.into_bytes())),
        _ => None,
    };
    outputs.filter_map(sent).collect()
}

/// The frames of a packet, with the lowest sequence numbers.
fn cut(data: &Data) -> Vec<Bytes> {
    let mut frames = Vec::new();
    let cut =
        Fragmenter::new(MTU, 0).fragment(LpHeader::default(), data.wire(), |it| frames.push(it));
    cut.unwrap();
    frames
}

#[test]
fn fragments_of_two_senders_are_two_packets() {
    let mut node = Node::deterministic(0);
    let shared = FaceAttributes { link_type: LinkType::MultiAccess, ..FaceAttributes::wire(MTU) };
    for (face, attributes) in [(CONSUMER, FaceAttributes::wire(8_800)), (SHARED, shared)] {
        let attributes = FaceAttributes { permanent: true, ..attributes };
        feed(&mut node, Input::FaceUp { face, attributes });
    }
    let prefix = "/".parse().unwrap();
    feed(&mut node, Input::Route(RouteChange { prefix, face: SHARED, cost: Some(0) }));
    let answers = ["/a", "/b"].map(|name| {
        let mut interest = Interest::new(name.parse().unwrap());
        interest.nonce = Some(7);
        let frame = interest.to_bytes();
        assert_eq!(feed(&mut node, Input::Frame { face: CONSUMER, frame }).len(), 1);
        DataBuilder::new(&name.parse().unwrap()).build(&[7; 3_000], &DigestSigner)
    });
    let [of_a, of_b] = answers.each_ref().map(cut);
    assert!(of_a.len() > 3 && of_a.len() == of_b.len());
    let mut came = Vec::new();
    for (a, b) in of_a.into_iter().zip(of_b) {
        for (sender, frame) in [(11, a), (12, b)] {
            came.extend(feed(&mut node, Input::FrameFrom { face: SHARED, sender, frame }));
        }
    }
    assert_eq!(came, answers.map(|data| (CONSUMER, data.wire())));
}
