//! Neighbours that leave without a word, and scripts that report them.
use crate::forward::{forwarder, unix};
use crate::place::{Neighbour, Place, in_own_network, ip, noise, recoup};
use std::process::Command;

const NODE: &str = "[node]\ncache = 0\nlocalhop = true\nmobility = \"mldr(lost=30s)\"\n";

/// Another machine, with an address of each end.
fn neighbour() -> Neighbour {
    let there = Neighbour::new();
    ip("addr add 192.0.2.1/24 dev near");
    there.ip("addr add 192.0.2.2/24 dev far");
    there
}

#[test]
fn script_of_hostapd_holds_faces_down() {
    in_own_network("silent::script_of_hostapd_holds_faces_down", || {
        let (place, machine) = (Place::new(), neighbour());
        let content = noise(30_000);
        place.write("data", &content);
        let unix = unix(&place);
        let _node = forwarder(&place, "node.toml", &[&unix, "udp://192.0.2.1:6363"], NODE);
        let serve = "serve data --name /data --face udp4://192.0.2.1:6363";
        let _producer = Place::start(machine.command(&place, serve), serve, b"");
        let station = "02:00:00:00:00:02";
        ip(&format!("neigh replace 192.0.2.2 lladdr {station} dev near nud permanent"));
        machine.ip(&format!("link set far address {station}"));
        let script =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/recoup-hostapd-action.sh");
        let happens = |event: &str, station: &str| {
            let mut script = Command::new(script);
            script.args(["near", event, station]).env("RECOUP", recoup()).env("RECOUP_FACE", &unix);
            script.output().expect("the script runs")
        };
        let fetch = |more: &str| place.run(&format!("fetch /data -q --face {unix} {more}"));
        assert!(fetch("").succeeds().stdout == content);
        let routes = || place.run(&format!("ctl --json --face {unix} route show /data")).document();
        let before = routes();
        let left = happens("AP-STA-DISCONNECTED", station);
        assert!(left.status.success(), "{left:?}");
        assert_ne!(fetch("--no-progress-timeout 300ms").code, Some(0));
        assert_eq!(routes(), before, "routes are kept");
        // Other stations and other events change nothing.
        for (event, station) in
            [("AP-STA-CONNECTED", "02:00:00:00:00:03"), ("AP-STA-POLL-OK", station)]
        {
            assert!(happens(event, station).status.success(), "{event}");
        }
        assert_ne!(fetch("--no-progress-timeout 300ms").code, Some(0));
        assert!(happens("AP-STA-CONNECTED", station).status.success());
        assert!(fetch("").succeeds().stdout == content);
    });
}
