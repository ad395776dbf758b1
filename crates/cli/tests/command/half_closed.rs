//! A consumer that sends no more after its Interest, and reads the answer.
use crate::place::{Place, until};
use recoup_packet::interest::Interest;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// An Interest for the first segment of `/data`.
fn question() -> Vec<u8> {
    let mut interest = Interest::new("/data/v=7/seg=0".parse().unwrap());
    interest.nonce = Some(7);
    interest.to_bytes().to_vec()
}

/// The bytes that arrive by TCP after the half is closed.
fn by_tcp(face: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(face.split_once("://").unwrap().1).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&question()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn half_closed_consumer_gets_its_data() {
    let place = Place::new();
    place.write("data", b"the content");
    let has_content = |answer: &[u8]| answer.windows(11).any(|it| it == b"the content");
    let serve = place.serve("serve data --name /data --version 7 --listen tcp://127.0.0.1:0");
    assert!(has_content(&by_tcp(serve.face())), "of the producer");

    // The forwarder has the Data only after the producer has answered.
    let socket = place.path("nfd.sock");
    let config = format!(
        "[[listen]]\nuri = \"unix://{}\"\n[[listen]]\nuri = \"tcp://127.0.0.1:0\"\n\
         [[face]]\nname = \"p\"\nuri = \"{}\"\n[[route]]\nprefix = \"/\"\nface = \"p\"\n",
        socket.display(),
        serve.face()
    );
    place.write("hub.toml", config.as_bytes());
    let hub = place.serve("forward --config hub.toml");
    let mut faces = hub.listening["faces"].as_array().unwrap().iter().filter_map(|it| it.as_str());
    let tcp = faces.find(|face| face.starts_with("tcp")).unwrap();
    // The forwarder sends a Nack as long as its face is not up.
    until("the content of the forwarder", || {
        let answer = by_tcp(tcp);
        assert!(!answer.is_empty(), "no answer of the forwarder");
        has_content(&answer)
    });
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&question()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(has_content(&answer), "by a Unix socket");
}
