//! Runs of the study on real processes: both networks with all designs, as many runs as in the
//! paper.
use super::draw::{DUMBBELL_TIMES, LINEAR_TIMES};
use super::{DESIGNS, scenario};
use crate::compare::{Reported, Sockets, Terms};
use crate::study::Scale;

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
    let terms = Terms { reported: reported.collect(), ..Terms::read(include_str!("terms.toml")) };
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
