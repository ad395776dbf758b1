//! Estimators on real processes: answers of a cache and of a producer meet one timer.
use super::timer::{BASIC, Gains, Jacobson, PER_PROVIDER, RECONSIDERED};
use crate::compare::Sockets;
use crate::study::{Experiment, Scale};
use crate::sweep::{axis, changed};
use recoup_core::unit::Capacity;

/// Two consumers behind a router with a cache.
const NETWORK: &str = include_str!("sockets.toml");

/// The names of the timers on the axis.
const NAMES: [&str; 4] = ["Basic", "Very Fast", "Reconsidered", "PerProvider"];

fn jacobson(timer: Jacobson) -> String {
    format!("\"fetch.rto\" = \"{}\"\n", timer.spec())
}

/// The axis of timers; the fields of the study set those of its own consumers.
fn timers() -> String {
    let very_fast = Jacobson { gains: Gains::VeryFast, ..BASIC };
    let per_provider = PER_PROVIDER.fields().replace("applications.c.rto", "fetch.rto");
    let fields = [BASIC, very_fast, RECONSIDERED].map(jacobson).into_iter().chain([per_provider]);
    axis("timer", NAMES.into_iter().zip(fields))
}

pub(super) fn sockets(scale: Scale) -> Sockets {
    let is_small = scale == Scale::Smoke;
    let mut scenario = changed(NETWORK, |scenario| {
        if is_small {
            scenario.set(&["serve", "size"], Capacity::Bytes(40_000));
            scenario.set(&["applications", "c1", "last"], 19_u64);
            scenario.set(&["applications", "c2", "start"], "1 s");
        }
    });
    scenario += &timers();
    let seeds = if is_small { 1 } else { 20 };
    let experiment = Experiment::new("cache-sockets", scenario, seeds);
    Sockets::both(vec![experiment], include_str!("terms.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_is_a_point() {
        for scale in [Scale::Smoke, Scale::Check] {
            let networks = sockets(scale).experiments[0].networks();
            let labels: Vec<_> = networks.iter().map(|(label, _)| label.clone()).collect();
            assert_eq!(labels, NAMES.map(|name| format!("timer={name}")));
        }
    }
}
