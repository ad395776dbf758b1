//! Clients that ask and answer as fast as a forwarder lets them, over a Unix stream of their own: no driver, no timers,
//! nothing is sent again. What `cargo xtask bench forward` drives.
//!
//! `blast produce SOCKET PREFIX [payload=100] [style=batch|each] [work-ns=0] [silent=0]` answers until its socket closes, or discards Interests if `silent=1`.
//! `blast consume SOCKET PREFIX [window=256] [seconds=3] [style=batch|each] [work-ns=0] [interval-us=0]` sends Interests; prints its throughput.
//! `blast offer SOCKET PREFIX [rate=10000] [seconds=3]` sends Interests at a fixed rate; prints how many were answered.
//! `blast flood SOCKET PREFIX [count=1000000]` sends Interests with random names at full speed; prints the outcome.
//! `blast echo [seconds=1] [interval-us=0]` times round trips between two threads over a bare Unix stream.
//!
//! `style=batch` writes all packets that one read causes at once. `style=each` writes each packet
//! by itself, as most libraries do, and adds `work-ns` of work. With an interval, one exchange is
//! in flight at a time.
mod flood;
mod frame;
mod offer;
mod stream;
mod times;

use frame::{Packet, interest};
use recoup_packet::interest::Uniqueness;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, Scope, register_command};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{Options, Stream};
use times::Times;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Idle time after which outstanding Interests count as lost.
const SILENCE: Duration = Duration::from_secs(1);

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["produce", socket, prefix, rest @ ..] => produce(socket, prefix, &Options::read(rest)?),
        ["consume", socket, prefix, rest @ ..] => consume(socket, prefix, &Options::read(rest)?),
        ["offer", socket, prefix, rest @ ..] => {
            offer::run(socket, prefix, &Options::read(rest)?)
        }
        ["flood", socket, prefix, rest @ ..] => {
            flood::run(socket, prefix, &Options::read(rest)?)
        }
        ["echo", rest @ ..] => echo(&Options::read(rest)?),
        _ => {
            Err("usage: blast produce|consume|offer|flood SOCKET PREFIX [key=value…], blast echo [key=value…]"
                .into())
        }
    }
}

/// Registers the prefix, reports the registration, and answers.
fn produce(socket: &str, prefix: &str, options: &Options) -> Outcome {
    let mut stream = Stream::connect(socket, options)?;
    let prefix: Name = prefix.parse().map_err(|error| format!("{prefix}: {error}"))?;
    let parameters = ControlParameters { name: Some(prefix), ..ControlParameters::default() };
    let time = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    let unique = Uniqueness { nonce: Some(&time.to_be_bytes()), time: Some(time), seq_num: None };
    let command = register_command(Scope::Localhost, &parameters, &DigestSigner, unique);
    stream.send(&command.to_bytes())?;
    stream.flush()?;
    let mut registered = false;
    let payload = vec![0x5A; options.payload];
    let mut answer = Vec::new();
    while stream.receive()? {
        while let Some(packet) = stream.next()? {
            match packet {
                Packet::Interest { .. } if options.silent => {}
                Packet::Interest { name, token } => {
                    frame::data(&mut answer, name, &payload, token);
                    stream.send(&answer)?;
                }
                Packet::Data if !registered => {
                    registered = true;
                    println!("ready");
                }
                Packet::Data | Packet::Other => {}
            }
        }
        stream.flush()?;
    }
    Ok(())
}

/// Asks until the time is over; prints exchanges, seconds and, with an interval, quantiles of the round trip.
fn consume(socket: &str, prefix: &str, options: &Options) -> Outcome {
    let mut stream = Stream::connect(socket, options)?;
    stream.set_timeout(SILENCE)?;
    let prefix: Name = prefix.parse().map_err(|error| format!("{prefix}: {error}"))?;
    let (mut asked, mut got, mut silent) = (0_u64, 0_u64, 0_u32);
    let (mut question, mut times) = (Vec::new(), Times::default());
    let start = Instant::now();
    let mut wanted = options.window;
    while start.elapsed() < options.span {
        for _ in 0..wanted {
            interest(&mut question, prefix.value(), asked);
            asked += 1;
            stream.send(&question)?;
        }
        stream.flush()?;
        let sent = Instant::now();
        wanted = 0;
        match stream.receive() {
            Ok(true) => {}
            Ok(false) => return Err("the forwarder closed the connection".into()),
            // Unanswered Interests are counted, not retransmitted.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                silent += 1;
                wanted = options.window;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        while let Some(packet) = stream.next()? {
            wanted += usize::from(matches!(packet, Packet::Data));
        }
        got += wanted as u64;
        if options.interval > Duration::ZERO {
            times.add(sent.elapsed());
            std::thread::sleep(options.interval);
        }
    }
    println!("exchanges {got}\nseconds {}\nsilences {silent}", start.elapsed().as_secs_f64());
    times.print();
    Ok(())
}

/// Times round trips of a hundred bytes between two threads.
fn echo(options: &Options) -> Outcome {
    let (mut near, mut far) = UnixStream::pair()?;
    let echoing = std::thread::spawn(move || -> std::io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match far.read(&mut buffer)? {
                0 => return Ok(()),
                length => far.write_all(buffer.get(..length).unwrap_or_default())?,
            }
        }
    });
    let (start, mut times, mut buffer) = (Instant::now(), Times::default(), [0; 100]);
    while start.elapsed() < options.span {
        let sent = Instant::now();
        near.write_all(&buffer)?;
        near.read_exact(&mut buffer)?;
        times.add(sent.elapsed());
        std::thread::sleep(options.interval);
    }
    drop(near);
    echoing.join().map_err(|_| "the echo failed")??;
    times.print();
    Ok(())
}
