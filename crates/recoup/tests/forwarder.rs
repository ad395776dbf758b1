//! Clients that reach each other through a forwarder of this test.
use recoup::Client;
use recoup_forwarder::management::ManagementOptions;
use recoup_forwarder::node::Node;
use recoup_forwarder::options::NodeConfig;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::waker::Waker;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A forwarder with a Unix socket; it ends with the test.
struct Forwarder {
    folder: tempfile::TempDir,
    waker: Waker,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = DriverOptions { managed: true, ..DriverOptions::default() };
        let mut driver = Driver::with_options(options).unwrap();
        let uri = format!("unix://{}", folder.path().join("socket").display());
        driver.listen(&uri.parse().unwrap()).unwrap();
        let (waker, stop) = (driver.waker(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let management = Some(ManagementOptions::default());
            let options = NodeConfig { management, ..NodeConfig::deterministic(0) };
            let mut node = Node::new(options);
            while !stopped.load(Ordering::Relaxed) {
                driver.turn(&mut node, &mut |_, _, _| {}).unwrap();
            }
        });
        Self { folder, waker, stop, thread: Some(thread) }
    }

    fn client(&self) -> Client {
        let socket: PathBuf = self.folder.path().join("socket");
        Client::builder().face(format!("unix://{}", socket.display())).connect().unwrap()
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn server_is_registered_until_it_is_dropped() {
    let forwarder = Forwarder::start();
    let (producer, consumer) = (forwarder.client(), forwarder.client());
    let server = producer.serve("/a").bytes("hello").unwrap();
    assert!(server.faces()[0].starts_with("unix://"), "{:?}", server.faces());
    assert_eq!(consumer.get("/a").unwrap(), "hello");
    drop(server);
    let end = Instant::now() + Duration::from_secs(10);
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
    assert!(consumer.ping("/site").unwrap() < Duration::from_secs(4));
}
