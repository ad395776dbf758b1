//! Where the forwarder hangs out how it is, for those who look at it over HTTP.
//!
//! Nothing is made before somebody asks: who asks wakes the forwarder, which puts a picture of itself here when its turn is over.
use recoup_forwarder::counters::NodeCounters;
use recoup_io::capture::{CaptureCounters, Capturer};
use recoup_io::driver::Driver;
use recoup_io::face::{Counters, DropReason, FaceId};
use recoup_io::waker::Waker;
use recoup_transport::link::recovery;
use recoup_transport::management::{CsInfo, FaceStatus, FibEntry, GeneralStatus, StrategyChoice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A picture that is younger is shown again.
const YOUNG: Duration = Duration::from_millis(200);
/// How long somebody who looks waits for a picture.
const PATIENCE: Duration = Duration::from_secs(2);
/// Prefixes that are shown; a table may have many more.
const MOST_PREFIXES: usize = 1_000;

/// How a forwarder is.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) status: GeneralStatus,
    pub(super) cs: CsInfo,
    /// Places of the table of pending Interests.
    pub(super) pit_limit: usize,
    pub(super) counters: NodeCounters,
    pub(super) faces: Vec<FacePicture>,
    /// What recovery did on all links, past ones included.
    pub(super) recovered: Option<recovery::Counters>,
    /// What was captured.
    pub(super) captures: CaptureCounters,
    /// What was dropped, by reason; frames that faces dropped have `face-` in front.
    pub(super) drops: Vec<(String, u64)>,
    /// The first prefixes with next hops.
    pub(super) fib: Vec<FibEntry>,
    pub(super) strategies: Vec<StrategyChoice>,
}

/// How a face is.
#[derive(Debug)]
pub(super) struct FacePicture {
    pub(super) status: FaceStatus,
    /// It is usable now.
    pub(super) is_up: bool,
    /// What its socket carried and dropped.
    pub(super) frames: Counters,
    /// What recovery did on its link.
    pub(super) recovered: Option<recovery::Counters>,
    /// Packets that wait in its scheduler.
    pub(super) waiting: u64,
    /// Places of the table of pending Interests that it takes.
    pub(super) places: u64,
}

impl Picture {
    fn of(driver: &Driver, capturer: &Capturer) -> Self {
        let node = capturer.node();
        let face = |status: FaceStatus| {
            let id = FaceId(u32::try_from(status.profile.face_id).unwrap_or(u32::MAX));
            FacePicture {
                // The face of the management has no socket.
                is_up: driver.uri(id).is_none() || driver.is_up(id),
                frames: driver.counters(id).unwrap_or_default(),
                recovered: node.recovery(id),
                places: node.places(id) as u64,
                waiting: node.queue(id).map_or(0, |queue| queue.packets),
                status,
            }
        };
        let totals = driver.totals();
        let of_node = driver.node_drops().iter().map(|(reason, many)| (reason.to_string(), *many));
        let of_faces =
            DropReason::ALL.map(|reason| (format!("face-{reason}"), totals.dropped(reason)));
        Self {
            status: node.general_status(driver.now()),
            cs: node.cs_info(),
            pit_limit: node.pit_limit(),
            counters: node.counters().clone(),
            faces: node.face_statuses().map(face).collect(),
            recovered: node.recovered(),
            captures: capturer.counters(),
            drops: of_node.chain(of_faces).filter(|(_, many)| *many > 0).collect(),
            fib: node.fib_entries().take(MOST_PREFIXES).collect(),
            strategies: node.strategy_choices().take(MOST_PREFIXES).collect(),
        }
    }
}

/// The last picture, and the wish for another.
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

    /// The forwarder has time; puts a picture here if somebody wants one.
    pub(super) fn serve(&self, driver: &Driver, capturer: &Capturer) {
        if self.wanted.load(Ordering::Relaxed) && self.wanted.swap(false, Ordering::Relaxed) {
            let picture = Arc::new(Picture::of(driver, capturer));
            let mut hung = self.hung.lock().unwrap_or_else(PoisonError::into_inner);
            *hung = Some((Instant::now(), picture));
            self.changed.notify_all();
        }
    }

    /// A picture of now, if the forwarder comes to it in time.
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
