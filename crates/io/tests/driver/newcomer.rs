//! Peers over UDP of whose Interests none was answered, from many addresses.
use crate::harness::*;
use recoup_forwarder::face::FaceId;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::{DropReason, FaceChange};
use recoup_transport::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;

/// Sends an Interest from each of these 127.2.x.y addresses.
fn send_from_many(to: SocketAddr, addresses: std::ops::Range<u16>) {
    for number in addresses {
        let [high, low] = number.to_be_bytes();
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 2, high, low), 0)).unwrap();
        socket.send_to(&interest(20), to).unwrap();
    }
}

fn wait(driver: &mut Driver, machine: &mut Recorder, millis: u64) {
    let later = driver.now() + Duration::from_millis(millis);
    turn_until(driver, machine, |_, driver| driver.now() > later);
}

#[test]
fn newcomers_over_udp_evict_each_other_only() {
    let options = DriverOptions { on_demand_faces: 2, newcomers: 8, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    driver.listen(&uri(&format!("unix://{}", path.display()))).unwrap();
    let tcp = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    let udp = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let _application = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
    let _neighbours = [TcpStream::connect(tcp).unwrap(), TcpStream::connect(tcp).unwrap()];
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 4);
    let _answered = [(); 2].map(|()| {
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = machine.frames.len();
        peer.send_to(&interest(20), udp).unwrap();
        turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() > before);
        machine.answer(machine.frames[before].0);
        turn_until(&mut driver, &mut machine, |machine, _| machine.outputs.is_empty());
        peer
    });
    changes(&mut driver);
    wait(&mut driver, &mut machine, 1_100);
    send_from_many(udp, 0..100);
    let rejected = |driver: &Driver| driver.totals().dropped(DropReason::NoRoom);
    turn_until(&mut driver, &mut machine, |_, driver| rejected(driver) == 92);
    wait(&mut driver, &mut machine, 600);
    send_from_many(udp, 100..200);
    turn_until(&mut driver, &mut machine, |_, driver| rejected(driver) == 184);
    assert_eq!((driver.admission().newcomers_evicted, driver.admission().evicted), (8, 0));
    assert_eq!(driver.faces().count(), 6 + 8);
    let closed: Vec<FaceId> = machine.downs.clone();
    let oldest: Vec<FaceId> = machine.frames[2..10].iter().map(|(face, _)| *face).collect();
    assert_eq!(closed, oldest);
    assert_eq!(changes(&mut driver), [], "newcomers are not reported");
}

#[test]
fn newcomer_that_is_silent_is_forgotten() {
    let options = DriverOptions { udp_idle: Duration::from_millis(200), ..impatient() };
    let mut driver = Driver::with_options(options).unwrap();
    let mut machine = Recorder::default();
    let udp = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    send_from_many(udp, 0..20);
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 20);
    assert_eq!(driver.faces().count(), 0);
    assert!(!changes(&mut driver).contains(&FaceChange::Up));
}
