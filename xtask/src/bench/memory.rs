//! How much memory fetching and serving a large file takes.

use super::process::{Room, Running, transfer_limit};
use super::timed::Timed;
use super::transfer::{fetch, listen_uri, serve};
use crate::chore::Outcome;
use serde_json::{Value, json};
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const BYTES: u64 = 2_000_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The most memory that a process held at any time, in bytes.
pub(crate) struct Peak {
    name: String,
    /// Anonymous and file pages, by looking often.
    resident: u64,
    /// Peak resident memory by the kernel, shared pages included.
    high_water: u64,
}

impl Peak {
    fn of(name: &str) -> Self {
        Self { name: name.to_string(), resident: 0, high_water: 0 }
    }

    /// Looks at a process once.
    fn look(&mut self, id: u32) {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let resident = field(&status, "RssAnon:") + field(&status, "RssFile:");
        self.resident = self.resident.max(resident);
        self.high_water = self.high_water.max(field(&status, "VmHWM:"));
    }

    /// For programs; in bytes.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "process": self.name, "anon_and_file_bytes": self.resident,
            "high_water_bytes": self.high_water })
    }
}

impl fmt::Display for Peak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = |bytes: u64| bytes as f64 / 1e6;
        write!(f, "{:<52} {:>10.1} {:>10.1}", self.name, mega(self.resident), mega(self.high_water))
    }
}

/// A field of `/proc/…/status`, in bytes.
pub(crate) fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

/// Fetches a large file over UDP and over a Unix socket, looking at both processes all the while.
pub(crate) fn peaks(recoup: &Path, notes: &mut Vec<String>) -> Outcome<Vec<Peak>> {
    let room = Room::make(BYTES)?;
    let mut peaks = Vec::new();
    for transport in ["udp", "unix"] {
        eprintln!("peak memory, 2 GB over {transport}");
        match peak(recoup, &room, transport) {
            Ok(pair) => peaks.extend(pair),
            Err(message) => notes.push(format!("peak memory over {transport}: {message}")),
        }
    }
    Ok(peaks)
}

fn peak(recoup: &Path, room: &Room, transport: &str) -> Outcome<[Peak; 2]> {
    let listen = listen_uri(transport, room.path("socket"));
    let mut server = serve(recoup, &room.original, "8000");
    let (server, face) = Running::serve(server.args(["--listen", &listen]))?;
    let _ = fs::remove_file(&room.copy);
    let mut consumer = fetch(recoup, &room.copy);
    consumer.args(["--face", &face]).stdout(Stdio::null()).stderr(Stdio::null());
    let consumer = Timed::spawn(&mut consumer, transfer_limit(room.bytes));
    let mut consumer = consumer.map_err(|error| error.to_string())?;
    let mut fetching = Peak::of(&format!("recoup fetch, 2 GB over {transport}"));
    let mut serving = Peak::of(&format!("recoup serve, 2 GB over {transport}"));
    let status = loop {
        fetching.look(consumer.id());
        serving.look(server.id());
        match consumer.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Err(error) => return Err(error.to_string()),
        }
    };
    let length = fs::metadata(&room.copy).map_or(0, |metadata| metadata.len());
    if !status.success() || length != room.bytes {
        return Err(format!("the consumer ended with {status} after {length} bytes"));
    }
    Ok([fetching, serving])
}
