//! Documents beside the schema that `recoup generate schema documents` prints. A member that it does not have is an error here.
use serde_json::{Map, Value};

const SCHEMA: &str = include_str!("../../../src/generate/documents.json");

/// Checks a document that a command has printed. Schemas are no such documents.
pub(crate) fn check(document: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema");
    let defs = schema["$defs"].as_object().expect("definitions");
    if document.get("$schema").is_some() {
        return Ok(());
    }
    let mut errors = Vec::new();
    for one in schema["anyOf"].as_array().expect("documents") {
        match fits(document, one, defs, "") {
            Ok(()) => return Ok(()),
            Err(error) => errors.push(format!("{}: {error}", one["$ref"])),
        }
    }
    // Most documents differ from the start.
    let is_other = |it: &String| {
        ["is missing", "another type", "not the only value"].iter().any(|one| it.contains(one))
    };
    errors.sort_by_key(is_other);
    Err(errors.into_iter().take(3).collect::<Vec<_>>().join("; or "))
}

fn fits(value: &Value, schema: &Value, defs: &Map<String, Value>, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return fits(value, defs.get(name).expect("a definition"), defs, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let mut outcomes = any.iter().map(|one| fits(value, one, defs, at));
        return outcomes.find(Result::is_ok).unwrap_or_else(|| Err(format!("{at}: none fits")));
    }
    let wrong = |what: &str| Err(format!("{at}: {what}: {value}"));
    if schema.get("const").is_some_and(|only| only != value) {
        return wrong("not the only value");
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return wrong("none of the values");
    }
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => panic!("{at}: the schema has the type {kind}"),
    };
    let is_right = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    match value {
        _ if !is_right => wrong("another type"),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(place, item)| {
            fits(item, &schema["items"], defs, &format!("{at}/{place}"))
        }),
        Value::Object(members) => members_fit(members, schema, defs, at),
        _ => Ok(()),
    }
}

fn members_fit(
    members: &Map<String, Value>,
    schema: &Value,
    defs: &Map<String, Value>,
    at: &str,
) -> Result<(), String> {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("{at}: {name} is missing"));
        }
    }
    if schema.as_object().is_none_or(Map::is_empty) {
        return Ok(());
    }
    for (name, member) in members {
        let other = schema.get("additionalProperties").filter(|it| it.is_object());
        let own = schema["properties"].get(name).or(other);
        let own = own.ok_or_else(|| format!("{at}: the schema has no {name}"))?;
        fits(member, own, defs, &format!("{at}/{name}"))?;
    }
    Ok(())
}

#[test]
fn unknown_documents_do_not_fit() {
    use serde_json::json;
    let ping = json!({"event": "stopped", "answered": 3});
    assert_eq!(check(&ping), Ok(()));
    let stray = json!({"event": "stopped", "answered": 3, "other": 1});
    let unknown = json!({"command": "fly", "event": "stopped", "answered": 3});
    for wrong in [stray, unknown, json!([ping]), json!([1]), json!({"name": "/a"}), json!(1)] {
        assert!(check(&wrong).is_err(), "{wrong}");
    }
}
