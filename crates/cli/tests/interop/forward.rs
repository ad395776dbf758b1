//! Their producers register with our forwarder, and everybody fetches through it.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::{Forwarder, fetch, try_fetch};
use serde_json::json;

/// Everybody fetches the versioned object through the forwarder.
fn all_fetch(object: &Object, face: &str) {
    let name = object.versioned();
    let python = (!face.starts_with("ws")).then(|| Peer::python("consume.py"));
    for mut consumer in std::iter::once(Peer::node("consume.js")).chain(python) {
        let request = json!({ "do": "fetch", "face": face, "name": name, "discover": false });
        let answer = consumer.ask(&request);
        assert_eq!(answer["sha256"], object.sha256(), "{answer}");
    }
    let output = fetch(&name, face, &["-q"]).stdout;
    assert!(output == object.content, "{} bytes arrived", output.len());
}

fn serve_with_python(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let forwarder = Forwarder::start(folder.path(), &transport.listen_uri(folder.path()));
    let object = Object::of(100_000, folder.path());
    let mut producer = Peer::python("produce.py");
    producer.ask(&json!({
        "do": "serve",
        "face": forwarder.face,
        "file": object.file,
        "name": object.versioned(),
        "segmentSize": 4000,
    }));
    all_fetch(&object, &forwarder.face);
    all_fetch(&object, &forwarder.udp);
}

fn serve_with_ndnts(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let forwarder = Forwarder::start(folder.path(), &transport.listen_uri(folder.path()));
    let object = Object::of(200_000, folder.path());
    let mut producer = Peer::node("produce.js");
    producer.ask(&json!({ "do": "register", "face": forwarder.face }));
    producer.ask(&json!({
        "do": "serve",
        "file": object.file,
        "name": object.versioned(),
        "segmentSize": SEGMENT,
    }));
    // It reports serving before the forwarder has answered.
    let ready = || try_fetch(&object.name, &forwarder.face, &["-q"]).status.success();
    assert!((0..50).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        ready()
    }));
    all_fetch(&object, &forwarder.face);
    all_fetch(&object, &forwarder.udp);
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_serves_by_our_forwarder() {
    for transport in [Transport::Unix, Transport::Tcp] {
        serve_with_python(transport);
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_serves_by_our_forwarder() {
    for transport in [Transport::Unix, Transport::Tcp, Transport::Udp, Transport::WebSocket] {
        serve_with_ndnts(transport);
    }
}
