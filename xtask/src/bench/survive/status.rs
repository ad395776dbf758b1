//! Status of a forwarder.
use super::count;
use crate::chore::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Address of the status page.
pub(super) struct Status {
    address: &'static str,
}

/// Figures of the status page.
pub(super) struct Look {
    pub(super) unsatisfied: u64,
    pub(super) faces: usize,
    pub(super) capture_failures: u64,
    /// Prefixes with next hops.
    pub(super) prefixes: u64,
    pub(super) lines_left_out: u64,
    pub(super) recording_failure: Option<String>,
    drops: BTreeMap<String, u64>,
}

impl Status {
    pub(super) const fn at(address: &'static str) -> Self {
        Self { address }
    }

    /// Fetches figures that are a moment old at most.
    pub(super) fn look(&self) -> Outcome<Look> {
        // A picture is shown again for a while.
        std::thread::sleep(Duration::from_millis(300));
        let document = self.ask().map_err(|error| format!("{}: {error}", self.address))?;
        let drops = document["drops"].as_object().into_iter().flatten();
        Ok(Look {
            unsatisfied: count(&document, "/status/unsatisfied"),
            faces: document["faces"].as_array().map_or(0, Vec::len),
            capture_failures: count(&document, "/captures/failures"),
            prefixes: count(&document, "/status/fib_entries"),
            lines_left_out: count(&document, "/log_lines_left_out"),
            recording_failure: document["recording"]["failure"].as_str().map(str::to_owned),
            drops: drops
                .filter_map(|(reason, many)| Some((reason.clone(), many.as_u64()?)))
                .collect(),
        })
    }

    fn ask(&self) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let request = "GET /status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes())?;
        let mut printed = String::new();
        stream.read_to_string(&mut printed)?;
        let body = printed.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(serde_json::from_str(body)?)
    }
}

impl Look {
    /// Drops since an earlier look, by reason.
    pub(super) fn drops_since(&self, before: &Self) -> BTreeMap<String, u64> {
        let since = |(reason, many): (&String, &u64)| {
            let more = many - before.drops.get(reason).copied().unwrap_or_default();
            (more > 0).then(|| (reason.clone(), more))
        };
        self.drops.iter().filter_map(since).collect()
    }
}
