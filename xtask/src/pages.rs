//! Pages that cannot lie: the commands of every page run as they are printed, in a folder and a network of their own.
//!
//! A block of commands runs unless a comment right before it gives the reason: `<!-- not run: needs NFD -->`. Servers run beside the
//! commands after them, until the next server of their kind or the next chapter (`## `). A comment `<!-- run: COMMANDS -->` has
//! commands that a reader has no need to see: files that exist, checks of results. A `toml` or `text` block behind "`FILE`:" is written.
//!
//! A `text` block right behind commands is their output: each of its lines has to be printed, in this order. Lines of
//! simulations are compared whole. In others, figures vary, and with them the part of a sentence on losses.

use crate::block::{Block, blocks};
use crate::chore::{Outcome, command, files, root, target_directory};
use crate::{soak, tutorial};
use std::fs;
use std::path::Path;

/// Begin of the script of a page: a network with the addresses that pages name.
const NETWORK: &str = "ip link set lo up
mount -t tmpfs run /run
for address in 192.0.2.7/32 224.0.23.170/32; do ip address add $address dev lo; done
";
/// How servers run beside. A process may end before a signal reaches it, but not with an error.
const SERVERS_BESIDE: &str = r#"set -euo pipefail
home=$PWD
declare -A servers
started=()
ended() { # PROCESS LOG; status 127: the page has waited for it
    local status=0
    wait "$1" || status=$?
    case $status in 0 | 127 | 130 | 143) return 0 ;; esac
    echo "process $1 ended with status $status"
    cat "$2"
    return 1
} 2> /dev/null
kill() { # [SIGNAL] PROCESS…
    local signal=-TERM process
    case $1 in -*) signal=$1; shift ;; esac
    for process in "$@"; do builtin kill "$signal" "$process" || ended "$process" /dev/null; done
} 2> /dev/null
leave() { # KIND…
    local kind
    for kind in "$@"; do
        builtin kill "${servers[$kind]}" || true
        ended "${servers[$kind]}" "$home/.$kind.log"
        unset "servers[$kind]"
    done
} 2> /dev/null
beside() { # KIND LINE
    local log=$home/.$1.log looks=0
    [ -z "${servers[$1]:-}" ] || leave "$1"
    : > "$log"
    bash -c "exec env $2" > "$log" 2>&1 &
    servers[$1]=$!
    until [ -s "$log" ]; do
        builtin kill -0 "${servers[$1]}" 2> /dev/null || looks=600
        [ $((looks += 1)) -lt 600 ] || { leave "$1"; echo "$2: prints nothing"; return 1; }
        sleep 0.05
    done
}
end() {
    local process
    leave "${!servers[@]}"
    for process in "${started[@]}"; do kill "$process"; ended "$process" /dev/null; done
}
"#;

/// Commands that run until they are stopped.
const SERVERS: [&str; 5] = ["serve", "share", "forward", "gateway", "link"];
/// Commands whose output depends on nothing but their input.
const DETERMINISTIC: [&str; 4] = ["sim ", "explain ", "study list", "generate "];
/// The longest time for a page.
const LIMIT: &str = "900";
/// Units of figures that vary, by the word that stands for them.
const UNITS: [(&str, &[&str]); 3] = [
    ("time", &["ns", "µs", "ms", "s", "min"]),
    ("rate", &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]),
    ("size", &["B", "kB", "MB", "GB"]),
];

/// Runs the commands of all pages, and counts.
pub(crate) fn run() -> Outcome<String> {
    let recoup = soak::binary()?;
    let programs = recoup.parent().ok_or("the command has no folder")?;
    let mut counts = Counts::default();
    let (mut failures, mut marks) = (Vec::new(), Vec::new());
    for path in files(&["*.md"])? {
        let text = fs::read_to_string(root().join(&path)).map_err(|it| format!("{path}: {it}"))?;
        let steps = steps(&text);
        for step in &steps {
            counts.add(step);
            if let Step::Marked(reason, count, line) = step {
                marks.push(format!("{path}:{line}: {count} not run: {reason}"));
            }
        }
        if steps.iter().any(|step| matches!(step, Step::Run { .. })) {
            println!("{path}");
            failures.extend(follow(&path, &steps, programs).err());
        }
    }
    println!("{}", marks.join("\n"));
    match failures.is_empty() {
        true => Ok(counts.to_string()),
        false => Err(failures.join("\n\n")),
    }
}

/// Commands of all pages.
#[derive(Default)]
struct Counts {
    run: usize,
    compared: usize,
    exactly: usize,
    marked: usize,
}

impl Counts {
    fn add(&mut self, step: &Step<'_>) {
        match step {
            Step::Run { count, output, is_exact, .. } => {
                self.run += count;
                self.compared += usize::from(output.is_some());
                self.exactly += usize::from(output.is_some() && *is_exact);
            }
            Step::Marked(_, count, _) => self.marked += count,
            Step::Hidden(_) | Step::Write(..) | Step::Chapter => {}
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run, compared, exactly, marked } = self;
        write!(
            f,
            "{run} commands run, {marked} marked; {compared} outputs compared, {exactly} exactly"
        )
    }
}

/// A part of a page that the script carries out.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    /// Commands, the number of them, the line of the page, and what they print.
    Run { text: &'a str, count: usize, line: usize, output: Option<&'a str>, is_exact: bool },
    /// Commands that do not run: the reason, their number and their line.
    Marked(&'a str, usize, usize),
    /// Commands of a comment.
    Hidden(&'a str),
    /// A file, and its content.
    Write(&'a str, &'a str),
    /// Servers end.
    Chapter,
}

/// The steps of a page, in its order.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let (mut is_tutorial, mut is_after, mut rest) = (false, false, page);
    for Block { kind, file, before, text } in blocks(page) {
        is_tutorial |= before.contains(tutorial::MARK);
        between(before, &mut steps);
        let at = text.as_ptr() as usize - page.as_ptr() as usize;
        let line = page[..at].lines().count() + 1;
        match (kind, file) {
            ("sh", _) if is_tutorial => {
                steps.push(Step::Marked("the leg tutorial runs it", commands(text).len(), line));
            }
            ("sh", _) => {
                let lines = commands(text);
                let ours = lines.iter().filter_map(|line| words(line));
                let is_exact = ours.clone().count() == lines.len()
                    && ours.clone().all(|it| DETERMINISTIC.iter().any(|one| it.starts_with(one)));
                steps.push(match mark(before) {
                    Some(reason) => Step::Marked(reason, lines.len(), line),
                    None => Step::Run { text, count: lines.len(), line, output: None, is_exact },
                });
            }
            ("toml" | "text", Some(name)) if !is_tutorial => steps.push(Step::Write(name, text)),
            ("text", _) if is_after && before.trim().is_empty() => {
                if let Some(Step::Run { output, .. }) = steps.last_mut() {
                    *output = Some(text);
                }
            }
            _ => {}
        }
        is_after = kind == "sh";
        rest = &page[at + text.len()..];
    }
    between(rest, &mut steps);
    steps
}

/// Comments with commands, and beginnings of chapters, of the text between two blocks.
fn between<'a>(text: &'a str, steps: &mut Vec<Step<'a>>) {
    let mut rest = text;
    loop {
        let comment = rest.find("<!-- run: ");
        match (rest.find("\n## "), comment) {
            (Some(chapter), at) if at.is_none_or(|at| chapter < at) => {
                steps.push(Step::Chapter);
                rest = &rest[chapter + 4..];
            }
            (_, Some(at)) => {
                let after = &rest[at + "<!-- run: ".len()..];
                let (commands, behind) = after.split_once("-->").unwrap_or((after, ""));
                steps.push(Step::Hidden(commands.trim()));
                rest = behind;
            }
            _ => return,
        }
    }
}

/// The reason why the block behind this text does not run.
fn mark(before: &str) -> Option<&str> {
    let last = before.trim_end().lines().last()?;
    last.strip_prefix("<!-- not run: ")?.strip_suffix(" -->")
}

/// The lines of a block, and whether each is a command: neither comment nor empty, nor text that a command reads.
fn lines(text: &str) -> Vec<(String, bool)> {
    let (mut found, mut end): (_, Option<String>) = (Vec::new(), None);
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let mut line = line.to_owned();
        if end.is_some() {
            end = end.filter(|word| line.trim_start_matches('\t') != word);
            found.push((line, false));
            continue;
        }
        while line.ends_with('\\') {
            line.pop();
            line += rest.next().unwrap_or_default();
        }
        end = document(&line);
        let is_command = !bare(&line).trim().is_empty();
        found.push((line, is_command));
    }
    found
}

/// The word that ends the text that a command reads (`<<WORD`).
fn document(line: &str) -> Option<String> {
    let at = bare(line).replace("<<<", "   ").find("<<")?;
    let word = line[at + 2..].trim_start_matches('-').trim_start();
    let word = word.split(|it: char| it.is_whitespace() || ";&|<>()".contains(it)).next()?;
    Some(word.replace(['\'', '"', '\\'], ""))
}

/// A command line of as many bytes, with `_` in place of quoted text and without its comment.
fn bare(line: &str) -> String {
    let (mut found, mut quote) = (String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '#') if found.is_empty() || found.ends_with(' ') => break,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, _) => {
                found.push(letter);
                continue;
            }
            _ => {}
        }
        found.extend(std::iter::repeat_n('_', letter.len_utf8()));
    }
    found
}

/// The commands of a block, one a line.
fn commands(text: &str) -> Vec<String> {
    lines(text).into_iter().filter_map(|(line, is_command)| is_command.then_some(line)).collect()
}

/// The words of a command line of the program, behind its name; `None` for other programs.
fn words(line: &str) -> Option<&str> {
    let is_setting = |word: &str| word.contains('=') && !word.starts_with('-');
    let mut rest = line.trim_start();
    while let Some((word, behind)) = rest.split_once(' ') {
        match word {
            "recoup" => return Some(behind.trim_start()),
            _ if is_setting(word) => rest = behind.trim_start(),
            _ => return None,
        }
    }
    None
}

/// The kind of server that a line starts, if it does not go to the background by itself.
fn server(line: &str) -> Option<&'static str> {
    let words = words(line).filter(|_| !is_background(line))?;
    let first = words.split(' ').next()?;
    let known = SERVERS.into_iter().find(|one| *one == first);
    known.or_else(|| (first == "ping" && words.contains("--serve")).then_some("ping"))
}

/// Whether a line starts a process in the background.
fn is_background(line: &str) -> bool {
    ["&&", ">&", "<&", "&>"].iter().fold(bare(line), |line, it| line.replace(it, "")).contains('&')
}

/// Carries out the steps of a page, and compares what they print.
fn follow(page: &str, steps: &[Step<'_>], programs: &Path) -> Outcome {
    let folder = target_directory()?.join("pages").join(page.replace('/', "-"));
    let failed = |it: std::io::Error| format!("{}: {it}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    let (home, printed) = (folder.join("home"), folder.join("printed"));
    fs::create_dir_all(&home).and_then(|()| fs::create_dir(&printed)).map_err(failed)?;
    for name in ["examples", "python", "docs"] {
        std::os::unix::fs::symlink(root().join(name), home.join(name)).map_err(failed)?;
    }
    fs::write(folder.join("script"), script(steps, &printed)).map_err(failed)?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut inside = command("timeout");
    inside.args(["--foreground", "--signal=KILL", LIMIT, "unshare"]).args(soak::NAMESPACES);
    inside.arg("bash").arg(folder.join("script")).current_dir(&home).env_clear();
    inside.env("HOME", &home).env("PATH", format!("{}:{path}", programs.display()));
    let output = inside.output().map_err(|error| format!("{page}: {error}"))?;
    let read = |at: usize| fs::read_to_string(printed.join(at.to_string())).unwrap_or_default();
    let mut found = Vec::new();
    if !output.status.success() {
        let reached = (0..steps.len()).rfind(|at| printed.join(at.to_string()).exists());
        let at = reached.unwrap_or_default();
        let error = String::from_utf8_lossy(&output.stderr);
        found.push(format!("{page}{}: fails: {}{error}", place(steps.get(at)), read(at)));
    }
    for (at, step) in steps.iter().enumerate().filter(|_| output.status.success()) {
        let Step::Run { output: Some(shown), line, is_exact, .. } = step else { continue };
        let real = read(at);
        if let Some(missing) = missing(shown, &real, *is_exact) {
            found.push(format!("{page}:{line}: prints no line\n{missing}\nbut\n{real}"));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// The place of a step in its page.
fn place(step: Option<&Step<'_>>) -> String {
    match step {
        Some(Step::Run { line, .. }) => format!(":{line}"),
        Some(Step::Hidden(text)) => format!(": `{text}`"),
        _ => String::new(),
    }
}

/// The script of a page. Each step prints into a file of its number.
fn script(steps: &[Step<'_>], printed: &Path) -> String {
    let mut script = SERVERS_BESIDE.to_owned() + NETWORK;
    for (at, step) in steps.iter().enumerate() {
        let text = match step {
            Step::Run { text, .. } | Step::Hidden(text) => shell(text),
            Step::Write(name, text) => {
                format!("cat > {} <<'END-OF-FILE'\n{text}END-OF-FILE\n", quoted(name))
            }
            Step::Chapter => "leave \"${!servers[@]}\"\n".to_owned(),
            Step::Marked(..) => continue,
        };
        script += &format!("exec > {}/{at} 2>&1\n{text}", quoted(&printed.display().to_string()));
    }
    script + "end\n"
}

/// Commands with servers beside the others. An error inside a list of `&&` ends a script only if the list is one command.
fn shell(text: &str) -> String {
    let line = |(line, is_command): (String, bool)| {
        let is_whole = is_command && document(&line).is_none();
        match server(&line).filter(|_| is_whole) {
            Some(kind) => format!("beside {kind} {}\n", quoted(&line)),
            None if is_whole && is_background(&line) => format!("{line}\nstarted+=($!)\n"),
            None if is_whole && bare(&line).contains("&&") => format!("eval {}\n", quoted(&line)),
            None => format!("{line}\n"),
        }
    };
    lines(text).into_iter().map(line).collect()
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The first line of an output on a page that was not printed in its turn.
fn missing<'a>(shown: &'a str, real: &str, is_exact: bool) -> Option<&'a str> {
    let form = |line: &str| if is_exact { line.trim_end().to_owned() } else { figureless(line) };
    let mut printed = real.lines().map(form);
    shown.lines().find(|line| {
        let wanted = form(line);
        !printed.any(|it| it == wanted)
    })
}

/// A line without figures that vary, and without its part on losses.
fn figureless(line: &str) -> String {
    let parts = line.split(';').filter(|part| !part.contains(" lost"));
    let words = parts.flat_map(str::split_whitespace).map(|word| {
        let bare = word.trim_end_matches([',', ';', ':']);
        let unit = UNITS.iter().find(|(_, units)| units.contains(&bare));
        match (bare.starts_with(|letter: char| letter.is_ascii_digit()), unit) {
            (true, _) => "#",
            (_, Some((class, _))) => class,
            _ => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_crashed_fail_a_page() {
        let scratch = crate::process::Scratch::make().unwrap();
        let run = |text: &str| {
            let gone = "gone() { while builtin kill -0 $1 2> /dev/null; do sleep 0.01; done }\n";
            let script = SERVERS_BESIDE.to_owned() + gone + &shell(text) + "end\n";
            let mut bash = command("bash");
            let output = bash.args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
            let [printed, error] = [output.stdout, output.stderr].map(String::from_utf8);
            (output.status.success(), printed.unwrap() + &error.unwrap())
        };
        for text in [
            "true & a=$!\ngone $a\nkill $a",
            "sleep 9 & a=$!\nkill -INT $a\nkill $a; wait $a || true",
            "sleep 9 &",
            "beside serve 'A=b sh -c \"echo \\$A; sleep 9\"'\ncd /\nleave serve",
            "beside serve 'echo up'\nbeside serve 'echo up'",
            "true && true",
        ] {
            assert_eq!(run(text), (true, String::new()), "{text}");
        }
        for (text, error) in [
            ("false & a=$!\ngone $a\nkill $a", "ended with status 1\n"),
            ("false & a=$!\ngone $a", "ended with status 1\n"),
            (
                "beside serve 'sh -c \"echo up; exit 3\"'\ngone ${servers[serve]}",
                "ended with status 3\nup\n",
            ),
            ("beside serve 'sh -c \"echo no; exit 3\"'\nleave serve", "no\n"),
            ("beside serve 'true'", "true: prints nothing\n"),
            ("false && true\ntrue", ""),
        ] {
            let (is_right, printed) = run(text);
            assert!(!is_right && printed.ends_with(error), "{text}: {printed}");
        }
    }

    #[test]
    fn output_is_compared_in_order() {
        let real = "a 1.5 ms\nb\n5.0 MB in 2.1 s, 3 Mbit/s; 1 % of packets lost; verified\n";
        assert_eq!(
            missing("a 20 s\n9 kB in 30 ms, 2 kbit/s; no packet lost; verified\n", real, false),
            None
        );
        assert_eq!(missing("b\na 1.5 ms\n", real, true), Some("a 1.5 ms"));
        assert_eq!(missing("a 2 ms\n", real, true), Some("a 2 ms"));
        assert_eq!(missing("verified\n", real, false), Some("verified"));
    }
}
