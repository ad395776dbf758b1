//! Two contents whose name or time is equal, with a content store in between: never both in one file.
use crate::place::{Place, Server};
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

/// Bytes of 50 segments.
const BYTES: usize = 400_000;

/// A forwarder with a content store, and the face toward it.
fn forwarder(place: &Place) -> (Server, String) {
    let face = format!("unix://{}", place.path("node").display());
    place.write("node.toml", format!("[[listen]]\nuri = \"{face}\"\n").as_bytes());
    (place.serve("forward --config node.toml"), face)
}

/// Replaces the served file: other bytes, and the time that all files have.
fn replace(place: &Place, byte: u8, bytes: usize) {
    place.write("f", &vec![byte; bytes]);
    let file = File::options().write(true).open(place.path("f")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
}

/// Serves the content A until the content store has its first 20 segments, and then, by another process, the content B.
fn replaced(place: &Place, face: &str, bytes: usize, options: &str) -> Server {
    let serve = format!("serve f --name /f --face {face} {options}");
    replace(place, b'A', BYTES);
    let before = place.serve(&serve);
    let some = place.run(&format!("fetch /f --range 0..20 -q --face {face}"));
    assert_eq!(some.succeeds().stdout, vec![b'A'; 160_000]);
    before.stop("TERM");
    replace(place, b'B', bytes);
    place.serve(&serve)
}

#[test]
fn contents_of_equal_time_have_two_versions() {
    let place = Place::new();
    place.run("key new /k").succeeds();
    place.run("key export /k --public -o k.cert").succeeds();
    for (bytes, serve, fetch) in [
        (BYTES, "", ""),
        (BYTES + 8_000, "", ""),
        (BYTES - 1, "", "--verify digest"),
        (BYTES, "--sign /k", "--verify key=k.cert"),
        (BYTES, "--sign /k --manifest", "--verify key=k.cert"),
        (BYTES, "--snapshot", ""),
    ] {
        let (_node, face) = forwarder(&place);
        let _server = replaced(&place, &face, bytes, serve);
        place.run(&format!("fetch /f -o out {fetch} --face {face}")).succeeds();
        assert!(place.read("out") == vec![b'B'; bytes], "{bytes} {serve} {fetch}");
    }
}

/// The content store keeps segments of A for an hour, or for a moment.
#[test]
fn segments_of_two_contents_are_never_mixed() {
    let place = Place::new();
    place.run("key new /k").succeeds();
    place.run("key export /k --public -o k.cert").succeeds();
    for (serve, fetch) in [
        ("--version 7 --freshness 20ms", ""),
        ("--version none --freshness 20ms", ""),
        ("--version 7 --freshness 20ms --sign /k", "--verify key=k.cert"),
        ("--version 7 --freshness 20ms --sign /k --manifest", "--verify key=k.cert"),
        // A segment and a manifest are waited for equally.
        ("--version 7 --freshness 4s --sign /k", "--verify key=k.cert"),
        ("--version 7 --freshness 4s --sign /k --manifest", "--verify key=k.cert"),
    ] {
        let (_node, face) = forwarder(&place);
        let _server = replaced(&place, &face, BYTES, serve);
        place.run(&format!("fetch /f -o out {fetch} --face {face}")).succeeds();
        assert!(place.read("out") == vec![b'B'; BYTES], "{serve}");
        fs::remove_file(place.path("out")).unwrap();
    }
    let (_node, face) = forwarder(&place);
    let _server = replaced(&place, &face, BYTES, "--version 7 --freshness 1h");
    let words = format!("fetch /f -o out --retries 3 --face {face}");
    place.run(&words).fails(5, &["two contents have the name of /f/v=7/seg=", "--version mtime"]);
    assert!(!place.exists("out"));
    // A name with a version is fetched without metadata: the first segment decides.
    let words = format!("fetch /f/v=7 -o other --retries 3 --face {face}");
    place.run(&words).fails(5, &["two contents have the name of /f/v=7/seg="]);
    assert!(!place.exists("other"));
}

#[test]
fn resumed_fetch_keeps_to_its_content() {
    let place = Place::new();
    let (_node, face) = forwarder(&place);
    let serve = format!("serve f --name /f --version 7 --freshness 20ms --face {face}");
    replace(&place, b'A', BYTES);
    let before = place.serve(&serve);
    place.run(&format!("fetch /f --range 0..20 -q --face {face}")).succeeds();
    before.stop("TERM");
    let words = format!("fetch /f/v=7 -o out --retries 3 --face {face}");
    assert_ne!(place.run(&words).code, Some(0));
    assert!(place.part_bytes("out") > 0, "a part of A is there");
    replace(&place, b'B', BYTES);
    let _server = place.serve(&serve);
    place.run(&format!("{words} --resume")).fails(5, &["two contents have the name"]);
    assert!(!place.exists("out"));
}

/// An equal copy on another host answers for the file.
#[test]
fn equal_copies_have_one_version() {
    let place = Place::new();
    fs::create_dir_all(place.path("other")).unwrap();
    replace(&place, b'A', BYTES);
    fs::copy(place.path("f"), place.path("other/f")).unwrap();
    let file = File::options().write(true).open(place.path("other/f")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    let object = |path: &str| {
        let server = place.serve(&format!("serve {path} --name /f --listen tcp://127.0.0.1:0"));
        server.listening["name"].as_str().unwrap().to_owned()
    };
    let (one, two) = (object("f"), object("other/f"));
    assert_eq!(one, two);
    assert_eq!(object("f"), one, "and after a restart");
    replace(&place, b'B', BYTES);
    assert_ne!(object("f"), one);
}
