//! A. von Rotz, C. Anastasiades and T. Braun (2015): Interest lifetimes that adapt, over wireless hops.
mod axis;
mod calibrate;
mod dense;
mod draw;
mod isolated;
mod judge;
mod learn;
mod one;
mod open;
mod runs;
mod scenario;
mod setup;
mod trace;

use crate::study::{Scale, Study};

/// The study.
pub static VONROTZ2015: Study = Study {
    key: "vonrotz2015",
    title: "What is gained by Interest lifetimes that follow the round trip over several wireless hops?",
    source: "A. von Rotz, C. Anastasiades and T. Braun, adaptive Interest lifetimes for wireless multi-hop communication, 2015, \
         CCNx and ns-3 DCE",
    readme: include_str!("../../../docs/studies/vonrotz2015/README.md"),
    claims: include_str!("vonrotz2015/claims.toml"),
    experiments: scenario::experiments,
    stands_apart: |scale| scale == Scale::Paper,
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
    use crate::claim::Class::{M, R, T};

    /// Claims of class R and T; all others are M.
    const ROBUST: [u32; 16] = [3, 6, 7, 9, 10, 14, 19, 20, 25, 33, 38, 40, 41, 50, 51, 53];
    const TESTBED: [u32; 6] = [4, 8, 39, 48, 49, 52];

    #[test]
    fn every_claim_is_listed_with_class_and_verdict() {
        let class = |number| match number {
            number if ROBUST.contains(&number) => R,
            number if TESTBED.contains(&number) => T,
            _ => M,
        };
        let expected: Vec<_> =
            (1..=57).map(|number| (format!("A-{number:02}"), class(number))).collect();
        VONROTZ2015.assert_claims(&expected, &[]);
    }

    #[test]
    fn claims_used_for_inference_do_not_gate() {
        let gating = |id: &str| VONROTZ2015.gates_on(id);
        assert!(gating("A-03") && gating("A-53"));
        for id in ["A-01", "A-04", "A-05", "A-12", "A-19", "A-22"] {
            assert!(!gating(id), "{id}");
        }
    }

    #[test]
    fn every_figure_is_one_that_an_experiment_serves() {
        let all = VONROTZ2015.experiments(Scale::Check);
        let served: Vec<_> = all.iter().flat_map(|it| it.serves).collect();
        for name in ["time-1", "interests-3", "trace-2-icp", "variants", "open"] {
            assert!(served.contains(&&name), "{name}");
        }
    }
}
