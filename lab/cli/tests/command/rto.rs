//! `recoup rto`: estimators over traces, ours and ndnget's.
use crate::place::Place;
use serde_json::Value;

/// A hundred round trips of 20 to 29 ms, and one of 500 ms.
fn trace() -> String {
    let mut text = String::from("segment\trtt\trttvar\tsrtt\trto\ttime\n");
    for segment in 0..100 {
        let rtt = if segment == 80 { 500 } else { 20 + segment % 10 };
        text += &format!("{segment}\t{rtt}\t1\t25\t200\t{}\n", 0.6 + 0.03 * f64::from(segment));
    }
    text
}

#[test]
fn a_trace_is_judged_by_each_estimator() {
    let place = Place::new();
    place.write("rtt.tsv", trace().as_bytes());
    let words = "rto replay rtt.tsv --rto constant,jacobson(min=0ms),reconsidered --json";
    let document: Value = place.run(words).succeeds().document();
    assert_eq!((&document["samples"], &document["timed"]), (&100.into(), &true.into()));
    let estimators = document["estimators"].as_array().unwrap();
    let bad: Vec<_> = estimators.iter().map(|one| one["bad"].as_u64().unwrap()).collect();
    assert_eq!(bad[0], 0, "4 s is never too early");
    assert!(bad[1] >= 1 && bad[1] < 20 && bad[2] == 1, "{bad:?}");
    assert!(estimators[0]["relative_wait"].as_f64() > Some(100.0));
    let full = estimators[2]["estimator"].as_str().unwrap();
    assert!(full.starts_with("reconsidered(alpha=0.0125"), "{full}");
}

#[test]
fn table_states_approximation_and_curves_are_written() {
    let place = Place::new();
    place.write("rtt.tsv", trace().as_bytes());
    let ended = place.run("rto replay rtt.tsv --out curves").succeeds();
    let text = String::from_utf8(ended.stdout).unwrap();
    for piece in ["100 round trips", "experts", "too early", "approximate"] {
        assert!(text.contains(piece), "{text}");
    }
    let curves = String::from_utf8(place.read("curves/rto.csv")).unwrap();
    assert_eq!(curves.lines().count(), 1 + 6 * 100);
    assert!(place.read("curves/rto.svg").starts_with(b"<svg"));
}

#[test]
fn ndngets_log_has_no_times() {
    let place = Place::new();
    place.write("rtt.log", b"segment\trtt\trttvar\tsrtt\trto\n0\t5\t2\t5\t200\n1\t6\t2\t5\t200\n");
    let ended = place.run("rto replay rtt.log --rto rfc6298").succeeds();
    assert!(String::from_utf8(ended.stdout).unwrap().contains("in force before it"));
}

#[test]
fn log_of_ping_has_times() {
    let place = Place::new();
    let mut log = String::from("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n");
    for seq in 1..=20 {
        log += &format!(
            "[{}.5] 64 bytes from 192.0.2.1: icmp_seq={seq} ttl=64 time=20.1 ms\n",
            1_000 + seq
        );
    }
    place.write("ping.log", log.as_bytes());
    let document = place.run("rto replay ping.log --rto rfc6298 --json").succeeds().document();
    assert_eq!((&document["samples"], &document["timed"]), (&20.into(), &true.into()));
    place.write("ping.log", log.replace("icmp_seq=7", "icmp_seq=x").as_bytes());
    place.run("rto replay ping.log").fails(4, &["line 8: `[1007.5] 64 bytes", "ping"]);
}

#[test]
fn non_trace_is_rejected_with_valid_forms() {
    let place = Place::new();
    place.write("noise", b"\x00\xff\n\xfe\t\t\n");
    place.run("rto replay noise").fails(4, &["noise", "segments.tsv"]);
    place.write("cwnd.tsv", b"time\tcwndsize\n0\t1\n");
    place.run("rto replay cwnd.tsv").fails(4, &["no column `segment`", "rtt.tsv"]);
    place.run("rto replay nowhere.tsv").fails(4, &["nowhere.tsv"]);
    place.write("rtt.tsv", trace().as_bytes());
    place.run("rto replay rtt.tsv --rto jakobson").fails(2, &["--rto", "jacobson"]);
    place.run("rto replay rtt.tsv --rto jacobson,").fails(2, &["--rto"]);
}
