//! Link recovery that commands negotiate by default.
use crate::forward::{at, forwarder, page, unix};
use crate::place::{Place, Server, noise, until};
use serde_json::Value;

const UDP: &str = "udp://127.0.0.1:0";

/// A server with these options.
fn server(place: &Place, listen: &str, options: &str) -> Server {
    place.write("data", &noise(100_000));
    let listen = listen.replace("DIR", &place.path("").display().to_string());
    place.serve(&format!("serve data --name /data --listen {listen} {options}"))
}

/// A link with a round trip of 20 ms to a server.
fn long_link(place: &Place, server: &Server) -> Server {
    place.serve(&format!("link --between {UDP} {} --delay 10ms", server.face()))
}

/// The agreement that the document of a fetch reports.
fn agreement(place: &Place, face: &str, fetch: &str) -> Value {
    let words = format!("fetch /data -o copy --json --face {face} {fetch}");
    let document = place.run(&words).succeeds().document();
    assert!(place.read("copy") == place.read("data"));
    document["link_recovery"].clone()
}

/// The number of a fetch over a long link.
fn fetched(serve: &str, fetch: &str) -> Value {
    let place = Place::new();
    let server = server(&place, UDP, serve);
    agreement(&place, long_link(&place, &server).face(), fetch)
}

#[test]
fn fetch_and_serve_agree_over_a_long_link() {
    assert_eq!(fetched("", ""), "agreed");
    assert_eq!(fetched("", "--recovery wldr"), "agreed");
    assert_eq!(fetched("--recovery wldr", ""), "agreed");
}

#[test]
fn off_at_either_end_leaves_the_link_plain() {
    assert_eq!(fetched("", "--recovery off"), "off");
    assert_ne!(fetched("--recovery off", ""), "agreed");
}

#[test]
fn streams_are_offered_nothing() {
    for listen in ["tcp://127.0.0.1:0", "unix://DIR/socket", "ws://127.0.0.1:0"] {
        let place = Place::new();
        let server = server(&place, listen, "");
        assert_eq!(agreement(&place, server.face(), ""), "off", "{listen}");
    }
}

#[test]
fn verbose_fetch_reports_the_agreement() {
    let place = Place::new();
    let server = server(&place, UDP, "");
    let link = long_link(&place, &server);
    let printed = |verbose: &str| {
        let words = format!("fetch /data -o copy {verbose} --face {}", link.face());
        place.run(&words).succeeds().stderr
    };
    let (details, events) = (printed("-v"), printed("-vv"));
    assert!(details.contains("\n  link recovery agreed\n"), "{details}");
    assert!(events.contains("link recovery agreed at udp4://127.0.0.1:"), "{events}");
}

/// Whether the links of a forwarder's faces over UDP recover losses.
fn links(forwarder: &Server) -> Vec<Value> {
    let status: Value = serde_json::from_str(&page(forwarder, "/status.json")).unwrap();
    let faces = status["faces"].as_array().unwrap().iter();
    let udp = faces.filter(|face| face["remote"].as_str().is_some_and(|it| it.starts_with("udp")));
    udp.map(|face| face["link_recovery"].clone()).collect()
}

#[test]
fn forwarders_agree_and_the_link_repairs_its_losses() {
    let place = Place::new();
    let content = noise(1_500_000);
    place.write("data", &content);
    let unix = unix(&place);
    let node = "[node]\ncache = 0\nmetrics = \"127.0.0.1:0\"\n";
    let far = forwarder(&place, "far.toml", &[&unix, "udp://127.0.0.1:0"], node);
    let _server = place.serve(&format!("serve data --name /data --face {unix}"));
    let to = at(&far, "udp").replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {to} --delay 5ms --queue 1000packets --seed 3"),
        &["--loss", "bernoulli(p=0.05)"],
    );
    let more = format!(
        "{node}[[face]]\nname = \"far\"\nuri = \"{}\"\n[[route]]\nprefix = \"/data\"\nface = \"far\"\n",
        link.face().replace("udp4", "udp")
    );
    let near = forwarder(&place, "near.toml", &["tcp://127.0.0.1:0"], &more);
    assert_eq!(links(&near), ["off"], "before the first Interest");
    place.run(&format!("fetch /data -q -o copy --face {}", near.face())).succeeds();
    assert!(place.read("copy") == content);
    until("an agreement", || links(&near) == ["agreed"] && links(&far) == ["agreed"]);
    // All of this transfer is under the agreement; the first one may have been over before it.
    place.run(&format!("fetch /data -q -o again --face {}", near.face())).succeeds();
    assert!(place.read("again") == content);
    for document in [near.stop("INT").1, far.stop("INT").1] {
        assert!(document["recovery"]["resent"].as_u64() > Some(0), "{document}");
    }
}
