//! The options of a fetch: algorithms, limits, naming, verification.
use crate::error::{Error, Result};
use crate::summary::Algorithms;
use crate::trust::Verify;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_transport::congestion::{self, CongestionControl};
use recoup_transport::fetch::{Delivery, FetchConfig, defaults};
use recoup_transport::loss::{self, LossDetector};
use recoup_transport::random::Rng;
use recoup_transport::rto::{self, RtoEstimator, Sampling};
use std::time::Duration;

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

/// How an object is fetched. The defaults are those of `recoup fetch`.
///
/// ```
/// use recoup::FetchOptions;
/// let options = FetchOptions { congestion: "cubic".into(), ..FetchOptions::default() };
/// assert!(options.algorithms().unwrap().congestion.starts_with("cubic"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FetchOptions {
    /// Congestion control with parameters, such as `recoup`, `cubic` or `fixed(window=16)`.
    pub congestion: String,
    /// Retransmission timer with parameters, such as `jacobson(k=8)`.
    pub rto: String,
    /// Loss detector with parameters, such as `rack` or `out-of-order(frt=3)`.
    pub loss: String,
    /// Which segments give round-trip time samples.
    pub sampling: Sampling,
    /// How content is verified.
    pub verify: Verify,
    /// InterestLifetime: how long forwarders remember an Interest.
    pub lifetime: Duration,
    /// How often one segment is retransmitted at most; `None` means without limit.
    pub retries: Option<u32>,
    /// The fetch ends if nothing arrives for this long; time in which only the reader rests does not count.
    pub no_progress: Duration,
    /// How often expired timers are looked for; zero means exactly when they expire.
    pub rto_check: Duration,
    /// Data that comes after its timeout and before the retransmission is not used.
    pub cancel_on_timeout: bool,
    /// A congestion mark reduces the window.
    pub react_to_marks: bool,
    /// Every Interest carries a number by which routers that share links fairly tell this fetch from others.
    pub flow_nonce: bool,
    /// The newest version is discovered, unless the name ends in a version.
    pub discover: bool,
    /// Only a version with a higher number is fetched.
    pub newer_than: Option<u64>,
    /// How version and segment are written, where neither the name nor its discovery shows it.
    pub convention: Convention,
    /// Every Interest asks for fresh Data (MustBeFresh).
    pub must_be_fresh: bool,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            congestion: defaults::CONGESTION.to_owned(),
            rto: defaults::RTO.to_owned(),
            loss: defaults::LOSS.to_owned(),
            sampling: defaults::SAMPLING.parse().unwrap_or(Sampling::Rfc7323),
            verify: Verify::Auto,
            lifetime: Duration::from_secs(4),
            retries: Some(15),
            no_progress: Duration::from_secs(60),
            rto_check: Duration::from_millis(10),
            cancel_on_timeout: false,
            react_to_marks: true,
            flow_nonce: false,
            discover: true,
            newer_than: None,
            convention: Convention::Typed,
            must_be_fresh: false,
        }
    }
}

impl FetchOptions {
    /// The algorithms with all their parameters.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage): a text names no algorithm, or a wrong parameter.
    pub fn algorithms(&self) -> Result<Algorithms> {
        Ok(Algorithms {
            congestion: parse_congestion(&self.congestion)?.to_string(),
            rto: parse_rto(&self.rto)?.to_string(),
            sampling: self.sampling.to_string(),
            loss: parse_loss(&self.loss)?.to_string(),
            why_congestion: (self.congestion == defaults::CONGESTION).then_some(WHY_CONGESTION),
            why_rto: (self.rto == defaults::RTO).then_some(WHY_RTO),
            why_loss: (self.loss == defaults::LOSS).then_some(WHY_LOSS),
        })
    }

    /// The configuration of the fetch loop for the segments `first..=last` of one object; `None`: to its end.
    ///
    /// # Errors
    /// As [`algorithms`](Self::algorithms); [`ErrorKind::Local`](crate::ErrorKind::Local): the key cannot be read.
    pub fn config(
        &self,
        name: Name,
        (first, last): (u64, Option<u64>),
        rng: Rng,
    ) -> Result<FetchConfig> {
        let (rto, congestion) = (parse_rto(&self.rto)?, parse_congestion(&self.congestion)?);
        Ok(FetchConfig {
            discover: self.discover,
            newer_than: self.newer_than,
            convention: self.convention,
            first,
            last,
            sampling: self.sampling,
            loss: parse_loss(&self.loss)?,
            react_to_marks: self.react_to_marks,
            verifier: self.verify.verifier()?,
            lifetime: self.lifetime,
            retries: self.retries,
            no_progress: self.no_progress,
            rto_check: self.rto_check,
            cancel_on_timeout: self.cancel_on_timeout,
            must_be_fresh: self.must_be_fresh,
            flow_nonce: self.flow_nonce,
            ..FetchConfig::new(name, rto, congestion, rng)
        })
    }
}

/// The congestion control that `spec` describes.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage).
pub fn parse_congestion(spec: &str) -> Result<Box<dyn CongestionControl>> {
    congestion::parse(spec).map_err(|error| Error::usage(format!("congestion: {error}")))
}

/// The retransmission timer that `spec` describes.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage).
pub fn parse_rto(spec: &str) -> Result<Box<dyn RtoEstimator>> {
    rto::parse(spec).map_err(|error| Error::usage(format!("rto: {error}")))
}

/// The loss detector that `spec` describes.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage).
pub fn parse_loss(spec: &str) -> Result<Box<dyn LossDetector>> {
    loss::parse(spec).map_err(|error| Error::usage(format!("loss: {error}")))
}
