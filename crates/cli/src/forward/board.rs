//! Where the forwarder hangs out how it is, for those who look at it over HTTP.
//!
//! Nothing is made before somebody asks: who asks wakes the forwarder, which puts a picture of itself here when its turn is over.
use super::crew::Crew;
use super::part::Part;
use super::recording::RecordingState;
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
use std::sync::mpsc::Receiver;
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
    /// How peers were admitted.
    pub(super) admission: Admission,
    /// What was captured.
    pub(super) captures: CaptureCounters,
    /// What was dropped, by reason; frames that faces dropped have `face-` in front.
    pub(super) drops: Vec<(String, u64)>,
    /// Times that a worker read nothing for a millisecond because another one left its letters lying.
    pub(super) held_up: u64,
    pub(super) recording: RecordingState,
    /// Lines that were not written because standard error was not read.
    pub(super) lines_left_out: u64,
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
    /// Whether both ends of its link recover losses.
    pub(super) link_recovery: Agreement,
    /// Packets that wait in its scheduler.
    pub(super) waiting: u64,
    /// Places of the table of pending Interests that it takes.
    pub(super) places: u64,
}

impl Picture {
    /// The forwarder whose first worker this is, and whose `others` have this together.
    fn of(
        driver: &Driver,
        capturer: &mut Capturer,
        recording: &RecordingState,
        others: &Part,
    ) -> Self {
        let mut all = Part::of(driver, capturer);
        all.add(others);
        capturer.note_others(others.tally.clone());
        let node = capturer.node();
        let face = |status: FaceStatus| {
            let id = FaceId(u32::try_from(status.profile.face_id).unwrap_or(u32::MAX));
            // The face of the management has no socket.
            let (is_up, frames) =
                all.faces.get(&id).copied().unwrap_or((true, Counters::default()));
            let known = all.tally.faces.get(&id).cloned().unwrap_or_default();
            FacePicture {
                is_up,
                frames,
                recovered: known.recovered,
                link_recovery: known.link_recovery,
                places: known.places,
                waiting: known.queue.packets,
                status,
            }
        };
        Self {
            status: node.general_status(driver.now()),
            cs: node.cs_info(),
            pit_limit: all.tally.pit_limit as usize,
            counters: all.tally.counters.clone(),
            faces: node.face_statuses().map(face).collect(),
            recovered: all.tally.recovered,
            admission: all.admission,
            captures: all.captures,
            drops: all.drops().collect(),
            held_up: all.held_up,
            recording: recording.clone(),
            lines_left_out: output::lines_left_out(),
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

/// The parts of a picture that is in the making.
#[derive(Debug)]
pub(super) struct Sketch {
    others: Part,
    /// How many have not said yet what they have.
    missing: usize,
    said: Receiver<Part>,
}

impl Board {
    pub(super) fn new(waker: Waker) -> Self {
        let (hung, changed) = (Mutex::new(None), Condvar::new());
        Self { wanted: AtomicBool::new(false), waker, hung, changed }
    }

    /// The forwarder has time; puts a picture here if somebody wants one, as soon as all workers have said what they have.
    pub(super) fn serve(
        &self,
        driver: &Driver,
        capturer: &mut Capturer,
        recording: &RecordingState,
        crew: &Crew,
        sketch: &mut Option<Sketch>,
    ) {
        let wanted =
            || self.wanted.load(Ordering::Relaxed) && self.wanted.swap(false, Ordering::Relaxed);
        if sketch.is_none() && wanted() {
            let (others, said) = (Part::default(), crew.ask(&self.waker, Part::of));
            *sketch = Some(Sketch { others, missing: crew.len(), said });
        }
        let Some(Sketch { others, missing, said }) = sketch else {
            return;
        };
        while let Ok(part) = said.try_recv() {
            *missing -= 1;
            others.add(&part);
        }
        if *missing == 0 {
            let picture = Arc::new(Picture::of(driver, capturer, recording, others));
            let mut hung = self.hung.lock().unwrap_or_else(PoisonError::into_inner);
            *hung = Some((Instant::now(), picture));
            self.changed.notify_all();
            *sketch = None;
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
