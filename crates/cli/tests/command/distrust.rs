//! Fetches from producers that lie.
use crate::hostile::{
    Object, asked_object, asked_segment, forged, metadata_of, path_of, producer, signed,
};
use crate::place::{Ends, Place, noise, until};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A producer of a tree: objects by their paths.
fn tree(objects: impl IntoIterator<Item = (&'static str, Object)>) -> String {
    let objects: BTreeMap<_, _> = objects.into_iter().collect();
    producer(move |interest| {
        let path = path_of(interest).join(&b'/');
        let object = objects.get(String::from_utf8_lossy(&path).as_ref());
        object.and_then(|object| object.answer(interest)).into_iter().collect()
    })
}

/// A listing that begins with the folder `!`, followed by `bytes` bytes of names of three characters in ascending
/// order.
fn bomb(bytes: usize) -> Vec<u8> {
    let characters = || (0x22..=0xfe_u8).filter(|letter| *letter != b'/');
    let names = characters()
        .flat_map(|a| characters().flat_map(move |b| characters().map(move |c| [a, b, c, 0])));
    b"!/\0".iter().copied().chain(names.flatten().take(bytes / 4 * 4)).collect()
}

/// The most memory that a process has had, in bytes.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
#[cfg(target_os = "linux")]
fn listing_bomb_stays_within_its_memory() {
    const DEPTH: usize = 8;
    let listing = Object::listing(bomb(8 << 20));
    let is_there = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_there);
    // Each folder `!` has the same listing, so that folders lie in folders without end.
    let face = producer(move |interest| {
        let path = path_of(interest);
        let is_chain = path[1..].iter().all(|component| component == b"!");
        if !is_chain || path.len() > DEPTH {
            seen.store(true, Ordering::Relaxed);
            return Vec::new();
        }
        listing.answer(interest).into_iter().collect()
    });
    let place = Place::new();
    // A busy machine may lose datagrams of a producer with one thread, or keep it from answering.
    let patience = "--retries unlimited --no-progress-timeout 100s --congestion fixed(window=32)";
    let words = format!("fetch /bomb -r -j 1 -q -o copy {patience} --face {face}");
    let fetch = Ends(place.command(&words).spawn().unwrap());
    until("what follows the listings", || is_there.load(Ordering::Relaxed));
    let peak = peak_memory(fetch.0.id()).expect("it still runs");
    assert!(peak < 160 << 20, "{} MiB", peak >> 20);
}

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
fn contradictory_listing_is_rejected() {
    let file = || Object::file(*b"content");
    for (content, piece) in [
        (&b"b\0a\0"[..], "not in ascending order"),
        (b"a\0a\0", "names \"a\" twice"),
        (b"a\0a.txt\0a/\0", "names \"a\" twice"),
    ] {
        let face = tree([
            ("wrong", Object::listing(content)),
            ("tree", Object::listing(*b"good\0wrong/\0")),
            ("tree/good", file()),
            ("tree/wrong", Object::listing(content)),
            ("tree/wrong/a", file()),
        ]);
        let place = Place::new();
        let root = place.run(&format!("fetch /wrong -r -o copy --face {face}"));
        root.fails(5, &["the producer of /wrong contradicts itself", piece]);
        assert!(!place.exists("copy"));
        let inner = place.run(&format!("fetch /tree -r -o copy --face {face}"));
        inner
            .fails(5, &["the producer of /tree/wrong contradicts itself", "all the rest is there"]);
        assert_eq!(place.read("copy/good"), b"content");
        assert!(!place.exists("copy/wrong"));
    }
}

#[test]
fn bad_names_end_no_folder() {
    let long = "x".repeat(256);
    let names = ["", ".", "..", "../up", "/etc/", "good", "late", &long];
    let mut sorted = names;
    sorted.sort_unstable();
    let listing: String = sorted.iter().flat_map(|name| [name, "\0"]).collect();
    let face = tree([
        ("tree", Object::listing(listing)),
        ("tree/good", Object::file(*b"good")),
        ("tree/late", Object::file(*b"late")),
    ]);
    let place = Place::new();
    let ended = place.run(&format!("fetch /tree -r -o in/copy --json --face {face}"));
    let document = ended.document();
    assert_eq!(document["files"]["skipped"], 6);
    assert_eq!(document["files"]["fetched"], 2);
    assert_eq!(ended.stderr.matches("skipped /tree: a bad name").count(), 6, "{}", ended.stderr);
    ended.fails(
        5,
        &["6 entries of /tree are skipped", "no name of a file", "all the rest is there"],
    );
    assert_eq!(
        (place.read("in/copy/good"), place.read("in/copy/late")),
        (b"good".into(), b"late".into())
    );
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 1);
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
fn empty_segments_end_by_the_timeout() {
    let face = producer(|interest| {
        let data = asked_segment(interest).map(|_| signed(&interest.name, None, b""));
        data.into_iter().collect()
    });
    let place = Place::new();
    let words = format!("fetch /a/v=1 --no-progress-timeout 500ms --face {face}");
    place.run(&words).fails(7, &["nothing new arrived for 0.5 s"]);
}

/// A producer that answers each Interest for a segment of `/a/v=1` with a last segment and a content.
fn segments(answer: impl Fn(u64) -> (u64, Vec<u8>) + Send + 'static) -> String {
    producer(move |interest| {
        let data = asked_segment(interest).map(|segment| {
            let (last, content) = answer(segment);
            signed(&interest.name, Some(last), &content)
        });
        data.into_iter().collect()
    })
}

#[test]
fn producer_that_contradicts_itself_is_code_five() {
    let place = Place::new();
    let fetch = |face: String, to: &str| place.run(&format!("fetch /a/v=1 {to} --face {face}"));
    for to in ["", "-o file"] {
        let back = segments(|segment| (if segment == 7 { 3 } else { 9 }, vec![1; 100]));
        fetch(back, to).fails(5, &["last segment"]);
        assert!(!place.exists("file"));
    }
    let uneven = segments(|segment| (9, vec![1; if segment == 4 { 99 } else { 100 }]));
    fetch(uneven, "-o uneven").fails(5, &["does not cut the object evenly"]);
    let empty = segments(|segment| (9, vec![1; if segment == 0 { 0 } else { 100 }]));
    fetch(empty, "-o empty").fails(5, &["segment"]);
    let other = producer(|interest| {
        let object = asked_object(interest);
        let other = "/b".parse::<Name>().unwrap().append(Component::version(1));
        object.map(|object| metadata_of(&object, other, Some(0))).into_iter().collect()
    });
    let ended = place.run(&format!("fetch /a -o other --face {other}"));
    ended.fails(5, &["the metadata of /a name another object, /b/v=1"]);
}

#[test]
fn earlier_end_after_resume_is_code_five() {
    let place = Place::new();
    // The first run ends in the middle: the producer does not answer segment 5.
    let half = producer(|interest| {
        let data = asked_segment(interest).filter(|segment| *segment != 5);
        data.map(|_| signed(&interest.name, Some(9), &[1; 100])).into_iter().collect()
    });
    let words = "fetch /a/v=1 -o file --retries 0";
    place.run(&format!("{words} --face {half}")).fails(7, &["--resume"]);
    let shorter = segments(|_| (5, vec![1; 100]));
    place.run(&format!("{words} --resume --face {shorter}")).fails(5, &["last segment"]);
}

#[test]
fn replayed_version_is_rejected() {
    let face = producer(|interest| {
        let versioned = |object: &Name| object.append(Component::version(5));
        let metadata = asked_object(interest).map(|it| metadata_of(&it, versioned(&it), Some(0)));
        let segment = asked_segment(interest).map(|_| signed(&interest.name, Some(0), b"old"));
        metadata.or(segment).into_iter().collect()
    });
    let place = Place::new();
    let fetch = |words: &str| place.run(&format!("fetch /a {words} --face {face}"));
    assert_eq!(fetch("--newer-than 4").succeeds().stdout, b"old");
    let stale = fetch("--newer-than v=5 --retries 2 -o file");
    stale.fails(8, &["/a has no version newer than 5", "the newest one seen is 5"]);
    assert!(!place.exists("file"));
    place.run(&format!("fetch /a/v=5 --newer-than 5 --face {face}")).fails(8, &["newer than 5"]);
    fetch("--newer-than new").fails_as_usage(&["--newer-than", "v=7"]);
    fetch("--newer-than 4 -r -o copy").fails_as_usage(&["--newer-than", "--recursive"]);
}

#[test]
fn genuine_copy_after_a_forged_one_counts() {
    let content = noise(400_000);
    let object = Object::file(content.clone());
    let both = move |interest: &Interest| -> Vec<Data> {
        let data = object.answer(interest);
        data.into_iter().flat_map(|data| [forged(&data), data]).collect()
    };
    let face = producer(both);
    let place = Place::new();
    let ended = place.run(&format!("fetch /a -o copy --retries 0 --json --face {face}")).succeeds();
    assert!(place.read("copy") == content);
    assert!(ended.document()["verification"]["rejected"].as_u64() >= Some(50));
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
