//! The figures of a fetch and its algorithms, as `recoup fetch --json` prints them.
use crate::options::FetchOptions;
use recoup_transport::fetch::FetchStats;
pub use recoup_transport::fetch::stats::Verification;
use serde::Serialize;

/// A fetch that has ended. Serialises as in the document of `recoup fetch --json` (`docs/library.md`).
#[derive(Clone, Debug, Default, Serialize)]
pub struct FetchSummary {
    /// The counters of the fetch.
    #[serde(flatten)]
    pub stats: FetchStats,
    /// Verification of the content.
    pub verification: Verification,
    /// The algorithms, with all their parameters.
    pub algorithms: Algorithms,
}

impl FetchSummary {
    /// The summary of a fetch with these counters and options.
    pub fn new(stats: FetchStats, options: &FetchOptions) -> Self {
        let verification = stats.verification(options.policy());
        Self { stats, verification, algorithms: Algorithms::of(options) }
    }
}

/// The algorithms, with all their parameters.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Algorithms {
    /// Congestion control.
    pub congestion: String,
    /// Retransmission timer.
    pub rto: String,
    /// The choice of sampled segments.
    pub sampling: String,
    /// Rule that declares a segment lost before its timer expires.
    pub loss: String,
    /// Why this congestion control is the default, if it is.
    #[serde(skip)]
    pub why_congestion: Option<&'static str>,
    /// Why this timer is the default, if it is.
    #[serde(skip)]
    pub why_rto: Option<&'static str>,
    /// Why this detector is the default, if it is.
    #[serde(skip)]
    pub why_loss: Option<&'static str>,
}

/// Why these algorithms are the defaults.
const WHY_CONGESTION: &str =
    "reduces the window for queues and marks, not for random losses; shares a link with CUBIC";
const WHY_RTO: &str = "adapts to the path; its floor of 200 ms stays above the jitter of queues";
const WHY_LOSS: &str =
    "tolerates reordering by caches and several producers; probes for lost tails before the timer";

impl Algorithms {
    /// The algorithms of a fetch with these options.
    pub fn of(options: &FetchOptions) -> Self {
        let FetchOptions { congestion, rto, loss, sampling, .. } = options;
        let default = FetchOptions::default();
        Self {
            congestion: congestion.full(),
            rto: rto.full(),
            sampling: sampling.to_string(),
            loss: loss.full(),
            why_congestion: (*congestion == default.congestion).then_some(WHY_CONGESTION),
            why_rto: (*rto == default.rto).then_some(WHY_RTO),
            why_loss: (*loss == default.loss).then_some(WHY_LOSS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_have_reasons_and_others_none() {
        let reasons = |change: fn(&mut FetchOptions)| {
            let mut options = FetchOptions::default();
            change(&mut options);
            let Algorithms { why_congestion, why_loss, why_rto, .. } = Algorithms::of(&options);
            [why_congestion, why_loss, why_rto].map(|why| why.is_some())
        };
        assert_eq!(reasons(|_| ()), [true, true, true]);
        assert_eq!(reasons(|it| it.congestion = "cubic".parse().unwrap()), [false, true, true]);
        let change = |it: &mut FetchOptions| {
            (it.loss, it.rto) = ("timeout".parse().unwrap(), "rfc6298".parse().unwrap());
        };
        assert_eq!(reasons(change), [true, false, false]);
    }
}
