//! The options of `recoup share`.
use crate::error::EXIT_CODES;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup share photos
      prints a code, and shares the folder until Ctrl-C
  recoup get k7fq-2mzp-8xwd
      on another machine of the same network
";

/// Share a file or folder in the local network, by a short code
///
/// Signs the content with a key that is made for this share, and announces it by multicast DNS. `recoup get CODE` finds and
/// verifies it: the code is made from the key, so that no other machine can give it different content. The content is not
/// encrypted: everyone in the network can fetch it.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ShareArgs {
    /// File or folder to share
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// UDP port; by default one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    /// Share hidden files and folders of a folder, too: those whose names begin with a period
    #[arg(long)]
    pub hidden: bool,

    /// Print nothing but the code
    #[arg(short, long)]
    pub quiet: bool,

    /// Print a JSON document with the code, one line
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
}
