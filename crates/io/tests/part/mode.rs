//! Downloads whose producer states the mode of a read-only file.
use super::{Place, identity, place, put};
use recoup_io::part::{
    Attributes, Existing, Options, PartError, PartFile, Proof, Record, Records, part_path,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

const READ_ONLY: u32 = 0o444;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// Ends a download of three segments with the mode of a read-only file.
fn finish(place: &Place, options: &Options) -> Result<(), PartError> {
    let mut part = PartFile::open(&place.target, identity(), options.clone())?;
    part.set_attributes(Attributes::new(Some(READ_ONLY.into()), None));
    part.set_final(2)?;
    put(&mut part, &[0, 1, 2]);
    if !options.overwrite {
        // A file takes the place of the target at the last moment.
        fs::write(&place.target, "another file").unwrap();
    }
    part.finish().map(|_| ())
}

#[test]
fn read_only_mode_comes_after_the_name() {
    let place = place();
    let records = Records::open(&place.target.with_file_name("records"));
    let options = Options { records: Some(records.clone()), ..Options::default() };
    let error = finish(&place, &options).unwrap_err();
    assert!(matches!(error, PartError::TargetExists { .. }), "{error}");
    let part = part_path(&place.target);
    assert_eq!(mode(&part) & 0o200, 0o200, "its owner can continue it");
    // Once more, as any user: the file is opened for writing, and gets its name.
    finish(&place, &Options { overwrite: true, ..options }).unwrap();
    assert_eq!(mode(&place.target), READ_ONLY);
    let proof = Record::of_unchanged(&records, &place.target, None, Proof::State);
    assert!(proof.is_some(), "the record is younger than the mode");
}

#[test]
fn read_only_part_file_is_opened_or_replaced() {
    let place = place();
    let fresh = {
        let _part = place.open();
        mode(&part_path(&place.target))
    };
    let place = place.interrupted();
    let path = part_path(&place.target);
    for existing in [Existing::Resume, Existing::Restart] {
        fs::set_permissions(&path, Permissions::from_mode(READ_ONLY)).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        let part = place.existing(existing).unwrap();
        let after = fs::metadata(&path).unwrap().ino();
        match existing {
            Existing::Restart => {
                assert!(part.received().is_empty());
                assert_eq!(mode(&path), fresh, "another file, with the mode of a new one");
            }
            _ => {
                assert_eq!((part.received().len(), after), (2, before));
                assert_eq!(mode(&path), READ_ONLY | 0o200);
            }
        }
    }
}
