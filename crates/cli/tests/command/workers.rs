//! A forwarder of several threads, which its users need not notice.
use crate::forward::{at, forwarder, page, unix};
use crate::place::{Ended, Place, Server, noise, until};
use recoup_packet::interest::Uniqueness;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, Scope, register_command};
use serde_json::Value;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{SystemTime, UNIX_EPOCH};

/// The words of a consumer of `/NAME/file`, which it writes to a file called like its face.
fn fetch(name: &str, face: &str) -> String {
    let scheme = face.split(':').next().unwrap_or_default();
    format!("fetch /{name}/file -o {name}-{scheme} --json --no-progress-timeout 30s --face {face}")
}

fn status(forwarder: &Server) -> Value {
    serde_json::from_str(&page(forwarder, "/status.json")).expect("a document")
}

#[test]
fn all_kinds_of_clients_fetch_and_counts_agree() {
    for (workers, node) in
        [("2", "cache = \"500 packets\""), ("3", "cache = 0\nshard-components = 3")]
    {
        let place = Place::new();
        let unix = unix(&place);
        let listen = [unix.as_str(), "tcp://127.0.0.1:0", "udp://127.0.0.1:0"];
        let more = format!("[node]\nworkers = {workers}\nmetrics = \"127.0.0.1:0\"\n{node}\n");
        let forwarder = forwarder(&place, "node.toml", &listen, &more);
        let names = ["one", "two", "three", "four"];
        let producers = names.map(|name| {
            place.write(name, &noise(100_000));
            let face = if name.len() == 3 { unix.clone() } else { at(&forwarder, "tcp") };
            place.serve(&format!("serve {name} --name /{name}/file --face {face}"))
        });
        let faces = ["unix", "tcp", "udp"].map(|scheme| at(&forwarder, scheme));
        let words = names.iter().flat_map(|name| faces.iter().map(|face| fetch(name, face)));
        let words: Vec<String> = words.collect();
        let children: Vec<_> =
            words.iter().map(|words| place.command(words).spawn().expect("it runs")).collect();
        for (words, child) in words.iter().zip(children) {
            Ended::of(words, child.wait_with_output().expect("it ends")).succeeds();
        }
        for name in names {
            for scheme in ["unix", "tcp4", "udp4"] {
                let copy = place.read(&format!("{name}-{scheme}"));
                assert!(copy == noise(100_000), "{name} over {scheme}, {workers} workers");
            }
        }
        // What was fetched before is stored, if anything is.
        let again = place.run(&format!("fetch /one/file -q --face {unix}")).succeeds();
        assert!(again.stdout == noise(100_000));
        let document = status(&forwarder);
        let drops = |reason: &str| document["drops"][reason].as_u64().unwrap_or(0);
        let dropped = ["loop", "scope", "hop-limit", "too-fast"].map(drops);
        let asked = document["status"]["interests_in"].as_u64().unwrap();
        if node.contains("500") {
            // Each Interest was looked up once, at one worker.
            let [hits, misses] =
                ["hits", "misses"].map(|key| document["cs"][key].as_u64().unwrap());
            assert_eq!(hits + misses + dropped.iter().sum::<u64>(), asked, "{document}");
            assert!(hits > 0 && document["cs"]["capacity"] == 500, "{document}");
        }
        // Counts of faces add up to those of the whole, for only consumers have left.
        let faces = document["faces"].as_array().unwrap();
        let sum = |key: &str| faces.iter().filter_map(|face| face[key].as_u64()).sum::<u64>();
        assert!(
            sum("data_in") > 0 && sum("data_in") <= document["status"]["data_in"].as_u64().unwrap()
        );
        assert!(document["status"]["satisfied"].as_u64() >= Some(4 * 13), "{document}");
        for producer in producers {
            assert_eq!(producer.stop("INT").0, Some(0));
        }
        let (code, stopped) = forwarder.stop("TERM");
        assert_eq!((code, &stopped["prefixes"]), (Some(0), &0.into()), "{stopped}");
        assert!(stopped["frames_in"].as_u64() >= Some(asked), "{stopped}");
    }
}

#[test]
fn an_operator_changes_all_workers() {
    let place = Place::new();
    place.write("data", &noise(50_000));
    let unix = unix(&place);
    let udp_producer = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let node = "[node]\nworkers = 4\ncache = \"1000 packets\"\n";
    let forwarder = forwarder(&place, "node.toml", &[&unix, "tcp://127.0.0.1:0"], node);
    let ctl =
        |words: &str| place.run(&format!("ctl --json --face {unix} {words}")).succeeds().document();
    let to = udp_producer.face().replace("udp://", "udp4://");
    // One face after the other is given to each of the workers.
    for _ in 0..5 {
        let made = ctl(&format!("face create {to} --mtu 1400"));
        assert_eq!((&made["remote"], &made["mtu"]), (&to.as_str().into(), &1400.into()));
        let again = ctl(&format!("face create {to} --mtu 1300"));
        assert_eq!((&again["face"], &again["mtu"]), (&made["face"], &1300.into()));
        ctl(&format!("route add /data {to}"));
        let fetched = place.run(&format!("fetch /data -q --face {unix}")).succeeds();
        assert!(fetched.stdout == noise(50_000));
        let face = ctl(&format!("face show {to}"));
        assert!(face["data_in"].as_u64() > Some(0) && face["data_out"] == 0, "{face}");
        ctl("cs erase /data");
        let id = &face["face"];
        ctl(&format!("face destroy {id}"));
        until("the face is gone", || ctl("route list") == Value::Array(Vec::new()));
    }
    ctl("strategy set /live multicast");
    assert_eq!(ctl("strategy list").as_array().unwrap().len(), 2);
    let changed = ctl("cs config --capacity 10");
    assert_eq!(changed["capacity"], 10);
    assert_eq!(ctl("cs info")["capacity"], 10);
    assert_eq!(forwarder.stop("INT").0, Some(0));
}

#[test]
fn reload_reaches_all_workers() {
    let place = Place::new();
    place.write("data", &noise(50_000));
    let unix = unix(&place);
    let producer = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let listen = [unix.as_str(), "tcp://127.0.0.1:0"];
    let node = "[node]\nworkers = 2\ncache = 0\ncapture = \"all.pcapng\"\n";
    let forwarder = forwarder(&place, "node.toml", &listen, node);
    let tcp = at(&forwarder, "tcp");
    let before = place.run(&format!("fetch /data -q --face {tcp}"));
    before.fails(3, &["/data"]);
    let listen: String =
        listen.iter().map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).collect();
    let more = format!(
        "[[face]]\nname = \"far\"\nuri = \"{}\"\n[[route]]\nprefix = \"/data\"\nface = \"far\"\n\
         [[strategy]]\nprefix = \"/data\"\nstrategy = \"multicast\"\n",
        producer.face()
    );
    place.write("node.toml", format!("{listen}{node}{more}").as_bytes());
    forwarder.signal("HUP");
    let ctl =
        |words: &str| place.run(&format!("ctl --json --face {unix} {words}")).succeeds().document();
    until("the route", || ctl("route list").as_array().unwrap().len() == 1);
    for face in [&unix, &tcp] {
        let fetched = place.run(&format!("fetch /data -q --face {face}")).succeeds();
        assert!(fetched.stdout == noise(50_000));
    }
    place.write("node.toml", format!("{listen}{node}").as_bytes());
    forwarder.signal("HUP");
    until("no route", || ctl("route list").as_array().unwrap().is_empty());
    until("no face", || {
        let faces = ctl("face list");
        faces.as_array().unwrap().iter().all(|face| face["persistency"] != "persistent")
    });
    assert_eq!(forwarder.stop("INT").0, Some(0));
    assert!(
        place.read("all.pcapng").len() > 1_000 && place.read("all-worker1.pcapng").len() > 1_000
    );
}

#[test]
fn several_workers_cannot_be_recorded() {
    let place = Place::new();
    let unix = unix(&place);
    let listen = format!("[[listen]]\nuri = \"{unix}\"\n");
    place.write("node.toml", listen.as_bytes());
    let words = "forward --config node.toml --workers 2 --record run";
    place.run(words).fails(2, &["2 workers cannot be recorded", "--workers 1"]);
    assert!(!place.exists("run"));
    let words = "forward --config node.toml --workers 2 --trace run";
    place.run(words).fails(2, &["2 workers cannot be traced", "--workers 1"]);
    place.write("many.toml", format!("{listen}[node]\nworkers = 65\n").as_bytes());
    place.run("forward --config many.toml").fails(2, &["many.toml:4:11: node.workers:", "64"]);
    place.run("forward --workers none").fails_as_usage(&["--workers", "auto"]);
    // The command line overrides the file.
    place.write("two.toml", format!("{listen}[node]\nworkers = 2\n").as_bytes());
    let one = place.serve("forward --config two.toml --workers 1 --record run");
    assert_eq!(one.stop("INT").0, Some(0));
    let auto = place.serve("forward --config two.toml --workers auto");
    assert_eq!(auto.stop("INT").0, Some(0));
}

/// A command that registers a prefix for the application that sends it.
fn registration(prefix: &str, nonce: u32) -> Vec<u8> {
    let parameters = ControlParameters { name: prefix.parse().ok(), ..Default::default() };
    let bytes = u64::from(nonce).to_be_bytes();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let time = u64::try_from(now.as_millis()).ok();
    let unique = Uniqueness { nonce: Some(&bytes), time, seq_num: None };
    let mut command = register_command(Scope::Localhost, &parameters, &DigestSigner, unique);
    command.nonce = Some(nonce);
    command.to_bytes().to_vec()
}

#[test]
fn routes_of_applications_that_quit_are_removed() {
    for workers in 1..=3 {
        let place = Place::new();
        place.write("data", &noise(50_000));
        let unix = unix(&place);
        let forwarder =
            forwarder(&place, "node.toml", &[&unix], &format!("[node]\nworkers = {workers}\n"));
        let producer = place.serve(&format!("serve data --name /data --face {unix}"));
        for number in 1..=600 {
            // It quits before it is answered.
            let mut application = UnixStream::connect(place.path("socket")).expect("it listens");
            application.write_all(&registration(&format!("/app/{number}"), number)).expect("room");
        }
        let ctl = |words: &str| {
            place.run(&format!("ctl --json --face {unix} {words}")).succeeds().document()
        };
        until("the applications are gone", || ctl("face list").as_array().unwrap().len() <= 3);
        let routes = ctl("route list");
        assert_eq!(routes.as_array().map(Vec::len), Some(1), "{workers} workers: {routes}");
        let fetched = place.run(&format!("fetch /data -q --face {unix}")).succeeds();
        assert!(fetched.stdout == noise(50_000));
        assert_eq!(producer.stop("INT").0, Some(0));
        assert_eq!(forwarder.stop("TERM").1["prefixes"], 0);
    }
}
