//! We register what we serve with a forwarder, in the way of NFD.

use crate::Transport;
use crate::object::Object;
use crate::peer::Peer;
use crate::recoup::Served;
use serde_json::json;

fn reach_what_we_registered(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let mut forwarder = Peer::node("forward.js");
    let face = forwarder.listen(&transport.listen_uri(folder.path()), 8800);
    let object = Object::of(200_000, folder.path());
    let _served = Served::start(&object.file, &["--name", &object.name, "--face", &face]);
    let registered = forwarder.next_line();
    assert_eq!(registered["event"], "registered", "{registered}");
    assert_eq!(registered["name"], object.name, "{registered}");

    for mut consumer in [Peer::node("consume.js"), Peer::python("consume.py")] {
        let name = &object.name;
        let request = json!({ "do": "fetch", "face": face, "name": name, "discover": true });
        let answer = consumer.ask(&request);
        assert_eq!(answer["sha256"], object.sha256(), "{answer}");
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn registration_brings_interests() {
    for transport in [Transport::Unix, Transport::Tcp] {
        reach_what_we_registered(transport);
    }
}
