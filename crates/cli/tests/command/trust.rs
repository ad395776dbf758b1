//! Verification: accepted and rejected content, and its messages.
use crate::place::{Place, Server, noise};

fn signed(place: &Place) -> Server {
    place.write("data", &noise(20_000));
    place.run("key new /alice").succeeds();
    place.serve("serve data --name /data --listen tcp://127.0.0.1:0 --sign /alice")
}

#[test]
fn an_unknown_signer_is_reported_as_not_verified() {
    let place = Place::new();
    let server = signed(&place);
    let words = format!("fetch /data -o copy --face {}", server.face());
    let ended = place.run(&words).succeeds();
    assert!(ended.stderr.contains("; not verified, signed by an unknown key"), "{}", ended.stderr);
    let document = place.run(&format!("{words} --json")).succeeds().document();
    assert_eq!(document["verification"]["not_verified"], 3);
    let document = place.run(&format!("{words} --json --verify none")).succeeds().document();
    assert_eq!(document["verification"]["verified"], 0);
}

#[test]
fn a_key_that_is_not_there_is_named() {
    let place = Place::new();
    place.run("fetch /data -o x --verify key=missing.pem").fails(4, &["missing.pem"]);
    place.write("garbage.pem", b"no key at all");
    place.run("fetch /data -o x --verify key=./garbage.pem").fails(4, &["garbage.pem"]);
}
