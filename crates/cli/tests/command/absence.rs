//! Names that do not exist, and content that cannot be read: the same answer directly and through forwarders.
use crate::place::Place;
use std::fs;
use std::process::Command;

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
