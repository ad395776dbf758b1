//! Verification: accepted and rejected content, and its messages.
use crate::place::{Place, Server, noise};

fn signed(place: &Place) -> Server {
    place.write("data", &noise(20_000));
    place.run("key new /alice").succeeds();
    place.run("key new /mallory").succeeds();
    place.run("key export /alice --public -o alice.cert").succeeds();
    place.run("key export /mallory --public -o mallory.cert").succeeds();
    place.serve("serve data --name /data --listen tcp://127.0.0.1:0 --sign /alice")
}

#[test]
fn right_key_is_accepted_by_name_and_file() {
    let place = Place::new();
    let server = signed(&place);
    for key in ["alice.cert", "/alice"] {
        let words =
            format!("fetch /data -o copy --json --verify key={key} --face {}", server.face());
        let document = place.run(&words).succeeds().document();
        assert_eq!(document["verification"]["verified"], 3);
        assert_eq!(document["verification"]["not_verified"], 0);
        assert!(place.read("copy") == place.read("data"));
    }
}

#[test]
fn wrong_key_and_missing_digest_are_rejected() {
    let place = Place::new();
    let server = signed(&place);
    let fetch = |how: &str| {
        let face = server.face();
        place.run(&format!("fetch /data -o x --retries 1 --verify {how} --face {face}"))
    };
    fetch("key=mallory.cert")
        .fails(5, &["not signed by", "it names /", "wanted is mallory.cert", "trust that signer"]);
    fetch("digest").fails(5, &["cannot be trusted", "digest"]);
    assert!(!place.exists("x") && !place.has_staging("x"));
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
