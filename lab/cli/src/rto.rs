//! `recoup rto`: retransmission timers over recorded round trips.
use crate::error::{EXIT_CODES, Exit, Failure};
use crate::format;
use crate::output::{self, Stream};
use crate::picture::{self, Curve, Point};
use clap::{Args, Subcommand};
use replay::Replay;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use trace::Trace;

mod log;
pub(crate) mod replay;
pub(crate) mod trace;

const EXAMPLES: &str = "\
Examples:
  recoup fetch /movie -o movie.mp4 -s figures
      a trace: figures/segments.tsv has every segment, figures/rtt.tsv the samples alone
  recoup rto replay figures/segments.tsv
  recoup rto replay figures/rtt.tsv --rto rfc6298,reconsidered,'jacobson(gains=very-slow,k=6)'
  recoup rto replay figures/segments.tsv --rto weighted-median,experts --out compared
      also writes compared/rto.csv and compared/rto.svg
  ndnget --log-rtt rtt.log /ex/file > file; recoup rto replay rtt.log --json
  ping -D -i 0.2 example.org > ping.log; recoup rto replay ping.log
      also irtt -o rtt.json, results of RIPE Atlas, recoup ping --json, and these with gzip
";

/// Timers that a first comparison needs.
const DEFAULT: &str = "rfc6298,jacobson,nikzad2022,reconsidered,weighted-median,experts";
/// Most estimators of a table or figure.
const MOST: usize = 50;
/// Most points of a panel.
const DRAWN: usize = 4_000;

/// Evaluate retransmission timers on recorded round trips
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"), arg_required_else_help = true)]
pub(crate) struct RtoArgs {
    /// Verb of the command.
    #[command(subcommand)]
    pub command: RtoCommand,
}

/// Verbs of `recoup rto`.
#[derive(Debug, Subcommand)]
pub(crate) enum RtoCommand {
    // Documented at its options.
    Replay(RtoReplayArgs),
}

/// Run estimators over a trace: how often each was too early, and how long it waited
///
/// The trace is segments.tsv or rtt.tsv of `recoup fetch -s`, or the output of ndnget --log-rtt. It may
/// also be a log of ping, irtt, RIPE Atlas or `recoup ping --json`.
/// Each estimator receives every sample, and no timeouts. A timeout is bad if a round trip took
/// longer than the timeout in force when its Interest was sent. A trace only has round trips, not
/// the effect of a timer on them: the two figures approximate B and W of `recoup sim`.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct RtoReplayArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// Estimators, separated by commas: as for `recoup fetch --rto`
    #[arg(long, value_name = "RTO,…", default_value = DEFAULT)]
    pub rto: Vec<String>,

    /// Folder for the curves: rto.csv and rto.svg
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    pub out: Option<PathBuf>,

    /// Print a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// Always `rto replay`.
    command: &'static str,
    /// Round trips of segments without retransmission.
    samples: usize,
    /// Segments with retransmissions; null if the trace has no such column.
    retransmitted: Option<usize>,
    /// Whether the trace has send times; else the timeout before each sample counts.
    timed: bool,
    estimators: &'a [Replay],
}

/// Runs the command.
pub(crate) fn run(args: &RtoArgs) -> Result<(), Failure> {
    let RtoCommand::Replay(args) = &args.command;
    let specs = specs(&args.rto)?;
    let trace = Trace::read(&args.trace)?;
    let mut replays = Vec::new();
    for spec in &specs {
        let estimator = recoup_transport::rto::parse(spec)
            .map_err(|error| Failure::usage(format!("--rto: {error}")))?;
        replays.push(Replay::new(spec, estimator, &trace));
    }
    if let Some(folder) = &args.out {
        write(folder, &args.trace, &trace, &replays)?;
    }
    if args.json {
        let document = Document {
            command: "rto replay",
            samples: trace.samples(),
            retransmitted: trace.retransmitted(),
            timed: trace.is_timed(),
            estimators: &replays,
        };
        return output::json(&document, Stream::Out);
    }
    output::print(table(&args.trace, &trace, &replays).as_bytes())
}

/// Splits lists at commas outside of brackets.
fn specs(lists: &[String]) -> Result<Vec<String>, Failure> {
    let mut specs = Vec::new();
    for list in lists {
        let mut depth = 0_usize;
        let split = list.split(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        specs.extend(split.map(|spec| spec.trim().to_owned()));
    }
    if specs.len() > MOST {
        return Err(Failure::usage(format!("--rto takes {MOST} estimators at most")));
    }
    Ok(specs)
}

fn table(path: &Path, trace: &Trace, replays: &[Replay]) -> String {
    let mut text = format!("{}: {} round trips", path.display(), trace.samples());
    if let Some((least, mean, most)) = trace.spread() {
        let [least, mean, most] = [least, mean, most].map(format::milliseconds);
        let _ = write!(text, ", {least} to {most} ms, mean {mean} ms");
    }
    if let Some(again) = trace.retransmitted() {
        let _ = write!(text, "; {again} segments retransmitted");
    }
    let width = replays.iter().map(|replay| replay.spec.len()).max().unwrap_or(0).max(9);
    let _ = write!(
        text,
        "\n\n{:width$}  {:>9}  {:>8}  {:>8}  {:>10}\n",
        "estimator", "too early", "% (~B)", "wait(~W)", "RTO ms"
    );
    for replay in replays {
        let _ = writeln!(
            text,
            "{:width$}  {:>9}  {:>8}  {:>8}  {:>10}",
            replay.spec,
            replay.bad,
            number(replay.bad_share.map(|share| share * 100.0)),
            number(replay.relative_wait),
            replay.rto_mean_ms.map_or_else(|| "-".into(), format::milliseconds),
        );
    }
    let when = if trace.is_timed() { "when its Interest was sent" } else { "before it" };
    let _ = writeln!(
        text,
        "\ntoo early: round trips longer than the timeout in force {when}, also as ~B, their share;\n\
         ~W: timeout over the latest round trip, which is what a loss would have cost. Both approximate\n\
         B and W, for a trace does not know what a timer would have changed."
    );
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.2}"))
}

/// Writes the curves.
fn write(folder: &Path, path: &Path, trace: &Trace, replays: &[Replay]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    let csv = folder.join("rto.csv");
    write_csv(&csv, trace, replays).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::file("write", csv.display(), &error),
        error => Failure::new(Exit::Local, format!("cannot write {}: {error:?}", csv.display())),
    })?;
    let title = format!("Timeouts over {}", path.display());
    picture::draw_timers(&folder.join("rto.svg"), &title, &curves(trace, replays))
}

fn write_csv(path: &Path, trace: &Trace, replays: &[Replay]) -> Result<(), csv::Error> {
    let mut out = csv::Writer::from_path(path)?;
    out.write_record(["estimator", "segment", "time_s", "rtt_ms", "rto_ms", "too_early"])?;
    for replay in replays {
        for (row, rto) in trace.rows().iter().zip(&replay.timeouts) {
            let time = row.sent.map(|at| at.as_secs_f64().to_string()).unwrap_or_default();
            let (rtt, rto_ms) = (format::ms(row.rtt).to_string(), format::ms(*rto).to_string());
            let early = if replay::is_early(row, *rto) { "1" } else { "0" };
            let segment = row.segment.to_string();
            out.write_record([&replay.spec, &segment, &time, &rtt, &rto_ms, early])?;
        }
    }
    out.flush().map_err(csv::Error::from)
}

fn curves(trace: &Trace, replays: &[Replay]) -> Vec<Curve> {
    let step = trace.rows().len().div_ceil(DRAWN).max(1);
    let curve = |replay: &Replay| {
        let rows = trace.rows().iter().zip(&replay.timeouts).step_by(step);
        let points = rows.map(|(row, rto)| Point {
            segment: row.segment,
            rtt_ms: format::ms(row.rtt),
            delay_ms: format::ms(row.delay),
            rto_ms: format::ms(*rto),
            transmissions: row.transmissions,
            ..Point::default()
        });
        Curve { label: replay.spec.clone(), points: points.collect() }
    };
    replays.iter().map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_outside_of_brackets() {
        let split = specs(&["a,b(x=1,y=2), c".into(), "d".into()]).unwrap();
        assert_eq!(split, ["a", "b(x=1,y=2)", "c", "d"]);
        assert!(specs(&[",".repeat(60)]).is_err());
    }

    #[test]
    fn the_default_estimators_exist() {
        for spec in specs(&[DEFAULT.into()]).unwrap() {
            assert!(recoup_transport::rto::parse(&spec).is_ok(), "{spec}");
        }
    }
}
