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
  recoup key sign-request /site/bob -o bob.req
  recoup key issue bob.req --signer /site --days 90 -o bob.cert
  recoup key import bob.cert
";

/// Create, certify, import, export and list signing keys
///
/// Keys are stored in ~/.local/share/recoup/keys; ndn-cxx keys in ~/.ndn are usable, too. The
/// environment variable RECOUP_PASSPHRASE can hold the passphrase of an encrypted key.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct KeyArgs {
    /// Verb of the command.
    #[command(subcommand)]
    pub action: KeyAction,
}

/// Verbs of `recoup key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Create a key for an identity
    ///
    /// An identity that has a key gets another one, which becomes its default; the older ones stay.
    New {
        /// Name of the identity
        #[arg(value_name = "IDENTITY")]
        identity: Name,
        /// Algorithm
        #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "ecdsa")]
        kind: KeyKindArg,
    },
    /// Import a key from a PEM or SafeBag file, or a certificate
    ///
    /// A certificate of a key in the store becomes the key's; any other one is kept as that of an issuer, and
    /// published by `recoup serve --sign` with those that it signed.
    Import {
        /// The file; `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Identity of a PEM file's key, which has no name
        #[arg(long, value_name = "NAME")]
        identity: Option<Name>,
        /// File whose first line is the passphrase of a SafeBag
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Export a key to a file
    Export {
        /// Name of a key, or of an identity for its default key
        #[arg(value_name = "NAME")]
        name: String,
        /// Export only the certificate, for verifiers
        #[arg(long)]
        public: bool,
        /// Format of the file
        #[arg(long, value_name = "FORM", default_value = "pem", conflicts_with = "public")]
        format: KeyFormatArg,
        /// File whose first line is the passphrase to encrypt with
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// Write the private key without encryption
        #[arg(long, conflicts_with_all = ["public", "passphrase_file"])]
        insecure: bool,
        /// Output file; by default standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove a key and its certificate from the key store
    Delete {
        /// Name of the key, or of an identity that has one key
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Choose the key that its identity signs with
    Default {
        /// Name of the key
        #[arg(value_name = "KEY")]
        name: String,
    },
    /// Write a request for a certificate of a key
    SignRequest {
        /// Name of the key, or of an identity for its default key
        #[arg(value_name = "NAME")]
        name: String,
        /// Output file; by default standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Issue the certificate of a request
    Issue {
        /// The request; `-` for standard input
        #[arg(value_name = "REQUEST")]
        request: PathBuf,
        /// Key that signs the certificate: its name in the key store
        #[arg(long, value_name = "NAME")]
        signer: String,
        /// Issuer component of the certificate's name
        #[arg(long, value_name = "WORD", default_value = "recoup")]
        issuer: String,
        /// Days from now on for which it is valid
        #[arg(long, value_name = "DAYS", default_value = "365", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: u32,
        /// Output file; by default standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the keys of the key store
    List {
        /// Print a JSON document
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
    /// RSA, which reads what is encrypted for groups (`recoup group`)
    Rsa,
}

/// Format of a private key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormatArg {
    /// PKCS #8 in PEM
    Pem,
    /// SafeBag of ndn-cxx, encrypted with a passphrase
    Safebag,
}
