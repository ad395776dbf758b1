//! Digests of the runs behind a kept result, and whether this program still makes the same runs.
//!
//! The digest of a run covers every event of its simulation. A kept result has one for each run, in `digests.csv`:
//! a line for each point of each experiment. So some of its runs can be drawn at random, made again and compared.
use crate::gather::Planned;
use crate::study::{Scale, Study};
use recoup_core::random::Rng;
use recoup_lab::campaign::{Campaign, Execution, Stage};
use recoup_lab::executor::{Job, Report};
use recoup_lab::simulate::Simulations;
use recoup_lab::{Error, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Name of the file in the folder of a kept result.
pub const FILE: &str = "digests.csv";
const HEAD: &str = "experiment,scenario,digests,point";

/// The runs of one point of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPoint {
    /// Folder of the runs in the results.
    pub experiment: String,
    /// Digest of the scenario at this point.
    pub scenario: String,
    /// Digests of the runs, from seed 1 on.
    pub digests: Vec<String>,
    /// Label of the point.
    pub point: String,
}

/// The text of `digests.csv`.
pub fn text(kept: &[KeptPoint]) -> String {
    let mut text = format!("{HEAD}\n");
    for KeptPoint { experiment, scenario, digests, point } in kept {
        let (digests, point) = (digests.join(" "), point.replace('"', "\"\""));
        let _ = writeln!(text, "{experiment},{scenario},{digests},\"{point}\"");
    }
    text
}

/// Reads the text of `digests.csv`.
///
/// # Errors
/// With the number of the first line that is wrong.
pub fn read(text: &str) -> Result<Vec<KeptPoint>, String> {
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, head)| head != HEAD) {
        return Err(format!("line 1: it must be `{HEAD}`"));
    }
    lines
        .map(|(number, line)| parse(line).ok_or_else(|| format!("line {number}: no point")))
        .collect()
}

fn parse(line: &str) -> Option<KeptPoint> {
    let mut cells = line.splitn(4, ',');
    let mut next = || cells.next();
    let (experiment, scenario) = (next()?.to_owned(), next()?.to_owned());
    let digests: Vec<_> = next()?.split_whitespace().map(str::to_owned).collect();
    let point = next()?.strip_prefix('"')?.strip_suffix('"')?.replace("\"\"", "\"");
    (!digests.is_empty()).then_some(KeptPoint { experiment, scenario, digests, point })
}

/// A draw of runs.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Seed of the draw: the same seed draws the same runs.
    pub seed: u64,
    /// Number of runs.
    pub runs: usize,
    /// No run is begun or continued after this time, except the first.
    pub budget: Option<Duration>,
}

/// A run that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Folder of the run in the results.
    pub experiment: String,
    /// Label of its point.
    pub point: String,
    /// Its seed.
    pub seed: u64,
    /// The kept digest.
    pub kept: String,
    /// How the run compares today.
    pub today: Today,
}

/// A kept run, today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Today {
    /// The digest is the kept one.
    Same,
    /// The digest is another one: the program behaves differently.
    Different(String),
    /// The study has no such scenario any more: the kept result is stale.
    Gone,
}

impl Draw {
    /// Places of the runs drawn among `all`, ascending: each run is equally likely, none is drawn twice.
    fn places(&self, all: usize) -> BTreeSet<usize> {
        let mut rng = Rng::from_seed(self.seed);
        let mut places = BTreeSet::new();
        while places.len() < self.runs.min(all) {
            places.insert(rng.below(all as u64) as usize);
        }
        places
    }
}

/// The run at that place among all, in the order of points and seeds.
fn run_at(kept: &[KeptPoint], mut place: usize) -> Option<(&KeptPoint, u64)> {
    for point in kept {
        match place.checked_sub(point.digests.len()) {
            None => return Some((point, place as u64 + 1)),
            Some(rest) => place = rest,
        }
    }
    None
}

/// Draws runs of a kept result, makes them again, and compares. With a budget some of the drawn runs may be missing.
///
/// # Errors
/// If a scenario cannot be run, or the execution was cancelled.
pub fn verify(
    study: &Study,
    scale: Scale,
    kept: &[KeptPoint],
    draw: Draw,
    execution: Execution<'_>,
) -> Result<Vec<Drawn>, Error> {
    let all = kept.iter().map(|point| point.digests.len()).sum();
    let chosen: Vec<_> =
        draw.places(all).into_iter().filter_map(|place| run_at(kept, place)).collect();
    let stages = stages(study, scale, &chosen)?;
    let mut today = vec![None; chosen.len()];
    let mut jobs = Vec::new();
    for (number, (point, seed)) in chosen.iter().enumerate() {
        match stages.get(&(point.experiment.as_str(), &point.scenario)) {
            Some(stage) => jobs.push(Job { number, stage: stage.clone(), seed: *seed }),
            None => today[number] = Some(Today::Gone),
        }
    }
    // A budget cuts a random part of the draw off, not always its last experiments.
    shuffle(&mut jobs, draw.seed);
    run(jobs, &chosen, draw.budget, execution, &mut today)?;
    let drawn = chosen.iter().zip(today).filter_map(|((point, seed), today)| {
        Some(Drawn {
            experiment: point.experiment.clone(),
            point: point.point.clone(),
            seed: *seed,
            kept: digest(point, *seed).to_owned(),
            today: today?,
        })
    });
    Ok(drawn.collect())
}

fn digest(point: &KeptPoint, seed: u64) -> &str {
    (seed as usize).checked_sub(1).and_then(|place| point.digests.get(place)).map_or("", |it| it)
}

fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut rng = Rng::from_seed(seed).substream("order");
    for last in (1..list.len()).rev() {
        list.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// The scenarios of the chosen points that the study still has, by experiment and digest.
fn stages<'a>(
    study: &Study,
    scale: Scale,
    chosen: &[(&'a KeptPoint, u64)],
) -> Result<BTreeMap<(&'a str, &'a String), Stage>, Error> {
    let mut stages = BTreeMap::new();
    for planned in Planned::of(study, scale, None)? {
        let wanted: Vec<_> =
            chosen.iter().filter(|(point, _)| point.experiment == planned.name).collect();
        if wanted.is_empty() {
            continue;
        }
        for stage in Campaign::new(&planned.source, Some(&planned.seeds))?.points.iter() {
            if let Some((point, _)) = wanted.iter().find(|(point, _)| point.scenario == stage.key) {
                stages.insert((point.experiment.as_str(), &point.scenario), stage);
            }
        }
    }
    Ok(stages)
}

fn run(
    jobs: Vec<Job>,
    chosen: &[(&KeptPoint, u64)],
    budget: Option<Duration>,
    execution: Execution<'_>,
    today: &mut [Option<Today>],
) -> Result<(), Error> {
    let begun = Instant::now();
    let mut result = Ok(());
    let has_ended = AtomicBool::new(false);
    let is_late = || {
        has_ended.load(Ordering::Relaxed) && budget.is_some_and(|budget| begun.elapsed() >= budget)
    };
    let make = |job: &Job, stop: &AtomicBool| {
        if is_late() {
            return Ok(None);
        }
        let made = job.run(&Simulations, None, stop);
        has_ended.store(true, Ordering::Relaxed);
        made
    };
    execution.executor.execute(&mut jobs.into_iter(), &make, &mut |report| {
        match report {
            Report::Ended(number, Ok(Some((row, _)))) => {
                let kept = chosen.get(number).map_or("", |(point, seed)| digest(point, *seed));
                let same = row.digest == kept;
                let found = if same { Today::Same } else { Today::Different(row.digest) };
                today.iter_mut().skip(number).take(1).for_each(|it| *it = Some(found.clone()));
            }
            Report::Ended(_, Err(error)) if result.is_ok() => result = Err(error),
            Report::Ended(..) | Report::Idle => {}
        }
        if result.is_ok() && (execution.is_cancelled)() {
            result = Err(Error::new(ErrorKind::Cancelled, "interrupted"));
        }
        if result.is_ok() && !is_late() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yang2016::YANG2016;
    use recoup_lab::executor::Threads;

    fn point(experiment: &str, digests: &[&str]) -> KeptPoint {
        KeptPoint {
            experiment: experiment.into(),
            scenario: "0123456789abcdef".into(),
            digests: digests.iter().map(|it| (*it).to_owned()).collect(),
            point: "design=\"#1\", floor=0 ms".into(),
        }
    }

    fn verified(kept: &[KeptPoint], draw: Draw) -> Vec<Drawn> {
        let execution = Execution { executor: &Threads(2), is_cancelled: &|| false };
        verify(&YANG2016, Scale::Smoke, kept, draw, execution).unwrap()
    }

    /// The kept points of a small experiment, as made today.
    fn today() -> Vec<KeptPoint> {
        let planned = Planned::of(&YANG2016, Scale::Smoke, None).unwrap();
        let linear = planned.iter().find(|it| it.name == "linear").unwrap();
        let campaign = Campaign::new(&linear.source, Some(&linear.seeds)).unwrap();
        let never = AtomicBool::new(false);
        let of = |stage: &Stage| {
            let digest = |seed| {
                let job = Job { number: 0, stage: stage.clone(), seed };
                job.run(&Simulations, None, &never).unwrap().unwrap().0.digest
            };
            KeptPoint {
                experiment: "linear".into(),
                scenario: stage.key.clone(),
                digests: linear.seeds.iter().map(digest).collect(),
                point: stage.point.label(),
            }
        };
        campaign.points.iter().map(|stage| of(&stage)).collect()
    }

    #[test]
    fn text_is_read_as_written() {
        let kept = vec![point("linear", &["aa", "bb"]), point("dumbbell", &["cc"])];
        assert_eq!(read(&text(&kept)).unwrap(), kept);
        assert!(read("").unwrap_err().contains("line 1"));
        let broken = text(&kept).replace("cc", "");
        assert_eq!(read(&broken).unwrap_err(), "line 3: no point");
    }

    #[test]
    fn every_run_is_equally_likely_and_drawn_once() {
        let mut counts = [0_u32; 10];
        for seed in 0..1000 {
            let places = Draw { seed, runs: 3, budget: None }.places(10);
            assert_eq!(places.len(), 3);
            places.into_iter().for_each(|place| counts[place] += 1);
        }
        assert!(counts.iter().all(|count| (240..=360).contains(count)), "{counts:?}");
        assert_eq!(Draw { seed: 1, runs: 20, budget: None }.places(5).len(), 5);
    }

    #[test]
    fn changed_digest_and_changed_scenario_are_found() {
        let mut kept = today();
        let draw = Draw { seed: 7, runs: usize::MAX, budget: None };
        assert!(verified(&kept, draw).iter().all(|it| it.today == Today::Same));
        let right = std::mem::replace(&mut kept[0].digests[1], "0".into());
        kept[1].scenario = "0".into();
        kept[2].experiment = "removed".into();
        let drawn = verified(&kept, draw);
        let found: Vec<_> = drawn.iter().map(|it| it.today.clone()).take(6).collect();
        let (same, gone) = (Today::Same, Today::Gone);
        let expected =
            [same, Today::Different(right), gone.clone(), gone.clone(), gone.clone(), gone];
        assert_eq!(found, expected);
        assert_eq!((drawn[1].seed, drawn[1].kept.as_str()), (2, "0"));
    }

    #[test]
    fn budget_ends_a_draw_after_its_first_run() {
        let draw = Draw { seed: 7, runs: usize::MAX, budget: Some(Duration::ZERO) };
        let kept = today();
        let drawn = verified(&kept, draw);
        // Runs of other threads that have begun are finished, too.
        let all: usize = kept.iter().map(|point| point.digests.len()).sum();
        assert!(!drawn.is_empty() && 2 * drawn.len() < all, "{} of {all}", drawn.len());
        assert!(drawn.iter().all(|it| it.today == Today::Same));
    }
}
