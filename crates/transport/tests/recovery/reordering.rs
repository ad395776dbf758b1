//! WLDR on links that reorder.
use crate::pair::{End, acquainted, converse, ms};
use recoup_transport::time::Duration;

/// Sends one frame each 100 µs. Each tenth is late by 3 ms or lost; reports return at once. Returns the number of
/// retransmissions in each 100 ms.
fn reordered(text: &str, millis: u64, fate: impl Fn(u64) -> Option<u64>) -> (Vec<u64>, End) {
    let (mut a, mut b) = acquainted(text);
    let (mut late, mut resent) = (std::collections::BTreeMap::new(), Vec::new());
    for tick in 0..10 * millis {
        let now = ms(1) + Duration::from_micros(100 * tick);
        let frame = a.send(now, tick);
        match fate(tick) {
            Some(ticks) => late.entry(tick + ticks).or_insert_with(Vec::new).push(frame),
            None if tick % 10 == 9 => {}
            None => {
                b.receive(now, &frame);
            }
        }
        for frame in late.remove(&tick).unwrap_or_default() {
            b.receive(now, &frame);
        }
        converse(now, &mut a, &mut b);
        if tick % 1_000 == 999 {
            resent.push(a.counters().resent - resent.iter().sum::<u64>());
        }
    }
    (resent, b)
}

#[test]
fn a_link_that_reorders_without_loss_stops_resending() {
    let late = |tick: u64| (tick % 10 == 9).then_some(30);
    let (resent, b) = reordered("wldr", 1_000, late);
    assert!(resent[0] <= 4, "until the first late frame came: {resent:?}");
    assert!(resent[1..].iter().all(|resent| *resent == 0), "{resent:?}");
    assert_eq!(b.counters().duplicates, resent[0]);
    let (resent, _) = reordered("wldr(max-hold=0s)", 1_000, late);
    assert!(resent.iter().all(|resent| *resent >= 99), "without adaptation: {resent:?}");
}

#[test]
fn loss_on_a_reordering_link_is_repaired() {
    // Every third late frame is lost instead.
    let fate = |tick: u64| (tick % 10 == 9 && !tick.is_multiple_of(3)).then_some(tick % 7 * 3 + 2);
    let (resent, b) = reordered("wldr", 1_000, fate);
    assert!(
        resent[1..].iter().all(|resent| (33..=34).contains(resent)),
        "losses alone: {resent:?}"
    );
    let missing = (0..9_900).filter(|packet| !b.got.contains(packet)).collect::<Vec<_>>();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn losses_without_reordering_are_reported_at_once() {
    let (resent, b) = reordered("wldr", 1_000, |_| None);
    assert_eq!(resent, [99, 100, 100, 100, 100, 100, 100, 100, 100, 100]);
    // Each arrives behind the frame that showed the gap.
    let order = b.got.iter().zip(b.got.iter().skip(1));
    assert!(order.filter(|(one, next)| next < one).all(|(one, next)| one - next == 1));
}
