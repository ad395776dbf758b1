//! Their consumers fetch what we serve.

use crate::Transport;
use crate::object::{Object, SEGMENT, VERSION};
use crate::peer::Peer;
use crate::recoup::Served;
use serde_json::json;
use std::fmt::Write;
use std::fs;

/// Fetches each object twice: discovering its version, and knowing it.
fn fetch_every_object(mut consumer: Peer, transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    for object in Object::edges(folder.path()) {
        let served = serve(&object, &transport.listen_uri(folder.path()));
        for discover in [true, false] {
            let name = if discover { object.name.clone() } else { object.versioned() };
            let face = &served.face;
            let request =
                json!({ "do": "fetch", "face": face, "name": name, "discover": discover });
            let answer = consumer.ask(&request);
            assert_eq!(answer["bytes"], object.content.len(), "{name}: {answer}");
            assert_eq!(answer["sha256"], object.sha256(), "{name}: {answer}");
            assert_eq!(answer["segments"], object.segments(), "{name}: {answer}");
            assert_eq!(answer["name"], object.versioned(), "{answer}");
        }
    }
}

fn serve(object: &Object, listen: &str) -> Served {
    let (version, segment) = (VERSION.to_string(), SEGMENT.to_string());
    let mut arguments = vec!["--name", &object.name, "--listen", listen];
    arguments.extend(["--version", &version, "--segment-size", &segment]);
    let served = Served::start(&object.file, &arguments);
    assert_eq!(served.name, object.versioned());
    served
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn file_server_client_reads_a_folder() {
    let place = tempfile::tempdir().expect("a folder for this test");
    let folder = place.path().join("served");
    fs::create_dir_all(folder.join("inner/empty")).expect("a folder");
    let inner = folder.join("inner");
    let objects = [Object::of(0, &folder), Object::of(300_000, &folder), Object::of(9, &inner)];
    let served = Served::start(&folder, &["--name", "/t", "--listen", "tcp://127.0.0.1:0"]);
    let mut client = Peer::node("fileserver.js");
    let found = client.ask(&json!({ "do": "walk", "face": served.face, "name": "/t" }));
    let expected = json!({
        "0": { "size": 0, "bytes": 0, "sha256": objects[0].sha256() },
        "300000": { "size": 300_000, "bytes": 300_000, "sha256": objects[1].sha256() },
        "inner/": null,
        "inner/9": { "size": 9, "bytes": 9, "sha256": objects[2].sha256() },
        "inner/empty/": null,
    });
    assert_eq!(found, expected);
    let (position, length) = (123_456, 20_000);
    let part = client.ask(&json!({
        "do": "part", "face": served.face, "name": "/t", "path": "300000",
        "position": position, "length": length,
    }));
    let hex = objects[1].content[position..position + length].iter().fold(
        String::new(),
        |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        },
    );
    assert_eq!(part["hex"], hex);
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_fetches_what_we_serve() {
    for transport in [Transport::Unix, Transport::Tcp, Transport::Udp] {
        fetch_every_object(Peer::python("consume.py"), transport);
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_fetches_what_we_serve() {
    for transport in [Transport::Unix, Transport::Tcp, Transport::Udp] {
        fetch_every_object(Peer::node("consume.js"), transport);
    }
}
