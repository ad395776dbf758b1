//! Serving: from where, at which face, until when.
use crate::place::{Ends, Place, in_own_network, noise, recoup, until};
use bytes::BytesMut;
use recoup_packet::interest::Interest;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::Command;

#[test]
fn standard_input_is_served() {
    let place = Place::new();
    let input = noise(50_000);
    let server = place.serve_input("serve - --name /in --listen tcp://127.0.0.1:0", &input);
    let ended = place.run(&format!("fetch /in --face {}", server.face())).succeeds();
    assert!(ended.stdout == input);
}

#[test]
fn a_signal_ends_it_with_a_summary() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        place.write("data", &noise(20_000));
        let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
        let face = server.face().to_owned();
        for output in ["a", "b"] {
            place.run(&format!("fetch /data -o {output} -q --face {face}")).succeeds();
        }
        place.run(&format!("fetch /data/none -o c --face {face}"));
        let (code, document) = server.stop(signal);
        assert_eq!(code, Some(0), "{signal}");
        assert_eq!(document["event"], "stopped");
        assert_eq!((&document["segments"], &document["bytes"]), (&6.into(), &40_000.into()));
        assert_eq!(
            (&document["signatures_made"], &document["signatures_reused"]),
            (&3.into(), &3.into())
        );
        assert!(document["unknown"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_version_is_chosen() {
    let place = Place::new();
    place.write("data", b"x");
    let name = |version: &str| {
        let words = format!("serve data --name /d --listen tcp://127.0.0.1:0 --version {version}");
        let server = place.serve(&words);
        place.run(&format!("fetch /d -q -o copy --face {}", server.face())).succeeds();
        server.listening["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(name("7"), "/d/v=7");
    assert_eq!(name("none"), "/d");
    assert!(name("mtime").len() > "/d/v=1000000000000000".len() - 1);
    assert_ne!(name("now"), name("mtime"));
    place.run("serve data --name /d --version soon").fails_as_usage(&["mtime, now, none"]);
}

#[test]
fn changed_file_begins_another_version() {
    let place = Place::new();
    place.write("data", &noise(20_000));
    let words = "serve data --name /data --listen tcp://127.0.0.1:0";
    let server = place.serve(words);
    let old = server.listening["name"].as_str().unwrap().to_owned();
    place.run(&format!("fetch /data -q -o first --face {}", server.face())).succeeds();
    place.write("data", b"quite another content");
    let again = format!("fetch {old} -q --face {}", server.face());
    until("the end of the version", || place.run(&again).code == Some(3));
    place.run(&format!("fetch /data -q -o second --face {}", server.face())).succeeds();
    assert_eq!(place.read("second"), b"quite another content");
    let (_, document) = server.stop("INT");
    assert_eq!(document["versions_ended"], 1);
}

#[test]
fn what_cannot_be_served_is_named() {
    let place = Place::new();
    let serve =
        |path: &str| place.run(&format!("serve {path} --name /x --listen tcp://127.0.0.1:0"));
    serve("nowhere").fails(4, &["nowhere", "o such file"]);
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    serve("pipe").fails(4, &["pipe"]);
    place.write("data", b"x");
    place
        .run("serve data --name /x --listen tcp://127.0.0.1:0 --sign /absent")
        .fails(4, &["/absent", "key"]);
}

#[test]
fn names_of_local_scope_are_announced_as_such() {
    let place = Place::new();
    place.write("data", b"x");
    for (name, reach) in [("/localhost/x", "of this machine"), ("/localhop/x", "one hop away")] {
        let words = format!("serve data --name {name} --listen tcp://127.0.0.1:0 -q");
        let server = place.serve(&words);
        let log = server.stop_with_log();
        assert!(log.contains(reach) && log.lines().count() == 1, "{log}");
    }
    // A datagram proves no machine.
    let words = "serve data --name /localhost/x --listen udp://127.0.0.1:0";
    place.run(words).fails(2, &["/localhost/x", "no face reaches"]);
}

#[test]
fn a_place_that_is_taken_is_named() {
    let place = Place::new();
    place.write("data", b"x");
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
    let words = format!("serve data --name /data --listen {}", server.face());
    place.run(&words).fails(4, &["cannot listen", "listens there already", "another port"]);
    let elsewhere = "serve data --name /data --listen tcp://192.0.2.1:6363";
    place.run(elsewhere).fails(4, &["cannot listen", "no such address"]);
    place.run("serve data --name /data --listen unix:///no/where").fails(4, &["/no/where"]);
}

#[test]
fn what_is_no_forwarder_is_found_out() {
    let place = Place::new();
    place.write("data", b"x");
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
    let words = format!("serve data --name /other --face {}", server.face());
    place.run(&words).fails(6, &["/other", "forwarder", "--listen"]);
}

#[test]
fn start_line_is_printed_unless_quiet() {
    let place = Place::new();
    place.write("data", b"x");
    let words = "serve data --name /data --listen tcp://127.0.0.1:0";
    for (more, quiet) in [("", false), (" -q", true)] {
        let mut child = place.command(&format!("{words}{more}")).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let mut line = String::new();
        if !quiet {
            let mut byte = [0];
            while !line.ends_with('\n') && stderr.read(&mut byte).unwrap() == 1 {
                line.push(char::from(byte[0]));
            }
            assert!(line.starts_with("serving data as /data/v=") && line.contains("tcp"), "{line}");
        } else {
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        crate::place::kill(&child, "TERM");
        until("the end", || child.try_wait().unwrap().is_some());
        line.clear();
        stderr.read_to_string(&mut line).unwrap();
        assert_eq!(line.is_empty(), quiet, "{line}");
    }
}

#[test]
fn servers_share_a_machine_without_forwarder() {
    in_own_network("serve::servers_share_a_machine_without_forwarder", || {
        let place = Place::new();
        let contents = [noise(30_000), noise(20_000)];
        place.write("a", &contents[0]);
        place.write("b", &contents[1]);
        let first = place.serve("serve a --name /first");
        let second = place.serve("serve b --name /second --unknown silent");
        let third = place.serve("ping --serve /third");
        let faces = [first.face(), second.face(), third.face()];
        assert_eq!(faces, [6363, 6364, 6365].map(|port| format!("udp4://127.0.0.1:{port}")));
        for (name, content) in ["/first", "/second"].iter().zip(&contents) {
            let fetched = place.run(&format!("fetch {name} -q")).succeeds();
            assert!(fetched.stdout == *content, "{name}");
        }
        place.run("ping /third -c 2").succeeds();
        let silent = place.run("fetch /second/more -o x --no-progress-timeout 1s");
        silent.fails(7, &["no answer for /second/more within 1 s at udp"]);
        place.run("fetch /other -o x --retries 1").fails(3, &["/other"]);
        // Each stands for itself, and a port that is free again is used again.
        first.stop("TERM");
        let fetched = place.run("fetch /second -q").succeeds();
        assert!(fetched.stdout == contents[1]);
        let again = place.serve("serve a --name /again");
        assert_eq!(again.face(), "udp4://127.0.0.1:6363");
        assert!(place.run("fetch /again -q").succeeds().stdout == contents[0]);
    });
}

#[test]
fn a_machine_full_of_servers_is_explained() {
    in_own_network("serve::a_machine_full_of_servers_is_explained", || {
        let taken: Vec<_> =
            (6363..=6378).map(|port| std::net::UdpSocket::bind(("127.0.0.1", port))).collect();
        assert!(taken.iter().all(Result::is_ok));
        let place = Place::new();
        place.write("data", b"x");
        let pieces = ["6363 to 6378 are all in use", "--listen udp://127.0.0.1:PORT"];
        place.run("serve data --name /data").fails(4, &pieces);
    });
}

#[test]
fn the_printed_command_fetches() {
    let place = Place::new();
    place.write("my data.bin", &noise(20_000));
    let words = ["serve", "my data.bin", "--name", "/a/%20b", "--listen", "tcp://0.0.0.0:0"];
    let mut serve = place.command("");
    let mut serve = Ends(serve.args(words).spawn().unwrap());
    let mut lines = BufReader::new(serve.0.stderr.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    assert!(line().starts_with("serving my data.bin as /a/%20b/v="));
    let (local, remote) = (line(), line());
    assert!(remote.starts_with("from other machines: ") && remote.contains("-o 'my data.bin'"));
    let command = local.strip_prefix("fetch it with: recoup ").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {} {command}", recoup().display())]);
    assert!(shell.current_dir(place.path("")).output().unwrap().status.success(), "{local}");
    assert!(place.read("copy.bin") == place.read("my data.bin"));
}

/// A datagram with this Interest, from source port 0, which cannot be answered.
fn send_from_nowhere(port: u16, interest: &Interest) {
    let mut packet = BytesMut::new();
    let length = u16::try_from(8 + interest.encoded_len()).unwrap();
    [0, port, length, 0].iter().for_each(|field| packet.extend_from_slice(&field.to_be_bytes()));
    interest.encode(&mut packet);
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP)).unwrap();
    let to = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.send_to(&packet, &to.into()).unwrap();
}

#[test]
fn unanswerable_datagram_ends_no_server() {
    in_own_network("serve::unanswerable_datagram_ends_no_server", || {
        let place = Place::new();
        place.write("data", b"content");
        let server = place.serve("serve data --name /data --listen udp://127.0.0.1:7000");
        let fetch = || place.run("fetch /data -o - -q --face udp://127.0.0.1:7000").succeeds();
        send_from_nowhere(7000, &Interest::new("/data".parse().unwrap()));
        let sent = std::time::Instant::now();
        // A peer that rejects datagrams is gone after two seconds.
        while sent.elapsed() < std::time::Duration::from_secs(4) {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert_eq!(fetch().stdout, b"content");
        drop(server);
    });
}
