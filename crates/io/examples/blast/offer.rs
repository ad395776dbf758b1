//! A client that asks at a steady rate, so that what it gets is its share and no more.
use crate::frame::{Packet, interest};
use crate::stream::{Options, Stream};
use crate::{Outcome, SILENCE};
use recoup_packet::name::Name;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

/// How often it asks.
const TICK: Duration = Duration::from_millis(1);

/// Sends Interests until the time is over and waits for those in flight; prints both counts.
pub(crate) fn run(socket: &str, prefix: &str, options: &Options) -> Outcome {
    let mut stream = Stream::connect(socket, options)?;
    stream.set_timeout(TICK)?;
    let prefix: Name = prefix.parse().map_err(|error| format!("{prefix}: {error}"))?;
    let (mut asked, mut got, mut question) = (0_u64, 0_u64, Vec::new());
    // Names differ between runs.
    let first = std::process::id() as u64 * 1_000_000_000;
    let start = Instant::now();
    while start.elapsed() < options.span + SILENCE
        && (got < asked || start.elapsed() < options.span)
    {
        let due = start.elapsed().min(options.span).as_secs_f64() * options.rate as f64;
        while asked < due as u64 {
            interest(&mut question, prefix.value(), first + asked);
            asked += 1;
            stream.send(&question)?;
        }
        stream.flush()?;
        match stream.receive() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error.into()),
        }
        while let Some(packet) = stream.next()? {
            got += u64::from(matches!(packet, Packet::Data));
        }
    }
    println!("asked {asked}\ngot {got}\nseconds {}", start.elapsed().as_secs_f64());
    Ok(())
}
