//! Compiles the text form of a trust schema.
//!
//! ```text
//! #site:    "a"/"blog"
//! #article: #site/"article"/category/year <= #author
//! #author:  #site/role/author/"KEY"/_/_/_ & { role: "author" } <= #root
//! #root:    #site/"KEY"/_/_/_
//! ```
//!
//! A rule has a name pattern, constraints of its patterns after `&`, and the rules of keys that may sign after `<=`.
//! Quoted text is one component; a word is a pattern, which has one value in a packet's name and in that of its key; a
//! pattern that begins with `_` matches anew each time. Comments begin with `//`.
//!
//! Sources: python-ndn 0.5.2, documentation, "Light VerSec", sections "Grammar" and "Details". Numbers of nodes and
//! patterns are given in the order of its compiler, so that the same text gives the same bytes.
//!
//! Differences:
//! - constraints of a pattern that begins with `_` hold wherever its rule is used; python-ndn drops them where one name uses
//!   the rule a second time;
//! - a rule or a signer is listed once at each node;
//! - sizes are bounded.

mod expand;
mod parse;
mod token;
mod tree;

use super::model::Model;
use std::fmt;

/// Most bytes of a schema's text.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// Where something stands in the text; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

/// A text that is not a trust schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", place.line, place.column)]
pub struct CompileError {
    /// Line and column of the mistake.
    pub place: Place,
    /// The mistake, and its remedy.
    pub message: String,
}

impl CompileError {
    fn new(place: Place, message: impl fmt::Display) -> Self {
        Self { place, message: message.to_string() }
    }
}

/// Compiles the text of a schema.
///
/// # Errors
/// [`CompileError`]
pub fn compile(text: &str) -> Result<Model, CompileError> {
    let start = Place { line: 1, column: 1 };
    if text.len() > MAX_TEXT_BYTES {
        return Err(CompileError::new(start, "a schema has at most 1 MiB of text"));
    }
    let rules = parse::rules(text)?;
    if rules.is_empty() {
        return Err(CompileError::new(
            start,
            "a schema has at least one rule, such as #data: /name",
        ));
    }
    let expanded = expand::expand(rules)?;
    tree::build(&expanded)
}

#[cfg(test)]
mod tests {
    use super::super::{Functions, Schema};
    use super::*;

    fn error(text: &str) -> String {
        compile(text).unwrap_err().to_string()
    }

    #[test]
    fn mistake_is_reported_with_its_place() {
        for (text, expected) in [
            ("", "line 1, column 1: a schema has at least one rule"),
            ("#a: \"x", "line 1, column 5: the text has no closing quotation mark"),
            ("#a \"x\"", "line 1, column 4: expected ':'"),
            ("#a: \"x\"\n#b: /", "line 2, column 6: expected a component"),
            ("#a: \"a/b\"", "line 1, column 5: \"a/b\" is not one name component"),
            ("#a: \"%4\"", "line 1, column 5: \"%4\" is not one name component"),
            ("#a: #b", "line 1, column 5: there is no rule #b"),
            ("#a: b <= #c", "line 1, column 10: there is no rule #c"),
            ("#a: #_b\n#_b: c", "line 1, column 5: #_b begins with '_'"),
            ("#a: x <= #_b\n#_b: c", "line 1, column 10: #_b begins with '_'"),
            ("#a: #b\n#b: #a", "line 1, column 1: the rules #a, #b use each other in a circle"),
            ("#a: b & { c: \"d\" }", "line 1, column 11: the pattern c stands in no name before"),
            (
                "#a: b & { _: \"d\" }",
                "line 1, column 11: the pattern _ does not stand in this rule",
            ),
            ("#a: b & { b: _c }", "line 1, column 14: _c begins with '_'"),
            ("#a: b & { b: $f(_c) }", "line 1, column 17: _c begins with '_'"),
            ("#a: b & {}", "line 1, column 10: expected a pattern"),
            ("#a: ^", "line 1, column 5: unexpected character '^'"),
            ("a: b", "line 1, column 1: expected a rule"),
            ("# a: b", "line 1, column 1: a name follows '#'"),
        ] {
            let error = error(text);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn constraint_holds_each_time_a_rule_is_used() {
        let model = compile("#b: /_x & { _x: \"b\" }\n#c: #b/#b").unwrap();
        let schema = Schema::new(model, Functions::standard()).unwrap();
        assert!(schema.matches(&"/b/b".parse().unwrap()));
        assert!(!schema.matches(&"/b/c".parse().unwrap()));
    }

    #[test]
    fn text_that_grows_without_bound_is_an_error() {
        let mut text = "#r0: a | b".replace(" | b", "\n#r0: b\n");
        for rule in 1..40 {
            text += &format!("#r{rule}: #r{0}/#r{0}\n", rule - 1);
        }
        assert!(error(&text).contains("too large"), "{}", error(&text));
        let long = format!("#a: {}\"b\"", "\"b\"/".repeat(256));
        assert!(error(&long).contains("more than 256 components"));
    }

    #[test]
    fn comments_and_all_forms_are_understood() {
        let text = "// first\n#a: /\"\"/\"...\"/\"v=3\"/x/_y & { x: \"1\" | \"2\", _y: $f(, \"a\") } | { x: _a1 } // last";
        assert!(error(text).contains("_a1 begins with '_'"));
        let text = text.replace("_a1", "x");
        let model = compile(&text).unwrap();
        assert_eq!(model.nodes[0].values[0].value[..], [8, 0]);
        assert_eq!(model.nodes[1].values[0].value[..], *b"\x08\x03...");
        assert_eq!(Model::decode(&model.encode()), Ok(model));
    }
}
