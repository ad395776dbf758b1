//! WebDAV clients read what the gateway answers: litmus, the test suite of WebDAV servers.

use crate::peer::Peer;
use crate::recoup::{Served, gateway};
use std::process::Command;

/// The tests of each suite that read. Those that write pass by the server in front of the gateway, which is read-only.
const READING: [(&str, &[&str]); 4] = [
    ("basic", &["options", "put_get", "put_get_utf8_segment", "delete_null", "finish"]),
    (
        "props",
        &["propfind_invalid", "propfind_invalid2", "propfind_d0", "propextended", "propwformed"],
    ),
    ("locks", &["options"]),
    ("http", &["expect100"]),
];

#[test]
#[ignore = "needs litmus: cargo xtask test interop"]
fn litmus_reads_what_the_gateway_answers() {
    if Command::new("litmus").arg("--version").output().is_err() {
        let is_required = std::env::var_os("RECOUP_REQUIRE_INTEROP").is_some();
        assert!(!is_required, "litmus is not installed (apt-get install litmus)");
        return eprintln!("skipped: litmus is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder for this test");
    let site = folder.path().join("site");
    std::fs::create_dir(&site).expect("it is new");
    let served = Served::start(&site, &["--name", "/site", "--listen", "tcp://127.0.0.1:0"]);
    let (_gateway, address) = gateway(&served.face);
    let site = site.display().to_string();
    let mut front = Peer::python_with("writable.py", &[&address, "/ndn/site", &site]);
    let port = front.next_line()["port"].as_u64().expect("the front has a port");
    for (suite, tests) in READING {
        let mut litmus = Command::new("litmus");
        litmus.args(["-k", &format!("http://127.0.0.1:{port}/ndn/site/")]).env("TESTS", suite);
        let output = litmus.current_dir(folder.path()).output().expect("litmus runs");
        let report = String::from_utf8_lossy(&output.stdout);
        for test in tests {
            let passes = |line: &str| {
                line.contains(&format!(" {test}.")) && line.trim_end().ends_with("pass")
            };
            // The result of a test with a warning stands in the line after it.
            let warned = report.split_once(&format!(" {test}.")).is_some_and(|(_, rest)| {
                rest.lines().nth(1).is_some_and(|line| line.contains("pass (with"))
            });
            assert!(warned || report.lines().any(passes), "{suite} {test}: {report}");
        }
    }
}
