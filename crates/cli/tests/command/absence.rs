//! Content that cannot be read is not absent.
use crate::place::Place;

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
