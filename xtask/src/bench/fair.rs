//! `cargo xtask bench fair`: what schedulers cost a whole forwarder process, in processor time for each exchange of an
//! Interest and its Data over two UDP faces. We are consumer and producer ourselves.
//!
//! No queue overflows, so each packet is measured and forwarded. The example `fair_cost` measures
//! the cost of queueing without sockets: here most of it would be wake-ups, whose number follows
//! the pacing.
use super::process::Running;
use super::timed::limit_benchmark;
use crate::chore::Outcome;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: cargo xtask bench fair [--runs N]

  --runs N      how often each case runs (default 3); the least time is shown
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
";

const FLOWS: [u64; 2] = [10, 10_000];
const SCHEDULERS: [&str; 3] = ["none", "max-min", "drr"];
/// Rate of the links.
const RATE: &str = "20 Gbit/s";
const EXCHANGES: u64 = 60_000;
/// Interests that are sent at a time.
const BURST: u64 = 32;
/// Most Interests in flight.
const IN_FLIGHT: u64 = 64;
/// Time after which an Interest counts as lost.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time for one run of all cases.
const RUN_LIMIT: Duration = Duration::from_secs(300);
/// Bytes of content.
const CONTENT: usize = 1_000;

/// Runs the benchmark and prints what it found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let runs: usize = match arguments {
        [] => 3,
        ["--runs", runs] => runs.parse().map_err(|_| USAGE)?,
        _ => return Err(USAGE.into()),
    };
    let recoup = super::binary()?;
    limit_benchmark("fair", RUN_LIMIT.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)));
    println!(
        "processor microseconds of a forwarder for each exchange, and speed compared with none"
    );
    for flows in FLOWS {
        let mut least = [f64::INFINITY; SCHEDULERS.len()];
        for _ in 0..runs {
            // In turn, so that a slow minute of the machine hits all of them.
            for (scheduler, least) in SCHEDULERS.iter().zip(&mut least) {
                *least = least.min(Case { scheduler, flows }.cost(&recoup)?);
            }
        }
        print!("{flows:>6} flows");
        for (scheduler, cost) in SCHEDULERS.iter().zip(least) {
            print!("  {scheduler} {cost:.2} ({:.2})", least[0] / cost);
        }
        println!();
    }
    Ok(())
}

/// One forwarder that is measured.
struct Case {
    scheduler: &'static str,
    flows: u64,
}

impl Case {
    /// Microseconds of processor time for each exchange.
    fn cost(&self, recoup: &Path) -> Outcome<f64> {
        let mut ends = Ends::open(self)?;
        let folder = std::env::temp_dir().join(format!("recoup-fair-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let config = folder.join("node.toml");
        let up = ends.producer.local_addr().map_err(|error| error.to_string())?;
        std::fs::write(&config, self.config(up)).map_err(|error| error.to_string())?;
        let mut forward = Command::new(recoup);
        let (running, face) =
            Running::serve(forward.args(["forward", "--json", "--config"]).arg(&config))?;
        let _ = std::fs::remove_dir_all(&folder);
        let address = face.rsplit('/').next().unwrap_or_default();
        ends.consumer.connect(address).map_err(|error| format!("{face}: {error}"))?;
        let before = processor_nanos(running.id());
        let done = ends.exchange()?;
        let nanos = processor_nanos(running.id()).saturating_sub(before);
        Ok(nanos as f64 / 1e3 / done as f64)
    }

    fn config(&self, up: SocketAddr) -> String {
        let scheduler = self.scheduler;
        let shared = match scheduler {
            "none" => String::new(),
            _ => format!("scheduler = \"{scheduler}\"\nrate = \"{RATE}\"\n"),
        };
        format!(
            "[node]\ncache = \"0 packets\"\n{shared}[[listen]]\nuri = \"udp://127.0.0.1:0\"\n\
             [[face]]\nname = \"up\"\nuri = \"udp://{up}\"\n{shared}[[route]]\nprefix = \"/bench\"\nface = \"up\"\n"
        )
    }
}

/// Processor time of a process, as Linux counts it.
fn processor_nanos(id: u32) -> u64 {
    let printed = std::fs::read_to_string(format!("/proc/{id}/schedstat")).unwrap_or_default();
    printed.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default()
}

/// The consumer and the producer.
struct Ends {
    consumer: UdpSocket,
    producer: UdpSocket,
    flows: u64,
    sent: u64,
    done: u64,
    lost: u64,
}

impl Ends {
    fn open(case: &Case) -> Outcome<Self> {
        let socket = || {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let failed = |error: std::io::Error| error.to_string();
        Ok(Self {
            consumer: socket().map_err(failed)?,
            producer: socket().map_err(failed)?,
            flows: case.flows,
            sent: 0,
            done: 0,
            lost: 0,
        })
    }

    /// Sends and answers all Interests; returns the number of answers.
    fn exchange(&mut self) -> Outcome<u64> {
        let mut progress = Instant::now();
        while self.done + self.lost < EXCHANGES {
            self.ask()?;
            let answered = self.answer()?;
            match answered + self.receive()? {
                0 if progress.elapsed() > PATIENCE => {
                    self.lost = self.sent - self.done;
                    if self.lost * 20 > EXCHANGES {
                        return Err(format!("{} of {EXCHANGES} Interests were lost", self.lost));
                    }
                }
                0 => std::thread::sleep(Duration::from_micros(50)),
                _ => progress = Instant::now(),
            }
        }
        Ok(self.done)
    }

    fn ask(&mut self) -> Outcome {
        for _ in 0..BURST {
            if self.sent - self.done - self.lost >= IN_FLIGHT || self.sent == EXCHANGES {
                return Ok(());
            }
            let frame = interest(self.sent, self.flows);
            match self.consumer.send(&frame) {
                Ok(_) => self.sent += 1,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    fn answer(&mut self) -> Outcome<u64> {
        let (mut frame, mut count) = ([0; 2_048], 0);
        while let Some((bytes, from)) = received(self.producer.recv_from(&mut frame))? {
            let _ = self.producer.send_to(&data(name(&frame[..bytes])?), from);
            count += 1;
        }
        Ok(count)
    }

    fn receive(&mut self) -> Outcome<u64> {
        let (mut frame, mut count) = ([0; 2_048], 0);
        while received(self.consumer.recv(&mut frame))?.is_some() {
            (count, self.done) = (count + 1, self.done + 1);
        }
        Ok(count)
    }
}

/// A received frame, or `None` if the socket would block.
fn received<T>(printed: std::io::Result<T>) -> Outcome<Option<T>> {
    match printed {
        Ok(received) => Ok(Some(received)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Interest number `number`: flows take turns in an order that memory cannot foresee.
fn interest(number: u64, flows: u64) -> Vec<u8> {
    let flow = number.wrapping_mul(7_919) % flows;
    let segment = (number / flows) as u32 | 0x0100_0000;
    let mut name = vec![8, 5];
    name.extend(b"bench");
    name.extend([8, 8]);
    name.extend(flow.to_be_bytes());
    name.extend([0x32, 4]);
    name.extend(segment.to_be_bytes());
    let mut inner = vec![7, name.len() as u8];
    inner.extend(name);
    inner.extend([10, 4]);
    inner.extend((number as u32).to_be_bytes());
    inner.extend([12, 2, 0x4E, 0x20]);
    let mut frame = vec![5, inner.len() as u8];
    frame.extend(inner);
    frame
}

/// The name of an Interest, with its type and length; a mark may stand in a link header before it.
fn name(frame: &[u8]) -> Outcome<&[u8]> {
    let is_fragment = |window: &[u8]| matches!(window, [0x50, _, 5, _, 7]);
    let interest = match frame {
        [0x64, ..] => frame.windows(5).position(is_fragment).map(|at| at + 2),
        _ => Some(0),
    };
    match interest.and_then(|at| frame.get(at..)) {
        Some(interest @ [5, _, 7, length, ..]) => {
            interest.get(2..4 + usize::from(*length)).ok_or_else(|| "a name is cut off".into())
        }
        _ => Err("the forwarder sent something else than an Interest".into()),
    }
}

/// Data of that name.
fn data(name: &[u8]) -> Vec<u8> {
    let mut inner = name.to_vec();
    inner.extend([21, 253]);
    inner.extend((CONTENT as u16).to_be_bytes());
    inner.resize(inner.len() + CONTENT, 7);
    inner.extend([22, 3, 27, 1, 0, 23, 32]);
    inner.resize(inner.len() + 32, 0);
    let mut frame = vec![6, 253];
    frame.extend((inner.len() as u16).to_be_bytes());
    frame.extend(inner);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_has_the_name_of_its_interest() {
        let asked = interest(12_345, 10);
        let name = name(&asked).unwrap();
        let answer = data(name);
        assert_eq!(&answer[4..4 + name.len()], name);
        let mut marked = vec![0x64, 0, 253, 3, 64, 1, 1, 0x50, asked.len() as u8];
        marked.extend(&asked);
        assert_eq!(super::name(&marked).unwrap(), name);
        assert_eq!(asked.len(), 2 + usize::from(asked[1]));
        assert_eq!(answer.len(), 4 + usize::from(answer[2]) * 256 + usize::from(answer[3]));
        assert!(super::name(&answer).is_err());
    }
}
