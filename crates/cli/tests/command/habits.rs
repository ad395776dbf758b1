//! A fetch behaves as users of curl, wget and rsync expect.
use crate::place::{Place, kill, noise, until};
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

#[test]
fn dead_address_is_named_within_seconds() {
    let place = Place::new();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    let words = format!("fetch /a -o x --face udp://{at}");
    let ended = place.run(&format!("{words} --connect-timeout 300ms"));
    let address = at.to_string();
    ended.fails(7, &["no answer for /a within 0.3 s", &address, "--wait=TIME"]);
    place.run(&format!("{words} --no-progress-timeout 300ms")).fails(7, &["no answer for /a"]);
    place.run(&format!("{words} --wait=300ms")).fails(7, &["no answer for /a within 0.3 s"]);
    place.run(&format!("{words} --wait --connect-timeout 1s")).fails(2, &["--wait"]);
    place.run(&format!("{words} --retries 0")).fails(7, &["no answer for /a", &address]);
    // A connection that the peer never completes.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = format!("ws://{}", mute.local_addr().unwrap());
    let words = format!("fetch /a -o x --face {mute} --connect-timeout 300ms");
    place.run(&words).fails(6, &["no answer within", &mute]);
}

#[test]
fn limited_rate_is_kept() {
    let place = Place::new();
    place.write("data", &noise(300_000));
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let words = format!("fetch /data -o copy --json --limit-rate 150k --face {}", server.face());
    let document = place.run(&words).succeeds().document();
    assert!(place.read("copy") == noise(300_000));
    // The first tenth of a second comes at once.
    let seconds = document["total_s"].as_f64().unwrap();
    assert!(seconds > 1.7, "{seconds}");
    assert_eq!(document["losses"]["congestion"], 0, "{document}");
}

#[test]
fn restart_discards_a_partial_file() {
    let place = Place::new();
    place.write("data", &noise(400_000));
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let words = format!("fetch /data -o copy --face {}", server.face());
    let slow = format!("{words} --limit-rate 100k");
    let child = place.command(&slow).spawn().unwrap();
    until("a partial file", || place.part_bytes("copy") > 30_000);
    kill(&child, "INT");
    child.wait_with_output().unwrap();
    place.run(&words).fails(4, &["unfinished download", "--resume", "--restart"]);
    let document = place.run(&format!("{words} --restart --json")).succeeds().document();
    assert_eq!(document["segments_before"], 0);
    assert_eq!(document["bytes"], 400_000);
    assert!(place.read("copy") == noise(400_000) && !place.has_staging("copy"));
    // The file is finished, and fetched again.
    let document = place.run(&format!("{words} --restart --json")).succeeds().document();
    assert_eq!(document["bytes"], 400_000);
    place.run(&format!("{words} --restart --resume")).fails(2, &["--restart", "--resume"]);
    place.run("fetch /data -o - --restart").fails(2, &["--restart", "-o"]);
}

fn mode(place: &Place, path: &str) -> u32 {
    fs::metadata(place.path(path)).unwrap().mode() & 0o7777
}

#[test]
fn modes_and_times_arrive() {
    let place = Place::new();
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_234_567_890_123_456_789);
    fs::create_dir_all(place.path("tree/private")).unwrap();
    for (file, mode) in [
        ("secret", 0o600),
        ("tool", 0o755),
        ("open", 0o666),
        ("root", 0o6755),
        ("private/x", 0o644),
    ] {
        place.write(&format!("tree/{file}"), b"content");
        let file =
            fs::File::options().write(true).open(place.path(&format!("tree/{file}"))).unwrap();
        file.set_permissions(fs::Permissions::from_mode(mode)).unwrap();
        file.set_modified(time).unwrap();
    }
    fs::set_permissions(place.path("tree/private"), fs::Permissions::from_mode(0o700)).unwrap();
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    place.run(&format!("fetch /tree -r -o copy --face {}", server.face())).succeeds();
    place.write("made", b"");
    let umask = 0o666 & !mode(&place, "made");
    for (file, wanted) in [("secret", 0o600), ("open", 0o666), ("private/x", 0o644)] {
        assert_eq!(mode(&place, &format!("copy/{file}")), wanted & !umask, "{file}");
    }
    for file in ["tool", "root"] {
        let kept = mode(&place, &format!("copy/{file}"));
        assert_eq!(kept & 0o7700, 0o700, "{file}: {kept:o}");
        assert_eq!(kept & 0o022, 0, "{file}: {kept:o}");
    }
    assert_eq!(mode(&place, "copy/private"), 0o700);
    let at = fs::metadata(place.path("copy/tool")).unwrap().modified().unwrap();
    assert_eq!(at, time);
    // One file alone, and a download that is continued.
    place.run(&format!("fetch /tree/secret -o one --face {}", server.face())).succeeds();
    assert_eq!(mode(&place, "one"), 0o600);
    assert_eq!(fs::metadata(place.path("one")).unwrap().modified().unwrap(), time);
}

#[test]
fn mode_survives_an_interruption() {
    let place = Place::new();
    place.write("data", &noise(400_000));
    fs::set_permissions(place.path("data"), fs::Permissions::from_mode(0o700)).unwrap();
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let words = format!("fetch /data -o copy --face {}", server.face());
    let child = place.command(&format!("{words} --limit-rate 100k")).spawn().unwrap();
    until("a partial file", || place.part_bytes("copy") > 30_000);
    kill(&child, "INT");
    child.wait_with_output().unwrap();
    place.run(&format!("{words} --resume")).succeeds();
    assert_eq!(mode(&place, "copy"), 0o700);
}

#[test]
fn mirror_keeps_an_unfinished_file() {
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    place.write("tree/a", &noise(400_000));
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    let words = format!("fetch /tree -r -o copy --face {}", server.face());
    let child = place.command(&format!("{words} --limit-rate 100k")).spawn().unwrap();
    until("a partial file", || place.part_bytes("copy/a") > 30_000);
    kill(&child, "INT");
    child.wait_with_output().unwrap();
    place.run(&words).fails(4, &["unfinished download", "--resume", "--restart"]);
    assert!(place.part_bytes("copy/a") > 30_000);
    place.run(&format!("{words} --resume")).succeeds();
    assert!(place.read("copy/a") == noise(400_000));
}

#[test]
fn folder_is_mirrored() {
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    for file in ["a", "b", "c"] {
        place.write(&format!("tree/{file}"), &noise(20_000));
    }
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    let words = format!("fetch /tree -r -o copy --json --face {}", server.face());
    let files = |more: &str| {
        let document = place.run(&format!("{words}{more}")).succeeds().document();
        let files = &document["files"];
        (files["fetched"].as_u64().unwrap(), files["before"].as_u64().unwrap())
    };
    assert_eq!(files(""), (3, 0));
    assert_eq!(files(""), (0, 3));
    place.write("tree/b", &noise(30_000));
    place.write("copy/c", b"changed here");
    assert_eq!(files(""), (2, 1));
    assert!(place.read("copy/b") == noise(30_000) && place.read("copy/c") == noise(20_000));
    assert_eq!(files(" --restart"), (3, 0));
}

#[test]
fn unserved_entries_are_named_and_hidden_ones_stay() {
    let place = Place::new();
    fs::create_dir_all(place.path("tree/.git")).unwrap();
    place.write("tree/a", b"1");
    place.write("tree/.env", b"secret");
    place.write("tree/.git/config", b"secret");
    std::os::unix::fs::symlink("/etc/passwd", place.path("tree/leak")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("tree/socket")).unwrap();
    let kind = fs::symlink_metadata(place.path("tree/socket")).unwrap().file_type();
    assert!(kind.is_socket());
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    place.run(&format!("fetch /tree -r -o copy --face {}", server.face())).succeeds();
    assert!(place.exists("copy/a") && place.listed("copy") == 1);
    place.run(&format!("fetch /tree/.env --face {}", server.face())).fails(3, &["/tree/.env"]);
    let log = server.stop_with_log();
    for piece in [
        ".env (hidden)",
        ".git (hidden)",
        "leak (a link to no file in the folder)",
        "socket (neither",
    ] {
        assert!(log.contains(piece), "no {piece:?} in {log}");
    }
    let server = place.serve("serve tree --hidden --name /tree --listen udp://127.0.0.1:0");
    place.run(&format!("fetch /tree -r -o all --face {}", server.face())).succeeds();
    assert_eq!(place.read("all/.git/config"), b"secret");
}

#[test]
fn several_names_are_fetched_in_one_call() {
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    place.write("tree/a", b"one ");
    place.write("tree/b", b"two");
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    let face = server.face();
    let joined = place.run(&format!("fetch /tree/a /tree/b -q --face {face}")).succeeds();
    assert_eq!(joined.stdout, b"one two");
    place.run(&format!("fetch /tree/a /tree/b -o in --face {face}")).succeeds();
    assert_eq!((place.read("in/a"), place.read("in/b")), (b"one ".to_vec(), b"two".to_vec()));
    // A missing one leaves the others.
    let words = format!("fetch /tree/none /tree/b -o rest --face {face}");
    place.run(&words).fails(3, &["/tree/none does not exist"]);
    assert_eq!(place.read("rest/b"), b"two");
    place.run("fetch /a/x /b/x -o in").fails(2, &["/a/x and /b/x", "in/x"]);
    place.run("fetch /a /b -s figures").fails(2, &["-s is for one name"]);
    place.run("fetch /a /b -o tree/a").fails(2, &["several names need a folder"]);
}
