//! Faces that several share, and faces that go and come with an interface.
use crate::harness::{Patience, Recorder, driver, frame, interest, turn_until, uri};
use crate::namespace::{ip, skip, within};
use recoup_forwarder::face::{FaceId, LinkType};
use recoup_forwarder::management::{FaceOrder, FaceSettings};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_io::driver::Driver;
use recoup_io::face::{CloseReason, FaceChange, FaceUri, MediumOptions};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_transport::management::Persistency;
use recoup_transport::time::Duration;
use std::net::{SocketAddr, UdpSocket};

fn on(interface: &str) -> MediumOptions {
    let interface = Some(interface.to_owned());
    MediumOptions { interface, loopback: true, ..MediumOptions::default() }
}

/// Three drivers with a face each that is up; `None` if there can be none. An interface takes a moment to carry something,
/// and an address of IPv6 to be usable.
fn three(faces: [(&str, &str); 3]) -> Option<[(Driver, Recorder, FaceId); 3]> {
    let opened = faces.map(|(to, interface)| {
        let (mut driver, mut machine) = (driver(), Recorder::default());
        let face = driver.keep_medium(&uri(to), on(interface)).ok()?;
        let end = driver.now() + Duration::from_secs(10);
        while machine.ups.is_empty() && driver.now() < end {
            driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        }
        (!machine.ups.is_empty()).then_some((driver, machine, face))
    });
    let [Some(a), Some(b), Some(c)] = opened else {
        return None;
    };
    Some([a, b, c])
}

/// The first sends; exactly the others at `receives` receive.
fn sends(parties: &mut [(Driver, Recorder, FaceId); 3], length: usize, receives: [bool; 3]) {
    let (driver, machine, face) = &mut parties[0];
    machine.send(*face, frame(length));
    driver.turn(machine, &mut |_, _, _| {}).unwrap();
    for ((driver, machine, _), receives) in parties.iter_mut().zip(receives) {
        if receives {
            turn_until(driver, machine, |machine, _| !machine.frames.is_empty());
        } else {
            for _ in 0..3 {
                driver.turn(machine, &mut |_, _, _| {}).unwrap();
            }
        }
        let received: Vec<_> = machine.frames.drain(..).map(|(_, frame)| frame.to_vec()).collect();
        assert_eq!(received, vec![frame(length); usize::from(receives)]);
    }
}

#[test]
fn group_frames_reach_all_other_members() {
    // A port that was free carries no other traffic.
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let group = format!("udp4://224.0.23.170:{port}");
    let Some(mut parties) = three([(group.as_str(), "lo"); 3]) else {
        return skip("no multicast on lo");
    };
    sends(&mut parties, 100, [false, true, true]);
    sends(&mut parties, 8_800, [false, true, true]);
    let (driver, _, face) = &parties[0];
    let attributes = driver.attributes(*face).unwrap();
    assert_eq!((attributes.link_type, attributes.local), (LinkType::MultiAccess, false));
    let described = driver.describe(*face).unwrap();
    assert_eq!((described.uri, described.mtu), (group, 8_800));
    assert!(described.local_uri.starts_with("udp4://"), "{}", described.local_uri);
}

#[test]
fn face_waits_for_its_missing_interface() {
    let mut driver = driver();
    let face = driver.keep_medium(&uri("udp4://224.0.23.170"), on("no-such-if")).unwrap();
    let mut machine = Recorder::default();
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert!(machine.ups.is_empty() && driver.attributes(face).is_some());
    assert!(driver.listen(&uri("udp4://224.0.23.170")).is_err(), "it is no listener");
}

#[test]
fn groups_stay_on_their_interface() {
    let test = "medium::groups_stay_on_their_interface";
    let links = ["link add a0 type veth peer name b0", "link add d0 type veth peer name e0"];
    let up = ["a0", "b0", "d0", "e0"].map(|name| format!("link set {name} mtu 1400 up"));
    let commands: Vec<_> = links.into_iter().chain(up.iter().map(String::as_str)).collect();
    within(test, &commands, || {
        let ether = "ether://[01:00:5e:00:17:aa]";
        let mut parties = three([(ether, "a0"), (ether, "b0"), (ether, "d0")]).unwrap();
        sends(&mut parties, 1_000, [false, true, false]);
        // Shorter than a frame of Ethernet may be.
        sends(&mut parties, 10, [false, true, false]);
        let (driver, _, face) = &parties[0];
        let described = driver.describe(*face).unwrap();
        assert_eq!(described.uri, ether);
        assert_eq!(described.local_uri, "dev://a0");
        assert!([1_400, 1_500].contains(&described.mtu), "{}", described.mtu);
        drop(parties);

        let group = "udp6://[ff02::1234]";
        let mut parties = three([(group, "a0"), (group, "b0"), (group, "d0")]).unwrap();
        sends(&mut parties, 1_000, [false, true, false]);
        // Longer than the link carries whole.
        sends(&mut parties, 8_800, [false, true, false]);
        let (driver, _, face) = &parties[0];
        let described = driver.describe(*face).unwrap();
        assert_eq!(described.mtu, 8_800);
        assert!(described.local_uri.starts_with("udp6://[fe80"), "{}", described.local_uri);
    });
}

#[test]
fn station_face_receives_from_its_station() {
    let test = "medium::station_face_receives_from_its_station";
    let commands = [
        "link add a0 address 02:00:00:00:00:0a type veth peer name b0 address 02:00:00:00:00:0b",
        "link set a0 up",
        "link set b0 up",
    ];
    within(test, &commands, || {
        let [a, b, other] = ["0a", "0b", "0c"].map(|it| format!("ether://[02:00:00:00:00:{it}]"));
        let mut parties = three([(&b, "a0"), (&a, "b0"), (&other, "b0")]).unwrap();
        sends(&mut parties, 1_000, [false, true, false]);
        let (driver, _, face) = &parties[0];
        assert_eq!(driver.attributes(*face).unwrap().link_type, LinkType::PointToPoint);
        // An open face ends with its interface, even if interfaces are not followed.
        ip("link set b0 down");
        let (driver, machine, face) = &mut parties[1];
        turn_until(driver, machine, |machine, _| machine.downs == [*face]);
    });
}

/// A driver that listens on an interface; one that has just been made carries something a moment later.
fn listening(interface: &str) -> Driver {
    let mut driver = driver();
    driver.follow_interfaces().unwrap();
    driver.listen(&uri(&format!("dev://{interface}"))).unwrap();
    driver
}

#[test]
fn frame_of_a_station_opens_a_face() {
    let test = "medium::frame_of_a_station_opens_a_face";
    let commands = [
        "link add a0 address 02:00:00:00:00:0a type veth peer name b0 address 02:00:00:00:00:0b",
        "link set a0 up",
        "link set b0 up",
    ];
    within(test, &commands, || {
        let (mut receiver, mut received) = (listening("b0"), Recorder::default());
        let mut sender = driver();
        sender.follow_interfaces().unwrap();
        let mut sent = Recorder::default();
        let to = sender.keep_medium(&uri("ether://[02:00:00:00:00:0b]"), on("a0")).unwrap();
        // Sends until another end receives: both ends take a moment.
        let mut exchange = |receiver: &mut Driver, received: &mut Recorder| {
            let mut patience = Patience::new(receiver);
            while received.frames.is_empty() {
                patience.look(receiver);
                sent.send(to, interest(20));
                sender.turn(&mut sent, &mut |_, _, _| {}).unwrap();
                receiver.turn(received, &mut |_, _, _| {}).unwrap();
            }
            let (face, bytes) = received.frames[0].clone();
            assert_eq!(bytes, interest(20));
            received.send(face, frame(1_000));
            receiver.turn(received, &mut |_, _, _| {}).unwrap();
            turn_until(&mut sender, &mut sent, |sent, _| !sent.frames.is_empty());
            assert_eq!(sent.frames.remove(0), (to, frame(1_000).into()));
            sent.frames.clear();
            face
        };
        let face = exchange(&mut receiver, &mut received);
        let described = receiver.describe(face).unwrap();
        assert_eq!(described.uri, "ether://[02:00:00:00:00:0a]");
        assert_eq!(described.local_uri, "dev://b0");
        assert_eq!(receiver.faces().count(), 1);

        ip("link set b0 down");
        turn_until(&mut receiver, &mut received, |received, _| received.downs == [face]);
        received.frames.clear();
        ip("link set b0 up");
        let again = exchange(&mut receiver, &mut received);
        assert_ne!(face, again);
    });
}

#[test]
fn only_permanent_on_demand_faces_outlast_their_interface() {
    let test = "medium::only_permanent_on_demand_faces_outlast_their_interface";
    let commands = [
        "link set lo up",
        "link add d0 type veth peer name e0",
        "address add 10.7.0.1/24 dev d0",
        "link set d0 up",
        "link set e0 up",
    ];
    within(test, &commands, || {
        let (mut driver, mut machine) = (driver(), Recorder::default());
        driver.follow_interfaces().unwrap();
        let door = driver.listen(&uri("udp4://0.0.0.0:0")).unwrap().address.unwrap();
        let wanted = [Some(Persistency::Permanent), Some(Persistency::Persistent), None];
        let peers = wanted.map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        peers[0].set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        for (number, (peer, persistency)) in peers.iter().zip(wanted).enumerate() {
            peer.send_to(&interest(20), ("10.7.0.1", door.port())).unwrap();
            turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() > number);
            let (face, ticket) = (machine.frames[number].0, 0);
            let settings = FaceSettings { persistency, ..FaceSettings::default() };
            let order = Box::new(FaceOrder::Update { ticket, face, settings });
            machine.outputs.push_back(Output::Order(order));
        }
        let [permanent, persistent, on_demand] = [0, 1, 2].map(|it| machine.frames[it].0);
        turn_until(&mut driver, &mut machine, |machine, _| machine.outputs.is_empty());
        ip("link set d0 down");
        turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 2);
        machine.downs.sort();
        assert_eq!(machine.downs, [persistent, on_demand]);
        assert_eq!(driver.faces().collect::<Vec<_>>(), [permanent]);
        // The next frame leaves from another address, since the peer's known address is gone.
        ip("address del 10.7.0.1/24 dev d0");
        machine.send(permanent, frame(100));
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        let mut bytes = [0; 200];
        assert_eq!(peers[0].recv(&mut bytes).unwrap(), 100);
    });
}

/// The port that a hop knows its neighbour by.
const KNOWN: u16 = 17_007;

/// A node between one that asks and two that could answer, behind interfaces of their own.
struct Fork {
    driver: Driver,
    node: Node,
    hops: [UdpSocket; 2],
    faces: [FaceId; 2],
    consumer: UdpSocket,
}

impl Fork {
    fn new() -> Self {
        let config = NodeConfig::deterministic(0).with(|it| it.mobility = "mldr".parse().unwrap());
        let mut node = Node::new(config);
        let mut driver = driver();
        driver.follow_interfaces().unwrap();
        let hops = ["10.7.0.1:0", "10.8.0.1:0"].map(|at| UdpSocket::bind(at).unwrap());
        let mut cost = 0;
        let faces = hops.each_ref().map(|hop| {
            hop.set_nonblocking(true).unwrap();
            let at = hop.local_addr().unwrap();
            let FaceUri::Udp(to) = uri(&format!("udp4://{at}")) else { unreachable!() };
            let face = driver.keep_from(SocketAddr::new(at.ip(), KNOWN), &to).unwrap();
            let prefix = "/a".parse().unwrap();
            node.handle(driver.now(), Input::Route(RouteChange { prefix, face, cost: Some(cost) }));
            cost += 1;
            face
        });
        let door = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
        let consumer = UdpSocket::bind("127.0.0.1:0").unwrap();
        consumer.connect(door).unwrap();
        Self { driver, node, hops, faces, consumer }
    }

    fn ask(&self, name: &str, nonce: u32) {
        let mut interest = Interest::new(name.parse::<Name>().unwrap());
        interest.nonce = Some(nonce);
        interest.lifetime = Some(Duration::from_secs(60));
        self.consumer.send(&interest.to_bytes()).unwrap();
    }

    /// Turns until a hop has received a frame, from the port that it knows.
    fn expect_frame(&mut self, hop: usize) {
        let Self { driver, node, hops, .. } = self;
        let mut buffer = [0; 2_000];
        turn_until(driver, node, |_, _| hops[hop].peek(&mut [0; 2_000]).is_ok());
        while let Ok((_, from)) = hops[hop].recv_from(&mut buffer) {
            assert_eq!(from.port(), KNOWN);
        }
    }

    /// Turns until the first face has changed so.
    fn changes(&mut self, wanted: impl Fn(&FaceChange) -> bool) {
        let Self { driver, node, faces, .. } = self;
        let (mut done, mut patience) = (false, Patience::new(driver));
        while !done {
            patience.look(driver);
            driver.turn(node, &mut |_, _, _| {}).unwrap();
            while let Some(event) = driver.next_event() {
                done |= event.face == faces[0] && wanted(&event.change);
            }
        }
    }
}

#[test]
fn pending_interests_leave_a_lost_interface() {
    let test = "medium::pending_interests_leave_a_lost_interface";
    let commands = [
        "link set lo up",
        "link add d0 type veth peer name e0",
        "link add d1 type veth peer name e1",
        "address add 10.7.0.1/24 dev d0",
        "address add 10.8.0.1/24 dev d1",
        "link set d0 up",
        "link set e0 up",
        "link set d1 up",
        "link set e1 up",
    ];
    within(test, &commands, || {
        let mut fork = Fork::new();
        fork.ask("/a/1", 1);
        fork.expect_frame(0);
        ip("link set d0 down");
        fork.expect_frame(1);
        let lost = |change: &FaceChange| {
            matches!(change, FaceChange::Down { reason: CloseReason::NoInterface, retry: Some(_) })
        };
        fork.changes(lost);
        fork.ask("/a/2", 2);
        fork.expect_frame(1);
        ip("link set d0 up");
        fork.changes(|change| *change == FaceChange::Up);
        fork.ask("/a/3", 3);
        fork.expect_frame(0);
        // The address alone is enough, too.
        ip("address del 10.7.0.1/24 dev d0");
        fork.changes(lost);
        fork.ask("/a/4", 4);
        fork.expect_frame(1);
    });
}
