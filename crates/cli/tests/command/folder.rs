//! Whole folders.
use crate::place::{Ended, Place, Server, kill, noise, until};
use serde_json::json;
use std::fs;
use std::ops::RangeBounds;
use std::process::Command;

fn tree(place: &Place) {
    fs::create_dir_all(place.path("tree/sub/deep")).unwrap();
    place.write("tree/large", &noise(200_000));
    place.write("tree/sub/with space", b"x");
    place.write("tree/sub/deep/empty", b"");
    std::os::unix::fs::symlink("/etc/passwd", place.path("tree/leak")).unwrap();
}

#[test]
fn folder_arrives_complete_and_alone() {
    let place = Place::new();
    tree(&place);
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    let words = format!("fetch /tree -r -o copy --json --face {}", server.face());
    let document = place.run(&words).succeeds().document();
    assert_eq!(document["complete"], true);
    for file in ["large", "sub/with space", "sub/deep/empty"] {
        assert!(place.read(&format!("tree/{file}")) == place.read(&format!("copy/{file}")));
    }
    assert!(!place.exists("copy/leak"));
    let one = place.run(&format!("fetch /tree/sub/with%20space --face {}", server.face()));
    assert_eq!(one.succeeds().stdout, b"x");
}

/// Three files behind a link of 8 Mbit/s, so that there is time to look.
fn three_slow_files(place: &Place) -> [Server; 2] {
    fs::create_dir(place.path("three")).unwrap();
    for file in THREE {
        place.write(&format!("three/{file}"), &noise(SLOW_BYTES));
    }
    let server = place.serve("serve three --name /three --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link =
        place.serve(&format!("link --between udp://127.0.0.1:0 {far} --rate 8Mbit/s --queue 1MiB"));
    [link, server]
}

const THREE: [&str; 3] = ["a", "b", "c"];
const SLOW_BYTES: usize = 700_000;

/// Number of the three partial files whose length is in `bytes`.
fn parts(place: &Place, bytes: impl RangeBounds<u64>) -> usize {
    let parts = THREE.map(|file| fs::metadata(place.part(&format!("copy/{file}"))));
    parts.iter().flatten().filter(|part| bytes.contains(&part.len())).count()
}

#[test]
fn several_files_are_fetched_at_a_time() {
    let place = Place::new();
    let [link, _server] = three_slow_files(&place);
    let words = format!("fetch /three -r -o copy --json --face {}", link.face());
    let child = place.command(&words).spawn().unwrap();
    until("three parts", || parts(&place, 100_000..) == 3);
    kill(&child, "INT");
    let ended = Ended::of(&words, child.wait_with_output().unwrap());
    ended.fails(130, &["interrupted", "of 3 files is kept", "--resume"]);
    let document = place.run(&format!("{words} --resume")).succeeds().document();
    assert_eq!(document["files"], json!({ "fetched": 3, "before": 0, "listed": 3, "skipped": 0 }));
    let segments = document["segments"].as_u64().unwrap();
    assert!(segments < 3 * 88 + 1, "{segments} were fetched again");
    for file in THREE {
        assert!(place.read(&format!("three/{file}")) == place.read(&format!("copy/{file}")));
    }
    let document = place.run(&format!("{words} --resume")).succeeds().document();
    assert_eq!(document["files"], json!({ "fetched": 0, "before": 3, "listed": 3, "skipped": 0 }));
}

#[test]
fn resumed_folder_ends_files_that_replace_older_ones() {
    let place = Place::new();
    let [link, _server] = three_slow_files(&place);
    fs::create_dir(place.path("copy")).unwrap();
    for file in THREE {
        place.write(&format!("copy/{file}"), b"older");
    }
    let words = format!("fetch /three -r -o copy --json --face {}", link.face());
    let mut child = place.command(&words).spawn().unwrap();
    until("three parts", || parts(&place, 100_000..) == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    place.run(&format!("{words} --resume")).succeeds();
    for file in THREE {
        assert!(place.read(&format!("three/{file}")) == place.read(&format!("copy/{file}")));
    }
    assert!(!place.has_staging("copy/a"));
}

/// A fetched folder, and a function that fetches it again with `--resume`.
fn fetched(place: &Place, face: &str, verify: &str) -> impl Fn() -> serde_json::Value {
    let words = format!("fetch /three -r -o copy --json {verify} --face {face}");
    place.run(&words).succeeds();
    move || place.run(&format!("{words} --resume")).succeeds().document()["files"].clone()
}

#[test]
fn resume_keeps_only_unchanged_files_of_the_version() {
    for key in ["", "/k"] {
        let place = Place::new();
        place.run("key new /k").succeeds();
        place.run("key export /k --public -o k.cert").succeeds();
        fs::create_dir(place.path("three")).unwrap();
        for file in THREE {
            place.write(&format!("three/{file}"), &noise(20_000));
        }
        let (sign, verify) = match key {
            "" => (String::new(), ""),
            key => (format!("--sign {key}"), "--verify key=k.cert"),
        };
        let server =
            place.serve(&format!("serve three --name /three {sign} --listen tcp://127.0.0.1:0"));
        let again = fetched(&place, server.face(), verify);
        let counts = |fetched: u64| json!({ "fetched": fetched, "before": 3 - fetched, "listed": 3, "skipped": 0 });
        assert_eq!(again(), counts(0));
        // Damaged, truncated and foreign files, the time of the last one put back.
        let mut damaged = place.read("copy/a");
        damaged[9_000] ^= 4;
        place.write("copy/a", &damaged);
        place.write("copy/b", &noise(20_000)[..19_999]);
        let time = fs::metadata(place.path("copy/c")).unwrap().modified().unwrap();
        place.write("copy/c", &[7; 20_000]);
        fs::File::options()
            .write(true)
            .open(place.path("copy/c"))
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert_eq!(again(), counts(3));
        for file in THREE {
            assert!(place.read(&format!("copy/{file}")) == noise(20_000), "{file}");
        }
        // Another version of one file, of equal length and time.
        let path = place.path("three/b");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        place.write("three/b", &[1; 20_000]);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        // Metadata of the version before are fresh for 10 ms.
        until("the version is found", || {
            again();
            place.read("copy/b") == [1; 20_000]
        });
        assert_eq!(again(), counts(0));
    }
}

#[test]
fn resume_words_state_what_was_checked() {
    let place = Place::new();
    place.run("key new /k").succeeds();
    place.run("key export /k --public -o k.cert").succeeds();
    place.run("key new /other").succeeds();
    place.run("key export /other --public -o other.cert").succeeds();
    fs::create_dir(place.path("tree")).unwrap();
    place.write("tree/a", &noise(20_000));
    let server = place.serve("serve tree --name /tree --sign /k --listen tcp://127.0.0.1:0");
    let run = |words: &str| {
        let words = format!("fetch {words} --resume --face {}", server.face());
        place.run(&words).succeeds().stderr
    };
    let kept = "1 kept, unchanged since they were verified";
    assert!(!run("-r /tree -o copy --verify key=k.cert").contains("kept"));
    assert!(run("-r /tree -o copy --verify key=k.cert").contains(kept));
    // What was verified otherwise is fetched again, also if another key lies in the file of that name.
    assert!(!run("-r /tree -o copy").contains("kept"));
    let words = run("-r /tree -o copy");
    assert!(words.contains("1 kept, unchanged, 1 of them not verified"), "{words}");
    assert!(!run("-r /tree -o copy --verify none").contains("kept"));
    assert!(run("-r /tree -o copy --verify none").contains("1 kept, unchanged, not verified"));
    assert!(!run("-r /tree -o copy --verify key=k.cert").contains("kept"));
    fs::copy(place.path("other.cert"), place.path("k.cert")).unwrap();
    let words = format!(
        "fetch -r /tree -o copy --verify key=k.cert --resume --retries 3 --face {}",
        server.face()
    );
    place.run(&words).fails(5, &["cannot be trusted"]);
}

#[test]
fn fetched_folder_has_nothing_of_its_own() {
    let place = Place::new();
    fs::create_dir_all(place.path("tree/sub")).unwrap();
    for file in ["a", "sub/b"] {
        place.write(&format!("tree/{file}"), &noise(20_000));
    }
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    let words = format!("fetch -r /tree -o copy --resume --face {}", server.face());
    let is_equal = || {
        let mut diff = Command::new("diff");
        diff.arg("-r").args(["tree", "copy"].map(|it| place.path(it)));
        diff.output().unwrap().stdout.is_empty()
    };
    place.run(&words).succeeds();
    assert!(is_equal());
    let again = place.run(&words).succeeds();
    assert!(
        again.stderr.contains("2 kept, unchanged since they were verified"),
        "{}",
        again.stderr
    );
    assert!(is_equal());
    // A record of an earlier version beside the file.
    let former = place.part("copy/a").with_extension("done");
    fs::create_dir(former.parent().unwrap()).unwrap();
    fs::write(former, b"").unwrap();
    place.write("tree/a", &noise(30_000));
    place.run(&words).succeeds();
    assert!(is_equal());
}

#[test]
fn complete_single_file_is_not_fetched_again() {
    let place = Place::new();
    place.write("f", &noise(50_000));
    let serve = "serve f --name /f --listen tcp://127.0.0.1:0";
    let words = |face: &str| format!("fetch /f -o copy --face {face}");
    let server = place.serve(serve);
    place.run(&words(server.face())).succeeds();
    let again = place.run(&format!("{} --resume", words(server.face()))).succeeds();
    assert_eq!(
        again.stderr.trim(),
        "all 50.0 kB were there already; unchanged since they were verified"
    );
    let document =
        place.run(&format!("{} --resume --json", words(server.face()))).succeeds().document();
    assert_eq!((&document["kept"], &document["segments"]), (&json!(true), &json!(0)));
    drop(server);
    let server = place.serve(serve);
    let again = place.run(&format!("{} --resume", words(server.face()))).succeeds();
    assert!(again.stderr.contains("were there already"), "{}", again.stderr);
    drop(server);
    place.write("f", &[5; 50_000]);
    let server = place.serve(serve);
    let document =
        place.run(&format!("{} --resume --json", words(server.face()))).succeeds().document();
    assert_eq!((&document["kept"], &document["segments"]), (&json!(null), &json!(7)));
    assert!(place.read("copy") == [5; 50_000]);
}

#[test]
fn files_are_fetched_in_sequence_on_request() {
    let place = Place::new();
    let [link, _server] = three_slow_files(&place);
    for option in ["-j 1", "-s tables"] {
        let words = format!("fetch /three -r {option} -o copy -q --face {}", link.face());
        let mut child = place.command(&words).spawn().unwrap();
        let mut most = 0;
        until("the end", || {
            most = parts(&place, ..SLOW_BYTES as u64).max(most);
            child.try_wait().unwrap().is_some()
        });
        assert_eq!(most, 1, "{option}");
        fs::remove_dir_all(place.path("copy")).unwrap();
    }
    place.run("fetch /three -r -j 2 -s tables -o copy").fails_as_usage(&["--jobs", "--statistics"]);
    place.run("fetch /three -j 2 -o copy").fails_as_usage(&["--recursive"]);
}

#[test]
fn unserved_entry_does_not_stop_the_rest() {
    let place = Place::new();
    tree(&place);
    place.write("tree/middle", b"listed");
    // A fixed version keeps its first listing.
    let served = place.serve("serve tree --name /tree --version 7 --listen tcp://127.0.0.1:0");
    fs::remove_file(place.path("tree/middle")).unwrap();
    let face = served.face();
    let ended = place.run(&format!("fetch /tree -r -o copy --face {face}"));
    ended.fails(3, &["/tree/middle does not exist", "all the rest is there"]);
    assert!(!place.exists("copy/middle"));
    for file in ["large", "sub/with space", "sub/deep/empty"] {
        assert!(place.read(&format!("tree/{file}")) == place.read(&format!("copy/{file}")));
    }
}

#[test]
fn many_folders_share_the_memory_for_listings() {
    let place = Place::new();
    for folder in 0..40 {
        fs::create_dir_all(place.path(&format!("tree/{folder}/inner"))).unwrap();
        place.write(&format!("tree/{folder}/inner/file"), b"content");
    }
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    let words = format!("fetch /tree -r -j 200 -o copy --json --face {}", server.face());
    let document = place.run(&words).succeeds().document();
    assert_eq!(
        document["files"],
        json!({ "fetched": 40, "before": 0, "listed": 40, "skipped": 0 })
    );
}

#[test]
fn nothing_beside_a_folder_can_be_fetched() {
    let place = Place::new();
    tree(&place);
    place.write("secret", b"secret");
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    for name in ["/tree/leak", "/tree/....", "/tree/%2E%2E%2Fsecret", "/tree/sub/..%2F..%2Fsecret"]
    {
        let ended = place.run(&format!("fetch {name} -o x --face {}", server.face()));
        assert_eq!(ended.code, Some(3), "{name}: {}", ended.stderr);
    }
}

#[test]
fn a_file_is_not_taken_for_a_folder() {
    let place = Place::new();
    place.write("file", b"a\0b\0");
    let server = place.serve("serve file --name /file --listen tcp://127.0.0.1:0");
    let words = format!("fetch /file -r -o copy --face {}", server.face());
    place.run(&words).fails(1, &["/file is not a folder", "without -r"]);
    assert!(!place.exists("copy"));
}

#[test]
fn large_file_is_no_folder() {
    let place = Place::new();
    place.write("file", &vec![0; 17 << 20]);
    let server = place.serve("serve file --name /file --listen tcp://127.0.0.1:0");
    let words = format!("fetch /file -r -o copy --face {}", server.face());
    place.run(&words).fails(1, &["/file is not a folder", "without -r"]);
    assert!(!place.exists("copy"));
}

#[test]
fn a_folder_without_the_option_is_explained() {
    let place = Place::new();
    fs::create_dir(place.path("inner")).unwrap();
    place.write("inner/a", b"a");
    let server = place.serve("serve inner --name /photos --listen tcp://127.0.0.1:0");
    let face = server.face();
    for output in ["-o copy", ""] {
        let ended = place.run(&format!("fetch /photos -q {output} --face {face}"));
        assert_eq!(ended.stdout, b"");
        ended.fails(1, &["/photos is a folder; fetch it", "recoup fetch -r /photos -o FOLDER"]);
    }
    assert!(!place.exists("copy") && !place.exists("copy.part"));
    let listing = place.run(&format!("fetch /photos/32=ls -q --face {face}")).succeeds();
    assert_eq!(listing.stdout, b"a\0");
}
