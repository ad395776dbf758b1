//! Downloads that are brought to the disk together.
use super::{Place, identity, place, put, segment};
use recoup_io::part::{Group, Journal, Options, PartFile, journal_path, part_path};
use recoup_io::target::TargetFolder;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A complete download to a file beside the place's target.
fn complete(place: &Place, name: &str) -> (PathBuf, PartFile) {
    let target = place.target.with_file_name(name);
    let mut part = PartFile::open(&target, identity(), Options::default()).unwrap();
    part.set_final(1).unwrap();
    put(&mut part, &[0, 1]);
    (target, part)
}

fn content() -> Vec<u8> {
    [segment(0), segment(1)].concat()
}

#[test]
fn group_gives_many_files_their_names() {
    let (place, group) = (place(), Group::start().unwrap());
    let targets: Vec<PathBuf> = (0..200)
        .map(|number| {
            let (target, part) = complete(&place, &format!("file{number}"));
            part.finish_in(&group).unwrap();
            target
        })
        .collect();
    for _ in &targets {
        group.wait().unwrap().result.unwrap();
    }
    assert!(group.next_outcome().is_none());
    assert!(targets.iter().all(|target| fs::read(target).unwrap() == content()));
    assert_eq!(place.listed().len(), targets.len(), "no staging folder is left");
}

#[test]
fn file_without_a_name_keeps_its_journal() {
    let (place, group) = (place(), Group::start().unwrap());
    let (one, part) = complete(&place, "one");
    let (two, other) = complete(&place, "two");
    // As another process that made the file meanwhile.
    fs::write(&two, "theirs").unwrap();
    part.finish_in(&group).unwrap();
    other.finish_in(&group).unwrap();
    let outcomes = [group.wait().unwrap(), group.wait().unwrap()];
    assert_eq!((&outcomes[0].target, &outcomes[1].target), (&one, &two));
    outcomes[0].result.as_ref().unwrap();
    let error = outcomes[1].result.as_ref().unwrap_err();
    assert!(error.to_string().contains("two"), "{error}");
    assert_eq!((fs::read(&one).unwrap(), fs::read(&two).unwrap()), (content(), b"theirs".into()));
    assert!(part_path(&two).exists() && journal_path(&two).exists());
    fs::remove_file(&two).unwrap();
    let again = PartFile::open(&two, identity(), Options::default()).unwrap();
    assert!(again.is_complete());
    again.finish().unwrap();
    assert_eq!(fs::read(&two).unwrap(), content());
}

#[test]
fn closed_group_leaves_a_resumable_download() {
    let (place, group) = (place(), Group::start().unwrap());
    let (one, part) = complete(&place, "one");
    part.finish_in(&group).unwrap();
    group.close();
    assert_eq!(fs::read(&one).unwrap(), content());
    let (two, part) = complete(&place, "two");
    part.finish_in(&group).unwrap();
    assert!(!two.exists());
    assert!(group.wait().unwrap().result.is_ok() && group.wait().is_none());
    assert!(PartFile::open(&two, identity(), Options::default()).unwrap().is_complete());
}

#[test]
fn incomplete_download_does_not_enter_a_group() {
    let (place, group) = (place(), Group::start().unwrap());
    let mut part = place.open();
    part.set_final(2).unwrap();
    put(&mut part, &[0, 1]);
    assert!(part.finish_in(&group).is_err());
    assert_eq!(place.open().journal().received.len(), 2);
}

#[test]
fn empty_journal_claims_nothing() {
    for left in ["", "\0\0\0\0"] {
        let place = place().interrupted();
        fs::write(journal_path(&place.target), left).unwrap();
        assert!(place.open().received().is_empty());
    }
}

/// Open files of this process below the folder.
#[cfg(target_os = "linux")]
fn open_files(folder: &Path) -> usize {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = descriptors.filter_map(|it| fs::read_link(it.path()).ok());
    paths.filter(|path| path.starts_with(folder)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn downloads_share_their_open_folder() {
    let place = place();
    let path = fs::canonicalize(place.target.parent().unwrap()).unwrap();
    let folder = Arc::new(TargetFolder::open(&path).unwrap());
    let open = |number: usize| {
        let options = Options { folder: Some(Arc::clone(&folder)), ..Options::default() };
        PartFile::open(&path.join(format!("file{number}")), identity(), options).unwrap()
    };
    let mut parts: Vec<_> = (0..40).map(open).collect();
    // Of the target folder its own descriptor and that of the staging folder's parent.
    assert_eq!(open_files(&path), parts.len() + 3);
    let group = Group::start().unwrap();
    for mut part in parts.drain(1..) {
        part.set_final(1).unwrap();
        put(&mut part, &[0, 1]);
        part.finish_in(&group).unwrap();
    }
    (1..40).for_each(|_| group.wait().unwrap().result.unwrap());
    assert_eq!(fs::read(path.join("file7")).unwrap(), content());
    // Removes the staging folder, like another process that alone uses it.
    drop(parts);
    fs::remove_dir(part_path(&path.join("file0")).parent().unwrap()).unwrap();
    open(0).close().unwrap();
    drop(folder);
    assert_eq!((place.listed().len(), open_files(&path)), (39, 0));
}

#[test]
fn leftovers_of_a_killed_process_go() {
    let place = place().interrupted();
    let (part, journal) = (part_path(&place.target), journal_path(&place.target));
    let draft = journal.with_extension("journal~");
    fs::write(&draft, "half a journal").unwrap();
    assert_eq!(place.open().received().len(), 2);
    assert!(!draft.exists() && journal.exists());
    fs::remove_file(&part).unwrap();
    assert!(Journal::read(&place.target).unwrap().is_none() && !journal.exists());
}
