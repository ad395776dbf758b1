//! Writing a scenario as TOML: what is printed is read back as the same tree.
use crate::tree::{Table, Value};
use std::fmt::Write as _;

/// A whole document.
pub fn document(table: &Table) -> String {
    let mut out = String::new();
    section(table, "", &mut out);
    out
}

/// A value on one line.
pub fn inline(value: &Value) -> String {
    let mut out = String::new();
    put(value, &mut out);
    out
}

/// A key as it has to be written, alone or as part of a dotted path.
pub fn key(text: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !text.is_empty() && text.bytes().all(bare) { text.to_owned() } else { quoted(text) }
}

/// First what has a value of its own, then the tables: TOML cannot return to a table that it left.
fn section(table: &Table, path: &str, out: &mut String) {
    for entry in table.entries().iter().filter(|entry| !stands_apart(&entry.tree.value)) {
        pair(&entry.key, &entry.tree.value, out);
    }
    for entry in table.entries() {
        let path = match path {
            "" => key(&entry.key),
            path => format!("{path}.{}", key(&entry.key)),
        };
        match &entry.tree.value {
            Value::Table(inner) => {
                let only_tables = |inner: &Table| {
                    !inner.is_empty()
                        && inner.entries().iter().all(|e| matches!(e.tree.value, Value::Table(_)))
                };
                if !only_tables(inner) {
                    head(&format!("[{path}]"), out);
                }
                section(inner, &path, out);
            }
            Value::List(list) if stands_apart(&entry.tree.value) => {
                for tree in list {
                    head(&format!("[[{path}]]"), out);
                    if let Value::Table(inner) = &tree.value {
                        inner.entries().iter().for_each(|e| pair(&e.key, &e.tree.value, out));
                    }
                }
            }
            _ => {}
        }
    }
}

fn stands_apart(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::List(list) => {
            !list.is_empty() && list.iter().all(|tree| matches!(tree.value, Value::Table(_)))
        }
        _ => false,
    }
}

fn head(text: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out.push('\n');
}

fn pair(name: &str, value: &Value, out: &mut String) {
    out.push_str(&key(name));
    out.push_str(" = ");
    put(value, out);
    out.push('\n');
}

fn put(value: &Value, out: &mut String) {
    match value {
        Value::Text(text) => out.push_str(&quoted(text)),
        // Always with a point or an exponent, so that it stays a number with a fraction.
        Value::Number(number) if number.is_finite() => {
            let _ = write!(out, "{number:?}");
        }
        Value::Number(number) if number.is_nan() => out.push_str("nan"),
        Value::Number(number) => out.push_str(if *number > 0.0 { "inf" } else { "-inf" }),
        Value::Integer(integer) => {
            let _ = write!(out, "{integer}");
        }
        Value::Truth(truth) => {
            let _ = write!(out, "{truth}");
        }
        Value::List(list) => {
            let parts: Vec<_> = list.iter().map(|tree| inline(&tree.value)).collect();
            let _ = write!(out, "[{}]", parts.join(", "));
        }
        Value::Table(table) => {
            let one = |entry: &crate::tree::Entry| {
                format!("{} = {}", key(&entry.key), inline(&entry.tree.value))
            };
            let parts: Vec<_> = table.entries().iter().map(one).collect();
            let _ = write!(out, "{{ {} }}", parts.join(", "));
        }
    }
}

/// A string of TOML.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::Text),
            any::<i64>().prop_map(Value::Integer),
            any::<f64>().prop_filter("equal to itself", |n| !n.is_nan()).prop_map(Value::Number),
            any::<bool>().prop_map(Value::Truth),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone().prop_map(Tree::from), 0..4)
                    .prop_map(Value::List),
                prop::collection::vec((any::<String>(), inner.prop_map(Tree::from)), 0..4)
                    .prop_map(|pairs| Value::Table(pairs.into_iter().collect())),
            ]
        })
    }

    /// Printing moves tables behind values, so the order of entries is not compared.
    fn sorted(value: &Value) -> Value {
        match value {
            Value::List(list) => {
                Value::List(list.iter().map(|tree| sorted(&tree.value).into()).collect())
            }
            Value::Table(table) => {
                let one =
                    |e: &crate::tree::Entry| (e.key.clone(), Tree::from(sorted(&e.tree.value)));
                let mut pairs: Vec<_> = table.entries().iter().map(one).collect();
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Table(pairs.into_iter().collect())
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(
            pairs in prop::collection::vec((any::<String>(), values()), 0..6)
        ) {
            let table: Table = pairs.into_iter().map(|(key, v)| (key, Tree::from(v))).collect();
            let text = document(&table);
            let read = Table::parse(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert_eq!(sorted(&Value::Table(read)), sorted(&Value::Table(table)), "{}", text);
        }
    }

    #[test]
    fn document_looks_hand_written() {
        let text = "stop = \"9 s\"\n\n[links.\"a b\"]\nrate = 5\n\n[[event]]\nat = 1.0\n";
        assert_eq!(document(&Table::parse(text).unwrap()), text);
    }
}
