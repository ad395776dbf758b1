//! Claims of a paper, and the verdict on each.
use serde::{Deserialize, Serialize};
use std::fmt;

/// A claim of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number, such as `B-01`.
    pub id: String,
    /// The figure, table or section that it stands in.
    pub place: String,
    /// The experiment that it is about.
    pub scenario: String,
    /// The measured quantity.
    pub metric: String,
    /// The algorithms compared.
    pub algorithms: String,
    /// The paper's result.
    pub reported: String,
    /// Kind of statement.
    pub kind: Kind,
    /// Dependence on what the paper leaves open.
    pub class: Class,
    /// When a reproduction agrees.
    pub acceptance: String,
    /// The rule by which it is judged.
    pub rule: String,
    /// The rule where more runs are there, made because the first ones left the claim open.
    #[serde(default, rename = "rule-again")]
    pub rule_again: String,
    /// Remark for the reader.
    #[serde(default)]
    pub remark: String,
}

/// Kind of statement that a claim makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number.
    Absolute,
    /// One number over another.
    Ratio,
    /// An order of several values.
    Ordering,
    /// A development over time or over a parameter.
    Trend,
}

/// Dependence of a claim on what the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Class {
    /// Robust: should survive another substrate.
    R,
    /// Medium: sign or band; depends on parameters that are not stated.
    M,
    /// Depends on the testbed: the figure is reported.
    T,
    /// Doubtful in the source itself: reported with a remark.
    X,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Claim {
    /// Whether the claim helped to fix a parameter that its paper does not state. Such a claim is shown, and does not
    /// count as held.
    pub fn used_for_inference(&self) -> bool {
        self.remark.contains("used for inference")
    }

    /// The day on which its rule was corrected to the paper's sentence, if it was. The remark has the former rule.
    pub fn corrected(&self) -> Option<&str> {
        let (_, rest) = self.remark.split_once("corrected ")?;
        rest.get(..10).filter(|day| day.starts_with("20"))
    }

    /// The study fails if this claim does.
    pub fn is_gating(&self) -> bool {
        self.class == Class::R && !self.used_for_inference()
    }
}

#[derive(Deserialize)]
struct Claims {
    claim: Vec<Claim>,
}

/// Reads a room's `claims.toml`.
///
/// # Errors
/// If the text is not such a file.
pub fn read(text: &str) -> Result<Vec<Claim>, toml::de::Error> {
    toml::from_str::<Claims>(text).map(|claims| claims.claim)
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Our runs agree with it.
    Holds,
    /// Our runs contradict it.
    Fails,
    /// Ours is shown beside the paper's, without judgement.
    Reported,
    /// Undecided: results are missing, or the intervals overlap. Documents print `reported`; the
    /// reason names the gap.
    #[serde(rename = "reported")]
    Open,
}

impl Outcome {
    /// The outcome in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Reported => "reported",
            Self::Open => "undecided",
        }
    }
}

/// A claim, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The claim's number.
    pub id: String,
    /// Its class.
    pub class: Class,
    /// The verdict.
    pub verdict: Outcome,
    /// The paper's result.
    pub paper: String,
    /// Result of our runs, with confidence intervals.
    pub ours: String,
    /// Reason: the rule applied, and the parameters it depends on.
    pub why: String,
    /// Finding of the former rule in the same runs, if the rule was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former: Option<Former>,
}

/// Finding by a rule that was not the paper's sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Former {
    /// The day on which the rule was corrected.
    pub until: String,
    /// Its verdict.
    pub verdict: Outcome,
    /// Its result of our runs.
    pub ours: String,
}

impl Former {
    /// Comparisons by the former rule, marked as such.
    pub fn comparisons(&self) -> impl Iterator<Item = String> {
        self.ours.split("; ").map(|it| format!("rule until {}: {it}", self.until))
    }
}

impl Verdict {
    /// The comparison that decides, which is the first of ours.
    pub fn decisive(&self) -> &str {
        self.comparisons().next().unwrap_or_default()
    }

    /// The verdict by the former rule, if that is another one.
    pub fn changed(&self) -> Option<&Former> {
        self.former.as_ref().filter(|it| it.verdict != self.verdict)
    }

    /// The verdict in words, with that by the former rule.
    pub fn words(&self) -> String {
        let former =
            |it: &Former| format!("; by the rule until {}: {}", it.until, it.verdict.word());
        self.verdict.word().to_owned() + &self.former.as_ref().map_or_else(String::new, former)
    }

    /// All comparisons of ours, the one that decides first.
    pub fn comparisons(&self) -> impl Iterator<Item = &str> {
        self.ours.split("; ")
    }
}
