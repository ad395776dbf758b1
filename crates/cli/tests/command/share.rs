//! Sharing on a local network: one command on each side. The network is the loopback interface of a namespace.
use crate::place::{Ended, Neighbour, Place, in_own_network, ip, kill, noise, until};
use mdns_sd::{ServiceDaemon, ServiceEvent, ServiceInfo};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};

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

/// Repeats the announcement of a share with an address without a host, by other names of hosts.
fn repeat_announcement(stranger: &ServiceDaemon) {
    let events = stranger.browse("_recoup-share._udp.local.").unwrap();
    let found = events.iter().find_map(|event| match event {
        ServiceEvent::ServiceResolved(found) if found.get_property("key").is_some() => Some(found),
        _ => None,
    });
    let found = found.unwrap();
    let properties: HashMap<String, String> = found.txt_properties.clone().into_property_map_str();
    for number in 1..4 {
        let (name, host) = (format!("stranger-{number}"), format!("stranger-{number}.local."));
        let address = format!("127.0.0.{}", 90 + number);
        let kind = "_recoup-share._udp.local.";
        let info = ServiceInfo::new(kind, &name, &host, address, 9, properties.clone()).unwrap();
        stranger.register(info).unwrap();
    }
    until("the repetitions", || {
        let resolved = |event| match event {
            ServiceEvent::ServiceResolved(it) => it.fullname.starts_with("stranger-"),
            _ => false,
        };
        events.try_iter().any(resolved)
    });
}

#[test]
fn repeated_announcement_denies_no_get() {
    in_own_network("share::repeated_announcement_denies_no_get", || {
        let (here, there) = (Place::new(), Place::new());
        here.write("data", b"content");
        let share = here.serve("share data");
        let stranger = ServiceDaemon::new().unwrap();
        repeat_announcement(&stranger);
        for number in 0..5 {
            there.run(&format!("get {} -q -o {number}", code(&share))).succeeds();
            assert!(there.read(&number.to_string()) == b"content");
        }
        let _ = stranger.shutdown();
    });
}

#[test]
fn shared_file_gets_a_plain_name() {
    in_own_network("share::shared_file_gets_a_plain_name", || {
        let (here, there) = (Place::new(), Place::new());
        for (name, plain) in
            [(".bashrc", "_bashrc"), ("a\u{1b}[2J\u{202e}b", "a_[2J_b"), ("nul.", "nul_")]
        {
            here.write(name, b"content");
            let share = here.serve_with("share", &[name]);
            let got = there.run(&format!("get {}", code(&share))).succeeds();
            assert!(got.stderr.contains(&format!("writing to {plain}")), "{}", got.stderr);
            assert!(there.read(plain) == b"content" && !there.exists(name));
        }
        let name = "a\nb\u{1b}[2J";
        here.write(name, b"content");
        let mut command = here.command("share");
        let mut share = command.arg(name).spawn().unwrap();
        let mut log = BufReader::new(share.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        kill(&share, "INT");
        share.wait().unwrap();
        assert!(line.starts_with("sharing a\\nb [2J; on another machine"), "{line:?}");
    });
}

#[test]
fn get_works_in_every_family_of_addresses() {
    in_own_network("share::get_works_in_every_family_of_addresses", || {
        let (here, there) = (Place::new(), Place::new());
        here.write("data", b"content");
        let (v4, v6) = (["10.79.0.1/24", "10.79.0.2/24"], ["fd00::1/64", "fd00::2/64"]);
        let local = ["fe80::1/64", "fe80::2/64"];
        for families in [&[v4][..], &[v6, local], &[v4, local], &[v4, v6, local], &[local]] {
            let other = Neighbour::new();
            for [near, far] in families {
                let quick = if near.contains(':') { " nodad" } else { "" };
                ip(&format!("address add {near} dev near{quick}"));
                other.ip(&format!("address add {far} dev far{quick}"));
            }
            let share = here.serve("share data");
            for number in 0..3 {
                let get = format!("get {} -q -o {number}", code(&share));
                let output = other.command(&there, &get).output().unwrap();
                let ended = Ended::of(&get, output).succeeds();
                assert!(there.read(&number.to_string()) == b"content", "{}", ended.stderr);
                std::fs::remove_file(there.path(&number.to_string())).unwrap();
            }
            drop((share, other));
            until("the link is gone", || {
                !std::path::Path::new("/proc/sys/net/ipv4/conf/near").exists()
            });
        }
    });
}
