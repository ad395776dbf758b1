//! `cargo xtask bench survive`: what a forwarder stands: a flood of random names, packets that are none, peers that never
//! come to an end, faces that come and go, being killed, and a disk that is full. Everybody else must be served meanwhile.

mod applications;
mod crowd;
mod hostile;
mod listing;
mod reports;
mod status;

use super::forward::{Producer, blast, example, forward, listen_at, numbers, unix};
use super::memory::field;
use super::process::{Room, Running};
use super::sample::Spread;
use super::timed::{Timed, capture, limit_benchmark};
use super::{binary, number};
use crate::chore::{Outcome, command};
use serde_json::{Value, json};
use status::Status;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: cargo xtask bench survive [--interests N] [--faces N] [--json]

  --interests N  Interests for random names from one face (default 100000000)
  --faces N      faces that are opened and closed (default 100000)
  --json         a JSON document instead of lines
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
";

/// Interests a second that everybody else offers; the forwarder alone answers many times as many.
const OFFERED: u64 = 5_000;
/// How much longer than planned a client may take.
const OFFER_LIMIT: Duration = Duration::from_secs(60);
/// Interests a second of the slowest flood, and faces a second that are opened and closed at least.
const SLOWEST_FLOOD: u64 = 50_000;
const SLOWEST_FACES: u64 = 500;
/// How long the forwarder is needed for legs that do not depend on a number.
const LEGS_LIMIT: Duration = Duration::from_secs(600);
/// The share of them that must be answered.
const SERVED: f64 = 0.9;
/// By how much the resident memory may grow from the third quarter of a flood to the last, as a share. A byte kept of each
/// of 100 million Interests would add 25 MB.
const FLAT: f64 = 0.05;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time after which no earlier Interest is pending.
const LIFETIME: Duration = Duration::from_secs(5);

/// Outcome of one attack.
struct Finding {
    leg: &'static str,
    what: String,
    holds: bool,
}

/// A forwarder under attack, and its legitimate clients.
struct Stage {
    recoup: PathBuf,
    blast: PathBuf,
    hostile: PathBuf,
    room: Room,
    running: Running,
    /// Where it listens: Unix, UDP and TCP.
    socket: PathBuf,
    udp: String,
    tcp: String,
    /// Its status page.
    status: Status,
    producers: Vec<Producer>,
    findings: Vec<Finding>,
}

/// Runs all legs and prints what they found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut interests, mut faces, mut as_json) = (100_000_000, 100_000, false);
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--interests" => interests = number(words.next())?,
            "--faces" => faces = number(words.next())?,
            "--json" => as_json = true,
            _ => return Err(USAGE.into()),
        }
    }
    let mut stage = Stage::set(binary()?, blast()?, example("hostile")?)?;
    // Sockets of this process end with the forwarder at their other end.
    let numbered = Duration::from_secs(interests / SLOWEST_FLOOD + faces / SLOWEST_FACES);
    stage.running.limit(LEGS_LIMIT + numbered)?;
    // Some legs have forwarders of their own.
    limit_benchmark("survive", 3 * LEGS_LIMIT + numbered);
    let alone = stage.offer(3)?;
    stage.find("alone", alone >= 0.99, format!("{:.1} % of {OFFERED} a second", 100.0 * alone));
    stage.flood(interests)?;
    hostile::malformed(&mut stage)?;
    hostile::fragments(&mut stage)?;
    hostile::streams(&mut stage)?;
    hostile::slow(&mut stage)?;
    crowd::datagrams(&mut stage)?;
    crowd::idle(&mut stage)?;
    crowd::readers(&mut stage)?;
    stage.come_and_go(faces)?;
    stage.kill()?;
    stage.fill_disk()?;
    applications::come_and_go(&mut stage)?;
    reports::unread(&mut stage)?;
    reports::recording(&mut stage)?;
    listing::bombs(&mut stage)?;
    let findings = stage.findings;
    if as_json {
        let it = |it: &Finding| json!({ "leg": it.leg, "found": it.what, "holds": it.holds });
        println!("{:#}", json!(findings.iter().map(it).collect::<Vec<_>>()));
    } else {
        for Finding { leg, what, holds } in &findings {
            println!("{leg:<24} {:<9} {what}", if *holds { "holds" } else { "DOES NOT" });
        }
    }
    match findings.iter().all(|it| it.holds) {
        true => Ok(()),
        false => Err("not everything holds".into()),
    }
}

impl Stage {
    fn set(recoup: PathBuf, blast: PathBuf, hostile: PathBuf) -> Outcome<Self> {
        let room = Room::make(0)?;
        let socket = room.path("node-socket");
        let (running, printed) = start(&recoup, &room, "")?;
        let place = |kind: &str| {
            let uri = printed.iter().find(|uri| uri.starts_with(kind));
            let address = uri.and_then(|uri| uri.split_once("://")).map(|(_, address)| address);
            address.map(str::to_owned).ok_or_else(|| format!("the forwarder has no {kind}"))
        };
        let (udp, tcp, status) = (place("udp")?, place("tcp")?, Status::at(STATUS));
        let mut producers = Vec::new();
        for (prefix, silent) in [("/bench", "silent=0"), ("/hole", "silent=1")] {
            producers.push(Producer::start(
                command(&blast).arg("produce").arg(&socket).args([prefix, silent]),
            )?);
        }
        let findings = Vec::new();
        Ok(Self {
            recoup,
            blast,
            hostile,
            room,
            running,
            socket,
            udp,
            tcp,
            status,
            producers,
            findings,
        })
    }

    fn find(&mut self, leg: &'static str, holds: bool, what: String) {
        eprintln!("{leg}: {what}{}", if holds { "" } else { " -- DOES NOT HOLD" });
        self.findings.push(Finding { leg, what, holds });
    }

    /// The share of what others offer that is answered.
    fn offer(&self, seconds: u64) -> Outcome<f64> {
        let limit = OFFER_LIMIT + Duration::from_secs(seconds);
        Ok(share(&numbers(&capture(&mut self.offering(seconds), limit)?)))
    }

    /// As [`offer`](Self::offer), but begins it only.
    fn begin_offer(&self, seconds: u64) -> Outcome<Timed> {
        let mut client = self.offering(seconds);
        let limit = OFFER_LIMIT + Duration::from_secs(seconds);
        Timed::spawn(client.stdout(Stdio::piped()), limit).map_err(|error| error.to_string())
    }

    fn offering(&self, seconds: u64) -> Command {
        let mut client = command(&self.blast);
        client.arg("offer").arg(&self.socket).arg("/bench");
        client.args([format!("rate={OFFERED}"), format!("seconds={seconds}")]);
        client
    }

    fn resident_mb(&self) -> f64 {
        let path = format!("/proc/{}/status", self.running.id());
        field(&fs::read_to_string(path).unwrap_or_default(), "VmRSS:") as f64 / 1e6
    }

    /// One face sends Interests with random, unanswered names at full speed.
    fn flood(&mut self, interests: u64) -> Outcome {
        let before = self.status.look()?;
        let mut flood = command(&self.blast);
        flood.arg("flood").arg(&self.socket).args(["/hole", &format!("count={interests}")]);
        let limit = OFFER_LIMIT + Duration::from_secs(interests / SLOWEST_FLOOD);
        let flood = Timed::spawn(flood.stdout(Stdio::piped()), limit);
        let flood = flood.map_err(|error| error.to_string())?;
        let (mut shares, mut seen) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        let flood = std::thread::scope(|scope| -> Outcome<_> {
            let flood = scope.spawn(move || flood.wait_with_output());
            while !flood.is_finished() {
                let mut offer = self.begin_offer(2)?;
                while !flood.is_finished() && matches!(offer.try_wait(), Ok(None)) {
                    seen.push((begun.elapsed(), self.resident_mb()));
                    std::thread::sleep(LOOK_EVERY);
                }
                let offer = offer.wait_with_output().map_err(|error| error.to_string())?;
                shares.push(share(&numbers(&String::from_utf8_lossy(&offer.stdout))));
            }
            let printed = flood.join().map_err(|_| "the flood failed")?;
            printed.map_err(|error| error.to_string())
        })?;
        let printed = numbers(&String::from_utf8_lossy(&flood.stdout));
        let seconds = printed.get("seconds").copied().unwrap_or(f64::NAN);
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let rate = interests as f64 / seconds / 1e3;
        let what = format!(
            "{:.1} % of {OFFERED} a second at least, during {rate:.0} thousand Interests a second",
            100.0 * least
        );
        self.find("flood: others served", least >= SERVED, what);
        let quarter = begun.elapsed() / 4;
        let during = |from: u32| {
            let within = quarter * from..quarter * (from + 1);
            let seen = seen.iter().filter(|(at, _)| within.contains(at));
            Spread::of(seen.map(|(_, mb)| *mb).collect()).ok_or("the flood was too short")
        };
        let (third, last) = (during(2)?, during(3)?);
        let [in_third, in_last] = [third, last].map(|it| it.in_units(1.0, 1));
        let what = format!("MB in the third quarter {in_third}, in the last {in_last}");
        self.find("flood: memory", last.median <= third.median * (1.0 + FLAT), what);
        std::thread::sleep(LIFETIME);
        let after = self.status.look()?;
        let drops = after.drops_since(&before);
        let ended = after.unsatisfied - before.unsatisfied;
        let of = |reason: &str| drops.get(reason).copied().unwrap_or_default();
        let sum = ended + of("too-many-pending") + of("no-face") + of("no-route") + of("too-fast");
        let what = format!("{interests} sent = {ended} unanswered + {}", list(&drops));
        self.find("flood: drops add up", sum == interests, what);
        Ok(())
    }

    /// Peers come, ask once and go.
    fn come_and_go(&mut self, faces: u64) -> Outcome {
        let before = self.resident_mb();
        let offer = self.begin_offer(3)?;
        let begun = Instant::now();
        let opened = hostile::come_and_go(&self.socket, &self.tcp, faces)?;
        let seconds = begun.elapsed().as_secs_f64();
        let offer = offer.wait_with_output().map_err(|error| error.to_string())?;
        let served = share(&numbers(&String::from_utf8_lossy(&offer.stdout)));
        std::thread::sleep(LIFETIME);
        let (left, after) = (self.status.look()?.faces, self.resident_mb());
        let what = format!(
            "{opened} opened and closed in {seconds:.1} s, {left} left; memory {before:.1} to {after:.1} MB; others {:.1} %",
            100.0 * served
        );
        let holds = opened == faces && left < 10 && after < before + 20.0 && served >= SERVED;
        self.find("faces", holds, what);
        Ok(())
    }

    /// The forwarder is killed while it works, and started again.
    fn kill(&mut self) -> Outcome {
        let offer = self.begin_offer(2)?;
        std::thread::sleep(Duration::from_millis(500));
        self.running.kill();
        let _ = offer.wait_with_output();
        let begun = Instant::now();
        self.start_again("")?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        let served = self.offer(1)?;
        let what = format!("serves again {took:.0} ms later, {:.1} %", 100.0 * served);
        self.find("kill -9 and restart", served >= 0.99, what);
        Ok(())
    }

    /// Everything is captured to a disk that has no room.
    fn fill_disk(&mut self) -> Outcome {
        self.running.kill();
        self.start_again(&format!("capture = \"{FULL}\"\n"))?;
        let served = self.offer(2)?;
        let failures = self.status.look()?.capture_failures;
        let what = format!("{failures} captures given up; others {:.1} %", 100.0 * served);
        self.find("captures, disk full", failures == 1 && served >= SERVED, what);
        Ok(())
    }

    /// Restarts the forwarder with additional configuration, and a producer.
    fn start_again(&mut self, more: &str) -> Outcome {
        (self.running, _) = start(&self.recoup, &self.room, more)?;
        self.produce()
    }

    /// Starts a producer.
    fn produce(&mut self) -> Outcome {
        self.producers.clear();
        let mut producer = command(&self.blast);
        producer.arg("produce").arg(&self.socket).arg("/bench");
        self.producers.push(Producer::start(&mut producer)?);
        Ok(())
    }
}

/// Address of the status page of the forwarder under attack.
const STATUS: &str = "127.0.0.1:19695";
/// A file that takes nothing.
const FULL: &str = "/dev/full";

/// Starts the forwarder, with more for `[node]`.
fn start(recoup: &Path, room: &Room, more: &str) -> Outcome<(Running, Vec<String>)> {
    let socket = unix(&room.path("node-socket"));
    let places = [socket.as_str(), "udp4://127.0.0.1:0", "tcp4://127.0.0.1:0"];
    let listen: String = places.into_iter().map(listen_at).collect();
    let text = format!("[node]\nmetrics = \"{STATUS}\"\n{more}{listen}");
    let (mut running, printed) = forward(recoup, room, "node.toml", &text)?;
    running.limit(LEGS_LIMIT)?;
    Ok((running, printed))
}

/// Share of the Interests that were answered.
fn share(printed: &BTreeMap<String, f64>) -> f64 {
    let get = |key| printed.get(key).copied().unwrap_or(f64::NAN);
    get("got") / get("asked")
}

fn list(drops: &BTreeMap<String, u64>) -> String {
    let all: Vec<_> = drops.iter().map(|(reason, many)| format!("{many} {reason}")).collect();
    all.join(" + ")
}

/// Reads a field of a document as a number.
fn count(document: &Value, path: &str) -> u64 {
    document.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}
