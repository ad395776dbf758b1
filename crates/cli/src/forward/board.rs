//! Status snapshots of the forwarder for HTTP clients.
//!
//! A snapshot is made on demand: a request wakes the forwarder, which publishes one at the end of
//! its turn.
use super::report::drops;
use crate::output;
use recoup_forwarder::counters::NodeCounters;
use recoup_forwarder::face::Agreement;
use recoup_io::capture::{CaptureCounters, Capturer};
use recoup_io::driver::{Admission, Driver};
use recoup_io::face::{Counters, FaceId};
use recoup_io::waker::Waker;
use recoup_transport::link::recovery;
use recoup_transport::management::{CsInfo, FaceStatus, FibEntry, GeneralStatus, StrategyChoice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Age up to which a snapshot is reused.
const YOUNG: Duration = Duration::from_millis(200);
/// Longest wait of a request for a snapshot.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most prefixes of a snapshot.
const MOST_PREFIXES: usize = 1_000;

/// Status of a forwarder.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) status: GeneralStatus,
    pub(super) cs: CsInfo,
    /// Capacity of the PIT.
    pub(super) pit_limit: usize,
    pub(super) counters: NodeCounters,
    pub(super) faces: Vec<FacePicture>,
    /// Counters of link recovery, closed faces included.
    pub(super) recovered: Option<recovery::Counters>,
    /// Counters of admitted peers.
    pub(super) admission: Admission,
    /// Counters of captures.
    pub(super) captures: CaptureCounters,
    /// Drops by reason; those of faces begin with `face-`.
    pub(super) drops: Vec<(String, u64)>,
    pub(super) recording: RecordingState,
    /// Log lines dropped because standard error was not read.
    pub(super) lines_left_out: u64,
    /// The first prefixes with next hops.
    pub(super) fib: Vec<FibEntry>,
    pub(super) strategies: Vec<StrategyChoice>,
}

/// Status of a face.
#[derive(Debug)]
pub(super) struct FacePicture {
    pub(super) status: FaceStatus,
    /// The face is up.
    pub(super) is_up: bool,
    /// Counters of its socket.
    pub(super) frames: Counters,
    /// Counters of its link recovery.
    pub(super) recovered: Option<recovery::Counters>,
    /// Whether both ends of its link recover losses.
    pub(super) link_recovery: Agreement,
    /// Packets queued in its scheduler.
    pub(super) waiting: u64,
    /// PIT entries charged to it.
    pub(super) places: u64,
}

impl Picture {
    fn of(driver: &Driver, capturer: &Capturer) -> Self {
        let node = capturer.node();
        let face = |status: FaceStatus| {
            let id = FaceId(u32::try_from(status.profile.face_id).unwrap_or(u32::MAX));
            let frames = driver.counters(id);
            FacePicture {
                // The face of the management has no socket.
                is_up: (frames.is_none() || driver.is_up(id)) && !status.down,
                frames: frames.unwrap_or_default(),
                recovered: node.recovery(id),
                link_recovery: node.link_recovery(id),
                places: node.slots(id) as u64,
                waiting: node.queue(id).unwrap_or_default().packets,
                status,
            }
        };
        Self {
            status: node.general_status(driver.now()),
            cs: node.cs_info(),
            pit_limit: node.pit_limit(),
            counters: node.counters(),
            faces: node.face_statuses().map(face).collect(),
            recovered: node.recovered(),
            admission: driver.admission(),
            captures: capturer.counters(),
            drops: drops(driver).collect(),
            lines_left_out: output::lines_left_out(),
            fib: node.fib_entries().take(MOST_PREFIXES).collect(),
            strategies: node.strategy_choices().take(MOST_PREFIXES).collect(),
        }
    }
}

/// The last snapshot, and pending requests.
#[derive(Debug)]
pub(super) struct Board {
    wanted: AtomicBool,
    waker: Waker,
    hung: Mutex<Option<(Instant, Arc<Picture>)>>,
    changed: Condvar,
}

impl Board {
    pub(super) fn new(waker: Waker) -> Self {
        let (hung, changed) = (Mutex::new(None), Condvar::new());
        Self { wanted: AtomicBool::new(false), waker, hung, changed }
    }

    /// Publishes a snapshot if one is requested.
    pub(super) fn serve(&self, driver: &Driver, capturer: &Capturer) {
        if self.wanted.load(Ordering::Relaxed) && self.wanted.swap(false, Ordering::Relaxed) {
            let picture = Arc::new(Picture::of(driver, capturer));
            let mut hung = self.hung.lock().unwrap_or_else(PoisonError::into_inner);
            *hung = Some((Instant::now(), picture));
            self.changed.notify_all();
        }
    }

    /// A current snapshot, unless the forwarder is too slow.
    pub(super) fn look(&self) -> Option<Arc<Picture>> {
        let asked = Instant::now();
        let oldest = asked.checked_sub(YOUNG).unwrap_or(asked);
        let mut hung = self.hung.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((at, picture)) = &*hung
                && *at >= oldest
            {
                return Some(Arc::clone(picture));
            }
            let left = PATIENCE.checked_sub(asked.elapsed()).filter(|left| !left.is_zero())?;
            self.wanted.store(true, Ordering::Relaxed);
            self.waker.wake();
            let waited = self.changed.wait_timeout(hung, left);
            hung = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
