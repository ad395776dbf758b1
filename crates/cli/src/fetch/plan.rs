//! From options to a configuration of the fetch loop.
use crate::error::Failure;
use crate::fetch::args::{DEFAULT_LOSS, DEFAULT_RTO, FetchArgs, Verify};
use crate::trust;
use crate::value;
use recoup_packet::name::Name;
use recoup_packet::signature::Verifier;
use recoup_transport::congestion::{self, CongestionControl};
use recoup_transport::fetch::FetchConfig;
use recoup_transport::loss::{self, LossDetector};
use recoup_transport::random::Rng;
use recoup_transport::rto::{self, RtoEstimator};
use std::time::Duration;

/// Why these algorithms are the defaults.
const WHY_CUBIC: &str = "grows back quickly after a loss and shares a link with TCP";
const WHY_JACOBSON: &str =
    "adapts to the path; its floor of 200 ms stays above the jitter of queues";
const WHY_TIME_THRESHOLD: &str =
    "leaves a few losses to the timer, and repairs at once what overran a buffer";

/// What was chosen, as it is reported.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Congestion control with all its parameters.
    pub congestion: String,
    /// Estimator with all its parameters.
    pub rto: String,
    /// Which segments are samples.
    pub sampling: String,
    /// What counts as lost before its timer expires, with all its parameters.
    pub loss: String,
    /// Why, where nothing was asked for.
    pub why_congestion: Option<&'static str>,
    /// Why, where nothing was asked for.
    pub why_rto: Option<&'static str>,
    /// Why, where nothing was asked for.
    pub why_loss: Option<&'static str>,
}

/// Everything that the options decide, read once and used for every object.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    args: &'a FetchArgs,
    congestion: String,
    rto: String,
    /// As it is reported.
    pub choice: Choice,
}

impl<'a> Plan<'a> {
    /// Checks the options.
    pub(crate) fn new(args: &'a FetchArgs) -> Result<Self, Failure> {
        let (congestion, rto) = (congestion_spec(args)?, rto_spec(args)?);
        let choice = Choice {
            congestion: parse_congestion(&congestion)?.to_string(),
            rto: parse_rto(&rto)?.to_string(),
            sampling: args.sampling.to_string(),
            loss: parse_loss(&args.loss)?.to_string(),
            why_congestion: (congestion == "cubic").then_some(WHY_CUBIC),
            why_rto: (rto == DEFAULT_RTO).then_some(WHY_JACOBSON),
            why_loss: (args.loss == DEFAULT_LOSS).then_some(WHY_TIME_THRESHOLD),
        };
        trust::verifier(&args.verify)?;
        Ok(Self { args, congestion, rto, choice })
    }

    /// The configuration for one object.
    pub(crate) fn config(&self, name: Name, rng: Rng) -> Result<FetchConfig, Failure> {
        let args = self.args;
        let range = args.range.unwrap_or_default();
        let (rto, congestion) = (parse_rto(&self.rto)?, parse_congestion(&self.congestion)?);
        Ok(FetchConfig {
            discover: !args.no_discovery,
            convention: args.convention.into(),
            first: range.begin,
            last: range.end.map(|end| end - 1),
            sampling: args.sampling,
            loss: parse_loss(&args.loss)?,
            react_to_marks: !args.ignore_marks,
            verifier: self.verifier()?,
            lifetime: args.lifetime,
            retries: args.retries.0,
            no_progress: args.no_progress_timeout,
            rto_check: args.rto_check,
            cancel_on_timeout: args.cancel_on_timeout,
            must_be_fresh: args.fresh,
            flow_nonce: args.flow_nonce,
            ..FetchConfig::new(name, rto, congestion, rng)
        })
    }

    fn verifier(&self) -> Result<Box<dyn Verifier>, Failure> {
        trust::verifier(&self.args.verify)
    }

    /// How content is verified, as it is written into a journal.
    pub(crate) fn verification(&self) -> String {
        match &self.args.verify {
            Verify::Auto => "auto".into(),
            Verify::Digest => "digest".into(),
            Verify::None => "none".into(),
            Verify::Key(key) => format!("key={key}"),
        }
    }
}

/// The congestion control that `spec` describes.
pub(crate) fn parse_congestion(spec: &str) -> Result<Box<dyn CongestionControl>, Failure> {
    congestion::parse(spec).map_err(|error| Failure::usage(format!("--congestion: {error}")))
}

/// The estimator that `spec` describes.
pub(crate) fn parse_rto(spec: &str) -> Result<Box<dyn RtoEstimator>, Failure> {
    rto::parse(spec).map_err(|error| Failure::usage(format!("--rto: {error}")))
}

/// The loss detector that `spec` describes.
fn parse_loss(spec: &str) -> Result<Box<dyn LossDetector>, Failure> {
    loss::parse(spec).map_err(|error| Failure::usage(format!("--loss: {error}")))
}

fn congestion_spec(args: &FetchArgs) -> Result<String, Failure> {
    let shortcuts = [
        ("init-cwnd", args.init_cwnd.map(|window| window.to_string())),
        ("init-ssthresh", args.init_ssthresh.map(|window| window.to_string())),
        ("reset-to-init", args.reset_cwnd_to_init.then(|| "true".to_owned())),
        ("conservative", args.no_cwa.then(|| "off".to_owned())),
    ];
    with_all(&args.congestion, shortcuts)
}

fn rto_spec(args: &FetchArgs) -> Result<String, Failure> {
    let shortcuts = [("min", args.min_rto.map(text)), ("max", args.max_rto.map(text))];
    with_all(&args.rto, shortcuts)
}

fn with_all<const N: usize>(
    spec: &str,
    shortcuts: [(&str, Option<String>); N],
) -> Result<String, Failure> {
    let given = shortcuts.into_iter().filter_map(|(key, value)| Some((key, value?)));
    given.into_iter().try_fold(spec.trim().to_owned(), |spec, (key, value)| {
        value::with_parameter(&spec, key, &value).map_err(Failure::usage)
    })
}

fn text(duration: Duration) -> String {
    format!("{}ns", duration.as_nanos())
}
