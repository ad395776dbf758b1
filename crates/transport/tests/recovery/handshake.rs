//! How two ends of a link with WLDR become acquainted: offers, greetings, and what strangers get. It goes beyond the paper.
use crate::exchange::send;
use crate::pair::{End, Frame, converse, ms, number, states};
use recoup_transport::link::recovery::{Ewln, Notice, Outgoing, Tag};
use recoup_transport::time::Instant;

#[test]
fn frames_are_plain_before_the_handshake() {
    let mut a = End::new("wldr", 1);
    for milli in 0..5_000 {
        let frame = a.send(ms(milli), milli);
        assert_eq!(number(&frame), None);
        assert!(a.drain(ms(milli)).is_empty(), "no frame of its own to a stranger");
    }
    assert_eq!((a.counters().held, a.machine.deadline()), (0, None));
}

#[test]
fn unanswered_offers_back_off() {
    let mut a = End::new("wldr", 1);
    let frames: Vec<_> = (0..60_000).map(|milli| a.send(ms(milli), milli)).collect();
    let offers = states(&frames).len();
    assert!((5..12).contains(&offers), "{offers} in a minute");
}

#[test]
fn end_is_verified_by_the_repeated_session() {
    for mask in [u64::MAX, 1] {
        let mut a = End::new("wldr", 1);
        let offer = states(&[a.send(ms(0), 0)])[0];
        // No session, or a forged one.
        let neighbour = if mask == 1 { offer.session ^ mask } else { 0 };
        let forged = recoup_transport::link::recovery::State { session: 7, neighbour, ..offer };
        a.receive(ms(1), &Frame { tag: Tag::notice(Notice::State(forged)), packet: None });
        // The end still offers recovery, and retransmits nothing.
        assert_eq!(states(&a.drain(ms(1)))[0].neighbour, forged.session, "it is answered");
        let again = states(&[a.send(ms(10_000), 1)]);
        assert_eq!(again[0].neighbour, 0);
        let ewln = Ewln { session: offer.session, expected: 0, last_received: 9 };
        a.receive(ms(10_001), &Frame { tag: Tag::notice(Notice::Ewln(ewln)), packet: None });
        assert!(a.drain(ms(10_001)).iter().all(|it| it.packet.is_none()));
    }
}

#[test]
fn answers_to_strangers_are_limited() {
    let mut a = End::new("wldr", 1);
    let offer = states(&[a.send(ms(0), 0)])[0];
    let mut answers = 0;
    for session in 1..=10_000 {
        let now = ms(session / 10);
        let forged = recoup_transport::link::recovery::State { session, ..offer };
        a.receive(now, &Frame { tag: Tag::notice(Notice::State(forged)), packet: None });
        answers += a.drain(now).len();
    }
    assert!((32..=140).contains(&answers), "{answers} in a second");
}

/// Two ends before the handshake; one has a static face and has just come up.
fn greeting(now: Instant) -> (End, End) {
    let (mut a, b) = (End::new("wldr", 1), End::new("wldr", 2));
    a.machine.link_up(now, true);
    (a, b)
}

#[test]
fn greeting_verifies_before_the_first_packet() {
    let (mut a, mut b) = greeting(ms(0));
    let control = converse(ms(0), &mut a, &mut b);
    assert!(states(&control).len() <= 4, "{control:?}");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    send(ms(1), &mut b, &mut a, &[10, 11], &[10]);
    converse(ms(2), &mut a, &mut b);
    assert_eq!((b.got.as_slice(), a.got.as_slice()), (&[1, 0][..], &[11, 10][..]));
}

#[test]
fn greeting_needs_a_packet_before_an_answer() {
    let (mut a, mut b) = greeting(ms(0));
    let greets = |end: &mut End| matches!(end.machine.poll(ms(0)), Some(Outgoing::Greeting(_)));
    assert!(greets(&mut a));
    let offer = a.send(ms(200), 0);
    b.receive(ms(200), &offer);
    assert!(matches!(b.machine.poll(ms(200)), Some(Outgoing::Control(_))), "it reads numbers");
}

#[test]
fn unanswered_greeting_ends_the_numbering() {
    let (mut a, _) = greeting(ms(0));
    let (mut greetings, mut numbered) = (a.drain(ms(0)).len(), 0);
    let mut last = 0;
    for milli in 1..20_000 {
        greetings += a.drain(ms(milli)).len();
        if milli % 400 == 0 && number(&a.send(ms(milli), milli)).is_some() {
            (numbered, last) = (numbered + 1, milli);
        }
    }
    assert!((1..=6).contains(&greetings), "{greetings}");
    assert!(numbered > 2 && last < 8_000, "{numbered} frames, the last at {last} ms");
    let counters = a.counters();
    assert_eq!((counters.held, counters.given_up), (0, counters.labelled));
}

#[test]
fn losses_before_the_handshake_are_recovered() {
    // The greeting and the first frames are lost, or the answer to the greeting is.
    for lost_answer in [false, true] {
        let (mut a, mut b) = greeting(ms(0));
        let hello = a.drain(ms(0)).remove(0);
        if lost_answer {
            b.receive(ms(1), &hello);
            assert_eq!(b.drain(ms(1)).len(), 1);
        }
        send(ms(2), &mut a, &mut b, &[0, 1, 2], &[0, 1]);
        converse(ms(3), &mut a, &mut b);
        assert_eq!(b.got, [2, 0, 1], "{lost_answer}");
        assert_eq!(b.counters().duplicates, 0);
    }
}

#[test]
fn only_frame_is_recovered_after_the_handshake() {
    let (mut a, mut b) = greeting(ms(0));
    assert_eq!(a.drain(ms(0)).len(), 1, "the greeting, which is lost");
    let _lost = a.send(ms(1), 7);
    for _ in 0..4 {
        let Some(due) = a.machine.deadline() else { break };
        converse(due, &mut a, &mut b);
    }
    assert_eq!(b.got, [7]);
}

#[test]
fn answer_to_the_first_frame_has_a_number() {
    let (mut a, mut b) = greeting(ms(0));
    b.receive(ms(1), &a.drain(ms(0)).remove(0));
    let answer = b.send(ms(1), 10);
    assert_eq!(number(&answer), Some(0), "lost");
    converse(ms(2), &mut a, &mut b);
    send(ms(3), &mut b, &mut a, &[11], &[]);
    converse(ms(4), &mut a, &mut b);
    assert_eq!(a.got, [11, 10]);
}
