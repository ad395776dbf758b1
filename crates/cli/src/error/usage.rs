//! Errors of the command line in one line: the error, a valid form, and where it is described.
use super::Failure;
use crate::laboratory;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use recoup_transport::spec::nearest;

/// Options of `curl`, `wget`, `rsync` and other programs, and the option that does so here.
const OPTIONS: [(&[&str], &str); 13] = [
    (&["--timeout"], "--connect-timeout"),
    (&["-O", "--output-document", "--out"], "--output"),
    (&["-c", "-C", "--continue"], "--resume"),
    (&["-k", "--insecure", "--no-check-certificate"], "--verify"),
    (&["--cacert"], "--trust"),
    (&["--bwlimit", "--rate"], "--limit-rate"),
    (&["-f", "--force", "--overwrite"], "--restart"),
    (&["--key"], "--sign"),
    (&["-p", "--port", "--bind"], "--listen"),
    (&["-n", "--prefix"], "--name"),
    (&["-n"], "--count"),
    (&["--silent"], "--quiet"),
    (&["--listen", "--port"], "--config"),
];
/// Commands of other programs, and the command or option that does so here.
const COMMANDS: [(&[&str], &str); 9] = [
    (&["download", "cat", "pull"], "fetch"),
    (&["upload", "put", "publish"], "serve"),
    (&["send", "push"], "share"),
    (&["receive"], "get"),
    (&["start", "daemon"], "forward"),
    (&["status", "route", "face", "strategy", "cs"], "ctl"),
    (&["create", "generate", "gen", "add"], "new"),
    (&["remove", "rm", "del"], "delete"),
    (&["version"], "--version"),
];

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
    let Sentence { mut message, command, usage } = sentence(&text);
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match (word(ContextKind::InvalidSubcommand), word(ContextKind::InvalidArg)) {
        (Some(word), _) => {
            if let Some(hint) = command_hint(word, cli, command, &message) {
                message.truncate(message.find(';').unwrap_or(message.len()));
                message.push_str(&hint);
            }
        }
        (_, Some(word)) if error.kind() == ErrorKind::UnknownArgument => {
            if let Some(hint) = option_hint(word, cli, command, usage) {
                message.truncate(message.find(';').unwrap_or(message.len()));
                message.push_str(&hint);
            }
        }
        _ => {}
    }
    let failure = Failure::usage(message);
    // The error of a value names valid ones.
    Some(match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => failure,
        _ => failure.advise(format!("see {} --help", command.unwrap_or("recoup"))),
    })
}

/// A command of the words that an error names, with all of its options.
fn named(cli: &Command, words: Option<&str>) -> Command {
    let mut found = cli.clone();
    found.build();
    for word in words.unwrap_or_default().split(' ').skip(1) {
        match found.find_subcommand(word) {
            Some(one) => found = one.clone(),
            None => break,
        }
    }
    found
}

/// The command that is meant by a word that is none, or those that there are.
fn command_hint(word: &str, cli: &Command, words: Option<&str>, message: &str) -> Option<String> {
    let within = named(cli, words);
    let is_top = within.get_name() == cli.get_name();
    let others = laboratory::COMMANDS.iter().map(|(name, _)| *name).filter(|_| is_top);
    let visible = within.get_subcommands().filter(|one| !one.is_hide_set());
    let names: Vec<&str> = visible.map(Command::get_name).chain(others).collect();
    let known = |own: &&str| names.contains(own) || (is_top && own.starts_with("--"));
    let foreign = COMMANDS.iter().filter(|(foreign, _)| foreign.contains(&word));
    if let Some(own) = foreign.map(|(_, own)| own).find(|own| known(own)) {
        return Some(format!("; here it is '{own}'"));
    }
    // `help` suggests nothing by itself.
    match nearest(word, names.iter().copied()) {
        _ if message.contains("similar") => None,
        Some(near) => Some(format!("; a similar subcommand exists: '{near}'")),
        None if is_top => None,
        None => Some(format!("; there are: {}", names.join(", "))),
    }
}

/// The option that is meant by one of another program, or the form of the command where a value stands alone.
fn option_hint(
    word: &str,
    cli: &Command,
    words: Option<&str>,
    usage: Option<&str>,
) -> Option<String> {
    if !word.starts_with('-') {
        return usage.map(|usage| format!("; write {usage}"));
    }
    let within = named(cli, words);
    let has =
        |own: &str| within.get_arguments().any(|one| one.get_long() == own.strip_prefix("--"));
    let word = word.split('=').next().unwrap_or(word);
    let foreign = OPTIONS.iter().filter(|(foreign, _)| foreign.contains(&word));
    let own = foreign.map(|(_, own)| own).find(|own| has(own))?;
    Some(format!("; here it is {own}"))
}

/// An error of the parser: its paragraphs as one sentence, the command that its usage names, and the usage.
struct Sentence<'a> {
    message: String,
    command: Option<&'a str>,
    usage: Option<&'a str>,
}

fn sentence(text: &str) -> Sentence<'_> {
    let mut message = String::new();
    let (mut command, mut form) = (None, None);
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let words = usage.split(' ').take_while(|word| word.starts_with(char::is_alphabetic));
            let length = words.map(|word| word.len() + 1).sum::<usize>().saturating_sub(1);
            (command, form) = (usage.get(..length), Some(usage));
            break;
        }
        let is_of_no_use =
            line.starts_with("For more information") || line.contains(" as a value, use '-- ");
        if line.is_empty() || is_of_no_use {
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
    Sentence { message, command, usage: form }
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
        for (words, hint) in [
            ("recoup download /a", "; here it is 'fetch'; see"),
            ("recoup route add /a", "; here it is 'ctl'; see"),
            ("recoup key create /a", "; here it is 'new'; see"),
            ("recoup version", "; here it is '--version'; see"),
            ("recoup ctl cs purge", "; there are: "),
            ("recoup fetch /a --timeout 5s", "found; here it is --connect-timeout; see"),
            ("recoup fetch /a -O b", "found; here it is --output; see"),
            ("recoup serve a --name /a --key /k", "found; here it is --sign; see"),
            ("recoup fetch /a --proxy b", "found; see recoup fetch --help"),
            ("recoup serve a /a", "found; write recoup serve "),
        ] {
            assert!(message(words).contains(hint), "{}", message(words));
        }
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
