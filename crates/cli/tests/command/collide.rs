//! Files whose names are those of other downloads, finished or not.
use crate::place::{Ended, Place, noise};
use recoup_io::part::{journal_path, part_path};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A folder whose names collide in each way in which names of unfinished downloads are, or were, made.
fn colliding(place: &Place) -> Vec<OsString> {
    let long = "x".repeat(255);
    let old_names = [232, 241].map(|begin| format!("{}-{:08x}.part", &long[..begin - 9], 0xa5_u32));
    let mut names: Vec<OsString> =
        ["movie", "movie.part", "movie.part.journal", "movie.part.journal~", "movie.part.part"]
            .map(OsString::from)
            .into();
    for path in [part_path(Path::new("movie")), journal_path(Path::new("movie"))] {
        names.push(path.file_name().unwrap().to_owned());
    }
    names.extend([long.clone(), long[..250].to_owned()].map(OsString::from));
    names.extend(old_names.map(OsString::from));
    names.push(OsStr::from_bytes(b"caf\xe9").to_owned());
    names.push(OsStr::from_bytes(b"caf\xe9.part").to_owned());
    fs::create_dir(place.path("tree")).unwrap();
    for (number, name) in names.iter().enumerate() {
        let bytes = if number == 0 { 6_000_000 } else { 50_000 + number };
        fs::write(place.path("tree").join(name), noise(bytes)).unwrap();
    }
    names
}

#[test]
fn colliding_names_of_a_folder_arrive_whole() {
    let place = Place::new();
    let names = colliding(&place);
    let socket = format!("unix://{}", place.path("socket").display());
    let _server = place.serve(&format!("serve tree --name /tree --listen {socket}"));
    for jobs in [1, 8] {
        place.run(&format!("fetch /tree -r -o copy --jobs {jobs} --face {socket}")).succeeds();
        for name in &names {
            let [copy, tree] = ["copy", "tree"].map(|of| fs::read(place.path(of).join(name)));
            assert!(copy.unwrap() == tree.unwrap(), "{}", name.display());
        }
        assert_eq!(place.listed("copy"), names.len());
        fs::remove_dir_all(place.path("copy")).unwrap();
    }
}

#[test]
fn processes_with_colliding_targets_do_not_mix() {
    let place = Place::new();
    let names = ["x", "x.part", "x.part.journal"];
    let socket = format!("unix://{}", place.path("socket").display());
    fs::create_dir(place.path("tree")).unwrap();
    for (number, name) in names.iter().enumerate() {
        place.write(&format!("tree/{name}"), &noise(3_000_000 - 1_000_000 * number));
    }
    let _server = place.serve(&format!("serve tree --name /tree --listen {socket}"));
    for _ in 0..5 {
        let words = names.map(|name| format!("fetch /tree/{name} -o {name} --face {socket}"));
        let children = words.map(|words| (place.command(&words).spawn().unwrap(), words));
        for (child, words) in children {
            Ended::of(&words, child.wait_with_output().unwrap()).succeeds();
        }
        for name in names {
            assert!(place.read(name) == place.read(&format!("tree/{name}")), "{name}");
            fs::remove_file(place.path(name)).unwrap();
        }
    }
    assert!(!place.has_staging("x"));
}

#[test]
fn listed_name_of_a_staging_folder_is_rejected() {
    let place = Place::new();
    let socket = format!("unix://{}", place.path("node").display());
    place.write("node.toml", format!("[[listen]]\nuri = \"{socket}\"\n").as_bytes());
    place.write("listing", b".RECOUP-7/\0.recoup-0\0good\0");
    place.write("good", b"good");
    let _node = place.serve("forward --config node.toml");
    // A listing that no folder has. Of two equal routes the older one is taken.
    let _good = place.serve(&format!("serve good --name /evil/32=ls/good --face {socket}"));
    let _listing = place.serve(&format!("serve listing --name /evil/32=ls --face {socket}"));
    let words = format!("fetch /evil/32=ls -r -o copy --face {socket}");
    let ended = place.run(&words);
    ended.fails(4, &["2 entries", "kept for unfinished downloads", "all the rest"]);
    assert_eq!(place.read("copy/good"), b"good");
    assert_eq!(place.listed("copy"), 1);
}

#[test]
fn no_download_goes_into_a_staging_folder() {
    let place = Place::new();
    fs::create_dir(place.path(".recoup-7")).unwrap();
    for words in ["-o .recoup-7/x", "-o .recoup-7 -r", "-o .Recoup-7", "-r -o .recoup-7/y/z"] {
        let ended = place.run(&format!("fetch /a --face udp://127.0.0.1:9 {words}"));
        ended.fails_as_usage(&["unfinished downloads", "choose another place"]);
    }
}

#[test]
fn unfinished_downloads_are_not_served() {
    let place = Place::new();
    fs::create_dir_all(place.path("tree/.recoup-7")).unwrap();
    place.write("tree/.recoup-7/secret", b"half of it");
    place.write("tree/whole", b"all of it");
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    place.run(&format!("fetch /tree -r -o copy --face {}", server.face())).succeeds();
    assert_eq!(place.listed("copy"), 1);
    let words = format!("fetch /tree/.recoup-7/secret --face {}", server.face());
    assert_eq!(place.run(&words).code, Some(3));
}
