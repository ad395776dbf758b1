//! A transfer as qlog.
use recoup_packet::nack::NackReason;
use recoup_trace::qlog::Qlog;
use recoup_transport::event::{Event, Signal, Span};
use recoup_transport::time::{Duration, Instant};
use serde_json::Value;
use std::io::{self, Write};

fn span(millis: u64) -> Span {
    Duration::from_millis(millis).into()
}

fn sent(segment: u64, transmissions: u32) -> Event {
    Event::Sent { segment, transmissions, rto: span(200) }
}

fn received(segment: u64, transmissions: u32) -> Event {
    let (rtt, delay) = (span(20), span(20));
    Event::Received { segment, content_bytes: 1_000, wire_bytes: 1_100, rtt, delay, transmissions }
}

/// The texts of the log of these events, one each millisecond; the head first.
fn log(events: &[Event]) -> Vec<Value> {
    let mut log = Qlog::new("/a/file", Vec::new());
    for (millis, event) in (7..).zip(events) {
        log.on(Instant::from_millis(millis), event);
    }
    let bytes = log.finish().unwrap();
    let records = bytes.split(|byte| *byte == 0x1e).skip(1);
    let texts = records.map(|text| {
        assert_eq!(text.last(), Some(&b'\n'));
        serde_json::from_slice(text).unwrap()
    });
    texts.collect()
}

#[test]
fn data_acknowledges_the_last_interest() {
    let events =
        [sent(5, 1), sent(6, 1), Event::TimedOut { segment: 5 }, sent(5, 2), received(5, 2)];
    let log = log(&events);
    assert_eq!(log[0]["trace"]["event_schemas"][0], "urn:ietf:params:qlog:events:quic-12");
    let numbers: Vec<_> =
        log[1..].iter().map(|it| it["data"]["header"]["packet_number"].as_u64()).collect();
    assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(2), Some(0)]);
    assert_eq!(
        (&log[3]["name"], &log[3]["data"]["trigger"]),
        (&"quic:packet_lost".into(), &"pto_expired".into())
    );
    assert_eq!(log[5]["data"]["frames"][0]["acked_ranges"][0], serde_json::json!([2, 2]));
    assert_eq!(log[5]["data"]["raw"]["length"], 1_100);
    // Times count from the first event.
    assert_eq!((log[1]["time"].as_f64(), log[5]["time"].as_f64()), (Some(0.0), Some(4.0)));
}

#[test]
fn recovery_ends_with_a_later_interest() {
    let window = |window, ssthresh| Event::Window { window, ssthresh, delay_window: 0.0 };
    let events = [
        sent(1, 1),
        sent(2, 1),
        window(2.5, f64::INFINITY),
        Event::Reduced { cause: Signal::Mark },
        window(1.5, 1.5),
        received(1, 1),
        sent(3, 1),
        received(2, 1),
        received(3, 1),
    ];
    let log = log(&events);
    let states: Vec<_> = log
        .iter()
        .filter(|it| it["name"] == "quic:congestion_state_updated")
        .map(|it| (it["time"].as_f64().unwrap(), it["data"]["new"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [(3.0, "recovery"), (8.0, "congestion_avoidance")]);
    let windows: Vec<_> = log
        .iter()
        .filter(|it| it["name"] == "quic:recovery_metrics_updated")
        .map(|it| (it["data"]["congestion_window"].as_u64(), it["data"]["ssthresh"].as_u64()))
        .collect();
    assert_eq!(windows, [(Some(2), None), (Some(1), Some(1))]);
}

#[test]
fn other_events_have_names_of_their_own() {
    let nack = Event::Nacked { segment: Some(4), reason: NackReason::Congestion };
    let log = log(&[sent(4, 1), nack, Event::LeftOut { segment: 4 }, received(4, 1)]);
    assert_eq!(
        (&log[2]["name"], &log[2]["data"]["reason"]),
        (&"recoup:nack".into(), &"congestion".into())
    );
    assert_eq!(log[3]["name"], "recoup:left_out");
    // Data of a segment that was given up acknowledges nothing.
    assert_eq!(log[4]["data"]["frames"].as_array().unwrap().len(), 1);
}

/// A file that takes so many bytes.
struct Short(usize);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn first_error_ends_the_log() {
    let mut log = Qlog::new("/a", Short(800));
    for segment in 0..20 {
        log.on(Instant::from_millis(segment), &sent(segment, 1));
    }
    assert_eq!(log.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
}
