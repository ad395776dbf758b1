//! Modules of a crate that import each other in a circle.

use crate::chore::{Outcome, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates whose top modules must not import each other in a circle.
const WITHOUT_CIRCLES: [&str; 1] = ["crates/forwarder"];

/// Top modules of a crate, and the modules that each imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Adds a line to `broken` for each crate with a circle.
pub(crate) fn check(broken: &mut Vec<String>) -> Outcome {
    for folder in WITHOUT_CIRCLES {
        let mut imports = Imports::new();
        let source = root().join(folder).join("src");
        read_folder(&source, None, &mut imports)
            .map_err(|error| format!("{} cannot be read\n{error}", source.display()))?;
        if let Some(circle) = find(&imports) {
            let circle = circle.join(" -> ");
            broken.push(format!("modules of {folder} import each other in a circle: {circle}"));
        }
    }
    Ok(())
}

/// Reads all modules below a folder; `module` is the top module that they belong to.
fn read_folder(folder: &Path, module: Option<&str>, imports: &mut Imports) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let module = module.unwrap_or(&stem);
        if path.is_dir() {
            read_folder(&path, Some(module), imports)?;
        } else if path.extension().is_some_and(|it| it == "rs") && stem != "lib" && stem != "tests"
        {
            let named = named(&fs::read_to_string(&path)?);
            let others = named.into_iter().filter(|other| *other != module);
            imports.entry(module.to_owned()).or_default().extend(others);
        }
    }
    Ok(())
}

/// The top modules that a source names with `crate::`, tests at its end and comments left out.
fn named(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut named = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            // `use crate::{a::B, c}` names several, each behind a comma of the outer braces.
            Some(list) => named.extend(outer_items(list).into_iter().map(first_word)),
            None => {
                named.insert(first_word(rest));
            }
        }
    }
    named.retain(|word| !word.is_empty());
    named
}

/// The items of a list, up to the brace that closes it.
fn outer_items(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut items) = (0_usize, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                items.push(&list[from..at]);
                from = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items
}

fn first_word(text: &str) -> String {
    let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    text.trim_start().chars().take_while(is_word).collect()
}

/// A circle, from a module back to itself.
fn find(imports: &Imports) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| walk(module, imports, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    module: &'a str,
    imports: &'a Imports,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(from) = path.iter().position(|known| *known == module) {
        return Some(path[from..].iter().copied().chain([module]).map(str::to_owned).collect());
    }
    if !done.insert(module) {
        return None;
    }
    path.push(module);
    let others = imports.get(module).into_iter().flatten();
    let circle = others.into_iter().find_map(|other| walk(other, imports, path, done));
    path.pop();
    circle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(of: &[(&str, &str)]) -> Imports {
        of.iter().map(|(module, source)| ((*module).to_owned(), named(source))).collect()
    }

    #[test]
    fn imports_are_read_from_code_alone() {
        let source = "//! See [`crate::node`].\nuse crate::{face::{A, B}, link};\nuse crate::drop::Reason; // crate::pit\n\
            fn f() -> crate::table::Pit {}\n#[cfg(test)]\nmod tests {\n    use crate::bench::Bench;\n}\n";
        let found: Vec<_> = named(source).into_iter().collect();
        assert_eq!(found, ["drop", "face", "link", "table"]);
    }

    #[test]
    fn circle_is_found_and_its_modules_named() {
        let straight = [("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "")];
        assert_eq!(find(&imports(&straight)), None);
        let mut round = straight;
        round[2] = ("c", "use crate::b::B;");
        assert_eq!(find(&imports(&round)).unwrap(), ["b", "c", "b"]);
        round[2] = ("c", "fn f(a: &crate::a::A) {}");
        assert_eq!(find(&imports(&round)).unwrap(), ["a", "b", "c", "a"]);
        let diamond = [("a", "use crate::{b, c};"), ("b", "use crate::d;"), ("c", "use crate::d;")];
        assert_eq!(find(&imports(&diamond)), None);
    }

    #[test]
    fn checked_crates_have_no_circle() {
        let mut broken = Vec::new();
        check(&mut broken).unwrap();
        assert_eq!(broken, [""; 0]);
    }
}
