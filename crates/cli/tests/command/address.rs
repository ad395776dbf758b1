//! The address of this machine changes while a command runs, as with another network or another lease.
use crate::place::{Ended, Neighbour, Place, in_own_network, ip, noise, until};

/// A neighbour with the first of its addresses.
fn neighbour() -> Neighbour {
    let there = Neighbour::new();
    ip("address add 10.79.0.1/24 dev near");
    there.ip("address add 10.79.0.9/24 dev far");
    there
}

/// The neighbour has another address from here on.
fn change_address(there: &Neighbour, from: u8, to: u8) {
    there.ip(&format!("address del 10.79.0.{from}/24 dev far"));
    there.ip(&format!("address add 10.79.0.{to}/24 dev far"));
}

#[test]
fn fetch_outlives_its_local_address() {
    in_own_network("address::fetch_outlives_its_local_address", || {
        let (here, place, there) = (Place::new(), Place::new(), neighbour());
        let content = noise(30_000_000);
        here.write("movie", &content);
        let _serve = here.serve(
            "serve movie --name /movie --listen udp://10.79.0.1:7000 --listen tcp://10.79.0.1:7000",
        );
        let (mut from, mut to) = (9, 10);
        for (number, face) in ["udp", "udp --wait", "tcp"].into_iter().enumerate() {
            let (scheme, more) = face.split_once(' ').unwrap_or((face, "-q"));
            let fetch =
                format!("fetch /movie -q -o {number} {more} --face {scheme}://10.79.0.1:7000");
            let fetch = fetch.replace("-q -o", "-o");
            let child = there.command(&place, &fetch).spawn().unwrap();
            until("a part", || place.part_bytes(&number.to_string()) > 0);
            change_address(&there, from, to);
            (from, to) = (to, to + 1);
            Ended::of(&fetch, child.wait_with_output().unwrap()).succeeds();
            assert!(place.read(&number.to_string()) == content, "{face}");
        }
    });
}

#[test]
fn registered_producer_outlives_its_local_address() {
    in_own_network("address::registered_producer_outlives_its_local_address", || {
        let (here, place, there) = (Place::new(), Place::new(), neighbour());
        let content = noise(3_000_000);
        place.write("movie", &content);
        here.write(
            "hub.toml",
            b"[node]\nlocalhop = true\ncache = 0\n[[listen]]\nuri = \"udp://10.79.0.1:7050\"\n\
              [[listen]]\nuri = \"tcp://127.0.0.1:7051\"\n",
        );
        let _hub = here.serve("forward --config hub.toml");
        let serve = "serve movie --name /movie --face udp://10.79.0.1:7050 -q";
        let mut serve = there.command(&place, serve).spawn().unwrap();
        let fetch = "fetch /movie -q --wait --face tcp://127.0.0.1:7051";
        assert!(here.run(fetch).succeeds().stdout == content);
        change_address(&there, 9, 10);
        assert!(here.run(fetch).succeeds().stdout == content);
        let _ = serve.kill();
        let _ = serve.wait();
    });
}
