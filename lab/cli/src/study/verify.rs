//! `recoup study verify`: some runs of a kept result, made again.
use super::args::VerifyArgs;
use super::text::RESULT;
use crate::error::{Exit, Failure};
use crate::output::{self, Stream};
use crate::running;
use crate::stop::Stop;
use recoup_io::entropy;
use recoup_lab::executor::Threads;
use recoup_studies::kept::{self, Draw, Drawn, KeptPoint, Today};
use recoup_studies::study::{Scale, Study};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    study: &'a str,
    scale: &'a str,
    /// Seed of the draw.
    draw: u64,
    /// Runs that the result is made of.
    kept: usize,
    /// Runs made again whose digest is the kept one.
    same: usize,
    runs: Vec<RunLine<'a>>,
}

#[derive(Debug, Serialize)]
struct RunLine<'a> {
    experiment: &'a str,
    point: &'a str,
    seed: u64,
    kept: &'a str,
    /// Digest today; `null` if the study has no such run any more.
    today: Option<&'a str>,
}

/// Makes runs of a kept result again.
pub(super) fn run(args: &VerifyArgs, study: &'static Study) -> Result<(), Failure> {
    let kept = digests(args, study)?;
    let scale = scale(&args.kept)?;
    let seed = match args.draw {
        Some(seed) => seed,
        None => entropy::seed().map_err(|error| Failure::new(Exit::Other, error.to_string()))?,
    };
    // Seeds that survive a copy through JSON and a shell.
    let seed = seed % (1 << 32);
    let budget = args.seconds.map(|seconds| Duration::from_secs(seconds.get()));
    let draw = Draw { seed, runs: args.runs.get(), budget };
    let threads = args.jobs.map_or_else(Threads::default, |jobs| Threads(jobs.get()));
    let stop = Stop::polled()?;
    let drawn = running::campaign(&stop, &threads, |execution| {
        kept::verify(study, scale, &kept, draw, execution)
    })?;
    let all = kept.iter().map(|point| point.digests.len()).sum();
    let same = drawn.iter().filter(|run| run.today == Today::Same).count();
    if args.json {
        let (study, scale, runs) = (study.key(), scale.word(), drawn.iter().map(line).collect());
        let document = Document { study, scale, draw: seed, kept: all, same, runs };
        output::json(&document, Stream::Out)?;
    } else {
        output::print(report(study.key(), seed, all, &drawn).as_bytes())?;
    }
    judge(study.key(), &drawn, same)
}

/// The kept digests.
fn digests(args: &VerifyArgs, study: &Study) -> Result<Vec<KeptPoint>, Failure> {
    let path = args.kept.join(kept::FILE);
    let renew = || {
        let (key, folder) = (study.key(), args.kept.display());
        format!("renew the result: recoup study report {key} --run --out {folder}")
    };
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if args.kept.is_dir() => {
            let message = format!(
                "{} is stale: it has no digests of its runs ({})",
                args.kept.display(),
                kept::FILE
            );
            Failure::new(Exit::Local, message).advise(renew())
        }
        _ => Failure::file("read", path.display(), &error),
    })?;
    let wrong = |problem| {
        Failure::new(Exit::Local, format!("{}: {problem}", path.display())).advise(renew())
    };
    kept::read(&text).map_err(wrong)
}

/// The scale of the kept result.
fn scale(folder: &Path) -> Result<Scale, Failure> {
    let path = folder.join(RESULT);
    let text = fs::read(&path).map_err(|error| Failure::file("read", path.display(), &error))?;
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let all = [Scale::Smoke, Scale::Check, Scale::Verdict, Scale::Paper];
    let found = all.into_iter().find(|scale| document["scale"] == scale.word());
    found.ok_or_else(|| {
        Failure::new(Exit::Local, format!("{}: it names no scale of a study", path.display()))
    })
}

fn line(run: &Drawn) -> RunLine<'_> {
    let today = match &run.today {
        Today::Same => Some(run.kept.as_str()),
        Today::Different(digest) => Some(digest.as_str()),
        Today::Gone => None,
    };
    let Drawn { experiment, point, seed, kept, .. } = run;
    RunLine { experiment, point, seed: *seed, kept, today }
}

/// A line for each run, and a summary.
fn report(key: &str, seed: u64, all: usize, drawn: &[Drawn]) -> String {
    let mut text = String::new();
    for Drawn { experiment, point, seed, kept, today } in drawn {
        let (verdict, digests) = match today {
            Today::Same => ("same", kept.clone()),
            Today::Different(digest) => ("DIFFERENT", format!("{kept} -> {digest}")),
            Today::Gone => ("STALE", format!("{kept}: the study has no such run any more")),
        };
        text += &format!("{verdict:9} {experiment}, {point}, seed {seed}: {digests}\n");
    }
    let count = drawn.len();
    text + &format!("{key}: {count} of {all} runs made again, drawn with --draw {seed}\n")
}

/// Fails if a run is not the kept one.
fn judge(key: &str, drawn: &[Drawn], same: usize) -> Result<(), Failure> {
    let count = drawn.len();
    if same == count {
        return Ok(());
    }
    let gone = drawn.iter().filter(|run| run.today == Today::Gone).count();
    let message = format!(
        "{key}: {same} of {count} runs are as kept, {} differ, {gone} are of scenarios that the study has no more",
        count - same - gone
    );
    Err(Failure::new(Exit::Other, message)
        .advise("renew the result with `recoup study report --run`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(today: Today) -> Drawn {
        let (experiment, point) = ("linear".to_owned(), "design=#1".to_owned());
        Drawn { experiment, point, seed: 3, kept: "aa".into(), today }
    }

    #[test]
    fn each_run_has_a_line_and_decides() {
        let all = [drawn(Today::Same), drawn(Today::Different("bb".into())), drawn(Today::Gone)];
        let text = report("yang2016", 5, 80, &all);
        assert!(text.contains("same      linear, design=#1, seed 3: aa\n"), "{text}");
        assert!(text.contains("DIFFERENT linear, design=#1, seed 3: aa -> bb\n"), "{text}");
        assert!(text.contains("STALE     linear, "), "{text}");
        assert!(text.ends_with("3 of 80 runs made again, drawn with --draw 5\n"), "{text}");
        let failure = judge("yang2016", &all, 1).unwrap_err();
        assert_eq!(failure.exit, Exit::Other);
        assert!(failure.message.contains("1 of 3 runs are as kept, 1 differ, 1 are"), "{failure}");
        assert_eq!(judge("yang2016", &all[..1], 1), Ok(()));
        let lines: Vec<_> = all.iter().map(|run| line(run).today).collect();
        assert_eq!(lines, [Some("aa"), Some("bb"), None]);
    }
}
