//! Calibration: the point of a sweep whose metrics come nearest to given values.
//!
//! The points of a sweep are the candidates. A candidate deviates from each [`Target`] by a number of units; its
//! *distance* is the root of the mean square of these deviations. The search is successive halving over seeds: each
//! [`Round`] makes the runs of its candidates with more seeds than the one before, and hands the nearest of them on.
//! All runs are kept in one folder, so an interrupted search goes on where it ended.
use crate::campaign::{Campaign, Execution, Runner, Watch};
use crate::folder::ResultFolder;
use crate::journal::Row;
use crate::scenario::Point;
use crate::{Error, digest};
use std::fmt::Write as _;

/// A value that a metric should have.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name for the reader.
    pub name: &'static str,
    /// The metric, whose mean over seeds is compared.
    pub metric: &'static str,
    /// The wanted value.
    pub wanted: f64,
    /// Unit of the values; empty if they have none.
    pub unit: &'static str,
    /// How far is one unit of distance.
    pub deviation: Deviation,
}

/// Measure of a deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deviation {
    /// The logarithm of found over wanted, in units of this share.
    Relative(f64),
    /// Found less wanted, in units of this size.
    Absolute(f64),
}

impl Target {
    /// The deviation in units; infinite if nothing was found, or the logarithm does not exist.
    pub fn deviation(&self, found: Option<f64>) -> f64 {
        let deviation = found.map(|found| match self.deviation {
            Deviation::Relative(share) => (found / self.wanted).ln() / share,
            Deviation::Absolute(size) => (found - self.wanted) / size,
        });
        deviation.filter(|it| it.is_finite()).unwrap_or(f64::INFINITY)
    }
}

/// The root of the mean square of the deviations of `found` from `targets`.
pub fn distance(targets: &[Target], found: &[Option<f64>]) -> f64 {
    let square = |(target, found): (&Target, &Option<f64>)| target.deviation(*found).powi(2);
    let sum: f64 = targets.iter().zip(found).map(square).sum();
    (sum / targets.len().max(1) as f64).sqrt()
}

/// A round of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Each candidate has the seeds from 1 to this.
    pub seeds: u64,
    /// Most candidates of the round: the nearest of the round before.
    pub candidates: usize,
}

/// A candidate in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The point.
    pub point: Point,
    /// The mean of each target's metric over the seeds; `None` unless each run has it.
    pub found: Vec<Option<f64>>,
    /// The distance.
    pub distance: f64,
}

/// A finished search.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// The candidates of each round, nearest first; of equally near ones the first in the sweep.
    pub rounds: Vec<Vec<Score>>,
    /// Digest of all runs that it rests on.
    pub digest: String,
}

impl Landscape {
    /// The nearest candidate of the last round.
    pub fn chosen(&self) -> Option<&Score> {
        self.rounds.last()?.first()
    }
}

/// Searches the points of a campaign. `watch` makes the watcher of each round.
///
/// # Errors
/// As [`Campaign::run`].
pub fn search(
    mut campaign: Campaign,
    folder: &mut ResultFolder,
    (targets, rounds): (&[Target], &[Round]),
    (execution, runner): (Execution<'_>, &dyn Runner),
    watch: &mut dyn FnMut(usize) -> Box<dyn Watch>,
) -> Result<Landscape, Error> {
    let mut all: Vec<Vec<Score>> = Vec::new();
    for (number, round) in rounds.iter().enumerate() {
        if let Some(before) = all.last() {
            let nearest: Vec<_> =
                before.iter().take(round.candidates).map(|score| score.point.number).collect();
            campaign.points.retain(|stage| nearest.contains(&stage.point.number));
        }
        campaign.seeds = (1..=round.seeds).collect();
        campaign.run(folder, execution, runner, &mut *watch(number))?;
        all.push(scores(&campaign, folder, targets));
    }
    Ok(Landscape { rounds: all, digest: digest_of(&folder.journal.rows) })
}

fn scores(campaign: &Campaign, folder: &ResultFolder, targets: &[Target]) -> Vec<Score> {
    let score = |stage: &crate::campaign::Stage| {
        let rows = campaign.rows(folder, stage);
        let found: Vec<_> = targets.iter().map(|target| mean(&rows, target.metric)).collect();
        let distance = distance(targets, &found);
        Score { point: stage.point.clone(), found, distance }
    };
    let mut scores: Vec<_> = campaign.points.iter().map(score).collect();
    scores.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    scores
}

fn mean(rows: &[&Row], metric: &str) -> Option<f64> {
    let values: Option<Vec<f64>> = rows.iter().map(|row| row.metric(metric)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Digest of runs, in whatever order they ended.
fn digest_of(rows: &[Row]) -> String {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by(|a, b| (&a.point, a.seed).cmp(&(&b.point, b.seed)));
    let text = rows.iter().fold(String::new(), |mut text, row| {
        let _ = writeln!(text, "{} {} {}", row.point, row.seed, row.digest);
        text
    });
    digest::of_text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Threads;
    use crate::simulate::Simulations;
    use crate::source::Source;
    use crate::table::Format;

    const SCENARIO: &str = r#"
stop = "60 s"
[topology]
links = ["c1-s1"]
[link]
rate = "10 Mbit/s"
loss = "bernoulli(p=0.01)"
[fetch]
object = "/s1/file"
[serve]
size = "100 kB"
[applications.s1]
kind = "serve"
node = "s1"
prefix = "/s1/file"
[applications.c1]
kind = "fetch"
node = "c1"
[sweep]
link.delay = ["5 ms", "20 ms", "40 ms", "80 ms"]
"#;

    const ROUNDS: [Round; 2] =
        [Round { seeds: 1, candidates: usize::MAX }, Round { seeds: 3, candidates: 2 }];

    fn target(wanted: f64) -> Target {
        let deviation = Deviation::Relative(0.01);
        Target { name: "time", metric: "c1.time_s", wanted, unit: "s", deviation }
    }

    /// Searches in `path`; returns the result with the number of runs of each round that were made.
    fn searched(path: &std::path::Path, wanted: f64) -> (Landscape, Vec<usize>) {
        struct Count(std::rc::Rc<std::cell::RefCell<Vec<usize>>>, usize);
        impl Watch for Count {
            fn progress(&mut self, _: usize, _: usize, _: Option<std::time::Duration>) {}
            fn ended(&mut self, _: &Row, _: &[recoup_sim::record::Table]) {
                self.0.borrow_mut()[self.1] += 1;
            }
        }
        let source = Source::built_in("test", SCENARIO, &[], &[]).unwrap();
        let campaign = Campaign::new(&source, None).unwrap();
        let mut folder = campaign.folder(path, false, Format::Csv).unwrap();
        let execution = Execution { executor: &Threads(1), is_cancelled: &|| false };
        let made = std::rc::Rc::new(std::cell::RefCell::new(vec![0; ROUNDS.len()]));
        let mut watch = |round| Box::new(Count(made.clone(), round)) as Box<dyn Watch>;
        let plan = (&[target(wanted)][..], &ROUNDS[..]);
        let by = (execution, &Simulations as &dyn Runner);
        let found = search(campaign, &mut folder, plan, by, &mut watch).unwrap();
        let made = made.borrow().clone();
        (found, made)
    }

    #[test]
    fn nearest_candidates_get_more_seeds() {
        let folder = tempfile::tempdir().unwrap();
        let (first, made) = searched(folder.path(), 1e-6);
        assert_eq!(made, [4, 4]);
        let order: Vec<_> = first.rounds[0].iter().map(|score| score.point.number).collect();
        assert_eq!(order[0], 0, "the shortest delay comes nearest to no time at all");
        assert_eq!(first.rounds[1].len(), 2);
        assert!(first.rounds[1].iter().all(|score| order[..2].contains(&score.point.number)));
        assert_eq!(first.chosen().unwrap().point.label(), "link.delay=5 ms");
        // The same search makes no run again; another target needs runs of other candidates only.
        let (again, made) = searched(folder.path(), 1e-6);
        assert_eq!((again, made), (first.clone(), vec![0, 0]));
        let (other, made) = searched(folder.path(), 1e6);
        assert_eq!(other.chosen().unwrap().point.label(), "link.delay=80 ms");
        assert_eq!(made[0], 0);
        assert_ne!(other.digest, first.digest);
    }

    #[test]
    fn distance_is_the_root_of_the_mean_square() {
        let zero = Deviation::Absolute(2.0);
        let none = Target { wanted: 0.0, metric: "c1.lost", deviation: zero, ..target(1.0) };
        let targets = [target(10.0), none];
        let exact = [Some(10.0), Some(0.0)];
        assert_eq!(distance(&targets, &exact), 0.0);
        let off = distance(&targets, &[Some(10.0 * 0.03_f64.exp()), Some(8.0)]);
        assert!((off - (12.5_f64).sqrt()).abs() < 1e-9, "{off}");
        assert_eq!(distance(&targets, &[Some(10.0), None]), f64::INFINITY);
        assert_eq!(distance(&targets, &[Some(0.0), Some(0.0)]), f64::INFINITY);
    }
}
