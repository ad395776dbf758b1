//! The options of all commands as one page of Markdown, `docs/commands.md`.
use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

const HEAD: &str = "\
# Commands and options

Every command with its options. On a terminal:

```sh
recoup help fetch
```

`cargo xtask docs` writes this page from the program; an edit by hand is lost. [Fetch and serve](fetch.md) has exit codes and files.
";

/// The page.
pub(super) fn page(cli: &Command) -> String {
    let mut page = HEAD.to_owned();
    let commands = cli.get_subcommands().filter(|it| is_shown(it));
    commands.for_each(|it| section(it, "recoup", &mut page));
    page
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn section(command: &Command, above: &str, page: &mut String) {
    let name = format!("{above} {}", command.get_name());
    let mut usage = command.clone().bin_name(&name);
    let usage = usage.render_usage().to_string();
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "\n## {name}\n\n```text\n{usage}\n```\n\n{}\n", prose(&about));
    let shown: Vec<_> = command.get_arguments().filter(|it| is_described(it)).collect();
    if !shown.is_empty() {
        page.push('\n');
    }
    shown.into_iter().for_each(|it| argument(it, page));
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let examples = after.split("Exit codes:").next().unwrap_or_default().trim();
    if !examples.is_empty() {
        let _ = write!(page, "\n```text\n{examples}\n```\n");
    }
    let inner = command.get_subcommands().filter(|it| is_shown(it));
    inner.for_each(|it| section(it, &name, page));
}

fn is_described(argument: &Arg) -> bool {
    use ArgAction::{Help, HelpLong, HelpShort, Version};
    !argument.is_hide_set()
        && !matches!(argument.get_action(), Help | HelpLong | HelpShort | Version)
}

/// An option with its help, its values and its default.
fn argument(argument: &Arg, page: &mut String) {
    // With its value, as in `--output <FILE>`.
    let full = argument.to_string();
    let short = argument.get_short().filter(|_| argument.get_long().is_some());
    let names: Vec<String> = short.map(|it| format!("-{it}")).into_iter().chain([full]).collect();
    let help = argument.get_long_help().or(argument.get_help());
    let help = prose(&help.map(ToString::to_string).unwrap_or_default());
    let _ = write!(page, "- `{}`: {}", names.join(", "), help.replace('\n', "\n  "));
    if argument.get_action().takes_values() {
        let values = argument.get_possible_values();
        let values =
            values.iter().filter(|it| !it.is_hide_set()).map(|it| it.get_name().to_owned());
        listed("Values", values.collect(), page);
        let defaults = argument.get_default_values().iter().map(|it| it.to_string_lossy());
        listed("Default", defaults.map(Into::into).collect(), page);
    }
    page.push('\n');
}

fn listed(title: &str, values: Vec<String>, page: &mut String) {
    if !values.is_empty() {
        let _ = write!(page, " {title}: `{}`.", values.join("`, `"));
    }
}

/// Help as Markdown: indented lines are code, and nothing else is markup. A paragraph ends with a stop.
fn prose(help: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    let mut lines = help.trim_end().lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("  ") != is_code && !line.is_empty() {
            is_code = !is_code;
            text += if is_code { "```text\n" } else { "```\n" };
        }
        text += &if is_code { line.to_owned() } else { escaped(line) };
        let is_last = lines.peek().is_none_or(|next| next.is_empty());
        if is_last && !is_code && line.ends_with(|letter: char| !".:;?".contains(letter)) {
            text.push('.');
        }
        text.push('\n');
    }
    if is_code {
        text += "```\n";
    }
    text.trim_end().to_owned()
}

/// A line without markup outside of code spans.
fn escaped(line: &str) -> String {
    let pieces = line.split('`').enumerate();
    let pieces: Vec<String> = pieces
        .map(|(place, piece)| match place % 2 {
            0 => piece.replace('*', "\\*").replace('<', "\\<").replace('_', "\\_"),
            _ => piece.to_owned(),
        })
        .collect();
    pieces.join("`")
}
