//! Runs the missing experiments of a study, and gathers its results.
use crate::kept::KeptPoint;
use crate::result::{Results, rows};
use crate::study::{Experiment, Scale, Study};
use recoup_lab::campaign::{Campaign, Execution, Runner, Watch};
use recoup_lab::emulate::run::Processes;
use recoup_lab::executor::Threads;
use recoup_lab::folder::ResultFolder;
use recoup_lab::journal::Row;
use recoup_lab::preview::estimate_s;
use recoup_lab::scenario::Seeds;
use recoup_lab::simulate::Simulations;
use recoup_lab::source::Source;
use recoup_lab::table::Format;
use recoup_lab::{Error, curve};
use recoup_sim::record::Table;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

/// Concurrent runs on processes: few enough for each to be in time.
const BESIDE: usize = 2;
/// Folder of the runs on processes.
const SOCKETS: &str = "sockets";

/// Results of a study, with the effort that they took.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The results.
    pub results: Results,
    /// Seeds that each point has at least.
    pub seeds: u64,
    /// Runs in total, and runs made now.
    pub runs: (usize, usize),
    /// Time taken.
    pub elapsed: Duration,
    /// Digests of the simulated runs, in the order of experiments and points.
    pub kept: Vec<KeptPoint>,
}

impl Gathered {
    /// Lowers [`seeds`](Self::seeds) to those of one more experiment; 0 means that it only draws
    /// curves.
    fn note_seeds(&mut self, seeds: u64) {
        self.seeds = [self.seeds, seeds].into_iter().filter(|seeds| *seeds > 0).min().unwrap_or(0);
    }
}

/// The simulations of an experiment that are kept in one folder.
#[derive(Debug)]
pub struct Planned {
    /// Name of the folder.
    pub name: String,
    /// The scenario.
    pub source: Source,
    /// The seeds.
    pub seeds: Seeds,
}

impl Planned {
    /// The simulations of a study; `seeds` replace those of each experiment.
    ///
    /// # Errors
    /// If a scenario cannot be read.
    pub fn of(study: &Study, scale: Scale, seeds: Option<NonZeroU64>) -> Result<Vec<Self>, Error> {
        let mut planned = Vec::new();
        for experiment in study.experiments(scale) {
            let runs = Runs::of(&experiment, seeds.map(u64::from));
            let mut add = |name: &str, settings: &[String], seeds| {
                let source =
                    Source::built_in(name, &experiment.scenario, experiment.files, settings)?;
                planned.push(Self { name: name.into(), source, seeds: Seeds::first(seeds) });
                Ok::<_, Error>(())
            };
            if runs.rows > runs.curves {
                add(experiment.name, &[], runs.rows)?;
            }
            if let Some((_, records)) = experiment.curves {
                add(&curves_of(&experiment), &[recording(records)], runs.curves)?;
            }
        }
        Ok(planned)
    }
}

/// Whether runs of the experiment are in the folder of that name.
fn is_in(experiment: &Experiment, name: &str) -> bool {
    experiment.name == name || curves_of(experiment) == name
}

/// Name of the runs with records.
fn curves_of(experiment: &Experiment) -> String {
    format!("{}-curves", experiment.name)
}

/// The setting that records these tables.
fn recording(records: &[&str]) -> String {
    let quoted: Vec<_> = records.iter().map(|record| format!("\"{record}\"")).collect();
    format!("record.tables=[{}]", quoted.join(","))
}

/// Callbacks of the program that gathers results.
pub struct Host<'a> {
    /// Whether to end now; polled several times a second.
    pub is_cancelled: &'a dyn Fn() -> bool,
    /// Makes the watcher of a campaign.
    pub watch: &'a dyn Fn() -> Box<dyn Watch>,
    /// Shows a line to the user.
    pub show: &'a dyn Fn(&str),
    /// The command `recoup`, for runs on processes.
    pub program: PathBuf,
}

impl fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("program", &self.program).finish_non_exhaustive()
    }
}

/// Settings of a gathering.
#[derive(Debug)]
pub struct Gathering<'a> {
    /// The study.
    pub study: &'static Study,
    /// Scale of the runs.
    pub scale: Scale,
    /// Seeds of each experiment, from 1 to this, instead of its own.
    pub seeds: Option<NonZeroU64>,
    /// Concurrent runs, instead of one for each core, or two on processes.
    pub threads: Option<Threads>,
    /// Whether to remove results of earlier runs.
    pub fresh: bool,
    /// Folder of the study's results.
    pub folder: PathBuf,
    /// Restricts the runs to the needs of one figure.
    pub figure: Option<&'a str>,
    /// Callbacks of the program.
    pub host: Host<'a>,
}

impl Gathering<'_> {
    /// The simulated runs that are missing, of how many, and about how many seconds of one core they take.
    ///
    /// # Errors
    /// If a scenario or a folder cannot be read.
    pub fn missing(&self) -> Result<(usize, usize, f64), Error> {
        let (mut missing, mut all, mut seconds) = (0, 0, 0.0);
        for Planned { name, source, seeds } in Planned::of(self.study, self.scale, self.seeds)? {
            let campaign = Campaign::new(&source, Some(&seeds))?;
            all += campaign.runs();
            let runs = match self.fresh {
                true => campaign.runs(),
                false => campaign.missing_at(&self.place(&name))?.len(),
            };
            if runs > 0 {
                missing += runs;
                seconds += estimate_s(&campaign, runs)?;
            }
        }
        Ok((missing, all, seconds))
    }

    /// Runs the missing experiments, and gathers all results.
    ///
    /// # Errors
    /// If no experiment serves the figure, one cannot be run, the folder cannot be used, or a signal came.
    pub fn run(&self) -> Result<Gathered, Error> {
        self.simulated(self.study.experiments(self.scale), self.seeds)
    }

    /// Runs the missing simulations of these experiments; `seeds` replace their own.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn simulated(
        &self,
        experiments: Vec<Experiment>,
        seeds: Option<NonZeroU64>,
    ) -> Result<Gathered, Error> {
        let mut gathered = Gathered::default();
        for experiment in self.chosen(experiments)? {
            let runs = Runs::of(&experiment, seeds.map(u64::from));
            gathered.note_seeds(runs.rows);
            if runs.rows > runs.curves {
                self.rows(&experiment, &Seeds::first(runs.rows), &mut gathered)?;
            }
            if let Some((_, records)) = experiment.curves {
                self.curves(&experiment, runs, records, &mut gathered)?;
            }
        }
        Ok(gathered)
    }

    /// Runs the missing repetitions of these experiments on processes, and gathers all results.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn real(&self, experiments: Vec<Experiment>) -> Result<Gathered, Error> {
        let mut gathered = Gathered::default();
        for experiment in self.chosen(experiments)? {
            let seeds = self.seeds.map_or(experiment.seeds, u64::from);
            gathered.note_seeds(seeds);
            let threads = self.threads.unwrap_or(Threads(BESIDE));
            let processes = self.processes();
            let name = format!("{SOCKETS}/{}", experiment.name);
            let way = Way { name: &name, settings: &[], runner: &processes, threads };
            let made = self.campaign(&experiment, &way, &Seeds::first(seeds), &mut gathered)?;
            let rows = rows(&made.campaign, &made.folder)?;
            gathered.results.experiments.insert(experiment.name.to_owned(), rows);
        }
        Ok(gathered)
    }

    /// The experiments that the chosen figure needs; all if no figure is chosen.
    fn chosen(&self, mut experiments: Vec<Experiment>) -> Result<Vec<Experiment>, Error> {
        let Some(figure) = self.figure else { return Ok(experiments) };
        let mut known: Vec<_> = experiments.iter().flat_map(|it| it.serves.clone()).collect();
        known.sort_unstable();
        known.dedup();
        experiments.retain(|experiment| experiment.is_for(figure));
        if !experiments.is_empty() {
            return Ok(experiments);
        }
        let has = |scale: &Scale| self.study.experiments(*scale).iter().any(|it| it.is_for(figure));
        let elsewhere = [Scale::Check, Scale::Verdict, Scale::Paper].into_iter().find(has);
        let remedy = match elsewhere {
            Some(scale) => format!("--scale {} has it", scale.word()),
            None => format!("there is {}", known.join(", ")),
        };
        Err(Error::usage(format!("there is no figure `{figure}` at this scale"))
            .with_remedy(remedy))
    }

    fn rows(
        &self,
        experiment: &Experiment,
        seeds: &Seeds,
        gathered: &mut Gathered,
    ) -> Result<(), Error> {
        let way = self.simulating(experiment.name, &[]);
        let made = self.campaign(experiment, &way, seeds, gathered)?;
        let rows = rows(&made.campaign, &made.folder)?;
        gathered.results.experiments.insert(experiment.name.to_owned(), rows);
        Ok(())
    }

    /// The curves of some seeds. Runs with records are kept apart, so that the others stay small. If these are all the
    /// runs, they make the rows, too.
    fn curves(
        &self,
        experiment: &Experiment,
        runs: Runs,
        records: &[&str],
        gathered: &mut Gathered,
    ) -> Result<(), Error> {
        let seeds = &Seeds::first(runs.curves);
        let settings = [recording(records)];
        let name = curves_of(experiment);
        let way = self.simulating(&name, &settings);
        let made = self.campaign(experiment, &way, seeds, gathered)?;
        if (1..=runs.curves).contains(&runs.rows) {
            let rows = rows(&made.campaign, &made.folder)?;
            gathered.results.experiments.insert(experiment.name.to_owned(), rows);
        }
        let stages: Vec<_> = made.campaign.points.iter().collect();
        for (stage, seed) in stages.iter().flat_map(|it| seeds.iter().map(move |seed| (it, seed))) {
            for record in records {
                // The table of a record is named without its parameters.
                let table = record.split('(').next().unwrap_or(record);
                let file = format!("tables/{table}/{}-{seed}.csv", stage.key);
                for (owner, curve) in curve::read(&made.folder.path().join(file))? {
                    let key = format!("{}/{owner}/{table}", stage.point.label());
                    let place = (experiment.name.to_owned(), key);
                    gathered.results.curves.entry(place).or_default().insert(seed, curve);
                }
            }
        }
        Ok(())
    }

    fn processes(&self) -> Processes {
        Processes { program: self.host.program.clone() }
    }

    fn simulating<'b>(&self, name: &'b str, settings: &'b [String]) -> Way<'b> {
        let threads = self.threads.unwrap_or_default();
        Way { name, settings, runner: &Simulations, threads }
    }

    fn source(
        &self,
        experiment: &Experiment,
        name: &str,
        settings: &[String],
    ) -> Result<Source, Error> {
        Source::built_in(name, &experiment.scenario, experiment.files, settings)
    }

    fn campaign(
        &self,
        experiment: &Experiment,
        way: &Way<'_>,
        seeds: &Seeds,
        gathered: &mut Gathered,
    ) -> Result<Made, Error> {
        let Way { name, settings, runner, threads } = *way;
        let source = self.source(experiment, name, settings)?;
        let (campaign, mut folder) = self.opened(name, &source, seeds, runner)?;
        let execution = self.execution(&threads);
        let begun = Instant::now();
        let mut counted = Counted { watch: (self.host.watch)(), made: 0 };
        let result = campaign.run(&mut folder, execution, runner, &mut counted);
        gathered.elapsed += begun.elapsed();
        result?;
        gathered.runs.0 += campaign.runs();
        gathered.runs.1 += counted.made;
        if runner.repeats() {
            for stage in campaign.points.iter() {
                let rows = campaign.rows(&folder, &stage)?;
                gathered.kept.push(KeptPoint {
                    experiment: name.to_owned(),
                    point: stage.point.label(),
                    scenario: stage.key,
                    digests: rows.into_iter().map(|row| row.digest).collect(),
                });
            }
        }
        Ok(Made { campaign, folder })
    }

    /// Opens the folder of some simulations of the study, whose runs are then made elsewhere.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(&self, planned: &Planned) -> Result<(Campaign, ResultFolder), Error> {
        self.opened(&planned.name, &planned.source, &planned.seeds, &Simulations)
    }

    /// The campaign of a folder. Results of another scenario are put aside.
    fn opened(
        &self,
        name: &str,
        source: &Source,
        seeds: &Seeds,
        runner: &dyn Runner,
    ) -> Result<(Campaign, ResultFolder), Error> {
        let campaign = Campaign::new(source, Some(seeds))?;
        let path = self.place(name);
        let threads = self.threads.unwrap_or_default();
        let about = |runs: usize| {
            (self.host.show)(&format!(
                "{name}: another recoup began it; makes {runs} of its runs again to compare"
            ));
        };
        let goes_on = || campaign.goes_on(&path, self.execution(&threads), runner, &about);
        let fresh = self.fresh || !goes_on()?;
        if fresh && !self.fresh && path.exists() {
            let kept = put_aside(&path)?;
            let kept = kept.display();
            (self.host.show)(&format!(
                "{name}: what it runs has changed; begins anew ({kept} has what was run before)"
            ));
        }
        let folder = campaign.folder(&path, fresh, Format::Csv)?;
        Ok((campaign, folder))
    }

    fn execution<'b>(&'b self, threads: &'b Threads) -> Execution<'b> {
        Execution { executor: threads, is_cancelled: self.host.is_cancelled }
    }

    /// Folder of an experiment. Runs of small scale have their own, and so have those of a study that [stands
    /// apart](Study::stands_apart), unless a lesser scale has the same runs.
    fn place(&self, name: &str) -> PathBuf {
        let scale = self.home(name);
        match scale == Scale::Smoke || self.study.stands_apart(scale) {
            true => self.folder.join(scale.word()).join(name),
            false => self.folder.join(name),
        }
    }

    /// The least scale from that of a check on whose experiment of that name has the same scenario.
    fn home(&self, name: &str) -> Scale {
        let at = |scale| {
            let all = self.study.experiments(scale).into_iter();
            all.map(|it| Experiment { seeds: 0, ..it }).find(|it| is_in(it, name))
        };
        let lesser: &[Scale] = match self.scale {
            Scale::Smoke | Scale::Check => &[],
            Scale::Verdict => &[Scale::Check],
            Scale::Paper => &[Scale::Check, Scale::Verdict],
        };
        let Some(own) = (!lesser.is_empty()).then(|| at(self.scale)).flatten() else {
            return self.scale;
        };
        let is_same = |scale: &&Scale| at(**scale).as_ref() == Some(&own);
        *lesser.iter().find(is_same).unwrap_or(&self.scale)
    }
}

/// Renames results that no command can resume, since they may have taken hours. Earlier renamed
/// results are removed.
fn put_aside(path: &Path) -> Result<PathBuf, Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before");
    let kept = path.with_file_name(name);
    let moved = match fs::remove_dir_all(&kept) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::rename(path, &kept),
    };
    moved.map_err(|error| Error::file("put aside", path.display(), &error))?;
    Ok(kept)
}

/// Seeds of an experiment, from 1 on, for rows and for curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    rows: u64,
    curves: u64,
}

impl Runs {
    /// The experiment's own seeds, or `wanted`; never more curves than it keeps, and no rows if it
    /// only wants curves.
    fn of(experiment: &Experiment, wanted: Option<u64>) -> Self {
        let rows = if experiment.seeds > 0 { wanted.unwrap_or(experiment.seeds) } else { 0 };
        let kept = experiment.curves.map_or(0, |(kept, _)| kept);
        Self { rows, curves: wanted.map_or(kept, |wanted| wanted.min(kept)) }
    }
}

/// Folder, settings and executor of an experiment's runs.
struct Way<'a> {
    name: &'a str,
    settings: &'a [String],
    runner: &'a dyn Runner,
    threads: Threads,
}

/// A watcher that counts the runs made.
struct Counted {
    watch: Box<dyn Watch>,
    made: usize,
}

impl Watch for Counted {
    fn progress(&mut self, done: usize, all: usize, left: Option<Duration>) {
        self.watch.progress(done, all, left);
    }

    fn ended(&mut self, row: &Row, tables: &[Table]) {
        self.made += 1;
        self.watch.ended(row, tables);
    }
}

struct Made {
    campaign: Campaign,
    folder: ResultFolder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_cannot_be_resumed_are_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timer");
        for content in ["first", "second"] {
            fs::create_dir(&path).unwrap();
            fs::write(path.join("runs.csv"), content).unwrap();
            let kept = put_aside(&path).unwrap();
            assert_eq!(kept, folder.path().join("timer.before"));
            assert_eq!(fs::read_to_string(kept.join("runs.csv")).unwrap(), content);
            assert!(!path.exists());
        }
    }

    #[test]
    fn folders_of_a_study_have_different_names() {
        for study in crate::all() {
            let planned = Planned::of(study, Scale::Smoke, NonZeroU64::new(2)).unwrap();
            let names: std::collections::BTreeSet<_> = planned.iter().map(|it| &it.name).collect();
            assert_eq!(names.len(), planned.len(), "{}", study.key());
            assert!(planned.iter().all(|it| it.seeds.iter().count() <= 2 && !it.name.is_empty()));
        }
    }

    /// Lets `look` at a gathering of carofiglio2016 that runs nothing.
    fn at<T>(scale: Scale, figure: Option<&str>, look: impl FnOnce(&Gathering<'_>) -> T) -> T {
        let host = Host {
            is_cancelled: &|| false,
            watch: &|| panic!("nothing is run"),
            show: &|_| {},
            program: PathBuf::new(),
        };
        look(&Gathering {
            study: &crate::carofiglio2016::CAROFIGLIO2016,
            scale,
            seeds: None,
            threads: None,
            fresh: false,
            folder: PathBuf::from("results"),
            figure,
            host,
        })
    }

    #[test]
    fn unknown_figure_is_looked_for_at_other_scales() {
        let remedy = |figure| {
            at(Scale::Check, Some(figure), |it| {
                let error = it.chosen(it.study.experiments(it.scale)).unwrap_err();
                error.remedy().unwrap_or_default().to_owned()
            })
        };
        assert_eq!(remedy("E-22"), "--scale verdict has it");
        assert!(remedy("nothing").starts_with("there is 5a, "), "{}", remedy("nothing"));
    }

    #[test]
    fn same_runs_of_two_scales_are_kept_once() {
        for (scale, name, expected) in [
            (Scale::Check, "open-joint", "results/open-joint"),
            (Scale::Verdict, "open-joint", "results/open-joint"),
            (Scale::Smoke, "open-joint", "results/smoke/open-joint"),
            (Scale::Check, "producer", "results/producer"),
            (Scale::Verdict, "producer", "results/verdict/producer"),
            (Scale::Paper, "producer", "results/paper/producer"),
            // More seeds of the same runs.
            (Scale::Verdict, "joint", "results/joint"),
            (Scale::Verdict, "joint-fast", "results/verdict/joint-fast"),
            (Scale::Verdict, "sockets/joint", "results/verdict/sockets/joint"),
        ] {
            let place = at(scale, None, |it| it.place(name));
            assert_eq!(place, Path::new(expected), "{name} at {}", scale.word());
        }
    }

    #[test]
    fn runs_with_curves_may_make_the_rows() {
        let of = |seeds, curves: Option<u64>, wanted| {
            let curves = curves.map(|kept| (kept, &[] as &[&str]));
            let (scenario, files) = (String::new(), &[]);
            let experiment =
                Experiment { name: "", serves: Vec::new(), scenario, files, seeds, curves };
            let runs = Runs::of(&experiment, wanted);
            (runs.rows, runs.curves)
        };
        assert_eq!(of(20, None, None), (20, 0));
        assert_eq!(of(100, Some(20), None), (100, 20));
        assert_eq!(of(100, Some(20), Some(3)), (3, 3));
        assert_eq!(of(0, Some(20), Some(30)), (0, 20));
    }
}
