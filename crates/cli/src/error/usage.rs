//! Errors of the command line in one line: the error, a valid form, and where it is described.
use super::Failure;
use crate::laboratory;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use recoup_transport::spec::nearest;

/// The failure of the parser of `cli`; `None` where it only shows help or a version.
pub fn failure(error: &clap::Error, cli: &Command) -> Option<Failure> {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(
        error.kind(),
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return None;
    }
    let text = error.to_string();
    let (mut message, command) = sentence(&text);
    // `help` suggests nothing by itself.
    if error.kind() == ErrorKind::InvalidSubcommand
        && !message.contains("similar")
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(near) = nearest_command(word, cli)
    {
        message.push_str(&format!("; a similar subcommand exists: '{near}'"));
    }
    let failure = Failure::usage(message);
    // The error of a value names valid ones.
    Some(match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => failure,
        _ => failure.advise(format!("see {} --help", command.unwrap_or("recoup"))),
    })
}

/// The command, of all of them, that is spelled most like a word.
fn nearest_command(word: &str, cli: &Command) -> Option<String> {
    let names = cli.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    let others = laboratory::COMMANDS.iter().map(|(name, _)| *name);
    nearest(word, names.chain(others)).map(str::to_owned)
}

/// The parser's paragraphs as one sentence, and the command that its usage names.
fn sentence(text: &str) -> (String, Option<&str>) {
    let mut message = String::new();
    let mut command = None;
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let words = usage.split(' ').take_while(|word| word.starts_with(char::is_alphabetic));
            let length = words.map(|word| word.len() + 1).sum::<usize>().saturating_sub(1);
            command = usage.get(..length);
            break;
        }
        if line.is_empty() || line.starts_with("For more information") {
            continue;
        }
        let tip = line.strip_prefix("tip: ");
        let values = line.strip_prefix("[possible values: ").and_then(|it| it.strip_suffix(']'));
        let (joint, part) = match (tip, values) {
            (Some(tip), _) => ("; ", tip),
            (_, Some(values)) => ("; there are: ", values),
            _ if message.is_empty() => ("", line),
            _ if message.ends_with(':') => (" ", line),
            _ => (", ", line),
        };
        message.push_str(joint);
        message.push_str(part);
    }
    (message, command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Cli;
    use clap::{CommandFactory, Parser};

    fn message(words: &str) -> String {
        let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
        failure(&error, &Cli::command()).unwrap().to_string()
    }

    #[test]
    fn wrong_algorithm_is_one_line_with_valid_ones() {
        let wrong = message("recoup fetch /a --congestion qubic");
        let start = "invalid value 'qubic' for '--congestion <SPEC>': no congestion control is called `qubic` \
                     (did you mean `cubic`?); there are: ";
        assert!(wrong.starts_with(start) && !wrong.contains('\n'), "{wrong}");
        let wrong = message("recoup fetch /a --rto jacobson(k=0.1.2)");
        assert!(wrong.contains("`k=0.1.2` of `jacobson`") && !wrong.contains("--help"), "{wrong}");
    }

    #[test]
    fn wrong_words_name_the_help_command() {
        assert_eq!(
            message("recoup fetch /a --congestoin cubic"),
            "unexpected argument '--congestoin' found; a similar argument exists: '--congestion'; see recoup fetch --help"
        );
        assert_eq!(
            message("recoup serve movie.mp4"),
            "the following required arguments were not provided: --name <NAME>; see recoup serve --help"
        );
        assert_eq!(
            message("recoup help fecth"),
            "unrecognized subcommand 'fecth'; a similar subcommand exists: 'fetch'; see recoup --help"
        );
        assert!(message("recoup simm").contains("exists: 'sim'"), "{}", message("recoup simm"));
        let both = message("recoup fetch /a --jobs 3");
        assert!(both.contains("--recursive") && !both.contains('\n'), "{both}");
    }

    #[test]
    fn help_is_no_failure() {
        for words in ["recoup --help", "recoup fetch --help", "recoup --version", "recoup"] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert!(failure(&error, &Cli::command()).is_none(), "{words}");
        }
    }
}
