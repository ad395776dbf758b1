//! S. Yang (2016): a consumer that adapts its window conservatively, as TCP SACK does, and samples one
//! round trip at a time.
mod draw;
mod judge;
mod learn;
mod scenario;
mod sockets;

use crate::study::Study;

pub use scenario::{DUMBBELL_CONF, LINEAR_CONF};

/// The four designs, by the names that sweeps, tables and figures give them.
pub const DESIGNS: [&str; 4] = ["#0", "#1", "#2", "#3"];

/// The study.
pub static YANG2016: Study = Study {
    key: "yang2016",
    title: "What does a consumer gain from one reaction to loss and one round-trip sample per round trip?",
    source: "S. Yang, congestion control and loss recovery for an NDN consumer (chunks), 2016, Mini-NDN",
    readme: include_str!("../../../docs/studies/yang2016/README.md"),
    claims: include_str!("yang2016/claims.toml"),
    experiments: scenario::experiments,
    stands_apart: |_| false,
    calibration: None,
    sockets: Some(sockets::sockets),
    isolated: Vec::new,
    judge: judge::judge,
    former: |_, _| None,
    dependences: judge::dependences,
    figures: draw::figures,
    lessons: learn::lessons,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Class::{M, R};

    #[test]
    fn every_claim_is_listed_with_class_and_verdict() {
        let expected = [
            ("B-01", R),
            ("B-02", M),
            ("B-03", M),
            ("B-04", R),
            ("B-05", R),
            ("B-06a", R),
            ("B-06b", M),
            ("B-07", R),
            ("B-08", R),
            ("B-09", M),
            ("B-10", M),
            ("B-11", R),
            ("B-12", R),
            ("B-13", R),
            ("B-14", R),
            ("B-15", M),
            ("B-16", R),
            ("B-17", M),
            ("B-18", R),
            ("B-19", M),
            ("B-20", R),
            ("B-21", R),
            ("B-22", R),
        ];
        YANG2016.assert_claims(&expected, &[]);
    }

    #[test]
    fn claims_used_for_inference_do_not_gate() {
        let gating = |id: &str| YANG2016.gates_on(id);
        let gates = ["B-04", "B-07", "B-08", "B-11", "B-12", "B-13", "B-16", "B-20", "B-22"];
        let claims = YANG2016.claims();
        let found: Vec<_> = claims.iter().filter(|claim| gating(&claim.id)).collect();
        assert_eq!(found.iter().map(|claim| claim.id.as_str()).collect::<Vec<_>>(), gates);
    }
}
