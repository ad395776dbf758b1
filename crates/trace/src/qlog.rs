//! A transfer as qlog, for the tools of QUIC: JSON text sequences (RFC 7464), `draft-ietf-quic-qlog-main-schema` with the
//! events of `draft-ietf-quic-qlog-quic-events`, schema `quic-12`.
//!
//! A consumer does what a QUIC sender does: it limits packets in flight by a window and repairs losses. So an Interest is
//! written as a packet that is sent, with the next packet number, and Data as a packet that acknowledges it:
//!
//! | of a transfer | of qlog |
//! |---|---|
//! | an Interest for a segment | `quic:packet_sent`, a stream frame at offset = segment |
//! | Data of a segment | `quic:packet_received`, acknowledges the segment's last Interest |
//! | a timeout, a loss by order | `quic:packet_lost`; triggers `pto_expired`, `reordering_threshold` |
//! | RTT samples, the window | `quic:recovery_metrics_updated` |
//! | loss events, by losses or marks | `quic:congestion_state_updated` |
//! | Nacks, spurious losses, rejected Data | `recoup:…`, which tools pass over |
//!
//! The unit of windows, lengths of sent packets and offsets is the segment, where QUIC counts bytes. Interests of discovery
//! are not written.
use recoup_transport::event::{Event, Signal};
use recoup_transport::time::Instant;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// Begins each text of a sequence.
const RECORD: u8 = 0x1e;
const SCHEMA: &str = "urn:ietf:params:qlog:events:quic-12";

/// Writes the qlog of a transfer. After an error of the file nothing more is written.
#[derive(Debug)]
pub struct Qlog<W> {
    out: W,
    failed: Option<io::Error>,
    /// Time of the first event, at which the log begins.
    began: Option<Instant>,
    /// Interests sent so far.
    sent: u64,
    /// Packets of Data so far.
    received: u64,
    /// The last Interest of each segment that has not arrived.
    last: HashMap<u64, u64>,
    shortest: Option<Duration>,
    /// The window is below the slow-start threshold.
    below: bool,
    /// The first Interest after the last loss event; its Data ends recovery (RFC 9002, section 7.3.2).
    recovery: Option<u64>,
    state: &'static str,
}

impl<W: Write> Qlog<W> {
    /// Begins the log of a transfer of this name.
    pub fn new(name: &str, out: W) -> Self {
        let head = json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": name,
            "description": "An Interest is a packet sent, Data acknowledges it; lengths and windows are in segments.",
            "trace": {
                "vantage_point": { "type": "client" },
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "event_schemas": [SCHEMA],
            },
        });
        let mut log = Self {
            out,
            failed: None,
            began: None,
            sent: 0,
            received: 0,
            last: HashMap::new(),
            shortest: None,
            below: true,
            recovery: None,
            state: "slow_start",
        };
        log.write(&head);
        log
    }

    /// Notes an event.
    pub fn on(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { segment, transmissions, rto } => {
                let number = self.sent;
                self.sent += 1;
                self.last.insert(segment, number);
                let data = json!({
                    "header": header(number),
                    "raw": { "length": 1 },
                    "frames": [{ "frame_type": "stream", "stream_id": 0, "offset": segment }],
                    "transmissions": transmissions,
                    "rto": millis(rto),
                });
                self.event(now, "quic:packet_sent", data);
            }
            Event::Received { segment, content_bytes, wire_bytes, rtt, transmissions, .. } => {
                let number = self.received;
                self.received += 1;
                let mut frames = Vec::new();
                let acked = self.last.remove(&segment);
                if let Some(acked) = acked {
                    frames.push(json!({ "frame_type": "ack", "acked_ranges": [[acked, acked]] }));
                }
                frames.push(json!({
                    "frame_type": "stream",
                    "stream_id": 0,
                    "offset": segment,
                    "raw": { "payload_length": content_bytes },
                }));
                let data = json!({
                    "header": header(number),
                    "raw": { "length": wire_bytes },
                    "frames": frames,
                    "transmissions": transmissions,
                    "rtt": millis(rtt),
                });
                self.event(now, "quic:packet_received", data);
                if acked.zip(self.recovery).is_some_and(|(acked, since)| acked >= since) {
                    self.recovery = None;
                    self.enter(now, self.grown(), None);
                }
            }
            Event::Sampled { rtt, srtt, rttvar, rto, .. } => {
                let rtt = Duration::from(rtt);
                let shortest = self.shortest.map_or(rtt, |shortest| shortest.min(rtt));
                self.shortest = Some(shortest);
                let data = json!({
                    "min_rtt": millis(shortest),
                    "latest_rtt": millis(rtt),
                    "smoothed_rtt": millis(srtt),
                    "rtt_variance": millis(rttvar),
                    "rto": millis(rto),
                });
                self.event(now, "quic:recovery_metrics_updated", data);
            }
            Event::Window { window, ssthresh, .. } => {
                let mut data = json!({ "congestion_window": window.floor() as u64 });
                if ssthresh.is_finite() {
                    data["ssthresh"] = json!(ssthresh.floor() as u64);
                }
                self.event(now, "quic:recovery_metrics_updated", data);
                self.below = window < ssthresh;
                if self.recovery.is_none() {
                    self.enter(now, self.grown(), None);
                }
            }
            Event::Reduced { cause } => {
                self.recovery = Some(self.sent);
                self.enter(now, "recovery", (cause == Signal::Mark).then_some("ecn"));
            }
            Event::TimedOut { segment } => self.lost(now, segment, "pto_expired"),
            Event::Lost { segment } => self.lost(now, segment, "reordering_threshold"),
            Event::LeftOut { segment } => {
                self.last.remove(&segment);
                self.event(now, "recoup:left_out", json!({ "segment": segment }));
            }
            Event::Spurious { segment, .. } => {
                self.event(now, "recoup:spurious_loss", json!({ "segment": segment }));
            }
            Event::Nacked { segment, reason } => {
                let data = json!({ "segment": segment, "reason": reason.to_string() });
                self.event(now, "recoup:nack", data);
            }
            Event::Rejected { segment, why } => {
                self.event(now, "recoup:rejected", json!({ "segment": segment, "reason": why }));
            }
            _ => {}
        }
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The first error of the file, after which nothing was written.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    fn lost(&mut self, now: Instant, segment: u64, trigger: &str) {
        let Some(number) = self.last.get(&segment).copied() else { return };
        let frames = json!([{ "frame_type": "stream", "stream_id": 0, "offset": segment }]);
        let data = json!({ "header": header(number), "frames": frames, "trigger": trigger });
        self.event(now, "quic:packet_lost", data);
    }

    /// The state outside of recovery.
    fn grown(&self) -> &'static str {
        if self.below { "slow_start" } else { "congestion_avoidance" }
    }

    fn enter(&mut self, now: Instant, state: &'static str, trigger: Option<&str>) {
        if state == self.state {
            return;
        }
        let mut data = json!({ "old": self.state, "new": state });
        if let Some(trigger) = trigger {
            data["trigger"] = json!(trigger);
        }
        self.state = state;
        self.event(now, "quic:congestion_state_updated", data);
    }

    fn event(&mut self, now: Instant, name: &str, data: Value) {
        let time = millis(now.since(*self.began.get_or_insert(now)));
        self.write(&json!({ "time": time, "name": name, "data": data }));
    }

    fn write(&mut self, text: &Value) {
        if self.failed.is_none() {
            let out = &mut self.out;
            let mut write = || {
                out.write_all(&[RECORD])?;
                serde_json::to_writer(&mut *out, text)?;
                out.write_all(b"\n")
            };
            self.failed = write().err();
        }
    }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// Milliseconds to the nanosecond.
fn millis(time: impl Into<Duration>) -> f64 {
    time.into().as_nanos() as f64 / 1e6
}
