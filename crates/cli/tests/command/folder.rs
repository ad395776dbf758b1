//! Whole folders.
use crate::place::{Ended, Place, Server, kill, noise, until};
use serde_json::json;
use std::fs;
use std::ops::RangeBounds;
use std::process::Command;

fn tree(place: &Place) {
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
    let document = server.fetch(&place, "/tree -r -o copy --json").succeeds().document();
    assert_eq!(document["complete"], true);
    for file in ["large", "sub/with space", "sub/deep/empty"] {
        assert!(place.read(&format!("tree/{file}")) == place.read(&format!("copy/{file}")));
    }
    assert!(!place.exists("copy/leak"));
    let one = server.fetch(&place, "/tree/sub/with%20space");
    assert_eq!(one.succeeds().stdout, b"x");
}

/// Three files behind a link of 8 Mbit/s, so that there is time to look.
fn three_slow_files(place: &Place) -> [Server; 2] {
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

#[test]
fn resume_words_state_what_was_checked() {
    let place = Place::new();
    place.run("key new /k").succeeds();
    place.run("key export /k --public -o k.cert").succeeds();
    place.run("key new /other").succeeds();
    place.run("key export /other --public -o other.cert").succeeds();
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
    server
        .fetch(&place, "-r /tree -o copy --verify key=k.cert --resume --retries 3")
        .fails(5, &["cannot be trusted"]);
}

#[test]
fn fetched_folder_has_nothing_of_its_own() {
    let place = Place::new();
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
    let place = Place::with("f", &noise(50_000));
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
fn nothing_beside_a_folder_can_be_fetched() {
    let place = Place::new();
    tree(&place);
    place.write("secret", b"secret");
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    for name in ["/tree/leak", "/tree/....", "/tree/%2E%2E%2Fsecret", "/tree/sub/..%2F..%2Fsecret"]
    {
        let ended = server.fetch(&place, &format!("{name} -o x"));
        assert_eq!(ended.code, Some(3), "{name}: {}", ended.stderr);
    }
}

#[test]
fn a_file_is_not_taken_for_a_folder() {
    // A short file reads as a listing; a long one is no listing.
    for content in [b"a\0b\0".to_vec(), vec![0; 17 << 20]] {
        let place = Place::with("file", &content);
        let server = place.serve("serve file --name /file --listen tcp://127.0.0.1:0");
        let ended = server.fetch(&place, "/file -r -o copy");
        ended.fails(1, &["/file is not a folder", "without -r"]);
        assert!(!place.exists("copy"));
    }
}

#[test]
fn a_folder_without_the_option_is_explained() {
    let place = Place::new();
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
