//! The options of `recoup group`.
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand};
use recoup_packet::name::Name;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup key new /alice --type rsa
      a reader's key
  recoup key export /alice --public -o alice.cert
      its certificate, for the owner of the group
  recoup group new /site/reports
  recoup group add /site/reports alice.cert
  recoup serve reports --name /site/reports --sign /site --encrypt /site/reports
      content that only members of the group can read
  recoup fetch /site/reports/may.pdf --decrypt /alice --verify key=site.cert
  recoup group export /site/reports -o reports.kek
      for a producer on another machine: recoup serve … --encrypt reports.kek
";

/// Choose the readers of encrypted content: groups, keys, members
///
/// Producers encrypt content for a group (name-based access control). Each member gets the group's key, encrypted for the
/// member's own RSA key. Keys are stored beside those of `recoup key`.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct GroupArgs {
    /// Verb of the command.
    #[command(subcommand)]
    pub action: GroupAction,
}

/// Verbs of `recoup group`.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupAction {
    /// Create a group
    ///
    /// A second key of the same group excludes earlier members from content that is encrypted from then on.
    New {
        /// Name of the group; NAC is added to a name without that component
        #[arg(value_name = "GROUP")]
        group: Name,
    },
    /// Let the owner of a certificate read what is encrypted for a group
    ///
    /// Servers that run must be started again.
    Add {
        /// Name of the group
        #[arg(value_name = "GROUP")]
        group: String,
        /// Certificate of an RSA key: a file, or a name in the key store; check before that it is the reader's
        #[arg(value_name = "CERT", required = true)]
        members: Vec<String>,
    },
    /// List the members of a group
    List {
        /// Name of the group
        #[arg(value_name = "GROUP")]
        group: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write the public key of a group, for producers on other machines
    Export {
        /// Name of the group
        #[arg(value_name = "GROUP")]
        group: String,
        /// Key that signs it: digest, or its name in the key store
        #[arg(long, value_name = "KEY", default_value = "digest")]
        sign: String,
        /// Output file; by default standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}
