//! S. Yang (2016): a consumer that adapts its window conservatively, as TCP SACK does, and samples one
//! round trip at a time.
mod draw;
mod judge;
mod scenario;
mod sockets;

use crate::claim::{self, Claim, Verdict};
use crate::compare::Sockets;
use crate::figure::Figure;
use crate::result::Results;
use crate::study::{Dependence, Experiment, Scale, Study};

pub use scenario::{DUMBBELL_CONF, LINEAR_CONF};

/// The four designs, by the names that sweeps, tables and figures give them.
pub const DESIGNS: [&str; 4] = ["#0", "#1", "#2", "#3"];

/// The study.
#[derive(Debug)]
pub struct Yang2016;

impl Study for Yang2016 {
    fn key(&self) -> &'static str {
        "yang2016"
    }

    fn title(&self) -> &'static str {
        "What does a consumer gain from one reaction to loss and one round-trip sample per round trip?"
    }

    fn source(&self) -> &'static str {
        "S. Yang, congestion control and loss recovery for an NDN consumer (chunks), 2016, Mini-NDN"
    }

    fn readme(&self) -> &'static str {
        include_str!("yang2016/README.md")
    }

    fn claims(&self) -> Vec<Claim> {
        claim::read(include_str!("yang2016/claims.toml")).unwrap_or_default()
    }

    fn experiments(&self, scale: Scale) -> Vec<Experiment> {
        scenario::experiments(scale)
    }

    fn sockets(&self, scale: Scale) -> Option<Sockets> {
        Some(sockets::sockets(scale))
    }

    fn judge(&self, results: &Results) -> Vec<Verdict> {
        judge::verdicts(&self.claims(), results)
    }

    fn dependences(&self, results: &Results) -> Vec<Dependence> {
        judge::dependences(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        draw::figures(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Class::{M, R};

    #[test]
    fn every_claim_of_the_paper_is_there_with_its_class_and_is_judged() {
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
        let claims = claim::read(include_str!("yang2016/claims.toml")).unwrap();
        let found: Vec<_> = claims.iter().map(|claim| (claim.id.as_str(), claim.class)).collect();
        assert_eq!(found, expected);
        let verdicts = Yang2016.judge(&Results::default());
        let judged: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.class)).collect();
        assert_eq!(judged, expected);
        assert!(verdicts.iter().all(|verdict| verdict.verdict == claim::Outcome::Open));
    }

    #[test]
    fn what_helped_to_fix_a_parameter_does_not_gate() {
        let gating = |id: &str| Yang2016.claims().iter().any(|it| it.id == id && it.is_gating());
        assert!(gating("B-01") && gating("B-07") && gating("B-22"));
        assert!(!gating("B-05") && !gating("B-06a") && !gating("B-21") && !gating("B-02"));
    }
}
