//! M. Nikzad et al. (2022): how good a retransmission timeout is where caches answer, and Jacobson's estimator with slower
//! gains and a floor near the mean round trip.
mod compare;
mod draw;
mod floor;
mod gains;
mod isolated;
mod judge;
mod learn;
mod open;
mod runs;
mod scenario;
mod timer;
mod trend;

use crate::study::{Scale, Study};

/// The study.
pub static NIKZAD2022: Study = Study {
    key: "nikzad2022",
    title: "Which retransmission timeout is right where caches answer some requests and producers others?",
    source: "M. Nikzad, K. Jamshidi, A. Bohlooli, F. M. Faqiry, An accurate retransmission timeout estimator for \
         content-centric networking based on the Jacobson algorithm, Digital Communications and Networks 8(6), 2022, \
         ndnSIM",
    readme: include_str!("../../../docs/studies/nikzad2022/README.md"),
    claims: include_str!("nikzad2022/claims.toml"),
    experiments: scenario::experiments,
    stands_apart: |scale| matches!(scale, Scale::Verdict | Scale::Paper),
    calibration: None,
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

    #[test]
    fn every_claim_is_listed_with_class_and_verdict() {
        let expected = [
            ("C-01", R),
            ("C-02", R),
            ("C-03", M),
            ("C-04", M),
            ("C-05", M),
            ("C-06a", M),
            ("C-06b", T),
            ("C-07a", M),
            ("C-07b", T),
            ("C-08a", M),
            ("C-08b", T),
            ("C-09", R),
            ("C-10a", R),
            ("C-10b", T),
            ("C-11a", T),
            ("C-11b", R),
            ("C-12", R),
            ("C-13", R),
            ("C-14", R),
            ("C-15", M),
            ("C-16", R),
            ("C-17", R),
            ("C-18", R),
            ("C-19", M),
            ("C-20", M),
            ("C-21", M),
            ("C-22", M),
            ("C-23", R),
            ("C-24", R),
            ("C-25", T),
            ("C-26", R),
            ("C-27", R),
            ("C-28", M),
            ("C-29", R),
            ("C-30", R),
            ("C-31", M),
            ("C-32", M),
            ("C-33", M),
            ("C-34", R),
            ("C-35", R),
            ("C-36", R),
        ];
        // Arithmetic needs no runs.
        NIKZAD2022.assert_claims(&expected, &["C-34"]);
    }

    #[test]
    fn claims_used_for_inference_do_not_gate() {
        let gating = |id: &str| NIKZAD2022.gates_on(id);
        assert!(gating("C-01") && gating("C-12") && gating("C-30") && gating("C-35"));
        assert!(!gating("C-34") && !gating("C-32") && !gating("C-25"));
        let all = NIKZAD2022.claims();
        let all = all.iter().filter(|claim| claim.is_gating()).map(|claim| claim.id.as_str());
        assert_eq!(all.collect::<Vec<_>>(), judge::GATING);
    }
}
