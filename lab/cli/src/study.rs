//! `recoup study`: papers with their experiments, their claims, and a verdict on each.
mod args;
mod picture;
mod scale;
mod text;
mod verdict;
mod verify;

pub(crate) use args::StudyArgs;
pub(crate) use picture::draw;

use crate::emulate;
use crate::emulate::table::{Table, lateness};
use crate::error::{Exit, Failure};
use crate::format;
use crate::output::{self, Stream};
use crate::sim::progress::Progress;
use crate::stop::Stop;
use crate::terminal::{self, path_line};
use args::{Action, Backend, CheckArgs, ReportArgs, RunArgs, Scale, Wanted};
use recoup_lab::executor::Threads;
use recoup_lab::preview::about;
use recoup_studies::claim::{Outcome, Verdict};
use recoup_studies::compare::compare;
use recoup_studies::gather::{Gathered, Gathering, Host};
use recoup_studies::study::Study;
use std::path::{Path, PathBuf};
use text::Page;
use verdict::{Check, Summary};

/// Runs the command.
pub(crate) fn run(args: &StudyArgs) -> Result<(), Failure> {
    match &args.action {
        Action::List => list(),
        Action::Run(args) => experiments(args),
        Action::Check(args) => check(args),
        Action::Report(args) => report(args),
        Action::Verify(args) => verify::run(args, known(&args.key)?),
    }
}

fn list() -> Result<(), Failure> {
    for study in recoup_studies::all() {
        let claims = study.claims();
        let gating = claims.iter().filter(|claim| claim.is_gating()).count();
        let text = format!(
            "{}  {}\n    {}\n    {} claims, {gating} of them gating\n",
            study.key(),
            study.title(),
            study.source(),
            claims.len()
        );
        output::print(text.as_bytes())?;
    }
    Ok(())
}

fn experiments(args: &RunArgs) -> Result<(), Failure> {
    if args.backend == Backend::Sockets {
        return on_sockets(args);
    }
    let mut work = Work::new(&args.wanted, args.out.as_ref())?;
    work.gather(args.figure.as_deref())?;
    let mut figures = work.study.figures(&work.gathered.results);
    if let Some(id) = &args.figure {
        figures.retain(|figure| figure.id == *id);
    }
    let folder = work.folder.join("figures");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    picture::write_all(&figures, &folder)?;
    if args.json {
        output::json(&work.check(&work.verdicts()), Stream::Out)?;
    } else if args.figure.is_none() {
        work.print(&work.verdicts())?;
    }
    if !args.wanted.quiet {
        output::eprint(&format!("{}; figures in {}", work.effort(), path_line(&folder)));
    }
    Ok(())
}

/// Runs on processes what the study has for them, and puts it beside what was simulated.
fn on_sockets(args: &RunArgs) -> Result<(), Failure> {
    let mut work = Work::new(&args.wanted, args.out.as_ref())?;
    let none = || Failure::usage(format!("{} has nothing that runs on sockets", work.study.key()));
    let sockets = work.study.sockets(args.wanted.scale.into()).ok_or_else(none)?;
    let names: Vec<_> = sockets.experiments.iter().map(|it| it.name).collect();
    work.announce();
    let (real, simulated) = work.gathering(args.figure.as_deref(), |gathering| {
        let real = gathering.real(sockets.experiments)?;
        // How often something is simulated is not what --seeds is about here.
        Ok((real, gathering.simulated(sockets.simulated, None)?.results))
    })?;
    work.gathered = real;
    let comparison = compare(&names, &sockets.terms, &simulated, &work.gathered.results);
    let table = Table { title: work.study.key(), comparison: &comparison };
    match args.json {
        true => output::json(&table, Stream::Out)?,
        false => output::print(format!("{table}\n").as_bytes())?,
    }
    if !args.wanted.quiet {
        output::eprint(&lateness(&work.gathered.results));
        output::eprint(&work.effort());
    }
    table.judge()
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut work = Work::new(&args.wanted, args.results.as_ref())?;
    work.gather(None)?;
    let verdicts = work.verdicts();
    match args.json {
        true => output::json(&work.check(&verdicts), Stream::Out)?,
        false => work.print(&verdicts)?,
    }
    work.check(&verdicts).summary.judge(work.study.key())
}

fn report(args: &ReportArgs) -> Result<(), Failure> {
    let mut work = Work::new(&args.wanted, args.results.as_ref())?;
    if !args.run {
        work.check_complete()?;
    }
    work.gather(None)?;
    let results = &work.gathered.results;
    let page = Page {
        study: work.study,
        verdicts: &work.verdicts(),
        dependences: &work.study.dependences(results),
        figures: &work.study.figures(results),
        origin: work.origin(),
        scale: args.wanted.scale.word(),
        seeds: work.gathered.seeds,
    };
    let folder =
        args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-report", work.study.key())));
    let path = text::write(&page, &work.gathered.kept, &folder)?;
    if !args.wanted.quiet {
        output::eprint(&work.effort());
    }
    output::print(format!("{}\n", path.display()).as_bytes())
}

/// The study of that name.
fn known(key: &str) -> Result<&'static Study, Failure> {
    args::study(key).ok_or_else(|| Failure::usage(format!("there is no study `{key}`")))
}

/// A study at work.
struct Work<'a> {
    study: &'static Study,
    wanted: &'a Wanted,
    folder: PathBuf,
    gathered: Gathered,
}

impl<'a> Work<'a> {
    fn new(wanted: &'a Wanted, folder: Option<&PathBuf>) -> Result<Self, Failure> {
        let study = known(&wanted.key)?;
        let folder = folder.map_or_else(|| default_folder(study.key()), |it| Ok(it.clone()))?;
        Ok(Self { study, wanted, folder, gathered: Gathered::default() })
    }

    /// Gathers the runs for `run`, until a signal comes.
    fn gathering<T>(
        &self,
        figure: Option<&str>,
        run: impl FnOnce(&Gathering<'_>) -> recoup_lab::Result<T>,
    ) -> Result<T, Failure> {
        let Wanted { scale, seeds, jobs, fresh, quiet, .. } = *self.wanted;
        let stop = Stop::polled()?;
        let host = Host {
            is_cancelled: &|| stop.wanted().is_some(),
            watch: &|| Box::new(Progress::new(!quiet)),
            show: &|line| {
                if !quiet {
                    output::eprint(line);
                }
            },
            program: emulate::program()?,
        };
        let gathering = Gathering {
            study: self.study,
            scale: scale.into(),
            seeds,
            threads: jobs.map(|jobs| Threads(jobs.get())),
            fresh,
            folder: self.folder.clone(),
            figure,
            host,
        };
        run(&gathering).map_err(|error| stop.failure(error))
    }

    /// Fails if runs are missing. They may take hours, so a report makes none without `--run`.
    fn check_complete(&self) -> Result<(), Failure> {
        let (missing, all, seconds) = self.gathering(None, |gathering| gathering.missing())?;
        if missing == 0 {
            return Ok(());
        }
        let threads = self.wanted.jobs.map_or_else(Threads::default, |jobs| Threads(jobs.get()));
        let (time, place) = (about(seconds / threads.0 as f64), path_line(&self.folder));
        let message = format!("{missing} of {all} runs are missing in {place}");
        Err(Failure::usage(message).advise(format!("--run makes them, in about {time}")))
    }

    /// Announces runs where no bar shows them.
    fn announce(&self) {
        if !self.wanted.quiet && !terminal::can_draw() {
            let (key, word) = (self.study.key(), self.wanted.scale.word());
            let folder = path_line(&self.folder);
            output::eprint(&format!(
                "runs of {key} at scale {word} go into {folder}; every 10 s a line has their number and the time left"
            ));
        }
    }

    fn gather(&mut self, figure: Option<&'a str>) -> Result<(), Failure> {
        self.announce();
        self.gathered = self.gathering(figure, |gathering| gathering.run())?;
        Ok(())
    }

    /// The verdicts. A small version of an experiment is not the paper's, and decides nothing.
    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = self.study.judge(&self.gathered.results);
        if self.wanted.scale == Scale::Smoke {
            verdicts.iter_mut().for_each(|verdict| {
                (verdict.verdict, verdict.former) = (Outcome::Open, None);
                verdict.why = "Undecided: at this scale it is not the paper's experiment.".into();
            });
        }
        verdicts
    }

    fn check<'b>(&'b self, verdicts: &'b [Verdict]) -> Check<'b> {
        let summary = Summary::new(&self.study.claims(), verdicts);
        let (scale, seeds) = (self.wanted.scale.word(), self.gathered.seeds);
        Check { study: self.study.key(), scale, seeds, verdicts, summary }
    }

    fn print(&self, verdicts: &[Verdict]) -> Result<(), Failure> {
        output::print(format!("{}\n", self.check(verdicts)).as_bytes())
    }

    fn effort(&self) -> String {
        let (all, made) = self.gathered.runs;
        let place = path_line(&self.folder);
        match made {
            0 => format!("{all} runs were there already, in {place}"),
            made => {
                let time = format::seconds(self.gathered.elapsed);
                format!("made {made} of {all} runs in {time}; they are in {place}")
            }
        }
    }

    fn origin(&self) -> String {
        let (key, scale) = (self.study.key(), self.wanted.scale.word());
        let seeds = self.wanted.seeds.map_or(String::new(), |seeds| format!(" --seeds {seeds}"));
        format!(
            "Made by recoup {} from {} simulated runs at scale {scale} with {} seeds or more for each point. The same \
             command makes the same runs: recoup study report {key} --run --scale {scale}{seeds}",
            env!("CARGO_PKG_VERSION"),
            self.gathered.runs.0,
            self.gathered.seeds,
        )
    }
}

/// Default folder for the results of a study (XDG Base Directory Specification).
///
/// # Errors
/// If there is no home directory.
pub(crate) fn default_folder(key: &str) -> Result<PathBuf, Failure> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let below = |cache: PathBuf| cache.join(Path::new("recoup/studies")).join(key);
    cache.map(below).ok_or_else(|| {
        Failure::new(Exit::Local, "there is no home directory to keep results in")
            .advise("name a folder for them, or set XDG_CACHE_HOME")
    })
}
