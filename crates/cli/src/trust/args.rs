//! The options of `recoup trust`.
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand};
use recoup_packet::name::Name;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup trust compile policy.lvs -o policy.tlv
  recoup trust check /site/article/tea/v=1 /site/author/ann/KEY/1/site/v=1 --schema policy.tlv
  recoup trust check /site/article/tea/v=1 ann.cert --schema policy.lvs
  recoup fetch /site/article/tea --trust root.cert --schema policy.tlv
";

/// Compile trust schemas, and ask which key may sign which name
///
/// A trust schema (Light VerSec) has a rule for each kind of name: its pattern, and the rules of keys that may sign it.
/// python-ndn, NDNts and ndnd read the compiled form.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct TrustArgs {
    /// Verb of the command.
    #[command(subcommand)]
    pub action: TrustAction,
}

/// Verbs of `recoup trust`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Compile the text of a trust schema
    Compile {
        /// File with the text
        #[arg(value_name = "SCHEMA")]
        schema: PathBuf,
        /// Output file; `-` for standard output
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Check whether a key may sign a name, and by which rule; exit code 5 if it may not
    Check {
        /// Name of the packet
        #[arg(value_name = "NAME")]
        name: Name,
        /// The key: the name of its certificate, a certificate file, or a key of the key store
        #[arg(value_name = "KEY")]
        key: String,
        /// The trust schema, compiled or as text; without it, a key may sign what lies below the name of its owner
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}
