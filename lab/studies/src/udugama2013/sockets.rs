//! Ideas of the study on real processes: reordering-based loss detection against timers alone, and pre-recovery against
//! three Data out of order if two servers answer in turn.
//!
//! The networks are smaller than the paper's, a link where that will do, so that many runs fit on a machine. Beside the
//! paper's windows stand those that `recoup fetch` has.
use super::axis::VERSION;
use super::scenario::SIZE;
use crate::compare::Sockets;
use crate::study::{Experiment, Scale};
use crate::sweep::{Axis, changed};
use recoup_core::unit::Capacity;

/// Seeds of each point, simulated and on processes.
const SEEDS: u64 = 20;

pub(super) fn sockets(scale: Scale) -> Sockets {
    let experiments = vec![
        experiment(
            scale,
            "repair",
            include_str!("repair.toml"),
            &["Simple1", "Smart"],
            &[varied("loss"), varied("order")],
        ),
        experiment(
            scale,
            "repair-sources",
            include_str!("repair-sources.toml"),
            &["Simple3", "Smart"],
            &[],
        ),
    ];
    Sockets::both(experiments, include_str!("terms.toml"))
}

/// The axis of that name.
const fn varied(name: &'static str) -> Axis {
    Axis::new(include_str!("sockets-axes.toml"), name)
}

fn experiment(
    scale: Scale,
    name: &'static str,
    network: &str,
    versions: &[&str],
    more: &[Axis],
) -> Experiment {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 200_000 } else { 20_000_000 });
    let common = include_str!("sockets.toml");
    let mut scenario = changed(&format!("{network}{common}"), |scenario| scenario.set(&SIZE, size));
    scenario += &varied("window").text();
    scenario += &VERSION.only(versions);
    scenario.extend(more.iter().map(|axis| axis.text()));
    Experiment::new(name, scenario, if is_small { 1 } else { SEEDS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::ApplicationKind;

    #[test]
    fn round_trip_takes_40_ms() {
        let sockets = sockets(Scale::Check);
        let [repair, sources] = sockets.experiments.as_slice() else { panic!() };
        let all = repair.networks();
        assert_eq!((all.len(), repair.seeds), (5 * 2 * 3 * 2, 20));
        let point = "window=newreno, version=Smart, loss=2 %, order=changed";
        let (_, network) = all.iter().find(|(label, _)| label == point).unwrap();
        let back = &network.links[0].back;
        assert_eq!((back.rate_bits, back.delay.as_millis()), (10_000_000, 20));
        assert_eq!((back.loss.text(), back.reorder), ("bernoulli(p=0.02)", true));
        let of = |kind: &ApplicationKind| match kind {
            ApplicationKind::Fetch(plan) => {
                Some((plan.options.congestion.to_string(), plan.options.loss.to_string()))
            }
            _ => None,
        };
        let fetch = network.applications.iter().find_map(|it| of(&it.kind)).unwrap();
        assert!(fetch.0.starts_with("aimd") || fetch.0 == "newreno", "{fetch:?}");
        assert_eq!(fetch.1, "smart");
        let all = sources.networks();
        assert_eq!(all.len(), 5 * 2);
        let delays: Vec<_> = all[0].1.links.iter().map(|it| it.forth.delay.as_millis()).collect();
        assert_eq!(delays, [10, 10, 25]);
        assert!(all[0].1.links.iter().all(|link| link.back.loss.text() == "none"));
    }
}
