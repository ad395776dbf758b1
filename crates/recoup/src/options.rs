//! The options of a fetch: algorithms, limits, naming, verification.
use crate::error::Result;
use crate::name::check_length;
use recoup_packet::name::Name;
use recoup_packet::signature::Verifier;
use recoup_transport::fetch::FetchConfig;
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;

pub use recoup_transport::fetch::{FetchOptions, Retries};

/// Bytes of content that may wait for a slow reader or for their turn.
pub(crate) const REORDER_BYTES: u64 = 16 << 20;

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
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage): the name is too long.
pub(crate) fn config(
    options: &FetchOptions,
    verifier: Box<dyn Verifier>,
    name: Name,
    range: (u64, Option<u64>),
    rng: Rng,
) -> Result<FetchConfig> {
    check_length(&name)?;
    let (first, last) = range;
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
