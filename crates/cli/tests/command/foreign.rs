//! Names from strangers: a program that sends them gives the forwarder no command.
use crate::forward::{forwarder, unix};
use crate::place::Place;
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::sha256;
use recoup_packet::tlv;
use recoup_transport::management::ControlParameters;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A command with its signature in its name (packet format v0.2), of this moment.
fn in_name(verb: &str, parameters: &ControlParameters) -> Name {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let time = u64::try_from(since_1970.as_millis()).expect("a time").to_be_bytes();
    let nonce: [u8; 8] = std::array::from_fn(|at| time[7] ^ at as u8);
    let prefix: Name = format!("/localhost/nfd/{verb}").parse().expect("a name");
    let words = [&parameters.to_bytes()[..], &time, &nonce, b"\x16\x03\x1b\x01\0"];
    let signed = words.into_iter().fold(prefix, |name, it| name.append(Component::generic(it)));
    let value = [&b"\x17\x20"[..], &sha256(signed.value())].concat();
    signed.append(Component::generic(&value))
}

/// Commands that a stranger would have the forwarder execute.
fn commands() -> Vec<Name> {
    let about =
        |prefix: &str| ControlParameters { name: prefix.parse().ok(), ..Default::default() };
    let uri = Some("udp4://192.0.2.9:6363".into());
    let face = ControlParameters { uri, ..ControlParameters::default() };
    let choice = "/localhost/nfd/strategy/multicast".parse().ok();
    let strategy = ControlParameters { strategy: choice, ..about("/live") };
    let capacity = ControlParameters { capacity: Some(1), ..ControlParameters::default() };
    vec![
        in_name("rib/register", &about("/bank")),
        in_name("fib/add-nexthop", &about("/bank")),
        in_name("faces/create", &face),
        in_name("strategy-choice/set", &strategy),
        in_name("cs/config", &capacity),
    ]
}

/// Everything that the commands would change.
fn state(place: &Place, ctl: &str) -> Vec<String> {
    let show = |words: &str| {
        let ended = place.run(&format!("ctl --face {ctl} {words}")).succeeds();
        String::from_utf8(ended.stdout).expect("text")
    };
    let faces = show("face list").matches("192.0.2.9").count().to_string();
    let capacity = show("cs info").lines().filter(|line| line.contains("capacity")).collect();
    vec![show("route list"), show("strategy list"), faces, capacity]
}

#[test]
fn name_from_a_local_program_is_no_command() {
    let place = Place::new();
    let unix = unix(&place);
    let _forwarder = forwarder(&place, "node.toml", &[&unix], "");
    let before = state(&place, &unix);
    let mut socket = UnixStream::connect(place.path("socket")).expect("the forwarder listens");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    for (number, name) in (1..).zip(commands()) {
        let mut interest = Interest::new(name);
        interest.nonce = Some(number);
        socket.write_all(&interest.to_bytes()).expect("the forwarder reads");
        let mut answer = vec![0; 8_800];
        let mut filled = 0;
        while !matches!(tlv::frame_len(&answer[..filled]), Ok(Some(len)) if len <= filled) {
            filled += socket.read(&mut answer[filled..]).expect("an answer");
        }
        assert!(answer.windows(11).any(|it| it == b"not allowed"), "{}", interest.name);
    }
    assert_eq!(state(&place, &unix), before);
}

#[cfg(feature = "gateway")]
#[test]
fn page_reaches_no_local_name_by_the_gateway() {
    let place = Place::new();
    let unix = unix(&place);
    let _forwarder = forwarder(&place, "node.toml", &[&unix], "");
    let before = state(&place, &unix);
    let gateway = place.serve(&format!("gateway --listen 127.0.0.1:0 --face {unix}"));
    let address = gateway.listening["url"].as_str().expect("a URL")["http://".len()..].to_owned();
    let others = ["/localhost/nfd/status/general", "/localhost/nfd", "/localhop/nfd/rib/list"];
    let others = others.map(|name| name.parse::<Name>().expect("a name"));
    for name in commands().into_iter().chain(others) {
        for method in ["GET", "HEAD", "PROPFIND"] {
            let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
            let text = format!(
                "{method} /ndn{name} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(text.as_bytes()).expect("it reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 4"), "{method} {name}: {answer}");
        }
    }
    assert_eq!(state(&place, &unix), before);
}
