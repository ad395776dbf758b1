//! A folder: its listing, the files in it, the folders in it, as [`Walk`] of the library leads through them.
use crate::error::Failure;
use crate::fetch::plan::Plan;
use crate::fetch::sink::{FileSink, ListingSink};
use crate::fetch::transfer::{Ended, Transfers};
use crate::output;
use crate::session;
use crate::terminal::path_line;
use recoup::download::Earlier;
use recoup::folder::walk::{FileTask, ListingTask, Skipped, Step, Walk};
use recoup::folder::{Files, LISTING_REORDER_BYTES};
use recoup_forwarder::face::AppId;
use recoup_packet::name::Name;
use recoup_transport::fetch::Delivery;
use std::path::Path;

/// Most entries that are reported one by one when they are skipped.
const MAX_REPORTED: u64 = 20;

/// How a folder is fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Treatment of files that are there.
    pub earlier: Earlier,
    /// A line for every file.
    pub verbose: bool,
    /// Concurrent files and listings.
    pub jobs: usize,
}

/// A folder that is being fetched, with everything in it.
///
/// Most files are small, so that their round trips decide: several files are fetched at a time.
pub(crate) struct Folders<'a> {
    transfers: Transfers<'a>,
    plan: &'a Plan<'a>,
    mode: Mode,
    walk: Walk,
    /// Files in transfer.
    files: Vec<(AppId, Name)>,
}

impl<'a> Folders<'a> {
    /// Prepares the fetch of a folder.
    pub(crate) fn new(
        transfers: Transfers<'a>,
        plan: &'a Plan<'a>,
        mode: Mode,
    ) -> Result<Self, Failure> {
        transfers.observer.files = Some(Files::default());
        Ok(Self { transfers, plan, mode, walk: Walk::new()?, files: Vec::new() })
    }

    /// Fetches the folder `name`, with everything in it, into the folder `target`. Returns the name of its listing.
    ///
    /// # Errors
    /// Also if an entry was skipped: all the rest is fetched then.
    pub(crate) fn run(mut self, name: &Name, target: &Path) -> Result<Name, Failure> {
        let root = self.walk.begin(name, target)?;
        let listing = self.fetch(root).inspect_err(|failure| {
            // Each of them can be gone on with.
            self.transfers.abandon(failure);
        })?;
        self.walk.finish(name)?;
        Ok(listing)
    }

    fn fetch(&mut self, root: ListingTask) -> Result<Name, Failure> {
        self.list(root)?;
        let ended = self.transfers.next()?;
        let listing = ended.object.clone()?;
        self.take(ended).map_err(|(_, failure)| failure)?;
        loop {
            while self.transfers.len() < self.mode.jobs && self.begin_next()? {}
            if self.transfers.len() == 0 {
                while let Some(Skipped { entry, error }) = self.walk.settle_all() {
                    self.skip(&entry, error.into())?;
                }
                self.count();
                return Ok(listing);
            }
            let ended = self.transfers.next()?;
            if let Err((name, failure)) = self.take(ended) {
                self.skip(&name.to_string(), failure)?;
            }
            while let Some(Skipped { entry, error }) = self.walk.settle() {
                self.skip(&entry, error.into())?;
            }
        }
    }

    /// An entry is left out, if the failure concerns no other.
    fn skip(&mut self, entry: &str, failure: Failure) -> Result<(), Failure> {
        if !failure.of_entry {
            return Err(failure);
        }
        if self.walk.files().skipped < MAX_REPORTED {
            self.transfers.observer.eprint(&format!("skipped {entry}: {}", failure.message));
        }
        let Failure { exit, message, advice, .. } = failure;
        let error = recoup::Error::new(exit, message).of_entry();
        self.walk.skip(match advice {
            Some(advice) => error.with_remedy(advice),
            None => error,
        })?;
        self.count();
        Ok(())
    }

    /// Begins with the next entry of the innermost folder; `false` if there is none, or none for now.
    fn begin_next(&mut self) -> Result<bool, Failure> {
        // A listing may have millions of entries that need no transfer.
        self.transfers.check_stop()?;
        match self.walk.step() {
            Ok(Step::Wait) => return Ok(false),
            Ok(Step::Again) => {}
            Ok(Step::List(task)) => self.list(task)?,
            Ok(Step::File(task)) => {
                let name = task.name.to_string();
                if let Err(failure) = self.file(task) {
                    self.skip(&name, failure)?;
                }
            }
            Err(Skipped { entry, error }) => self.skip(&entry, error.into())?,
        }
        Ok(true)
    }

    fn list(&mut self, task: ListingTask) -> Result<(), Failure> {
        let mut config = match self.plan.config(task.name().clone(), session::seed()?) {
            Ok(config) => config,
            Err(failure) => {
                let name = task.name().to_string();
                self.walk.unlisted(task);
                return self.skip(&name, failure);
            }
        };
        config.delivery = Delivery::Ordered { limit_bytes: LISTING_REORDER_BYTES };
        self.transfers.start(config, Box::new(ListingSink::new(task)));
        Ok(())
    }

    fn file(&mut self, task: FileTask) -> Result<(), Failure> {
        let FileTask { name, target, place } = task;
        if self.mode.verbose {
            output::eprint(&format!("{name} -> {}", path_line(&target)));
        }
        let mut config = self.plan.config(name.clone(), session::seed()?)?;
        let requirement = self.plan.requirement();
        let (earlier, place) = (self.mode.earlier, Some(place));
        let sink = FileSink::new(&target, requirement, &mut config, earlier, place)?;
        let app = self.transfers.start(config, Box::new(sink));
        self.files.push((app, name));
        Ok(())
    }

    /// Takes what has ended; if it failed, with its name.
    fn take(&mut self, ended: Ended) -> Result<(), (Name, Failure)> {
        let file = self.files.iter().position(|(app, _)| *app == ended.app);
        let kept = ended.sink.is_kept().then(|| !ended.sink.holds_unverified());
        let taken = match (file.map(|at| self.files.swap_remove(at)), ended.sink.into_listing()) {
            (Some((_, name)), _) => {
                ended.object.map_err(|failure| (name, failure))?;
                match kept {
                    Some(is_verified) => self.walk.kept(is_verified),
                    None => self.walk.fetched(),
                }
                Ok(())
            }
            (None, Some(task)) => {
                let name = task.name().clone();
                let listed = match ended.object {
                    Ok(_) => self.walk.listed(task).map_err(Failure::from),
                    Err(failure) => {
                        self.walk.unlisted(task);
                        Err(failure)
                    }
                };
                listed.map_err(|failure| (name, failure))
            }
            (None, None) => Ok(()),
        };
        self.count();
        taken
    }

    /// Shows the files so far.
    fn count(&mut self) {
        self.transfers.observer.files = Some(self.walk.files());
    }
}
