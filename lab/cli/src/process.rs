//! `recoup process`: one application of a network of processes, as `recoup emulate` describes it in a JSON document.
use crate::error::Failure;
use clap::Args;
use recoup_cli::fetch::{self, FetchArgs};
use recoup_cli::serve::{self, ServeArgs};
use recoup_cli::value::SegmentRange;
use recoup_io::face::FaceUri;
use recoup_lab::emulate::document::{FetchTask, ServeTask, Task};
use std::path::{Path, PathBuf};

/// Run one application of a network of processes
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    /// JSON document that describes the application
    #[arg(value_name = "FILE")]
    pub document: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &ProcessArgs) -> Result<(), Failure> {
    match read(&args.document)? {
        Task::Fetch(task) => fetch::run(fetch_args(*task)?),
        Task::Serve(task) => serve::run(&serve_args(task)?),
    }
}

/// Reads a document.
pub(crate) fn read(path: &Path) -> Result<Task, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| recoup::Error::file("read", path.display(), &error))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// The task as options of `recoup fetch`, which writes a JSON document at its end.
pub(crate) fn fetch_args(task: FetchTask) -> Result<FetchArgs, Failure> {
    let FetchTask { name, output, face, first, last, options } = task;
    let end = last.map(|last| last.saturating_add(1));
    Ok(FetchArgs {
        output: Some(output),
        range: Some(SegmentRange { begin: first, end }),
        options,
        face: Some(face_of(&face)?),
        quiet: true,
        json: true,
        ..FetchArgs::new(name)
    })
}

/// The task as options of `recoup serve`, which writes JSON documents at its begin and its end.
fn serve_args(task: ServeTask) -> Result<ServeArgs, Failure> {
    let ServeTask { name, path, face, options } = task;
    let face = Some(face_of(&face)?);
    Ok(ServeArgs { options, face, json: true, ..ServeArgs::new(path, name) })
}

fn face_of(text: &str) -> Result<FaceUri, Failure> {
    text.parse().map_err(|error| Failure::usage(format!("{text}: {error}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use recoup_cli::fetch::FetchArgs;
    use recoup_lab::scenario::ScenarioFile;
    use recoup_sim::network::ApplicationKind;
    use recoup_transport::fetch::FetchOptions;

    #[derive(Parser)]
    struct Fetch {
        #[command(flatten)]
        args: FetchArgs,
    }

    #[test]
    fn command_and_scenario_have_the_same_defaults() {
        let text = "[topology]\nlinks = [\"c-p\"]\n[applications.c]\nkind = \"fetch\"\nnode = \"c\"\n\
                    object = \"/f\"\n[applications.p]\nkind = \"serve\"\nnode = \"p\"\nprefix = \"/f\"\n\
                    size = \"1 MB\"\n";
        let file = ScenarioFile::parse(text, &[]).unwrap();
        let scenario = file.scenario(&file.point(0).unwrap(), &|_| Ok(String::new())).unwrap();
        let network = scenario.network(1).unwrap();
        let ApplicationKind::Fetch(fetch) = &network.applications[0].kind else { panic!() };
        let Fetch { args } = Fetch::try_parse_from(["fetch", "/f"]).unwrap();
        assert_eq!(args.options, FetchOptions::default());
        assert_eq!(FetchOptions { discover: true, ..fetch.options.clone() }, args.options);
    }
}
