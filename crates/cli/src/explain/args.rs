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
      the same of another consumer in another run
  recoup explain catalogue-results /data/p3/40
      content by its name, from its first Interest on
  recoup explain ~/.cache/recoup/studies/yang2016/linear 100 --at design=#1
      of a run of a study
";

/// Explain why a segment was late: its timeline over the hops, and a verdict
///
/// RESULT is a folder that `recoup sim` or `recoup study` wrote. It holds the scenario and the seeds, and the same
/// seed gives the same run to the last event. So the run is made again with this one segment followed, and the
/// digest of all that happens shows that it is the same run: no record need have been switched on.
///
/// The timeline has each hop: queueing in a node, time in flight, losses, aggregation with a pending Interest, cache
/// hits, and the timer of each retransmission. The last line is the verdict, beside the median delay of the consumer in
/// that run.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ExplainArgs {
    /// Folder of results
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// Number of the segment (of a consumer of a catalogue: of the request), or a content's name
    #[arg(value_name = "SEGMENT")]
    pub segment: String,

    /// The consumer, where there are several
    #[arg(short, long, value_name = "NAME")]
    pub application: Option<String>,

    /// Seed of the run; by default the lowest one
    #[arg(short, long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// The run's value on an axis of the sweep; the first point that fits is taken
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
        Failure::usage(format!("`{text}` is neither the number of a segment nor a content's name"))
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
