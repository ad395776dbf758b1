//! JSON Schema of documents, made by their readers.
//!
//! A reader with [`Problems::describing`] reads a document without keys, and enters each key that it requests, with the
//! kinds of values that it accepts. So a schema has the keys of the reader and no others.
use crate::problem::Problems;
use crate::tree::{Tree, Value};
use serde_json::{Map, Value as Json, json};

/// The dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The name that stands for any name in a table of things with names.
pub const ANY: &str = "any";

/// The kinds of values that a key accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Any value.
    Any,
    /// True or false.
    Truth,
    /// Text.
    Text,
    /// One of these words.
    Words(Vec<String>),
    /// A whole number within bounds.
    Integer(i64, i64),
    /// Any number.
    Number,
    /// A list of such values.
    List(Box<Shape>),
    /// One of several.
    Either(Vec<Shape>),
}

impl Shape {
    /// Values that `read` accepts, found by trying.
    pub fn probe<T>(read: impl Fn(&Tree) -> Result<T, String>) -> Self {
        let takes = |value: Value| read(&Tree::from(value)).is_ok();
        let mut shapes = Vec::new();
        if takes(Value::Truth(true)) {
            shapes.push(Self::Truth);
        }
        if takes(Value::Integer(1)) || takes(Value::Integer(1_500)) {
            shapes.push(Self::Integer(i64::MIN, i64::MAX));
        }
        // The valid texts are unknown, unless the error lists them.
        let words = read(&Value::text("?").into()).err().and_then(|error| words(&error));
        if let Some(words) = words {
            shapes.push(Self::Words(words));
        } else if shapes.is_empty() || takes(Value::text("1")) {
            shapes.push(Self::Text);
        }
        let lists = [vec![], vec![Value::text("a").into()], vec![Value::text("1 packet").into()]];
        if lists.into_iter().any(|list| takes(Value::List(list))) {
            shapes.push(Self::List(Box::new(Self::Any)));
        }
        Self::either(shapes)
    }

    /// One of several shapes; the shape itself, if there is only one.
    pub fn either(shapes: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for shape in shapes {
            let parts = match shape {
                Self::Either(parts) => parts,
                shape => vec![shape],
            };
            for part in parts {
                if !all.contains(&part) {
                    all.push(part);
                }
            }
        }
        match all.len() {
            0 => Self::Any,
            1 => all.remove(0),
            _ => Self::Either(all),
        }
    }

    fn json(&self) -> Map<String, Json> {
        let made = match self {
            Self::Any => json!({}),
            Self::Truth => json!({ "type": "boolean" }),
            Self::Text => json!({ "type": "string" }),
            Self::Words(words) => json!({ "enum": words }),
            Self::Integer(least, most) => {
                let mut made = Map::from_iter([("type".to_owned(), json!("integer"))]);
                if *least > i64::MIN {
                    made.insert("minimum".into(), json!(least));
                }
                if *most < i64::MAX {
                    made.insert("maximum".into(), json!(most));
                }
                Json::Object(made)
            }
            Self::Number => json!({ "type": "number" }),
            Self::List(of) => json!({ "type": "array", "items": of.json() }),
            Self::Either(shapes) => {
                json!({ "anyOf": shapes.iter().map(Self::json).collect::<Vec<_>>() })
            }
        };
        match made {
            Json::Object(made) => made,
            _ => Map::new(),
        }
    }
}

/// The words that the error of `serde` for an unknown variant names.
fn words(error: &str) -> Option<Vec<String>> {
    let expected = error.strip_prefix("unknown variant")?.split_once("expected")?.1;
    let words = expected.split('`').skip(1).step_by(2).map(str::to_owned);
    Some(words.collect())
}

/// Keys that a reader requested at one place of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    entries: Vec<(String, Entry)>,
    /// Keys that have to be given.
    required: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Value { shape: Shape, default: Option<Json>, about: Option<String> },
    Table(Keys),
    Named(Keys),
    List(Keys),
}

impl Keys {
    /// The keys at a dotted path below this place, which is made if it is not there.
    fn at(&mut self, path: &str) -> &mut Self {
        path.split('.').filter(|step| !step.is_empty()).fold(self, |keys, step| {
            if !keys.entries.iter().any(|(key, _)| key == step) {
                keys.entries.push((step.to_owned(), Entry::Table(Self::default())));
            }
            let place = keys.entries.iter().position(|(key, _)| key == step).unwrap_or_default();
            let (_, entry) = &mut keys.entries[place];
            if let Entry::Value { .. } = entry {
                *entry = Entry::Table(Self::default());
            }
            match entry {
                Entry::Table(keys) | Entry::Named(keys) | Entry::List(keys) => keys,
                Entry::Value { .. } => unreachable!("it has become a table"),
            }
        })
    }

    /// Enters a key below `path`. A key that is entered again has the values of both.
    pub fn enter(
        &mut self,
        path: &str,
        key: &str,
        shape: Shape,
        default: Option<Value>,
        about: Option<String>,
    ) {
        let default = default.as_ref().map(plain);
        let keys = self.at(path);
        match keys.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, Entry::Value { shape: there, default: known, about: known_about })) => {
                *there = Shape::either([there.clone(), shape]);
                if *known != default {
                    *known = None;
                }
                if known_about.is_none() {
                    *known_about = about;
                }
            }
            Some(_) => {}
            None => keys.entries.push((key.to_owned(), Entry::Value { shape, default, about })),
        }
    }

    /// `key` below `path` has to be given.
    pub fn require(&mut self, path: &str, key: &str) {
        let required = &mut self.at(path).required;
        if !required.iter().any(|known| known == key) {
            required.push(key.to_owned());
        }
    }

    fn container(&mut self, path: &str, key: &str, make: fn(Keys) -> Entry) {
        let keys = self.at(path);
        match keys.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, Entry::Table(below))) => {
                let below = std::mem::take(below);
                if let Some((_, entry)) = keys.entries.iter_mut().find(|(name, _)| name == key) {
                    *entry = make(below);
                }
            }
            Some(_) => {}
            None => keys.entries.push((key.to_owned(), make(Self::default()))),
        }
    }

    /// `key` below `path` is a table.
    pub fn table(&mut self, path: &str, key: &str) {
        self.container(path, key, Entry::Table);
    }

    /// `key` below `path` is a table of things with names; their keys are entered below the name [`ANY`].
    pub fn named(&mut self, path: &str, key: &str) {
        self.container(path, key, Entry::Named);
    }

    /// `key` below `path` is a list of tables; their keys are entered below the first of them.
    pub fn list(&mut self, path: &str, key: &str) {
        self.container(path, key, Entry::List);
    }

    fn json(&self) -> Json {
        let properties = self.entries.iter().map(|(key, entry)| (key.clone(), entry.json()));
        let properties: Map<_, _> = properties.collect();
        let mut made =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !self.required.is_empty() {
            made["required"] = json!(self.required);
        }
        made
    }

    /// The keys of the only thing below this place.
    fn only(&self) -> Json {
        match self.entries.first() {
            Some((_, Entry::Table(keys))) => keys.json(),
            _ => json!({ "type": "object" }),
        }
    }

    /// The schema of the whole document.
    #[must_use]
    pub fn schema(&self, title: &str) -> Json {
        let mut schema = self.json();
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("$schema".into(), json!(DIALECT));
            schema.insert("title".into(), json!(title));
        }
        schema
    }
}

impl Entry {
    fn json(&self) -> Json {
        match self {
            Self::Table(keys) => keys.json(),
            Self::Named(keys) => json!({ "type": "object", "additionalProperties": keys.only() }),
            Self::List(keys) => json!({ "type": "array", "items": keys.only() }),
            Self::Value { shape, default, about } => {
                let mut made = shape.json();
                if let Some(about) = about {
                    made.insert("description".into(), json!(about));
                }
                if let Some(default) = default {
                    made.insert("default".into(), default.clone());
                }
                Json::Object(made)
            }
        }
    }
}

/// A value of a TOML document as one of JSON.
fn plain(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Integer(number) => json!(number),
        Value::Number(number) => json!(number),
        Value::Truth(truth) => json!(truth),
        Value::List(list) => Json::Array(list.iter().map(|tree| plain(&tree.value)).collect()),
        Value::Table(table) => {
            let entries = table.entries().iter();
            Json::Object(entries.map(|it| (it.key.clone(), plain(&it.tree.value))).collect())
        }
    }
}

/// The schema of documents that `read` reads.
#[must_use]
pub fn of(title: &str, read: impl FnOnce(&mut Problems)) -> Json {
    let mut problems = Problems::describing();
    read(&mut problems);
    problems.keys().map_or(Json::Null, |keys| keys.schema(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_found_by_trying() {
        use crate::section::{text, truth, whole};
        assert_eq!(Shape::probe(truth), Shape::Truth);
        assert_eq!(Shape::probe(text), Shape::Text);
        assert_eq!(Shape::probe(whole), Shape::Integer(i64::MIN, i64::MAX));
    }

    #[test]
    fn keys_stand_below_tables_names_and_lists() {
        let schema = of("test", |problems| {
            let keys = problems.keys_mut().unwrap();
            keys.table("", "link");
            keys.enter("link", "delay", Shape::Text, Some(Value::text("0 s")), None);
            keys.named("", "links");
            keys.enter("links.any", "cost", Shape::Integer(0, 9), None, Some("The cost".into()));
            keys.list("", "event");
            keys.enter("event.1", "at", Shape::Text, None, None);
            keys.require("event.1", "at");
            keys.require("event.1", "at");
        });
        let at = |path: &str| schema.pointer(path).cloned().unwrap();
        assert_eq!(at("/properties/link/properties/delay/default"), json!("0 s"));
        let cost = at("/properties/links/additionalProperties/properties/cost");
        assert_eq!(
            cost,
            json!({ "type": "integer", "minimum": 0, "maximum": 9, "description": "The cost" })
        );
        assert_eq!(at("/properties/event/items/properties/at/type"), json!("string"));
        assert_eq!(at("/properties/event/items/required"), json!(["at"]));
        assert_eq!(at("/additionalProperties"), json!(false));
        assert_eq!(schema.pointer("/required"), None);
    }

    #[test]
    fn key_that_is_entered_twice_has_both_shapes() {
        let mut keys = Keys::default();
        keys.enter("", "a", Shape::Truth, Some(Value::Truth(true)), None);
        keys.enter("", "a", Shape::Text, None, None);
        let schema = keys.schema("t");
        let both = json!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }] });
        assert_eq!(schema["properties"]["a"], both);
    }
}
