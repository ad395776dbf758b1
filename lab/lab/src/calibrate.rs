//! Calibration: the point of a sweep whose metrics come nearest to given values.
//!
//! The points of a sweep are the candidates; points that differ only in the inner axis of a [`Plan`] are one. A
//! candidate deviates from each [`Target`] by a number of units; its *distance* is the root of the mean square of these
//! deviations. The search is successive halving over seeds: each [`Round`] makes the runs of its candidates with more
//! seeds than the one before, and hands the nearest of them on. All runs are kept in one folder, so an interrupted
//! search goes on where it ended.
use crate::campaign::{Campaign, Execution, Runner, Stage, Watch};
use crate::folder::ResultFolder;
use crate::journal::{Row, Rows};
use crate::scenario::Point;
use crate::{Error, digest};
use serde::Deserialize;
use std::collections::HashMap;

/// A value that a metric should have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name for the reader.
    pub name: String,
    /// The value of a candidate that is compared.
    pub measure: Measure,
    /// The wanted value.
    pub wanted: f64,
    /// Unit of the values; empty if they have none.
    #[serde(default)]
    pub unit: String,
    /// How far is one unit of distance.
    pub deviation: Deviation,
}

/// A value of a candidate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Measure {
    /// The mean of a metric at one value of the inner axis; over all runs if there is none.
    Mean {
        /// The metric.
        metric: String,
        /// The value of the inner axis.
        at: Option<String>,
    },
    /// The sum of the means of metrics at one value of the inner axis, each times a factor.
    Sum {
        /// Factors and metrics.
        parts: Vec<(f64, String)>,
        /// The value of the inner axis.
        at: String,
    },
    /// The mean of a metric at one value of the inner axis over its mean at another.
    Ratio {
        /// The metric.
        metric: String,
        /// The value above.
        above: String,
        /// The value below.
        below: String,
    },
}

/// Measure of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// The logarithm of found over wanted, in units of this share.
    Relative(f64),
    /// Found less wanted, in units of this size.
    Absolute(f64),
    /// None if found is at least wanted; else as [`Deviation::Relative`].
    AtLeast(f64),
    /// None if found is at most wanted; else as [`Deviation::Relative`].
    AtMost(f64),
}

impl Target {
    /// The deviation in units; infinite if nothing was found, or the logarithm does not exist.
    pub fn deviation(&self, found: Option<f64>) -> f64 {
        let deviation = found.map(|found| match self.deviation {
            Deviation::AtLeast(_) if found >= self.wanted => 0.0,
            Deviation::AtMost(_) if found <= self.wanted => 0.0,
            Deviation::Relative(share) | Deviation::AtLeast(share) | Deviation::AtMost(share) => {
                (found / self.wanted).ln() / share
            }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Each candidate has the seeds from 1 to this.
    pub seeds: u64,
    /// Most candidates of the round: the nearest of the round before. The first round has all.
    #[serde(default = "all")]
    pub candidates: usize,
}

const fn all() -> usize {
    usize::MAX
}

/// A search: its targets, its rounds, and its inner axis.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The values to come near to.
    pub targets: &'a [Target],
    /// The rounds.
    pub rounds: &'a [Round],
    /// The axis whose values belong to each candidate.
    pub inner: Option<&'a str>,
}

/// A candidate in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Its place among the candidates of its round, from 0.
    pub number: usize,
    /// Name of each axis but the inner one, with the value.
    pub values: Vec<(String, String)>,
    /// The value of each target's measure; `None` unless each run has it.
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

/// Points that differ only in the inner axis.
#[derive(Debug)]
struct Candidate {
    values: Vec<(String, String)>,
    stages: Vec<Stage>,
}

/// Searches the points of a campaign. `watch` makes the watcher of each round.
///
/// # Errors
/// As [`Campaign::run`].
pub fn search(
    mut campaign: Campaign,
    folder: &mut ResultFolder,
    plan: Plan<'_>,
    (execution, runner): (Execution<'_>, &dyn Runner),
    watch: &mut dyn FnMut(usize) -> Box<dyn Watch>,
) -> Result<Landscape, Error> {
    let mut all: Vec<Vec<Score>> = Vec::new();
    for (number, round) in plan.rounds.iter().enumerate() {
        if let Some(before) = all.last() {
            let nearest: Vec<_> = before.iter().take(round.candidates).collect();
            campaign.points.retain(|stage| {
                let values = outer(&stage.point, plan.inner);
                nearest.iter().any(|score| score.values == values)
            });
        }
        campaign.seeds = (1..=round.seeds).collect();
        campaign.run(folder, execution, runner, &mut *watch(number))?;
        all.push(scores(&campaign, folder, plan)?);
    }
    Ok(Landscape { rounds: all, digest: digest_of(&folder.journal.rows)? })
}

/// The values of a point but that of the inner axis.
pub fn outer(point: &Point, inner: Option<&str>) -> Vec<(String, String)> {
    point.values.iter().filter(|(axis, _)| Some(axis.as_str()) != inner).cloned().collect()
}

/// The candidates in the order of their first points.
fn candidates(campaign: &Campaign, inner: Option<&str>) -> Vec<Candidate> {
    let mut places = HashMap::new();
    let mut all: Vec<Candidate> = Vec::new();
    for stage in campaign.points.iter() {
        let values = outer(&stage.point, inner);
        let place = *places.entry(values.clone()).or_insert(all.len());
        match all.get_mut(place) {
            Some(candidate) => candidate.stages.push(stage),
            None => all.push(Candidate { values, stages: vec![stage] }),
        }
    }
    all
}

fn scores(campaign: &Campaign, folder: &ResultFolder, plan: Plan<'_>) -> Result<Vec<Score>, Error> {
    let score = |(number, candidate): (usize, Candidate)| {
        let runs = candidate.stages.iter().map(|it| Ok((it, campaign.rows(folder, it)?)));
        let runs = runs.collect::<Result<Vec<_>, Error>>()?;
        let mean_at = |metric: &str, value: Option<&str>| {
            let is_meant = |(stage, _): &&(&Stage, Vec<Row>)| {
                let own = |(axis, own): &(String, String)| {
                    Some(axis.as_str()) == plan.inner && Some(own.as_str()) == value
                };
                value.is_none() || stage.point.values.iter().any(own)
            };
            let rows: Vec<_> = runs.iter().filter(is_meant).flat_map(|(_, rows)| rows).collect();
            mean(&rows, metric)
        };
        let measured = |target: &Target| match &target.measure {
            Measure::Mean { metric, at } => mean_at(metric, at.as_deref()),
            Measure::Sum { parts, at } => {
                let part =
                    |(factor, metric): &(f64, String)| Some(factor * mean_at(metric, Some(at))?);
                parts.iter().map(part).sum()
            }
            Measure::Ratio { metric, above, below } => {
                Some(mean_at(metric, Some(above))? / mean_at(metric, Some(below))?)
            }
        };
        let found: Vec<_> = plan.targets.iter().map(measured).collect();
        let distance = distance(plan.targets, &found);
        Ok::<_, Error>(Score { number, values: candidate.values.clone(), found, distance })
    };
    let candidates = candidates(campaign, plan.inner).into_iter().enumerate();
    let mut scores = candidates.map(score).collect::<Result<Vec<_>, _>>()?;
    scores.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    Ok(scores)
}

fn mean(rows: &[&Row], metric: &str) -> Option<f64> {
    let values: Option<Vec<f64>> = rows.iter().map(|row| row.metric(metric)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Digest of runs, in whatever order they ended.
fn digest_of(rows: &Rows) -> Result<String, Error> {
    let text = rows.by_point().into_iter().map(|(.., line)| {
        let row = rows.at(line)?;
        Ok(format!("{} {} {}\n", row.point, row.seed, row.digest))
    });
    text.collect::<Result<String, Error>>().map(|text| digest::of_text(&text))
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
        let measure = Measure::Mean { metric: "c1.time_s".into(), at: None };
        Target { name: "time".into(), measure, wanted, unit: "s".into(), deviation }
    }

    struct Unwatched;

    impl Watch for Unwatched {
        fn progress(&mut self, _: usize, _: usize, _: Option<std::time::Duration>) {}
    }

    fn chosen(landscape: &Landscape) -> &str {
        &landscape.chosen().unwrap().values[0].1
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
        let targets = [target(wanted)];
        let plan = Plan { targets: &targets, rounds: &ROUNDS, inner: None };
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
        let order: Vec<_> = first.rounds[0].iter().map(|score| score.number).collect();
        assert_eq!(order[0], 0, "the shortest delay comes nearest to no time at all");
        assert_eq!(first.rounds[1].len(), 2);
        let nearest = first.rounds[0][..2].iter().map(|score| &score.values);
        let nearest: Vec<_> = nearest.collect();
        assert!(first.rounds[1].iter().all(|score| nearest.contains(&&score.values)));
        assert_eq!(chosen(&first), "5 ms");
        // The same search makes no run again; another target needs runs of other candidates only.
        let (again, made) = searched(folder.path(), 1e-6);
        assert_eq!((again, made), (first.clone(), vec![0, 0]));
        let (other, made) = searched(folder.path(), 1e6);
        assert_eq!(chosen(&other), "80 ms");
        assert_eq!(made[0], 0);
        assert_ne!(other.digest, first.digest);
    }

    #[test]
    fn inner_values_belong_to_one_candidate() {
        let scenario = format!("{SCENARIO}serve.size = [\"20 kB\", \"200 kB\"]\n");
        let source = Source::built_in("test", &scenario, &[], &[]).unwrap();
        let campaign = Campaign::new(&source, None).unwrap();
        let path = tempfile::tempdir().unwrap();
        let mut folder = campaign.folder(path.path(), false, Format::Csv).unwrap();
        let execution = Execution { executor: &Threads(1), is_cancelled: &|| false };
        let metric = || "c1.segments".to_owned();
        let ratio = |above: &str, below: &str, wanted| {
            let (above, below) = (above.to_owned(), below.to_owned());
            Target { measure: Measure::Ratio { metric: metric(), above, below }, ..target(wanted) }
        };
        let segments = |at: Option<&str>, deviation| {
            let measure = Measure::Mean { metric: metric(), at: at.map(str::to_owned) };
            Target { measure, deviation, ..target(14.0) }
        };
        let targets = [
            ratio("200 kB", "20 kB", 10.0),
            ratio("20 kB", "200 kB", 1.0),
            segments(Some("200 kB"), Deviation::AtLeast(0.01)),
            segments(None, Deviation::Relative(0.01)),
            Target {
                measure: Measure::Sum {
                    parts: vec![(1.0, metric()), (4.0, metric())],
                    at: "200 kB".into(),
                },
                ..segments(None, Deviation::Relative(0.01))
            },
        ];
        let plan = Plan { targets: &targets, rounds: &ROUNDS, inner: Some("serve.size") };
        let mut watch = |_| Box::new(Unwatched) as Box<dyn Watch>;
        let by = (execution, &Simulations as &dyn Runner);
        let found = search(campaign, &mut folder, plan, by, &mut watch).unwrap();
        assert_eq!(found.rounds.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2]);
        let score = found.chosen().unwrap();
        assert_eq!(score.values, [("link.delay".to_owned(), "5 ms".to_owned())]);
        let [more, less, of_long, of_all, sum] = score.found[..] else { panic!("{score:?}") };
        let (more, less) = (more.unwrap(), less.unwrap());
        // 25 segments, and 3.
        assert_eq!((of_long, of_all, sum), (Some(25.0), Some(14.0), Some(125.0)));
        assert!((more - 25.0 / 3.0).abs() < 1e-9 && (more * less - 1.0).abs() < 1e-9);
    }

    #[test]
    fn at_least_deviates_only_below() {
        let least = Target { deviation: Deviation::AtLeast(0.05), ..target(20.0) };
        assert_eq!(least.deviation(Some(20.0)), 0.0);
        assert_eq!(least.deviation(Some(1e9)), 0.0);
        let below = least.deviation(Some(20.0 * (-0.1_f64).exp()));
        assert!((below + 2.0).abs() < 1e-9, "{below}");
        for nothing in [None, Some(0.0), Some(f64::NAN)] {
            assert_eq!(least.deviation(nothing), f64::INFINITY, "{nothing:?}");
        }
    }

    #[test]
    fn distance_is_the_root_of_the_mean_square() {
        let zero = Deviation::Absolute(2.0);
        let none = Target {
            wanted: 0.0,
            measure: Measure::Mean { metric: "c1.lost".into(), at: None },
            deviation: zero,
            ..target(1.0)
        };
        let targets = [target(10.0), none];
        let exact = [Some(10.0), Some(0.0)];
        assert_eq!(distance(&targets, &exact), 0.0);
        let off = distance(&targets, &[Some(10.0 * 0.03_f64.exp()), Some(8.0)]);
        assert!((off - (12.5_f64).sqrt()).abs() < 1e-9, "{off}");
        assert_eq!(distance(&targets, &[Some(10.0), None]), f64::INFINITY);
        assert_eq!(distance(&targets, &[Some(0.0), Some(0.0)]), f64::INFINITY);
    }
}
