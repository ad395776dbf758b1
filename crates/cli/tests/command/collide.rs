//! Files whose names are those of other downloads, finished or not.
use crate::place::Place;
use std::fs;

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
    place.write("tree/.recoup-7/secret", b"half of it");
    place.write("tree/whole", b"all of it");
    let server = place.serve("serve tree --name /tree --listen tcp://127.0.0.1:0");
    server.fetch(&place, "/tree -r -o copy").succeeds();
    assert_eq!(place.listed("copy"), 1);
    let words = format!("fetch /tree/.recoup-7/secret --face {}", server.face());
    assert_eq!(place.run(&words).code, Some(3));
}
