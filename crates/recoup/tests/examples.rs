//! The examples, run against a server of this test.
use recoup::{Client, Server};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder of the compiled examples, beside that of this test.
fn examples() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples")
}

/// An example whose forwarder is the server at `face`.
fn example(name: &str, face: &str, words: &[&str]) -> Command {
    let mut command = Command::new(examples().join(name));
    command.args(words).env("NDN_CLIENT_TRANSPORT", face).stdin(Stdio::null());
    command
}

fn run(name: &str, face: &str, words: &[&str]) -> Output {
    let output = example(name, face, words).output();
    output.expect("the examples are built: cargo build -p recoup --examples")
}

fn serve(name: &str, content: &'static str) -> (Server, String) {
    let client = Client::builder().alone().connect().unwrap();
    let server = client.serve(name).listen("udp://127.0.0.1:0").unwrap().bytes(content).unwrap();
    let face = server.faces()[0].clone();
    (server, face)
}

#[test]
fn memory_and_stream_print_the_content() {
    let (_server, face) = serve("/a", "hello");
    assert_eq!(run("memory", &face, &["/a"]).stdout, b"hello\n");
    assert_eq!(run("stream", &face, &["/a"]).stdout, b"hello");
}

#[test]
fn example_without_words_names_the_missing() {
    let output = run("download", "udp://127.0.0.1:9", &[]);
    let report = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), report.trim_end()),
        (Some(2), "name the content and a file: /name FILE")
    );
}

#[test]
fn download_writes_the_file() {
    let (_server, face) = serve("/a", "hello");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let output = run("download", &face, &["/a", path.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read(path).unwrap(), b"hello");
}

#[cfg(feature = "tokio")]
#[test]
fn cancel_ends_with_the_content_or_the_time() {
    let (_server, face) = serve("/a", "hello");
    assert_eq!(run("cancel", &face, &["/a", "60"]).stdout, b"5 bytes\n");
    let output = run("cancel", &face, &["/a", "0"]);
    assert!(output.stdout.ends_with(b"bytes\n"), "{output:?}");
}

#[cfg(feature = "object-store")]
#[test]
fn store_lists_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table"), "PAR1...").unwrap();
    let client = Client::builder().alone().connect().unwrap();
    let server = client.serve("/a").listen("udp://127.0.0.1:0").unwrap();
    let server = server.folder(folder.path()).unwrap();
    let output = run("store", &server.faces()[0], &["/a"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "         7 table b\"PAR1\"\n");
}

#[test]
fn verify_exits_with_the_code_of_the_error() {
    let (_server, face) = serve("/a", "hello");
    let output = run("verify", &face, &["/a", "/no/such/key"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

#[test]
fn servers_report_why_registration_fails() {
    for (name, words) in [("serve_folder", ["/tmp", "/b"].as_slice()), ("sensor", &["/b"])] {
        let output = run(name, "unix:///no/such/socket", words);
        assert!(!output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/socket"), "{output:?}");
    }
}

#[test]
fn examples_have_at_most_30_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 30, "{}: {lines}", path.display());
    }
}
