//! Errors of the command line in one line: the error, a valid form, and where it is described.
use super::Failure;
use crate::laboratory;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use recoup_transport::spec::nearest;

/// Options of `curl`, `wget`, `rsync` and other programs, and the option that does so here.
const OPTIONS: [(&[&str], &str); 18] = [
    (&["--timeout"], "--connect-timeout"),
    (&["-O", "--output-document", "--out"], "--output"),
    (&["-c", "-C", "--continue"], "--resume"),
    (&["-k", "--insecure", "--no-check-certificate"], "--verify none"),
    (&["--cacert"], "--trust"),
    (&["--bwlimit", "--rate"], "--limit-rate"),
    (&["-f", "--force", "--overwrite"], "--restart"),
    (&["--key"], "--sign"),
    (&["-p", "--port", "--bind"], "--listen"),
    (&["--prefix"], "--name"),
    (&["--silent"], "--quiet"),
    (&["--listen", "--port"], "--config"),
    (&["-p", "--port", "--host", "--via", "-H"], "--face udp://localhost:6363"),
    (&["-n", "-c", "--max", "--limit"], "--count"),
    (&["-n", "--count", "--segments"], "--range"),
    (&["--window", "--pipeline", "--pipeline-size"], "--congestion fixed(window=64)"),
    (&["--cwnd"], "--init-cwnd"),
    (&["--transport", "--cc", "--pipeline-type"], "--congestion"),
];
/// Commands of other programs, and those that do so here: the first one that there is. A `*` is the word itself.
const COMMANDS: [(&[&str], &[&str]); 8] = [
    (&["download", "cat", "pull"], &["fetch"]),
    (&["upload", "put", "publish"], &["serve"]),
    (&["send", "push"], &["share"]),
    (&["receive"], &["get"]),
    (&["start", "daemon"], &["forward"]),
    (&["status", "route", "face", "strategy", "cs", "fib", "channel"], &["ctl *"]),
    (&["create", "generate", "gen", "add", "new"], &["new", "add", "create", "set"]),
    (&["remove", "rm", "del", "delete"], &["delete", "remove", "destroy", "unset", "erase"]),
];

/// The failure of the parser of `cli`; `None` where it only shows help or a version.
pub fn failure(error: &clap::Error, cli: &Command) -> Option<Failure> {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    match error.kind() {
        DisplayHelp | DisplayVersion => return None,
        DisplayHelpOnMissingArgumentOrSubcommand => return without_verb(error, cli),
        _ => {}
    }
    let text = error.to_string();
    let Sentence { mut message, tip, command, usage } = sentence(&text);
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let hint = match (word(ContextKind::InvalidSubcommand), word(ContextKind::InvalidArg)) {
        (Some(word), _) => command_hint(word, cli, command, &tip),
        (_, Some(word)) if error.kind() == ErrorKind::UnknownArgument => {
            option_hint(word, cli, command, usage)
        }
        _ => None,
    };
    message.push_str(&hint.unwrap_or(tip));
    let failure = Failure::usage(message);
    // The error of a value names valid ones.
    Some(match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => failure,
        _ => failure.advise(format!("see {} --help", command.unwrap_or("recoup"))),
    })
}

/// The failure of a command without its verb; that of the program alone shows its help.
fn without_verb(error: &clap::Error, cli: &Command) -> Option<Failure> {
    let text = error.to_string();
    let words = sentence(&text).command.filter(|words| words.contains(' '))?;
    let within = named(cli, Some(words));
    let mut verbs = verbs(&within).into_iter().filter(|verb| *verb != "help");
    let first = verbs.next()?;
    let others: Vec<_> = verbs.collect();
    let others =
        if others.is_empty() { String::new() } else { format!(", or {}", others.join(", ")) };
    let message = format!("{words} needs a verb: write '{words} {first}'{others}");
    Some(Failure::usage(message).advise(format!("see {words} --help")))
}

fn verbs(command: &Command) -> Vec<&str> {
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    visible.map(Command::get_name).collect()
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

/// The command that is meant by a word that is none, or those that there are. `tip` is that of the parser.
fn command_hint(word: &str, cli: &Command, words: Option<&str>, tip: &str) -> Option<String> {
    let within = named(cli, words);
    let is_top = within.get_name() == cli.get_name();
    let others = laboratory::COMMANDS.iter().map(|(name, _)| *name).filter(|_| is_top);
    let names: Vec<&str> = verbs(&within).into_iter().chain(others).collect();
    if is_top && word == "version" {
        return Some("; here it is '--version'".into());
    }
    let known = |own: &&&str| own.split(' ').next().is_some_and(|first| names.contains(&first));
    let mut foreign = COMMANDS.iter().filter(|(foreign, _)| foreign.contains(&word));
    if let Some(own) = foreign.find_map(|(_, own)| own.iter().find(known)) {
        return Some(format!("; here it is '{}'", own.replace('*', word)));
    }
    // `help` suggests nothing by itself.
    match nearest(word, names.iter().copied()) {
        _ if !tip.is_empty() => None,
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
    let word = word.split('=').next().unwrap_or(word);
    let has = |own: &str| {
        let long = own.split(' ').next().and_then(|it| it.strip_prefix("--"));
        within.get_arguments().any(|one| one.get_long() == long)
    };
    let foreign = OPTIONS.iter().filter(|(foreign, _)| foreign.contains(&word));
    let own = foreign.map(|(_, own)| own).find(|own| has(own))?;
    Some(format!("; here it is {own}"))
}

/// An error of the parser: its paragraphs as one sentence, its tips, the command that its usage names, and the usage.
struct Sentence<'a> {
    message: String,
    tip: String,
    command: Option<&'a str>,
    usage: Option<&'a str>,
}

fn sentence(text: &str) -> Sentence<'_> {
    let (mut message, mut tips) = (String::new(), String::new());
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
        let (into, joint, part) = match (tip, values) {
            (Some(tip), _) => (&mut tips, "; ", tip),
            (_, Some(values)) => (&mut tips, "; there are: ", values),
            _ if !tips.is_empty() => (&mut tips, ", ", line),
            _ if message.is_empty() => (&mut message, "", line),
            _ if message.ends_with(':') => (&mut message, " ", line),
            _ => (&mut message, ", ", line),
        };
        into.push_str(joint);
        into.push_str(part);
    }
    Sentence { message, tip: tips, command, usage: form }
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
            ("recoup route add /a", "; here it is 'ctl route'; see"),
            ("recoup ctl route del /a", "; here it is 'remove'; see"),
            (
                "recoup ctl face",
                "recoup ctl face needs a verb: write 'recoup ctl face list', or show, ",
            ),
            ("recoup trust", "write 'recoup trust compile', or check; see recoup trust --help"),
            ("recoup fet;ch", "'fet;ch'; a similar subcommand exists: 'fetch'; see"),
            ("recoup key crea;te", "'crea;te'; "),
            ("recoup fetch /a -k", "found; here it is --verify none; see"),
            ("recoup key create /a", "; here it is 'new'; see"),
            ("recoup version", "; here it is '--version'; see"),
            ("recoup ctl cs purge", "; there are: "),
            ("recoup fetch /a --timeout 5s", "found; here it is --connect-timeout; see"),
            ("recoup fetch /a --rto k=8", "names no RTO estimator; did you mean `jacobson(k=8)`?"),
            ("recoup fetch /a -p 6363", "found; here it is --face udp://localhost:6363; see"),
            ("recoup fetch /a --count 3", "found; here it is --range; see"),
            ("recoup ctl cs erase -n 3 /a", "found; here it is --count; see"),
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

    /// Whether the parser knows a command of the words, up to a missing value or verb.
    fn is_accepted(words: &str) -> bool {
        use ErrorKind::{
            DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, MissingRequiredArgument,
            MissingSubcommand,
        };
        Cli::try_parse_from(words.split(' ')).err().is_none_or(|error| {
            matches!(
                error.kind(),
                MissingRequiredArgument
                    | MissingSubcommand
                    | DisplayHelpOnMissingArgumentOrSubcommand
                    | DisplayVersion
            ) || error.to_string().contains("a value is required")
        })
    }

    #[test]
    fn suggested_spellings_are_accepted() {
        fn all(command: &Command, words: &str, found: &mut Vec<String>) {
            for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
                found.push(format!("{words} {}", one.get_name()));
                all(one, &found[found.len() - 1].clone(), found);
            }
        }
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec!["recoup".to_owned()];
        all(&cli, "recoup", &mut commands);
        let hint = |words: String| {
            let error = Cli::try_parse_from(words.split(' ')).err()?;
            let message = failure(&error, &Cli::command())?.to_string();
            let (_, hint) = message.split_once("; here it is ")?;
            Some(hint.split("; see ").next()?.trim_matches('\'').to_owned())
        };
        let foreign = COMMANDS
            .iter()
            .map(|(foreign, _)| foreign)
            .chain(OPTIONS.iter().map(|(foreign, _)| foreign));
        for word in foreign.flat_map(|words| words.iter()) {
            let hints: Vec<_> = commands
                .iter()
                .filter_map(|words| Some(format!("{words} {}", hint(format!("{words} {word}"))?)))
                .collect();
            assert!(!hints.is_empty(), "{word} is accepted everywhere, or never answered");
            for words in hints {
                assert!(is_accepted(&words), "{word}: {words}");
            }
        }
    }

    #[test]
    fn help_is_no_failure() {
        for words in ["recoup --help", "recoup fetch --help", "recoup --version", "recoup"] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert!(failure(&error, &Cli::command()).is_none(), "{words}");
        }
    }
}
