//! Round-trip times.
use crate::place::{Place, kill};
use std::io::{BufRead, BufReader, Read};

#[test]
fn questions_are_answered_and_counted() {
    let place = Place::new();
    let server = place.serve("ping /site --serve --listen udp://127.0.0.1:0");
    let face = server.face();
    let ended = place.run(&format!("ping /site -c 3 -i 10ms -n 7 --face {face}")).succeeds();
    let text = String::from_utf8(ended.stdout).unwrap();
    for piece in ["seq=7 time=", "seq=9 time=", "3 sent, 3 received", "0.0 % lost", "mdev"] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    let words = format!("ping /site -c 2 -i 10ms --json --face {face}");
    let document = place.run(&words).succeeds().document();
    assert_eq!((&document["sent"], &document["received"]), (&2.into(), &2.into()));
    assert!(document["rtt_ms"]["min"].as_f64().unwrap() > 0.0);
    let round_trips = document["round_trips"].as_array().unwrap();
    assert_eq!(round_trips.len(), 2);
    assert!(round_trips[1]["sent_s"].as_f64() > round_trips[0]["sent_s"].as_f64());
    let (code, document) = server.stop("TERM");
    assert_eq!((code, &document["answered"]), (Some(0), &5.into()));
}

#[test]
fn a_name_without_answer_is_a_failure() {
    let place = Place::new();
    let server = place.serve("ping /site --serve --listen tcp://127.0.0.1:0");
    let face = server.face();
    let words = format!("ping /other -c 2 -i 10ms -t 300ms --face {face}");
    let ended = place.run(&words).fails(3, &["no route to /other"]);
    assert!(String::from_utf8(ended.stdout).unwrap().contains("reason="));
}

#[test]
fn a_signal_ends_it_with_the_summary() {
    let place = Place::new();
    let server = place.serve("ping /site --serve --listen udp://127.0.0.1:0");
    let words = format!("ping /site -i 10ms --face {}", server.face());
    let mut child = place.command(&words).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains(" time=") && stdout.read_line(&mut text).unwrap() > 0 {}
    kill(&child, "INT");
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.contains("rtt min/avg/max/mdev"), "{text}");
}
