//! An operator asks a forwarder about itself, and changes it.
use crate::place::{Place, Server};
use serde_json::Value;

/// A forwarder with a Unix socket and a UDP port, and words to command it.
fn forwarder(place: &Place, more: &str) -> (Server, String) {
    let unix = format!("unix://{}", place.path("socket").display());
    let listen = [unix.as_str(), "udp://127.0.0.1:0"];
    let listen = listen.map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).concat();
    place.write("node.toml", format!("{listen}{more}").as_bytes());
    (place.serve("forward --config node.toml"), format!("ctl --json --face {unix}"))
}

fn run_ctl(place: &Place, ctl: &str, words: &str) -> Value {
    place.run(&format!("{ctl} {words}")).succeeds().document()
}

#[test]
fn faces_come_and_go_and_routes_with_them() {
    let place = Place::new();
    let (_forwarder, ctl) = forwarder(&place, "");
    let made =
        run_ctl(&place, &ctl, "face create udp://127.0.0.1:6399 --mtu 1400 --reliability on");
    assert_eq!((&made["remote"], &made["mtu"]), (&"udp4://127.0.0.1:6399".into(), &1400.into()));
    let again = "face create udp4://127.0.0.1:6399 --congestion-marking-interval 7";
    assert_eq!(run_ctl(&place, &ctl, again)["face"], made["face"], "it is there and is changed");
    let changed = run_ctl(&place, &ctl, "face update udp4://127.0.0.1:6399 --mtu 1300");
    assert_eq!((&changed["face"], &changed["mtu"]), (&made["face"], &1300.into()));
    let face = run_ctl(&place, &ctl, "face show udp://127.0.0.1:6399");
    assert_eq!((&face["face"], &face["persistency"]), (&made["face"], &"persistent".into()));
    assert!(face["flags"].as_array().unwrap().contains(&"lp-reliability".into()), "{face}");
    assert_eq!(face["marking_interval_s"], 0.007);

    run_ctl(&place, &ctl, "route add /a udp4://127.0.0.1:6399 --cost 7");
    // A face that is not there is opened.
    run_ctl(&place, &ctl, "route add /a/b tcp4://127.0.0.1:6398 --expires 3600000");
    let routes = run_ctl(&place, &ctl, "route list");
    assert_eq!(routes.as_array().unwrap().len(), 2, "{routes}");
    let of_operators = run_ctl(&place, &ctl, "route list --origin static");
    assert_eq!(of_operators.as_array().unwrap().len(), 2, "{of_operators}");
    assert_eq!(run_ctl(&place, &ctl, "route list --origin nlsr"), Value::Array(Vec::new()));
    assert_eq!((&routes[0]["prefix"], &routes[0]["routes"][0]["cost"]), (&"/a".into(), &7.into()));
    let fib = run_ctl(&place, &ctl, "fib list");
    let of = |entry: &&Value| entry["prefix"] == "/a/b";
    let inherited = fib.as_array().unwrap().iter().find(of).unwrap();
    assert_eq!(inherited["next_hops"].as_array().unwrap().len(), 2, "{fib}");

    run_ctl(&place, &ctl, "face destroy udp4://127.0.0.1:6399");
    assert_eq!(run_ctl(&place, &ctl, "route list").as_array().unwrap().len(), 1);
    place.run(&format!("{ctl} face show udp4://127.0.0.1:6399")).fails(3, &["no face leads to"]);
    let own = format!("{ctl} route add /localhost/nfd tcp4://127.0.0.1:6398");
    place.run(&own).fails(1, &["commands come by this prefix"]);
    place
        .run(&format!("{ctl} face create udp4://127.0.0.1:6399 --mtu 10"))
        .fails(2, &["256 or more"]);
    run_ctl(&place, &ctl, "route remove /a/b tcp4://127.0.0.1:6398");
    assert_eq!(run_ctl(&place, &ctl, "route list"), Value::Array(Vec::new()));
}

#[test]
fn missing_face_is_an_error_for_all_commands() {
    let place = Place::new();
    let (_forwarder, ctl) = forwarder(&place, "");
    for words in [
        "face show 999",
        "face update 999 --persistency permanent",
        "face destroy 999",
        "route add /a 999",
        "route remove /a 999",
    ] {
        let expected = ["there is no face 999", "face list"];
        place.run(&format!("{ctl} {words}")).fails(3, &expected);
    }
    let made = run_ctl(&place, &ctl, "face create udp4://127.0.0.1:9");
    let face = made["face"].as_u64().unwrap();
    run_ctl(&place, &ctl, &format!("route add /route {face}"));
    let wrong = [format!("/no-route {face}"), format!("/route {face} --origin app")];
    for words in wrong.map(|route| format!("route remove {route}")) {
        place.run(&format!("{ctl} {words}")).fails(3, &["there is no route", "route list"]);
    }
    run_ctl(&place, &ctl, &format!("route remove /route {face}"));
    place.run(&format!("{ctl} strategy unset /a")).fails(3, &["no strategy is chosen for /a"]);
    let rejected = place.run(&format!("{ctl} strategy unset /"));
    assert!(!rejected.fails(2, &["must have a strategy"]).stderr.contains("too old"));
}

#[test]
fn faces_on_an_interface_have_its_name() {
    let place = Place::new();
    let (_forwarder, ctl) = forwarder(&place, "");
    let group = "udp4://224.0.23.170:56363";
    let made = run_ctl(&place, &ctl, &format!("face create {group} --local dev://no-such-if"));
    assert_eq!(made["remote"], group);
    let face = run_ctl(&place, &ctl, &format!("face show {group}"));
    let how = (&face["persistency"], &face["link_type"]);
    assert_eq!(how, (&"permanent".into(), &"multi-access".into()));
    run_ctl(&place, &ctl, &format!("face destroy {group}"));
    let station = "face create ether://[02:00:00:00:00:07]";
    place.run(&format!("{ctl} {station}")).fails(2, &["faces create", "406"]);
    place.run(&format!("{ctl} face create udp4://127.0.0.1:9 --local dev://lo")).fails(2, &["406"]);
    place.run(&format!("{ctl} face list --local nowhere://")).succeeds();
}

#[test]
fn strategies_and_content_store_are_changed() {
    let place = Place::new();
    let (_forwarder, ctl) = forwarder(&place, "[node]\ncache = \"500 packets\"\n");
    run_ctl(&place, &ctl, "strategy set /live multicast");
    let shown = run_ctl(&place, &ctl, "strategy show /live/x");
    assert_eq!(shown[0]["strategy"], "/localhost/nfd/strategy/multicast/v=4");
    for wrong in ["unheard", "multicats", "/localhost/nfd/strategy/multicats/v=4"] {
        let failed = place.run(&format!("{ctl} strategy set /live {wrong}"));
        let failed = failed.fails(3, &["404", "best-route, multicast"]);
        let suggests = failed.stderr.contains("did you mean multicast?");
        assert_eq!(suggests, wrong != "unheard", "{}", failed.stderr);
    }
    place.run(&format!("{ctl} strategy list")).succeeds();
    run_ctl(&place, &ctl, "strategy unset /live");
    assert_eq!(run_ctl(&place, &ctl, "strategy list").as_array().unwrap().len(), 1);
    let changed = run_ctl(&place, &ctl, "cs config --capacity 9 --serve off");
    assert_eq!(changed["capacity"], 9);
    let info = run_ctl(&place, &ctl, "cs info");
    assert_eq!((&info["capacity"], &info["flags"]), (&9.into(), &serde_json::json!(["admit"])));
    assert_eq!(run_ctl(&place, &ctl, "cs erase /")["count"], 0);
    let report = run_ctl(&place, &ctl, "status report");
    let version = report["status"]["version"].as_str().unwrap();
    assert!(version.starts_with("recoup "), "{report}");
    assert_eq!(report["channels"].as_array().unwrap().len(), 2, "{report}");
    assert!(report["status"]["start_ms"].as_u64() > Some(1_600_000_000_000), "{report}");
    let text = place.run(&ctl.replace("--json", "status report")).succeeds().stdout;
    let text = String::from_utf8(text).unwrap();
    for part in ["General status:", "Faces:", "remote=fd://", "FIB:", "Strategy choices:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn keys_restrict_commands_but_not_registration() {
    let place = Place::new();
    place.run("key new /operator").succeeds();
    place.run("key export /operator --public -o op.cert").succeeds();
    let keys =
        format!("[management]\nkeys = [{:?}]\n", place.path("op.cert").display().to_string());
    let (_forwarder, ctl) = forwarder(&place, &keys);
    let create = format!("{ctl} face create udp4://127.0.0.1:6399");
    place.run(&create).fails(1, &["faces create", "403"]);
    place.run(&format!("{create} --sign /operator")).succeeds();
    place.write("data", b"content");
    let face = ctl.rsplit(' ').next().unwrap();
    let _server = place.serve(&format!("serve data --name /data --face {face}"));
    let fetched = place.run(&format!("fetch /data -q --face {face}")).succeeds();
    assert_eq!(fetched.stdout, b"content");
}

#[test]
fn schema_restricts_keys_to_their_prefixes() {
    let place = Place::new();
    let mut keys = Vec::new();
    for (identity, file) in [("/site/ann", "ann.cert"), ("/operator", "op.cert")] {
        place.run(&format!("key new {identity}")).succeeds();
        place.run(&format!("key export {identity} --public -o {file}")).succeeds();
        keys.push(format!("{:?}", place.path(file).display().to_string()));
    }
    let rules = r##"
        #prefix: "site"/user/_ <= #member
        #operate: "localhost"/"nfd"/_/_ <= #operator
        #member: "site"/user/"KEY"/_/_/_
        #operator: "operator"/"KEY"/_/_/_
    "##;
    place.write("rights.lvs", rules.as_bytes());
    let schema = place.path("rights.lvs").display().to_string();
    let keys = keys.join(", ");
    let table = format!("[management]\nkeys = [{keys}]\nopen = []\nschema = {schema:?}\n");
    let (_forwarder, ctl) = forwarder(&place, &table);
    let peer = "udp4://127.0.0.1:6399";
    let create = format!("{ctl} face create {peer} --sign");
    place.run(&format!("{create} /site/ann")).fails(1, &["403"]);
    place.run(&format!("{create} /operator")).succeeds();
    let add = |prefix: &str, key: &str| {
        place.run(&format!("{ctl} route add {prefix} {peer} --sign {key}"))
    };
    add("/site/ann/photos", "/site/ann").succeeds();
    add("/site/bob/photos", "/site/ann").fails(1, &["403"]);
    add("/site/ann/photos", "/operator").fails(1, &["403"]);
    // A producer registers with the key that signs its content.
    place.write("data", b"content");
    let face = ctl.rsplit(' ').next().unwrap();
    let serve = |name: &str| format!("serve data --name {name} --face {face}");
    place.run(&serve("/site/ann/tea")).fails(6, &["403"]);
    place.run(&format!("{} --sign /site/ann", serve("/site/bob/tea"))).fails(6, &["403"]);
    let _server = place.serve(&format!("{} --sign /site/ann", serve("/site/ann/tea")));
    let fetched = place.run(&format!("fetch /site/ann/tea -q --face {face}")).succeeds();
    assert_eq!(fetched.stdout, b"content");
}

#[test]
fn missing_forwarder_error_names_the_command() {
    let place = Place::new();
    let face = format!("unix://{}", place.path("nowhere").display());
    place.run(&format!("ctl --face {face} status show")).fails(6, &["nowhere"]);
    place.run("ctl face show north").fails_as_usage(&["north", "no number of a face"]);
}

#[test]
fn face_that_is_declared_down_keeps_its_routes() {
    let place = Place::new();
    let content = crate::place::noise(20_000);
    place.write("data", &content);
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let far = server.face();
    let more = format!(
        "[node]\ncache = 0\n[[face]]\nname = \"far\"\nuri = \"{}\"\n[[route]]\nprefix = \"/data\"\nface = \"far\"\n",
        far.replace("udp4", "udp")
    );
    let (node, ctl) = forwarder(&place, &more);
    let mut faces = node.listening["faces"].as_array().unwrap().iter().filter_map(Value::as_str);
    let to = faces.find(|it| it.starts_with("udp")).unwrap().to_owned();
    let fetch = |more: &str| place.run(&format!("fetch /data -q --face {to} {more}"));
    let routes = run_ctl(&place, &ctl, "route list");
    let down = run_ctl(&place, &ctl, &format!("face down {far}"));
    assert!(down["face"].is_u64(), "{down}");
    assert_ne!(fetch("--no-progress-timeout 300ms").code, Some(0));
    assert_eq!(run_ctl(&place, &ctl, "route list"), routes);
    // Twice is as once.
    run_ctl(&place, &ctl, &format!("face down {}", down["face"]));
    run_ctl(&place, &ctl, &format!("face lost {far} /data/never"));
    run_ctl(&place, &ctl, &format!("face up {far}"));
    assert!(fetch("").succeeds().stdout == content);
    for words in ["face down 999", "face up 999", "face lost 999 /data"] {
        place.run(&format!("{ctl} {words}")).fails(3, &["there is no face 999"]);
    }
    place
        .run(&format!("{ctl} face down 198.51.100.9"))
        .fails(3, &["no face leads to 198.51.100.9"]);
    place.run(&format!("{ctl} face down north")).fails(2, &["no number of a face"]);
}
