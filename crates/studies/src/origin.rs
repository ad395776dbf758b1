//! Runs behind the points of a figure, so that a page can name the command that shows one of them.
//!
//! A point is traced by its numbers. Of an experiment that serves the figure, one point of the sweep has a metric with exactly the
//! mean and the interval that are drawn; or a curve of one run has the points of a series. Points that are computed from several
//! points of a sweep, such as ratios, have no origin here.
use crate::figure::{Figure, Series, Style};
use crate::result::{Curve, Results, Row};
use crate::rule::{estimate, mean_of};
use crate::study::Experiment;
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::statistic::Seeded;
use std::collections::BTreeMap;

/// Values of the axes of a sweep, by axis.
type Values = Vec<(String, String)>;

/// Runs of one point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The experiment.
    pub experiment: &'static str,
    /// Values of the axes of its sweep.
    pub values: Values,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// The drawn metric; `None` for a curve of one run.
    pub metric: Option<String>,
}

/// Runs by what figures draw of them.
#[derive(Debug, Default)]
pub struct Origins<'a> {
    /// By the bits of the mean.
    means: BTreeMap<u64, Vec<Mean<'a>>>,
    curves: Vec<(Origin, &'a Curve)>,
}

/// The mean of a metric at a point of a sweep.
#[derive(Debug)]
struct Mean<'a> {
    experiment: &'static str,
    point: &'a BTreeMap<String, String>,
    metric: &'a str,
    values: Vec<Seeded>,
}

impl<'a> Origins<'a> {
    /// The runs of these experiments.
    pub fn new(experiments: &[Experiment], results: &'a Results) -> Self {
        let mut origins = Self::default();
        for experiment in experiments {
            origins.add_means(experiment, results);
            origins.add_curves(experiment, results);
        }
        origins
    }

    /// The origin of each point of a series of a figure that these experiments serve.
    pub fn of(&self, serving: &[&str], figure: &Figure, series: &Series) -> Vec<Option<Origin>> {
        let count = series.points.len();
        match series.style {
            Style::Paper | Style::Reference => vec![None; count],
            _ if series.errors.is_empty() => vec![self.curve(serving, series); count],
            _ => (0..count).map(|point| self.mean(serving, figure, series, point)).collect(),
        }
    }

    fn mean(
        &self,
        serving: &[&str],
        figure: &Figure,
        series: &Series,
        point: usize,
    ) -> Option<Origin> {
        let ((x, mean), half_width) = (series.points.get(point)?, series.errors.get(point)?);
        let is_drawn = |found: &&Mean<'_>| {
            let estimate = || estimate(&found.values).map(|it| it.half_width.to_bits());
            serving.contains(&found.experiment) && estimate() == Some(half_width.to_bits())
        };
        // Of several with these numbers the one that the figure names at this place.
        let place = figure.x.categories.get(x.round().max(0.0) as usize);
        let is_named = |(_, value): &(&String, &String)| {
            series.name.contains(value.as_str())
                || place.is_some_and(|name| name.contains(value.as_str()))
        };
        let rank = |found: &&Mean<'_>| {
            let named = found.point.iter().filter(is_named).count();
            (named, found.metric.contains(&figure.y.label), !found.metric.starts_with("all."))
        };
        let found = self.means.get(&mean.to_bits())?.iter().filter(is_drawn).max_by_key(rank)?;
        Some(Origin {
            experiment: found.experiment,
            values: found.point.clone().into_iter().collect(),
            seeds: found.values.iter().map(|(seed, _)| *seed).collect(),
            metric: Some(found.metric.to_owned()),
        })
    }

    fn curve(&self, serving: &[&str], series: &Series) -> Option<Origin> {
        let probes = [0, series.points.len() / 2, series.points.len().checked_sub(1)?];
        let probes = probes.map(|at| series.points[at]);
        let mut own = self.curves.iter().filter(|(origin, _)| serving.contains(&origin.experiment));
        own.find(|(_, curve)| goes_through(curve, &probes)).map(|(origin, _)| origin.clone())
    }

    fn add_means(&mut self, experiment: &Experiment, results: &'a Results) {
        let rows = results.experiments.get(experiment.name).map_or(&[][..], Vec::as_slice);
        let mut points: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        rows.iter().for_each(|row| points.entry(&row.point).or_default().push(row));
        for (point, mut rows) in points {
            rows.sort_by_key(|row| row.seed);
            for metric in rows[0].metrics.keys() {
                let value = |row: &&Row| Some((row.seed, *row.metrics.get(metric)?));
                let values: Vec<_> = rows.iter().filter_map(value).collect();
                let Some(mean) = mean_of(&values) else { continue };
                let mean = self.means.entry(mean.to_bits()).or_default();
                mean.push(Mean { experiment: experiment.name, point, metric, values });
            }
        }
    }

    /// The curves that figures show: of each name that of the lowest seed.
    fn add_curves(&mut self, experiment: &Experiment, results: &'a Results) {
        let own = results.curves.iter().filter(|((name, _), _)| name == experiment.name);
        let mut own = own.peekable();
        if own.peek().is_none() {
            return;
        }
        let file = ScenarioFile::parse(&experiment.scenario, &[]);
        let points = file.as_ref().map_or(&[][..], ScenarioFile::points);
        let labels: BTreeMap<_, _> =
            points.iter().map(|point| (point.label(), &point.values)).collect();
        for ((_, name), curves) in own {
            let label = name.rsplitn(3, '/').nth(2).unwrap_or_default();
            let Some((values, (seed, curve))) = labels.get(label).zip(curves.first_key_value())
            else {
                continue;
            };
            let (experiment, values) = (experiment.name, values.to_vec());
            let origin = Origin { experiment, values, seeds: vec![*seed], metric: None };
            self.curves.push((origin, curve));
        }
    }
}

/// Whether two columns of a curve have all these points.
fn goes_through(curve: &Curve, points: &[(f64, f64)]) -> bool {
    curve.columns.values().any(|x| {
        let at = |wanted: f64| (0..x.len()).filter(move |row| x[*row] == wanted);
        let rows: Vec<Vec<usize>> =
            points.iter().map(|(wanted, _)| at(*wanted).collect()).collect();
        rows.iter().all(|rows| !rows.is_empty())
            && curve.columns.values().any(|y| {
                let has = |((_, wanted), rows): (&(f64, f64), &Vec<usize>)| {
                    rows.iter().any(|row| y.get(*row) == Some(wanted))
                };
                points.iter().zip(&rows).all(has)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;

    const SCENARIO: &str =
        "[topology]\nlinks = [\"a-b\"]\n[sweep]\n\"link.delay\" = [\"1 ms\", \"2 ms\"]\n";

    fn experiment() -> Experiment {
        Experiment {
            name: "line",
            serves: &["time"],
            scenario: SCENARIO.into(),
            files: &[],
            seeds: 3,
            curves: Some((1, &["window"])),
        }
    }

    fn results() -> Results {
        let mut results = Results::default();
        let rows = [("1 ms", 1.0), ("2 ms", 2.0)].into_iter().flat_map(|(delay, time)| {
            (1..=3).map(move |seed| Row {
                point: [("link.delay".to_owned(), delay.to_owned())].into(),
                seed,
                metrics: [
                    ("c.time_s".to_owned(), time + seed as f64 / 10.0),
                    ("c.timeouts".to_owned(), 0.0),
                ]
                .into(),
            })
        });
        results.experiments.insert("line".into(), rows.collect());
        let columns = [("time_s", vec![0.0, 1.0, 2.0]), ("window", vec![4.0, 8.0, 6.0])];
        let columns = columns.map(|(name, values)| (name.to_owned(), values)).into();
        let key = ("line".to_owned(), "link.delay=2 ms/c/window".to_owned());
        results.curves.insert(key, [(1, Curve { columns })].into());
        results
    }

    fn figure(series: Vec<Series>) -> Figure {
        let (id, x) = ("time".into(), Axis::places("delay", ["1 ms", "2 ms"]));
        let y = Axis::quantity("time", "s");
        Figure { id, title: String::new(), caption: String::new(), x, y, series }
    }

    fn origins(results: &Results, figure: &Figure, serves: &[&str]) -> Vec<Vec<Option<Origin>>> {
        let origins = Origins::new(&[experiment()], results);
        figure.series.iter().map(|series| origins.of(serves, figure, series)).collect()
    }

    fn delay(origin: &Option<Origin>) -> Option<&str> {
        Some(origin.as_ref()?.values.first()?.1.as_str())
    }

    #[test]
    fn means_lead_to_their_runs() {
        let results = results();
        let of = |delay, metric| results.values("line", &[("link.delay", delay)], metric);
        let ratio = of("1 ms", "c.time_s").iter().map(|(seed, it)| (*seed, it * 3.0)).collect();
        let figure = figure(vec![
            Series::means("time", Style::Bars, ["1 ms", "2 ms"].map(|it| of(it, "c.time_s"))),
            Series::means("none", Style::Bars, ["1 ms", "2 ms"].map(|it| of(it, "c.timeouts"))),
            Series::means("computed", Style::Bars, [ratio]),
            Series::level("bound", 1.0, 2),
        ]);
        let all = origins(&results, &figure, &["line"]);
        let found = all[0][1].as_ref().unwrap();
        assert_eq!((found.experiment, &*found.seeds), ("line", &[1, 2, 3][..]));
        assert_eq!(found.metric.as_deref(), Some("c.time_s"));
        assert_eq!(delay(&all[0][0]), Some("1 ms"));
        // Both are 0: the place in the figure decides.
        assert_eq!(all[1].iter().map(delay).collect::<Vec<_>>(), [Some("1 ms"), Some("2 ms")]);
        assert_eq!((&*all[2], &*all[3]), (&[None][..], &[None, None][..]));
        assert_eq!(origins(&results, &figure, &["other"])[0], [None, None]);
    }

    #[test]
    fn curves_lead_to_their_run() {
        let results = results();
        let mut steps = Series::new("window", Style::Steps);
        steps.points = vec![(0.0, 4.0), (1.0, 8.0), (2.0, 6.0)];
        let mut other = steps.clone();
        other.points[2].1 = 7.0;
        let all = origins(&results, &figure(vec![steps, other]), &["line"]);
        assert_eq!(delay(&all[0][1]), Some("2 ms"));
        assert_eq!(all[0][2].as_ref().unwrap().seeds, [1]);
        assert_eq!(all[1], [None, None, None]);
    }
}
