//! We fetch what their producer serves.

use crate::Transport;
use crate::object::{Object, SEGMENT};
use crate::peer::Peer;
use crate::recoup::fetch;
use serde_json::json;
use std::fs;

/// The largest NDN packet: nothing is fragmented.
const WHOLE: usize = 8800;

/// Space of a datagram on Ethernet: a segment of 8,000 bytes comes in six fragments.
const NARROW: usize = 1400;

/// Fetches each object discovering its version, to a file, and knowing it, to standard output.
fn fetch_every_object(transport: Transport, mtu: usize) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let mut producer = Peer::node("produce.js");
    let face = producer.listen(&transport.listen_uri(folder.path()), mtu);
    for object in Object::edges(folder.path()) {
        producer.ask(&json!({
            "do": "serve",
            "file": object.file,
            "name": object.versioned(),
            "segmentSize": SEGMENT,
        }));
        let copy = folder.path().join("copy");
        fetch(&object.name, &face, &["-o", &copy.display().to_string()]);
        let copied = fs::read(&copy).expect("the file was written");
        assert!(copied == object.content, "{}: {} bytes arrived", object.name, copied.len());
        fs::remove_file(copy).expect("the file can be removed");

        let output = fetch(&object.versioned(), &face, &[]).stdout;
        assert!(output == object.content, "{}: {} bytes arrived", object.name, output.len());
    }
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn we_fetch_what_ndnts_serves() {
    for (transport, mtu) in [
        (Transport::Unix, WHOLE),
        (Transport::Tcp, WHOLE),
        (Transport::Udp, WHOLE),
        (Transport::Udp, NARROW),
    ] {
        fetch_every_object(transport, mtu);
    }
}
