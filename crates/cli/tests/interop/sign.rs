//! Each side signs with a key, and the other accepts nothing else.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::{Served, fetch, run, try_fetch};
use serde_json::json;
use std::path::Path;

/// The exit code for content that the given key did not sign.
const NOT_SIGNED: i32 = 5;

fn ndnts_verifies_what_we_sign_with(algorithm: &str) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let object = Object::of(20_000, home);
    let (certificate, other) = (home.join("certificate"), home.join("other"));
    for (identity, file) in [("/alice", &certificate), ("/mallory", &other)] {
        run(home, &["key", "new", identity, "--type", algorithm]);
        let file = file.display().to_string();
        run(home, &["key", "export", identity, "--public", "-o", &file]);
    }
    let listen = Transport::Unix.listen_uri(home);
    let arguments = ["--name", &object.name, "--listen", &listen, "--sign", "/alice"];
    let served = Served::start_at(home, &object.file, &arguments);

    let mut consumer = Peer::node("consume.js");
    let request = |certificate: &Path| {
        json!({
            "do": "fetch",
            "face": served.face,
            "name": object.name,
            "discover": true,
            "certificate": certificate,
        })
    };
    let answer = consumer.ask(&request(&certificate));
    assert_eq!(answer["sha256"], object.sha256(), "{answer}");
    let answer = consumer.try_ask(&request(&other));
    assert!(answer["error"].is_string(), "another key did: {answer}");
}

fn we_verify_what_ndnts_signs_with(algorithm: &str) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let object = Object::of(20_000, folder.path());
    let file = |name: &str| folder.path().join(name);
    let mut producer = Peer::node("produce.js");
    let face = producer.listen(&Transport::Unix.listen_uri(folder.path()), 8800);
    for (name, certificate) in [(object.versioned(), "certificate"), ("/other/v=1".into(), "other")]
    {
        producer.ask(&json!({
            "do": "serve",
            "file": object.file,
            "name": name,
            "segmentSize": SEGMENT,
            "algorithm": algorithm,
            "certificate": file(certificate),
        }));
    }
    let key = |name: &str| format!("key={}", file(name).display());
    let output = fetch(&object.name, &face, &["--verify", &key("certificate")]);
    assert!(output.stdout == object.content);
    let output = try_fetch(&object.name, &face, &["--verify", &key("other"), "--retries", "1"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(NOT_SIGNED), "{log}");
    assert!(output.stdout.is_empty(), "something came through: {log}");
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_verifies_what_we_sign() {
    for algorithm in ["ecdsa", "ed25519"] {
        ndnts_verifies_what_we_sign_with(algorithm);
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn we_verify_what_ndnts_signs() {
    for algorithm in ["ecdsa", "ed25519", "rsa"] {
        we_verify_what_ndnts_signs_with(algorithm);
    }
}
