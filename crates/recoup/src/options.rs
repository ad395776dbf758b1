//! The options of a fetch: algorithms, limits, naming, verification.
use crate::error::Result;
use crate::name::check_length;
use crate::summary::Algorithms;
use crate::trust;
use recoup_packet::name::Name;
use recoup_transport::fetch::{Delivery, FetchConfig};
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;

pub use recoup_transport::fetch::{FetchOptions, Retries};

/// Bytes of content that may wait for a slow reader or for their turn.
pub(crate) const REORDER_BYTES: u64 = 16 << 20;

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

/// Time for the first answer, unless the caller chooses another.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);

/// Time for the first answer if the caller chooses none: [`CONNECT_TIMEOUT`], or twice a longer Interest lifetime. Without a
/// limit of retries, or with a longer time without progress than the default, that time holds for the first answer, too.
#[must_use]
pub fn connect_timeout(options: &FetchOptions) -> Duration {
    let FetchOptions { no_progress, retries, lifetime, .. } = options;
    match *retries == Retries(None) || *no_progress > FetchOptions::default().no_progress {
        true => *no_progress,
        false => CONNECT_TIMEOUT.max(*lifetime * 2),
    }
}

/// The configuration of the fetch loop for the segments `first..=last` of one object; `None`: to its end.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage): the name is too long. [`ErrorKind::Local`](crate::ErrorKind::Local): a key
/// cannot be read.
pub fn config(
    options: &FetchOptions,
    name: Name,
    range: (u64, Option<u64>),
    rng: Rng,
) -> Result<FetchConfig> {
    check_length(&name)?;
    let (first, last) = range;
    let verifier = trust::reader(options)?;
    let first_answer = Some(connect_timeout(options));
    let config = FetchConfig::new(name, options.clone(), rng);
    Ok(FetchConfig { first, last, verifier, first_answer, ..config })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_holds_for_the_first_answer() {
        let seconds = Duration::from_secs;
        let default = FetchOptions::default();
        assert_eq!(connect_timeout(&default), seconds(8));
        let lifetime = FetchOptions { lifetime: seconds(30), ..default.clone() };
        assert_eq!(connect_timeout(&lifetime), seconds(60));
        let waits = FetchOptions { no_progress: seconds(600), ..default.clone() };
        assert_eq!(connect_timeout(&waits), seconds(600));
        let impatient = FetchOptions { no_progress: seconds(5), ..default.clone() };
        assert_eq!(connect_timeout(&impatient), seconds(8));
        let endless = FetchOptions { retries: Retries(None), no_progress: seconds(9), ..default };
        assert_eq!(connect_timeout(&endless), seconds(9));
    }
}
