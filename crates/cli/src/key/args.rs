//! The options of `recoup key`.
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand, ValueEnum};
use recoup_packet::name::Name;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup key new /alice
  recoup serve movie.mp4 --name /movie --sign /alice
  recoup key export /alice --public -o alice.cert
  recoup fetch /movie -o movie.mp4 --verify key=alice.cert
  recoup key export /alice --format safebag --passphrase-file secret -o alice.safebag
";

/// Make, import, export and list signing keys
///
/// Keys are kept in ~/.local/share/recoup/keys; those that ndn-cxx keeps in ~/.ndn can be used too.
/// The passphrase of an encrypted key can also stand in the environment variable RECOUP_PASSPHRASE.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct KeyArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: KeyAction,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Make a key for an identity
    New {
        /// Name of the identity
        #[arg(value_name = "IDENTITY")]
        identity: Name,
        /// Algorithm
        #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "ecdsa")]
        kind: KeyKindArg,
    },
    /// Take a key from a PEM or SafeBag file into the key store
    Import {
        /// The file; `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Identity for a PEM file, which does not say whose key it holds
        #[arg(long, value_name = "NAME")]
        identity: Option<Name>,
        /// File whose first line is the passphrase of a SafeBag
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Write a key into a file
    Export {
        /// Name of the key, or of an identity for its key
        #[arg(value_name = "NAME")]
        name: String,
        /// The certificate only, for those who verify
        #[arg(long)]
        public: bool,
        /// Form of the file
        #[arg(long, value_name = "FORM", default_value = "pem", conflicts_with = "public")]
        format: KeyFormatArg,
        /// File whose first line is the passphrase to encrypt with; a SafeBag needs one
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// The file to write; standard output if not given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the keys of the key store
    List {
        /// A JSON document instead of lines
        #[arg(long)]
        json: bool,
    },
}

/// Algorithm of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyKindArg {
    /// ECDSA with curve P-256, which all NDN software verifies
    Ecdsa,
    /// Ed25519: faster, not verified by ndn-cxx
    Ed25519,
    /// HMAC-SHA256 with a shared secret
    Hmac,
}

/// Form of a file with a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormatArg {
    /// PKCS #8 in PEM
    Pem,
    /// SafeBag of ndn-cxx, encrypted with a passphrase
    Safebag,
}
