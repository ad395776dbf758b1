//! `recoup trust`: trust schemas, compiled and asked.
pub(crate) mod args;

pub(crate) use args::TrustArgs;

use crate::error::{Exit, Failure};
use crate::output::{self, Stream};
use crate::terminal;
use crate::terminal::path_line;
use args::TrustAction;
use recoup::trust;
use recoup_packet::name::Name;
use recoup_trust::schema::{self, Explanation};
use recoup_trust::{Certificate, Policy};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &TrustArgs) -> Result<(), Failure> {
    match &args.action {
        TrustAction::Compile { schema, output } => compile(schema, output),
        TrustAction::Check { name, key, schema, json } => {
            let key = key_name(key)?;
            match schema {
                Some(schema) => check(name, &key, schema, *json),
                None => check_hierarchy(name, &key, *json),
            }
        }
    }
}

fn compile(text: &Path, output: &Path) -> Result<(), Failure> {
    let model = trust::compile_schema(text)?;
    if let Some(rule) = schema::circle(&model) {
        output::eprint(&format!(
            "recoup: the keys of {rule} are signed by keys that they sign; python-ndn rejects such a schema"
        ));
    }
    let bytes = model.encode();
    if output.as_os_str() == "-" {
        return output::print(&bytes);
    }
    fs::write(output, &bytes).map_err(|error| Failure::file("write", output.display(), &error))?;
    let (nodes, size) = (model.nodes.len(), bytes.len());
    output::eprint(&format!("{}: {nodes} nodes, {size} bytes", path_line(output)));
    Ok(())
}

/// The name of a certificate: as it is written, or that in a file or in the key store.
fn key_name(which: &str) -> Result<Name, Failure> {
    match which.parse::<Name>() {
        Ok(name) if !Path::new(which).is_file() => Ok(match trust::certificate(which) {
            Ok(data) if name.is_prefix_of(data.name()) => data.name().clone(),
            _ => name,
        }),
        _ => {
            let data = trust::certificate(which)?;
            let certificate = Certificate::new(data)
                .map_err(|error| Failure::new(Exit::Local, format!("{which}: {error}")))?;
            Ok(certificate.name().clone())
        }
    }
}

/// The document of `recoup trust check --json`.
#[derive(Debug, Serialize)]
struct Checked {
    name: String,
    key: String,
    allowed: bool,
    /// A line for each fact.
    reasons: Vec<String>,
}

fn check(name: &Name, key: &Name, schema: &Path, json: bool) -> Result<(), Failure> {
    let explanation: Explanation = trust::read_schema(schema)?.explain(name, key);
    let reasons = explanation.to_string();
    answer(name, key, explanation.is_allowed(), reasons.lines().map(str::to_owned).collect(), json)
}

fn check_hierarchy(name: &Name, key: &Name, json: bool) -> Result<(), Failure> {
    let verdict = Policy::Hierarchical.check(name, key);
    let reason = match verdict {
        Ok(()) => format!("{name} lies below the name of the owner of {key}"),
        Err(why) => format!("{name} {why}: {key}"),
    };
    answer(name, key, verdict.is_ok(), vec![reason], json)
}

fn answer(
    name: &Name,
    key: &Name,
    allowed: bool,
    reasons: Vec<String>,
    json: bool,
) -> Result<(), Failure> {
    let lines = terminal::safe(&reasons.join("\n"));
    if json {
        let (name, key) = (name.to_string(), key.to_string());
        output::json(&Checked { name, key, allowed, reasons }, Stream::Out)?;
    } else {
        output::print(format!("{lines}\n").as_bytes())?;
    }
    match allowed {
        true => Ok(()),
        false => Err(Failure::new(Exit::Verification, format!("{key} may not sign {name}"))),
    }
}
