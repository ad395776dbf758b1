//! The timers on real processes: scenario 1 at three hops, over links that lose as much as the radio does.
use super::axis::{TIMERS, timers};
use crate::compare::Sockets;
use crate::study::{Experiment, Scale};
use crate::sweep::changed;
use recoup_core::unit::Capacity;

/// The chain, and the axis of its losses.
const CHAIN: &str = include_str!("sockets.toml");

pub(super) fn sockets(scale: Scale) -> Sockets {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 40_000 } else { 200_000 });
    let mut scenario = changed(CHAIN, |scenario| scenario.set(&["serve", "size"], size));
    scenario += &timers(&TIMERS);
    let seeds = if is_small { 1 } else { 20 };
    let experiment = Experiment::new("chain", scenario, seeds);
    Sockets::both(vec![experiment], include_str!("terms.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_has_three_lossy_hops() {
        let networks = sockets(Scale::Check).experiments[0].networks();
        assert_eq!(networks.len(), 12);
        let (_, network) = networks.iter().find(|(it, _)| it.contains("loss=2 %")).unwrap();
        assert_eq!(network.links.len(), 3);
        assert!(network.links.iter().all(|it| it.back.loss.text() == "bernoulli(p=0.02)"));
    }
}
