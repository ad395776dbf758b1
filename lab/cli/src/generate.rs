//! `recoup-lab generate`: completions, manual pages, reference and schemas of both programs.
use crate::command::Cli;
use crate::error::Failure;
use crate::{rto, study};
use clap::{Args, CommandFactory};
use recoup_cli::generate::schema;
use recoup_cli::generate::{self, GenerateArgs};
use recoup_lab::scenario::ScenarioFile;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::serve::ServeOptions;
use serde_json::Value;

/// Runs the command.
pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    generate::write(args, definitions(), |document| {
        Ok(schema::schema(document).unwrap_or_else(scenario))
    })
}

/// The command line with the commands of both programs, those of the laboratory behind the others.
fn definitions() -> clap::Command {
    let mut cli = recoup_cli::command_line();
    let own = Cli::command();
    for one in own.get_subcommands().filter(|one| !one.is_hide_set()) {
        let define = match one.get_name() {
            "rto" => rto::RtoArgs::augment_args,
            "study" => study::StudyArgs::augment_args,
            _ => {
                cli = cli.subcommand(one.clone());
                continue;
            }
        };
        cli = cli.subcommand(define(clap::Command::new(one.get_name().to_owned())));
    }
    generate::defined(cli)
}

/// The schema of scenario files.
fn scenario() -> Value {
    let fetch = FetchOptions::augment_args(clap::Command::new("fetch"));
    let serve = ServeOptions::augment_args(clap::Command::new("serve"));
    let mut schema = ScenarioFile::schema();
    let properties = &mut schema["properties"];
    schema::describe(&mut properties["fetch"], &fetch);
    schema::describe(&mut properties["serve"], &serve);
    let any = &mut properties["applications"]["additionalProperties"];
    schema::describe(any, &fetch);
    schema::describe(any, &serve);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kept_schema_is_that_of_the_reader() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/scenario.json");
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
        assert!(kept == scenario(), "run `cargo xtask docs`");
    }

    #[test]
    fn scenario_schema_has_keys_of_all_kinds() {
        let schema = scenario();
        let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(at("/properties/when-done/type"), "boolean");
        assert_eq!(at("/properties/link/properties/reorder/type"), "boolean");
        assert_eq!(at("/properties/links/additionalProperties/properties/cost/type"), "integer");
        assert_eq!(at("/properties/node/properties/strategy/default"), "best-route");
        assert_eq!(at("/properties/fetch/properties/flow-nonce/default"), false);
        assert!(at("/properties/fetch/properties/rto/description").is_string());
        assert_eq!(at("/properties/route/items/required"), &json!(["node", "prefix", "via"]));
        let application = "/properties/applications/additionalProperties/properties";
        for key in ["kind", "object", "prefix", "arrival", "frame", "segment", "retries"] {
            at(&format!("{application}/{key}"));
        }
        for key in ["arity", "width", "leaves", "file", "names"] {
            at(&format!("/properties/topology/properties/{key}"));
        }
        at("/properties/event/items/properties/to/properties/loss");
        at("/properties/wifi/properties/standard");
    }
}
