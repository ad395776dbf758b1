//! Name-based access control: each side reads what the other has encrypted for a group.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::{Peer, has_library};
use crate::recoup::{Served, run, try_run};
use serde_json::json;

/// The library of NDNts, which no registry has.
const NAC: &str = "@ndn/nac";

#[test]
#[ignore = "needs NDNts with @ndn/nac, see docs/interop.md"]
fn ndnts_reads_what_we_encrypt() {
    if !has_library(NAC) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let object = Object::of(40_000, home);
    let file = |name: &str| home.join(name).display().to_string();
    let (reader, site) = (file("reader"), file("site"));
    let mut peer = Peer::node("group.js");
    peer.ask(&json!({ "do": "member", "certificate": reader }));
    run(home, &["key", "new", "/site"]);
    run(home, &["key", "export", "/site", "--public", "-o", &site]);
    run(home, &["group", "new", "/site/reports"]);
    run(home, &["group", "add", "/site/reports", &reader]);
    let listen = Transport::Unix.listen_uri(home);
    let arguments = ["--name", &object.name, "--listen", &listen, "--sign", "/site"];
    let arguments = [&arguments[..], &["--encrypt", "/site/reports"]].concat();
    let served = Served::start_at(home, &object.file, &arguments);
    let request =
        json!({ "do": "read", "face": served.face, "name": object.name, "certificate": site });
    let answer = peer.ask(&request);
    assert_eq!(answer["sha256"], object.sha256(), "{answer}");
    peer.ask(&json!({ "do": "member", "certificate": file("other") }));
    let answer = peer.try_ask(&request);
    assert!(answer["error"].is_string(), "a stranger reads: {answer}");
}

#[test]
#[ignore = "needs NDNts with @ndn/nac, see docs/interop.md"]
fn we_read_what_ndnts_encrypts() {
    if !has_library(NAC) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let object = Object::of(40_000, home);
    let file = |name: &str| home.join(name).display().to_string();
    let keys = [("/reader", file("reader")), ("/stranger", file("stranger"))];
    for (identity, certificate) in &keys {
        run(home, &["key", "new", identity, "--type", "rsa"]);
        run(home, &["key", "export", identity, "--public", "-o", certificate]);
    }
    let mut peer = Peer::node("group.js");
    let answer = peer.ask(&json!({
        "do": "write",
        "at": Transport::Unix.listen_uri(home),
        "file": object.file,
        "name": "/ndnts/report/v=1",
        "segmentSize": SEGMENT,
        "reader": keys[0].1,
        "certificate": file("signer"),
    }));
    let face = answer["face"].as_str().expect("the answer names a face");
    let verify = format!("key={}", file("signer"));
    let fetch = ["fetch", "/ndnts/report", "--face", face, "--verify", &verify, "--retries", "2"];
    for (key, reads) in [("/reader", true), ("/stranger", false)] {
        let output = try_run(home, &[&fetch[..], &["--decrypt", key]].concat());
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout == object.content, reads, "{key}: {log}");
    }
}
