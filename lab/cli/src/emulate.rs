//! `recoup emulate`: networks on real processes: a topology for commands to run on, or a scenario beside its simulation.
mod args;
mod command;
pub(crate) mod duel;
pub(crate) mod guard;
mod lab;
pub(crate) mod table;
#[cfg(test)]
mod tests;

pub(crate) use args::EmulateArgs;

use crate::error::{Exit, Failure, reason};
use crate::output::{self, Stream};
use crate::running;
use crate::sim::progress::Progress;
use crate::stop::Stop;
use recoup_lab::campaign::{Campaign, Runner};
use recoup_lab::emulate::plan::Plan;
use recoup_lab::emulate::run::Processes;
use recoup_lab::executor::Threads;
use recoup_lab::simulate::Simulations;
use recoup_lab::source::{Given, Source};
use recoup_lab::table::Format;
use recoup_studies::compare::{Terms, compare};
use recoup_studies::result::{Results, rows};
use std::path::PathBuf;
use table::Table;

/// Default of the tolerated difference of mean goodputs.
const WITHIN_PERCENT: f64 = 5.0;

/// Runs the command.
pub(crate) fn run(args: &EmulateArgs) -> Result<(), Failure> {
    let (given, settings) = (Given::read(&args.file)?, args.all_settings());
    let is_topology = given.is_topology();
    args.check(is_topology)?;
    if is_topology {
        return lab::run(args, given, &settings);
    }
    let source = Source::scenario_in(given, &settings)?;
    let campaign = Campaign::new(&source, args.seeds.as_ref())?;
    let work = Work { args, campaign, stop: Stop::polled()? };
    let name = source.name.as_str();
    let real = work.results(name, "sockets", &processes()?, Threads(1))?;
    let simulated = work.results(name, "simulated", &Simulations, Threads::default())?;
    let within = args.within.unwrap_or(WITHIN_PERCENT) / 100.0;
    let terms = Terms { within, ..Terms::read(include_str!("emulate/terms.toml")) };
    let comparison = compare(&[name], &terms, &simulated, &real);
    let table = Table { title: name, comparison: &comparison };
    if args.json {
        output::json(&table, Stream::Out)?;
    } else if !args.quiet {
        output::print(format!("{table}\n").as_bytes())?;
    }
    if !args.quiet {
        output::eprint(&table::lateness(&real));
    }
    table.judge()
}

struct Work<'a> {
    args: &'a EmulateArgs,
    campaign: Campaign,
    stop: Stop,
}

impl Work<'_> {
    /// Runs the scenario with one executor, in a folder of that name.
    fn results(
        &self,
        name: &str,
        executor: &str,
        runner: &dyn Runner,
        threads: Threads,
    ) -> Result<Results, Failure> {
        let out = self.args.out.clone().unwrap_or_else(|| self.default_folder()).join(executor);
        let mut folder = self.campaign.folder(&out, self.args.fresh, Format::Csv)?;
        let mut progress = Progress::new(!self.args.quiet);
        let threads = self.args.jobs.map_or(threads, |jobs| Threads(jobs.get()));
        let result = running::campaign(&self.stop, &threads, |execution| {
            self.campaign.run(&mut folder, execution, runner, &mut progress)
        });
        progress.finish();
        result?;
        let mut results = Results::default();
        results.experiments.insert(name.to_owned(), rows(&self.campaign, &folder)?);
        Ok(results)
    }

    /// `line.toml` has its results in `line-emulated`.
    fn default_folder(&self) -> PathBuf {
        let stem = self.args.file.file_stem().filter(|stem| *stem != "-");
        let stem = stem.map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy());
        PathBuf::from(format!("{stem}-emulated"))
    }
}

/// Whether a network can run as processes.
///
/// # Errors
/// The parts of the scenario that sockets do not support, as a sentence.
pub(crate) fn can_run(network: &recoup_sim::network::Network) -> Result<(), String> {
    Plan::new(network).map(drop)
}

/// Runs on processes of this program.
pub(crate) fn processes() -> Result<Processes, Failure> {
    Ok(Processes { program: program()? })
}

/// The file of this program, to start it again.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    crate::program().map_err(|error| {
        Failure::new(Exit::Other, format!("cannot find this program: {}", reason(&error)))
    })
}
