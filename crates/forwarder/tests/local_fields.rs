//! Local fields: applications with them receive IncomingFaceId.
use bytes::{Bytes, BytesMut};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::Instant;

const APP: FaceId = FaceId(1);
const REMOTE: FaceId = FaceId(2);

/// Packets sent by each face, with their IncomingFaceId.
fn feed(node: &mut Node, input: Input) -> Vec<(FaceId, Option<u64>)> {
    node.handle(Instant::ZERO, input);
    let outputs = std::iter::from_fn(|| node.poll(Instant::ZERO));
    let sent = |output| match output {
        Output::Send { face, frame } => {
            let header = LpPacket::decode(frame.into_bytes()).unwrap().header;
            Some((face, header.incoming_face_id))
        }
        _ => None,
    };
    outputs.filter_map(sent).collect()
}

fn ask(node: &mut Node, face: FaceId, name: &str, nonce: u32) -> Vec<(FaceId, Option<u64>)> {
    let mut interest = Interest::new(name.parse().unwrap());
    interest.nonce = Some(nonce);
    feed(node, Input::Frame { face, frame: interest.to_bytes() })
}

fn answer(node: &mut Node, face: FaceId, name: &str) -> Vec<(FaceId, Option<u64>)> {
    let data = DataBuilder::new(&name.parse().unwrap()).build(b"here", &DigestSigner);
    feed(node, Input::Frame { face, frame: data.wire() })
}

/// A Nack with reason NoRoute.
fn no_route(asked: &Interest) -> Bytes {
    let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
    let mut frame = BytesMut::new();
    LpPacket { header, fragment: Some(asked.to_bytes()) }.encode(&mut frame);
    frame.freeze()
}

fn switch(node: &mut Node, local_fields: bool) {
    let app = FaceAttributes { local: true, local_fields, ..FaceAttributes::wire(8_800) };
    feed(node, Input::FaceUp { face: APP, attributes: app });
}

#[test]
fn local_fields_carry_the_incoming_face() {
    let mut node =
        Node::new(NodeConfig::deterministic(0).with(|it| it.cache = CsCapacity::Packets(10)));
    let remote = FaceAttributes { permanent: true, ..FaceAttributes::wire(8_800) };
    feed(&mut node, Input::FaceUp { face: REMOTE, attributes: remote });
    switch(&mut node, true);
    for (prefix, face) in [("/", REMOTE), ("/app", APP)] {
        let prefix = prefix.parse().unwrap();
        feed(&mut node, Input::Route(RouteChange { prefix, face, cost: Some(0) }));
    }
    assert_eq!(ask(&mut node, APP, "/x", 1), [(REMOTE, None)]);
    assert_eq!(answer(&mut node, REMOTE, "/x"), [(APP, Some(2))]);
    assert_eq!(ask(&mut node, APP, "/x", 2), [(APP, Some(254))], "from the content store");
    assert_eq!(ask(&mut node, REMOTE, "/app/1", 3), [(APP, Some(2))]);
    assert_eq!(answer(&mut node, APP, "/app/1"), [(REMOTE, None)]);
    let mut asked = Interest::new("/y".parse().unwrap());
    asked.nonce = Some(6);
    feed(&mut node, Input::Frame { face: APP, frame: asked.to_bytes() });
    let nack = no_route(&asked);
    assert_eq!(feed(&mut node, Input::Frame { face: REMOTE, frame: nack }), [(APP, Some(2))]);
    let own = ask(&mut node, APP, "/app/none", 7);
    assert_eq!(own, [(APP, None)], "a Nack of the node itself");
    switch(&mut node, false);
    assert_eq!(ask(&mut node, APP, "/x", 4), [(APP, None)]);
    assert_eq!(ask(&mut node, REMOTE, "/app/2", 5), [(APP, None)]);
}
