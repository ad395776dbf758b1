//! The options of `recoup explain`.
use crate::error::{EXIT_CODES, Failure};
use clap::Args;
use recoup_packet::name::Name;
use recoup_sim::timeline::Wanted;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup explain line-results 17
      segment 17 of the only consumer, at the first point of the sweep, with its lowest seed
  recoup explain line-results 17 --application c2 --seed 3 --at link.delay='50 ms'
      that segment of another consumer in another run
  recoup explain line-results --worst 5
      the five slowest segments, each with its verdict
  recoup explain line-results --page line.html --seed 3
      the network of that run as a page: packets on links, queues, curves, timelines of segments
  recoup explain catalogue-results /data/p3/40
      content by its name, from its first Interest on
  recoup explain ~/.cache/recoup/studies/yang2016/linear 100 --at design=#1
      a segment of a study's run
";

/// Explain why a segment was late: its timeline, and a verdict
///
/// RESULT is a folder of `recoup sim` or `recoup study` with the scenario and the seeds. A seed repeats a run to the
/// last event. The command repeats the run with this one segment traced, and compares the digests of both runs. So the
/// original run needs no records.
///
/// The timeline has each hop: queueing in a node, time in flight, losses, aggregation with a pending Interest, cache
/// hits, and the timer of each retransmission. The last line is the verdict, beside the median delay of the consumer in
/// that run.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ExplainArgs {
    /// Folder of results
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// Number of the segment (for a consumer of a catalogue: of the request), or name of the content
    #[arg(value_name = "SEGMENT", required_unless_present_any = ["worst", "page"], conflicts_with_all = ["worst", "page"])]
    pub segment: Option<String>,

    /// Explain the N slowest segments of the consumer, without their timelines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub worst: Option<u16>,

    /// Write a page in which one watches the run: one HTML file, which needs no network
    ///
    /// The page shows packets on links and in queues at any time of the run, and losses. Below are windows, round-trip times,
    /// goodputs and queues as curves; beside is the timeline of each segment. It holds a million events, the first ones of a
    /// longer run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["worst", "application", "json"])]
    pub page: Option<PathBuf>,

    /// Name of the consumer, if there are several
    #[arg(short, long, value_name = "NAME")]
    pub application: Option<String>,

    /// Seed of the run; by default the lowest one
    #[arg(short, long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Value of an axis of the sweep; the first point that matches is taken
    #[arg(long, value_name = "AXIS=VALUE")]
    pub at: Vec<String>,

    /// Folder of the files that the scenario names; by default the folder beside RESULT
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,

    /// Print a JSON document
    #[arg(long)]
    pub json: bool,
}

/// A number, or a name.
pub(super) fn parse_wanted(text: &str) -> Result<Wanted, Failure> {
    if let Ok(number) = text.parse() {
        return Ok(Wanted::Segment(number));
    }
    let name: Result<Name, _> = text.parse();
    name.ok().filter(|_| text.starts_with('/')).map(Wanted::Content).ok_or_else(|| {
        Failure::usage(format!(
            "`{text}` is neither the number of a segment nor the name of a content"
        ))
        .advise("write it as 17 or /data/p3/40")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_a_number_or_a_name() {
        assert_eq!(parse_wanted("17"), Ok(Wanted::Segment(17)));
        assert_eq!(parse_wanted("/a/17"), Ok(Wanted::Content("/a/17".parse().unwrap())));
        for wrong in ["-1", "a/b", "17.5", ""] {
            let error = parse_wanted(wrong).unwrap_err().to_string();
            assert!(error.contains("neither the number of a segment"), "{error}");
        }
    }
}
