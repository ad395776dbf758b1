//! A forwarder of a test, in a thread.
use recoup::Client;
use recoup_forwarder::management::{ManagementOptions, Notice};
use recoup_forwarder::node::Node;
use recoup_forwarder::options::NodeConfig;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::waker::Waker;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::SystemTime;

/// A forwarder with a Unix socket and a content store; it ends with the test.
pub(crate) struct Forwarder {
    folder: tempfile::TempDir,
    waker: Waker,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    /// Starts it.
    pub(crate) fn start() -> Self {
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
            // Commands must be of this time.
            let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            let micros = u64::try_from(since_1970.as_micros()).unwrap();
            node.handle(driver.now(), Notice::TimeOfDay { micros }.into());
            while !stopped.load(Ordering::Relaxed) {
                driver.turn(&mut node, &mut |_, _, _| {}).unwrap();
            }
        });
        Self { folder, waker, stop, thread: Some(thread) }
    }

    /// A client of it.
    pub(crate) fn client(&self) -> Client {
        let socket: PathBuf = self.folder.path().join("socket");
        let builder = Client::builder().face(format!("unix://{}", socket.display()));
        builder.records(self.records()).connect().unwrap()
    }

    /// The folder of the records of its clients.
    pub(crate) fn records(&self) -> PathBuf {
        self.folder.path().join("records")
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
