//! Faces that an operator holds down, and frames that a driver gave up.
use super::{APP, Bench, NOON, REMOTE, about};
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::management::{ManagementOptions, Notice};
use recoup_forwarder::node::Input;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{
    ControlParameters, FaceStatus, RibEntry, Scope, Verb, command_interest,
};

/// Number of whole Interests that left for the remote face.
fn left(sent: &[(FaceId, Bytes)]) -> usize {
    sent.iter().filter(|(face, frame)| *face == REMOTE && frame.first() == Some(&0x05)).count()
}

fn express(bench: &mut Bench, name: &str) -> usize {
    bench.nonce += 1;
    let mut interest = Interest::new(name.parse().unwrap());
    interest.nonce = Some(bench.nonce);
    bench.node.handle(bench.now, Input::Frame { face: APP, frame: interest.to_bytes() });
    left(&bench.poll())
}

fn of_face(face: FaceId) -> ControlParameters {
    ControlParameters { face_id: Some(u64::from(face.0)), ..Default::default() }
}

#[test]
fn face_held_down_keeps_its_routes() {
    let mut bench = Bench::new(ManagementOptions::default());
    bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(2), ..about("/a") });
    let routes = bench.records::<RibEntry>("/localhost/nfd/rib/list");
    assert_eq!(express(&mut bench, "/a/1"), 1);
    for _ in 0..2 {
        assert_eq!(bench.done(Verb::FaceDown, &of_face(REMOTE)), of_face(REMOTE));
        assert_eq!(express(&mut bench, "/a/2"), 0);
    }
    // What comes by it is ignored, and new attributes do not bring it up; its link has them afterwards.
    let data = DataBuilder::new(&"/a/2".parse().unwrap()).build(b"x", &DigestSigner);
    bench.node.handle(bench.now, Input::Frame { face: REMOTE, frame: data.wire().clone() });
    let attributes = FaceAttributes { permanent: true, ..FaceAttributes::wire(1_400) };
    bench.node.handle(bench.now, Input::FaceUp { face: REMOTE, attributes });
    assert!(bench.poll().is_empty());
    assert_eq!(express(&mut bench, "/a/3"), 0);
    assert_eq!(bench.records::<RibEntry>("/localhost/nfd/rib/list"), routes);
    bench.done(Verb::FaceUp, &of_face(REMOTE));
    assert_eq!(express(&mut bench, "/a/4"), 1);
    let long = format!("/a/{}", "x".repeat(2_000));
    assert_eq!(express(&mut bench, &long), 0, "it leaves in fragments of 1,400 bytes");
    // A face that the driver closes is gone, held or not.
    bench.done(Verb::FaceDown, &of_face(REMOTE));
    bench.node.handle(bench.now, Input::FaceDown { face: REMOTE });
    bench.node.handle(bench.now, Notice::FaceGone { face: REMOTE }.into());
    assert_eq!(bench.records::<RibEntry>("/localhost/nfd/rib/list"), []);
    assert_eq!(bench.status_of(Verb::FaceUp, &of_face(REMOTE)), 410);
}

#[test]
fn face_list_shows_faces_that_are_down() {
    let mut bench = Bench::new(ManagementOptions::default());
    let down = |bench: &mut Bench| -> Vec<u64> {
        let faces: Vec<FaceStatus> = bench.records("/localhost/nfd/faces/list");
        faces.iter().filter(|it| it.down).map(|it| it.profile.face_id).collect()
    };
    assert!(down(&mut bench).is_empty());
    bench.done(Verb::FaceDown, &of_face(REMOTE));
    assert_eq!(down(&mut bench), [2]);
    bench.done(Verb::FaceUp, &of_face(REMOTE));
    assert!(down(&mut bench).is_empty());
    bench.node.handle(bench.now, Input::FaceDown { face: REMOTE });
    assert_eq!(down(&mut bench), [2], "its connection broke");
}

#[test]
fn only_another_known_face_is_held_down() {
    let mut bench = Bench::new(ManagementOptions::default());
    for verb in [Verb::FaceDown, Verb::FaceUp, Verb::FaceLost] {
        assert_eq!(bench.status_of(verb, &ControlParameters::default()), 400);
        let named = |face| ControlParameters { name: about("/a").name, ..of_face(face) };
        assert_eq!(bench.status_of(verb, &named(FaceId(77))), 410);
        assert_eq!(bench.status_of(verb, &named(APP)), 409);
    }
    assert_eq!(bench.status_of(Verb::FaceLost, &of_face(REMOTE)), 400, "without a name");
}

#[test]
fn given_up_frame_returns_its_interest() {
    let mut bench = Bench::new(ManagementOptions::default());
    bench.done(Verb::RibRegister, &ControlParameters { face_id: Some(2), ..about("/a") });
    assert_eq!(express(&mut bench, "/a/1"), 1);
    let name = Some("/a/1".parse().unwrap());
    let answer = |sent: Vec<(FaceId, Bytes)>| -> Vec<FaceId> {
        sent.into_iter().map(|(face, _)| face).collect()
    };
    // The consumer gets a Nack beside the answer; without a pending Interest the neighbour gets the notice.
    for expected in [APP, REMOTE] {
        let parameters = ControlParameters { name: name.clone(), ..of_face(REMOTE) };
        let unique = Uniqueness {
            nonce: Some(&[expected.0 as u8; 8]),
            time: Some(NOON / 1_000 + 60 + u64::from(expected.0)),
            seq_num: None,
        };
        let mut command =
            command_interest(Scope::Localhost, Verb::FaceLost, &parameters, &DigestSigner, unique);
        command.nonce = Some(9_000 + expected.0);
        bench.node.handle(bench.now, Input::Frame { face: APP, frame: command.to_bytes() });
        let mut faces = answer(bench.poll());
        faces.retain(|face| *face != APP || expected == APP);
        assert!(faces.contains(&expected), "{faces:?}");
        let wanted = if expected == APP { 2 } else { 1 };
        assert_eq!(faces.len(), wanted, "{faces:?}");
    }
}
