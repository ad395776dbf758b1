//! The options of a fetch: algorithms, limits, naming, verification.
use crate::error::Result;
use crate::summary::Algorithms;
use crate::trust;
use recoup_packet::name::Name;
use recoup_transport::fetch::{Delivery, FetchConfig};
use recoup_transport::random::Rng;

pub use recoup_transport::fetch::{FetchOptions, Retries};

/// Bytes of content that may wait for a slow reader or for their turn.
const REORDER_BYTES: u64 = 16 << 20;

/// In order, with a limit on what waits.
pub fn in_order() -> Delivery {
    Delivery::Ordered { limit_bytes: REORDER_BYTES }
}

/// Why these algorithms are the defaults.
const WHY_CONGESTION: &str =
    "reduces the window for queues and marks, not for random losses; shares a link with CUBIC";
const WHY_RTO: &str = "adapts to the path; its floor of 200 ms stays above the jitter of queues";
const WHY_LOSS: &str =
    "tolerates reordering by caches and several producers; probes for lost tails before the timer";

/// The algorithms with all their parameters.
pub fn algorithms(options: &FetchOptions) -> Algorithms {
    let FetchOptions { congestion, rto, loss, sampling, .. } = options;
    let default = FetchOptions::default();
    Algorithms {
        congestion: congestion.full(),
        rto: rto.full(),
        sampling: sampling.to_string(),
        loss: loss.full(),
        why_congestion: (*congestion == default.congestion).then_some(WHY_CONGESTION),
        why_rto: (*rto == default.rto).then_some(WHY_RTO),
        why_loss: (*loss == default.loss).then_some(WHY_LOSS),
    }
}

/// The configuration of the fetch loop for the segments `first..=last` of one object; `None`: to its end.
///
/// # Errors
/// [`ErrorKind::Local`](crate::ErrorKind::Local): a key cannot be read.
pub fn config(
    options: &FetchOptions,
    name: Name,
    range: (u64, Option<u64>),
    rng: Rng,
) -> Result<FetchConfig> {
    let (first, last) = range;
    let verifier = trust::reader(options)?;
    Ok(FetchConfig { first, last, verifier, ..FetchConfig::new(name, options.clone(), rng) })
}
