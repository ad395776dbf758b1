//! The rules of WLDR (Carofiglio et al. 2016, section 3.1), one for each test, and the additions to the paper.
use crate::pair::{
    End, Frame, acquainted, converse, ewlns, introduce, ms, number, sending, states,
};
use recoup_transport::link::recovery::{
    Arrival, Counters, Ewln, FrameKind, Label, Notice, Outgoing, Sending, Tag,
};
use recoup_transport::time::{Duration, Instant};

/// Sends packets and loses those in `lost`.
fn send(now: Instant, from: &mut End, to: &mut End, packets: &[u64], lost: &[u64]) -> Vec<Frame> {
    let mut sent = Vec::new();
    for packet in packets {
        let frame = from.send(now, *packet);
        if !lost.contains(packet) {
            to.receive(now, &frame);
        }
        sent.push(frame);
    }
    sent
}

/// Delivers all control frames of one end to the other.
fn deliver_control(now: Instant, from: &mut End, to: &mut End) {
    for frame in from.drain(now) {
        to.receive(now, &frame);
    }
}

/// Advances the time at one end until it sends an EWLN, which is lost unless it is passed on.
fn next_ewln(end: &mut End) -> (Instant, Vec<Frame>) {
    loop {
        let due = end.machine.deadline().expect("no EWLN");
        let frames = end.drain(due);
        if !ewlns(&frames).is_empty() {
            return (due, frames);
        }
    }
}

#[test]
fn local_queue_drop_is_not_retransmitted() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2, 3, 4, 5, 6], &[2, 4, 5]);
    for packet in [4, 5] {
        a.machine.dropped(sent[packet].tag.label.unwrap());
    }
    let other = Label { epoch: sent[2].tag.label.unwrap().epoch ^ 1, ..sent[2].tag.label.unwrap() };
    a.machine.dropped(other);
    converse(ms(3), &mut a, &mut b);
    assert_eq!(b.got, [0, 1, 3, 6, 2]);
    let Counters { labelled, resent, settled, given_up, expired, held, .. } = a.counters();
    assert_eq!((resent, given_up), (1, 2));
    assert_eq!(labelled, resent + settled + given_up + expired + held);
    // No further report is sent: the other end has the confirmation.
    let (due, control) = (ms(60_000), &mut Vec::new());
    while let Some(at) = b.machine.deadline().filter(|at| *at < due) {
        b.machine.fire(at);
        control.extend(ewlns(&b.drain(at)));
    }
    assert!(control.is_empty(), "{control:?}");
}

// --- the paper ----------------------------------------------------------------------------------

#[test]
fn the_worked_example_of_figure_1_comes_out() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2, 3, 4, 5, 6], &[4, 5]);
    assert_eq!(sent.iter().filter_map(number).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    let notices = b.drain(ms(2));
    assert_eq!(ewlns(&notices), [(4, 6)], "4 was expected, 6 came");
    a.receive(ms(3), &notices[0]);
    let again: Vec<_> = a.drain(ms(3)).into_iter().filter(|it| it.packet.is_some()).collect();
    let labels: Vec<_> = again.iter().map(|it| (it.packet, number(it))).collect();
    assert_eq!(labels, [(Some(4), Some(7)), (Some(5), Some(8))]);
    for frame in &again {
        assert_eq!(b.receive(ms(4), frame), Arrival::Deliver);
    }
    assert!(ewlns(&b.drain(ms(4))).is_empty(), "7 was expected, and 7 came");
    assert_eq!(b.got, [0, 1, 2, 3, 6, 4, 5]);
}

#[test]
fn interests_and_data_share_one_sequence() {
    let (mut a, _) = acquainted("wldr");
    let kinds = [FrameKind::Interest, FrameKind::Data, FrameKind::Interest];
    let numbers =
        kinds.map(|kind| number(&a.send_as(ms(1), &Sending { kind, ..sending(1, None) })));
    assert_eq!(numbers, [Some(0), Some(1), Some(2)]);
}

#[test]
fn frame_is_numbered_at_its_transmission() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[0]);
    let notice = b.poll(ms(2)).unwrap();
    a.receive(ms(3), &notice);
    // Another frame leaves before the queued one: it gets the lower number.
    let other = a.send(ms(3), 3);
    let again = a.drain(ms(4)).into_iter().find(|it| it.packet == Some(0)).unwrap();
    assert_eq!((number(&other), number(&again)), (Some(3), Some(4)));
}

#[test]
fn lost_retransmission_is_recovered() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    for round in 0..10 {
        deliver_control(ms(2), &mut b, &mut a);
        let again = a.drain(ms(2));
        assert!(again.iter().any(|it| it.packet == Some(0)), "round {round}");
        send(ms(2), &mut a, &mut b, &[10 + round], &[]);
        // The confirmation arrives, the frame does not.
        again.iter().filter(|it| it.packet.is_none()).for_each(|it| {
            b.receive(ms(2), it);
        });
    }
    converse(ms(3), &mut a, &mut b);
    assert_eq!(b.got.iter().filter(|it| **it == 0).count(), 1);
    assert_eq!(a.counters().resent, 11);
}

#[test]
fn retransmissions_end_after_alpha_of_the_lifetime() {
    for (alpha, asked_at, resent) in [
        ("0.8", 80, 1),
        ("0.8", 81, 0),
        ("0.2", 20, 1),
        ("0.2", 21, 0),
        ("0.01", 2, 0),
        ("1", 100, 1),
    ] {
        let (mut a, mut b) = acquainted(&format!("wldr(alpha={alpha})"));
        let hundred = Some(Duration::from_millis(100));
        let _lost = a.send_as(ms(1), &sending(0, hundred));
        let frame = a.send_as(ms(1), &sending(1, hundred));
        b.receive(ms(1), &frame);
        deliver_control(ms(asked_at), &mut b, &mut a);
        converse(ms(asked_at), &mut a, &mut b);
        assert_eq!(a.counters().resent, resent, "α = {alpha}, {asked_at} ms");
        assert_eq!(a.counters().given_up, 1 - resent);
    }
}

#[test]
fn lifetime_counts_from_the_first_transmission() {
    let (mut a, mut b) = acquainted("wldr");
    let hundred = Some(Duration::from_millis(100));
    let _lost = a.send_as(ms(1), &sending(0, hundred));
    b.receive(ms(1), &a.send_as(ms(1), &sending(1, hundred)));
    deliver_control(ms(50), &mut b, &mut a);
    let again = a.drain(ms(50));
    assert_eq!(again.iter().filter(|it| it.packet == Some(0)).count(), 1, "lost again");
    b.receive(ms(70), &a.send(ms(70), 2));
    deliver_control(ms(90), &mut b, &mut a);
    assert_eq!((a.counters().resent, a.counters().given_up), (1, 1));
}

#[test]
fn data_without_lifetime_has_the_default() {
    let (mut a, mut b) = acquainted("wldr(lifetime=10ms)");
    let data = Sending { kind: FrameKind::Data, ..sending(0, None) };
    let _lost = a.send_as(ms(1), &data);
    b.receive(ms(1), &a.send(ms(1), 1));
    deliver_control(ms(9), &mut b, &mut a);
    assert_eq!(a.counters().given_up, 1);
}

#[test]
fn a_late_or_repeated_frame_makes_no_notice() {
    let (mut a, mut b) = acquainted("wldr(hold=5ms)");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    assert_eq!(b.receive(ms(2), &sent[1]), Arrival::Deliver, "late");
    assert_eq!(b.receive(ms(2), &sent[1]), Arrival::Duplicate);
    assert!(b.drain(ms(50)).is_empty());
    assert_eq!(b.counters().duplicates, 1);
}

#[test]
fn ring_is_limited_in_slots_and_bytes() {
    for text in ["wldr(ring=10)", "wldr(bytes=10000)"] {
        let (mut a, mut b) = acquainted(text);
        send(ms(1), &mut a, &mut b, &(0..30).collect::<Vec<_>>(), &(0..29).collect::<Vec<_>>());
        assert_eq!((a.counters().held, a.counters().held_bytes), (10, 10_000), "{text}");
        assert_eq!(a.counters().expired, 20);
        converse(ms(2), &mut a, &mut b);
        assert_eq!(b.got, (20..30).rev().take(1).chain(20..29).collect::<Vec<_>>());
    }
}

#[test]
fn number_of_retransmissions_is_limited() {
    let (mut a, mut b) = acquainted("wldr(resends=2)");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    for round in 0..5 {
        for notice in b.drain(ms(2)) {
            a.receive(ms(2), &notice);
        }
        let again = a.drain(ms(2));
        assert_eq!(again.iter().filter(|it| it.packet.is_some()).count(), usize::from(round < 2));
        send(ms(2), &mut a, &mut b, &[10 + round], &[]);
    }
    assert_eq!((a.counters().resent, a.counters().given_up), (2, 1));
}

#[test]
fn only_the_chosen_kind_is_numbered() {
    for (kinds, numbered) in
        [("both", [true, true]), ("interests", [true, false]), ("data", [false, true])]
    {
        let (mut a, _) = acquainted(&format!("wldr(kinds={kinds})"));
        let has_number = [FrameKind::Interest, FrameKind::Data]
            .map(|kind| number(&a.send_as(ms(1), &Sending { kind, ..sending(1, None) })).is_some());
        assert_eq!(has_number, numbered, "{kinds}");
    }
}

#[test]
fn eln_returns_the_lost_frame() {
    let (mut a, mut b) = acquainted("wldr(mode=eln)");
    send(ms(1), &mut a, &mut b, &[0, 1, 2, 3], &[1, 2]);
    converse(ms(2), &mut a, &mut b);
    let lost: Vec<_> = std::iter::from_fn(|| a.machine.poll_lost()).collect();
    assert_eq!(lost, [1, 2]);
    assert_eq!((b.got, a.counters().resent, a.counters().given_up), (vec![0, 3], 0, 2));
}

#[test]
fn retransmission_carries_its_delay() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    a.receive(ms(4), &b.poll(ms(2)).unwrap());
    let waited = std::iter::from_fn(|| a.machine.poll(ms(7))).find_map(|it| match it {
        Outgoing::Again { waited, .. } => Some(waited),
        _ => None,
    });
    assert_eq!(waited, Some(Duration::from_millis(6)));
}

// --- hand-overs ---------------------------------------------------------------------------------

#[test]
fn losses_during_a_handover_are_recovered() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1, 2]);
    a.machine.link_down(ms(2));
    assert!(a.drain(ms(10)).is_empty() && a.machine.deadline().is_none());
    a.machine.link_up(ms(100), false);
    send(ms(100), &mut a, &mut b, &[3], &[]);
    converse(ms(101), &mut a, &mut b);
    assert_eq!(b.got, [0, 3, 1, 2]);
}

#[test]
fn new_neighbour_gets_no_old_frames() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1, 2]);
    a.machine.link_down(ms(2));
    a.machine.link_up(ms(100), false);
    let mut c = End::new("wldr", 3);
    c.receive(ms(100), &a.send(ms(100), 3));
    let control = converse(ms(101), &mut a, &mut c);
    assert!(ewlns(&control).is_empty());
    assert_eq!((c.got.as_slice(), a.counters().given_up), (&[3][..], 3 + 1));
    // From here on the new one recovers, too.
    send(ms(102), &mut a, &mut c, &[4, 5], &[4]);
    converse(ms(103), &mut a, &mut c);
    assert_eq!(c.got, [3, 5, 4]);
    // Reports of the old one are ignored.
    let stale = b.drain(ms(104));
    assert_eq!(ewlns(&stale).len(), 0, "nothing came behind the gap");
}

#[test]
fn restarted_neighbour_is_a_new_one() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1], &[1]);
    let mut reborn = End::new("wldr", 9);
    reborn.receive(ms(5), &a.send(ms(5), 2));
    converse(ms(5), &mut a, &mut reborn);
    send(ms(6), &mut a, &mut reborn, &[3, 4], &[3]);
    converse(ms(7), &mut a, &mut reborn);
    assert_eq!(reborn.got, [2, 4, 3]);
}

// --- beyond the paper ---------------------------------------------------------------------------

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

// --- handshake before the first packet ---------------------------------------------------------

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

#[test]
fn received_frames_are_released_on_busy_links() {
    let (mut a, mut b) = acquainted("wldr");
    let mut most = 0;
    for packet in 0..10_000_u64 {
        let now = Instant::from_nanos(1_000_000 + packet * 10_000);
        b.receive(now, &a.send(now, packet));
        converse(now, &mut a, &mut b);
        most = most.max(a.counters().held);
    }
    assert!(most <= 129, "{most}");
}

#[test]
fn query_detects_the_loss_of_the_last_frame() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1, 2]);
    let due = a.machine.deadline().unwrap();
    assert!(a.drain(ms(1)).is_empty());
    let control = converse(due, &mut a, &mut b);
    assert_eq!(ewlns(&control)[0], (1, 3));
    assert_eq!(b.got, [0, 1, 2]);
    // A second query finds no loss, and the ring is empty then.
    let due = a.machine.deadline().unwrap();
    converse(due, &mut a, &mut b);
    assert_eq!((a.counters().held, a.counters().settled), (0, 3));
}

#[test]
fn unanswered_query_backs_off() {
    let (mut a, _) = acquainted("wldr");
    let _ = a.send(ms(1), 0);
    let mut asked = Vec::new();
    let mut now = ms(1);
    while let Some(due) = a.machine.deadline() {
        assert!(due > now, "at {now}");
        now = due;
        if !a.drain(now).is_empty() {
            asked.push(now);
        }
    }
    assert_eq!(asked.len(), 5);
    let spacing: Vec<_> = asked.windows(2).map(|it| it[1].since(it[0])).collect();
    assert!(spacing.windows(2).all(|it| it[1] >= it[0] + it[0] / 2), "{spacing:?}");
    assert_eq!((a.counters().held, a.counters().expired), (0, 1), "let go in the end");
}

#[test]
fn lost_notice_is_repeated_until_confirmed() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    assert_eq!(ewlns(&b.drain(ms(1))), [(1, 2)], "and lost");
    let (due, repeated) = next_ewln(&mut b);
    assert_eq!(ewlns(&repeated), [(1, 2)]);
    for frame in repeated.iter().chain(&repeated) {
        a.receive(due, frame);
    }
    deliver_control(due, &mut a, &mut b);
    assert_eq!(b.got, [0, 2, 1]);
    assert!((0..500).all(|milli| ewlns(&b.drain(due + Duration::from_millis(milli))).is_empty()));
    assert_eq!(a.counters().resent, 1, "though two reports arrived");
}

#[test]
fn reordering_within_the_hold_is_not_reported() {
    let (mut a, mut b) = acquainted("wldr(hold=10ms)");
    let frames: Vec<_> = (0..6).map(|packet| a.send(ms(1), packet)).collect();
    for index in [2, 0, 1, 5, 3] {
        b.receive(ms(2), &frames[index]);
    }
    assert!(b.drain(ms(11)).is_empty());
    assert_eq!(ewlns(&b.drain(ms(12))), [(4, 5)]);
}

#[test]
fn hold_adapts_to_the_reordering_of_the_link() {
    let (mut a, mut b) = acquainted("wldr");
    let mut notices = 0;
    for round in 0..20 {
        let now = 10 + 50 * round;
        let frames: Vec<_> = (0..3).map(|packet| a.send(ms(now), 3 * round + packet)).collect();
        for index in [0, 2] {
            b.receive(ms(now + 1), &frames[index]);
        }
        notices += ewlns(&b.drain(ms(now + 2))).len();
        // The second frame is 4 ms late, in each round.
        b.receive(ms(now + 5), &frames[1]);
        notices += ewlns(&b.drain(ms(now + 6))).len();
    }
    assert!(notices <= 1, "{notices} notices of frames that were only late");
    assert_eq!(b.got.len(), 60);
}

#[test]
fn frame_delayed_beyond_the_hold_is_delivered_once() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    converse(ms(2), &mut a, &mut b);
    assert_eq!(b.receive(ms(3), &sent[1]), Arrival::Duplicate);
    assert_eq!(b.got, [0, 2, 1]);
}

#[test]
fn duplicate_after_a_long_silence_is_suppressed() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    converse(ms(2), &mut a, &mut b);
    // All frames are lost until both ends are taken for gone.
    for second in 1..200 {
        let now = ms(1_000 * second);
        for end in [&mut a, &mut b] {
            let _ = end.send(now, 100 + second);
            let _ = end.drain(now);
        }
    }
    let mut now = ms(200_000);
    assert_eq!(number(&b.send(now, 3)), None, "no number without a neighbour");
    while number(&b.send(now, 3)).is_none() {
        // A frame carries an offer from time to time.
        now += Duration::from_secs(1);
        let spoken = b.send(now, 3);
        a.receive(now, &spoken);
        converse(now, &mut a, &mut b);
    }
    assert_eq!(b.receive(now, &sent[1]), Arrival::Duplicate);
    assert_eq!(b.got, [0, 2, 1]);
}

#[test]
fn forged_and_stale_notices_change_nothing() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    let true_notice = b.poll(ms(2)).unwrap();
    let Some(Notice::Ewln(ewln)) = true_notice.tag.notice else { panic!("{true_notice:?}") };
    let forged = |session, expected, last_received| Frame {
        tag: Tag::notice(Notice::Ewln(Ewln { session, expected, last_received })),
        packet: None,
    };
    a.receive(ms(2), &forged(ewln.session ^ 1, 0, 3));
    assert!(a.drain(ms(2)).iter().all(|it| it.packet.is_none()));
    assert_eq!(a.counters().ignored, 1);
    a.receive(ms(2), &true_notice);
    converse(ms(3), &mut a, &mut b);
    assert_eq!(a.counters().resent, 1);
    for _ in 0..100 {
        a.receive(ms(4), &true_notice);
    }
    a.receive(ms(4), &forged(ewln.session, 5, 4));
    a.receive(ms(4), &forged(ewln.session, u32::MAX, 0));
    converse(ms(5), &mut a, &mut b);
    assert_eq!((a.counters().resent, b.got.len()), (1, 3));
}

#[test]
fn retransmissions_are_limited_whatever_notices_demand() {
    let (mut a, mut b) = acquainted("wldr(ring=16)");
    b.receive(ms(1), &a.send(ms(1), 0));
    let session = states(&[End::new("wldr", 1).send(ms(0), 0)])[0].session;
    let mut resent = 0;
    for round in 1..1_000_u64 {
        let frame = a.send(ms(2), round);
        let number = number(&frame).unwrap() + 1;
        // An attacker that receives everything reports all frames as lost, over and over.
        for last_received in number..number + 20 {
            let ewln = Ewln { session, expected: 0, last_received };
            a.receive(ms(2), &Frame { tag: Tag::notice(Notice::Ewln(ewln)), packet: None });
            resent += a.drain(ms(2)).iter().filter(|it| it.packet.is_some()).count() as u64;
        }
        assert!(resent <= round + 17, "{resent} after {round}");
    }
    assert!(resent > 900);
}

#[test]
fn forged_number_delays_recovery_until_a_query() {
    let (mut a, mut b) = acquainted("wldr");
    let first = a.send(ms(1), 0);
    b.receive(ms(1), &first);
    let epoch = first.tag.label.unwrap().epoch;
    for number in [50_000, 100_000, 150_000] {
        let label = Some(Label { epoch, number, origin: None });
        b.receive(ms(2), &Frame { tag: Tag { label, ..Tag::default() }, packet: Some(66) });
    }
    send(ms(3), &mut a, &mut b, &[1, 2], &[]);
    assert!([1, 2].iter().all(|it| b.got.contains(it)), "nothing is withheld");
    for _ in 0..8 {
        let due = a.machine.deadline().into_iter().chain(b.machine.deadline()).min();
        converse(due.unwrap_or(ms(5_000)), &mut a, &mut b);
    }
    send(ms(60_000), &mut a, &mut b, &[3, 4], &[3]);
    converse(ms(60_001), &mut a, &mut b);
    assert_eq!(b.got.iter().filter(|it| **it == 3).count(), 1);
}

#[test]
fn silent_neighbour_is_forgotten() {
    // Queries on a busy link, and on an idle one.
    for spacing in [1, 500] {
        let (mut a, mut b) = acquainted("wldr");
        let mut last_number = 0;
        for step in 1..=200_000 / spacing {
            let now = ms(spacing * step);
            while a.machine.deadline().is_some_and(|due| due <= now) {
                a.drain(a.machine.deadline().unwrap());
            }
            if number(&a.send(now, step)).is_some() {
                last_number = spacing * step;
            }
        }
        assert!((10_000..120_000).contains(&last_number), "{last_number} ms");
        assert_eq!(a.counters().held, 0);
        // The neighbour returns.
        introduce(ms(200_000), &mut b, &mut a);
        assert!(number(&a.send(ms(200_000), 1)).is_some());
    }
}
