//! The producer of the demo: the producer loop of `recoup serve`, on a thread of its own.
use crate::error::{Exit, Failure};
use crate::session::face_failure;
use recoup_forwarder::face::Recovery;
use recoup_forwarder::node::Node;
use recoup_forwarder::options::NodeConfig;
use recoup_io::driver::Driver;
use recoup_io::library::{SpoolLibrary, Version};
use recoup_io::source::Spool;
use recoup_io::waker::Waker;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::serve::{Serve, ServeOptions};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The name under which the content is served.
pub(crate) fn name() -> Name {
    Name::root().append(recoup_packet::name::Component::generic(b"demo"))
}

/// A producer that is running.
#[derive(Debug)]
pub(crate) struct Producer {
    address: SocketAddr,
    waker: Waker,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Producer {
    /// Serves `content` from a file on a UDP port of the loopback interface.
    pub(crate) fn start(content: &[u8], segment_bytes: u64) -> Result<Self, Failure> {
        let spool = Spool::fill(&mut &*content, &Spool::default_folder(), u64::MAX, &mut |_| true);
        let spool = spool.map_err(|error| Failure::new(Exit::Local, error.to_string()))?;
        let failed = |error: String| Failure::new(Exit::Other, error);
        let mut driver = Driver::new().map_err(|error| failed(error.to_string()))?;
        driver.set_on_demand_recovery(Recovery::auto());
        let uri = "udp://127.0.0.1:0".parse().map_err(|_| failed("no loopback".to_owned()))?;
        let address = driver.listen(&uri).map_err(|error| face_failure(&error))?.address;
        let address = address.ok_or_else(|| failed("no port".to_owned()))?;
        let signer = Box::new(DigestSigner);
        let options = ServeOptions { segment_bytes, ..ServeOptions::default() };
        let config = recoup::serve::config(&options, name(), signer);
        let options = NodeConfig::new(recoup::session::seed()?);
        let (waker, stop) = (driver.waker(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("producer".into()).spawn(move || {
            let library = SpoolLibrary::new(spool, Version::Fixed(1));
            let mut node = Node::new(options);
            node.attach(
                driver.now(),
                Box::new(Serve::new(config, Box::new(library))),
                vec![name()],
            );
            while !stopped.load(Ordering::Relaxed) {
                let turn = driver.turn(&mut node, &mut |_, _, _| {});
                turn.map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
            }
            Ok(())
        });
        let thread = thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { address, waker, stop, thread })
    }

    /// Its address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        self.thread
            .join()
            .unwrap_or_else(|_| Err(Failure::new(Exit::Other, "the producer broke down")))
    }
}
