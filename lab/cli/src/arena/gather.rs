//! Makes the runs that are missing, and scores every run that there is.
use super::args::{ArenaArgs, Backend};
use super::choice::Chosen;
use crate::emulate;
use crate::error::Failure;
use crate::running;
use crate::sim::progress::Progress;
use crate::stop::Stop;
use recoup_lab::campaign::{Campaign, Runner, Watch};
use recoup_lab::executor::Threads;
use recoup_lab::folder::ResultFolder;
use recoup_lab::journal::Row;
use recoup_lab::simulate::Simulations;
use recoup_lab::table::Format;
use recoup_sim::record::Table;
use recoup_studies::arena::case::Case;
use recoup_studies::arena::kept::summaries;
use recoup_studies::arena::summary::Summary;
use recoup_transport::transport::Transport;
use std::path::PathBuf;
use std::time::Duration;

/// The runs to be made.
pub(super) struct Gathering<'a> {
    pub args: &'a ArenaArgs,
    pub transports: &'a [Transport],
    pub chosen: &'a [Chosen],
}

/// The results.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// For each case, in their order, the summary of each transport, in theirs.
    pub summaries: Vec<Vec<Summary>>,
    /// Kept runs, and runs of this call.
    pub runs: (usize, usize),
}

impl Gathering<'_> {
    /// Makes the missing runs.
    ///
    /// # Errors
    /// If a case cannot run, the folder cannot be used, or a signal came. Complete runs are kept.
    pub(super) fn run(&self) -> Result<Gathered, Failure> {
        let stop = Stop::polled()?;
        let mut campaigns = Vec::new();
        for chosen in self.chosen {
            let source = chosen.source(self.transports)?;
            let mut campaign = Campaign::new(&source, self.args.seeds.as_ref())?;
            campaign.replaces_changed_points = true;
            campaigns.push(campaign);
        }
        let all: usize = campaigns.iter().map(Campaign::runs).sum();
        let mut progress = Progress::new(!self.args.quiet);
        let mut gathered = Gathered { runs: (all, 0), ..Gathered::default() };
        let mut before = 0;
        for (chosen, campaign) in self.chosen.iter().zip(&campaigns) {
            progress.label = format!("{}: ", chosen.case.name);
            let mut watch = Whole { progress: &mut progress, before, all };
            let folder = self.make(&chosen.case, campaign, &stop, &mut watch);
            if folder.is_err() {
                progress.finish();
            }
            gathered.summaries.push(summaries(&chosen.case, campaign, &folder?)?);
            before += campaign.runs();
        }
        progress.finish();
        gathered.runs.1 = progress.made;
        Ok(gathered)
    }

    fn make(
        &self,
        case: &Case,
        campaign: &Campaign,
        stop: &Stop,
        watch: &mut dyn Watch,
    ) -> Result<ResultFolder, Failure> {
        let processes = emulate::processes()?;
        let (runner, threads): (&dyn Runner, _) = match self.args.backend {
            Backend::Simulated => (&Simulations, Threads::default()),
            Backend::Sockets => (&processes, Threads(1)),
        };
        let threads = self.args.jobs.map_or(threads, |jobs| Threads(jobs.get()));
        let mut folder =
            campaign.folder(&place(self.args, &case.name), self.args.fresh, Format::Csv)?;
        running::campaign(stop, &threads, |execution| {
            campaign.run(&mut folder, execution, runner, watch)
        })?;
        Ok(folder)
    }
}

/// Where the runs of the case called `name` are kept.
pub(super) fn place(args: &ArenaArgs, name: &str) -> PathBuf {
    match args.backend {
        Backend::Simulated => args.out.join(name),
        Backend::Sockets => args.out.join("sockets").join(name),
    }
}

/// Progress of all cases together.
struct Whole<'a> {
    progress: &'a mut Progress,
    /// Runs of the cases before this one.
    before: usize,
    all: usize,
}

impl Watch for Whole<'_> {
    fn progress(&mut self, done: usize, _: usize, _: Option<Duration>) {
        self.progress.progress(self.before + done, self.all, None);
    }

    fn ended(&mut self, row: &Row, tables: &[Table]) {
        self.progress.ended(row, tables);
    }
}
