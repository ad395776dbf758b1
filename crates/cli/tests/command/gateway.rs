//! The gateway: named content over HTTP.
use crate::place::{Place, noise};
use std::io::{Read, Write};
use std::net::TcpStream;

/// The answer to a request for `path`: its head, and its content.
fn get(url: &str, path: &str, fields: &str) -> (String, Vec<u8>) {
    let address = url.strip_prefix("http://").expect("a URL");
    let mut stream = TcpStream::connect(address).expect("the gateway listens");
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("a head") + 4;
    let content = answer.split_off(end);
    (String::from_utf8(answer).expect("text"), content)
}

#[test]
fn served_content_is_reached_by_http() {
    let place = Place::new();
    let content = noise(300_000);
    std::fs::create_dir(place.path("site")).unwrap();
    place.write("site/movie.mp4", &content);
    let server = place.serve("serve site --name /site --listen tcp://127.0.0.1:0");
    let gateway = place.serve(&format!("gateway --listen 127.0.0.1:0 --face {}", server.face()));
    let url = gateway.listening["url"].as_str().unwrap();

    let (head, arrived) = get(url, "/ndn/site/movie.mp4", "");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(arrived == content);
    let (head, arrived) = get(url, "/ndn/site/movie.mp4", "Range: bytes=100000-199999\r\n");
    assert!(head.starts_with("HTTP/1.1 206 "), "{head}");
    assert!(arrived == content[100_000..200_000]);
    let (_, page) = get(url, "/ndn/site/", "");
    assert!(String::from_utf8(page).unwrap().contains("movie.mp4"));
    let (head, text) = get(url, "/ndn/site/nothing", "");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 1);

    gateway.signal("TERM");
    crate::place::until("the end", || TcpStream::connect(&url[7..]).is_err());
}

#[test]
fn unverified_content_does_not_leave_the_gateway() {
    let place = Place::new();
    place.write("data", &noise(20_000));
    place.run("key new /alice --type ed25519").succeeds();
    place.run("key new /bob --type ed25519").succeeds();
    let server = place.serve("serve data --name /data --sign /alice --listen tcp://127.0.0.1:0");
    let face = server.face();
    for (key, status) in [("/alice", "200"), ("/bob", "502")] {
        let words = format!("gateway --listen 127.0.0.1:0 --verify key={key} --face {face}");
        let gateway = place.serve(&words);
        let (head, content) = get(gateway.listening["url"].as_str().unwrap(), "/ndn/data", "");
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(content.len() == 20_000, status == "200");
    }
}

#[test]
fn taken_port_is_explained() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    place
        .run(&format!("gateway --listen {address} --face udp://127.0.0.1:9"))
        .fails(4, &["--listen"]);
}
