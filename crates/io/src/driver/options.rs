//! Limits and timeouts of a driver.
use recoup_forwarder::face::{Marking, Recovery};
use recoup_transport::time::Duration;

/// Bounds and times of a driver.
#[derive(Clone, Debug)]
pub struct DriverOptions {
    /// How long connecting may take, handshakes included.
    pub connect_timeout: Duration,
    /// A connection that this side opened and that broke is opened again.
    pub reconnect: bool,
    /// Pause before the first new attempt; it doubles with each failure.
    pub reconnect_after: Duration,
    /// Longest pause between attempts.
    pub reconnect_after_at_most: Duration,
    /// Bytes that may wait for one slow peer; what comes on top is dropped.
    pub backlog_bytes: usize,
    /// Bytes that may wait for all slow peers together; one whose socket is full holds no more than is free.
    pub backlog_total_bytes: usize,
    /// Buffer requested for each direction of a UDP socket; the system may grant less.
    pub socket_buffer_bytes: usize,
    /// Longest UDP frame; by default what the first link of the path carries in one piece.
    pub udp_mtu: Option<usize>,
    /// How long an on-demand UDP face may be silent before it is closed.
    pub udp_idle: Duration,
    /// How long a connection from another machine may be idle (silent, without routes and pending Interests) before it is
    /// closed.
    pub stream_idle: Duration,
    /// How long a peer that opened a connection may take nothing of what waits for it.
    pub stream_stall: Duration,
    /// Connections from one address that may be idle for more than some seconds.
    pub idle_streams_per_address: usize,
    /// Faces that peers may open, of each kind: over Unix, over TCP and WebSocket, over UDP, over Ethernet. No kind may have
    /// more than an eighth of all faces; local connections take at most a quarter, others half of the descriptors.
    pub on_demand_faces: usize,
    /// Peers over UDP of whose Interests none was answered yet, at most a quarter of all faces.
    pub newcomers: usize,
    /// Faces that peers may open from one address, or from one network of IPv6 (/64); and as many newcomers.
    pub faces_per_address: usize,
    /// Faces in all.
    pub faces: usize,
    /// When packets that leave are marked for congestion; by default never.
    pub marking: Option<Marking>,
    /// Recovery of faces that remote peers open; off by default. If it is negotiated, so is that of
    /// faces that the management opens.
    pub on_demand_recovery: Recovery,
    /// How long reading is put off where packets come in close succession and each wakes the driver; by default never.
    pub coalesce: Option<Duration>,
    /// How long to look again before going to sleep, where the last waits were no longer; by default never.
    pub busy_poll: Option<Duration>,
    /// The machine has a management that receives descriptions of faces.
    pub managed: bool,
    /// How late a timer may fire so that the system can save power; its own default is 50 µs.
    pub timer_slack: Duration,
    /// Time in which the process was stopped (SIGSTOP, a debugger) does not count, as that of a suspended machine does not.
    /// For consumers: after a stop they go on where they were. A forwarder must not have it, as packets age meanwhile.
    pub leaves_stops_out: bool,
}

impl Default for DriverOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            reconnect: true,
            reconnect_after: Duration::from_millis(500),
            reconnect_after_at_most: Duration::from_secs(10),
            backlog_bytes: 8 << 20,
            backlog_total_bytes: 32 << 20,
            socket_buffer_bytes: 4 << 20,
            udp_mtu: None,
            udp_idle: Duration::from_secs(120),
            stream_idle: Duration::from_secs(600),
            stream_stall: Duration::from_secs(120),
            idle_streams_per_address: 64,
            on_demand_faces: 1_024,
            newcomers: 2_048,
            faces_per_address: 256,
            faces: 8_192,
            marking: None,
            on_demand_recovery: Recovery::Off,
            coalesce: None,
            busy_poll: None,
            managed: false,
            timer_slack: Duration::from_micros(1),
            leaves_stops_out: false,
        }
    }
}

impl DriverOptions {
    /// How long to wait before another attempt to open what could not be opened so many times in a row.
    pub(crate) fn back_off(&self, failures: u32) -> Duration {
        let doubled = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        self.reconnect_after.saturating_mul(doubled).min(self.reconnect_after_at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::IDLE_LIMIT;
    use crate::tcp::{PROBE_AFTER, PROBE_INTERVAL, PROBES};
    use recoup_forwarder::limits::MAX_LIFETIME;
    use recoup_forwarder::suppression;
    use recoup_forwarder::table::DeadNonceOptions;
    use recoup_transport::fetch::{DENIED_WAIT, FetchOptions, REPEAT_AFTER};
    use recoup_transport::registration::{KEEP_ALIVE, MAX_ATTEMPTS, NAT_BINDING, PATIENCE};
    use recoup_transport::registration::{REFRESH, RETRY};
    use recoup_transport::resolve;
    use recoup_transport::rto::JacobsonSettings;
    use recoup_transport::serve::{DENIAL_DELAY, DENIAL_FRESHNESS, FAILURE_DELAY, ServeOptions};

    /// Time after which NFD and ndnd close an idle UDP face.
    const OTHER_UDP_IDLE: Duration = Duration::from_secs(600);

    /// Each pair of timers of two parts that must keep an order: the first is shorter.
    #[test]
    fn timers_of_two_parts_keep_their_order() {
        let driver = DriverOptions::default();
        let FetchOptions { lifetime, no_progress, .. } = FetchOptions::default();
        let least_rto = JacobsonSettings::default().min;
        let serve = ServeOptions::default();
        let tcp_probes = PROBE_AFTER + PROBE_INTERVAL * PROBES;
        let repeated = REPEAT_AFTER + FAILURE_DELAY;
        for (shorter, one, longer, other) in [
            ("keep-alive", KEEP_ALIVE, "binding of an address translator", NAT_BINDING),
            ("three keep-alives", KEEP_ALIVE * 3, "idle UDP face", driver.udp_idle),
            ("three keep-alives", KEEP_ALIVE * 3, "idle UDP face of others", OTHER_UDP_IDLE),
            ("keep-alive", KEEP_ALIVE, "idle client of an impaired link", IDLE_LIMIT),
            ("keep-alive", KEEP_ALIVE, "renewal of a registration", REFRESH),
            ("all commands", PATIENCE * MAX_ATTEMPTS, "retry of a registration", RETRY),
            ("retry of a registration", RETRY, "idle UDP face", driver.udp_idle),
            ("probes of a connection", tcp_probes, "idle connection", driver.stream_idle),
            ("connecting", driver.connect_timeout, "no progress", no_progress),
            (
                "pause before a new connection",
                driver.reconnect_after_at_most,
                "no progress",
                no_progress,
            ),
            ("Interest lifetime", lifetime, "longest pending Interest", MAX_LIFETIME),
            ("Interest lifetime", lifetime, "dead nonce", DeadNonceOptions::default().lifetime),
            ("Interest lifetime", lifetime, "no progress", no_progress),
            ("certificate", resolve::PATIENCE, "no progress", no_progress),
            ("fresh metadata", ServeOptions::METADATA_FRESHNESS, "fresh segment", serve.freshness),
            ("fresh application Nack", DENIAL_FRESHNESS, "Interest after it", DENIED_WAIT),
            ("suppressed Interest", suppression::INITIAL, "repeated Interest", REPEAT_AFTER),
            ("repeated Interest, and a failure", repeated, "application Nack", DENIAL_DELAY),
            ("application Nack", DENIAL_DELAY, "least timeout", least_rto),
            ("application Nack", DENIAL_DELAY, "Interest lifetime", lifetime),
        ] {
            assert!(one < other, "{shorter} ({one:?}) is not shorter than {longer} ({other:?})");
        }
    }
}
