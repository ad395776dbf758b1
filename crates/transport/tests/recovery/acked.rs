//! NDNLPv2 reliability as in NFD, one rule for each test.
use crate::pair::{End, Frame, converse, ms, sending};
use recoup_transport::link::recovery::{Arrival, Sending, Tag};
use recoup_transport::time::{Duration, Instant};

fn ends() -> (End, End) {
    (End::new("acked", 1), End::new("acked", 2))
}

fn numbers(frame: &Frame) -> (Option<u64>, Option<u64>) {
    (frame.tag.sequence, frame.tag.tx_sequence)
}

fn acks(acks: &[u64]) -> Frame {
    Frame { tag: Tag { acks: acks.to_vec(), ..Tag::default() }, packet: None }
}

#[test]
fn sequence_is_constant_and_tx_sequence_changes() {
    let (mut a, _) = ends();
    assert_eq!(numbers(&a.send(ms(0), 0)), (Some(0), Some(0)));
    assert_eq!(numbers(&a.send(ms(0), 1)), (Some(1), Some(1)));
    let again = a.drain(ms(1_000));
    assert_eq!(
        again.iter().map(numbers).collect::<Vec<_>>(),
        [(Some(0), Some(2)), (Some(1), Some(3)),]
    );
}

#[test]
fn acknowledgements_ride_on_frames_that_leave_anyway() {
    let (mut a, mut b) = ends();
    b.receive(ms(0), &a.send(ms(0), 0));
    b.receive(ms(1), &a.send(ms(1), 1));
    let answer = b.send(ms(2), 2);
    assert_eq!(answer.tag.acks, [0, 1]);
    a.receive(ms(3), &answer);
    assert_eq!((a.counters().settled, a.counters().held), (2, 0));
    assert!(b.drain(ms(100)).is_empty());
}

#[test]
fn acknowledgements_fit_the_frame() {
    let (mut a, mut b) = ends();
    for packet in 0..5 {
        b.receive(ms(0), &a.send(ms(0), packet));
    }
    let room = |bytes| Sending { free_bytes: bytes, ..sending(9, None) };
    assert_eq!(b.send_as(ms(1), &room(11)).tag.acks, []);
    assert_eq!(b.send_as(ms(1), &room(25)).tag.acks, [0, 1]);
}

#[test]
fn acknowledgements_wait_five_milliseconds_and_then_leave_alone() {
    let (mut a, mut b) = ends();
    b.receive(ms(0), &a.send(ms(0), 0));
    b.receive(ms(4), &a.send(ms(4), 1));
    assert_eq!(b.machine.deadline(), Some(ms(5)));
    assert!(b.drain(Instant::from_nanos(4_999_999)).is_empty());
    assert_eq!(b.drain(ms(5)), [acks(&[0, 1])]);
    assert_eq!(b.machine.deadline(), None);
}

#[test]
fn three_greater_acknowledgements_declare_a_loss() {
    let (mut a, _) = ends();
    for packet in 0..6 {
        let _ = a.send(ms(0), packet);
    }
    a.receive(ms(1), &acks(&[1, 2]));
    assert!(a.drain(ms(1)).is_empty());
    a.receive(ms(2), &acks(&[3]));
    let again = a.drain(ms(2));
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].packet, numbers(&again[0])), (Some(0), (Some(0), Some(6))));
}

#[test]
fn retransmission_is_overtaken_separately() {
    let (mut a, _) = ends();
    for packet in 0..9 {
        let _ = a.send(ms(0), packet);
    }
    a.receive(ms(1), &acks(&[1, 2, 3]));
    assert_eq!(a.drain(ms(1)).len(), 1);
    a.receive(ms(2), &acks(&[4, 5, 6, 7, 8]));
    assert!(a.drain(ms(2)).is_empty(), "they left before it");
}

#[test]
fn timer_samples_frames_sent_once() {
    let (mut a, _) = ends();
    let _ = a.send(ms(0), 0);
    let mut sent = Vec::new();
    while let Some(due) = a.machine.deadline() {
        sent.extend(a.drain(due).iter().map(|_| due));
    }
    assert_eq!(sent, [ms(1_000), ms(2_000), ms(3_000)], "three times again, a second apart");
    assert_eq!((a.counters().given_up, a.counters().held), (1, 0));
    // Round trips of 10 ms: the timer falls to its minimum of 200 ms.
    for round in 0..20 {
        let at = ms(4_000 + 100 * round);
        let number = a.send(at, 1).tag.tx_sequence.unwrap();
        a.receive(at + Duration::from_millis(10), &acks(&[number]));
    }
    let _ = a.send(ms(10_000), 2);
    assert_eq!(a.machine.deadline(), Some(ms(10_200)));
    // An acknowledgement of a retransmission is no sample (Karn).
    let again = a.drain(ms(10_200))[0].tag.tx_sequence.unwrap();
    a.receive(ms(19_000), &acks(&[again]));
    let _ = a.send(ms(20_000), 3);
    assert_eq!(a.machine.deadline(), Some(ms(20_200)));
}

#[test]
fn packet_is_given_up_with_its_frame() {
    let (mut a, _) = ends();
    let piece = Sending { alone: false, ..sending(7, None) };
    let _ = a.send_as(ms(0), &piece);
    let _ = a.send_as(ms(500), &piece);
    let _ = a.send_as(ms(500), &sending(8, None));
    for due in [1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000] {
        a.drain(ms(due));
    }
    assert_eq!(a.machine.poll_lost(), Some(7));
    assert_eq!((a.counters().given_up, a.machine.poll_lost()), (2, None));
    assert_eq!(a.counters().held, 1, "the other packet");
}

#[test]
fn duplicate_is_delivered_once_and_acknowledged_twice() {
    let (mut a, mut b) = ends();
    let frame = a.send(ms(0), 0);
    assert_eq!(b.receive(ms(1), &frame), Arrival::Deliver);
    assert_eq!(b.receive(ms(1), &frame), Arrival::Duplicate);
    assert_eq!(b.drain(ms(6)), [acks(&[0, 0])]);
}

#[test]
fn frames_are_sent_at_most_four_times() {
    let mut a = End::new("acked", 1);
    let mut frames = vec![a.send(ms(0), 0)];
    for second in 1..60 {
        frames.extend(a.drain(ms(1_000 * second)));
    }
    assert_eq!(frames.len(), 4);
}

/// Sends frames without acknowledgement; returns the number of transmissions until none is held.
fn sent_in_vain(end: &mut End, from: Instant, frames: u64) -> usize {
    for packet in 0..frames {
        let _ = end.send(from, packet);
    }
    (1..10).map(|second| end.drain(from + Duration::from_secs(second)).len()).sum()
}

#[test]
fn silent_neighbour_gets_no_retransmissions() {
    let (mut a, _) = ends();
    // The 64th loss ends retransmissions; those of earlier losses are in flight already.
    assert_eq!(sent_in_vain(&mut a, ms(0), 100), 63);
    assert_eq!(sent_in_vain(&mut a, ms(20_000), 100), 0);
    let counters = a.counters();
    assert_eq!(counters.labelled, counters.resent + counters.expired);
    // An unknown number is ignored; a known one, however late, shows that the neighbour has reliability.
    let number = numbers(&a.send(ms(40_000), 0)).1.unwrap();
    a.receive(ms(42_000), &acks(&[number + 1]));
    assert_eq!(sent_in_vain(&mut a, ms(43_000), 1), 0);
    a.receive(ms(54_000), &acks(&[number]));
    assert_eq!(sent_in_vain(&mut a, ms(55_000), 100), 300);
}

#[test]
fn neighbour_after_a_break_acknowledges_anew() {
    let (mut a, _) = ends();
    let number = numbers(&a.send(ms(0), 0)).1.unwrap();
    a.receive(ms(10), &acks(&[number]));
    assert_eq!(sent_in_vain(&mut a, ms(20), 100), 300);
    a.machine.link_down(ms(20_000));
    a.machine.link_up(ms(20_000), true);
    assert_eq!(sent_in_vain(&mut a, ms(20_000), 100), 63, "it may be one without reliability");
}

#[test]
fn what_is_held_is_bounded() {
    let mut a = End::new("acked(frames=10,bytes=8000)", 1);
    for packet in 0..100 {
        let _ = a.send(ms(0), packet);
        assert!(a.counters().held_bytes <= 8_000);
    }
    assert_eq!((a.counters().held, a.counters().expired), (8, 92));
}

#[test]
fn losses_are_recovered_within_a_round_trip() {
    let (mut a, mut b) = ends();
    for packet in 0..1_000 {
        let now = ms(packet);
        let frame = a.send(now, packet);
        if packet % 10 != 3 {
            b.receive(now, &frame);
        }
        converse(now, &mut a, &mut b);
    }
    for milli in 1_000..1_020 {
        converse(ms(milli), &mut a, &mut b);
    }
    let mut got = b.got.clone();
    got.sort_unstable();
    assert_eq!(got, (0..1_000).collect::<Vec<_>>());
    assert_eq!((a.counters().resent, b.counters().duplicates), (100, 0));
}
