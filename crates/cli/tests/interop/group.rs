//! Name-based access control: each side reads what the other has encrypted for a group.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::{Served, run, try_run};
use serde_json::json;
use tempfile::TempDir;

/// A folder with an object of several segments, and a peer.
struct Scene {
    folder: TempDir,
    object: Object,
    peer: Peer,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for this test");
        let object = Object::of(40_000, folder.path());
        Self { folder, object, peer: Peer::node("group.js") }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_reads_what_we_encrypt() {
    let mut scene = Scene::new();
    let (reader, other, site) = (scene.file("reader"), scene.file("other"), scene.file("site"));
    let home = scene.folder.path();
    scene.peer.ask(&json!({ "do": "member", "certificate": reader }));
    run(home, &["key", "new", "/site"]);
    run(home, &["key", "export", "/site", "--public", "-o", &site]);
    run(home, &["group", "new", "/site/reports"]);
    run(home, &["group", "add", "/site/reports", &reader]);
    let listen = Transport::Unix.listen_uri(home);
    let arguments = ["--name", &scene.object.name, "--listen", &listen, "--sign", "/site"];
    let arguments = [&arguments[..], &["--encrypt", "/site/reports", "--encrypt-cbc"]].concat();
    let served = Served::start_at(home, &scene.object.file, &arguments);
    let name = &scene.object.name;
    let request = json!({ "do": "read", "face": served.face, "name": name, "certificate": site });
    let answer = scene.peer.ask(&request);
    assert_eq!(answer["sha256"], scene.object.sha256(), "{answer}");
    scene.peer.ask(&json!({ "do": "member", "certificate": other }));
    let answer = scene.peer.try_ask(&request);
    assert!(answer["error"].is_string(), "a stranger reads: {answer}");
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn we_read_what_ndnts_encrypts() {
    let mut scene = Scene::new();
    let (reader, signer) = (scene.file("reader"), scene.file("signer"));
    let home = scene.folder.path();
    for identity in ["/reader", "/stranger"] {
        run(home, &["key", "new", identity, "--type", "rsa"]);
    }
    run(home, &["key", "export", "/reader", "--public", "-o", &reader]);
    let answer = scene.peer.ask(&json!({
        "do": "write",
        "at": Transport::Unix.listen_uri(home),
        "file": scene.object.file,
        "name": "/ndnts/report/v=1",
        "segmentSize": SEGMENT,
        "reader": reader,
        "certificate": signer,
    }));
    let face = answer["face"].as_str().expect("the answer names a face");
    let verify = format!("key={signer}");
    let fetch = ["fetch", "/ndnts/report", "--face", face, "--verify", &verify, "--retries", "2"];
    for (key, reads) in [("/reader", true), ("/stranger", false)] {
        let output = try_run(home, &[&fetch[..], &["--decrypt", key]].concat());
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout == scene.object.content, reads, "{key}: {log}");
    }
}
