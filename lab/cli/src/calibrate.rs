//! `recoup calibrate`: the search for what a paper leaves open, by values of the paper that gate nothing.
use crate::error::{EXIT_CODES, Exit, Failure};
use crate::format;
use crate::output;
use crate::running;
use crate::sim::progress::Progress;
use crate::stop::Stop;
use crate::study::{default_folder, draw};
use crate::terminal::path_line;
use clap::Args;
use recoup_lab::calibrate::{self, Landscape};
use recoup_lab::campaign::{Execution, Watch};
use recoup_lab::executor::Threads;
use recoup_lab::simulate::Simulations;
use recoup_lab::table::Format;
use recoup_studies::calibration::Calibration;
use recoup_studies::study::Study;
use recoup_trust::certificate;
use std::cell::RefCell;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const EXAMPLES: &str = "\
Examples:
  recoup calibrate udugama2013
      search, and write a page with the landscape into udugama2013-calibration
  recoup calibrate udugama2013 --results kept --out landscape
      keep the runs in a folder; the same command goes on after an interruption";

/// Search for parameters that a paper leaves open
///
/// Targets, space, rounds and distance are part of the study. Candidates run with few seeds first; the nearest of them go
/// on with more. The folder has a page (README.md), its picture, and chosen.toml: the choice with its date and digests.
/// Gating claims are not evaluated.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), arg_required_else_help = true)]
pub(crate) struct CalibrateArgs {
    /// Name of the study; `recoup study list` prints them
    #[arg(value_name = "KEY")]
    key: String,

    /// Folder for the page; by default KEY-calibration in this folder
    #[arg(short, long, value_name = "DIR", help_heading = "Results")]
    out: Option<PathBuf>,

    /// Folder of the runs; by default below $XDG_CACHE_HOME/recoup/studies
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    results: Option<PathBuf>,

    /// Concurrent runs; by default one for each core
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    jobs: Option<NonZeroUsize>,

    /// Remove runs of an earlier search and begin anew
    #[arg(long, help_heading = "Running")]
    fresh: bool,

    /// Print no progress
    #[arg(short, long, help_heading = "Reports")]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let (study, calibration) = searched(&args.key)?;
    let results = match &args.results {
        Some(folder) => folder.clone(),
        None => default_folder(study.key())?.join("calibration"),
    };
    let begun = Instant::now();
    let (landscape, made) = search(args, &calibration, &results)?;
    let out =
        args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-calibration", args.key)));
    let frozen = write(study, &calibration, &landscape, &out)?;
    if !args.quiet {
        let time = format::seconds(begun.elapsed());
        output::eprint(&format!("made {made} runs in {time}; they are in {}", path_line(&results)));
    }
    output::print(format!("{frozen}\n{}\n", out.join("README.md").display()).as_bytes())
}

/// The study and its search.
fn searched(key: &str) -> Result<(&'static Study, Calibration), Failure> {
    let all = recoup_studies::all();
    let found = all.iter().find(|study| study.key() == key);
    if let Some((study, calibration)) = found.and_then(|it| Some((*it, it.calibration()?))) {
        return Ok((study, calibration));
    }
    let keys: Vec<_> =
        all.iter().filter(|it| it.calibration().is_some()).map(|it| it.key()).collect();
    let problem = match found {
        Some(_) => format!("{key} has no search"),
        None => format!("there is no study `{key}`"),
    };
    Err(Failure::usage(problem).advise(format!("there is a search for {}", keys.join(", "))))
}

/// Makes the missing runs; returns how many they were, too.
fn search(
    args: &CalibrateArgs,
    calibration: &Calibration,
    results: &Path,
) -> Result<(Landscape, usize), Failure> {
    let campaign = calibration.campaign()?;
    let mut folder = campaign.folder(results, args.fresh, Format::Csv)?;
    let threads = args.jobs.map_or_else(Threads::default, |jobs| Threads(jobs.get()));
    let made = Rc::new(RefCell::new(0));
    let mut watch = |round: usize| {
        let mut bar = Progress::new(!args.quiet);
        bar.label = format!("round {}: ", round + 1);
        Box::new(Counted { bar, made: Rc::clone(&made) }) as Box<dyn Watch>
    };
    let stop = Stop::polled()?;
    let landscape = running::campaign(&stop, &threads, |execution: Execution<'_>| {
        let plan = calibration.plan();
        calibrate::search(campaign, &mut folder, plan, (execution, &Simulations), &mut watch)
    })?;
    let made = *made.borrow();
    Ok((landscape, made))
}

/// A bar that counts the runs of all rounds.
struct Counted {
    bar: Progress,
    made: Rc<RefCell<usize>>,
}

impl Watch for Counted {
    fn progress(&mut self, done: usize, all: usize, left: Option<std::time::Duration>) {
        self.bar.progress(done, all, left);
    }

    fn ended(&mut self, row: &recoup_lab::journal::Row, tables: &[recoup_sim::record::Table]) {
        *self.made.borrow_mut() += 1;
        self.bar.ended(row, tables);
    }
}

/// Writes the page, its picture and the choice, and returns the choice.
fn write(
    study: &Study,
    calibration: &Calibration,
    landscape: &Landscape,
    out: &Path,
) -> Result<String, Failure> {
    fs::create_dir_all(out)
        .map_err(|error| Failure::file("make the folder", out.display(), &error))?;
    let put = |name: &str, text: &str| {
        let path = out.join(name);
        fs::write(&path, text).map_err(|error| Failure::file("write", path.display(), &error))
    };
    let date = today()?;
    let none = || Failure::new(Exit::Other, "the search has no candidates");
    let frozen = calibration.freeze(landscape, &date).ok_or_else(none)?;
    let figure = calibration.figure(landscape);
    put(&format!("{}.svg", figure.id), &draw(&figure)?)?;
    put("README.md", &calibration.page(study.key(), landscape))?;
    put("chosen.toml", &frozen)?;
    Ok(frozen)
}

/// The day, in UTC, as `YYYY-MM-DD`.
fn today() -> Result<String, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map_err(|_| Failure::new(Exit::Local, "the clock is before 1970"))?;
    let date = certificate::date(since.as_secs());
    let part = |from, to| date.get(from..to).unwrap_or_default().to_owned();
    Ok(format!("{}-{}-{}", part(0, 4), part(4, 6), part(6, 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_studies_with_a_search_are_searched() {
        assert_eq!(searched("udugama2013").unwrap().0.key(), "udugama2013");
        let failure = searched("yang2016").unwrap_err();
        assert!(failure.message.contains("yang2016 has no search"), "{failure}");
        let failure = searched("yang2017").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.advice.unwrap().contains("udugama2013"));
    }

    #[test]
    fn day_has_the_form_of_iso_8601() {
        let day = today().unwrap();
        assert_eq!((day.len(), &day[4..5], &day[7..8]), (10, "-", "-"), "{day}");
    }
}
