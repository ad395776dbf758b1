//! A repository of theirs stores and serves through our forwarder.

use crate::Transport;
use crate::object::Object;
use crate::peer::Peer;
use crate::recoup::{Forwarder, fetch};
use serde_json::json;
use std::time::Duration;

/// The repository uses one kind of face, consumers of its content use all.
fn store(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    // The repository registers names by commands that carry their signature in the name.
    let table = "[management]\nv02-commands = true\n";
    let uri = transport.listen_uri(folder.path());
    let forwarder = Forwarder::start_with(folder.path(), &uri, table);
    let object = Object::of(100_000, folder.path());
    let mut repo = Peer::python("repo.py");
    repo.ask(&json!({ "do": "start", "face": forwarder.face, "folder": folder.path() }));
    let name = object.versioned();
    let put = json!({ "do": "put", "face": forwarder.face, "file": object.file, "name": name });
    // It takes a while until the repository has registered what it listens to.
    let stored = (0..10).find_map(|_| {
        std::thread::sleep(Duration::from_secs(1));
        repo.try_ask(&put)["packets"].as_u64().filter(|packets| *packets > 0)
    });
    assert_eq!(stored, Some(25));
    // The writer is gone, and there is no cache: the content comes from the repository.
    for face in [&forwarder.face, &forwarder.udp] {
        let output = fetch(&name, face, &["-q"]).stdout;
        assert!(output == object.content, "{} bytes arrived", output.len());
    }
}

#[test]
#[ignore = "needs ndn-python-repo: cargo xtask test interop"]
fn python_repository_works() {
    for transport in [Transport::Unix, Transport::Tcp] {
        store(transport);
    }
}
