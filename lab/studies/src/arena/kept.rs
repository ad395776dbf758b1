//! Scores of the runs that a result folder holds.
use super::case::{Case, Kind};
use super::score::{Goodputs, Score};
use super::summary::Summary;
use recoup_lab::campaign::Campaign;
use recoup_lab::folder::ResultFolder;
use recoup_lab::journal::Row;
use recoup_lab::{Result, curve};

/// The summary of each point of a case's campaign, over all seeds that the folder holds.
///
/// # Errors
/// If a table of goodputs cannot be read.
pub fn summaries(case: &Case, campaign: &Campaign, folder: &ResultFolder) -> Result<Vec<Summary>> {
    let mut summaries = Vec::new();
    for stage in campaign.points.iter() {
        let mut scores = Vec::new();
        for row in campaign.rows(folder, &stage)? {
            scores.push((row.seed, score(case, folder, &row)?));
        }
        summaries.push(Summary::new(&scores));
    }
    Ok(summaries)
}

/// The score of a run.
fn score(case: &Case, folder: &ResultFolder, row: &Row) -> Result<Score> {
    let goodputs = match case.terms.kind {
        Kind::Sharing { .. } => goodputs(folder, row)?,
        Kind::Completion { .. } => Goodputs::new(),
    };
    Ok(Score::new(&case.terms, &|name| row.metric(name), &goodputs))
}

/// The goodput of each consumer of a run in each second.
fn goodputs(folder: &ResultFolder, row: &Row) -> Result<Goodputs> {
    let path = folder.path().join("tables/goodput").join(format!("{}-{}.csv", row.point, row.seed));
    let rates = curve::read(&path)?.into_iter().map(|(name, curve)| {
        let pairs = curve.column("time_s").iter().zip(curve.column("goodput_bps"));
        (name, pairs.map(|(at_s, rate)| (*at_s as u64, *rate)).collect())
    });
    Ok(rates.collect())
}
