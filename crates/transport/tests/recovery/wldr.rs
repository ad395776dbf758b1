//! The rules of WLDR (Carofiglio et al. 2016, section 3.1), one for each test.
use crate::exchange::{deliver_control, send};
use crate::pair::{End, acquainted, converse, ewlns, ms, number, sending};
use recoup_transport::link::recovery::{Arrival, Counters, FrameKind, Label, Outgoing, Sending};
use recoup_transport::time::Duration;

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
fn strict_end_reports_a_gap_once() {
    for (text, most) in [("wldr(strict=true)", 1), ("wldr", 6)] {
        let (mut a, mut b) = acquainted(text);
        send(ms(1), &mut a, &mut b, &[0, 1, 2, 3], &[1]);
        let mut reports = Vec::new();
        let mut now = ms(1);
        while let Some(at) = b.machine.deadline().filter(|at| *at < ms(60_000)) {
            // Every report is lost.
            now = now.max(at);
            b.machine.fire(now);
            reports.extend(ewlns(&b.drain(now)));
        }
        assert!(reports.iter().all(|report| *report == (1, 2)), "{text}: {reports:?}");
        assert_eq!(reports.len(), most, "{text}");
    }
}

#[test]
fn strict_end_neither_confirms_nor_queries() {
    let (mut a, mut b) = acquainted("wldr(strict=true)");
    let before = b.counters().control;
    // The last frame is lost, and no frame follows.
    send(ms(1), &mut a, &mut b, &[0, 1, 2, 3], &[1, 3]);
    let reports = b.drain(ms(2));
    assert_eq!(ewlns(&reports), [(1, 2)]);
    a.receive(ms(3), &reports[0]);
    let answers = a.drain(ms(3));
    let packets: Vec<_> = answers.iter().map(|frame| frame.packet).collect();
    assert_eq!(packets, [Some(1)], "the frame again, and no notice");
    b.receive(ms(4), &answers[0]);
    while let Some(at) = a.machine.deadline().filter(|at| *at < ms(60_000)) {
        a.machine.fire(at);
        assert!(a.drain(at).is_empty(), "at {at:?}");
    }
    assert_eq!(b.got, [0, 2, 1]);
    assert_eq!((a.counters().resent, b.counters().missed), (1, 0));
    assert_eq!(b.counters().control - before, 1, "one report");
}

#[test]
fn strict_is_printed_where_it_is_set() {
    use recoup_transport::link::wldr::WldrSettings;
    let set = WldrSettings { strict: true, ..WldrSettings::default() };
    assert!(set.to_string().ends_with(",strict=true)"), "{set}");
    assert!(!WldrSettings::default().to_string().contains("strict"));
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
