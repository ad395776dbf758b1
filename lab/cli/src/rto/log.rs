//! Round trips in the logs of other programs.
//!
//! | log | found by | time of a round trip |
//! |---|---|---|
//! | `ping`, `ping -D` (Starlink LENS) | lines with `bytes from` | arrival, in brackets |
//! | irtt (`-o`) | `round_trips` | sent, by the monotonic clock |
//! | RIPE Atlas | `prb_id` | `timestamp`, then each second |
//! | `recoup ping --json` | `"command": "ping"` | sent |
//!
//! Lost packets and duplicates are no round trips. Times count from the first round trip of the log.
//!
//! Differences: results of several probes of RIPE Atlas are an error, since one timer has one path.
use super::trace::{LONGEST_S, MOST_ROWS, Row};
use recoup_transport::time::{Duration, Instant};
use serde::Deserialize;

/// A round trip before times are counted from the first.
struct Sample {
    number: u64,
    rtt_s: f64,
    /// Seconds since any point in time.
    sent_s: Option<f64>,
}

/// Rows of a log; `None` if the text is none of them.
pub(super) fn parse(text: &str) -> Option<Result<Vec<Row>, String>> {
    let start = text.trim_start();
    let is_ping = text.lines().take(100).any(|line| line.contains(" bytes from "));
    let samples = match start.chars().next()? {
        _ if is_ping => ping(text),
        '{' if has_key(start, "prb_id") => atlas(start),
        '{' => document(start),
        '[' => atlas(start),
        _ => return None,
    };
    Some(samples.and_then(rows))
}

/// Whether the first line of a document names a key, as RIPE Atlas' results on lines do.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(&format!("\"{key}\"")))
}

fn rows(samples: Vec<Sample>) -> Result<Vec<Row>, String> {
    if samples.is_empty() {
        return Err("it has no round trip".into());
    }
    if samples.len() > MOST_ROWS {
        return Err(format!("it has more than {MOST_ROWS} round trips"));
    }
    let first = samples.iter().filter_map(|sample| sample.sent_s).fold(f64::INFINITY, f64::min);
    let row = |sample: Sample| {
        let seconds = |value: f64, what: &str| match value {
            value if (0.0..=LONGEST_S).contains(&value) => Ok(Duration::from_secs_f64(value)),
            _ => Err(format!("round trip {}: {what} of {value} s", sample.number)),
        };
        let rtt = seconds(sample.rtt_s, "a duration")?;
        let sent = sample.sent_s.map(|sent| seconds(sent - first, "a time after the first"));
        let sent = sent.transpose()?.map(|sent| Instant::ZERO + sent);
        Ok(Row { segment: sample.number, rtt, delay: rtt, sent, transmissions: 1 })
    };
    samples.into_iter().map(row).collect()
}

/// Parts of ping's other lines: its head and end, and packets without an answer.
const OTHERS: [&str; 14] = [
    "PING",
    "ping",
    "statistics",
    "transmitted",
    "min/avg",
    "From ",
    "no answer",
    "imeout",
    "nreachable",
    "exceeded",
    "edirect",
    "ate limit",
    "uench",
    "^C",
];

/// Lines of ping.
fn ping(text: &str) -> Result<Vec<Sample>, String> {
    let mut samples = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_answer = line.contains(" bytes from ");
        let is_known = line.trim().is_empty() || OTHERS.iter().any(|part| line.contains(part));
        if line.contains("(DUP!)") || !is_answer && is_known {
            continue;
        }
        samples.push(answer(line).ok_or_else(|| format!("line {number}: `{}`", excerpt(line)))?);
    }
    Ok(samples)
}

/// `[1700000000.123] 64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=27.9 ms`; also `seq=`, and without the time in
/// brackets.
fn answer(line: &str) -> Option<Sample> {
    let line = line.trim();
    let arrived = match line.strip_prefix('[') {
        Some(rest) => Some(rest.split_once(']')?.0.parse::<f64>().ok()?),
        None => None,
    };
    let value = |key: &str| {
        let behind = &line[line.find(key)? + key.len()..];
        behind.split([' ', ':', ',']).find(|text| !text.is_empty())
    };
    let number = value("seq=")?.parse().ok()?;
    let behind = line[line.find("time=")? + 5..].trim();
    let end = behind.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(behind.len());
    let factor = match behind[end..].split_whitespace().next() {
        Some("ms") => 1e-3,
        Some("s" | "sec") => 1.0,
        Some("us") => 1e-6,
        _ => return None,
    };
    let rtt_s = behind[..end].parse::<f64>().ok()? * factor;
    Some(Sample { number, rtt_s, sent_s: arrived.map(|arrived| arrived - rtt_s) })
}

/// A document of irtt, or of `recoup ping --json`.
#[derive(Deserialize)]
struct Document {
    command: Option<String>,
    round_trips: Option<Vec<RoundTrip>>,
}

/// A round trip of irtt, or of `recoup ping --json`.
#[derive(Deserialize)]
struct RoundTrip {
    /// irtt.
    seqno: Option<u64>,
    delay: Option<Delay>,
    timestamps: Option<Timestamps>,
    /// `recoup ping`.
    seq: Option<u64>,
    sent_s: Option<f64>,
    rtt_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Delay {
    /// Nanoseconds; missing for a lost packet.
    rtt: Option<i64>,
}

#[derive(Deserialize)]
struct Timestamps {
    client: Client,
}

#[derive(Deserialize)]
struct Client {
    send: Clocks,
}

#[derive(Deserialize)]
struct Clocks {
    /// Nanoseconds.
    monotonic: Option<i64>,
    wall: Option<i64>,
}

fn document(text: &str) -> Result<Vec<Sample>, String> {
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(round_trips) = document.round_trips else {
        return Err(match document.command.as_deref() {
            Some("ping") => "its ping has no `round_trips`: an earlier version wrote it".into(),
            _ => {
                "it has neither `round_trips` (irtt, recoup ping) nor `prb_id` (RIPE Atlas)".into()
            }
        });
    };
    let mut samples = Vec::new();
    for (place, one) in (1..).zip(round_trips) {
        let sample = match one {
            RoundTrip { seq: Some(number), rtt_ms: Some(rtt), sent_s, .. } => {
                Some(Sample { number, rtt_s: rtt / 1e3, sent_s })
            }
            RoundTrip { seqno: Some(number), delay, timestamps, .. } => {
                let sent =
                    timestamps.and_then(|it| it.client.send.monotonic.or(it.client.send.wall));
                let sent_s = sent.map(|nanos| nanos as f64 / 1e9);
                let rtt = delay.and_then(|delay| delay.rtt);
                rtt.map(|nanos| Sample { number, rtt_s: nanos as f64 / 1e9, sent_s })
            }
            _ => return Err(format!("entry {place} of `round_trips` has no `seqno` and no `seq`")),
        };
        samples.extend(sample);
    }
    Ok(samples)
}

/// A result of RIPE Atlas.
#[derive(Deserialize)]
struct Measurement {
    prb_id: u64,
    msm_id: Option<u64>,
    timestamp: f64,
    #[serde(rename = "type")]
    kind: Option<String>,
    result: Option<Vec<Packet>>,
}

/// `{"rtt": 20.1}`, `{"x": "*"}` or `{"error": …}`.
#[derive(Deserialize)]
struct Packet {
    rtt: Option<f64>,
    /// An answer that had arrived before.
    dup: Option<serde_json::Value>,
}

/// Results as one list, or each on its line.
fn atlas(text: &str) -> Result<Vec<Sample>, String> {
    let mut results = Vec::new();
    if text.starts_with('[') {
        results = serde_json::from_str::<Vec<Measurement>>(text).map_err(|e| e.to_string())?;
    } else {
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let result = serde_json::from_str(line);
            results.push(result.map_err(|error| format!("line {number}: {error}"))?);
        }
    }
    let source = |one: &Measurement| (one.prb_id, one.msm_id);
    let mut samples = Vec::new();
    for (place, one) in (1..).zip(&results) {
        if source(one) != source(&results[0]) {
            let (first, other) = (results[0].prb_id, one.prb_id);
            return Err(format!(
                "result {place} is of another probe or measurement ({other} beside {first}); keep one: \
                 jq 'map(select(.prb_id == {first}))'"
            ));
        }
        let packets = match (one.kind.as_deref(), &one.result) {
            (None | Some("ping"), Some(packets)) => packets,
            _ => return Err(format!("result {place} is no ping with a list `result`")),
        };
        for (second, packet) in (0_u32..).zip(packets) {
            if let (Some(rtt), None) = (packet.rtt, &packet.dup) {
                let number = samples.len() as u64;
                let sent_s = Some(one.timestamp + f64::from(second));
                samples.push(Sample { number, rtt_s: rtt / 1e3, sent_s });
            }
        }
    }
    Ok(samples)
}

fn excerpt(line: &str) -> String {
    line.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, u128, Option<u64>)> {
        let rows = parse(text).unwrap().unwrap();
        let sent = |row: &Row| row.sent.map(|at| at.as_nanos() / 1_000);
        rows.iter().map(|row| (row.segment, row.rtt.as_micros(), sent(row))).collect()
    }

    fn error(text: &str) -> String {
        parse(text).unwrap().unwrap_err()
    }

    #[test]
    fn line_that_ping_never_writes_is_an_error() {
        let answer = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=20.0 ms\n";
        assert_eq!(error(&format!("{answer}\nhello\n{answer}")), "line 3: `hello`");
        let others = "From 192.0.2.9 icmp_seq=2 Destination Host Unreachable\nRequest timeout for icmp_seq 3\n^C\n\
            --- 192.0.2.1 ping statistics ---\n2 packets transmitted, 1 received, 50% packet loss, time 1001ms\n\
            rtt min/avg/max/mdev = 20.0/20.0/20.0/0.0 ms\nround-trip min/avg/max/stddev = 20.0/20.0/20.0/0.0 ms\n";
        assert_eq!(read(&format!("{answer}{others}")).len(), 1);
    }

    #[test]
    fn ping_has_arrivals_in_brackets() {
        let text = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\
            [1700000000.020000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=20.0 ms\n\
            [1700000000.520000] no answer yet for icmp_seq=2\n\
            [1700000001.050000] 64 bytes from host (192.0.2.1): icmp_seq=3 ttl=64 time=50.0 ms\n\
            [1700000001.060000] 64 bytes from host (192.0.2.1): icmp_seq=3 ttl=64 time=60.0 ms (DUP!)\n\
            --- 192.0.2.1 ping statistics ---\nrtt min/avg/max/mdev = 20/35/50/15 ms\n";
        assert_eq!(read(text), [(1, 20_000, Some(0)), (3, 50_000, Some(1_000_000))]);
        let plain = "64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=0.5 ms\n";
        assert_eq!(read(plain), [(0, 500, None)]);
        let damaged =
            "64 bytes from a: icmp_seq=0 time=0.5 ms\n64 bytes from a: icmp_seq=1 time=fast\n";
        assert!(error(damaged).starts_with("line 2: `64 bytes from a"), "{}", error(damaged));
    }

    #[test]
    fn irtt_counts_nanoseconds() {
        let text = r#"{"version": {"irtt": "0.9.1"}, "round_trips": [
            {"seqno": 0, "lost": "false", "delay": {"receive": 1, "rtt": 20000000, "send": 2},
             "timestamps": {"client": {"receive": {"wall": 9, "monotonic": 120000000},
                                       "send": {"wall": 9, "monotonic": 100000000}}}},
            {"seqno": 1, "lost": "true", "delay": {},
             "timestamps": {"client": {"send": {"wall": 9, "monotonic": 110000000}}}},
            {"seqno": 2, "lost": "false", "delay": {"rtt": 30000000},
             "timestamps": {"client": {"send": {"monotonic": 120000000}}}}]}"#;
        assert_eq!(read(text), [(0, 20_000, Some(0)), (2, 30_000, Some(20_000))]);
        assert!(error(r#"{"round_trips": [{"lost": "true"}]}"#).contains("entry 1"));
        assert!(error(r#"{"round_trips": [}"#).contains("line 1"));
        assert!(error(r#"{"command": "fetch"}"#).contains("neither"));
    }

    #[test]
    fn atlas_results_are_of_one_probe() {
        let result = |probe: u32, at: u32| {
            format!(
                "{{\"prb_id\": {probe}, \"msm_id\": 7, \"timestamp\": {at}, \"type\": \"ping\", \
                 \"result\": [{{\"rtt\": 20.5}}, {{\"x\": \"*\"}}, {{\"rtt\": 21}}]}}"
            )
        };
        let expected = [
            (0, 20_500, Some(0)),
            (1, 21_000, Some(2_000_000)),
            (2, 20_500, Some(240_000_000)),
            (3, 21_000, Some(242_000_000)),
        ];
        let (one, two) = (result(5, 1_000), result(5, 1_240));
        assert_eq!(read(&format!("[{one},\n{two}]")), expected);
        assert_eq!(read(&format!("{one}\n{two}\n")), expected);
        assert!(error(&format!("[{one}, {}]", result(6, 1_000))).contains("6 beside 5"));
        assert!(error(&format!("{one}\n{{\"prb_id\":}}\n")).starts_with("line 2"));
        assert!(error(&one.replace("ping", "dns")).contains("result 1 is no ping"));
    }

    #[test]
    fn recoup_ping_has_its_round_trips() {
        let text = r#"{"command": "ping", "sent": 2, "round_trips": [
            {"seq": 7, "sent_s": 0.0, "rtt_ms": 1.5}, {"seq": 8, "sent_s": 1.0, "rtt_ms": 2.5}]}"#;
        assert_eq!(read(text), [(7, 1_500, Some(0)), (8, 2_500, Some(1_000_000))]);
        assert!(error(r#"{"command": "ping", "sent": 2}"#).contains("earlier version"));
    }
}
