//! Negotiated link recovery (`auto`): frames before the agreement, and ends of an agreement.
use crate::pair::{self, BYTES, End, Frame, converse, number, sending, states};
use proptest::prelude::*;
use recoup_transport::link::Pool;
use recoup_transport::link::recovery::{
    Agreement, Counters, Ewln, FrameKind, Label, Notice, Replaced, Sending, State, Tag,
};
use recoup_transport::time::{Duration, Instant};

/// Most offers of 29 bytes and the link header around each.
const MOST_OFFERS: usize = 8;

/// Time since the ends are up and know the length of their path.
fn ms(millis: u64) -> Instant {
    pair::ms(100 + millis)
}

/// The end that opened the face, and the one that listens.
fn fresh(texts: [&str; 2]) -> (End, End) {
    let [mut a, mut b] = [End::new(texts[0], 1), End::new(texts[1], 2)];
    a.machine.link_up(Instant::ZERO, true);
    b.machine.link_up(Instant::ZERO, false);
    (a, b)
}

/// Ends on a path that is long enough for recovery.
fn pair(texts: [&str; 2]) -> (End, End) {
    let (mut a, mut b) = fresh(texts);
    answered(pair::ms(0), &mut a, &mut b, Duration::from_millis(20));
    (a, b)
}

/// An Interest that is sent at `asked_at` and answered after that round trip.
fn answered(asked_at: Instant, a: &mut End, b: &mut End, round_trip: Duration) -> Frame {
    let interest = a.send(asked_at, 0);
    b.receive(asked_at, &interest);
    let answer = b.send_as(asked_at + round_trip, &data(0));
    a.receive(asked_at + round_trip, &answer);
    (a.got, b.got) = (Vec::new(), Vec::new());
    interest
}

/// One Interest, and all control frames of both ends.
fn exchange(now: Instant, a: &mut End, b: &mut End, packet: u64) -> Frame {
    let frame = a.send(now, packet);
    b.receive(now, &frame);
    converse(now, a, b);
    frame
}

fn agreed(ends: [&End; 2]) -> [Agreement; 2] {
    ends.map(|end| end.machine.agreement())
}

fn data(packet: u64) -> Sending {
    Sending { kind: FrameKind::Data, ..sending(packet, None) }
}

#[test]
fn two_ends_agree_after_one_round_trip() {
    let (mut a, mut b) = fresh(["auto", "auto"]);
    assert!(a.drain(pair::ms(0)).is_empty() && b.drain(pair::ms(0)).is_empty(), "no greeting");
    let before = answered(pair::ms(0), &mut a, &mut b, Duration::from_millis(20));
    assert!(before.tag.is_empty() && a.machine.agreement() == Agreement::Off);
    let first = exchange(ms(1), &mut a, &mut b, 0);
    let [offer] = states(std::slice::from_ref(&first))[..] else { panic!("{first:?}") };
    assert!(offer.wants_answer && offer.neighbour == 0 && number(&first).is_none());
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
    // From here on, losses in both directions are repaired.
    let _lost = a.send(ms(2), 1);
    exchange(ms(3), &mut a, &mut b, 2);
    let _lost = b.send_as(ms(4), &data(10));
    let frame = b.send_as(ms(5), &data(11));
    a.receive(ms(5), &frame);
    converse(ms(5), &mut a, &mut b);
    assert_eq!((&b.got[..], &a.got[..]), (&[0, 2, 1][..], &[11, 10][..]));
}

#[test]
fn auto_agrees_with_wldr_on_either_side() {
    for texts in [["auto", "wldr"], ["wldr", "auto"]] {
        let (mut a, mut b) = pair(texts);
        converse(ms(0), &mut a, &mut b);
        exchange(ms(1), &mut a, &mut b, 0);
        assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2], "{texts:?}");
    }
}

#[test]
fn ignorant_peer_gets_a_bounded_number_of_offers() {
    let (mut a, mut b) = pair(["auto", "off"]);
    let mut offers = 0;
    for millis in 0..60_000 {
        let frame = exchange(ms(millis), &mut a, &mut b, millis);
        offers += usize::from(!frame.tag.is_empty());
        assert!(number(&frame).is_none() && a.machine.deadline().is_none());
        // The peer answers every Interest.
        let answer = b.send_as(ms(millis), &data(millis));
        a.receive(ms(millis), &answer);
    }
    assert_eq!((offers, a.machine.agreement()), (MOST_OFFERS, Agreement::Off));
    assert_eq!(a.counters(), Counters::default());
}

#[test]
fn listening_end_offers_nothing() {
    let (_, mut b) = pair(["auto", "auto"]);
    for packet in 0..100 {
        assert!(b.send(ms(packet * 1_000), packet).tag.is_empty());
    }
    assert_eq!(b.machine.agreement(), Agreement::Off);
}

#[test]
fn short_path_without_losses_gets_no_offer() {
    let (mut a, mut b) = fresh(["auto", "auto"]);
    for packet in 0..10_000 {
        let frame = answered(pair::ms(packet), &mut a, &mut b, Duration::from_micros(500));
        assert!(frame.tag.is_empty(), "{packet}");
    }
    assert_eq!(agreed([&a, &b]), [Agreement::Off; 2]);
    // Its face comes up again, elsewhere.
    a.machine.link_down(pair::ms(20_000));
    a.machine.link_up(pair::ms(20_000), true);
    answered(pair::ms(20_000), &mut a, &mut b, Duration::from_millis(20));
    exchange(pair::ms(20_100), &mut a, &mut b, 1);
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
}

#[test]
fn short_path_that_loses_packets_gets_offers() {
    let (mut a, mut b) = fresh(["auto", "auto"]);
    let short = Duration::from_micros(500);
    for loss in 1..=8 {
        for packet in 0..100 {
            let now = pair::ms(1_000 * loss + packet);
            assert!(answered(now, &mut a, &mut b, short).tag.is_empty(), "{loss}");
        }
        let _lost = a.send(pair::ms(1_000 * loss + 200), 0);
        a.machine.retransmits();
        let again = answered(pair::ms(1_000 * loss + 700), &mut a, &mut b, short);
        assert_eq!(again.tag.is_empty(), loss < 8, "{loss}");
    }
}

#[test]
fn offers_ride_on_interests_that_have_space() {
    let (mut a, _) = pair(["auto", "auto"]);
    assert!(a.send_as(ms(0), &data(0)).tag.is_empty());
    assert!(a.send_as(ms(0), &Sending { free_bytes: 28, ..sending(1, None) }).tag.is_empty());
    assert!(!a.send_as(ms(0), &Sending { free_bytes: 29, ..sending(2, None) }).tag.is_empty());
    assert_eq!(a.machine.agreement(), Agreement::Offered);
}

#[test]
fn answers_do_not_exceed_offers() {
    let (_, mut b) = pair(["auto", "auto"]);
    let mut answers = 0;
    for session in 1..=1_000 {
        let state = State {
            wants_answer: true,
            answers: false,
            session,
            neighbour: 0,
            next: 0,
            settled: None,
        };
        let offer = Frame { tag: Tag::notice(Notice::State(state)), packet: Some(session) };
        b.receive(ms(1_000), &offer);
        let control = b.drain(ms(1_000));
        assert!(control.len() <= 1 && control.iter().all(|it| it.packet.is_none()));
        answers += control.len();
    }
    assert_eq!(answers, 32);
    assert_eq!((b.machine.agreement(), b.counters().held), (Agreement::Off, 0));
    assert_eq!(b.got.len(), 1_000, "packets go on");
}

#[test]
fn restarted_peer_agrees_anew() {
    let (mut a, mut b) = pair(["auto", "auto"]);
    exchange(ms(1), &mut a, &mut b, 0);
    // The listening end forgets everything; the other one detects it by a query.
    b = End::new("auto", 3);
    b.machine.link_up(ms(2), false);
    for packet in 0..200 {
        exchange(ms(100 + packet), &mut a, &mut b, packet);
    }
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
    assert_eq!(b.got, (0..200).collect::<Vec<_>>());
    b.got.clear();
    let _lost = a.send(ms(400), 1_000);
    exchange(ms(401), &mut a, &mut b, 1_001);
    assert_eq!(b.got, [1_001, 1_000]);
    // So does the end that opened the face.
    a = End::new("auto", 4);
    a.machine.link_up(ms(480), true);
    answered(ms(480), &mut a, &mut b, Duration::from_millis(20));
    exchange(ms(501), &mut a, &mut b, 2_000);
    a.got.clear();
    let _lost = b.send_as(ms(502), &data(10));
    let frame = b.send_as(ms(503), &data(11));
    a.receive(ms(503), &frame);
    converse(ms(503), &mut a, &mut b);
    assert_eq!(a.got, [11, 10]);
}

#[test]
fn neighbour_is_followed_inside_the_agreement() {
    let (mut a, mut b) = pair(["auto", "auto"]);
    exchange(ms(1), &mut a, &mut b, 0);
    assert_eq!(a.machine.take_replaced(), None);
    b = End::new("auto", 3);
    b.machine.link_up(ms(2), false);
    for packet in 0..200 {
        exchange(ms(100 + packet), &mut a, &mut b, packet);
    }
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
    assert_eq!(a.machine.take_replaced(), Some(Replaced::Node));
    // No frame arrives until the agreement ends; then the present neighbour answers again.
    let mut now = 400;
    while a.machine.agreement() == Agreement::Agreed {
        now += 1_000;
        a.machine.fire(ms(now));
        let _lost = (a.send(ms(now), now), a.drain(ms(now)));
    }
    a.machine.ask(ms(now));
    converse(ms(now), &mut a, &mut b);
    assert!(a.machine.answers());
    assert_eq!(a.machine.take_replaced(), None);
}

#[test]
fn peer_returning_without_recovery_is_plain() {
    let (mut a, mut b) = pair(["auto", "auto"]);
    exchange(ms(1), &mut a, &mut b, 0);
    b = End::new("off", 3);
    let (mut tagged, mut last) = (0, 0);
    for millis in 0..120_000 {
        let frame = exchange(ms(2 + millis), &mut a, &mut b, millis);
        a.receive(ms(2 + millis), &Frame { tag: Tag::default(), packet: Some(millis) });
        if !frame.tag.is_empty() {
            (tagged, last) = (tagged + 1, millis);
        }
    }
    assert_eq!(a.machine.agreement(), Agreement::Off);
    assert!(last < 60_000, "the last frame with a field left after {last} ms, {tagged} in all");
    let Counters { labelled, resent, settled, given_up, expired, held, .. } = a.counters();
    assert_eq!((labelled, held), (resent + settled + given_up + expired, 0));
}

#[test]
fn silent_far_end_gets_new_offers() {
    let (mut a, mut b) = pair(["auto", "off"]);
    for second in 0..60 {
        exchange(ms(second * 1_000), &mut a, &mut b, second);
        let answer = b.send_as(ms(second * 1_000), &data(second));
        a.receive(ms(second * 1_000), &answer);
    }
    assert_eq!(a.machine.agreement(), Agreement::Off);
    // The far end is replaced: Interests are unanswered for 10 s. The new one has recovery, and has received no
    // offer.
    for second in 60..70 {
        assert!(a.send(ms(second * 1_000), second).tag.is_empty());
    }
    b = End::new("auto", 9);
    b.machine.link_up(ms(70_000), false);
    let answer = b.send_as(ms(70_000), &data(1));
    a.receive(ms(70_000), &answer);
    exchange(ms(70_001), &mut a, &mut b, 100);
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
}

#[test]
fn lost_offer_and_lost_answer_are_repeated() {
    let (mut a, mut b) = pair(["auto", "auto"]);
    let _lost = a.send(ms(0), 0);
    // If a peer drops the frame with an offer, the next Interest reaches it.
    assert!(a.send(ms(200), 1).tag.is_empty());
    let answer = b.send_as(ms(210), &data(1));
    a.receive(ms(220), &answer);
    let offer = a.send(ms(220), 2);
    b.receive(ms(230), &offer);
    assert_eq!(b.drain(ms(230)).len(), 1, "an answer, which is lost");
    a.receive(ms(240), &answer);
    assert!(a.send(ms(419), 3).tag.is_empty());
    exchange(ms(420), &mut a, &mut b, 4);
    assert_eq!(agreed([&a, &b]), [Agreement::Agreed; 2]);
}

#[test]
fn off_answers_no_offer() {
    let (mut a, mut b) = pair(["auto", "off"]);
    let offer = a.send(ms(0), 0);
    b.receive(ms(0), &offer);
    assert!(!offer.tag.is_empty() && b.drain(ms(0)).is_empty());
    assert_eq!(b.machine.agreement(), Agreement::Off);
}

#[test]
fn rings_of_many_peers_share_one_pool() {
    let pool = std::sync::Arc::new(Pool::new(200_000));
    let mut pairs: Vec<_> = (0..10).map(|_| pair(["auto", "auto"])).collect();
    for (a, b) in &mut pairs {
        b.machine.share(&pool);
        exchange(ms(1), a, b, 0);
        for packet in 0..500 {
            // No frame arrives, so each is held until the owner of the links has it dropped.
            b.send_as(ms(2), &data(packet));
            if pool.is_full() {
                b.machine.shed();
            }
            assert!(!pool.is_full());
        }
        let Counters { labelled, expired, held, held_bytes, .. } = b.counters();
        assert_eq!((labelled, held_bytes), (expired + held, held * u64::from(BYTES)));
    }
    assert!(pool.held_bytes() > 100_000);
    drop(pairs);
    assert_eq!(pool.held_bytes(), 0);
}

/// Any fields of an attacker that knows no session of these ends.
fn forged() -> impl Strategy<Value = Tag> {
    let label = (any::<u8>(), 0..1_u32 << 24, any::<Option<u32>>())
        .prop_map(|(epoch, number, origin)| Label { epoch, number, origin });
    let ewln = any::<(u64, u32, u32)>().prop_map(|(session, expected, last_received)| {
        Notice::Ewln(Ewln { session, expected, last_received })
    });
    let state = any::<(bool, bool, u64, u64, u32, Option<u32>)>().prop_map(
        |(wants_answer, answers, session, neighbour, next, settled)| {
            let session = session.max(1);
            Notice::State(State { wants_answer, answers, session, neighbour, next, settled })
        },
    );
    let notice = prop::option::of(prop_oneof![ewln, state]);
    (prop::option::of(label), notice).prop_map(|(label, notice)| Tag {
        label,
        notice,
        ..Tag::default()
    })
}

proptest! {
    #[test]
    fn strangers_neither_agree_nor_withhold_packets(
        tags in prop::collection::vec((forged(), any::<bool>(), 0..50_u64), 1..200),
        opened: bool,
    ) {
        let mut end = End::new("auto", 1);
        end.machine.link_up(ms(0), opened);
        let (mut now, mut packets) = (0, 0);
        for (tag, carries, passed) in tags {
            now += passed;
            packets += u64::from(carries);
            end.receive(ms(now), &Frame { tag, packet: carries.then_some(packets) });
            prop_assert!(end.drain(ms(now)).len() <= 1);
            prop_assert!(!end.machine.waits() && end.machine.deadline().is_none());
            prop_assert!(number(&end.send(ms(now), 0)).is_none());
        }
        prop_assert_eq!(end.got, (1..=packets).collect::<Vec<_>>());
        prop_assert_ne!(end.machine.agreement(), Agreement::Agreed);
        let counters = end.machine.counters();
        prop_assert_eq!(counters, Counters { control: counters.control, ..Counters::default() });
    }
}
