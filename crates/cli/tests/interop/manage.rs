//! Their operators ask our forwarder about itself, and change it.

use crate::Transport;
use crate::peer::Peer;
use crate::recoup::Forwarder;
use serde_json::{Value, json};

fn dataset(peer: &mut Peer, request: &Value) -> Vec<Value> {
    peer.ask(request)["records"].as_array().cloned().unwrap_or_default()
}

/// NDNts as operator, over one kind of face.
fn manage_with_ndnts(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let forwarder = Forwarder::start(folder.path(), &transport.listen_uri(folder.path()));
    let mut peer = Peer::node("manage.js");
    peer.ask(&json!({ "do": "connect", "face": forwarder.face }));
    let status = dataset(&mut peer, &json!({ "do": "status", "dataset": "GeneralStatus" }));
    assert!(status[0]["nfdVersion"].as_str().is_some_and(|it| it.starts_with("recoup")));
    assert!(status[0]["startTimestamp"].as_u64() > Some(1_600_000_000_000), "{status:?}");

    let mut command = |verb: &str, parameters: Value| {
        let request = json!({ "do": "command", "verb": verb, "parameters": parameters });
        peer.ask(&request)["statusCode"].as_u64()
    };
    let to = "udp4://127.0.0.1:6397";
    assert_eq!(command("faces/create", json!({ "uri": to, "mtu": 1400 })), Some(200));
    assert_eq!(command("faces/create", json!({ "uri": to })), Some(409));
    assert_eq!(command("faces/create", json!({ "uri": "udp4://example.net:1" })), Some(400));
    let multicast = "/localhost/nfd/strategy/multicast/54=%04";
    let choice = json!({ "name": "/live", "strategy": multicast });
    assert_eq!(command("strategy-choice/set", choice), Some(200));
    assert_eq!(command("cs/config", json!({ "capacity": 77 })), Some(200));
    assert_eq!(command("cs/erase", json!({ "name": "/" })), Some(200));

    let found = dataset(&mut peer, &json!({ "do": "status", "scheme": "udp4" }));
    let created: Vec<_> = found.iter().filter(|face| face["uri"] == to).collect();
    assert_eq!((created.len(), &created[0]["mtu"]), (1, &json!(1400)), "{found:?}");
    let faces = dataset(&mut peer, &json!({ "do": "status", "dataset": "FaceStatus" }));
    assert!(faces.iter().any(|face| face["nInInterests"].as_u64() > Some(0)), "{faces:?}");
    let cs = dataset(&mut peer, &json!({ "do": "status", "dataset": "CsInfo" }));
    assert_eq!((&cs[0]["capacity"], &cs[0]["flags"]), (&json!(77), &json!(3)), "{cs:?}");
    let choices = dataset(&mut peer, &json!({ "do": "status", "dataset": "StrategyChoice" }));
    assert_eq!(choices.len(), 2, "{choices:?}");
    let channels = dataset(&mut peer, &json!({ "do": "status", "dataset": "ChannelStatus" }));
    assert_eq!(channels.len(), 2, "{channels:?}");

    let face = created[0]["faceId"].clone();
    let mut command = |verb: &str, parameters: Value| {
        let request = json!({ "do": "command", "verb": verb, "parameters": parameters });
        peer.ask(&request)["statusCode"].as_u64()
    };
    let route = json!({ "name": "/x", "faceId": face, "cost": 9, "flags": 3 });
    assert_eq!(command("rib/register", route), Some(200));
    assert_eq!(command("strategy-choice/unset", json!({ "name": "/live" })), Some(200));
    let routes = dataset(&mut peer, &json!({ "do": "status", "dataset": "RibEntry" }));
    assert_eq!((routes.len(), &routes[0]["route"][0]["cost"]), (1, &json!(9)), "{routes:?}");
    let request =
        json!({ "do": "command", "verb": "faces/destroy", "parameters": { "faceId": face } });
    assert_eq!(peer.ask(&request)["statusCode"], 200);
    assert!(dataset(&mut peer, &json!({ "do": "status", "dataset": "RibEntry" })).is_empty());
}

/// python-ndn as operator, over one kind of face.
fn manage_with_python(transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for this test");
    let forwarder = Forwarder::start(folder.path(), &transport.listen_uri(folder.path()));
    let mut peer = Peer::python("manage.py");
    let face = &forwarder.face;
    let mut command = |verb: &str, parameters: Value| {
        let request =
            json!({ "do": "command", "face": face, "verb": verb, "parameters": parameters });
        peer.ask(&request)["statusCode"].as_u64()
    };
    assert_eq!(command("faces/create", json!({ "uri": "udp4://127.0.0.1:6397" })), Some(200));
    let choice = json!({ "name": "/live", "strategy": "/localhost/nfd/strategy/multicast" });
    assert_eq!(command("strategy-choice/set", choice), Some(200));
    let mut dataset =
        |dataset: &str| peer.ask(&json!({ "do": "status", "face": face, "dataset": dataset }));
    let faces = dataset("faces/list");
    let faces = faces["face_status"].as_array().cloned().unwrap_or_default();
    let created =
        faces.iter().find(|face| face["uri"] == "udp4://127.0.0.1:6397").expect("it is there");
    assert_eq!(
        (&created["face_persistency"], &created["face_scope"]),
        (&json!("PERSISTENT"), &json!("LOCAL"))
    );
    let id = created["face_id"].clone();
    let strategies = dataset("strategy-choice/list");
    assert_eq!(strategies["strategy_choices"].as_array().map(Vec::len), Some(2), "{strategies}");
    assert!(
        dataset("status/general")["nfd_version"]
            .as_str()
            .is_some_and(|it| it.starts_with("recoup"))
    );

    let route = json!({ "do": "command", "face": face, "verb": "rib/register",
        "parameters": { "name": "/x", "face_id": id, "cost": 9, "origin": 255 } });
    assert_eq!(peer.ask(&route)["statusCode"], 200);
    let mut dataset =
        |dataset: &str| peer.ask(&json!({ "do": "status", "face": face, "dataset": dataset }));
    let routes = dataset("rib/list");
    assert_eq!(routes["entries"][0]["name"], "/x", "{routes}");
    assert_eq!(routes["entries"][0]["routes"][0]["cost"], 9, "{routes}");
    // A command that is all in its name is rejected: a stranger can have a program send a name.
    let in_name = json!({ "do": "command", "face": face, "verb": "rib/register", "in_name": true,
        "parameters": { "name": "/y" } });
    assert_eq!(peer.ask(&in_name)["statusCode"], 403);
    let mut dataset =
        |dataset: &str| peer.ask(&json!({ "do": "status", "face": face, "dataset": dataset }));
    let fib = dataset("fib/list");
    let names: Vec<_> =
        fib["entries"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
    assert!(names.contains(&&json!("/x")), "{fib}");
}

#[test]
#[ignore = "needs NDNts: cargo xtask test interop"]
fn ndnts_manages_our_forwarder() {
    for transport in [Transport::Unix, Transport::Tcp, Transport::WebSocket] {
        manage_with_ndnts(transport);
    }
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_manages_our_forwarder() {
    for transport in [Transport::Unix, Transport::Tcp] {
        manage_with_python(transport);
    }
}
