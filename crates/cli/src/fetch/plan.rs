//! From options to a configuration of the fetch loop.
use crate::error::Failure;
use crate::fetch::args::FetchArgs;
use crate::value;
use recoup::options::{self, FetchOptions};
use recoup::summary::Algorithms;
use recoup::trust;
use recoup_packet::name::Name;
use recoup_packet::signature::Verifier;
use recoup_transport::congestion::Congestion;
use recoup_transport::fetch::{FetchConfig, RateLimit};
use recoup_transport::random::Rng;
use recoup_transport::rto::Rto;
use recoup_transport::spec::Spelled;
use std::time::Duration;

/// Everything that the options decide, read once and used for every object.
pub(crate) struct Plan<'a> {
    args: &'a FetchArgs,
    options: FetchOptions,
    /// The algorithms, as they are reported.
    pub choice: Algorithms,
    /// Limit of the rate of all objects together.
    limit: Option<RateLimit>,
    /// How content is verified, with digests of the keys.
    requirement: String,
    /// Keeps certificates from one file of a folder to the next.
    _verifier: Box<dyn Verifier>,
}

impl std::fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'a> Plan<'a> {
    /// Checks the options.
    pub(crate) fn new(args: &'a FetchArgs) -> Result<Self, Failure> {
        let options =
            FetchOptions { congestion: congestion(args)?, rto: rto(args)?, ..args.options.clone() };
        let choice = options::algorithms(&options);
        let verifier = trust::reader(&options)?;
        let requirement = trust::requirement(&options);
        let limit = args.limit_rate.map(RateLimit::new);
        Ok(Self { args, options, choice, limit, requirement, _verifier: verifier })
    }

    /// The configuration for one object.
    pub(crate) fn config(&self, name: Name, rng: Rng) -> Result<FetchConfig, Failure> {
        let range = self.args.range.unwrap_or_default();
        let last = range.end.map(|end| end - 1);
        let mut config = options::config(&self.options, name, (range.begin, last), rng)?;
        config.first_answer = self.args.connect_timeout.or(config.first_answer);
        config.rate_limit.clone_from(&self.limit);
        Ok(config)
    }

    /// How content is verified and decrypted.
    pub(crate) fn verification(&self) -> String {
        self.options.policy()
    }

    /// The verification with digests of the keys, as it is written into a journal.
    pub(crate) fn requirement(&self) -> &str {
        &self.requirement
    }
}

/// The congestion control with its shortcuts.
fn congestion(args: &FetchArgs) -> Result<Spelled<Congestion>, Failure> {
    let shortcuts = [
        ("init-cwnd", args.init_cwnd.map(|window| window.to_string())),
        ("init-ssthresh", args.init_ssthresh.map(|window| window.to_string())),
        ("reset-to-init", args.reset_cwnd_to_init.then(|| "true".to_owned())),
        ("conservative", args.no_cwa.then(|| "off".to_owned())),
    ];
    let spec = with_all(args.options.congestion.text(), shortcuts)?;
    spec.parse().map_err(|error| Failure::usage(format!("--congestion: {error}")).advise(
        "leave out --init-cwnd, --init-ssthresh, --reset-cwnd-to-init or --no-cwa, or take a window that has it, \
         such as --congestion cubic",
    ))
}

/// The timer with its shortcuts.
fn rto(args: &FetchArgs) -> Result<Spelled<Rto>, Failure> {
    let shortcuts = [("min", args.min_rto.map(text)), ("max", args.max_rto.map(text))];
    let spec = with_all(args.options.rto.text(), shortcuts)?;
    spec.parse().map_err(|error| Failure::usage(format!("--rto: {error}")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Cli, Command};
    use clap::Parser;

    #[test]
    fn defaults_have_reasons_and_others_none() {
        let choice = |words: &[&str]| {
            let words = ["recoup", "fetch", "/f"].iter().chain(words);
            let Command::Fetch(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!()
            };
            let choice = Plan::new(&args).unwrap().choice;
            [choice.why_congestion, choice.why_loss, choice.why_rto].map(|why| why.is_some())
        };
        assert_eq!(choice(&[]), [true, true, true]);
        assert_eq!(choice(&["--congestion", "cubic"]), [false, true, true]);
        assert_eq!(choice(&["--loss", "timeout", "--rto", "rfc6298"]), [true, false, false]);
    }
}
