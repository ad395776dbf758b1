//! The resumable download as a user meets it: interrupted, resumed, in the wrong place, out of room.
mod changed;
mod group;
mod mode;
mod names;
mod stopped;

use proptest::prelude::*;
use recoup_io::part::{
    Existing, Identity, Journal, Options, PartError, PartFile, journal_path, part_path,
};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIZE: usize = 10;

struct Place {
    _folder: tempfile::TempDir,
    target: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("file");
    Place { _folder: folder, target }
}

fn identity() -> Identity {
    Identity::new("/a/v=1", "digest")
}

impl Place {
    fn open(&self) -> PartFile {
        PartFile::open(&self.target, identity(), Options::default()).unwrap()
    }

    fn try_open(&self, identity: Identity) -> Result<PartFile, PartError> {
        PartFile::open(&self.target, identity, Options::default())
    }

    fn existing(&self, existing: Existing) -> Result<PartFile, PartError> {
        PartFile::open(&self.target, identity(), Options { existing, ..Options::default() })
    }

    fn overwriting(&self) -> Result<PartFile, PartError> {
        let options = Options { overwrite: true, ..Options::default() };
        PartFile::open(&self.target, identity(), options)
    }

    /// The names in the target's folder.
    fn listed(&self) -> Vec<std::ffi::OsString> {
        let folder = fs::read_dir(self.target.parent().unwrap()).unwrap();
        folder.map(|entry| entry.unwrap().file_name()).collect()
    }

    /// Leaves an unfinished download of the segments 0 and 2.
    fn interrupted(self) -> Self {
        let mut part = self.open();
        put(&mut part, &[0, 2]);
        part.close().unwrap();
        self
    }
}

fn segment(number: u64) -> Vec<u8> {
    (0..SIZE as u64).map(|i| (number * 31 + i) as u8).collect()
}

fn put(part: &mut PartFile, numbers: &[u64]) {
    for &number in numbers {
        part.write(number, segment(number).into()).unwrap();
    }
    part.flush().unwrap();
}

fn runs(part: &PartFile) -> Vec<std::ops::RangeInclusive<u64>> {
    part.received().runs().collect()
}

#[test]
fn an_interrupted_download_continues_where_it_stopped() {
    let place = place().interrupted();
    let mut part = place.open();
    assert_eq!(runs(&part), [0..=0, 2..=2]);
    assert_eq!(part.journal().received_bytes(), 20);
    part.set_final(3).unwrap();
    part.write(3, "end".into()).unwrap();
    put(&mut part, &[1]);
    let finished = part.finish().unwrap();
    assert_eq!((finished.bytes, &finished.path), (33, &place.target));
    let expected = [segment(0), segment(1), segment(2), b"end".to_vec()].concat();
    assert_eq!(fs::read(&place.target).unwrap(), expected);
    assert_eq!(place.listed(), ["file"]);
}

#[test]
fn longest_file_name_is_downloaded_and_resumed() {
    for name in ["x".repeat(255), "x".repeat(242), "é".repeat(127)] {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { target: folder.path().join(&name), _folder: folder };
        let other = part_path(&place.target.with_file_name(name.replacen(['x', 'é'], "y", 1)));
        assert_ne!(part_path(&place.target), other);
        let place = place.interrupted();
        let mut part = place.open();
        assert_eq!(runs(&part), [0..=0, 2..=2]);
        put(&mut part, &[1]);
        part.set_final(2).unwrap();
        part.finish().unwrap();
        assert_eq!(place.listed(), [name.as_str()]);
    }
}

#[test]
fn dropping_saves_like_closing() {
    let place = place();
    let mut part = place.open();
    part.write(4, segment(4).into()).unwrap();
    part.write(5, segment(5).into()).unwrap();
    drop(part);
    assert_eq!(runs(&place.open()), [4..=5]);
}

#[test]
fn an_empty_object_becomes_an_empty_file() {
    for final_first in [true, false] {
        let place = place();
        let mut part = place.open();
        if final_first {
            part.set_final(0).unwrap();
        }
        part.write(0, "".into()).unwrap();
        part.set_final(0).unwrap();
        assert_eq!(part.finish().unwrap().bytes, 0);
        assert_eq!(fs::read(&place.target).unwrap(), b"");
    }
}

#[test]
fn range_begins_at_the_start_of_its_file() {
    let place = place();
    let mut part = place.try_open(identity().range(7, Some(8))).unwrap();
    let error = part.write(9, segment(9).into()).unwrap_err();
    assert_eq!(error.to_string(), "segment 9 lies outside the segments 7 to 8");
    put(&mut part, &[8, 7]);
    assert_eq!(part.finish().unwrap().bytes, 20);
    assert_eq!(fs::read(&place.target).unwrap(), [segment(7), segment(8)].concat());
}

#[test]
fn a_range_of_one_segment_needs_no_size() {
    for last in [None, Some(5), Some(9)] {
        let place = place();
        let mut part = place.try_open(identity().range(5, Some(5))).unwrap();
        last.map_or(Ok(()), |last| part.set_final(last)).unwrap();
        put(&mut part, &[5]);
        assert_eq!(part.finish().unwrap().bytes, 10);
    }
}

#[test]
fn a_range_beyond_the_end_is_an_error() {
    let place = place();
    let mut part = place.try_open(identity().range(7, None)).unwrap();
    assert!(matches!(part.set_final(6), Err(PartError::OutOfRange { segment: 7, .. })));
}

#[test]
fn uneven_segments_are_errors_that_name_the_segment() {
    let cases: [(&[(u64, usize)], u64); 5] = [
        (&[(0, 10), (1, 11)], 1),
        (&[(0, 10), (3, 9), (2, 9)], 2),
        (&[(0, 10), (2, 10), (1, 9)], 1),
        (&[(0, 10), (1, 9), (2, 10)], 1),
        (&[(5, 10), (4, 9)], 5),
    ];
    for (segments, culprit) in cases {
        let mut part = place().open();
        let error = segments
            .iter()
            .find_map(|&(number, length)| part.write(number, vec![0; length].into()).err());
        let Some(PartError::SegmentSize { segment, .. }) = error else { panic!("{segments:?}") };
        assert_eq!(segment, culprit, "{segments:?}");
    }
    let mut part = place().open();
    part.set_final(9).unwrap();
    assert!(matches!(part.write(3, "".into()), Err(PartError::EmptySegment { segment: 3 })));
}

#[test]
fn end_before_a_received_segment_is_an_error() {
    let mut part = place().open();
    put(&mut part, &[0, 4]);
    part.set_final(9).unwrap();
    part.set_final(6).unwrap();
    let error = part.set_final(3).unwrap_err();
    assert_eq!(error.to_string(), "the last segment is reported as 3, but segment 4 has arrived");
    part.write(6, "short".into()).unwrap();
    assert!(matches!(part.set_final(7), Err(PartError::SegmentSize { segment: 6, .. })));
    assert!(matches!(part.write(7, segment(7).into()), Err(PartError::OutOfRange { .. })));
}

#[test]
fn excessive_segment_number_is_an_error() {
    let mut part = place().open();
    put(&mut part, &[0, 1]);
    let error = part.write(u64::MAX / 4, segment(0).into()).unwrap_err();
    assert!(matches!(error, PartError::TooFar { .. }), "{error}");
    assert!(matches!(part.write(u64::MAX, segment(0).into()), Err(PartError::TooFar { .. })));
}

#[test]
fn duplicates_are_ignored_even_if_they_differ() {
    let place = place();
    let mut part = place.open();
    part.write(0, segment(0).into()).unwrap();
    part.write(0, "liar".into()).unwrap();
    put(&mut part, &[1]);
    part.write(1, "liar".into()).unwrap();
    part.set_final(1).unwrap();
    part.finish().unwrap();
    assert_eq!(fs::read(&place.target).unwrap(), [segment(0), segment(1)].concat());
}

#[test]
fn incomplete_download_cannot_be_finished() {
    let place = place();
    let mut part = place.open();
    put(&mut part, &[0, 1, 4]);
    let error = part.finish().unwrap_err();
    assert!(matches!(error, PartError::Incomplete { first: 5, .. }), "{error}");
    let mut part = place.open();
    part.set_final(7).unwrap();
    let error = part.finish().unwrap_err();
    assert!(matches!(error, PartError::Incomplete { missing: 5, first: 2 }), "{error}");
    assert_eq!(runs(&place.open()), [0..=1, 4..=4]);
}

#[test]
fn existing_target_is_overwritten_on_request_only() {
    let place = place();
    fs::write(&place.target, "precious").unwrap();
    assert!(matches!(place.try_open(identity()), Err(PartError::TargetExists { .. })));
    assert_eq!(place.listed(), ["file"]);
    let mut part = place.overwriting().unwrap();
    part.set_final(0).unwrap();
    part.write(0, "new".into()).unwrap();
    part.finish().unwrap();
    assert_eq!(fs::read(&place.target).unwrap(), b"new");
}

#[test]
fn a_target_that_appears_meanwhile_is_not_overwritten() {
    let place = place();
    let mut part = place.open();
    part.set_final(0).unwrap();
    part.write(0, "new".into()).unwrap();
    fs::write(&place.target, "precious").unwrap();
    assert!(matches!(part.finish(), Err(PartError::TargetExists { .. })));
    assert_eq!(fs::read(&place.target).unwrap(), b"precious");
    fs::remove_file(&place.target).unwrap();
    assert_eq!(place.open().finish().unwrap().bytes, 3);
}

#[test]
fn another_version_verification_or_range_is_not_continued() {
    let place = place().interrupted();
    for other in [
        Identity::new("/a/v=2", "digest"),
        Identity::new("/a/v=1", "key=/k"),
        identity().range(1, None),
        identity().range(0, Some(5)),
    ] {
        let error = place.try_open(other).unwrap_err();
        assert!(matches!(error, PartError::OtherContent { .. }), "{error}");
    }
    assert_eq!(runs(&place.open()), [0..=0, 2..=2]);
}

#[test]
fn unfinished_download_is_rejected_or_discarded() {
    let place = place().interrupted();
    let error = place.existing(Existing::Fail).unwrap_err();
    assert!(matches!(error, PartError::Unfinished { bytes: 20, .. }), "{error}");
    let part = place.existing(Existing::Restart).unwrap();
    assert!(part.received().is_empty());
    assert_eq!(fs::metadata(part_path(&place.target)).unwrap().len(), 0);
}

#[test]
fn a_download_without_content_leaves_nothing() {
    let place = place();
    assert!(place.open().close().unwrap().is_none());
    assert!(place.listed().is_empty());
    let mut part = place.open();
    part.write(0, segment(0).into()).unwrap();
    drop(part);
    assert!(place.listed().is_empty(), "a segment of unknown place is not kept");
    let place = place.interrupted();
    place.existing(Existing::Restart).unwrap();
    assert!(place.listed().is_empty());
}

#[test]
fn foreign_journal_is_left_alone() {
    let place = place().interrupted();
    fs::write(journal_path(&place.target), "another journal").unwrap();
    assert!(matches!(place.try_open(identity()), Err(PartError::Journal { .. })));
    assert_eq!(fs::read(journal_path(&place.target)).unwrap(), b"another journal");
}

#[test]
fn damaged_journal_names_a_remedy() {
    let place = place().interrupted();
    let path = journal_path(&place.target);
    let text = fs::read_to_string(&path).unwrap().replace("received 2-2", "received 2-3");
    fs::write(&path, text).unwrap();
    let error = place.try_open(identity()).unwrap_err().to_string();
    assert!(error.contains("to begin anew, remove it and the .part file"), "{error}");
    assert!(place.existing(Existing::Restart).unwrap().received().is_empty());
}

#[test]
fn two_processes_cannot_write_the_same_part() {
    let place = place();
    let first = place.open();
    assert!(matches!(place.try_open(identity()), Err(PartError::Busy { .. })));
    first.close().unwrap();
    place.open();
}

#[test]
fn links_folders_and_pipes_are_not_written_through() {
    let place = place();
    let elsewhere = place.target.with_file_name("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    let staging = part_path(&place.target).parent().unwrap().to_owned();
    fs::create_dir(place.target.with_file_name("folder")).unwrap();
    symlink("folder", &staging).unwrap();
    assert!(matches!(place.try_open(identity()), Err(PartError::NotPrivate { .. })));
    fs::remove_file(&staging).unwrap();
    fs::create_dir(&staging).unwrap();
    symlink(&elsewhere, part_path(&place.target)).unwrap();
    assert!(matches!(place.try_open(identity()), Err(PartError::NotAFile { .. })));
    fs::remove_file(part_path(&place.target)).unwrap();
    symlink(&elsewhere, journal_path(&place.target)).unwrap();
    assert!(place.try_open(identity()).is_err());
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
    fs::create_dir(&place.target).unwrap();
    assert!(matches!(place.overwriting(), Err(PartError::NotAFile { .. })));
    let null = PartFile::open(Path::new("/dev/null"), identity(), Options::default());
    assert!(matches!(null, Err(PartError::NotAFile { .. })));
    let none = PartFile::open(Path::new("/"), identity(), Options::default());
    assert!(matches!(none, Err(PartError::NotAFile { .. })));
}

#[test]
fn a_missing_folder_is_explained() {
    let place = place();
    let target = place.target.join("deeper");
    let error = PartFile::open(&target, identity(), Options::default()).unwrap_err().to_string();
    assert!(error.ends_with("there is no such file or folder"), "{error}");
}

#[test]
fn unwritable_identity_is_rejected() {
    let place = place();
    for bad in [
        Identity::new("/a\nfirst 9", "digest"),
        Identity::new("/a", "d\r"),
        Identity::new("a".repeat(100_000), ""),
        identity().range(5, Some(4)),
    ] {
        assert!(matches!(place.try_open(bad), Err(PartError::Identity)));
    }
}

#[test]
fn the_journal_advances_by_itself_in_the_background() {
    let place = place();
    let options = Options { journal_interval: Duration::from_millis(1), ..Options::default() };
    let mut part = PartFile::open(&place.target, identity(), options).unwrap();
    let start = std::time::Instant::now();
    for number in 0.. {
        put(&mut part, &[number]);
        let claimed = Journal::read(&place.target).unwrap().map_or(0, |read| read.received.len());
        if claimed > 20 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "no journal was written");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn interrupted_download_in_any_order_is_exact(
        length in 1usize..400,
        order in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 0..120),
        set_final_first in any::<bool>(),
    ) {
        let content: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
        let segments: Vec<&[u8]> = content.chunks(SIZE).collect();
        let place = place();
        let options = Options { sync: false, ..Options::default() };
        let open = || PartFile::open(&place.target, identity(), options.clone()).unwrap();
        let mut part = open();
        if set_final_first {
            part.set_final(segments.len() as u64 - 1).unwrap();
        }
        for (index, action) in order {
            let number = index.index(segments.len());
            part.write(number as u64, segments[number].to_vec().into()).unwrap();
            match action {
                0 => { drop(part); part = open(); }
                1..4 => part.flush().unwrap(),
                _ => {}
            }
        }
        for (number, segment) in segments.iter().enumerate().rev() {
            part.write(number as u64, segment.to_vec().into()).unwrap();
        }
        part.set_final(segments.len() as u64 - 1).unwrap();
        prop_assert_eq!(part.finish().unwrap().bytes, length as u64);
        prop_assert_eq!(fs::read(&place.target).unwrap(), content);
    }
}
