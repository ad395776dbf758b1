//! A. Udugama et al. (2013): TCP's congestion control carried over to named data, reordering-based loss detection, and
//! fair sharing of links hop by hop.
mod axis;
mod beside;
mod burst;
mod calibrate;
mod compound;
mod draw;
mod growth;
mod judge;
mod learn;
mod near;
mod open;
mod runs;
mod scenario;
mod share;
mod single;
mod sockets;
mod switch;

use crate::study::Study;

/// The study.
pub static UDUGAMA2013: Study = Study {
    key: "udugama2013",
    title: "What is gained by detecting losses from reordering, and by sharing links fairly hop by hop?",
    source: "A. Udugama et al., TCP flavours, early loss detection and hop-by-hop fairness for CCN, 2013, OPNET",
    readme: include_str!("../../../docs/studies/udugama2013/README.md"),
    claims: include_str!("udugama2013/claims.toml"),
    experiments: scenario::experiments,
    stands_apart: |_| false,
    calibration: Some(calibrate::calibration),
    sockets: Some(sockets::sockets),
    isolated: Vec::new,
    judge: judge::judge,
    former: judge::former,
    dependences: judge::dependences,
    figures: draw::figures,
    lessons: learn::lessons,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Class::{M, R, T, X};

    #[test]
    fn every_claim_is_listed_with_class_and_verdict() {
        let expected = [
            ("D-01", R),
            ("D-02", R),
            ("D-03", R),
            ("D-04", R),
            ("D-05", R),
            ("D-06", R),
            ("D-07", R),
            ("D-08", M),
            ("D-09", X),
            ("D-10", X),
            ("D-11", X),
            ("D-12", X),
            ("D-13", R),
            ("D-14", R),
            ("D-15", R),
            ("D-16", R),
            ("D-17", R),
            ("D-18", R),
            ("D-19", R),
            ("D-20", R),
            ("D-21", R),
            ("D-22a", R),
            ("D-22b", T),
            ("D-23", T),
            ("D-24", R),
            ("D-25", M),
            ("D-26", M),
            ("D-27", X),
            ("D-28", M),
            ("D-29", M),
            ("D-30", X),
        ];
        UDUGAMA2013.assert_claims(&expected, &[]);
    }

    #[test]
    fn claims_used_for_inference_do_not_gate() {
        let gating = |id: &str| UDUGAMA2013.gates_on(id);
        let gates = [
            "D-01", "D-02", "D-03", "D-13", "D-14", "D-15", "D-16", "D-17", "D-18", "D-19", "D-20",
            "D-21", "D-22a", "D-24",
        ];
        let claims = UDUGAMA2013.claims();
        let found: Vec<_> = claims.iter().filter(|claim| gating(&claim.id)).collect();
        assert_eq!(found.iter().map(|claim| claim.id.as_str()).collect::<Vec<_>>(), gates);
    }
}
