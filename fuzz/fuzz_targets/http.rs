//! Requests for the status page, in pieces: the server sends one HTTP response, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_io::http::{HttpServer, Page};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, LazyLock};

static SERVER: LazyLock<HttpServer> = LazyLock::new(|| {
    let page = || Page { content_type: "text/plain", body: b"content".to_vec() };
    let address = "127.0.0.1:0".parse().expect("an address");
    let pages = Arc::new(move |path: &str| path.starts_with('/').then(page));
    HttpServer::start(address, pages).expect("a port")
});

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, request) = input;
    let Ok(mut stream) = TcpStream::connect(SERVER.address()) else {
        return;
    };
    let (first, second) = request.split_at(usize::from(cut).min(request.len()));
    // A server that has answered already may not listen any more.
    let _ = stream.write_all(first).and_then(|()| stream.write_all(second));
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{answer:?}");
    assert!(answer.len() < 4_096);
});
