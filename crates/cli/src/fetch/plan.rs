//! From options to a configuration of the fetch loop.
use crate::error::Failure;
use crate::fetch::args::FetchArgs;
use crate::value;
use recoup::FetchOptions;
use recoup::options::parse_congestion;
use recoup::summary::Algorithms;
use recoup_packet::name::Name;
use recoup_transport::congestion;
use recoup_transport::fetch::FetchConfig;
use recoup_transport::random::Rng;
use std::time::Duration;

/// Everything that the options decide, read once and used for every object.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    args: &'a FetchArgs,
    options: FetchOptions,
    /// The algorithms, as they are reported.
    pub choice: Algorithms,
}

impl<'a> Plan<'a> {
    /// Checks the options.
    pub(crate) fn new(args: &'a FetchArgs) -> Result<Self, Failure> {
        let (congestion, rto) = (congestion_spec(args)?, rto_spec(args)?);
        shortened(args, &congestion)?;
        let options = FetchOptions {
            congestion,
            rto,
            loss: args.loss.clone(),
            sampling: args.sampling,
            verify: args.verify.clone(),
            lifetime: args.lifetime,
            retries: args.retries.0,
            no_progress: args.no_progress_timeout,
            rto_check: args.rto_check,
            cancel_on_timeout: args.cancel_on_timeout,
            react_to_marks: !args.ignore_marks,
            flow_nonce: args.flow_nonce,
            discover: !args.no_discovery,
            newer_than: args.newer_than,
            convention: args.convention.into(),
            must_be_fresh: args.fresh,
        };
        let choice = options.algorithms().map_err(option)?;
        options.verify.verifier()?;
        Ok(Self { args, options, choice })
    }

    /// The configuration for one object.
    pub(crate) fn config(&self, name: Name, rng: Rng) -> Result<FetchConfig, Failure> {
        let range = self.args.range.unwrap_or_default();
        let last = range.end.map(|end| end - 1);
        Ok(self.options.config(name, (range.begin, last), rng)?)
    }

    /// How content is verified, as it is written into a journal.
    pub(crate) fn verification(&self) -> String {
        self.options.verify.to_string()
    }
}

/// The failure of a wrong option, which the library calls by its name.
fn option(error: recoup::Error) -> Failure {
    let failure = Failure::from(error);
    Failure { message: format!("--{}", failure.message), ..failure }
}

/// The congestion control with its shortcuts; if only they are wrong, it says so.
fn shortened(args: &FetchArgs, spec: &str) -> Result<(), Failure> {
    parse_congestion(spec).map(|_| ()).map_err(option).map_err(|failure| match congestion::parse(&args.congestion) {
        Ok(_) => failure.advise(
            "leave out --init-cwnd, --init-ssthresh, --reset-cwnd-to-init or --no-cwa, or take a window that has it, \
             such as --congestion cubic",
        ),
        Err(_) => failure,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Cli, Command};
    use clap::Parser;
    use recoup_lab::scenario::ScenarioFile;
    use recoup_sim::network::ApplicationKind;

    #[test]
    fn command_and_scenario_have_the_same_defaults() {
        let text = "[topology]\nlinks = [\"c-p\"]\n[applications.c]\nkind = \"fetch\"\nnode = \"c\"\n\
                    object = \"/f\"\n[applications.p]\nkind = \"serve\"\nnode = \"p\"\nprefix = \"/f\"\n\
                    size = \"1 MB\"\n";
        let file = ScenarioFile::parse(text, &[]).unwrap();
        let scenario = file.scenario(&file.points()[0], &|_| Ok(String::new())).unwrap();
        let network = scenario.network(1).unwrap();
        let ApplicationKind::Fetch(fetch) = &network.applications[0].kind else { panic!() };
        let command = Cli::try_parse_from(["recoup", "fetch", "/f"]).unwrap().command;
        let Command::Fetch(args) = command else { panic!() };
        assert_eq!((&args.congestion, &args.loss), (&fetch.congestion, &fetch.loss));
        assert_eq!((&args.rto, args.sampling.to_string()), (&fetch.rto, fetch.sampling.clone()));
        assert_eq!((args.retries.0, args.lifetime), (fetch.retries, fetch.lifetime));
        assert_eq!(
            (args.no_progress_timeout, args.rto_check),
            (fetch.no_progress, fetch.rto_check)
        );
        assert_eq!(args.ignore_marks, !fetch.react_to_marks);
    }

    #[test]
    fn defaults_say_why_and_others_do_not() {
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
