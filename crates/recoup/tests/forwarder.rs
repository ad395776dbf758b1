//! Clients that use a forwarder of this test.
mod relay;

use relay::Forwarder;
use std::time::{Duration, Instant};

#[test]
fn server_is_registered_until_it_is_dropped() {
    let forwarder = Forwarder::start();
    let (producer, consumer) = (forwarder.client(), forwarder.client());
    let server = producer.serve("/a").bytes("hello").unwrap();
    assert!(server.faces()[0].starts_with("unix://"), "{:?}", server.faces());
    assert_eq!(consumer.get("/a").unwrap(), "hello");
    drop(server);
    let end = Instant::now() + Duration::from_secs(120);
    // The producer's client lives on: only the registration is gone.
    loop {
        match consumer.get_packet("/a") {
            Err(error) if error.message().contains("no route") => break,
            other => assert!(Instant::now() < end, "{other:?}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let again = producer.serve("/a").bytes("once more").unwrap();
    assert_eq!(consumer.get("/a").unwrap(), "once more");
    drop(again);
}

#[test]
fn ping_needs_a_route() {
    let forwarder = Forwarder::start();
    let (producer, consumer) = (forwarder.client(), forwarder.client());
    assert!(consumer.ping("/site").unwrap_err().is_not_found());
    let _server = producer.serve("/site/ping").answer(|_| Some("".into())).unwrap();
    consumer.ping("/site").unwrap();
}
