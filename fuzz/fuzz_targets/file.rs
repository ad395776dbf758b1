//! Files of this program, of other tools or of an attacker: journals of downloads and the files beside them, listings of folders, client.conf, keys.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_fuzz::Script;
use recoup_io::config::{ClientConfig, Surroundings};
use recoup_io::key::PrivateKey;
use recoup_io::library::Listing;
use recoup_io::part::{Existing, Identity, Journal, Options, PartFile, journal_path, part_path};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script::new(bytes);
    match script.below(5) {
        0 => continue_download(script.number(), script.rest()),
        1 => continue_download(script.number(), &recoup_fuzz::journal(script.rest())),
        2 => {
            let listing = Listing::new(script.rest().to_vec());
            for entry in listing.into_iter().flatten().flatten() {
                let name = entry.name;
                let leads_out = matches!(&name[..], b"" | b"." | b"..") || name.contains(&b'/');
                assert!(!leads_out && !name.contains(&0), "{name:?}");
            }
        }
        3 => read_configuration(script.rest()),
        _ => read_key(script.rest()),
    }
});

/// A journal never claims bytes that the file lacks.
fn continue_download(length: u64, journal: &[u8]) {
    let target = FOLDER.path().join("file");
    let (part, beside) = (part_path(&target), journal_path(&target));
    let _ = fs::create_dir(part.parent().expect("a folder"));
    fs::write(&part, vec![7; length as usize]).expect("a file");
    fs::write(&beside, journal).expect("a file");
    let Ok(Some(read)) = Journal::read(&target) else {
        return;
    };
    let _ = (read.received_bytes(), read.last());
    resume(&target, read.identity.clone(), length);
    resume(&target, Identity::new("/a", "digest"), length);
    for path in [target, part, beside] {
        let _ = fs::remove_file(path);
    }
}

fn resume(target: &Path, identity: Identity, length: u64) {
    let options = Options { existing: Existing::Resume, ..Options::default() };
    if let Ok(file) = PartFile::open(target, identity, options) {
        let claimed = file.journal().received_bytes();
        assert!(claimed <= length, "{claimed} bytes of {length}");
    }
}

fn read_configuration(bytes: &[u8]) {
    let path = FOLDER.path().join("home/.ndn/client.conf");
    let _ = fs::create_dir_all(path.parent().unwrap_or(&path));
    fs::write(&path, bytes).expect("a file");
    let variables = BTreeMap::from([("HOME".to_owned(), "/home".to_owned())]);
    let surroundings = Surroundings { variables, root: PathBuf::from(FOLDER.path()) };
    let _ = ClientConfig::read(&surroundings);
}

fn read_key(bytes: &[u8]) {
    let _ = PrivateKey::from_der(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(key) = PrivateKey::from_pem(text, Some("password")) {
            let _ = (key.public_key(), key.to_pem());
        }
    }
}
