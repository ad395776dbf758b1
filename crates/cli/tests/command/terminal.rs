//! Fetching on a terminal without `-o`: into a file named by the name, which is never there already.
use crate::place::{Ends, Place, kill, noise, until};
use std::fs;

#[test]
fn a_terminal_gets_a_file_of_that_name() {
    let place = Place::new();
    place.write("data", &noise(20_000));
    let server = place.serve("serve data --name /home/movie.bin --listen tcp://127.0.0.1:0");
    let fetch = |more: &str| {
        place.run_on_terminal(&format!("fetch /home/movie.bin{more} --face {}", server.face()))
    };
    let ended = fetch("").succeeds();
    assert!(ended.stderr.contains("writing to movie.bin\n"), "{}", ended.stderr);
    assert_eq!(ended.stdout, b"");
    // An existing file is not replaced.
    place.write("movie.bin", b"mine");
    fetch(" -q").succeeds();
    fetch("").succeeds();
    assert_eq!(place.read("movie.bin"), b"mine");
    for number in [1, 2] {
        assert!(place.read(&format!("movie.bin.{number}")) == place.read("data"), "{number}");
    }
    let shown = fetch(" -o -").succeeds().stdout;
    assert!(shown.len() >= 20_000, "{} bytes on the terminal", shown.len());
    assert_eq!(fetch("/none").code, Some(3));
    assert!(!place.exists("none"), "an empty file is left of a failure");
    place.run_on_terminal("fetch / --face tcp://127.0.0.1:9").fails(2, &["-o FILE"]);
}

#[test]
fn an_interrupted_download_goes_on_without_a_name() {
    let place = Place::new();
    let content = noise(400_000);
    place.write("data", &content);
    place.write("movie", b"mine");
    let server = place.serve("serve data --name /movie --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --back-queue 1000packets"),
        &["--back-rate", "2 Mbit/s"],
    );
    let words = format!("fetch /movie -o movie.1 -q --face {}", link.face());
    let fetch = Ends(place.command(&words).spawn().unwrap());
    until("a part", || place.part_bytes("movie.1") > 0);
    kill(&fetch.0, "TERM");
    let mut fetch = fetch;
    until("the end", || fetch.0.try_wait().unwrap().is_some());
    assert!(!place.exists("movie.1"));
    let words = format!("fetch /movie --resume -q --face {}", server.face());
    place.run_on_terminal(&words).succeeds();
    assert!(place.read("movie.1") == content);
    assert_eq!(place.read("movie"), b"mine");
    assert!(!place.exists("movie.2"));
}

#[test]
fn a_folder_gets_the_name_of_its_folder() {
    let place = Place::new();
    fs::create_dir(place.path("inner")).unwrap();
    place.write("inner/a", b"first");
    let server = place.serve("serve inner --name /my/photos --listen tcp://127.0.0.1:0");
    let fetch = || place.run_on_terminal(&format!("fetch -r /my/photos --face {}", server.face()));
    fetch().succeeds();
    place.write("photos/a", b"mine");
    fetch().succeeds();
    assert_eq!(
        (place.read("photos/a"), place.read("photos.1/a")),
        (b"mine".into(), b"first".into())
    );
    let words = format!("fetch -r /my/photos --face {}", server.face());
    place.run(&words).fails(2, &["-r needs a place", "-o"]);
}
