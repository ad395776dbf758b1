//! Content that is not on the disk as it was written, and downloads that lack nothing but their end.
use super::{Place, SIZE, identity, place, put, segment};
use proptest::prelude::*;
use recoup_io::part::{Journal, Options, PartError, PartFile, journal_path, part_path};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

/// Changes one bit of the file, counted from its beginning.
fn flip(place: &Place, bit: u64) {
    let file = OpenOptions::new().read(true).write(true).open(part_path(&place.target)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit / 8).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], bit / 8).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn damaged_download_ends_with_the_right_bytes(
        kept in prop::collection::vec(0u64..60, 2..60),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let place = place();
        let mut part = place.open();
        part.set_final(60).unwrap();
        put(&mut part, &kept);
        let length = part.close().unwrap().unwrap().received.last().unwrap() as usize * SIZE + SIZE;
        flips.iter().for_each(|at| flip(&place, at.index(8 * length) as u64));
        if let Some(cut) = cut {
            let file = OpenOptions::new().write(true).open(part_path(&place.target)).unwrap();
            file.set_len(cut.index(length) as u64).unwrap();
        }
        let mut part = place.open();
        part.set_final(60).unwrap();
        let missing: Vec<u64> = part.received().missing(0, 60).flatten().collect();
        for number in missing {
            part.write(number, segment(number).into()).unwrap();
        }
        part.finish().unwrap();
        prop_assert!(fs::read(&place.target).unwrap() == (0..=60).flat_map(segment).collect::<Vec<_>>());
    }
}

#[test]
fn journal_of_another_target_is_rejected() {
    let place = place().interrupted();
    let other = Place { target: place.target.with_file_name("other"), _folder: place._folder };
    fs::rename(part_path(&place.target), part_path(&other.target)).unwrap();
    fs::rename(journal_path(&place.target), journal_path(&other.target)).unwrap();
    let error = other.try_open(identity()).unwrap_err();
    assert!(error.to_string().contains("it belongs to another file"), "{error}");
}

#[test]
fn complete_download_is_finished_from_its_journal() {
    for range in [None, Some(1)] {
        let place = place();
        let identity = identity().range(0, range);
        let mut part = place.try_open(identity.clone()).unwrap();
        if range.is_none() {
            part.set_final(1).unwrap();
        }
        put(&mut part, &[0, 1]);
        assert!(part.is_complete());
        // The target's place is taken: the download stays.
        fs::create_dir(&place.target).unwrap();
        assert!(part.finish().is_err());
        assert!(Journal::read(&place.target).unwrap().unwrap().is_complete());
        fs::remove_dir(&place.target).unwrap();
        let part = place.try_open(identity).unwrap();
        assert!(part.is_complete());
        assert_eq!(part.finish().unwrap().bytes, 20);
    }
}

#[test]
fn complete_download_of_an_empty_object_is_finished() {
    let place = place();
    let mut part = place.open();
    part.set_final(0).unwrap();
    part.write(0, "".into()).unwrap();
    part.close().unwrap().unwrap();
    assert!(place.open().is_complete());
    assert_eq!(place.open().finish().unwrap().bytes, 0);
}

#[test]
fn journal_without_its_file_is_no_download() {
    let place = place().interrupted();
    fs::remove_file(part_path(&place.target)).unwrap();
    assert!(Journal::read(&place.target).unwrap().is_none());
    let options = Options { existing: recoup_io::part::Existing::Fail, ..Options::default() };
    let part = PartFile::open(&place.target, identity(), options).unwrap();
    assert_eq!((part.dropped_bytes(), part.received().len()), (0, 0));
    assert!(matches!(part.finish(), Err(PartError::Incomplete { .. })));
}
