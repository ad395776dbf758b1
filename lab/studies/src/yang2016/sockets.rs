//! Runs of the study on real processes: both networks with all designs, as many runs as in the
//! paper.
use super::draw::{DUMBBELL_TIMES, LINEAR_TIMES};
use super::{DESIGNS, scenario};
use crate::compare::{Quantity, Reported, Sockets, Terms};
use crate::study::Scale;

const QUANTITIES: &[Quantity] = &[
    Quantity { metric: "time_s", label: "time", unit: "s", factor: 1.0 },
    Quantity { metric: "throughput_bps", label: "throughput", unit: "kbit/s", factor: 1e-3 },
    Quantity { metric: "loss_event_percent", label: "loss events", unit: "%", factor: 1.0 },
    Quantity { metric: "timeouts", label: "timeouts", unit: "", factor: 1.0 },
];

/// #1 and #2 depend on the natural variation of the round trip, to which processes add.
const DECISIVE: &[(&str, &str)] = &[("design", "#0"), ("design", "#3")];

pub(super) fn sockets(scale: Scale) -> Sockets {
    let mut simulated = scenario::experiments(scale);
    simulated.retain(|experiment| ["linear", "dumbbell"].contains(&experiment.name));
    let mut experiments = simulated.clone();
    for experiment in &mut experiments {
        experiment.seeds = if scale == Scale::Smoke { 1 } else { 3 };
        experiment.curves = None;
    }
    let reported = [("linear", "c1", 0), ("dumbbell", "c1", 0), ("dumbbell", "c2", 3)];
    let reported = reported.into_iter().flat_map(|(experiment, place, from)| {
        DESIGNS.iter().enumerate().map(move |(number, design)| {
            let times = match experiment {
                "linear" => LINEAR_TIMES[number].to_vec(),
                _ => DUMBBELL_TIMES[number][from..from + 3].to_vec(),
            };
            let times: Vec<_> = times.iter().map(|time| format!("{time:.1}")).collect();
            let text = format!("{} s", times.join(", "));
            Reported { experiment, point: ("design", design), place, text }
        })
    });
    let reported = reported.collect();
    let (quantities, contests) = (QUANTITIES, &[]);
    let terms = Terms { quantities, decisive: DECISIVE, within: 0.05, reported, contests };
    Sockets { experiments, simulated, terms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_table_has_a_place_per_consumer() {
        let sockets = sockets(Scale::Check);
        assert_eq!(sockets.experiments.iter().map(|it| it.seeds).collect::<Vec<_>>(), [3, 3]);
        assert_eq!(sockets.terms.reported.len(), 12);
        let last = sockets.terms.reported.last().unwrap();
        assert_eq!((last.place, last.text.as_str()), ("c2", "46.4, 48.0, 45.4 s"));
    }
}
