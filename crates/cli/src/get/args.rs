//! The options of `recoup get`.
use crate::error::EXIT_CODES;
use crate::share::Code;
use clap::Args;
use recoup_transport::unit;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup get k7fq-2mzp-8xwd
      into a file or folder of its own name
  recoup get k7fq-2mzp-8xwd -o copy --resume
";

/// Get what another machine of the local network shares, by its code
///
/// Finds `recoup share` by multicast DNS, and accepts only content that is signed by the key from which the code was made.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct GetArgs {
    /// The code that `recoup share` printed
    #[arg(value_name = "CODE")]
    pub code: Code,

    /// Write to FILE (or into folder FILE); by default into the current folder, under its own name
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Resume an interrupted download
    #[arg(long)]
    pub resume: bool,

    /// Begin anew: discard an interrupted download, and replace a finished file
    #[arg(long, conflicts_with = "resume")]
    pub restart: bool,

    /// Receive at most so many bytes per second: 500k, 2M (powers of 1024, as curl), 20Mbit/s or 2MB/s
    #[arg(long, value_name = "RATE", value_parser = unit::byte_limit)]
    pub limit_rate: Option<u64>,

    /// How long the share is looked for
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = unit::interval)]
    pub wait: Duration,

    /// Print neither progress nor result
    #[arg(short, long)]
    pub quiet: bool,

    /// End with a JSON document instead of the line of result
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
}
