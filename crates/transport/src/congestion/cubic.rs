//! `cubic(c=0.4,beta=0.7,fast-convergence=false,reno-friendly=true,form=rfc9438,…,hystart=true)`: the
//! window follows a cubic of the time since the last loss event.
//!
//! Sources: RFC 9438 sections 4.1 to 4.7 and 4.10. The latter recommends HyStart++, hence its default. With
//! `form=ha2008`: S. Ha, I. Rhee and L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant" (2008), Algorithm 1.
//! This form uses the minimum round-trip time instead of the smoothed one. Where the cubic lies below the window, the
//! window still grows by a hundredth of a segment each round trip. Growth has no limit of half a window each round
//! trip. In the Reno-friendly region the window grows by both rules, and the step of Reno's estimate does not change
//! above the last maximum. Its β = 0.2 is the fraction removed at a loss: `beta=0.8` here.
//!
//! Differences:
//! - fast convergence (4.7) is off by default, as in established consumers of named data;
//! - `ssthresh` derives from the window, not from the flight (4.6 permits it): see `windowed`;
//! - a timeout is a loss like any other (4.8 would begin anew with K = 0): see `windowed`;
//! - time during which the window was not in use or at its limit does not count (5.8);
//! - an epoch begins with the first growth after the reduction has taken effect: `t` counts from the end of recovery.
//!
//! Udugama et al. 2013 print W(t) = C·(t − K)³ + W_max with K = ∛(W_max·β/C), and count `t` from the last reduction.
//! Both forms here differ in two points:
//! - `K` is ∛((W_max − cwnd)/C) of the present window. Both are equal after a reduction to (1 − β)·W_max; after a
//!   timeout, which halves, the paper's is ∛(0.4) = 0.74 times as long with its β = 0.2.
//! - `t` does not count the time in fast recovery, one round trip at least: the paper's curve is ahead by that.
use super::{Delivered, WIDEST, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    settings: CubicSettings,
    /// Window before the last reduction (`W_max`), lower after fast convergence; 0 before any.
    w_max: f64,
    /// Window before the last reduction (`cwnd_prior`); 0 before any.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// The parameters of [`Cubic`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicSettings {
    /// How steep the cubic is, segments/s³.
    pub c: f64,
    /// Factor of the window at a loss, 0 to 1.
    pub beta: f64,
    /// Fast convergence: aim lower if the window was still below its last maximum (4.7).
    pub fast_convergence: bool,
    /// Reno-friendly region: at least as fast as Reno (4.3).
    pub reno_friendly: bool,
    /// Specification of the growth.
    pub form: CubicForm,
}

/// Specification of the growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicForm {
    /// RFC 9438.
    Rfc9438,
    /// Ha, Rhee and Xu (2008).
    Ha2008,
}

impl CubicForm {
    const WORDS: [(&str, Self); 2] = [("rfc9438", Self::Rfc9438), ("ha2008", Self::Ha2008)];
}

impl Default for CubicSettings {
    fn default() -> Self {
        let form = CubicForm::Rfc9438;
        Self { c: 0.4, beta: 0.7, fast_convergence: false, reno_friendly: true, form }
    }
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    start: Instant,
    /// Seconds until the cubic reaches `origin` (`K`).
    k: f64,
    /// Window at the inflection point of the cubic, segments.
    origin: f64,
    /// Window that Reno would have (`W_est`), segments.
    w_est: f64,
}

impl Cubic {
    /// A rule in its initial state.
    pub fn new(settings: CubicSettings) -> Self {
        Self { settings, w_max: 0.0, cwnd_prior: 0.0, epoch: None }
    }

    /// RFC 9438, 4.2, equation 2; without a loss before (4.10) the cubic begins at its flat part.
    fn begin(&self, now: Instant, window: f64) -> Epoch {
        let origin = self.w_max.max(window);
        let k = libm::cbrt((origin - window) / self.settings.c);
        Epoch { start: now, k, origin, w_est: window }
    }

    /// `W_cubic` of RFC 9438, 4.2, equation 1, `after` the beginning of the epoch.
    fn cubic(&self, epoch: &Epoch, after: Duration) -> f64 {
        let t = after.as_secs_f64() - epoch.k;
        self.settings.c * t * t * t + epoch.origin
    }

    /// RFC 9438, 4.3: Reno's step, scaled to the rate of a Reno that halves its window.
    fn reno_step(&self, epoch: &Epoch) -> f64 {
        let beta = self.settings.beta;
        let ahead = self.settings.form == CubicForm::Rfc9438 && epoch.w_est >= self.cwnd_prior;
        if ahead { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
    }

    /// RFC 9438, 4.3 to 4.5.
    fn step(&self, epoch: &Epoch, t: Duration, window: f64, delivered: &Delivered) -> f64 {
        if self.settings.reno_friendly && self.cubic(epoch, t) < epoch.w_est {
            return (epoch.w_est - window).max(0.0);
        }
        let rtt = delivered.srtt.or(delivered.rtt).unwrap_or_default();
        let target = self.cubic(epoch, t.saturating_add(rtt)).max(window).min(1.5 * window);
        (target - window) / window
    }

    /// Ha, Rhee and Xu (2008), Algorithm 1: `cubic_update` and `cubic_tcp_friendliness`.
    fn step_of_2008(&self, epoch: &Epoch, t: Duration, window: f64, delivered: &Delivered) -> f64 {
        let ahead = delivered.min_rtt.or(delivered.rtt).unwrap_or_default();
        let target = self.cubic(epoch, t.saturating_add(ahead));
        let step = if target > window { (target - window) / window } else { 0.01 / window };
        let reno = if self.settings.reno_friendly { epoch.w_est - window } else { 0.0 };
        step.max(reno).min(WIDEST)
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Self::new(CubicSettings::default())
    }
}

impl WindowRule for Cubic {
    const NAME: &'static str = "cubic";

    fn describe(&mut self, each: &mut Description<'_>) {
        let CubicSettings { c, beta, fast_convergence, reno_friendly, form } = &mut self.settings;
        each.number("c", c, 1e-6..=1e6, "a number from 0.000001 to 1000000");
        each.number("beta", beta, 0.0..=1.0, "a number from 0 to 1");
        each.boolean("fast-convergence", fast_convergence);
        each.boolean("reno-friendly", reno_friendly);
        each.word("form", form, &CubicForm::WORDS, "rfc9438 or ha2008");
    }

    fn increase(&mut self, now: Instant, window: f64, delivered: &Delivered) -> f64 {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, window));
        epoch.w_est += self.reno_step(&epoch) / window;
        self.epoch = Some(epoch);
        let t = now.since(epoch.start);
        match self.settings.form {
            CubicForm::Rfc9438 => self.step(&epoch, t, window, delivered),
            CubicForm::Ha2008 => self.step_of_2008(&epoch, t, window, delivered),
        }
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        let converge = self.settings.fast_convergence && window < self.w_max;
        self.w_max = if converge { window * (1.0 + self.settings.beta) / 2.0 } else { window };
        self.cwnd_prior = window;
        self.epoch = None;
        window * self.settings.beta
    }

    fn on_pause(&mut self, pause: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += pause;
        }
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Cubic>, SpecError> {
    let settings = WindowSettings { restart: true, hystart: true, ..WindowSettings::default() };
    with_defaults(spec, CubicSettings::default(), settings)
}

pub(super) fn with_defaults(
    spec: Spec<'_>,
    rule: CubicSettings,
    settings: WindowSettings,
) -> Result<Windowed<Cubic>, SpecError> {
    Windowed::from_spec(spec, Cubic::new(rule), settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(srtt: Duration) -> Delivered {
        Delivered { srtt: Some(srtt), advance: 1, ..Delivered::default() }
    }

    /// The window after `seconds` of avoidance begun at `window`.
    fn after(mut cubic: Cubic, mut window: f64, rtt: Duration, seconds: u64) -> f64 {
        let mut now = Instant::ZERO;
        while now < Instant::from_millis(seconds * 1000) {
            for _ in 0..libm::floor(window) as u64 {
                window += cubic.increase(now, window, &delivered(rtt));
            }
            now += rtt;
        }
        window
    }

    #[test]
    fn window_reaches_its_maximum_after_k_seconds() {
        // K = ∛((1000 − 700) / 0.4) = 9.09 s.
        let mut cubic = Cubic::default();
        let window = cubic.decrease(Instant::ZERO, 1000.0);
        assert_eq!(window, 700.0);
        let rtt = Duration::from_millis(100);
        let (before, at) = (after(cubic, window, rtt, 4), after(cubic, window, rtt, 9));
        assert!((940.0..960.0).contains(&before), "{before}");
        assert!((999.0..1001.0).contains(&at), "{at}");
    }

    #[test]
    fn short_round_trips_grow_as_fast_as_reno() {
        // 3·0.3/1.7 = 0.53 segments in each of 50 round trips.
        let mut cubic = Cubic::default();
        let window = cubic.decrease(Instant::ZERO, 100.0);
        let after = after(cubic, window, Duration::from_millis(20), 1);
        assert!((96.0..97.0).contains(&after), "{after}");
    }

    #[test]
    fn avoidance_after_hystart_adds_one_segment_each_round() {
        // 4.10: K = 0 and W_max = cwnd. Reno is ahead until 0.4·t³ = t/RTT, that is t = 15.8 s here.
        let rtt = Duration::from_millis(10);
        for (seconds, expected) in [(1, 2100.0), (5, 2500.0)] {
            let after = after(Cubic::default(), 2000.0, rtt, seconds);
            assert!((after - expected).abs() < 1.0, "{after}");
        }
    }

    #[test]
    fn fast_convergence_aims_lower_below_the_last_maximum() {
        let settings = CubicSettings { fast_convergence: true, ..CubicSettings::default() };
        let mut cubic = Cubic::new(settings);
        cubic.decrease(Instant::ZERO, 100.0);
        assert_eq!(cubic.w_max, 100.0);
        cubic.decrease(Instant::ZERO, 80.0);
        assert_eq!((cubic.w_max, cubic.cwnd_prior), (68.0, 80.0));
        cubic.decrease(Instant::ZERO, 90.0);
        assert_eq!(cubic.w_max, 90.0);
    }

    #[test]
    fn pause_does_not_count_as_growth_time() {
        let (mut steady, rtt) = (Cubic::default(), Duration::from_millis(100));
        let window = steady.decrease(Instant::ZERO, 1000.0);
        steady.increase(Instant::ZERO, window, &delivered(rtt));
        let mut paused = steady;
        paused.on_pause(Duration::from_secs(50));
        let a = steady.increase(Instant::from_millis(100), window, &delivered(rtt));
        let b = paused.increase(Instant::from_millis(50_100), window, &delivered(rtt));
        assert_eq!(a, b);
    }

    #[test]
    fn growth_is_limited_to_half_a_window() {
        let mut cubic = Cubic::default();
        let window = cubic.decrease(Instant::ZERO, 1000.0);
        let now = delivered(Duration::ZERO);
        cubic.increase(Instant::ZERO, window, &now);
        assert_eq!(cubic.increase(Instant::from_millis(1_000_000), window, &now), 0.5);
    }

    /// The algorithm of 2008, with its β of 0.2.
    fn of_2008(reno_friendly: bool) -> Cubic {
        let form = CubicForm::Ha2008;
        let settings = CubicSettings { beta: 0.8, reno_friendly, form, ..Default::default() };
        Cubic::new(settings)
    }

    #[test]
    fn values_of_2008_reduce_by_a_fifth() {
        let mut cubic = of_2008(true);
        let window = cubic.decrease(Instant::ZERO, 100.0);
        assert_eq!(window, 80.0);
        // 3 · 0.2 / 1.8 = 1/3; K = ∛(20 / 0.4) = 3.7 s is far away.
        let after = after(cubic, window, Duration::from_millis(10), 1);
        assert!((after - 80.0 - 100.0 / 3.0).abs() < 0.5, "{after}");
    }

    #[test]
    fn reno_step_of_2008_is_constant() {
        let rtt = Duration::from_millis(1);
        for (cubic, added) in [(of_2008(true), 1000.0 / 3.0), (Cubic::default(), 990.0)] {
            let mut cubic = cubic;
            let window = cubic.decrease(Instant::ZERO, 20.0);
            let after = after(cubic, window, rtt, 1) - window;
            assert!((after - added).abs() < 0.02 * added, "{after}");
        }
    }

    #[test]
    fn window_above_the_2008_cubic_grows_slowly() {
        let mut cubic = of_2008(false);
        let window = cubic.decrease(Instant::ZERO, 100.0);
        let flat = Delivered { min_rtt: Some(Duration::ZERO), ..delivered(Duration::ZERO) };
        let step = cubic.increase(Instant::ZERO, window, &flat);
        assert!(step.abs() < 0.02 / 80.0, "{step}");
        assert_eq!(cubic.increase(Instant::ZERO, 200.0, &flat), 0.01 / 200.0);
    }

    #[test]
    fn form_of_2008_looks_ahead_by_minimum_rtt() {
        let mut cubic = of_2008(false);
        let window = cubic.decrease(Instant::ZERO, 1000.0);
        let least = Duration::from_millis(100);
        let late = Delivered { min_rtt: Some(least), ..delivered(Duration::from_secs(9)) };
        let step = cubic.increase(Instant::ZERO, window, &late);
        // K = ∛(200 / 0.4) = 7.937; 0.4 · (0.1 - 7.937)³ + 1000 = 807.5.
        assert!((step - 7.46 / 800.0).abs() < 1e-4, "{step}");
    }
}
