//! Neighbours that leave without a word, and scripts that report them.
use crate::forward::{at, forwarder, routes_over_links, slow_fetch, unix};
use crate::place::{Neighbour, Place, in_own_network, ip, noise, recoup, until};
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const NODE: &str = "[node]\ncache = 0\nlocalhop = true\nmobility = \"mldr(lost=30s)\"\n";

/// Another machine, with an address of each end.
fn neighbour() -> Neighbour {
    let there = Neighbour::new();
    ip("addr add 192.0.2.1/24 dev near");
    there.ip("addr add 192.0.2.2/24 dev far");
    there
}

/// The radio between a station and two access points with one address. Only the point with the number `in_reach` receives,
/// and is received.
struct Air {
    in_reach: Arc<AtomicUsize>,
    address: SocketAddr,
}

impl Air {
    fn new(points: [SocketAddr; 2]) -> Self {
        let bind = || Arc::new(UdpSocket::bind((points[0].ip(), 0)).unwrap());
        let (radio, sides) = (bind(), [bind(), bind()]);
        let address = radio.local_addr().unwrap();
        let in_reach = Arc::<AtomicUsize>::default();
        let station = Arc::<Mutex<Option<SocketAddr>>>::default();
        for (number, (side, point)) in sides.iter().zip(points).enumerate() {
            side.connect(point).unwrap();
            let (radio, side) = (Arc::clone(&radio), Arc::clone(side));
            let (station, in_reach) = (Arc::clone(&station), Arc::clone(&in_reach));
            thread::spawn(move || {
                let mut frame = [0; 9_000];
                loop {
                    // A point that ends is an error, and no frame.
                    let Ok(length) = side.recv(&mut frame) else { continue };
                    let to = *station.lock().unwrap();
                    if let Some(to) = to.filter(|_| in_reach.load(Ordering::SeqCst) == number) {
                        let _ = radio.send_to(&frame[..length], to);
                    }
                }
            });
        }
        let near = Arc::clone(&in_reach);
        thread::spawn(move || {
            let mut frame = [0; 9_000];
            while let Ok((length, from)) = radio.recv_from(&mut frame) {
                *station.lock().unwrap() = Some(from);
                if let Some(side) = sides.get(near.load(Ordering::SeqCst)) {
                    let _ = side.send(&frame[..length]);
                }
            }
        });
        Self { in_reach, address }
    }

    /// The station is in reach of this point from here on, or of none.
    fn reach(&self, number: usize) {
        self.in_reach.store(number, Ordering::SeqCst);
    }
}

#[test]
fn station_registers_at_the_next_access_point() {
    in_own_network("silent::station_registers_at_the_next_access_point", || {
        // Faces to addresses other than those of the loopback network lead to other machines.
        ip("addr add 192.0.2.1/32 dev lo");
        let place = Place::new();
        let content = noise(3_000_000);
        place.write("data", &content);
        let listen = ["udp://192.0.2.1:0", "udp://127.0.0.1:0"];
        let points = ["here.toml", "there.toml"].map(|name| forwarder(&place, name, &listen, NODE));
        let addresses = points.each_ref().map(|it| {
            at(it, "udp4://192").strip_prefix("udp4://").unwrap().parse().expect("an address")
        });
        let air = Air::new(addresses);
        let _station = place.serve(&format!(
            "serve data --name /data --segment-size 1200 --face udp4://{}",
            air.address
        ));
        let wired = points.each_ref().map(|it| at(it, "udp4://127"));
        let (_links, more) = routes_over_links(&place, NODE, &wired);
        let door = unix(&place);
        let _router = forwarder(&place, "router.toml", &[&door], &more);
        // Nothing reports the move.
        let document = slow_fetch(&place, &door, || air.reach(1));
        assert!(std::fs::read(place.path("copy")).unwrap() == content);
        assert_eq!(document["losses"]["timeouts"], 0, "{document}");
        assert_eq!(document["losses"]["congestion"], 0, "{document}");
        // Out of reach for a while, and back at the first point.
        air.reach(2);
        let fetch = format!("fetch /data -o again --lifetime 300ms --face {}", wired[0]);
        assert_ne!(place.run(&format!("{fetch} --no-progress-timeout 2s")).code, Some(0));
        air.reach(0);
        until("the name is registered", || place.run(&fetch).code == Some(0));
        assert!(place.read("again") == content);
    });
}

#[test]
fn silent_producer_is_found_without_a_report() {
    in_own_network("silent::silent_producer_is_found_without_a_report", || {
        let (place, machine) = (Place::new(), neighbour());
        let content = noise(3_000_000);
        place.write("data", &content);
        let unix = unix(&place);
        let here =
            forwarder(&place, "here.toml", &["udp://192.0.2.1:6363", "udp://127.0.0.1:0"], NODE);
        let there = forwarder(&place, "there.toml", &[&unix, "udp://127.0.0.1:6364"], NODE);
        let words = "serve data --name /data --version 7 --segment-size 1200 --face";
        let away = format!("{words} udp4://192.0.2.1:6363");
        let producer = Place::start(machine.command(&place, &away), &away, b"");
        let _second = place.serve(&format!("{words} {unix}"));
        let points = [at(&here, "udp4://127"), at(&there, "udp")];
        let (_links, more) = routes_over_links(&place, NODE, &points);
        let door = format!("unix://{}", place.path("router").display());
        let _router = forwarder(&place, "router.toml", &[&door], &more);
        // The process stands still: its socket is open, and nothing reports that.
        let document = slow_fetch(&place, &door, || producer.signal("STOP"));
        assert!(std::fs::read(place.path("copy")).unwrap() == content);
        let losses = &document["losses"];
        assert_eq!(losses["loss_events"], losses["undone_reductions"], "{document}");
        // The face is there, and with the next frame it is up again.
        producer.signal("CONT");
        let back = format!("fetch /data -o again --face {}", points[0]);
        until("the face is up", || place.run(&back).code == Some(0));
        assert!(place.read("again") == content);
    });
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
        // Events of the kernel, as `iw` prints them with and without the device.
        let kernel = |events: &str| {
            place.write("iw", format!("#!/bin/sh\nprintf '{events}'\n").as_bytes());
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(place.path("iw"), executable).unwrap();
            let mut script = Command::new(script.replace("hostapd-action", "station-events"));
            let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
            script.env("PATH", path).env("RECOUP", recoup()).env("RECOUP_FACE", &unix);
            assert!(script.status().expect("the script runs").success());
        };
        kernel(&format!("near: new station {station}\\nnear: del station 02:00:00:00:00:03\\n"));
        assert!(fetch("").succeeds().stdout == content);
        kernel(&format!("near (phy #0): del station {station}\\nphy #0: scan aborted\\n"));
        assert_ne!(fetch("--no-progress-timeout 300ms").code, Some(0));
        assert!(happens("AP-STA-CONNECTED", station).status.success());
        assert!(fetch("").succeeds().stdout == content);
    });
}
