//! Windows under deliveries and losses, in segments.
use super::*;
use crate::congestion::Aimd;
use LossKind::{Mark, Timeout};

fn window_with(settings: WindowSettings) -> Windowed<Aimd> {
    Windowed::new(Aimd::default(), settings)
}

fn window(init_cwnd: f64, init_ssthresh: f64) -> Windowed<Aimd> {
    window_with(WindowSettings { init_cwnd, init_ssthresh, ..WindowSettings::default() })
}

fn deliver(window: &mut Windowed<Aimd>, order: u64, highest_order: u64, in_flight: u32) {
    let delivered = Delivered {
        segment: order,
        order,
        highest_order,
        in_flight,
        advance: 1,
        ..Delivered::default()
    };
    window.on_delivered(Instant::ZERO, &delivered);
}

/// Answers to `count` transmissions from `first` on, in one batch, `millis` after each was sent.
fn deliver_late(window: &mut Windowed<Aimd>, first: u64, count: u64, millis: u64) {
    let rtt = Some(Duration::from_millis(millis));
    for order in first..first + count {
        window.on_delivered(
            Instant::ZERO,
            &Delivered {
                segment: order,
                order,
                highest_order: first + count - 1,
                rtt,
                srtt: rtt,
                min_rtt: rtt,
                in_flight: window.window() as u32,
                advance: 1,
                ..Delivered::default()
            },
        );
    }
}

/// In conservative slow start, after 110 answers, with a window of 80.25.
fn slowing_window() -> Windowed<Aimd> {
    let mut window =
        window_with(WindowSettings { init_cwnd: 10.0, hystart: true, ..WindowSettings::default() });
    deliver_late(&mut window, 0, 50, 1);
    assert_eq!(window.window(), 60.0);
    deliver_late(&mut window, 50, 60, 5);
    window
}

fn lose(window: &mut Windowed<Aimd>, kind: LossKind, order: u64, highest_order: u64) -> bool {
    lose_at(window, kind, order, highest_order, [0, 0])
}

/// As `lose`, with the highest segment received and the highest one requested.
fn lose_at(
    window: &mut Windowed<Aimd>,
    kind: LossKind,
    order: u64,
    highest_order: u64,
    [high_data, high_interest]: [u64; 2],
) -> bool {
    let loss = Loss {
        kind,
        order,
        highest_order,
        high_data,
        high_interest,
        in_flight: 1,
        ..Loss::default()
    };
    window.on_loss(Instant::ZERO, &loss)
}

#[test]
fn slow_start_doubles_a_window_in_use() {
    let mut window = window(10.0, f64::INFINITY);
    (0..10).for_each(|i| deliver(&mut window, i, 9, 10 - i as u32));
    assert_eq!(window.window(), 20.0);
}

#[test]
fn unused_window_does_not_grow() {
    let mut window = window(10.0, f64::INFINITY);
    (0..100).for_each(|i| deliver(&mut window, i, i + 4, 5));
    assert_eq!(window.window(), 10.0);
    deliver(&mut window, 100, 109, 10);
    assert_eq!(window.window(), 11.0);
    deliver(&mut window, 110, 110, 1);
    assert_eq!(window.window(), 11.0);
}

#[test]
fn losses_of_one_flight_are_one_event() {
    let mut window = window(16.0, 16.0);
    assert!(lose(&mut window, Timeout, 3, 15));
    assert!(!lose(&mut window, Timeout, 4, 15) && !lose(&mut window, Mark, 15, 20));
    assert_eq!((window.window(), window.ssthresh()), (8.0, 8.0));
    assert!(lose(&mut window, Mark, 16, 20));
    assert_eq!(window.window(), 4.0);
}

#[test]
fn conservative_off_reduces_for_every_loss() {
    let settings = WindowSettings { conservative: Conservative::Off, ..WindowSettings::default() };
    let mut window = window_with(WindowSettings { init_cwnd: 16.0, ..settings });
    assert!((0..3).all(|order| lose(&mut window, Timeout, order, 15)));
    assert_eq!(window.window(), 2.0);
    assert!((0..3).all(|order| lose(&mut window, Timeout, order, 15)));
    assert_eq!(window.window(), 2.0);
}

#[test]
fn restart_prevents_a_burst_after_lost_flight() {
    let settings = WindowSettings {
        init_cwnd: 100.0,
        init_ssthresh: 100.0,
        restart: true,
        ..WindowSettings::default()
    };
    let loss = |order, in_flight| Loss {
        kind: Timeout,
        order,
        highest_order: 100,
        in_flight,
        ..Loss::default()
    };
    let mut one = window_with(settings);
    assert!(one.on_loss(Instant::ZERO, &loss(50, 99)));
    assert_eq!(one.window(), 50.0, "a single loss leaves the flight alone");

    let restart = WindowSettings { init_cwnd: 2.0, ..settings };
    let mut all = window_with(settings);
    all.settings = restart;
    assert!(all.on_loss(Instant::ZERO, &loss(40, 30)));
    assert_eq!((all.window(), all.ssthresh()), (30.0, 50.0));
    assert!(!all.on_loss(Instant::ZERO, &loss(90, 0)));
    assert_eq!((all.window(), all.ssthresh()), (2.0, 50.0));
}

#[test]
fn rec_point_begins_an_event_after_newer_data() {
    let settings = WindowSettings { init_cwnd: 64.0, ..WindowSettings::default() };
    let mut window = window_with(WindowSettings {
        conservative: Conservative::RecPoint,
        init_ssthresh: 64.0,
        ..settings
    });
    let mut lose = |high| lose_at(&mut window, Timeout, 9, 99, high).then(|| window.window());
    assert_eq!(lose([0, 40]), None, "before any Data beyond segment 0 nothing counts");
    assert_eq!(lose([1, 40]), Some(32.0));
    assert_eq!(lose([40, 60]), None, "segment 40 was requested before the event");
    assert_eq!(lose([41, 60]), Some(16.0));
    assert_eq!(lose([60, 61]), None);
    assert_eq!(lose([61, 61]), Some(8.0));
}

#[test]
fn growth_always_counts_every_delivery() {
    let settings = WindowSettings { growth: Growth::Always, ..WindowSettings::default() };
    let (init_cwnd, init_ssthresh) = (4.0, 6.0);
    let mut window = window_with(WindowSettings { init_cwnd, init_ssthresh, ..settings });
    for (in_flight, expected) in [(1, 5.0), (200, 6.0), (1, 6.0 + 1.0 / 6.0)] {
        deliver(&mut window, 0, 300, in_flight);
        assert_eq!(window.window(), expected);
    }
}

#[test]
fn without_undo_a_reduction_stays() {
    for conservative in [Conservative::SendOrder, Conservative::RecPoint] {
        let undo = conservative == Conservative::RecPoint;
        let settings = WindowSettings { conservative, undo, ..WindowSettings::default() };
        let mut window = window_with(WindowSettings { init_cwnd: 16.0, ..settings });
        assert!(lose_at(&mut window, Timeout, 3, 15, [1, 15]));
        assert!(!window.on_spurious(Instant::ZERO, 3));
        assert_eq!(window.window(), 8.0);
    }
}

#[test]
fn reset_to_init_begins_again_in_slow_start() {
    let reset_to_init = true;
    let mut window = window_with(WindowSettings { reset_to_init, ..WindowSettings::default() });
    (0..14).for_each(|i| deliver(&mut window, i, 100, i as u32 + 2));
    assert!(lose(&mut window, Timeout, 14, 20));
    assert_eq!((window.window(), window.ssthresh()), (2.0, 8.0));
}

#[test]
fn a_loss_never_widens_a_window_of_one() {
    let mut window = window(1.0, 200.0);
    assert!(lose(&mut window, Timeout, 0, 0));
    assert_eq!((window.window(), window.ssthresh()), (1.0, 2.0));
}

#[test]
fn nothing_grows_until_a_reduction_has_taken_effect() {
    let mut window = window(16.0, 16.0);
    lose(&mut window, Timeout, 0, 15);
    (1..8).for_each(|i| deliver(&mut window, i, 15, 16 - i as u32));
    assert_eq!(window.window(), 8.0);
    deliver(&mut window, 8, 15, 8);
    assert_eq!(window.window(), 8.125);
}

#[test]
fn event_is_undone_once_all_timeouts_are_spurious() {
    let mut window = window(16.0, f64::INFINITY);
    lose(&mut window, Timeout, 3, 15);
    lose(&mut window, Timeout, 5, 15);
    assert!(!window.on_spurious(Instant::ZERO, 3));
    assert!(!window.on_spurious(Instant::ZERO, 99));
    assert_eq!(window.window(), 8.0);
    assert!(window.on_spurious(Instant::ZERO, 5));
    assert_eq!((window.window(), window.ssthresh()), (16.0, f64::INFINITY));
    assert!(!window.on_spurious(Instant::ZERO, 5));
}

#[test]
fn a_mark_confirms_the_event_it_belongs_to() {
    let mut window = window(16.0, f64::INFINITY);
    lose(&mut window, Timeout, 3, 15);
    lose(&mut window, Mark, 5, 15);
    assert!(!window.on_spurious(Instant::ZERO, 3));
    assert_eq!(window.window(), 8.0);
}

#[test]
fn limit_keeps_the_state_of_the_window() {
    let mut window = window(16.0, 16.0);
    window.set_limit(4.5);
    assert_eq!(window.window(), 4.5);
    deliver(&mut window, 0, 4, 4);
    window.set_limit(f64::INFINITY);
    assert_eq!(window.window(), 16.0);
    window.set_limit(f64::NAN);
    assert_eq!(window.window(), 1.0);
}

#[test]
fn slow_start_slows_down_within_a_batch() {
    let window = slowing_window();
    assert_eq!(window.window(), 60.0 + 7.0 + 53.0 * 0.25);
    assert_eq!(window.ssthresh(), f64::INFINITY);
}

#[test]
fn loss_ends_hystart_unless_undone() {
    let mut window = slowing_window();
    let before = window.state.hystart;
    lose(&mut window, Timeout, 110, 200);
    assert!(before.is_some() && window.state.hystart.is_none());
    assert!(window.on_spurious(Instant::ZERO, 110));
    assert_eq!(window.state.hystart, before);
}

#[test]
fn without_hystart_longer_round_trips_change_nothing() {
    let mut window = window(10.0, f64::INFINITY);
    deliver_late(&mut window, 0, 50, 1);
    deliver_late(&mut window, 50, 60, 500);
    assert_eq!(window.window(), 120.0);
}

/// A window of 40 that counts the span and does after a timeout what TCP does.
fn span() -> Windowed<Aimd> {
    window_with(WindowSettings {
        init_cwnd: 40.0,
        init_ssthresh: 40.0,
        growth: Growth::Always,
        timeout: AfterTimeout::SlowStart,
        accounting: Accounting::Span,
        ..WindowSettings::default()
    })
}

fn lose_by_order(window: &mut Windowed<Aimd>, order: u64, highest_order: u64) -> bool {
    let loss = Loss {
        kind: LossKind::Order,
        order,
        highest_order,
        in_flight: 30,
        evidence: 6,
        ..Loss::default()
    };
    window.on_loss(Instant::ZERO, &loss)
}

fn advance(window: &mut Windowed<Aimd>, order: u64, advance: u64) {
    let delivered = Delivered {
        segment: order,
        order,
        highest_order: 60,
        in_flight: 40,
        advance,
        ..Delivered::default()
    };
    window.on_delivered(Instant::ZERO, &delivered);
}

#[test]
fn fast_recovery_inflates_and_deflates_the_span() {
    let mut window = span();
    assert!(lose_by_order(&mut window, 10, 49));
    assert_eq!((window.window(), window.ssthresh()), (26.0, 20.0), "half, and six that arrived");
    (16..=20).for_each(|order| advance(&mut window, order, 0));
    assert_eq!(window.window(), 31.0, "one for each out of order");
    advance(&mut window, 50, 8);
    assert_eq!(window.window(), 24.0, "31 - 8 + 1 at a partial advance");
    advance(&mut window, 51, 60);
    assert_eq!(window.window(), 1.0);
    window.on_recovered(Instant::ZERO);
    assert_eq!((window.window(), window.ssthresh()), (20.0, 20.0));
    advance(&mut window, 52, 1);
    assert_eq!(window.window(), 20.05, "and Reno from there");
}

#[test]
fn timeout_resets_window_and_halves_threshold() {
    let mut window = span();
    assert!(lose(&mut window, Timeout, 10, 49));
    assert_eq!((window.window(), window.ssthresh()), (1.0, 20.0));
    assert!(!lose(&mut window, Timeout, 20, 49), "the rest of the flight");
    (50..69).for_each(|order| advance(&mut window, order, 1));
    assert_eq!((window.window(), window.ssthresh()), (20.0, 20.0));
}

#[test]
fn timeout_in_recovery_ends_it_without_reduction() {
    let mut window = span();
    lose_by_order(&mut window, 10, 49);
    advance(&mut window, 20, 0);
    assert!(!lose(&mut window, Timeout, 12, 49));
    assert_eq!((window.window(), window.ssthresh()), (1.0, 20.0));
    assert!(!lose(&mut window, Timeout, 13, 49));
    assert_eq!(window.window(), 1.0);
    window.on_recovered(Instant::ZERO);
    assert_eq!(window.window(), 1.0, "there is no recovery to end");
}

#[test]
fn loss_of_retransmission_is_a_new_event() {
    let mut window = span();
    lose_by_order(&mut window, 10, 49);
    (0..14).for_each(|order| advance(&mut window, 20 + order, 0));
    assert_eq!(window.window(), 40.0);
    assert!(lose(&mut window, Timeout, 50, 60), "sent after the event was noticed");
    assert_eq!((window.window(), window.ssthresh()), (1.0, 10.0), "half of what the first left");
}

#[test]
fn losses_in_recovery_do_not_widen_the_window() {
    let mut window = span();
    let mut highest_order = 49;
    for _ in 0..20 {
        assert!(lose_by_order(&mut window, highest_order, highest_order + 40));
        highest_order += 41;
        (0..40).for_each(|order| advance(&mut window, order, 0));
    }
    assert_eq!(window.ssthresh(), 2.0);
    assert_eq!(window.window(), 48.0, "two, and what has arrived since the last event");
}

#[test]
fn spurious_loss_restores_the_window_without_inflation() {
    let mut window = span();
    lose_by_order(&mut window, 10, 49);
    (0..30).for_each(|order| advance(&mut window, 20 + order, 0));
    assert_eq!(window.window(), 56.0);
    assert!(window.on_spurious(Instant::ZERO, 10));
    assert_eq!((window.window(), window.ssthresh()), (40.0, 40.0));
}

#[test]
fn outstanding_accounting_is_not_inflated() {
    let mut window = window(40.0, 40.0);
    assert!(lose_by_order(&mut window, 10, 49));
    assert_eq!(window.window(), 20.0);
    advance(&mut window, 20, 0);
    window.on_recovered(Instant::ZERO);
    assert_eq!(window.window(), 20.0, "more is in flight than it allows");
}

#[test]
fn restart_prevents_a_burst_after_reordering_losses() {
    let settings = WindowSettings { restart: true, ..WindowSettings::default() };
    let mut window = window_with(WindowSettings { init_cwnd: 100.0, ..settings });
    window.settings.init_cwnd = 2.0;
    assert!(lose_by_order(&mut window, 10, 99));
    assert_eq!((window.window(), window.ssthresh()), (30.0, 50.0), "what is still in flight");
}
