//! Fetches from producers that lie.
use crate::hostile::{Object, path_of, producer};
use crate::place::{Place, noise};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn endless_nesting_ends_at_its_limit() {
    let (listing, file) = (Object::listing(*b"!/\0file\0"), Object::file(*b"content"));
    let face = producer(move |interest| {
        let is_file = path_of(interest).last().is_some_and(|last| last == b"file");
        let object = if is_file { &file } else { &listing };
        object.answer(interest).into_iter().collect()
    });
    let place = Place::new();
    let ended = place.run(&format!("fetch /nest -r -o copy --json --face {face}"));
    assert_eq!(ended.document()["files"]["fetched"], 65);
    ended.fails(1, &["lies 64 folders deep", "all the rest is there"]);
}

#[test]
fn links_in_a_target_are_not_followed() {
    let place = Place::new();
    for folder in ["tree/sub/deep", "elsewhere", "copy/sub2"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    for file in ["tree/a", "tree/sub/deep/b", "tree/sub/c", "tree/linked", "tree/z"] {
        place.write(file, file.as_bytes());
    }
    place.write("elsewhere/kept", b"kept");
    symlink("../elsewhere", place.path("copy/sub")).unwrap();
    symlink("../elsewhere/kept", place.path("copy/linked")).unwrap();
    symlink("copy", place.path("chosen")).unwrap();
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    for resume in ["", "--resume"] {
        let words = format!("fetch /tree -r -o chosen {resume} --face {}", server.face());
        let ended = place.run(&words);
        for name in ["/tree/sub", "/tree/linked"] {
            let line = format!("skipped {name}: ");
            assert!(ended.stderr.contains(&line), "no {line:?} in {}", ended.stderr);
        }
        ended.fails(4, &["2 entries of /tree are skipped", "is a link", "all the rest is there"]);
        assert_eq!(
            (place.read("copy/a"), place.read("copy/z")),
            (b"tree/a".into(), b"tree/z".into())
        );
        assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 1);
        assert_eq!(place.read("elsewhere/kept"), b"kept");
        assert!(place.path("copy/linked").is_symlink() && place.path("chosen").is_symlink());
    }
}

#[test]
fn content_beyond_the_limit_is_rejected() {
    let place = Place::new();
    fs::create_dir_all(place.path("tree/sub")).unwrap();
    for file in ["a", "b", "sub/c"] {
        place.write(&format!("tree/{file}"), &noise(100_000));
    }
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    let fetch = |words: &str| place.run(&format!("fetch {words} --face {}", server.face()));
    fetch("/tree/a -o file --max-size 100kB").succeeds();
    fetch("/tree/a -o less --max-size 99999").fails(8, &["--max-size", "99999 bytes"]);
    assert!(!place.exists("less"));
    fetch("/tree/a --max-size 99999").fails(8, &["--max-size"]);
    fetch("/tree -r -o copy --max-size 301kB").succeeds();
    fetch("/tree -r -o part -j 1 --max-size 250kB").fails(8, &["--max-size", "250000 bytes"]);
    // Bytes on the disk count.
    fetch("/tree -r -o copy --resume --max-size 250kB").fails(8, &["--max-size"]);
    fetch("/tree -r -o copy --resume --max-size 301kB").succeeds();
    fetch("/tree/a -o x --max-size much").fails_as_usage(&["--max-size", "64 KiB"]);
}

#[test]
fn listed_names_reach_terminals_without_bidi_controls() {
    let place = Place::new();
    let name = "photo\u{202e}gpj.exe\u{2066}\u{200f}\u{2028}";
    fs::create_dir(place.path("tree")).unwrap();
    place.write(&format!("tree/{name}"), b"content");
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    let fetched =
        place.run(&format!("fetch /tree -r -v -o copy --face {}", server.face())).succeeds();
    assert_eq!(place.read(&format!("copy/{name}")), b"content");
    assert!(fetched.stderr.contains("-> copy/photo\u{fffd}gpj.exe"), "{}", fetched.stderr);
    fs::remove_file(place.path(&format!("copy/{name}"))).unwrap();
    fs::create_dir(place.path(&format!("copy/{name}"))).unwrap();
    let rejected = place.run(&format!("fetch /tree -r --json -o copy --face {}", server.face()));
    let texts =
        [fetched.stderr.as_str(), &rejected.stderr, str::from_utf8(&rejected.stdout).unwrap()];
    for text in texts {
        let hidden =
            |c: char| matches!(c, '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!text.contains(hidden), "{text:?}");
    }
    rejected.fails(4, &["photo\u{fffd}gpj.exe"]);
}
