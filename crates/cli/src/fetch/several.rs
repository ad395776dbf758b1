//! Several names in one call, fetched one after the other.
use super::args::FetchArgs;
use super::{file_name, is_direct, run_by};
use crate::error::{Exit, Failure};
use recoup_packet::name::Name;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Fetches each name. A failure does not end the fetches of further names.
///
/// # Errors
/// The first failure, which has been printed.
pub(super) fn run(args: FetchArgs) -> Result<(), Failure> {
    check(&args)?;
    let places = places(&args)?;
    let mut first: Option<Failure> = None;
    for (name, output) in args.names.iter().zip(places) {
        let one = FetchArgs { name: name.clone(), output, ..args.clone() };
        if let Err(failure) = run_by(one, &mut |_| None) {
            failure.eprint();
            let ends = failure.exit == Exit::Cancelled || failure.exit == Exit::Usage;
            first.get_or_insert(Failure { reported: true, details: Vec::new(), ..failure });
            if ends {
                break;
            }
        }
    }
    first.map_or(Ok(()), Err)
}

/// Rejects options whose one file would hold several fetches.
fn check(args: &FetchArgs) -> Result<(), Failure> {
    let options = [
        (args.statistics.is_some(), "-s"),
        (!args.trace.is_empty(), "--trace"),
        (args.options.newer_than.is_some(), "--newer-than"),
    ];
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::usage(format!("{option} is for one name"))
            .advise("fetch the names by commands of their own")),
        None => Ok(()),
    }
}

/// Where each name goes: into the folder of `-o`, or as the command line names it for one name.
fn places(args: &FetchArgs) -> Result<Vec<Option<PathBuf>>, Failure> {
    let Some(folder) = args.output.as_deref().filter(|path| !is_direct(path)) else {
        return Ok(vec![args.output.clone(); args.names.len()]);
    };
    if folder.is_file() {
        let message = format!("{} is a file, and several names need a folder", folder.display());
        return Err(Failure::usage(message).advise("name a folder after -o"));
    }
    let places = targets(folder, &args.names)?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    Ok(places.into_iter().map(Some).collect())
}

/// A file, or a folder, for each name, all of them different.
fn targets(folder: &Path, names: &[Name]) -> Result<Vec<PathBuf>, Failure> {
    let mut taken: BTreeMap<PathBuf, &Name> = BTreeMap::new();
    let mut targets = Vec::new();
    for name in names {
        let file = file_name(name).ok_or_else(|| {
            let message = format!("no component of {name} can be the name of a file");
            Failure::usage(message).advise("fetch it by a command of its own, with -o FILE")
        })?;
        let target = folder.join(file);
        if let Some(other) = taken.insert(target.clone(), name) {
            let message = format!("{other} and {name} would both be {}", target.display());
            return Err(Failure::usage(message).advise("fetch one of them with another -o"));
        }
        targets.push(target);
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_different_files() {
        let names =
            |uris: &[&str]| -> Vec<Name> { uris.iter().map(|uri| uri.parse().unwrap()).collect() };
        let folder = Path::new("in");
        let found = targets(folder, &names(&["/a/movie", "/b/log/v=7"])).unwrap();
        assert_eq!(found, [folder.join("movie"), folder.join("log")]);
        let same = targets(folder, &names(&["/a/movie", "/b/movie/v=7"])).unwrap_err();
        assert!(same.message.contains("/a/movie and /b/movie/v=7"), "{same}");
        assert!(targets(folder, &names(&["/v=7", "/a"])).is_err());
    }
}
