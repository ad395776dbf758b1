//! Papers with their claims.
use crate::error::OrRaise;
use crate::scenario::{Attention, Scenario};
use crate::sweep::Campaign;
use pyo3::prelude::*;
use recoup::Error;
use recoup_lab::campaign::Watch;
use recoup_lab::executor::Threads;
use recoup_studies::figure::{Axis, Figure, Series};
use recoup_studies::gather::{Gathering, Host, Planned};
use recoup_studies::study::{Scale, Study};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Key, title and source of each study.
#[pyfunction]
pub(crate) fn studies() -> Vec<(&'static str, &'static str, &'static str)> {
    recoup_studies::all().into_iter().map(|it| (it.key(), it.title(), it.source())).collect()
}

/// Makes the runs that a study lacks, and judges each claim: a dictionary of texts for each.
#[pyfunction]
#[pyo3(signature = (key, scale, folder, seeds, jobs, fresh))]
pub(crate) fn check_study(
    py: Python<'_>,
    key: &str,
    scale: &str,
    folder: PathBuf,
    seeds: Option<u64>,
    jobs: Option<usize>,
    fresh: bool,
) -> PyResult<Vec<BTreeMap<&'static str, String>>> {
    let (study, scale) = find(key, scale).or_raise(py)?;
    let attention = Attention::default();
    let is_cancelled = || attention.is_wanted();
    let gathered = py.detach(|| {
        let gathering = gathering(study, scale, folder, seeds, fresh, &is_cancelled);
        Gathering { threads: jobs.map(Threads), ..gathering }.run()
    });
    attention.raise()?;
    let gathered = gathered.or_raise(py)?;
    let claims = study.claims();
    let verdicts = study.judge(&gathered.results);
    let rows = verdicts.into_iter().zip(&claims).map(|(verdict, claim)| {
        // A small version of an experiment is not the paper's, and decides nothing.
        let outcome = match scale {
            Scale::Smoke => "reported".to_owned(),
            _ => format!("{:?}", verdict.verdict).to_lowercase(),
        };
        BTreeMap::from([
            ("id", verdict.id),
            ("class", verdict.class.to_string()),
            ("gating", claim.is_gating().to_string()),
            ("place", claim.place.clone()),
            ("verdict", outcome),
            ("paper", verdict.paper),
            ("ours", verdict.ours),
            ("why", verdict.why),
        ])
    });
    Ok(rows.collect())
}

/// A study and a scale by their names.
pub(crate) fn find(key: &str, scale: &str) -> Result<(&'static Study, Scale), Error> {
    let keys: Vec<_> = recoup_studies::all().iter().map(|it| it.key()).collect();
    let study = recoup_studies::all().into_iter().find(|it| it.key() == key).ok_or_else(|| {
        Error::usage(format!("there is no study `{key}`; there are: {}", keys.join(", ")))
    })?;
    let scales = [Scale::Smoke, Scale::Check, Scale::Verdict, Scale::Paper];
    let scale = scales.into_iter().find(|it| it.word() == scale).ok_or_else(|| {
        Error::usage(format!(
            "there is no scale `{scale}`; there are: smoke, check, verdict, paper"
        ))
    })?;
    Ok((study, scale))
}

fn gathering<'a>(
    study: &'static Study,
    scale: Scale,
    folder: PathBuf,
    seeds: Option<u64>,
    fresh: bool,
    is_cancelled: &'a dyn Fn() -> bool,
) -> Gathering<'a> {
    let host = Host { is_cancelled, watch: &|| Box::new(Unwatched), show: &|_| {} };
    let seeds = seeds.and_then(NonZeroU64::new);
    Gathering { study, scale, seeds, threads: None, fresh, folder, figure: None, host }
}

/// The simulations of a study: for each folder its name, its scenario, and its campaign, which is open.
#[pyfunction]
#[pyo3(signature = (key, scale, folder, seeds, fresh))]
pub(crate) fn study_campaigns(
    py: Python<'_>,
    key: &str,
    scale: &str,
    folder: PathBuf,
    seeds: Option<u64>,
    fresh: bool,
) -> PyResult<Vec<(String, Scenario, Campaign)>> {
    let (study, scale) = find(key, scale).or_raise(py)?;
    let made = py.detach(|| {
        let gathering = gathering(study, scale, folder, seeds, fresh, &|| false);
        let planned = Planned::of(study, scale, gathering.seeds)?.into_iter().map(|it| {
            let (plan, folder) = gathering.open(&it)?;
            let source = Arc::new(it.source);
            let campaign = Campaign::opened(Arc::clone(&source), plan, folder);
            Ok((it.name, Scenario { source }, campaign))
        });
        planned.collect::<Result<Vec<_>, Error>>()
    });
    made.or_raise(py)
}

/// A figure: its name, title and caption, its axes, and its series.
type DrawnFigure = (String, String, String, DrawnAxis, DrawnAxis, Vec<DrawnSeries>);
/// Label, unit, whether it is logarithmic, names of places.
type DrawnAxis = (String, String, bool, Vec<String>);
/// Name, style, points, half widths of confidence intervals.
type DrawnSeries = (String, String, Vec<(f64, f64)>, Vec<f64>);

/// Makes the runs that the figures of a study lack, or those of one figure, and returns them as numbers.
#[pyfunction]
#[pyo3(signature = (key, scale, folder, seeds, jobs, figure))]
pub(crate) fn study_figures(
    py: Python<'_>,
    key: &str,
    scale: &str,
    folder: PathBuf,
    seeds: Option<u64>,
    jobs: Option<usize>,
    figure: Option<&str>,
) -> PyResult<Vec<DrawnFigure>> {
    let (study, scale) = find(key, scale).or_raise(py)?;
    let attention = Attention::default();
    let is_cancelled = || attention.is_wanted();
    let gathered = py.detach(|| {
        let gathering = gathering(study, scale, folder, seeds, false, &is_cancelled);
        Gathering { threads: jobs.map(Threads), figure, ..gathering }.run()
    });
    attention.raise()?;
    let figures = study.figures(&gathered.or_raise(py)?.results).into_iter();
    let wanted = figures.filter(|it| figure.is_none_or(|figure| it.id == figure));
    let axis = |it: Axis| (it.label, it.unit, it.logarithmic, it.categories);
    let series = |it: Series| {
        let style = format!("{:?}", it.style).to_lowercase();
        (it.name, style, it.points, it.errors)
    };
    let drawn = |it: Figure| {
        let all = it.series.into_iter().map(series).collect();
        (it.id, it.title, it.caption, axis(it.x), axis(it.y), all)
    };
    Ok(wanted.map(drawn).collect())
}

/// No progress is shown.
struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _done: usize, _all: usize, _left: Option<Duration>) {}
}
