//! The rules of WLDR (Carofiglio et al. 2016, section 3.1), one to a test, and what goes beyond the paper.
use crate::pair::{
    End, Frame, acquainted, converse, ewlns, introduce, ms, number, sending, states,
};
use recoup_transport::link::recovery::{
    Arrival, Counters, Ewln, FrameKind, Label, Notice, Outgoing, Sending, Tag,
};
use recoup_transport::time::{Duration, Instant};

/// Sends packets and loses those for which `lost` says so.
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

/// One end says what it has to say, the other hears it.
fn tell(now: Instant, from: &mut End, to: &mut End) {
    for frame in from.drain(now) {
        to.receive(now, &frame);
    }
}

/// Lets time pass at one end until it sends an EWLN, which gets lost unless it is passed on.
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
fn what_a_queue_of_this_machine_dropped_is_not_sent_again_when_the_other_end_asks_for_it() {
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
    // Nothing more is said of them: the other end hears that it was heard.
    let (due, said) = (ms(60_000), &mut Vec::new());
    while let Some(at) = b.machine.deadline().filter(|at| *at < due) {
        b.machine.fire(at);
        said.extend(ewlns(&b.drain(at)));
    }
    assert!(said.is_empty(), "{said:?}");
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
fn a_frame_is_numbered_when_it_leaves_not_when_it_is_asked_for() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[0]);
    let notice = b.poll(ms(2)).unwrap();
    a.receive(ms(3), &notice);
    // Another frame leaves before the one that waits: it gets the lower number.
    let other = a.send(ms(3), 3);
    let again = a.drain(ms(4)).into_iter().find(|it| it.packet == Some(0)).unwrap();
    assert_eq!((number(&other), number(&again)), (Some(3), Some(4)));
}

#[test]
fn what_is_sent_again_can_be_lost_and_recovered_again() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    for round in 0..10 {
        tell(ms(2), &mut b, &mut a);
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
fn nothing_is_sent_again_once_alpha_of_its_lifetime_is_over() {
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
        tell(ms(asked_at), &mut b, &mut a);
        converse(ms(asked_at), &mut a, &mut b);
        assert_eq!(a.counters().resent, resent, "α = {alpha}, {asked_at} ms");
        assert_eq!(a.counters().given_up, 1 - resent);
    }
}

#[test]
fn the_lifetime_counts_from_the_first_time_that_a_frame_left() {
    let (mut a, mut b) = acquainted("wldr");
    let hundred = Some(Duration::from_millis(100));
    let _lost = a.send_as(ms(1), &sending(0, hundred));
    b.receive(ms(1), &a.send_as(ms(1), &sending(1, hundred)));
    tell(ms(50), &mut b, &mut a);
    let again = a.drain(ms(50));
    assert_eq!(again.iter().filter(|it| it.packet == Some(0)).count(), 1, "lost again");
    b.receive(ms(70), &a.send(ms(70), 2));
    tell(ms(90), &mut b, &mut a);
    assert_eq!((a.counters().resent, a.counters().given_up), (1, 1));
}

#[test]
fn data_without_a_lifetime_is_worth_the_default_one() {
    let (mut a, mut b) = acquainted("wldr(lifetime=10ms)");
    let data = Sending { kind: FrameKind::Data, ..sending(0, None) };
    let _lost = a.send_as(ms(1), &data);
    b.receive(ms(1), &a.send(ms(1), 1));
    tell(ms(9), &mut b, &mut a);
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
fn the_ring_is_bounded_in_slots_and_in_octets_and_the_oldest_gives_way() {
    for text in ["wldr(ring=10)", "wldr(octets=10000)"] {
        let (mut a, mut b) = acquainted(text);
        send(ms(1), &mut a, &mut b, &(0..30).collect::<Vec<_>>(), &(0..29).collect::<Vec<_>>());
        assert_eq!((a.counters().held, a.counters().held_octets), (10, 10_000), "{text}");
        assert_eq!(a.counters().expired, 20);
        converse(ms(2), &mut a, &mut b);
        assert_eq!(b.got, (20..30).rev().take(1).chain(20..29).collect::<Vec<_>>());
    }
}

#[test]
fn a_frame_is_sent_again_as_often_as_is_permitted() {
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
fn with_eln_a_lost_frame_is_handed_back_instead_of_sent() {
    let (mut a, mut b) = acquainted("wldr(mode=eln)");
    send(ms(1), &mut a, &mut b, &[0, 1, 2, 3], &[1, 2]);
    converse(ms(2), &mut a, &mut b);
    let lost: Vec<_> = std::iter::from_fn(|| a.machine.poll_lost()).collect();
    assert_eq!(lost, [1, 2]);
    assert_eq!((b.got, a.counters().resent, a.counters().given_up), (vec![0, 3], 0, 2));
}

#[test]
fn how_long_a_recovery_took_is_told_with_the_frame() {
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
fn after_a_hand_over_to_the_same_neighbour_the_first_frame_recovers_what_was_lost_meanwhile() {
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
fn a_new_neighbour_gets_nothing_that_the_old_one_lost_and_is_told_of_no_gap() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1, 2]);
    a.machine.link_down(ms(2));
    a.machine.link_up(ms(100), false);
    let mut c = End::new("wldr", 3);
    c.receive(ms(100), &a.send(ms(100), 3));
    let said = converse(ms(101), &mut a, &mut c);
    assert!(ewlns(&said).is_empty());
    assert_eq!((c.got.as_slice(), a.counters().given_up), (&[3][..], 3 + 1));
    // From here on the new one recovers, too.
    send(ms(102), &mut a, &mut c, &[4, 5], &[4]);
    converse(ms(103), &mut a, &mut c);
    assert_eq!(c.got, [3, 5, 4]);
    // What the old one still asks for is not heard.
    let stale = b.drain(ms(104));
    assert_eq!(ewlns(&stale).len(), 0, "nothing came behind the gap");
}

#[test]
fn a_neighbour_that_starts_anew_is_a_new_one() {
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
fn nothing_is_numbered_before_the_other_end_was_heard() {
    let mut a = End::new("wldr", 1);
    for milli in 0..5_000 {
        let frame = a.send(ms(milli), milli);
        assert_eq!(number(&frame), None);
        assert!(a.drain(ms(milli)).is_empty(), "no frame of its own to a stranger");
    }
    assert_eq!((a.counters().held, a.machine.deadline()), (0, None));
}

#[test]
fn offers_to_a_neighbour_that_never_answers_become_rare() {
    let mut a = End::new("wldr", 1);
    let frames: Vec<_> = (0..60_000).map(|milli| a.send(ms(milli), milli)).collect();
    let offers = states(&frames).len();
    assert!((5..12).contains(&offers), "{offers} in a minute");
}

#[test]
fn an_end_is_believed_only_if_it_says_our_session_back() {
    for mask in [u64::MAX, 1] {
        let mut a = End::new("wldr", 1);
        let offer = states(&[a.send(ms(0), 0)])[0];
        // Nobody, or somebody else.
        let neighbour = if mask == 1 { offer.session ^ mask } else { 0 };
        let forged = recoup_transport::link::recovery::State { session: 7, neighbour, ..offer };
        a.receive(ms(1), &Frame { tag: Tag::notice(Notice::State(forged)), packet: None });
        // It still offers itself to whoever is there, and hands nothing out.
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

// --- becoming acquainted before the first packet ------------------------------------------------

/// Two ends that know nothing of each other; one has a static face and has just come up.
fn greeting(now: Instant) -> (End, End) {
    let (mut a, b) = (End::new("wldr", 1), End::new("wldr", 2));
    a.machine.link_up(now, true);
    (a, b)
}

#[test]
fn who_greets_is_known_before_the_first_packet_leaves() {
    let (mut a, mut b) = greeting(ms(0));
    let said = converse(ms(0), &mut a, &mut b);
    assert!(states(&said).len() <= 4, "{said:?}");
    send(ms(1), &mut a, &mut b, &[0, 1], &[0]);
    send(ms(1), &mut b, &mut a, &[10, 11], &[10]);
    converse(ms(2), &mut a, &mut b);
    assert_eq!((b.got.as_slice(), a.got.as_slice()), (&[1, 0][..], &[11, 10][..]));
}

#[test]
fn a_greeting_needs_a_packet_until_the_other_end_has_spoken() {
    let (mut a, mut b) = greeting(ms(0));
    let greets = |end: &mut End| matches!(end.machine.poll(ms(0)), Some(Outgoing::Greeting(_)));
    assert!(greets(&mut a));
    let offer = a.send(ms(200), 0);
    b.receive(ms(200), &offer);
    assert!(matches!(b.machine.poll(ms(200)), Some(Outgoing::Control(_))), "it reads numbers");
}

#[test]
fn a_greeting_is_repeated_a_few_times_and_then_nothing_is_numbered() {
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
fn what_is_lost_before_the_ends_know_each_other_is_recovered_then() {
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
fn the_only_frame_that_was_sent_is_recovered_although_nobody_was_known() {
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
fn an_answer_to_the_first_frame_bears_a_number_too() {
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
fn what_has_arrived_is_not_held_for_long_although_the_link_is_never_idle() {
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
fn the_loss_of_the_last_frame_is_found_out_by_a_question() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1, 2]);
    let due = a.machine.deadline().unwrap();
    assert!(a.drain(ms(1)).is_empty());
    let said = converse(due, &mut a, &mut b);
    assert_eq!(ewlns(&said)[0], (1, 3));
    assert_eq!(b.got, [0, 1, 2]);
    // A second question finds that all is well, and the ring is empty then.
    let due = a.machine.deadline().unwrap();
    converse(due, &mut a, &mut b);
    assert_eq!((a.counters().held, a.counters().settled), (0, 3));
}

#[test]
fn a_question_that_is_not_answered_is_asked_a_few_times_ever_more_slowly() {
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
fn a_notice_that_is_lost_is_repeated_until_it_was_heard() {
    let (mut a, mut b) = acquainted("wldr");
    send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    assert_eq!(ewlns(&b.drain(ms(1))), [(1, 2)], "and lost");
    let (due, repeated) = next_ewln(&mut b);
    assert_eq!(ewlns(&repeated), [(1, 2)]);
    for frame in repeated.iter().chain(&repeated) {
        a.receive(due, frame);
    }
    tell(due, &mut a, &mut b);
    assert_eq!(b.got, [0, 2, 1]);
    assert!((0..500).all(|milli| ewlns(&b.drain(due + Duration::from_millis(milli))).is_empty()));
    assert_eq!(a.counters().resent, 1, "though it was heard twice");
}

#[test]
fn a_link_that_reorders_within_the_hold_makes_no_notice() {
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
fn a_frame_held_up_for_longer_than_the_hold_is_delivered_once() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    converse(ms(2), &mut a, &mut b);
    assert_eq!(b.receive(ms(3), &sent[1]), Arrival::Duplicate);
    assert_eq!(b.got, [0, 2, 1]);
}

#[test]
fn a_frame_that_came_before_a_long_silence_is_not_delivered_again_after_it() {
    let (mut a, mut b) = acquainted("wldr");
    let sent = send(ms(1), &mut a, &mut b, &[0, 1, 2], &[1]);
    converse(ms(2), &mut a, &mut b);
    // Nothing that either sends arrives, until they take each other for gone.
    for second in 1..200 {
        let now = ms(1_000 * second);
        for end in [&mut a, &mut b] {
            let _ = end.send(now, 100 + second);
            let _ = end.drain(now);
        }
    }
    let mut now = ms(200_000);
    assert_eq!(number(&b.send(now, 3)), None, "it numbers for nobody");
    while number(&b.send(now, 3)).is_none() {
        // An offer is on a frame from time to time.
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
fn whatever_notices_demand_no_more_is_sent_again_than_was_sent_and_a_ring() {
    let (mut a, mut b) = acquainted("wldr(ring=16)");
    b.receive(ms(1), &a.send(ms(1), 0));
    let session = states(&[End::new("wldr", 1).send(ms(0), 0)])[0].session;
    let mut resent = 0;
    for round in 1..1_000_u64 {
        let frame = a.send(ms(2), round);
        let number = number(&frame).unwrap() + 1;
        // One who hears everything claims that everything was lost, over and over.
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
fn a_forged_number_delays_recovery_only_until_the_next_question() {
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
fn a_neighbour_that_falls_silent_is_forgotten_in_the_end() {
    // Whether it is asked while the link is busy or while it is not.
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
        // It comes back.
        introduce(ms(200_000), &mut b, &mut a);
        assert!(number(&a.send(ms(200_000), 1)).is_some());
    }
}
