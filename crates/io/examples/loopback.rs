//! How fast the driver alone moves frames over loopback: one thread asks with short frames, another
//! answers each with a long one. No packets are decoded, nothing is hashed or written.
//!
//! `cargo run --release -p recoup-io --example loopback [URI [BYTES [WINDOW [SECONDS]]]]`
use bytes::Bytes;
use recoup_forwarder::face::FaceId;
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_io::driver::Driver;
use recoup_packet::tlv;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answers every frame, or sends an Interest for every answer.
struct Player {
    reply: Bytes,
    window: usize,
    outputs: VecDeque<Output>,
    frames: u64,
    bytes: u64,
}

impl Player {
    fn new(typ: u64, bytes: usize, window: usize) -> Self {
        let mut frame = Vec::new();
        tlv::put_tlv(&mut frame, typ, &vec![0; bytes]);
        Self { reply: frame.into(), window, outputs: VecDeque::new(), frames: 0, bytes: 0 }
    }

    fn send(&mut self, face: FaceId) {
        self.outputs.push_back(Output::Send { face, frame: self.reply.clone().into() });
    }
}

impl Machine for Player {
    fn handle(&mut self, _now: Instant, input: Input) {
        match input {
            Input::FaceUp { face, .. } => (0..self.window).for_each(|_| self.send(face)),
            Input::Frame { face, frame } => {
                self.frames += 1;
                self.bytes += frame.len() as u64;
                self.send(face);
            }
            _ => {}
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let uri = arguments.next().unwrap_or_else(|| "udp4://127.0.0.1:0".into());
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (bytes, window, seconds) = (number(8_000)?, number(64)?, number(3)? as u64);

    let mut server = Driver::new()?;
    let listener = server.listen(&uri.parse()?)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (waker, stopped) = (server.waker(), Arc::clone(&stop));
    let answers = std::thread::spawn(move || {
        let mut player = Player::new(tlv::typ::DATA, bytes, 0);
        while !stopped.load(Ordering::Relaxed) {
            server.turn(&mut player, &mut |_, _, _| {}).expect("the server's turn");
        }
        server.totals()
    });

    let mut client = Driver::new()?;
    client.connect(&listener.uri)?;
    client.set_longest_wait(Some(Duration::from_millis(100)));
    let mut player = Player::new(tlv::typ::INTEREST, 60, window);
    let (mut turns, start) = (0_u64, client.now());
    while client.now().since(start) < Duration::from_secs(seconds) {
        client.turn(&mut player, &mut |_, _, _| {})?;
        turns += 1;
    }
    let elapsed = client.now().since(start).as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    waker.wake();
    let served = answers.join().expect("the server ends");
    println!(
        "{uri} {bytes} B, window {window}: {:.2} Gbit/s, {:.0} frames/s, {:.1} frames per turn, \
         dropped {} + {}",
        player.bytes as f64 * 8e-9 / elapsed,
        player.frames as f64 / elapsed,
        player.frames as f64 / turns as f64,
        client.totals().dropped_total(),
        served.dropped_total(),
    );
    Ok(())
}
