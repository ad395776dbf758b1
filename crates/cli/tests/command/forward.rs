//! A forwarder process: its faces, routes and messages.
use crate::place::{Ended, Ends, Place, Server, kill, noise, until};

/// A forwarder that listens at `listen`, with more of a configuration behind that.
pub(crate) fn forwarder(place: &Place, name: &str, listen: &[&str], more: &str) -> Server {
    let listen: String =
        listen.iter().map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).collect();
    place.write(name, format!("{listen}{more}").as_bytes());
    place.serve(&format!("forward --config {name}"))
}

/// The URI of the listener of that kind.
pub(crate) fn at(server: &Server, scheme: &str) -> String {
    let faces = server.listening["faces"].as_array().expect("faces");
    let faces = faces.iter().filter_map(|face| face.as_str());
    let found = faces.filter(|face| face.starts_with(scheme)).collect::<Vec<_>>();
    found.first().unwrap_or_else(|| panic!("nothing listens at {scheme}")).to_string()
}

/// A configuration of `node` with routes of `/data` over links of 20 ms toward these addresses, the first the cheapest.
pub(crate) fn routes_over_links(
    place: &Place,
    node: &str,
    points: &[String],
) -> (Vec<Server>, String) {
    let mut text = node.to_owned();
    let mut links = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let to = point.replace("udp4", "udp");
        let link = place.serve(&format!(
            "link --between udp://127.0.0.1:0 {to} --delay 20ms --queue 1000packets"
        ));
        let uri = link.face().replace("udp4", "udp");
        text += &format!(
            "[[face]]\nname = \"{number}\"\nuri = \"{uri}\"\n[[route]]\nprefix = \"/data\"\n\
             face = \"{number}\"\ncost = {number}\n"
        );
        links.push(link);
    }
    (links, text)
}

pub(crate) fn unix(place: &Place) -> String {
    format!("unix://{}", place.path("socket").display())
}

#[test]
fn consumers_on_every_kind_of_face_fetch() {
    let place = Place::new();
    let content = noise(300_000);
    place.write("data", &content);
    let unix = unix(&place);
    let listen = [unix.as_str(), "tcp://127.0.0.1:0", "udp://127.0.0.1:0"];
    let forwarder = forwarder(&place, "node.toml", &listen, "");
    let server = place.serve(&format!("serve data --name /data --face {unix}"));
    for scheme in ["unix", "tcp", "udp"] {
        let words = format!("fetch /data -q --face {}", at(&forwarder, scheme));
        assert!(place.run(&words).succeeds().stdout == content, "{scheme}");
    }
    let (code, served) = server.stop("INT");
    assert_eq!(code, Some(0));
    // The first fetch filled the cache; metadata is requested again.
    assert_eq!(served["segments"], 38, "{served}");
    let (code, document) = forwarder.stop("TERM");
    assert_eq!((code, &document["event"]), (Some(0), &"stopped".into()));
    assert!(document["cache_hits"].as_u64() >= Some(76), "{document}");
    assert!(document["frames_in"].as_u64() > Some(0) && document["bytes_out"].as_u64() > Some(0));
    // The producer's face is gone, and its route with it.
    assert_eq!(document["prefixes"], 0, "{document}");
}

#[test]
fn remote_producer_registers_only_if_permitted() {
    let place = Place::new();
    let content = noise(30_000);
    place.write("data", &content);
    let node = "[node]\nlocalhop = true\n";
    let listen = ["tcp://127.0.0.1:0", "udp://127.0.0.1:0"];
    let open = forwarder(&place, "open.toml", &listen, node);
    let _server = place.serve(&format!("serve data --name /data --face {}", at(&open, "udp")));
    let fetched = place.run(&format!("fetch /data -q --face {}", at(&open, "tcp"))).succeeds();
    assert!(fetched.stdout == content);
    let closed = forwarder(&place, "closed.toml", &listen, "");
    let words = format!("serve data --name /data --face {}", at(&closed, "udp"));
    place.run(&words).fails(6, &["/data", "localhop = true", "localhop_security"]);
}

#[test]
fn chain_of_forwarders_over_udp_works() {
    let place = Place::new();
    let content = noise(200_000);
    place.write("data", &content);
    let unix = unix(&place);
    let far = forwarder(&place, "far.toml", &[&unix, "udp://127.0.0.1:0"], "");
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    let more = format!(
        "[node]\ncache = 0\n[[face]]\nname = \"far\"\nuri = \"{}\"\n\
         [[route]]\nprefix = \"/data\"\nface = \"far\"\n",
        at(&far, "udp")
    );
    let near = forwarder(&place, "near.toml", &["tcp://127.0.0.1:0"], &more);
    let fetched = place.run(&format!("fetch /data -q --face {}", near.face())).succeeds();
    assert!(fetched.stdout == content);
    let missing = place.run(&format!("fetch /other -q --face {}", near.face()));
    missing.fails(3, &["/other"]);
    let (_, document) = near.stop("INT");
    assert_eq!((&document["cache_hits"], &document["prefixes"]), (&0.into(), &1.into()));
    assert!(document["drops"]["no-route"].as_u64() > Some(0), "{document}");
}

#[test]
fn a_file_is_fetched_through_a_multicast_group() {
    let place = Place::new();
    let content = noise(100_000);
    place.write("data", &content);
    let unix = unix(&place);
    // No other program uses a port that was free.
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let lan = format!(
        "[node]\ncache = 0\n[[face]]\nname = \"lan\"\nuri = \"udp4://224.0.23.170:{port}\"\n\
         interface = \"lo\"\nloopback = true\n"
    );
    let far = forwarder(&place, "far.toml", &[&unix], &lan);
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    let near = format!("{lan}[[route]]\nprefix = \"/data\"\nface = \"lan\"\n");
    let near = forwarder(&place, "near.toml", &["tcp://127.0.0.1:0"], &near);
    let fetched = place.run(&format!("fetch /data -q --face {}", near.face()));
    if fetched.code == Some(0) {
        assert!(fetched.stdout == content);
        let listed =
            place.run(&format!("ctl --json --face {unix} face list")).succeeds().document();
        assert!(listed.to_string().contains("multi-access"), "{listed}");
    } else {
        // If the group cannot be joined, the face never came up, and the log reports it.
        assert!(std::env::var_os("RECOUP_REQUIRE_NAMESPACES").is_none());
        let (_, document) = near.stop("INT");
        assert!(document["drops"]["no-route"].as_u64() > Some(0), "{document}");
        eprintln!("skipped: no multicast on lo");
    }
    drop(far);
}

/// Cost of a fetch through two forwarders over a link that loses a frame of twenty: final documents of the near and the
/// far forwarder, and of the consumer.
fn over_a_lossy_link(near: &str, far: &str) -> [serde_json::Value; 3] {
    let place = Place::new();
    let content = noise(1_500_000);
    place.write("data", &content);
    let unix = unix(&place);
    let node = format!("[node]\ncache = 0\nrecovery = \"{far}\"\n");
    let far = forwarder(&place, "far.toml", &[&unix, "udp://127.0.0.1:0"], &node);
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    let to = at(&far, "udp").replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {to} --delay 5ms --queue 1000packets --seed 3"),
        &["--loss", "bernoulli(p=0.05)"],
    );
    let more = format!(
        "[node]\ncache = 0\n[[face]]\nname = \"far\"\nuri = \"{}\"\nrecovery = \"{near}\"\n\
         [[route]]\nprefix = \"/data\"\nface = \"far\"\n",
        link.face().replace("udp4", "udp")
    );
    let near = forwarder(&place, "near.toml", &["tcp://127.0.0.1:0"], &more);
    let words = format!("fetch /data -o copy --json --face {}", near.face());
    let fetched = place.run(&words).succeeds();
    assert!(std::fs::read(place.path("copy")).unwrap() == content);
    [near.stop("INT").1, far.stop("INT").1, fetched.document()]
}

#[test]
fn forwarders_recover_losses_of_their_link() {
    for recovery in ["wldr", "acked"] {
        let [near, far, _] = over_a_lossy_link(recovery, recovery);
        for document in [near, far] {
            let count = |key: &str| document["recovery"][key].as_u64().unwrap();
            let ended = ["resent", "settled", "given_up", "expired", "held"].map(count);
            assert_eq!(count("numbered"), ended.iter().sum::<u64>(), "{recovery}: {document}");
            assert!(count("resent") > 0, "{recovery}: {document}");
        }
    }
}

#[test]
fn recovery_interoperates_with_plain_forwarders() {
    for ends in [["wldr", "off"], ["off", "wldr"]] {
        let [near, far, _] = over_a_lossy_link(ends[0], ends[1]);
        let resent = |document: &serde_json::Value| document["recovery"]["resent"].as_u64();
        let none = |end: &str| (end == "wldr").then_some(0);
        assert_eq!([resent(&near), resent(&far)], ends.map(none), "{near} {far}");
    }
}

#[test]
fn static_face_reopens_when_its_neighbour_returns() {
    let place = Place::new();
    place.write("data", b"content");
    let unix = unix(&place);
    let more = format!(
        "[[face]]\nname = \"later\"\nuri = \"{unix}\"\n[[route]]\nprefix = \"/data\"\nface = \"later\"\n"
    );
    let forwarder = forwarder(&place, "node.toml", &["tcp://127.0.0.1:0"], &more);
    for _ in 0..2 {
        let server = place.serve(&format!("serve data --name /data --listen {unix}"));
        let words = format!("fetch /data -q --no-progress-timeout 20s --face {}", forwarder.face());
        crate::place::until("the face", || place.run(&words).code == Some(0));
        server.stop("INT");
    }
}

#[test]
fn wrong_configuration_is_one_line_with_place() {
    let place = Place::new();
    let rejects = |text: &str, pieces: &[&str]| {
        place.write("node.toml", text.as_bytes());
        place.run("forward --config node.toml").fails(2, pieces);
    };
    let listen = "[[listen]]\nuri = \"udp://127.0.0.1:0\"\n";
    rejects(&format!("{listen}[nod]\n"), &["node.toml:3:2: nod:", "did you mean `node`?"]);
    rejects(&format!("{listen}[node]\nstrategy = 7\n"), &["node.toml:4:12: node.strategy:"]);
    rejects(&format!("{listen}[[route]]\nprefix = \"/\"\n"), &["route.1.face: is missing"]);
    rejects("", &["[[listen]]"]);
    rejects("[[listen]\n", &["node.toml:1:"]);
    place.run("forward --config nowhere.toml").fails(4, &["nowhere.toml"]);
    rejects(&format!("{listen}a = 1\nb = 2\nc = 3\n"), &["and 2 other mistakes, in lines 4, 5"]);
}

#[test]
fn obstacle_of_a_listener_is_named_and_kept() {
    let place = Place::new();
    let socket = unix(&place);
    let listen = ["tcp4://127.0.0.1:0", "udp4://127.0.0.1:0", socket.as_str()];
    let first = forwarder(&place, "a.toml", &listen, "");
    let rejects = |uri: &str, piece: &str| {
        place.write("b.toml", format!("[[listen]]\nuri = \"{uri}\"\n").as_bytes());
        place.run("forward --config b.toml").fails(4, &[uri, piece]);
    };
    for scheme in ["tcp4", "udp4", "unix"] {
        rejects(&at(&first, scheme), "another program listens there already");
    }
    place.write("mine", b"content");
    rejects(&format!("unix://{}", place.path("mine").display()), "is no socket: remove it");
    assert_eq!(place.read("mine"), b"content");
    let nowhere = place.path("nowhere/socket").display().to_string();
    rejects(&format!("unix://{nowhere}"), "the folder of the socket does not exist");
}

#[test]
fn forwarder_reuses_the_socket_of_a_killed_one() {
    let place = Place::new();
    let socket = unix(&place);
    drop(forwarder(&place, "a.toml", &[&socket], ""));
    assert!(place.exists("socket"), "it was killed");
    let second = forwarder(&place, "a.toml", &[&socket], "");
    place.run(&format!("ctl --face {socket} status show")).succeeds();
    assert_eq!(second.stop("INT").0, Some(0));
    assert!(!place.exists("socket"), "it has ended in order");
}

#[test]
#[cfg(target_os = "linux")]
fn full_log_does_not_stop_forwarding() {
    let place = Place::new();
    let socket = unix(&place);
    place.write("a.toml", format!("[[listen]]\nuri = \"{socket}\"\n").as_bytes());
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command("forward --config a.toml --verbose");
    let mut forwarder = Ends(command.stderr(full).spawn().expect("the command runs"));
    let ask = format!("ctl --face {socket} status show");
    until("an answer", || place.run(&ask).code == Some(0));
    place.run(&ask).succeeds();
    kill(&forwarder.0, "TERM");
    assert_eq!(forwarder.0.wait().unwrap().code(), Some(0));
}

#[test]
fn trace_has_faces_interests_and_queues() {
    let place = Place::new();
    place.write("data", &noise(100_000));
    let unix = unix(&place);
    let listen = format!("[[listen]]\nuri = \"{unix}\"\n[[listen]]\nuri = \"udp://127.0.0.1:0\"\n");
    place.write("node.toml", listen.as_bytes());
    let forwarder = place.serve("forward --config node.toml --trace live.pftrace");
    let server = place.serve(&format!("serve data --name /data --face {unix}"));
    let udp = at(&forwarder, "udp");
    place.run(&format!("fetch /data -q -o copy --face {udp}")).succeeds();
    server.stop("INT");
    forwarder.stop("INT");
    let trace = place.read("live.pftrace");
    for piece in ["udp4://127.0.0.1", "asked here", "asked there", "Interest seg=3", "send queue"] {
        assert!(trace.windows(piece.len()).any(|it| it == piece.as_bytes()), "{piece}");
    }
    place.run("forward --config node.toml --trace missing/x").fails(4, &["missing/x"]);
}

/// Content below a path of a forwarder's status page.
pub(crate) fn page(forwarder: &Server, path: &str) -> String {
    get(forwarder.listening["metrics"].as_str().expect("a page"), path)
}

/// The document at a path of the server at that address.
pub(crate) fn get(at: &str, path: &str) -> String {
    use std::io::{Read, Write};
    let host = at.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(host).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    answer.split_once("\r\n\r\n").expect("a head and a body").1.to_owned()
}

#[test]
fn status_page_shows_traffic_and_drops() {
    let place = Place::new();
    place.write("data", &noise(100_000));
    let unix = unix(&place);
    let node = "[node]\nmetrics = \"127.0.0.1:0\"\n";
    let forwarder = forwarder(&place, "node.toml", &[&unix, "tcp://127.0.0.1:0"], node);
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    place.run(&format!("fetch /data -q -o copy --face {}", at(&forwarder, "tcp"))).succeeds();
    place.run(&format!("fetch /none -q -o none --face {}", at(&forwarder, "tcp")));
    let metrics = page(&forwarder, "/metrics");
    let value = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name} ")));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("no {name} in {metrics}"))
    };
    assert!(value("recoup_satisfied_total") >= 13.0 && value("recoup_faces") >= 2.0);
    assert!(value("recoup_drops_total{reason=\"no-route\"}") > 0.0);
    assert_eq!(
        value("recoup_round_trip_seconds_bucket{le=\"+Inf\"}"),
        value("recoup_round_trip_seconds_count")
    );
    let status: serde_json::Value =
        serde_json::from_str(&page(&forwarder, "/status.json")).unwrap();
    let host = std::process::Command::new("uname").arg("-n").output().unwrap().stdout;
    assert_eq!(status["host"], String::from_utf8(host).unwrap().trim());
    let faces = status["faces"].as_array().unwrap();
    assert!(faces.iter().any(|face| face["data_in"].as_u64() >= Some(13)), "{status}");
    let listed = |entry: &serde_json::Value| entry["prefix"] == "/data";
    assert!(status["fib"].as_array().unwrap().iter().any(listed), "{status}");
    assert!(page(&forwarder, "/").contains("fetch(\"status.json\")"));
    let dashboard = page(&forwarder, "/dashboard.json");
    let mut shown = 0;
    for expression in dashboard.lines().filter(|line| line.contains("\"expr\"")) {
        for name in expression.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()) {
            let Some(known) = name.strip_prefix("recoup_") else { continue };
            let family = known.strip_suffix("_bucket").unwrap_or(known);
            assert!(metrics.contains(&format!("# TYPE recoup_{family} ")), "{name}");
            shown += 1;
        }
    }
    assert!(shown > 10, "{dashboard}");
}

#[test]
fn reload_keeps_connections() {
    let place = Place::new();
    place.write("data", b"content");
    let unix = unix(&place);
    let listen = [unix.as_str(), "tcp://127.0.0.1:0"];
    let forwarder = forwarder(&place, "node.toml", &listen, "");
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    let tcp = at(&forwarder, "tcp");
    let ctl =
        |words: &str| place.run(&format!("ctl --json --face {unix} {words}")).succeeds().document();
    let listen: String =
        listen.iter().map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).collect();
    let more = "[[listen]]\nuri = \"udp://127.0.0.1:0\"\n[[face]]\nname = \"n\"\nuri = \"udp://127.0.0.1:6396\"\n\
        [[route]]\nprefix = \"/n\"\nface = \"n\"\ncost = 3\n[[strategy]]\nprefix = \"/n\"\nstrategy = \"multicast\"\n";
    place.write("node.toml", format!("{listen}{more}").as_bytes());
    forwarder.signal("HUP");
    crate::place::until("the new listener", || ctl("channel list").as_array().unwrap().len() == 3);
    let routes = ctl("route show /n");
    assert_eq!(routes[0]["routes"][0]["cost"], 3, "{routes}");
    assert_eq!(ctl("strategy show /n/x")[0]["prefix"], "/n");
    // The producer is still there, and so is the listener with the port that the system chose.
    assert_eq!(place.run(&format!("fetch /data -q --face {tcp}")).succeeds().stdout, b"content");
    place.write("node.toml", format!("{listen}nonsense = 1\n").as_bytes());
    forwarder.signal("HUP");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(ctl("channel list").as_array().unwrap().len(), 3, "nothing has changed");
    place.write("node.toml", listen.as_bytes());
    forwarder.signal("HUP");
    crate::place::until("the face is gone", || ctl("channel list").as_array().unwrap().len() == 2);
    assert_eq!(ctl("strategy list").as_array().unwrap().len(), 1);
    place.run(&format!("ctl --face {unix} route show /n")).fails(3, &["no route"]);
}

/// A fetch of 3 MB at 1.2 MB/s or less, because a window of 40 segments meets a link of 40 ms; its final document. Only
/// its timer detects losses, and it is so long that it never expires, however slow the machine.
pub(crate) fn slow_fetch(place: &Place, face: &str, meanwhile: impl FnOnce()) -> serde_json::Value {
    let words = format!(
        "fetch /data -o copy --json --congestion aimd(max-cwnd=40,init-cwnd=40) --loss timeout \
         --rto constant(rto=60s) --retries unlimited --lifetime 60s --no-progress-timeout 120s \
         --face {face}"
    );
    let child = place.command(&words).spawn().expect("the command runs");
    crate::place::until("a part", || place.part_bytes("copy") > 400_000);
    meanwhile();
    Ended::of(&words, child.wait_with_output().expect("it ends")).succeeds().document()
}

#[test]
fn face_flap_does_not_reduce_the_window() {
    let place = Place::new();
    let content = noise(3_000_000);
    place.write("data", &content);
    let server =
        place.serve("serve data --name /data --listen udp://127.0.0.1:0 --segment-size 1200");
    let to = server.face().replace("udp4", "udp");
    let link = place
        .serve(&format!("link --between udp://127.0.0.1:0 {to} --delay 20ms --queue 1000packets"));
    let unix = unix(&place);
    let more = format!(
        "[[face]]\nname = \"far\"\nuri = \"{}\"\n[[route]]\nprefix = \"/data\"\nface = \"far\"\n",
        link.face().replace("udp4", "udp")
    );
    let first = forwarder(&place, "node.toml", &[&unix], &more);
    let mut second = None;
    let document = slow_fetch(&place, &unix, || {
        first.stop("TERM");
        second = Some(forwarder(&place, "node.toml", &[&unix], &more));
    });
    assert!(std::fs::read(place.path("copy")).unwrap() == content);
    let losses = &document["losses"];
    assert_eq!(losses["loss_events"], 0, "{document}");
    assert!(losses["mobility"].as_u64() > Some(0), "{document}");
}

#[test]
fn moving_producer_does_not_reduce_the_window() {
    let place = Place::new();
    let content = noise(3_000_000);
    place.write("data", &content);
    // No routing follows it: the old place reports the departure for as long as needed.
    let node = "[node]\ncache = 0\nmobility = \"mldr(lost=30s)\"\n";
    let doors = ["here", "there"].map(|name| format!("unix://{}", place.path(name).display()));
    let points = [0, 1].map(|place_of| {
        let listen = [doors[place_of].as_str(), "udp://127.0.0.1:0"];
        forwarder(&place, ["here.toml", "there.toml"][place_of], &listen, node)
    });
    let points = points.each_ref().map(|point| at(point, "udp"));
    let (_links, more) = routes_over_links(&place, node, &points);
    let serve = |door: &str| {
        let words =
            format!("serve data --name /data --version 7 --segment-size 1200 --face {door}");
        place.serve(&words)
    };
    let here = serve(&doors[0]);
    let unix = unix(&place);
    let _router = forwarder(&place, "router.toml", &[&unix], &more);
    // The producer is at its new place before the old one notices that it has gone.
    let mut there = None;
    let document = slow_fetch(&place, &unix, || {
        there = Some(serve(&doors[1]));
        here.stop("TERM");
    });
    assert!(std::fs::read(place.path("copy")).unwrap() == content);
    // A slow machine may change the order so much that segments are judged lost before their reason comes; that is undone.
    let losses = &document["losses"];
    assert_eq!(losses["loss_events"], losses["undone_reductions"], "{document}");
    assert_eq!(losses["congestion"], 0, "{document}");
}
