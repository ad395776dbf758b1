//! Peers that break the rules of WebSocket: the driver survives their bytes, delivers no frame beyond the size limit, and
//! closes their faces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_fuzz::Script;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::LARGEST_FRAME_RECEIVED;
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

const GREETING: &[u8] =
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// Counts faces and checks the size of frames.
#[derive(Default)]
struct FaceCounter {
    up: usize,
    down: usize,
}

impl Machine for FaceCounter {
    fn handle(&mut self, _: Instant, input: Input) {
        match input {
            Input::Frame { frame, .. } => assert!(frame.len() <= LARGEST_FRAME_RECEIVED),
            Input::FaceUp { .. } => self.up += 1,
            Input::FaceDown { .. } => self.down += 1,
            _ => {}
        }
    }

    fn poll(&mut self, _: Instant) -> Option<Output> {
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

struct Server {
    driver: Driver,
    counter: FaceCounter,
    address: SocketAddr,
}

thread_local! {
    static SERVER: RefCell<Server> = RefCell::new(Server::new());
}

fuzz_target!(|bytes: &[u8]| SERVER.with_borrow_mut(|server| server.meet(bytes)));

impl Server {
    fn new() -> Self {
        let mut driver = Driver::with_options(DriverOptions::default()).expect("a driver");
        let uri = "ws://127.0.0.1:0".parse().expect("a URI");
        let listener = driver.listen(&uri).expect("a port");
        driver.set_longest_wait(Some(Duration::from_millis(1)));
        let address = listener.address.expect("an address of the internet");
        Self { driver, counter: FaceCounter::default(), address }
    }

    fn turn(&mut self) {
        let done = self.driver.turn(&mut self.counter, &mut |_, _, _| {});
        done.expect("the driver continues");
        while self.driver.next_event().is_some() {}
    }

    fn meet(&mut self, bytes: &[u8]) {
        let mut script = Script::new(bytes);
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        if script.below(4) > 0 {
            stream.write_all(GREETING).expect("space in the socket");
        }
        while !script.is_over() {
            let piece = if script.below(2) == 0 { script.bytes() } else { script.rest() };
            let _ = stream.write_all(piece);
            self.turn();
        }
        let _ = stream.shutdown(Shutdown::Write);
        let mut turns = 0;
        while self.driver.faces().next().is_some() || turns < 2 {
            self.turn();
            turns += 1;
            assert!(turns < 5_000, "a face that outlives its peer");
        }
        assert_eq!(self.counter.up, self.counter.down);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}
