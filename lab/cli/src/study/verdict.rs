//! Verdicts as a person and as a program read them.
use crate::error::{Exit, Failure};
use recoup_studies::claim::{Claim, Outcome, Verdict};
use serde::Serialize;
use std::fmt;

/// The verdicts on all claims of a study.
#[derive(Debug, Serialize)]
pub(super) struct Check<'a> {
    /// The study's key.
    pub study: &'a str,
    /// How much was run.
    pub scale: &'a str,
    /// Seeds that each point has at least.
    pub seeds: u64,
    /// The verdicts.
    #[serde(rename = "claims")]
    pub verdicts: &'a [Verdict],
    /// The summary.
    #[serde(skip)]
    pub summary: Summary,
}

/// How many claims hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Gating claims that hold.
    pub hold: usize,
    /// Gating claims that fail.
    pub fail: usize,
    /// Gating claims without a verdict.
    pub undecided: usize,
    /// Claims that do not gate.
    pub others: usize,
    /// Gating claims whose rule was corrected, and the part of them whose verdict has changed.
    pub corrected: usize,
    pub changed: usize,
}

impl Summary {
    /// Summary of the verdicts on these claims. A gating claim without a verdict is undecided.
    pub(super) fn new(claims: &[Claim], verdicts: &[Verdict]) -> Self {
        let mut summary = Self::default();
        for claim in claims {
            let verdict = verdicts.iter().find(|verdict| verdict.id == claim.id);
            let place = match verdict.map(|verdict| verdict.verdict) {
                _ if !claim.is_gating() => &mut summary.others,
                Some(Outcome::Holds) => &mut summary.hold,
                Some(Outcome::Fails) => &mut summary.fail,
                _ => &mut summary.undecided,
            };
            *place += 1;
            if let Some(verdict) = verdict.filter(|it| claim.is_gating() && it.former.is_some()) {
                summary.corrected += 1;
                summary.changed += usize::from(verdict.changed().is_some());
            }
        }
        summary
    }

    /// How many verdicts the corrected rules change, as a sentence; empty if no rule was corrected.
    pub(super) fn corrections(self) -> String {
        match self.corrected {
            0 => String::new(),
            rules => format!(
                " {} corrected to the paper's sentence; that changes {} of the verdicts.",
                if rules == 1 { "One rule was".into() } else { format!("{rules} rules were") },
                self.changed
            ),
        }
    }

    /// How `study check` ends.
    ///
    /// # Errors
    /// With exit code 1 if a gating claim fails, with 2 if one is undecided.
    pub(super) fn judge(self, study: &str) -> Result<(), Failure> {
        let claims = |count| if count == 1 { "one gating claim" } else { "gating claims" };
        if self.fail > 0 {
            let (what, verb) = (claims(self.fail), if self.fail == 1 { "fails" } else { "fail" });
            let count = if self.fail == 1 { String::new() } else { format!("{} ", self.fail) };
            return Err(Failure::new(Exit::Other, format!("{study}: {count}{what} {verb}")));
        }
        if self.undecided > 0 {
            let what = claims(self.undecided);
            let count =
                if self.undecided == 1 { String::new() } else { format!("{} ", self.undecided) };
            // Its code is also that of a wrong command line; the document distinguishes them.
            return Err(Failure::new(Exit::Usage, format!("{study}: {count}{what} undecided"))
                .advise("run it with more --seeds"));
        }
        Ok(())
    }
}

impl fmt::Display for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for verdict in self.verdicts {
            entry(f, verdict, None)?;
        }
        let Summary { hold, fail, undecided, others, .. } = self.summary;
        write!(
            f,
            "\n{} at scale {} with {} seeds: of {} gating claims {hold} hold, {fail} fail, {undecided} are \
             undecided; {others} claims beside them.{}",
            self.study,
            self.scale,
            self.seeds,
            hold + fail + undecided,
            self.summary.corrections()
        )
    }
}

/// A claim with its verdict, and what is changed if something is.
pub(super) fn entry(
    f: &mut fmt::Formatter<'_>,
    verdict: &Verdict,
    change: Option<&str>,
) -> fmt::Result {
    let outcome = match verdict.verdict {
        Outcome::Holds => "holds",
        Outcome::Fails => "FAILS",
        Outcome::Reported => "reported",
        Outcome::Open => "undecided",
    };
    writeln!(f, "{:6} {}  {outcome}", verdict.id, verdict.class)?;
    let Verdict { paper, ours, why, .. } = verdict;
    let change = change.unwrap_or_default();
    let former = verdict.former.as_ref().map_or_else(String::new, |it| {
        format!("by the rule until {}: {} ({})", it.until, it.verdict.word(), it.ours)
    });
    let lines =
        [("with", change), ("paper", paper), ("ours", ours), ("why", why), ("until", &former)];
    for (name, text) in lines.into_iter().filter(|(_, text)| !text.is_empty()) {
        writeln!(f, "         {name:5}  {}", text.trim())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_studies::claim::Former;

    fn verdicts(outcome: impl Fn(&str) -> Outcome) -> (Vec<Claim>, Vec<Verdict>) {
        let claims = recoup_studies::yang2016::YANG2016.claims();
        let verdict = |claim: &Claim| Verdict {
            id: claim.id.clone(),
            class: claim.class,
            verdict: outcome(&claim.id),
            paper: claim.reported.clone(),
            ours: "1 ± 0".into(),
            why: "because".into(),
            former: None,
        };
        let verdicts = claims.iter().map(verdict).collect();
        (claims, verdicts)
    }

    fn ends(outcome: impl Fn(&str) -> Outcome) -> Result<(), Exit> {
        let (claims, verdicts) = verdicts(outcome);
        Summary::new(&claims, &verdicts).judge("yang2016").map_err(|failure| failure.exit)
    }

    #[test]
    fn only_gating_claims_decide_how_a_check_ends() {
        assert_eq!(ends(|_| Outcome::Holds), Ok(()));
        // B-02 is of class M, B-05 helped to fix a parameter.
        let others =
            |id: &str| if ["B-02", "B-05"].contains(&id) { Outcome::Fails } else { Outcome::Holds };
        assert_eq!(ends(others), Ok(()));
        assert_eq!(
            ends(|id| if id == "B-04" { Outcome::Open } else { Outcome::Holds }),
            Err(Exit::Usage)
        );
        assert_eq!(
            ends(|id| if id == "B-04" { Outcome::Fails } else { Outcome::Open }),
            Err(Exit::Other)
        );
        assert_eq!(Exit::Usage as u8, 2);
    }

    #[test]
    fn corrected_rule_counts_and_names_its_change() {
        let (claims, mut verdicts) = verdicts(|_| Outcome::Holds);
        let former =
            |verdict| Former { until: "2026-11-28".into(), verdict, ours: "2 ± 0".into() };
        verdicts[3].former = Some(former(Outcome::Fails));
        // B-02 does not gate.
        verdicts[1].former = Some(former(Outcome::Fails));
        let summary = Summary::new(&claims, &verdicts);
        assert_eq!((summary.fail, summary.corrected, summary.changed), (0, 1, 1));
        assert!(summary.corrections().contains("changes 1 of"), "{}", summary.corrections());
        verdicts[3].former = Some(former(Outcome::Holds));
        assert_eq!(Summary::new(&claims, &verdicts).changed, 0);
        let check =
            Check { study: "yang2016", scale: "check", seeds: 20, verdicts: &verdicts, summary };
        let text = check.to_string();
        assert!(text.contains("until  by the rule until 2026-11-28: holds (2 ± 0)"), "{text}");
    }

    #[test]
    fn a_document_knows_three_verdicts() {
        let (claims, verdicts) =
            verdicts(|id| if id == "B-04" { Outcome::Open } else { Outcome::Holds });
        let summary = Summary::new(&claims, &verdicts);
        let check =
            Check { study: "yang2016", scale: "check", seeds: 20, verdicts: &verdicts, summary };
        let document = serde_json::to_value(&check).unwrap();
        assert_eq!(document["seeds"], 20);
        assert_eq!(document["claims"][3]["verdict"], "reported");
        assert_eq!(document["claims"][1]["verdict"], "holds");
        assert_eq!(document["claims"][1]["class"], "M");
        let text = check.to_string();
        assert!(text.contains("B-04   R  undecided") && text.contains("1 are undecided"), "{text}");
    }
}
