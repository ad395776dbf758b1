//! A client that sends Interests with random names at full speed and reads the answers, so that
//! back-pressure never stops it.
use crate::Outcome;
use crate::frame::{Packet, interest};
use crate::stream::{Options, Stream};
use recoup_packet::name::Name;
use std::time::Instant;

/// Interests that are written at once.
const BATCH: u64 = 1_024;

/// Sends the flood; prints how much was sent, and how much came back.
pub(crate) fn run(socket: &str, prefix: &str, options: &Options) -> Outcome {
    let mut stream = Stream::connect(socket, options)?;
    let prefix: Name = prefix.parse().map_err(|error| format!("{prefix}: {error}"))?;
    let mut reader = stream.twin()?;
    let reading = std::thread::spawn(move || -> std::io::Result<(u64, u64)> {
        let (mut data, mut other) = (0, 0);
        while reader.receive()? {
            while let Some(packet) = reader.next()? {
                match packet {
                    Packet::Data => data += 1,
                    _ => other += 1,
                }
            }
        }
        Ok((data, other))
    });
    let (mut question, mut state) = (Vec::new(), 0x9E37_79B9_7F4A_7C15_u64);
    let start = Instant::now();
    for number in 0..options.count {
        // Each number once, in no order (splitmix64).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut random = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        interest(&mut question, prefix.value(), random ^ (random >> 31));
        stream.send(&question)?;
        if (number + 1) % BATCH == 0 {
            stream.flush()?;
        }
    }
    stream.flush()?;
    let seconds = start.elapsed().as_secs_f64();
    stream.shut()?;
    let (data, other) = reading.join().map_err(|_| "the reader failed")??;
    println!("sent {}\nseconds {seconds}\ndata {data}\nnacks {other}", options.count);
    Ok(())
}
