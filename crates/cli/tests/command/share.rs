//! Sharing on a local network: one command on each side. The network is the loopback interface of a namespace.
use crate::place::{Ended, Place, in_own_network, kill, noise, until};

/// The code of a share.
fn code(share: &crate::place::Server) -> String {
    share.listening["code"].as_str().expect("a code").to_owned()
}

#[test]
fn share_is_found_by_its_code() {
    in_own_network("share::share_is_found_by_its_code", || {
        let (here, there) = (Place::new(), Place::new());
        let content = noise(200_000);
        here.write("sea = 1.jpg", &content);
        let share = here.serve_with("share", &["sea = 1.jpg"]);
        there.run(&format!("get {} -q", code(&share))).succeeds();
        assert!(there.read("sea = 1.jpg") == content);
        // Nothing is overwritten.
        there.run(&format!("get {}", code(&share))).fails(4, &["sea = 1.jpg exists", "-o"]);

        std::fs::create_dir_all(here.path("photos/2024")).unwrap();
        here.write("photos/2024/sea.jpg", &content);
        let share = here.serve("share photos");
        there.run(&format!("get {} -q -o copy", code(&share).to_uppercase())).succeeds();
        assert!(there.read("copy/2024/sea.jpg") == content);
    });
}

#[test]
fn interrupted_download_is_resumed() {
    in_own_network("share::interrupted_download_is_resumed", || {
        let (here, there) = (Place::new(), Place::new());
        let content = noise(30_000_000);
        here.write("movie", &content);
        let share = here.serve("share movie");
        let get = format!("get {} -q", code(&share));
        let child = there.command(&get).spawn().unwrap();
        until("a part", || there.part_bytes("movie") > 0);
        kill(&child, "INT");
        let ended = Ended::of(&get, child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        there.run(&format!("{get} --resume")).succeeds();
        assert!(there.read("movie") == content);
    });
}

#[test]
fn other_code_finds_nothing() {
    in_own_network("share::other_code_finds_nothing", || {
        let place = Place::new();
        place.write("data", b"x");
        let share = place.serve("share data");
        let ended = place.run("get 0000-0000-0000 --wait 2s");
        ended.fails(3, &["no machine of this network shares 0000-0000-0000"]);
        assert!(code(&share) != "0000-0000-0000");
        place.run("get 0000-0000").fails_as_usage(&["twelve characters"]);
    });
}
