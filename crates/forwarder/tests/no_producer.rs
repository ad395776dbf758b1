//! Nacks of a node without applications.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Instant;

const FACE: FaceId = FaceId(1);

fn outputs(upstream: bool, frame: Bytes) -> Vec<Output> {
    let mut node = Node::deterministic(0);
    let attributes = FaceAttributes { upstream, ..FaceAttributes::wire(8_800) };
    let up = Input::FaceUp { face: FACE, attributes };
    node.handle(Instant::ZERO, up);
    node.handle(Instant::ZERO, Input::Frame { face: FACE, frame });
    std::iter::from_fn(|| node.poll(Instant::ZERO)).collect()
}

fn is_drop(output: &Output) -> bool {
    matches!(output, Output::Dropped { reason: DropReason::NoRoute, .. })
}

#[test]
fn consumer_gets_a_no_route_nack() {
    let interest = Interest::new("/missing".parse().unwrap());
    let outputs = outputs(false, interest.to_bytes());
    let [Output::Send { face: FACE, frame }, dropped] = outputs.as_slice() else {
        panic!("{outputs:?}")
    };
    assert!(is_drop(dropped));
    let packet = LpPacket::decode(frame.clone().into_bytes()).unwrap();
    assert_eq!(packet.header.nack, Some(NackReason::NoRoute));
    let returned = Interest::decode(packet.fragment.unwrap()).unwrap();
    assert_eq!(returned.name, interest.name);
}

#[test]
fn upstream_forwarder_gets_no_nack() {
    let outputs = outputs(true, Interest::new("/missing".parse().unwrap()).to_bytes());
    assert!(outputs.len() == 1 && is_drop(&outputs[0]), "{outputs:?}");
}
