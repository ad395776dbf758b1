//! Summary of a forwarder, as text and JSON.
use crate::format;
use recoup_forwarder::node::Node;
use recoup_io::driver::Driver;
use recoup_io::face::DropReason;
use recoup_transport::link::recovery::Counters;
use recoup_transport::time::Instant;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The first line of `recoup forward --json`: listeners are ready.
#[derive(Debug, Serialize)]
pub(crate) struct Listening {
    /// Always `listening`.
    pub event: &'static str,
    /// First listener address, or empty.
    pub face: String,
    /// All listener addresses.
    pub faces: Vec<String>,
    /// Address of the status page and metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
}

impl Listening {
    pub(crate) fn new(faces: Vec<String>, metrics: Option<String>) -> Self {
        let face = faces.first().cloned().unwrap_or_default();
        Self { event: "listening", face, faces, metrics }
    }
}

/// The last line of `recoup forward --json`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Forwarded {
    /// Always `stopped`.
    pub event: &'static str,
    /// Run time, in seconds.
    pub elapsed_s: f64,
    /// Frames that came in.
    pub frames_in: u64,
    /// Bytes of these frames.
    pub bytes_in: u64,
    /// Frames that left.
    pub frames_out: u64,
    /// Bytes of these frames.
    pub bytes_out: u64,
    /// Interests that the cache answered.
    pub cache_hits: u64,
    /// Interests that the cache could not answer.
    pub cache_misses: u64,
    /// Data in the cache at the end.
    pub cache_packets: u64,
    /// Interests pending at the end.
    pub pending: u64,
    /// Prefixes with a route at the end, without those of the management.
    pub prefixes: u64,
    /// Link recovery; absent if no face has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovered>,
    /// Drops by reason; those of faces begin with `face-`.
    pub drops: BTreeMap<String, u64>,
}

/// Counters of link recovery; `numbered` = `resent` + `settled` + `given_up` + `expired` + `held`.
#[derive(Debug, Serialize)]
pub(crate) struct Recovered {
    /// Frames sent with a sequence number, resends included.
    pub numbered: u64,
    /// Lost frames that were resent.
    pub resent: u64,
    /// Frames that the neighbour has acknowledged or skipped.
    pub settled: u64,
    /// Lost frames that were not resent.
    pub given_up: u64,
    /// Frames that left the reorder buffer by timeout or limit before a report.
    pub expired: u64,
    /// Frames in the buffer.
    pub held: u64,
    /// Duplicates received.
    pub duplicates: u64,
    /// Frames sent without a packet.
    pub control: u64,
}

impl From<Counters> for Recovered {
    fn from(it: Counters) -> Self {
        Self {
            numbered: it.labelled,
            resent: it.resent,
            settled: it.settled,
            given_up: it.given_up,
            expired: it.expired,
            held: it.held,
            duplicates: it.duplicates,
            control: it.control,
        }
    }
}

impl Forwarded {
    /// Counters of the whole run.
    pub(super) fn new(driver: &Driver, node: &Node) -> Self {
        let (totals, counters) = (driver.totals(), node.counters());
        let is_own = |prefix: &recoup_packet::name::Name| {
            let text = prefix.to_string();
            text == "/localhost/nfd" || text == "/localhop/nfd"
        };
        Self {
            event: "stopped",
            elapsed_s: driver.now().since(Instant::ZERO).as_secs_f64(),
            frames_in: totals.frames_in,
            bytes_in: totals.bytes_in,
            frames_out: totals.frames_out,
            bytes_out: totals.bytes_out,
            cache_hits: counters.cs_hits,
            cache_misses: counters.cs_misses,
            cache_packets: node.cs_len() as u64,
            pending: node.pit_len() as u64,
            prefixes: node.routes().filter(|(prefix, _)| !is_own(prefix)).count() as u64,
            recovery: node.recovered().map(Recovered::from),
            drops: drops(driver).collect(),
        }
    }
}

/// Drops by reason; those of faces begin with `face-`.
pub(super) fn drops(driver: &Driver) -> impl Iterator<Item = (String, u64)> {
    let of_node = driver.node_drops().iter().map(|(reason, many)| (reason.to_string(), *many));
    let totals = driver.totals();
    let of_faces = DropReason::ALL
        .into_iter()
        .map(move |reason| (format!("face-{reason}"), totals.dropped(reason)));
    of_node.chain(of_faces).filter(|(_, many)| *many > 0)
}

impl fmt::Display for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |frames, bytes| format!("{frames} frames, {}", format::bytes(bytes));
        writeln!(f, "  in            {}", way(self.frames_in, self.bytes_in))?;
        writeln!(f, "  out           {}", way(self.frames_out, self.bytes_out))?;
        write!(
            f,
            "  cache         {} hits, {} misses, {} Data",
            self.cache_hits, self.cache_misses, self.cache_packets
        )?;
        if let Some(recovery) = &self.recovery {
            let Recovered { resent, given_up, expired, .. } = recovery;
            write!(
                f,
                "\n  recovered     {resent} sent again, {given_up} given up, {expired} expired"
            )?;
        }
        if !self.drops.is_empty() {
            let drops: Vec<_> =
                self.drops.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            write!(f, "\n  dropped       {}", drops.join(", "))?;
        }
        Ok(())
    }
}
