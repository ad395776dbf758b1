//! G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova and X. Zeng (2016): losses of the radio and of moves, repaired in the network.
mod axis;
mod beside;
mod calibrate;
mod draw;
mod example;
mod isolated;
mod joint;
mod judge;
mod learn;
mod mobile;
mod open;
mod radio;
mod runs;
mod scenario;
mod shared;
mod wireless;

use crate::study::{Scale, Study};

/// The study.
pub static CAROFIGLIO2016: Study = Study {
    key: "carofiglio2016",
    title: "What is gained if the network repairs what the radio and moves lose, instead of the consumer?",
    source: "G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova and X. Zeng, in-network loss detection and recovery in ICN, \
         ACM ICN 2016, ndnSIM",
    readme: include_str!("../../../docs/studies/carofiglio2016/README.md"),
    claims: include_str!("carofiglio2016/claims.toml"),
    experiments: scenario::experiments,
    stands_apart: |scale| matches!(scale, Scale::Verdict | Scale::Paper),
    calibration: Some(calibrate::calibration),
    sockets: None,
    isolated: isolated::isolated,
    judge: judge::judge,
    former: judge::former,
    dependences: judge::dependences,
    figures: draw::figures,
    lessons: learn::lessons,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Class::{self, M, R, T};

    /// Claims of class M and T; all others are R.
    const MEDIUM: [&str; 10] =
        ["E-06", "E-07", "E-08", "E-10", "E-11", "E-16", "E-18", "E-23", "E-24", "E-25"];
    const TESTBED: [&str; 3] = ["E-01b", "E-21", "E-28"];

    fn class(id: &str) -> Class {
        match id {
            id if TESTBED.contains(&id) => T,
            id if MEDIUM.contains(&id) || id == "E-27" => M,
            _ => R,
        }
    }

    #[test]
    fn every_claim_is_listed_with_class_and_verdict() {
        let numbers = (2..=29).map(|number| format!("E-{number:02}"));
        let ids = ["E-01a", "E-01b"].map(str::to_owned).into_iter().chain(numbers);
        let expected: Vec<_> = ids.map(|id| (id.clone(), class(&id))).collect();
        // Arithmetic needs no runs.
        CAROFIGLIO2016.assert_claims(&expected, &["E-14"]);
    }

    #[test]
    fn every_figure_is_one_that_an_experiment_serves() {
        let all = CAROFIGLIO2016.experiments(Scale::Check);
        let served: Vec<_> = all.iter().flat_map(|it| it.serves).collect();
        for name in ["5a", "5b", "5c", "7a", "7b", "7c", "9a", "9b", "9c", "residual"] {
            assert!(served.contains(&&name), "{name}");
        }
    }
}
