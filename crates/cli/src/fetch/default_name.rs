//! The file or folder that a fetch writes to on a terminal without `-o`: named by the last component of the name, as wget does,
//! and never one that is there already.
//!
//! The name is taken by making an empty file or folder, so that two fetches at a time do not choose the same. If the fetch
//! fails and it is still empty, it is removed.
use super::args::FetchArgs;
use crate::error::{Exit, Failure};
use crate::output;
use crate::terminal::path_line;
use recoup_io::part::Journal;
use recoup_packet::name::convention::Convention;
use recoup_packet::name::{Component, Name};
use recoup_packet::tlv::typ;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// Longest name in bytes: short enough for a number and for the names of unfinished downloads.
const MAX_NAME_BYTES: usize = 200;
/// Names that are tried: `movie`, `movie.1`, …
const ATTEMPTS: u32 = 10_000;

/// A place that was made for this fetch.
#[derive(Debug)]
pub(super) struct Reserved {
    path: PathBuf,
    is_folder: bool,
}

impl Reserved {
    /// Removes it after a failure, if it is still empty.
    pub(super) fn release(&self) {
        let is_empty = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|there| there.is_file() && there.len() == 0)
        };
        if self.is_folder {
            // The system keeps a folder that is not empty.
            let _ = fs::remove_dir(&self.path);
        } else if is_empty(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the content goes to a file that is not named: the terminal is no place for it.
pub(super) fn is_used(args: &FetchArgs) -> bool {
    args.output.is_none() && std::io::stdout().is_terminal()
}

/// Finds out whether there is a name for the file, if one is needed.
///
/// # Errors
/// If no component of the name can be the name of a file.
pub(super) fn check(args: &FetchArgs) -> Result<(), Failure> {
    match is_used(args) {
        true => named(args).map(drop),
        false => Ok(()),
    }
}

/// Completes the command line: on a terminal content goes to a file, and not to the terminal. Returns what was made for it.
///
/// # Errors
/// If no component of the name can be the name of a file, or nothing can be made here.
pub(super) fn complete(args: &mut FetchArgs) -> Result<Option<Reserved>, Failure> {
    if !is_used(args) {
        return Ok(None);
    }
    let name = named(args)?;
    let begun = begun(&name, args.recursive).filter(|_| args.resume);
    let reserved = match begun {
        Some(_) => None,
        None => Some(reserve(&name, args.recursive)?),
    };
    let path = begun.or_else(|| Some(reserved.as_ref()?.path.clone()));
    if let Some(path) = path.as_deref().filter(|_| !args.quiet) {
        output::eprint(&format!("writing to {}", path_line(path)));
    }
    args.output = path;
    Ok(reserved)
}

fn named(args: &FetchArgs) -> Result<String, Failure> {
    file_name(&args.name).ok_or_else(|| {
        let message = format!("no component of {} can be the name of a file", args.name);
        Failure::usage(message).advise("name one with -o FILE")
    })
}

/// The last generic component that is neither a version nor a segment number, as the name of a file.
pub(crate) fn file_name(name: &Name) -> Option<String> {
    let is_number = |it: &Component<'_>| {
        Convention::of_version(it).is_some() || Convention::of_segment(it).is_some()
    };
    let mut components: Vec<_> = name.components().collect();
    components.retain(|it| u64::from(it.typ()) == typ::GENERIC_NAME_COMPONENT && !is_number(it));
    plain(components.last()?.value())
}

/// A name for a file: one component of a path, visible, shown as it is, and possible on any system to which the file may be
/// copied. Other characters become `_`. `None` if no letter or digit is left.
fn plain(component: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(component);
    let mut name = String::new();
    for letter in text.chars().map(|letter| if is_plain(letter) { letter } else { '_' }) {
        if name.len() + letter.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        name.push(letter);
    }
    // A hidden file, a folder above, an option, a home folder.
    if name.starts_with(['.', '-', '~']) {
        name.replace_range(..1, "_");
    }
    // Windows drops trailing dots and blanks, and so changes the name.
    let kept = name.trim_end_matches(['.', ' ']).len();
    let end = "_".repeat(name.len() - kept);
    name.replace_range(kept.., &end);
    if is_device(&name) {
        name.insert(0, '_');
    }
    name.chars().any(char::is_alphanumeric).then_some(name)
}

/// Names of devices on Windows, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_numbered = stem.len() == 4
        && (stem.starts_with("COM") || stem.starts_with("LPT"))
        && stem.ends_with(|digit: char| digit.is_ascii_digit());
    is_numbered || matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL")
}

fn is_plain(letter: char) -> bool {
    let is_invisible = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    !letter.is_control()
        && !is_invisible
        && !matches!(letter, '/' | '\\' | char::REPLACEMENT_CHARACTER)
}

fn candidates(name: &str) -> impl Iterator<Item = PathBuf> + '_ {
    (0..ATTEMPTS).map(move |number| match number {
        0 => name.into(),
        _ => format!("{name}.{number}").into(),
    })
}

/// The unfinished download, or the latest folder, under one of the names.
fn begun(name: &str, is_folder: bool) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok() || is_unfinished(path);
    let mut there = candidates(name).take_while(is_there);
    match is_folder {
        true => there.filter(|path| path.is_dir()).last(),
        false => there.find(|path| is_unfinished(path)),
    }
}

fn is_unfinished(path: &Path) -> bool {
    !matches!(Journal::read(path), Ok(None))
}

/// Makes the first of the names that is free.
fn reserve(name: &str, is_folder: bool) -> Result<Reserved, Failure> {
    for path in candidates(name) {
        if is_unfinished(&path) {
            continue;
        }
        let made = match is_folder {
            true => fs::create_dir(&path),
            false => OpenOptions::new().write(true).create_new(true).open(&path).map(drop),
        };
        match made {
            Ok(()) => return Ok(Reserved { path, is_folder }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::file("make", path.display(), &error)),
        }
    }
    let message = format!("{name} and {name}.1 to {name}.{} are there already", ATTEMPTS - 1);
    Err(Failure::new(Exit::Local, message).advise("name another place with -o"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_generic_component_names_the_file() {
        let name = |uri: &str| file_name(&uri.parse().unwrap());
        assert_eq!(name("/home/movie.mkv").as_deref(), Some("movie.mkv"));
        assert_eq!(name("/home/movie.mkv/v=7/seg=0").as_deref(), Some("movie.mkv"));
        assert_eq!(name("/photos/32=ls").as_deref(), Some("photos"));
        assert_eq!(name("/a%20b/%FD%01").as_deref(), Some("a b"));
        assert_eq!(name("/"), None);
        assert_eq!(name("/v=1"), None);
    }

    #[test]
    fn a_hostile_name_is_neither_path_nor_hidden() {
        let name = |bytes: &[u8]| plain(bytes);
        assert_eq!(name(b"../../etc/passwd").as_deref(), Some("_._.._etc_passwd"));
        assert_eq!(name(b".bashrc").as_deref(), Some("_bashrc"));
        assert_eq!(name(b"-rf").as_deref(), Some("_rf"));
        assert_eq!(name(b"a\x1b[2Jb\nc").as_deref(), Some("a_[2Jb_c"));
        assert_eq!(name("gpj\u{202e}.exe".as_bytes()).as_deref(), Some("gpj_.exe"));
        assert_eq!(name(b"\xff\xfeok").as_deref(), Some("__ok"));
        assert_eq!(name(b"report. . ").as_deref(), Some("report____"));
        for device in ["con", "NUL.txt", "com1", "Lpt9.tar.gz", "aux .log"] {
            assert_eq!(name(device.as_bytes()), Some(format!("_{device}")));
        }
        assert_eq!(name(b"console.log").as_deref(), Some("console.log"));
        for nothing in [&b""[..], b"..", b"/", b"\x00\x01"] {
            assert_eq!(name(nothing), None);
        }
        let long = "ü".repeat(300);
        assert_eq!(name(long.as_bytes()).map(|it| it.len()), Some(MAX_NAME_BYTES));
    }
}
