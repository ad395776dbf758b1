//! The command line: all subcommands under one name.
use crate::error::EXIT_CODES;
use crate::{demo, fetch, generate, key, ping, serve};
use clap::{ColorChoice, Parser, Subcommand};

/// Fetch and serve named content over NDN networks: fast, checked, resumable.
///
/// Without any set-up, in two terminals:
///
///   recoup serve movie.mp4 --name /movie
///   recoup fetch /movie -o copy.mp4
///
/// Beside a forwarder (NFD, ndnd) the same commands use the forwarder.
/// `recoup demo` shows in one command what adaptive timers are worth.
#[derive(Debug, Parser)]
#[command(name = "recoup", version, after_help = EXIT_CODES, color = ColorChoice::Auto)]
#[command(
    verbatim_doc_comment,
    propagate_version = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch named content into a file, a folder or a pipe
    Fetch(Box<fetch::FetchArgs>),
    /// Serve a file, a folder or standard input under a name
    Serve(serve::ServeArgs),
    /// Make, import, export and list signing keys
    Key(key::KeyArgs),
    /// Measure round-trip times to a name, or answer such measurements
    Ping(ping::PingArgs),
    /// Show the main job in one command: constant against adaptive timers over a lossy link
    Demo(demo::DemoArgs),
    /// Write shell completions and manual pages
    #[command(hide = true)]
    Generate(generate::GenerateArgs),
}
