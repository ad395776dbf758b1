//! What the window-based algorithms have in common: slow start, one reduction per flight, undo.
//! Each of them fills in a [`WindowRule`]: how to grow beyond slow start and how far to shrink.
//!
//! Sources: RFC 5681 section 3.1 (slow start, threshold); RFC 6675 section 5 (one reduction per
//! flight, told apart by what was sent before it); S. Yang's consumer (2016), which brought
//! conservative window adaptation to named data; RFC 7661 (growth only of a window in use); RFC 3522
//! and 4015 (undo, here once all losses of an event proved spurious); RFC 9406 (the end of slow
//! start before a loss, with `hystart=true`; see `windowed/hystart.rs`).
//!
//! Differences:
//! - a timeout is treated like any other loss, `cwnd = ssthresh`, not `cwnd = 1` (RFC 5681, 3.1):
//!   every segment has its own timer, and the others keep arriving; `reset-to-init` goes back to
//!   the initial window instead;
//! - with `restart=true` a timeout also lowers the window to what is still in flight, the packet
//!   conservation of RFC 6937 and, where nothing is left, the restart of RFC 5681, 3.1: after a burst
//!   overran a buffer, `cwnd = ssthresh` alone would send the next burst into the same buffer;
//! - events are told apart by send order, not by the number of the segment, so that a retransmission
//!   lost again begins a new event; `conservative=rec-point` has Yang's condition to the letter (a loss
//!   is a new event if a segment has arrived whose number is above all that had been asked for at the
//!   last one), `conservative=off` reduces for every loss;
//! - the threshold derives from the window, not from what is in flight: timed-out segments have left
//!   the flight already, and the window only grows while in use;
//! - "in use" is remembered for one flight: a batch of deliveries handled at once is not slowed down
//!   because nothing could be sent in between;
//! - while more is in flight than the window allows (after a reduction) nothing grows; `growth=always`
//!   has neither of these two conditions, as Yang's consumer;
//! - `undo=false` leaves out the undo; `rec-point`, which knows no send order, never has it;
//! - a loss never widens a window of 1, which Yang's `cwnd = ssthresh` (at least 2) would;
//! - HyStart++ is for the slow start before the first loss (RFC 9406, 4.3), whether or not
//!   `init-ssthresh` bounds it; an undo brings it back. Rounds are counted, and round trips compared,
//!   whether or not the window is in use.
use super::{CongestionControl, Delivered, Loss, LossKind, RecoveryPoint, sane_limit};
use crate::spec::SpecWriter;
use crate::time::{Duration, Instant};
use hystart::HyStart;
use std::fmt;

mod hystart;
mod settings;

pub use settings::{Conservative, Growth, WindowSettings};

/// The lowest slow-start threshold (RFC 5681, equation 4).
const LOWEST_SSTHRESH: f64 = 2.0;

/// How one algorithm grows and shrinks the window, and all that it remembers.
pub trait WindowRule: Copy + fmt::Debug + PartialEq + Send {
    /// The name of the algorithm.
    const NAME: &'static str;

    /// Adds the parameters to the printed spec.
    fn describe<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b>;

    /// By how many segments the window grows for one delivery after slow start; finite.
    fn increase(&mut self, now: Instant, window: f64, delivered: &Delivered) -> f64;

    /// How many segments of the window a loss event leaves; at most `window`.
    fn decrease(&mut self, now: Instant, window: f64) -> f64;

    /// For a time `pause`, now over, the window was not in use or could not grow.
    fn on_pause(&mut self, pause: Duration) {
        let _ = pause;
    }
}

/// A window that grows and shrinks by the rule `R`.
#[derive(Clone, Debug, PartialEq)]
pub struct Windowed<R> {
    settings: WindowSettings,
    state: State<R>,
    limit: f64,
    /// The answer, kept ready: the learnt window within all limits.
    window: f64,
    /// Before the last reduction, as long as that may be undone.
    episode: Option<Episode<R>>,
    /// The window was in use when the transmission of this order was the latest.
    used_until: Option<u64>,
    last_growth: Instant,
    paused: bool,
}

/// Everything that a reduction changes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State<R> {
    rule: R,
    cwnd: f64,
    ssthresh: f64,
    recovery: RecoveryPoint,
    /// Highest segment asked for when the last event was noticed (`recPoint`); 0 before any.
    rec_point: u64,
    /// Watches slow start; none if that is not asked for or over.
    hystart: Option<HyStart>,
}

impl<R> State<R> {
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Ends slow start if the delivery tells so.
    fn watch(&mut self, delivered: &Delivered) {
        let slow = self.in_slow_start();
        let Some(hystart) = self.hystart.as_mut().filter(|_| slow) else {
            return;
        };
        if hystart.on_delivered(delivered) {
            self.ssthresh = self.cwnd;
            self.hystart = None;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Episode<R> {
    before: State<R>,
    /// Timeouts of this event that have not proved spurious.
    losses: u64,
}

impl<R: WindowRule> Windowed<R> {
    /// A window that has seen nothing. Settings below 1 count as 1.
    pub fn new(rule: R, settings: WindowSettings) -> Self {
        let settings = WindowSettings {
            init_cwnd: sane_limit(settings.init_cwnd),
            init_ssthresh: settings.init_ssthresh.max(1.0),
            max_cwnd: settings.max_cwnd.max(1.0),
            undo: settings.undo && settings.conservative != Conservative::RecPoint,
            ..settings
        };
        let (cwnd, ssthresh) = (settings.init_cwnd, settings.init_ssthresh);
        let mut windowed = Self {
            settings,
            state: State {
                rule,
                cwnd,
                ssthresh,
                recovery: RecoveryPoint::default(),
                rec_point: 0,
                hystart: settings.hystart.then(HyStart::default),
            },
            limit: sane_limit(settings.max_cwnd),
            window: 1.0,
            episode: None,
            used_until: None,
            last_growth: Instant::ZERO,
            paused: true,
        };
        windowed.settle();
        windowed
    }

    fn settle(&mut self) {
        self.window = self.state.cwnd.min(self.limit).max(1.0);
    }

    /// Whether the window, not the application, decided how much was sent with this delivery.
    fn was_in_use(&mut self, delivered: &Delivered) -> bool {
        let (in_flight, allowed) = (f64::from(delivered.in_flight), libm::floor(self.window));
        if in_flight + 1.0 >= allowed {
            self.used_until = Some(delivered.highest_order);
        }
        in_flight <= allowed && self.used_until.is_some_and(|until| delivered.order <= until)
    }

    fn grow(&mut self, now: Instant, delivered: &Delivered) {
        if self.paused {
            self.state.rule.on_pause(now.since(self.last_growth));
        }
        (self.paused, self.last_growth) = (false, now);
        let state = &mut self.state;
        let increase = if state.in_slow_start() {
            state.hystart.map_or(1.0, |hystart| hystart.increase())
        } else {
            state.rule.increase(now, state.cwnd, delivered)
        };
        state.cwnd = (state.cwnd + increase).min(self.limit);
        self.settle();
    }

    /// The loss does not belong to the last event.
    fn is_new(&self, loss: &Loss) -> bool {
        match self.settings.conservative {
            Conservative::Off => true,
            Conservative::SendOrder => !self.state.recovery.covers(loss.order),
            Conservative::RecPoint => loss.high_data > self.state.rec_point,
        }
    }

    fn shrink(&mut self, now: Instant, loss: &Loss) {
        let before = self.state;
        let ssthresh = self.state.rule.decrease(now, self.window).max(LOWEST_SSTHRESH);
        let cwnd = if self.settings.reset_to_init { self.settings.init_cwnd } else { ssthresh };
        self.state.ssthresh = ssthresh;
        self.state.cwnd = cwnd.min(self.window);
        self.state.recovery = RecoveryPoint::after(loss);
        self.state.rec_point = loss.high_interest;
        self.state.hystart = None;
        let undoable = self.settings.undo && undoable(loss);
        self.episode = undoable.then_some(Episode { before, losses: 1 });
        self.paused = true;
        self.settle();
    }

    /// Takes note of one more loss of the last event.
    fn repeat(&mut self, loss: &Loss) {
        match &mut self.episode {
            Some(episode) if undoable(loss) => {
                episode.losses += u64::from(!episode.before.recovery.covers(loss.order));
            }
            _ => self.episode = None,
        }
    }

    /// Sends no burst in the place of a lost flight: what timed out is sent again as other segments
    /// arrive, or, if nothing is left that could arrive, in a new slow start up to the threshold.
    fn restart(&mut self, loss: &Loss) {
        let in_flight = f64::from(loss.in_flight).max(self.settings.init_cwnd);
        self.state.cwnd = self.state.cwnd.min(in_flight);
        self.settle();
    }

    fn undo(&mut self, before: State<R>) {
        self.state = State { cwnd: before.cwnd.max(self.state.cwnd), ..before };
        self.episode = None;
        self.paused = true;
        self.settle();
    }
}

/// A timer may have been too early; a mark and a Nack mean what they say.
fn undoable(loss: &Loss) -> bool {
    loss.kind == LossKind::Timeout
}

impl<R: WindowRule> CongestionControl for Windowed<R> {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.state.ssthresh
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        self.state.watch(delivered);
        let may_grow = self.was_in_use(delivered) || self.settings.growth == Growth::Always;
        if may_grow && self.state.cwnd < self.limit {
            self.grow(now, delivered);
        } else {
            self.paused = true;
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool {
        let new = self.is_new(loss);
        if new {
            self.shrink(now, loss);
        } else {
            self.repeat(loss);
        }
        if self.settings.restart && loss.kind == LossKind::Timeout {
            self.restart(loss);
        }
        new
    }

    fn on_spurious(&mut self, _: Instant, order: u64) -> bool {
        let recovery = self.state.recovery;
        let Some(episode) = &mut self.episode else {
            return false;
        };
        if !recovery.covers(order) || episode.before.recovery.covers(order) {
            return false;
        }
        episode.losses -= 1;
        let (before, all) = (episode.before, episode.losses == 0);
        if all {
            self.undo(before);
        }
        all
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window).min(self.settings.max_cwnd);
        self.settle();
    }
}

impl<R: WindowRule> fmt::Display for Windowed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = self.state.rule.describe(SpecWriter::new(f, R::NAME));
        self.settings.describe(writer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Aimd;
    use super::*;
    use LossKind::{Mark, Timeout};

    fn window_with(settings: WindowSettings) -> Windowed<Aimd> {
        Windowed::new(Aimd::default(), settings)
    }

    fn window(init_cwnd: f64, init_ssthresh: f64) -> Windowed<Aimd> {
        window_with(WindowSettings { init_cwnd, init_ssthresh, ..WindowSettings::default() })
    }

    fn deliver(window: &mut Windowed<Aimd>, order: u64, highest_order: u64, in_flight: u32) {
        let (rtt, srtt, min_rtt) = (None, None, None);
        let delivered =
            Delivered { segment: order, order, highest_order, rtt, srtt, min_rtt, in_flight };
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
                },
            );
        }
    }

    /// In conservative slow start, after 110 answers, with a window of 80.25.
    fn slowing_window() -> Windowed<Aimd> {
        let mut window = window_with(WindowSettings {
            init_cwnd: 10.0,
            hystart: true,
            ..WindowSettings::default()
        });
        deliver_late(&mut window, 0, 50, 1);
        assert_eq!(window.window(), 60.0);
        deliver_late(&mut window, 50, 60, 5);
        window
    }

    fn lose(window: &mut Windowed<Aimd>, kind: LossKind, order: u64, highest_order: u64) -> bool {
        lose_at(window, kind, order, highest_order, [0, 0])
    }

    /// The same, with the highest segment that arrived and the highest that was asked for.
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
            srtt: None,
            min_rtt: None,
        };
        window.on_loss(Instant::ZERO, &loss)
    }

    #[test]
    fn slow_start_doubles_a_window_in_use_even_if_deliveries_come_in_a_batch() {
        let mut window = window(10.0, f64::INFINITY);
        (0..10).for_each(|i| deliver(&mut window, i, 9, 10 - i as u32));
        assert_eq!(window.window(), 20.0);
    }

    #[test]
    fn a_window_that_is_not_in_use_does_not_grow() {
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
    fn without_conservation_every_loss_reduces_but_never_below_two() {
        let settings =
            WindowSettings { conservative: Conservative::Off, ..WindowSettings::default() };
        let mut window = window_with(WindowSettings { init_cwnd: 16.0, ..settings });
        assert!((0..3).all(|order| lose(&mut window, Timeout, order, 15)));
        assert_eq!(window.window(), 2.0);
        assert!((0..3).all(|order| lose(&mut window, Timeout, order, 15)));
        assert_eq!(window.window(), 2.0);
    }

    #[test]
    fn with_conserve_a_lost_flight_is_not_replaced_by_a_burst() {
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
            high_data: 0,
            high_interest: 0,
            in_flight,
            srtt: None,
            min_rtt: None,
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
    fn by_rec_point_a_loss_is_an_event_once_something_newer_than_the_last_one_has_arrived() {
        let settings = WindowSettings { init_cwnd: 64.0, ..WindowSettings::default() };
        let mut window = window_with(WindowSettings {
            conservative: Conservative::RecPoint,
            init_ssthresh: 64.0,
            ..settings
        });
        let mut lose = |high| lose_at(&mut window, Timeout, 9, 99, high).then(|| window.window());
        assert_eq!(lose([0, 40]), None, "before any Data beyond segment 0 nothing counts");
        assert_eq!(lose([1, 40]), Some(32.0));
        assert_eq!(lose([40, 60]), None, "segment 40 had been asked for at the event");
        assert_eq!(lose([41, 60]), Some(16.0));
        assert_eq!(lose([60, 61]), None);
        assert_eq!(lose([61, 61]), Some(8.0));
    }

    #[test]
    fn with_growth_always_every_delivery_counts_whatever_is_in_flight() {
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
    fn an_event_is_undone_once_all_its_timeouts_prove_spurious() {
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
    fn a_limit_hides_what_was_learnt_without_losing_it() {
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
    fn slow_start_slows_down_within_a_batch_once_round_trips_are_longer() {
        let window = slowing_window();
        assert_eq!(window.window(), 60.0 + 7.0 + 53.0 * 0.25);
        assert_eq!(window.ssthresh(), f64::INFINITY);
    }

    #[test]
    fn slow_start_resumes_at_full_pace_when_the_rise_was_a_fluke() {
        let mut window = slowing_window();
        deliver_late(&mut window, 110, 80, 4);
        assert_eq!(window.window(), 80.25 + 7.0 * 0.25 + 73.0);
    }

    #[test]
    fn five_rounds_of_longer_round_trips_end_slow_start_without_a_loss() {
        let mut window = slowing_window();
        (0..4).for_each(|round| deliver_late(&mut window, 110 + 100 * round, 100, 5));
        assert_eq!((window.window(), window.ssthresh()), (180.25, f64::INFINITY));
        deliver_late(&mut window, 510, 1, 1);
        assert_eq!(window.ssthresh(), 180.25);
        assert_eq!(window.window(), 180.25 + 1.0 / 180.25);
    }

    #[test]
    fn after_a_loss_slow_start_is_not_watched_unless_that_is_undone() {
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
}
