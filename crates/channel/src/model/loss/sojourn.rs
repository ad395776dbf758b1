//! Losses in bursts of time: `sojourn(good-time=1s,bad-time=50ms,good=0,bad=1)`.
//!
//! The Gilbert–Elliott model in continuous time, as fading or interference acts: the channel stays in
//! each state for an exponential time with that mean, however many frames pass. It begins in its
//! equilibrium, so that a share `bad-time/(good-time + bad-time)` of the time is bad.
//!
//! States and losses come from different streams: how often frames are sent does not move the states.
use super::LossModel;
use super::bernoulli::PROBABILITY;
use crate::model::law::Law;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::{Duration, Instant};

/// Two states whose times do not depend on traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Sojourn {
    good_time: Duration,
    bad_time: Duration,
    good: f64,
    bad: f64,
    state: Option<State>,
}

#[derive(Clone, Debug, PartialEq)]
struct State {
    is_bad: bool,
    until: Instant,
    rng: Rng,
}

impl Sojourn {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (good_time, bad_time) = (Duration::from_secs(1), Duration::from_millis(50));
        spec.read(Self { good_time, bad_time, good: 0.0, bad: 1.0, state: None })
    }

    fn begin(&self, rng: &Rng) -> State {
        let mut rng = rng.substream("state");
        let (good, bad) = (self.good_time.as_secs_f64(), self.bad_time.as_secs_f64());
        let is_bad = rng.unit_f64() * (good + bad) < bad;
        let until = Instant::ZERO + self.stay(is_bad, &mut rng);
        State { is_bad, until, rng }
    }

    fn stay(&self, is_bad: bool, rng: &mut Rng) -> Duration {
        let mean = if is_bad { self.bad_time } else { self.good_time };
        // A stay of no time at all would never end.
        Law::Exponential { mean }.draw_time(rng).max(Duration::from_nanos(1))
    }
}

impl LossModel for Sojourn {
    fn takes(&mut self, rng: &mut Rng, at: Instant) -> bool {
        let mut state = self.state.take().unwrap_or_else(|| self.begin(rng));
        while state.until <= at {
            state.is_bad = !state.is_bad;
            state.until += self.stay(state.is_bad, &mut state.rng);
        }
        let p = if state.is_bad { self.bad } else { self.good };
        self.state = Some(state);
        rng.unit_f64() < p
    }
}

impl Described for Sojourn {
    fn describe(&mut self, each: &mut Description<'_>) {
        let least = Duration::from_micros(1);
        each.duration("good-time", &mut self.good_time, least);
        each.duration("bad-time", &mut self.bad_time, least);
        each.number("good", &mut self.good, 0.0..=1.0, PROBABILITY);
        each.number("bad", &mut self.bad, 0.0..=1.0, PROBABILITY);
    }
}

recoup_core::print_as_spec!(Sojourn, "sojourn");

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(every_nanos: u64, seconds: u64) -> Vec<u64> {
        let spec = Spec::parse("sojourn(good-time=300ms,bad-time=100ms)").unwrap();
        let mut model = Sojourn::from_spec(spec).unwrap();
        let mut rng = Rng::from_seed(1);
        (0..seconds * 1_000_000_000)
            .step_by(every_nanos as usize)
            .filter(|nanos| model.takes(&mut rng, Instant::from_nanos(*nanos)))
            .collect()
    }

    #[test]
    fn a_quarter_of_the_time_is_bad() {
        let share = lost(1_000_000, 1_000).len() as f64 / 1_000_000.0;
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }

    #[test]
    fn bad_times_do_not_depend_on_traffic() {
        let (few, many) = (lost(10_000_000, 20), lost(1_000_000, 20));
        let thinned: Vec<u64> =
            many.into_iter().filter(|nanos| nanos.is_multiple_of(10_000_000)).collect();
        assert_eq!(few, thinned);
    }
}
