//! `recoup replay`: what a forwarder did, once more.
use crate::error::{EXIT_CODES, Exit, Failure};
use crate::format::hex;
use crate::forward::config::ForwardConfig;
use crate::output::{self, Stream};
use clap::Args;
use recoup_forwarder::node::{Input, Output};
use recoup_io::recording::{Reader, RecordingError, Replayed, Step, replay};
use recoup_trace::forwarder::Forwarder;
use recoup_transport::time::Instant;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  recoup replay node.recording
  recoup replay node.recording --verbose
  recoup replay node.recording --trace node.pftrace
      see packets of each face over time, in https://ui.perfetto.dev
  recoup replay node.recording --json
";

/// Replay a recording of a forwarder, and compare its outputs
///
/// Reads a recording of `recoup forward --record`: the configuration, the seed, and every frame, face and route with
/// its instant. A forwarder in this process receives these inputs, without any socket. Its outputs must equal the
/// recorded ones, byte by byte.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print every input and every output with its instant
    #[arg(short, long, conflicts_with = "json", help_heading = "Reports")]
    pub verbose: bool,

    /// Write a trace for the Perfetto viewer, https://ui.perfetto.dev: Interests of each face until their answers, drops, queues
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub trace: Option<PathBuf>,

    /// End with a JSON document on standard output instead of a summary
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// Result of a replay.
#[derive(Debug, Serialize)]
struct Document {
    /// Always `replay`.
    command: &'static str,
    /// Inputs of the forwarder.
    inputs: u64,
    /// Things that it did.
    outputs: u64,
    /// Outputs whose recorded counterpart is known.
    compared: u64,
    /// Time that the recording covers, in seconds.
    elapsed_s: f64,
    /// The recording has its end; or else it was cut off.
    complete: bool,
}

impl Document {
    fn new(done: &Replayed) -> Self {
        let Replayed { inputs, outputs, compared, last, complete } = *done;
        let elapsed_s = last.since(Instant::ZERO).as_secs_f64();
        Self { command: "replay", inputs, outputs, compared, elapsed_s, complete }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let file = args.file.display().to_string();
    let open = File::open(&args.file).map_err(|error| Failure::file("read", &file, &error))?;
    let failed = |error: RecordingError| failure(&file, &error);
    let mut reader = Reader::new(BufReader::new(open)).map_err(failed)?;
    let config = ForwardConfig::parse(&file, &reader.heading().text)?;
    let mut node = config.node(reader.heading().seed);
    let seed = reader.heading().seed;
    let begin = |path: &PathBuf| -> Result<_, Failure> {
        let file = File::create(path).map_err(|error| untraced(path, &error))?;
        Ok((path.clone(), Forwarder::new("forwarder", seed, BufWriter::new(file))))
    };
    let mut trace = args.trace.as_ref().map(begin).transpose()?;
    let mut shown = Ok(());
    let done = replay(&mut reader, &mut node, &mut |now, step| {
        if args.verbose && shown.is_ok() {
            shown = show(now, step);
        }
        match (&mut trace, step) {
            (Some((_, trace)), Step::Input(input)) => trace.input(now, input),
            (Some((_, trace)), Step::Output(output)) => trace.output(now, output),
            (None, _) => {}
        }
    });
    shown?;
    if let Some((path, trace)) = trace {
        trace.finish().map_err(|error| untraced(&path, &error))?;
    }
    let document = Document::new(&done.map_err(failed)?);
    if args.json {
        return output::json(&document, Stream::Out);
    }
    let Document { inputs, outputs, compared, elapsed_s, complete, .. } = document;
    let mut text =
        format!("{inputs} inputs in {elapsed_s:.3} s led to the same {compared} outputs again\n");
    if !complete {
        let rest = outputs - compared;
        text += &format!("the recording was cut off; {rest} outputs after that are not checked\n");
    }
    output::print(text.as_bytes())
}

fn untraced(path: &Path, error: &io::Error) -> Failure {
    Failure::file("write the trace", path.display(), error)
}

fn failure(file: &str, error: &RecordingError) -> Failure {
    match error {
        RecordingError::Read(error) => Failure::file("read", file, error),
        RecordingError::Diverged { .. } => {
            Failure::new(Exit::Verification, format!("{file} {error}"))
                .advise("replay it with the version of recoup that wrote it")
        }
        _ => Failure::new(Exit::Local, format!("{file} {error}")),
    }
}

fn show(now: Instant, step: Step<'_>) -> Result<(), Failure> {
    let seconds = now.since(Instant::ZERO).as_secs_f64();
    let line = match step {
        Step::Input(Input::Frame { face, frame }) => format!("< {} {}", face.0, hex(frame)),
        Step::Input(Input::FrameFrom { face, sender, frame }) => {
            format!("< {} from {sender:x} {}", face.0, hex(frame))
        }
        Step::Input(input) => format!("< {input:?}"),
        Step::Output(Output::Send { face, frame }) => {
            format!("> {} {}{}", face.0, hex(frame.head()), hex(frame.body()))
        }
        Step::Output(output) => format!("> {output:?}"),
    };
    output::print(format!("{seconds:.6} {line}\n").as_bytes())
}
