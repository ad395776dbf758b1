//! Names that do not exist, and content that cannot be read: the same answer directly and through forwarders.
use crate::place::{Place, Server};
use std::fs;
use std::process::Command;

/// A forwarder with a content store, as by default.
fn forwarder(place: &Place) -> (Server, String) {
    let face = format!("unix://{}", place.path("node").display());
    place.write("node.toml", format!("[[listen]]\nuri = \"{face}\"\n").as_bytes());
    (place.serve("forward --config node.toml"), face)
}

#[test]
fn absent_names_are_not_found_behind_a_cache() {
    let place = Place::new();
    fs::create_dir(place.path("a")).unwrap();
    place.write("a/one", b"one");
    let (_node, face) = forwarder(&place);
    let _served = place.serve(&format!("serve a --name /r --face {face}"));
    for (words, what) in [
        ("fetch /r/typo -o x", "/r/typo does not exist"),
        ("fetch /r/v=5 -o x", "does not exist"),
        ("fetch -r /r/none -o x", "does not exist"),
    ] {
        for _ in 0..2 {
            place.run(&format!("{words} --face {face}")).fails(3, &[what]);
        }
    }
    place.run(&format!("fetch /r/one -o x --face {face}")).succeeds();
    assert_eq!(place.read("x"), b"one");
}

#[test]
fn either_of_two_producers_is_enough() {
    let place = Place::new();
    for (folder, own) in [("a", "only-a"), ("b", "only-b")] {
        fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/{own}"), own.as_bytes());
        place.write(&format!("{folder}/both"), &vec![7; 300_000]);
    }
    let before = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_577_836_800);
    let older = fs::OpenOptions::new().write(true).open(place.path("b/both")).unwrap();
    older.set_modified(before).unwrap();
    let (_node, face) = forwarder(&place);
    let _a = place.serve(&format!("serve a --name /r --face {face}"));
    let _b = place.serve(&format!("serve b --name /r --face {face}"));
    for strategy in ["best-route", "multicast"] {
        place.run(&format!("ctl strategy set /r {strategy} --face {face}")).succeeds();
        for name in ["both", "only-a", "only-b"] {
            place.run(&format!("ctl cs erase /r --face {face}")).succeeds();
            place.run(&format!("fetch /r/{name} -o copy --face {face}")).succeeds();
            let folder = if name == "only-b" { "b" } else { "a" };
            assert!(place.read("copy") == place.read(&format!("{folder}/{name}")), "{name}");
        }
        place.run(&format!("fetch /r/none -o copy --face {face}")).fails(3, &["does not exist"]);
    }
}

#[test]
fn what_is_no_content_has_one_answer() {
    let place = Place::new();
    fs::create_dir(place.path("a")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("a/pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("a/socket")).unwrap();
    let server = place.serve("serve a --name /r --listen tcp://127.0.0.1:0");
    for name in ["pipe", "socket"] {
        let words = format!("fetch /r/{name} -o x --face {}", server.face());
        place.run(&words).fails(3, &[&format!("/r/{name} does not exist")]);
    }
}

/// `/proc` has what fails for root, too: a file whose reading fails, and files without a size.
#[cfg(target_os = "linux")]
#[test]
fn local_failure_of_a_server_is_no_absence() {
    let place = Place::new();
    place.run("serve /proc/version --name /v").fails(4, &["/proc/version", "its size of 0 bytes"]);
    let served = place.serve("serve /proc/self --name /p --listen tcp://127.0.0.1:0");
    let face = served.face();
    for name in ["/p/mem", "/p/status", "/p/mem"] {
        let ended = place.run(&format!("fetch {name} -o x --face {face}"));
        ended.fails(1, &["cannot read it", "ask its operator"]);
        assert!(!place.exists("x"));
    }
    place.run(&format!("fetch /p/none -o x --face {face}")).fails(3, &["does not exist"]);
    let log = served.stop_with_log();
    for reason in ["/mem: ", "/status is not served"] {
        assert_eq!(log.matches(reason).count(), 1, "{log}");
    }
    assert!(!log.contains("none"), "{log}");
}
