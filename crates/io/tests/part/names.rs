//! Downloads into one folder under names that could collide with each other or with those of unfinished downloads.
use super::{SIZE, identity, place};
use proptest::prelude::*;
use recoup_io::part::{Existing, Identity, Options, PartError, PartFile, journal_path, part_path};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

/// Every name that the code has given, or could give, to a file on behalf of `name`, and names that are nearly the same.
fn related(name: &OsStr) -> Vec<OsString> {
    let file = |path: std::path::PathBuf| path.file_name().unwrap_or_default().to_owned();
    let target = Path::new(name);
    let mut names = vec![name.to_owned(), file(part_path(target)), file(journal_path(target))];
    for suffix in [".part", ".part.journal", ".part.journal~", ".journal", ".journal~", "~", "-"] {
        let mut longer = name.to_owned();
        longer.push(suffix);
        names.push(longer);
    }
    names.push(file(part_path(Path::new(&names[1]))));
    names.push(OsString::from_vec(name.as_bytes().to_ascii_uppercase()));
    names.push(OsString::from_vec([name.as_bytes(), b"\xff"].concat()));
    // The name that a longer one had, and the longest ones.
    let checksum = format!("-{:08x}.part", crc32fast::hash(name.as_bytes()));
    let begin = &name.as_bytes()[..name.len().min(232)];
    names.push(OsString::from_vec([begin, checksum.as_bytes()].concat()));
    let longest = [name.as_bytes(), &[b'x'; 255]].concat()[..255].to_vec();
    names.push(OsString::from_vec(longest));
    names.retain(|name| (1..=255).contains(&name.len()) && !name.as_bytes().contains(&b'/'));
    names
}

fn any_name() -> impl Strategy<Value = OsString> {
    let plain = prop::collection::vec(any::<u8>(), 1..6);
    let long = (230usize..255, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]);
    let known =
        prop::sample::select(vec!["movie", "movie.part", "a", "é", "e\u{301}", "..x", "%ff"]);
    let any = prop_oneof![plain, long, known.prop_map(|name| name.as_bytes().to_vec())];
    any.prop_filter_map("no name of a file", |name| {
        let is_name =
            !matches!(&name[..], b"." | b"..") && !name.iter().any(|b| matches!(b, 0 | b'/'));
        is_name.then(|| OsString::from_vec(name))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// All are in progress at once, each is interrupted, and each ends with its own content.
    #[test]
    fn colliding_names_keep_their_own_content(
        seeds in prop::collection::vec(any_name(), 1..3),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let names: Vec<OsString> = seeds.iter().flat_map(|seed| related(seed)).collect();
        let contents: BTreeMap<&OsStr, u8> = names.iter().map(|name| name.as_ref()).zip(0..).collect();
        let place = place();
        let folder = place.target.parent().unwrap();
        let options = Options {
            journal_interval: Duration::from_millis(1),
            overwrite: true,
            sync: false,
            ..Options::default()
        };
        let open = |name: &OsStr, content: u8| {
            let identity = Identity::new(format!("/{content}"), "digest");
            let mut part = PartFile::open(&folder.join(name), identity, options.clone()).unwrap();
            part.set_final(2).unwrap();
            part
        };
        let mut parts: Vec<_> =
            contents.iter().map(|(&name, &content)| (name, content, open(name, content))).collect();
        for index in order {
            let (name, content, mut part) = parts.swap_remove(index.index(parts.len()));
            match part.received().last() {
                Some(2) => drop(part.finish().unwrap()),
                last => {
                    let next = last.map_or(0, |last| last + 1);
                    part.write(next, vec![content; SIZE].into()).unwrap();
                    drop(part);
                }
            }
            parts.push((name, content, open(name, content)));
        }
        for (_, content, mut part) in parts {
            (0..=2).try_for_each(|segment| part.write(segment, vec![content; SIZE].into())).unwrap();
            part.finish().unwrap();
        }
        let mut listed = place.listed();
        listed.sort_unstable();
        prop_assert_eq!(listed, contents.keys().copied().collect::<Vec<_>>());
        for (name, content) in &contents {
            prop_assert_eq!(fs::read(folder.join(name)).unwrap(), vec![*content; 3 * SIZE]);
        }
    }
}

#[test]
fn staging_folder_cannot_be_a_target() {
    let place = place();
    let folder = place.target.parent().unwrap();
    let staging = part_path(&place.target).parent().unwrap().to_owned();
    fs::create_dir(&staging).unwrap();
    symlink(&staging, folder.join("link")).unwrap();
    let upper = folder.join(staging.file_name().unwrap().to_ascii_uppercase());
    for target in [staging.join("x"), folder.join("link/x"), staging.clone(), upper] {
        for existing in [Existing::Resume, Existing::Restart, Existing::Fail] {
            let options = Options { existing, overwrite: true, ..Options::default() };
            let error = PartFile::open(&target, identity(), options).unwrap_err();
            let is_rejected =
                matches!(error, PartError::Reserved { .. } | PartError::NotAFile { .. });
            assert!(is_rejected, "{}: {error}", target.display());
        }
    }
    assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
}

#[test]
fn second_writer_leaves_the_finished_file_alone() {
    let place = place();
    let mut part = place.open();
    part.set_final(0).unwrap();
    part.write(0, "complete".into()).unwrap();
    part.flush().unwrap();
    let second = std::thread::scope(|scope| {
        // It opens the file, waits for the lock, and has it once the file has its name.
        let second = scope.spawn(|| place.overwriting());
        std::thread::sleep(Duration::from_millis(30));
        part.finish().unwrap();
        second.join().unwrap().unwrap()
    });
    assert_eq!(fs::read(&place.target).unwrap(), b"complete");
    assert!(second.received().is_empty());
}

#[test]
fn file_that_was_swapped_is_not_published() {
    let place = place();
    let mut part = place.open();
    part.set_final(0).unwrap();
    part.write(0, "right".into()).unwrap();
    part.flush().unwrap();
    fs::remove_file(part_path(&place.target)).unwrap();
    fs::write(part_path(&place.target), "wrong").unwrap();
    let error = part.finish().unwrap_err();
    assert!(matches!(error, PartError::Replaced { .. }), "{error}");
    assert!(!place.target.exists());
}
