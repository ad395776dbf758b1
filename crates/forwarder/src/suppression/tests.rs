//! Suppression policies.
use super::*;
use crate::hash::NameHasher;
use crate::table::{InRecord, Pit, PitId};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use std::sync::Arc;

const UP: FaceId = FaceId(9);

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// An entry that expires at second 4, for an Interest of face 1 at second 0, forwarded to `UP`.
fn pending() -> (Pit, PitId) {
    let mut pit = Pit::new(NameHasher::new(1), 1);
    let interest = Arc::new(Interest::new("/a".parse().unwrap()));
    let id = pit.insert(interest, 1).unwrap();
    let entry = pit.entry_mut(id);
    entry.receive(InRecord::new(FaceId(1), Some(1), at(4_000)));
    entry.send(at(0), UP, Some(1), at(4_000));
    (pit, id)
}

/// The times, of these milliseconds, at which an Interest is forwarded.
fn forwarded(policy: &str, arrival: Arrival, millis: &[u64]) -> Vec<u64> {
    let policy = policy.parse::<Suppression>().unwrap();
    let (mut pit, id) = pending();
    let entry = pit.entry_mut(id);
    let mut passed = Vec::new();
    for now in millis {
        let whole = policy.decide(at(*now), entry, arrival);
        assert_eq!(whole, policy.decide_upstream(at(*now), entry, UP, arrival), "at {now} ms");
        if whole != Decision::Suppress {
            entry.send(at(*now), UP, None, at(now + 4_000));
            passed.push(*now);
        }
    }
    passed
}

#[test]
fn the_interval_doubles_from_10_to_250_ms() {
    let every = |millis: u64| (0..200).map(|step| step * millis).collect::<Vec<_>>();
    let passed = forwarded("same-face-retx", Arrival::Retransmission, &every(5));
    assert_eq!(passed, [10, 30, 70, 150, 310, 560, 810]);
}

#[test]
fn a_fixed_interval_stays() {
    let times = [5, 10, 19, 20, 29, 31, 40, 41];
    let passed = forwarded("same-face-retx(fixed=10ms)", Arrival::Retransmission, &times);
    assert_eq!(passed, [10, 20, 31, 41]);
}

#[test]
fn further_face_waits_unless_any_face_counts() {
    let times = [5, 20, 100];
    assert!(forwarded("same-face-retx", Arrival::AnotherFace, &times).is_empty());
    assert!(forwarded("same-face-retx", Arrival::Repetition, &times).is_empty());
    let any = "same-face-retx(faces=any)";
    assert_eq!(forwarded(any, Arrival::AnotherFace, &times), [20, 100]);
}

#[test]
fn strict_lets_nothing_pass_while_the_entry_lives() {
    assert!(forwarded("strict", Arrival::Retransmission, &[10, 1_000, 3_999, 9_000]).is_empty());
}

#[test]
fn soft_hard_forwards_after_the_soft_timeout() {
    for arrival in [Arrival::AnotherFace, Arrival::Retransmission, Arrival::Repetition] {
        assert_eq!(forwarded("soft-hard(soft=50ms)", arrival, &[49, 50, 99, 100]), [50, 100]);
    }
}

#[test]
fn ccnd_waits_for_the_expiry_of_the_transmission() {
    let policy: Suppression = "ccnd".parse().unwrap();
    assert!(policy.sends_renewed() && !Suppression::default().sends_renewed());
    for arrival in [Arrival::AnotherFace, Arrival::Retransmission, Arrival::Repetition] {
        assert_eq!(forwarded("ccnd", arrival, &[10, 1_000, 3_999, 4_000]), [4_000]);
    }
}

#[test]
fn ccnd_rounds_lifetimes_up_to_whole_steps() {
    let policy: Suppression = "ccnd(step=125ms)".parse().unwrap();
    let remembered = |millis| policy.remembered(Duration::from_millis(millis)).as_millis();
    assert_eq!([0, 1, 125, 126, 4_000].map(remembered), [125, 125, 125, 250, 4_000]);
    let other = Suppression::default().remembered(Duration::from_millis(126));
    assert_eq!(other.as_millis(), 126);
}

#[test]
fn entry_without_out_records_is_new() {
    for name in Suppression::names() {
        let policy = name.parse::<Suppression>().unwrap();
        let (mut pit, id) = pending();
        let entry = pit.entry_mut(id);
        let other = policy.decide_upstream(at(1), entry, FaceId(8), Arrival::AnotherFace);
        assert_eq!(other, Decision::New, "{name}");
        entry.out_record_mut(UP).unwrap().set_nacked(NackReason::NoRoute);
        assert_eq!(policy.decide(at(1), entry, Arrival::AnotherFace), Decision::New, "{name}");
        entry.remove_out(UP);
        assert_eq!(policy.decide(at(1), entry, Arrival::First), Decision::New, "{name}");
    }
}

#[test]
fn expired_out_record_is_new_unless_strict() {
    for (policy, expected) in [("same-face-retx", Decision::New), ("strict", Decision::Suppress)] {
        let (mut pit, id) = pending();
        let policy = policy.parse::<Suppression>().unwrap();
        let decision = policy.decide(at(4_000), pit.entry_mut(id), Arrival::AnotherFace);
        assert_eq!(decision, expected, "{policy}");
    }
}

#[test]
fn printed_policies_parse_to_themselves() {
    let texts = [
        ("strict", "strict"),
        ("same-face-retx", "same-face-retx(initial=10ms,factor=2,max=250ms,faces=same)"),
        ("same-face-retx(fixed=10ms)", "same-face-retx(fixed=10ms,faces=same)"),
        ("same-face-retx(initial=1s,faces=any)", "same-face-retx(fixed=1s,faces=any)"),
        (
            "same-face-retx(initial=5ms,factor=3/2)",
            "same-face-retx(initial=5ms,factor=1.5,max=250ms,faces=same)",
        ),
        ("soft-hard", "soft-hard(soft=20ms)"),
        ("soft-hard(soft=auto)", "soft-hard(soft=auto)"),
        ("ccnd", "ccnd(step=125ms)"),
    ];
    for (text, printed) in texts {
        let policy = text.parse::<Suppression>().unwrap();
        assert_eq!(policy.to_string(), printed);
        assert_eq!(printed.parse::<Suppression>(), Ok(policy));
    }
    assert_eq!("same-face-retx".parse::<Suppression>(), Ok(Suppression::default()));
}
