//! Losses at a time: `burst(at=305s,packets=3)` takes the first three frames whose transmission begins
//! then or later; with `every=10s` again each ten seconds.
use super::LossModel;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::{Duration, Instant};

/// Losses of consecutive frames at given times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    at: Duration,
    packets: u64,
    /// Zero means once.
    every: Duration,
    /// When the next burst begins, if there is one.
    next: Option<Instant>,
    left: u64,
}

impl Burst {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (at, every, next) = (Duration::ZERO, Duration::ZERO, Some(Instant::ZERO));
        spec.read(Self { at, packets: 1, every, next, left: 0 })
    }

    /// The first burst that begins after `now`.
    fn following(&self, begun: Instant, now: Instant) -> Option<Instant> {
        let every = u64::try_from(self.every.as_nanos()).ok().filter(|every| *every > 0)?;
        let periods = now.as_nanos().saturating_sub(begun.as_nanos()) / every + 1;
        Some(Instant::from_nanos(begun.as_nanos().checked_add(periods.checked_mul(every)?)?))
    }
}

impl LossModel for Burst {
    fn takes(&mut self, _: &mut Rng, at: Instant) -> bool {
        if let Some(begun) = self.next.filter(|next| *next <= at) {
            self.left = self.packets;
            self.next = self.following(begun, at);
        }
        let taken = self.left > 0;
        self.left = self.left.saturating_sub(1);
        taken
    }
}

impl Described for Burst {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.duration("at", &mut self.at, Duration::ZERO);
        each.whole("packets", &mut self.packets, .., "a whole number");
        each.duration("every", &mut self.every, Duration::ZERO);
        self.next = Some(Instant::ZERO + self.at);
    }
}

recoup_core::print_as_spec!(Burst, "burst");

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<u64> {
        let mut burst = Burst::from_spec(Spec::parse(text).unwrap()).unwrap();
        let mut rng = Rng::from_seed(1);
        (0..30)
            .filter(|second| burst.takes(&mut rng, Instant::from_millis(second * 1_000)))
            .collect()
    }

    #[test]
    fn the_frames_after_the_time_are_taken() {
        assert_eq!(taken("burst(at=2.5s,packets=3)"), [3, 4, 5]);
        assert_eq!(taken("burst"), [0]);
        assert!(taken("burst(packets=0)").is_empty());
    }

    #[test]
    fn it_comes_again_at_each_multiple() {
        assert_eq!(taken("burst(at=2s,packets=2,every=10s)"), [2, 3, 12, 13, 22, 23]);
    }
}
