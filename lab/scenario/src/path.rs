//! Dotted paths: fields as a sweep or a setting names them.
//!
//! `link.delay`, `links."r1-r2".rate`, `applications.c1.congestion`, `event.2.at`; and one step into an
//! algorithm: `fetch.rto.min` is the parameter `min` of the algorithm that `fetch.rto` names.
use super::law::default_spec;
use recoup_config::problem::{Origin, Problem, hint, listed};
use recoup_config::tree::{Table, Tree, Value};

/// The steps of a dotted path.
///
/// # Errors
/// If a quotation mark is open or a step empty.
pub(super) fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut steps = vec![String::new()];
    let mut quote = None;
    for letter in text.trim().chars() {
        match (letter, quote) {
            (mark, Some(open)) if mark == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('.', None) => steps.push(String::new()),
            (letter, _) => steps.last_mut().into_iter().for_each(|step| step.push(letter)),
        }
    }
    let whole = quote.is_none() && steps.iter().all(|step| !step.trim().is_empty());
    match whole {
        true => Ok(steps.into_iter().map(|step| step.trim().to_owned()).collect()),
        false => {
            Err(format!("`{text}` is no path; write it like link.delay or links.\"a-b\".rate"))
        }
    }
}

/// The path as it is written.
pub(super) fn print<S: AsRef<str>>(steps: &[S]) -> String {
    let steps: Vec<_> = steps.iter().map(|step| recoup_config::print::key(step.as_ref())).collect();
    steps.join(".")
}

/// Puts `tree` at the place that `steps` leads to; a table is joined with what is there.
///
/// # Errors
/// If the path leads to nothing that could hold a value.
pub(super) fn set(root: &mut Table, steps: &[String], tree: &Tree) -> Result<(), Problem> {
    let wrong = |what: String| Problem::new(tree.origin, print(steps), what);
    must_exist(root, steps, tree).map_err(wrong)?;
    assign(root, steps, tree).map_err(wrong)
}

/// Puts each value of a table at its own place, beside existing keys.
fn assign(root: &mut Table, steps: &[String], tree: &Tree) -> Result<(), String> {
    match &tree.value {
        Value::Table(table) if !table.is_empty() => table.entries().iter().try_for_each(|entry| {
            let steps: Vec<_> = steps.iter().chain([&entry.key]).cloned().collect();
            assign(root, &steps, &entry.tree)
        }),
        _ => {
            let inherited = inherited(root, steps);
            put(root, steps, tree, inherited.as_deref())
        }
    }
}

fn put(
    table: &mut Table,
    steps: &[String],
    tree: &Tree,
    inherited: Option<&str>,
) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        return Err("leads nowhere".into());
    };
    if rest.is_empty() {
        let kept = matches!(table.get(step), Some(Tree { value: Value::Table(_), .. }));
        // An empty table adds nothing to one that is there.
        if !(kept && matches!(tree.value, Value::Table(_))) {
            table.insert(step.clone(), tree.clone());
        }
        return Ok(());
    }
    if table.get(step).is_none() {
        let value = match (rest, inherited) {
            ([_], Some(spec)) => Value::text(spec),
            _ => Value::Table(Table::default()),
        };
        table.insert(step.clone(), Tree { value, origin: tree.origin });
    }
    match table.get_mut(step) {
        Some(Tree { value: Value::Table(inner), .. }) => put(inner, rest, tree, inherited),
        Some(Tree { value: Value::List(list), .. }) => {
            let known = list.len();
            match (step_number(rest).and_then(|number| list.get_mut(number - 1)), rest) {
                (Some(Tree { value: Value::Table(inner), .. }), [_, rest @ ..])
                    if !rest.is_empty() =>
                {
                    put(inner, rest, tree, inherited)
                }
                (Some(one), [_]) => {
                    *one = tree.clone();
                    Ok(())
                }
                _ => Err(format!("there are {known} of them, counted from 1")),
            }
        }
        Some(place @ Tree { value: Value::Text(_), .. }) if rest.len() == 1 => {
            let spec = place.value.to_string();
            place.value = Value::Text(with_parameter(&spec, &rest[0], &tree.value)?);
            place.origin = tree.origin;
            Ok(())
        }
        _ => Err(format!("`{step}` holds no other values")),
    }
}

fn step_number(steps: &[String]) -> Option<usize> {
    steps.first()?.parse::<usize>().ok().filter(|number| *number > 0)
}

/// A misspelled path creates no named entry; only a whole table creates a new one.
fn must_exist(root: &Table, steps: &[String], tree: &Tree) -> Result<(), String> {
    let [first, name, ..] = steps else {
        return Ok(());
    };
    let named = ["applications", "places"].contains(&first.as_str());
    let new = steps.len() == 2 && matches!(tree.value, Value::Table(_));
    let table = root.table(first);
    if !named || new || table.is_some_and(|table| table.get(name).is_some()) {
        return Ok(());
    }
    let known = || table.into_iter().flat_map(Table::entries).map(|entry| entry.key.as_str());
    let near = hint(name, known());
    let near = if near.is_empty() { format!("; {}", listed(known())) } else { near };
    Err(format!("nothing in `{first}` is called `{name}`{near}"))
}

/// The algorithm whose parameter is meant, where the place itself does not name one.
fn inherited(root: &Table, steps: &[String]) -> Option<String> {
    let [.., key, _] = steps else {
        return None;
    };
    let text = |tree: &Tree| match &tree.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let kind = match steps.first()?.as_str() {
        "applications" => {
            root.table("applications")?.table(steps.get(1)?)?.get("kind")?.value.to_string()
        }
        "nodes" => "node".to_owned(),
        "links" => "link".to_owned(),
        table => table.to_owned(),
    };
    let given = root.table(&kind).and_then(|table| table.get(key));
    given.and_then(text).or_else(|| default_spec(&kind, key))
}

/// The algorithm `spec` with one parameter given another value.
fn with_parameter(spec: &str, key: &str, value: &Value) -> Result<String, String> {
    let (name, inside) = match spec.trim().split_once('(') {
        None => (spec.trim(), ""),
        Some((name, rest)) => (name, rest.strip_suffix(')').ok_or("the `)` is missing")?),
    };
    let value = joined_unit(&value.to_string());
    let mut parts = parts(inside);
    parts.retain(|part| part.split('=').next().map(str::trim) != Some(key));
    let new = format!("{key}={value}");
    parts.push(&new);
    Ok(format!("{name}({})", parts.join(",")))
}

/// A unit stands close to its number in an algorithm: `10 ms` is `10ms` there.
fn joined_unit(value: &str) -> String {
    match value.trim().split_once(' ') {
        Some((number, unit))
            if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && unit.trim_start().starts_with(char::is_alphabetic) =>
        {
            format!("{number}{}", unit.trim_start())
        }
        _ => value.trim().to_owned(),
    }
}

/// Splits at the commas outside brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let at_comma = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    };
    text.split(at_comma).map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// A value as it is written behind `--set a.b=`: TOML, or else a string.
pub(super) fn value(text: &str, origin: Origin) -> Tree {
    let read = Table::parse(&format!("value = {}", text.trim())).ok();
    let value = read
        .filter(|table| table.entries().len() == 1)
        .and_then(|mut table| table.remove("value"))
        .map_or_else(|| Value::text(text.trim()), |tree| tree.value);
    Tree { value: from(value, origin), origin }
}

/// The value with everything in it coming from `origin`.
fn from(value: Value, origin: Origin) -> Value {
    match value {
        Value::List(list) => Value::List(
            list.into_iter().map(|one| Tree { value: from(one.value, origin), origin }).collect(),
        ),
        Value::Table(table) => Value::Table(
            table
                .entries()
                .iter()
                .map(|entry| {
                    let value = from(entry.tree.value.clone(), origin);
                    (entry.key.clone(), Tree { value, origin })
                })
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(text: &str, path: &str, to: &str) -> Result<String, String> {
        let mut table = Table::parse(text).unwrap();
        let steps = parse(path)?;
        set(&mut table, &steps, &value(to, Origin::Setting(0))).map_err(|p| p.what)?;
        Ok(recoup_config::print::document(&table))
    }

    #[test]
    fn a_path_leads_through_tables_quotes_and_lists() {
        assert_eq!(parse("links.\"r1.x\".rate").unwrap(), ["links", "r1.x", "rate"]);
        assert_eq!(after("", "link.delay", "10 ms").unwrap(), "[link]\ndelay = \"10 ms\"\n");
        let list = "[[event]]\nat = \"1 s\"\n\n[[event]]\nat = \"2 s\"\n";
        assert_eq!(
            after(list, "event.2.at", "\"3 s\"").unwrap(),
            list.replace("\"2 s\"", "\"3 s\"")
        );
        assert!(after(list, "event.3.at", "1").unwrap_err().contains("there are 2"));
        assert!(after("stop = 5", "stop.x.y", "1").unwrap_err().contains("holds no other"));
        for wrong in ["", ".", "a..b", "a.\"b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_last_step_leads_into_an_algorithm() {
        let set = |text, path, to| after(text, path, to).unwrap();
        assert_eq!(
            set("[fetch]\nrto = \"jacobson(k=8,min=1s)\"", "fetch.rto.min", "10 ms"),
            "[fetch]\nrto = \"jacobson(k=8,min=10ms)\"\n"
        );
        assert_eq!(
            set("", "fetch.rto.min", "0ms"),
            "[fetch]\nrto = \"jacobson(backoff-until=progress,min=0ms)\"\n"
        );
        assert_eq!(set("", "fetch.loss.factor", "2"), "[fetch]\nloss = \"rack(factor=2)\"\n");
        assert_eq!(set("", "request.rto.k", "8"), "[request]\nrto = \"jacobson(k=8)\"\n");
        let request = "[applications.r]\nkind = \"request\"\n";
        assert!(set(request, "applications.r.rto.k", "8").ends_with("rto = \"jacobson(k=8)\"\n"));
        let inherited = "[fetch]\ncongestion = \"aimd\"\n\n[applications.c]\nkind = \"fetch\"\n";
        assert!(
            set(inherited, "applications.c.congestion.beta", "0.7")
                .ends_with("congestion = \"aimd(beta=0.7)\"\n")
        );
    }

    #[test]
    fn a_misspelled_name_makes_nothing_new() {
        let text = "[applications.consumer]\nkind = \"fetch\"\n";
        let error = after(text, "applications.consumr.rto", "x").unwrap_err();
        assert!(error.contains("did you mean `consumer`?"), "{error}");
        assert!(after(text, "applications.other", "{ kind = \"serve\" }").is_ok());
    }

    #[test]
    fn a_table_is_joined_with_what_is_there() {
        let text = "[link]\nrate = 1\ndelay = 2\n";
        assert_eq!(after(text, "link", "{ delay = 3 }").unwrap(), "[link]\nrate = 1\ndelay = 3\n");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_path_panic(path: String, to: String, spec: String) {
            let mut table = Table::default();
            table.insert("a", Value::Text(spec).into());
            if let Ok(steps) = parse(&path) {
                let _ = set(&mut table, &steps, &value(&to, Origin::Unknown));
            }
            let _ = set(&mut table, &["a".into(), path], &value(&to, Origin::Unknown));
        }
    }
}
