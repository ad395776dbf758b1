//! Choice of cases and transports.
use super::args::{ArenaArgs, RandomNetworks};
use crate::error::Failure;
use recoup_lab::scenario::{Situation, fits};
use recoup_lab::source::{Given, Source};
use recoup_studies::arena;
use recoup_studies::arena::case::{Case, CaseError};
use recoup_transport::spec::nearest;
use recoup_transport::transport::Transport;
use std::fs;
use std::path::{Path, PathBuf};

/// A case that takes part.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The case.
    pub case: Case,
    /// The folder of the files that it names; `None` for a built-in case without files.
    pub folder: Option<PathBuf>,
}

impl Chosen {
    /// The case with transports, to be run.
    pub(super) fn source(&self, transports: &[Transport]) -> Result<Source, Failure> {
        let text = self.case.with(transports);
        let source = match &self.folder {
            Some(folder) => {
                let name = folder.join(format!("{}.toml", self.case.name)).display().to_string();
                Source::scenario_in(Given::beside(&name, folder, text), &[])
            }
            None => Source::built_in(&self.case.name, &text, &[], &[]),
        };
        Ok(source?)
    }
}

/// The transports in their order, each once; the default and CUBIC unless others are named.
pub(super) fn transports(args: &ArenaArgs, default: &Transport) -> Result<Vec<Transport>, Failure> {
    let mut transports = Vec::new();
    if args.transports.is_empty() {
        transports.push(default.clone());
    }
    let cubic = ["cubic".to_owned()];
    let texts = if args.transports.is_empty() { &cubic[..] } else { &args.transports };
    for text in texts {
        let read = Transport::parse(text, default)
            .map_err(|what| Failure::usage(format!("--transport '{text}': {what}")))?;
        if !transports.contains(&read) {
            transports.push(read);
        }
    }
    Ok(transports)
}

/// The cases that are wanted, in the order of their situations.
pub(super) fn cases(args: &ArenaArgs) -> Result<Vec<Chosen>, Failure> {
    let mut known = known(args.cases.as_deref())?;
    let all = args.wanted.is_empty() && args.random.is_empty();
    check(&args.wanted, &known)?;
    let is_wanted = |it: &Chosen| all || args.wanted.iter().any(|wanted| names(wanted, &it.case));
    known.retain(is_wanted);
    for RandomNetworks { kind, numbers } in &args.random {
        for number in numbers.iter() {
            let (name, text) = kind.case(number);
            let case = Case::new(&name, &text, &no_files).map_err(wrong)?;
            known.push(Chosen { case, folder: None });
        }
    }
    Ok(known)
}

fn known(folder: Option<&Path>) -> Result<Vec<Chosen>, Failure> {
    let cases = arena::cases().map_err(wrong)?;
    let mut known: Vec<_> = cases.into_iter().map(|case| Chosen { case, folder: None }).collect();
    for path in folder.map_or_else(|| Ok(Vec::new()), files)? {
        let own = read(&path)?;
        if known.iter().any(|it| it.case.name == own.case.name) {
            let message = format!("there is a case `{}` already", own.case.name);
            return Err(
                Failure::usage(format!("{}: {message}", path.display())).advise("rename the file")
            );
        }
        known.push(own);
    }
    known.sort_by(|a, b| {
        (a.case.arena.situation, &a.case.name).cmp(&(b.case.arena.situation, &b.case.name))
    });
    Ok(known)
}

/// The scenario files of a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::file("list", folder.display(), &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    match paths.is_empty() {
        true => Err(Failure::usage(format!("{} holds no case", folder.display()))
            .advise("a case is a .toml file with a table [arena]")),
        false => Ok(paths),
    }
}

fn read(path: &Path) -> Result<Chosen, Failure> {
    let given = Given::read(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let case =
        Case::new(&name, given.text(), &|name| given.file(name)).map_err(|error| match error {
            CaseError::Scenario(_, problems) => {
                wrong(CaseError::Scenario(path.display().to_string(), problems))
            }
            CaseError::Case(_, what) => wrong(CaseError::Case(path.display().to_string(), what)),
        })?;
    Ok(Chosen { case, folder: Some(given.folder().to_owned()) })
}

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("{name} is not built in"))
}

fn wrong(error: CaseError) -> Failure {
    Failure::usage(error.to_string())
}

/// Whether a word of the command line names a case.
fn names(wanted: &str, case: &Case) -> bool {
    fits(wanted, &case.name) || case.arena.situation.word() == wanted
}

/// Rejects words that match nothing.
fn check(wanted: &[String], known: &[Chosen]) -> Result<(), Failure> {
    for word in wanted {
        if known.iter().any(|it| names(word, &it.case)) {
            continue;
        }
        let words = known.iter().map(|it| it.case.name.as_str());
        let words = words.chain(Situation::ALL.iter().map(|(word, _)| *word));
        let failure = Failure::usage(format!("there is no case `{word}`"));
        return Err(match nearest(word, words) {
            Some(near) => failure.advise(format!("did you mean `{near}`?")),
            None => failure.advise("`recoup arena --list` names them"),
        });
    }
    Ok(())
}
