//! Chains of three certificates under a trust schema: each side signs, and the other verifies.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::{Forwarder, Served, fetch, run, try_fetch};
use serde_json::{Value, json};
use std::path::Path;

const SCHEMA: &str = r##"
#site: "site"
#root: #site/#KEY
#admin: #site/"admin"/admin/#KEY <= #root
#author: #site/"author"/author/#KEY <= #admin
#article: #site/"article"/author/_/_version/_segment
    & { _version: $eq_type("v=0"), _segment: $eq_type("seg=0") } <= #author
#metadata: #site/"article"/author/_/"32=metadata"/_/_ <= #author
#KEY: "KEY"/_/_/_
"##;

/// The exit code for content that the schema does not allow.
const NOT_ALLOWED: i32 = 5;

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn chain_of_python_ndn_is_verified() {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let folder = folder.path();
    let forwarder = Forwarder::start(folder, &Transport::Unix.listen_uri(folder));
    let object = Object::of(30_000, folder);
    let serve = |author: &str, of: &str| {
        let mut producer = Peer::python("trust.py");
        producer.ask(&json!({
            "do": "serve",
            "face": forwarder.face,
            "author": author,
            "name": format!("/site/article/{of}/tea/v=1"),
            "schema": SCHEMA,
            "anchor": folder.join(format!("{of}.cert")),
            "model": folder.join(format!("{of}.tlv")),
            "file": object.file,
            "segmentSize": SEGMENT,
        }));
        producer
    };
    let _ann = serve("ann", "ann");
    // Another author signs what would be bob's.
    let _eve = serve("eve", "bob");
    let (anchor, model) = (path(folder, "ann.cert"), path(folder, "ann.tlv"));
    let trust = ["--trust", &anchor, "--schema", &model, "-q"];
    let output = fetch("/site/article/ann/tea/v=1", &forwarder.face, &trust);
    assert!(output.stdout == object.content);
    let (anchor, model) = (path(folder, "bob.cert"), path(folder, "bob.tlv"));
    let trust = ["--trust", &anchor, "--schema", &model, "--retries", "1"];
    let output = try_fetch("/site/article/bob/tea/v=1", &forwarder.face, &trust);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(NOT_ALLOWED), "{log}");
    assert!(output.stdout.is_empty() && log.contains("trust schema"), "{log}");
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_verifies_our_chain() {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let forwarder = Forwarder::start(home, &Transport::Unix.listen_uri(home));
    let object = Object::of(30_000, home);
    for identity in ["/site", "/site/admin/eve", "/site/author/ann", "/site/author/bob"] {
        run(home, &["key", "new", identity]);
    }
    let (request, certificate) = (path(home, "request"), path(home, "certificate"));
    for (signer, identity) in [
        ("/site", "/site/admin/eve"),
        ("/site/admin/eve", "/site/author/ann"),
        ("/site/admin/eve", "/site/author/bob"),
    ] {
        run(home, &["key", "sign-request", identity, "-o", &request]);
        run(home, &["key", "issue", &request, "--signer", signer, "-o", &certificate]);
        run(home, &["key", "import", &certificate]);
        for file in [&request, &certificate] {
            std::fs::remove_file(file).expect("a file");
        }
    }
    let (anchor, model) = (path(home, "root.cert"), path(home, "policy.tlv"));
    run(home, &["key", "export", "/site", "--public", "-o", &anchor]);
    std::fs::write(home.join("policy.lvs"), SCHEMA).expect("a file");
    run(home, &["trust", "compile", &path(home, "policy.lvs"), "-o", &model]);
    let fetched = |served: &Served| -> Value {
        let mut consumer = Peer::python("trust.py");
        consumer.try_ask(&json!({
            "do": "fetch",
            "face": forwarder.face,
            "name": served.name,
            "anchor": anchor,
            "model": model,
        }))
    };
    let serve = |author: &str| {
        let arguments = ["--name", "/site/article/ann/tea", "--face", &forwarder.face];
        let sign = format!("/site/author/{author}");
        Served::start_at(home, &object.file, &[&arguments[..], &["--sign", &sign]].concat())
    };
    let served = serve("ann");
    let answer = fetched(&served);
    let hex: String = object.content.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(answer["content"] == hex, "{}", answer["error"]);
    drop(served);
    let answer = fetched(&serve("bob"));
    assert_eq!(answer["error"], "ValidationFailure", "another author signed: {answer}");
}
