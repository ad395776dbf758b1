//! Values of options for completions: the names of algorithms and modes. An option takes parameters behind them, too, so the
//! command line itself has no list of values.
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use recoup_forwarder::face::Recovery;
use recoup_transport::congestion::Congestion;
use recoup_transport::loss::Loss;
use recoup_transport::rto::Rto;

/// The command line with values that shells can complete.
pub(super) fn completed(command: Command) -> Command {
    let command = command.mut_args(with_values);
    command.mut_subcommands(completed)
}

fn with_values(option: Arg) -> Arg {
    let values = option.get_long().map(values_of).unwrap_or_default();
    // `link --loss` is a model of losses, and `fetch --loss` a detector.
    let is_model =
        option.get_value_names().is_some_and(|names| names.iter().any(|it| it == "MODEL"));
    match values.is_empty() || is_model {
        true => option,
        false => option.value_parser(PossibleValuesParser::new(values)),
    }
}

fn values_of(option: &str) -> Vec<&'static str> {
    match option {
        "recovery" => Recovery::names().collect(),
        "congestion" => Congestion::names().collect(),
        "loss" => Loss::names().collect(),
        "rto" => Rto::names().collect(),
        "sampling" => vec!["per-rtt", "every", "rfc7323"],
        "convention" => vec!["typed", "marker"],
        "verify" => vec!["auto", "digest", "key=", "trust=", "none"],
        "unknown" => vec!["nack", "silent"],
        "face" | "listen" => vec!["udp://", "tcp://", "unix://", "ws://"],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::fetch::FetchOptions;

    #[test]
    fn completed_values_are_valid() {
        for option in ["recovery", "congestion", "loss", "rto", "sampling", "convention"] {
            for value in values_of(option) {
                let words = ["recoup", "fetch", "/a", &format!("--{option}={value}")];
                let parsed = <crate::command::Cli as clap::Parser>::try_parse_from(words);
                assert!(parsed.is_ok(), "{words:?}");
            }
        }
        assert!(values_of("congestion").contains(&FetchOptions::default().congestion.text()));
    }
}
