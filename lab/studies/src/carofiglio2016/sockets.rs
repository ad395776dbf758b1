//! WLDR and loss notices on real processes: the parts of Figure 5b, over links that lose in bursts.
use super::axis::{ELN, INTERESTS, NOTHING, RECOVERY, TWO_TIMERS, WLDR, timers};
use crate::compare::Sockets;
use crate::study::{Experiment, Scale};
use crate::sweep::changed;
use recoup_core::unit::Capacity;

/// The wireless network, with lossy links in place of the radio.
const NETWORK: &str = include_str!("sockets.toml");

pub(super) fn sockets(scale: Scale) -> Sockets {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 200_000 } else { 2_000_000 });
    let mut scenario = changed(NETWORK, |scenario| scenario.set(&["serve", "size"], size));
    scenario += &timers(&TWO_TIMERS);
    scenario += &RECOVERY.only(&[NOTHING, ELN, INTERESTS, WLDR]);
    let seeds = if is_small { 1 } else { 20 };
    let experiment = Experiment::new("parts-sockets", scenario, seeds);
    Sockets::both(vec![experiment], include_str!("terms.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_radio_links_lose_and_recover() {
        let networks = sockets(Scale::Check).experiments[0].networks();
        assert_eq!(networks.len(), 2 * 4);
        for (label, network) in networks {
            let lossy = network.links.iter().map(|it| it.back.loss.text() != "none");
            assert_eq!(lossy.collect::<Vec<_>>(), [true, false, false, true], "{label}");
        }
    }
}
