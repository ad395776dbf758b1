//! Unreachable peers: exit code 6, and the origin of the face.
use crate::place::Place;
use std::fs;

#[test]
fn a_socket_that_is_not_there_is_named() {
    let place = Place::new();
    let ended = place.run("fetch /a -o x --face unix:///no/forwarder.sock");
    ended.fails(6, &["unix:///no/forwarder.sock", "no such socket"]);
    place.write("data", b"x");
    let ended = place.run("serve data --name /a --face unix:///no/forwarder.sock");
    ended.fails(6, &["unix:///no/forwarder.sock"]);
    place.run("ping /a --face unix:///no/forwarder.sock").fails(6, &["/no/forwarder.sock"]);
}

#[test]
fn port_without_a_listener_is_named() {
    let place = Place::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let words = format!("fetch /a -o x --face tcp://{free}");
    place.run(&words).fails(6, &["cannot connect", "onnection refused"]);
    let words = format!("fetch /a -o x --face ws://{free}");
    place.run(&words).fails(6, &["cannot connect"]);
    let words = format!("fetch /a -o x --face udp://{free}");
    place.run(&words).fails(6, &["no peer answers", "recoup serve"]);
    place.run("fetch /a -o x --face tcp://nowhere.invalid").fails(6, &["nowhere.invalid"]);
}

#[test]
fn configured_forwarder_is_named_with_its_file() {
    let place = Place::new();
    fs::create_dir(place.path(".ndn")).unwrap();
    place.write(".ndn/client.conf", b"; comment\ntransport=unix:///no/where.sock\n");
    let ended = place.run("fetch /a -o x");
    ended.fails(6, &["unix:///no/where.sock", "client.conf, line 2"]);
    place.write(".ndn/client.conf", b"transport=carrier-pigeon\n");
    place.run("fetch /a -o x").fails(2, &["carrier-pigeon", "client.conf, line 1"]);
    place.write(".ndn/client.conf", b"nonsense\n");
    place.run("fetch /a -o x").fails(4, &["client.conf, line 1", "key=value"]);
    fs::remove_file(place.path(".ndn/client.conf")).unwrap();
    let mut command = place.command("fetch /a -o x");
    command.env("NDN_CLIENT_TRANSPORT", "unix:///elsewhere.sock");
    let ended = crate::place::Ended::of("env", command.output().unwrap());
    ended.fails(6, &["unix:///elsewhere.sock", "NDN_CLIENT_TRANSPORT"]);
}
