//! Chains of three certificates under a trust schema: each side signs, and the other verifies.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::{Forwarder, Served, fetch, run, try_fetch};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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

/// Makes keys and certificates of a root, an admin and two authors; returns the files of the anchor and of the schema.
fn site(home: &Path, schema: &str) -> (String, String) {
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
    std::fs::write(home.join("policy.lvs"), schema).expect("a file");
    run(home, &["trust", "compile", &path(home, "policy.lvs"), "-o", &model]);
    (anchor, model)
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_verifies_our_chain() {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let forwarder = Forwarder::start(home, &Transport::Unix.listen_uri(home));
    let object = Object::of(30_000, home);
    let (anchor, model) = site(home, SCHEMA);
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

/// The folder with the sources of ndnd.
const NDND: &str = "RECOUP_PEER_NDND_SOURCE";

/// ndnd checks names without version and segment.
const SCHEMA_OF_NDND: &str = r##"
#site: "site"
#root: #site/#KEY
#admin: #site/"admin"/admin/#KEY <= #root
#author: #site/"author"/author/#KEY <= #admin
#object: #site/"article"/author/_ <= #author
#segment: #site/"article"/author/_/_/_ <= #author
#metadata: #site/"article"/author/_/"32=metadata"/_/_ <= #author
#KEY: "KEY"/_/_/_
"##;

/// A program with the library of ndnd.
struct Ndnd(PathBuf);

impl Ndnd {
    /// Builds it; `None` without the sources.
    fn build(folder: &Path) -> Option<Self> {
        let Some(sources) = std::env::var_os(NDND) else {
            println!("skipped: {NDND} names no folder");
            return None;
        };
        let (program, source) = (folder.join("trust"), "tests/peers/go/trust.go");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).current_dir(sources);
        go.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source));
        assert!(go.status().expect("go is installed").success());
        Some(Self(program))
    }

    fn command(&self, face: &str) -> Command {
        let mut command = Command::new(&self.0);
        command.env("NDN_CLIENT_TRANSPORT", face).stdout(Stdio::piped());
        command
    }

    /// Serves the object, signed by the author, and writes its anchor.
    fn serve(&self, face: &str, words: [&str; 4], file: &Path) -> Running {
        let [model, anchor, author, name] = words;
        let mut command = self.command(face);
        command.args(["serve", model, anchor, author, name]).arg(file);
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("a line");
        assert_eq!(line, "serving\n");
        Running(child)
    }
}

/// A process that ends with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs Go and the sources of ndnd: RECOUP_PEER_NDND_SOURCE=FOLDER"]
fn chain_of_ndnd_is_verified() {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let folder = folder.path();
    let Some(ndnd) = Ndnd::build(folder) else { return };
    let forwarder = Forwarder::start(folder, &Transport::Unix.listen_uri(folder));
    let object = Object::of(300_000, folder);
    let compiled = |file: &str, text: &str| {
        let (source, model) = (path(folder, file), path(folder, &format!("{file}.tlv")));
        std::fs::write(&source, text).expect("a file");
        run(folder, &["trust", "compile", &source, "-o", &model]);
        model
    };
    let model = compiled("policy", SCHEMA_OF_NDND);
    // The producer lets authors sign for others.
    let lax = SCHEMA_OF_NDND.replace(r#""article"/author/_"#, r#""article"/_/_"#);
    let lax = compiled("lax", &lax);
    for (author, is_allowed) in [("ann", true), ("eve", false)] {
        let (anchor, name) = (path(folder, author), format!("/site/article/ann/of-{author}"));
        let _producer = ndnd.serve(&forwarder.face, [&lax, &anchor, author, &name], &object.file);
        let trust = ["--trust", &anchor, "--schema", &model, "--retries", "8"];
        let output = try_fetch(&name, &forwarder.face, &trust);
        let log = String::from_utf8_lossy(&output.stderr);
        match is_allowed {
            true => assert!(output.stdout == object.content, "{log}"),
            false => assert_eq!(output.status.code(), Some(NOT_ALLOWED), "{log}"),
        }
    }
}

#[test]
#[ignore = "needs Go and the sources of ndnd: RECOUP_PEER_NDND_SOURCE=FOLDER"]
fn ndnd_verifies_our_chain() {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let home = folder.path();
    let Some(ndnd) = Ndnd::build(home) else { return };
    let forwarder = Forwarder::start(home, &Transport::Unix.listen_uri(home));
    let object = Object::of(300_000, home);
    let (anchor, model) = site(home, SCHEMA_OF_NDND);
    for (author, is_allowed) in [("ann", true), ("bob", false)] {
        let arguments = ["--name", "/site/article/ann/tea", "--face", &forwarder.face];
        let sign = format!("/site/author/{author}");
        let sign = [&arguments[..], &["--sign", &sign]].concat();
        let _served = Served::start_at(home, &object.file, &sign);
        let mut consumer = ndnd.command(&forwarder.face);
        consumer.args(["fetch", &model, &anchor, "/site/article/ann/tea"]).stderr(Stdio::piped());
        let output = consumer.output().expect("it runs");
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), is_allowed, "{log}");
        match is_allowed {
            true => assert!(output.stdout == object.content, "{log}"),
            false => assert!(log.contains("trust schema mismatch"), "{log}"),
        }
    }
}
