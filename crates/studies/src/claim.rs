//! What a paper claims, and what became of it.
use serde::{Deserialize, Serialize};
use std::fmt;

/// One claim of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number, such as `B-01`.
    pub id: String,
    /// The figure, table or section that it stands in.
    pub place: String,
    /// The experiment that it is about.
    pub scenario: String,
    /// What is measured.
    pub metric: String,
    /// Which algorithms are compared.
    pub algorithms: String,
    /// What the paper reports.
    pub reported: String,
    /// What kind of statement it is.
    pub kind: Kind,
    /// How much it should depend on what the paper leaves open.
    pub class: Class,
    /// When a reproduction agrees.
    pub acceptance: String,
    /// What else is to be known about it.
    #[serde(default)]
    pub remark: String,
}

/// What kind of statement a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number.
    Absolute,
    /// One number over another.
    Ratio,
    /// Which is more.
    Ordering,
    /// How something develops.
    Trend,
}

/// How much a claim should depend on what the paper leaves open.
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
    /// The claim helped to fix a parameter that its paper does not state: it is shown, and does not
    /// count as held.
    pub fn used_for_inference(&self) -> bool {
        self.remark.contains("used for inference")
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

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Our runs agree with it.
    Holds,
    /// Our runs contradict it.
    Fails,
    /// Ours is shown beside the paper's, without judgement.
    Reported,
    /// The runs do not tell: results are missing, or the intervals overlap. Documents say `reported`, and
    /// the reason says that it is undecided.
    #[serde(rename = "reported")]
    Open,
}

/// A claim, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The claim's number.
    pub id: String,
    /// Its class.
    pub class: Class,
    /// What became of it.
    pub verdict: Outcome,
    /// What the paper reports.
    pub paper: String,
    /// What our runs say, with confidence intervals.
    pub ours: String,
    /// Why: by which rule, and what it depends on.
    pub why: String,
}
