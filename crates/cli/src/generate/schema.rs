//! JSON Schema of the documents that the command reads, for editors, and of those that it prints.
use crate::forward::config::ForwardConfig;
use clap::{Args, ValueEnum};
use recoup_config::section;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::serve::ServeOptions;
use serde_json::{Value, json};

/// The schema of documents that are printed. Tests compare the documents with it; a change of a member changes the number in `$id`.
const DOCUMENTS: &str = include_str!("documents.json");

/// Documents with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// Scenario files, as recoup sim reads them
    Scenario,
    /// The configuration of recoup forward
    Forward,
    /// The options of a fetch, as JSON
    Fetch,
    /// The options of a producer, as JSON
    Serve,
    /// The documents that commands print with --json
    Documents,
}

/// The schema of a document, from the code that reads it. That of scenarios is known to the laboratory alone.
pub fn schema(document: Document) -> Option<Value> {
    let fetch = FetchOptions::augment_args(clap::Command::new("fetch"));
    let serve = ServeOptions::augment_args(clap::Command::new("serve"));
    Some(match document {
        Document::Documents => serde_json::from_str(DOCUMENTS).ok()?,
        Document::Scenario => return None,
        Document::Forward => ForwardConfig::schema(),
        Document::Fetch => {
            let mut schema = section::schema("Options of a fetch", |whole| {
                whole.document(&mut FetchOptions::default(), &[]);
            });
            describe(&mut schema, &fetch);
            schema
        }
        Document::Serve => {
            let mut schema = section::schema("Options of a producer", |whole| {
                whole.document(&mut ServeOptions::default(), &[]);
            });
            describe(&mut schema, &serve);
            schema
        }
    })
}

/// Adds the help of the command's options to the properties of the same names.
pub fn describe(schema: &mut Value, command: &clap::Command) {
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    for option in command.get_arguments() {
        let key = option.get_id().as_str().replace('_', "-");
        // One key has a shorter name in files.
        let key = if key == "segment-bytes" { "segment".to_owned() } else { key };
        if let (Some(property), Some(help)) = (properties.get_mut(&key), option.get_help()) {
            let is_flag = option.get_action().takes_values();
            // The help of a negative flag describes the opposite of its key.
            if is_flag || property["default"] == json!(false) {
                property["description"] = json!(help.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(document: Document) -> Value {
        let name = document.to_possible_value().unwrap().get_name().to_owned();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
        let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn kept_schemas_are_those_of_the_readers() {
        for document in [Document::Forward, Document::Fetch, Document::Serve] {
            assert!(
                Some(kept(document)) == schema(document),
                "{document:?}: run `cargo xtask docs`"
            );
        }
    }

    #[test]
    fn schema_of_printed_documents_has_a_version() {
        let schema = schema(Document::Documents).unwrap();
        assert_eq!(schema["$id"], "urn:recoup:documents:1");
        assert_eq!(schema["$defs"]["fetch"]["properties"]["command"]["const"], "fetch");
    }

    #[test]
    fn forward_schema_has_what_its_example_gives() {
        let schema = schema(Document::Forward).unwrap();
        let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path}"));
        at("/properties/node/properties/suppression");
        at("/properties/face/items/properties/recovery");
        at("/properties/route/items/properties/cost");
        at("/properties/listen/items/properties/uri");
        at("/properties/limits");
        assert_eq!(at("/additionalProperties"), false);
    }
}
