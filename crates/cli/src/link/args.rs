//! The options of `recoup link`.
use crate::error::EXIT_CODES;
use crate::value::Given;
use clap::Args;
use recoup_channel::link::LinkOptions;
use recoup_io::face::FaceUri;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup link --between udp://127.0.0.1:7001 udp://127.0.0.1:6363 --rate '10 Mbit/s'
  recoup fetch /movie --face udp://127.0.0.1:7001
      through the link to the server or forwarder at port 6363; other clients can share it
  recoup link --between udp://0.0.0.0:7001 udp://192.0.2.7 --delay '10 ms' --back-rate '1 Mbit/s'
      a slow return direction
  recoup link --between udp://0.0.0.0:7001 udp://192.0.2.7 --loss 'bernoulli(p=0.01)' --seed 7
      losses, the same packets each time
  recoup link --between udp://0.0.0.0:7001 udp://192.0.2.7 --order delay-then-rate --file link.toml
      scheduled changes from a file

A file; each key as in a scenario, options take precedence over [link]:
  [link]
  rate = \"10 Mbit/s\"
  delay = \"10 ms\"
  back = { rate = \"1 Mbit/s\" }

  [[event]]
  at = \"5 s\"                      # since the link began
  for = \"2 s\"                     # by default until the end
  to = { loss = \"bernoulli(p=0.1)\" }

  [[event]]
  at = \"20 s\"
  for = \"500 ms\"
  outage = \"both\"                 # or forth, back
";

/// Put an impaired link between two UDP faces: rate, delay, losses
///
/// Receives at the first address and sends to the second; each answer returns to its client. Up to
/// 256 clients share the link: one rate, one queue and one loss model for each direction. The
/// channels are those of the simulator, in real time. Runs until Ctrl-C or SIGTERM and then prints
/// how many frames entered, arrived and were lost.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct LinkArgs {
    /// Address to listen at, and address of the far end
    #[arg(long, value_names = ["URI", "FAR"], num_args = 2, required = true, help_heading = "Link")]
    pub between: Vec<FaceUri>,

    /// Address of a client at the near end, so that the far end can send first
    #[arg(long, value_name = "URI", help_heading = "Link")]
    pub peer: Option<FaceUri>,

    /// TOML file with properties and scheduled changes
    #[arg(long, value_name = "FILE", help_heading = "Link")]
    pub file: Option<PathBuf>,

    #[command(flatten)]
    pub options: Given<LinkOptions>,

    /// Rate of the return direction, if different
    #[arg(long, value_name = "RATE", help_heading = "Return direction")]
    pub back_rate: Option<String>,

    /// Delay of the return direction, if different
    #[arg(long, value_name = "TIME", help_heading = "Return direction")]
    pub back_delay: Option<String>,

    /// Queue of the return direction, if different
    #[arg(long, value_name = "LIMIT", help_heading = "Return direction")]
    pub back_queue: Option<String>,

    /// Losses of the return direction, if different
    #[arg(long, value_name = "MODEL", help_heading = "Return direction")]
    pub back_loss: Option<String>,

    /// Jitter of the return direction, if different
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "Return direction")]
    pub back_jitter: Option<String>,

    /// Seed of random losses
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Link")]
    pub seed: u64,

    /// Print neither the start line nor the summary
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print JSON documents on standard output: a line at the start and a line at the end
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// Keys of a link, with their values from the command line.
type Layer = Vec<(String, String)>;

impl LinkArgs {
    /// Options of both directions, and of the return direction alone.
    pub(super) fn layers(&self) -> (Layer, Layer) {
        let back = [
            ("rate", &self.back_rate),
            ("delay", &self.back_delay),
            ("queue", &self.back_queue),
            ("loss", &self.back_loss),
            ("jitter", &self.back_jitter),
        ];
        (self.options.texts(), given(&back))
    }
}

fn given(keys: &[(&'static str, &Option<String>)]) -> Layer {
    keys.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value).clone()?))).collect()
}
