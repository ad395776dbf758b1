//! Papers with their claims.
use crate::error::OrRaise;
use crate::scenario::Attention;
use pyo3::prelude::*;
use recoup::Error;
use recoup_lab::campaign::Watch;
use recoup_lab::executor::Threads;
use recoup_studies::gather::{Gathering, Host};
use recoup_studies::study::Scale;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
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
    let scales = [Scale::Smoke, Scale::Check, Scale::Verdict, Scale::Paper];
    let study = recoup_studies::all().into_iter().find(|it| it.key() == key);
    let keys: Vec<_> = recoup_studies::all().iter().map(|it| it.key()).collect();
    let study = study
        .ok_or_else(|| {
            Error::usage(format!("there is no study `{key}`; there are: {}", keys.join(", ")))
        })
        .or_raise(py)?;
    let scale = scales
        .into_iter()
        .find(|it| it.word() == scale)
        .ok_or_else(|| {
            Error::usage(format!(
                "there is no scale `{scale}`; there are: smoke, check, verdict, paper"
            ))
        })
        .or_raise(py)?;
    let attention = Attention::default();
    let gathered = py.detach(|| {
        let host = Host {
            is_cancelled: &|| attention.is_wanted(),
            watch: &|| Box::new(Unwatched),
            show: &|_| {},
            // Only runs on sockets need the command.
            program: PathBuf::new(),
        };
        let gathering = Gathering {
            study,
            scale,
            seeds: seeds.and_then(NonZeroU64::new),
            threads: jobs.map(Threads),
            fresh,
            folder,
            figure: None,
            host,
        };
        gathering.run()
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

/// Nobody watches.
struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _done: usize, _all: usize, _left: Option<Duration>) {}
}
