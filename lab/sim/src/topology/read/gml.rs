//! GML, the Graph Modelling Language, as the Topology Zoo distributes it and networkx writes it.
//!
//! Source: Himsolt, "GML: A portable Graph File Format", 1997; networkx 3, `read_gml`.
//!
//! ```text
//! graph [
//!   directed 0
//!   node [ id 0 label "St. Louis" Longitude -90.20 Latitude 38.63 ]
//!   node [ id 1 label "Denver" Longitude -104.98 Latitude 39.74 ]
//!   edge [ source 0 target 1 LinkSpeedRaw 155000000.0 ]
//! ]
//! ```
//!
//! Differences: nested lists of nodes and edges have no meaning here, except for `x` and `y` of `graphics`.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Attributes, Graph, GraphEdge, GraphNode};
use super::{Naming, Problem, check_length};
use std::borrow::Cow;

/// Most lists in each other.
const MAX_DEPTH: usize = 16;

/// Reads a topology.
pub(super) fn read(text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    check_length(text)?;
    let topology = parse(text).and_then(|graph| graph.topology(naming));
    topology.map_err(|(line, problem)| TopologyError::at(line, problem))
}

/// Whether a text begins as GML does.
pub(super) fn is_likely(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let mut next = || scanner.next().ok().flatten().map(|token| token.kind);
    match (next(), next()) {
        (Some(Kind::Word("graph")), Some(Kind::Open)) => true,
        (Some(Kind::Word(key)), Some(Kind::Text(_))) => {
            ["creator", "comment"].contains(&key.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}

fn parse(text: &str) -> Placed<Graph<'_>> {
    let mut scanner = Scanner::new(text);
    let top = list(&mut scanner, 0, 1)?;
    let graph = top.into_iter().find(|entry| entry.key == "graph");
    let graph = graph.ok_or((1, Problem::Missing("a list graph [ … ]")))?;
    let Value::List(entries) = graph.value else {
        return Err((graph.line, Problem::Missing("a list graph [ … ]")));
    };
    let mut graph = Graph::default();
    for Entry { line, key, value } in entries {
        match (key, value) {
            ("node", Value::List(entries)) => graph.nodes.push(node(line, entries)?),
            ("edge", Value::List(entries)) => graph.edges.push(edge(line, entries)?),
            ("directed", Value::Text(text)) => graph.directed = text == "1",
            (key, Value::Text(text)) => graph.attributes.push((key.into(), text)),
            (_, Value::List(_)) => {}
        }
    }
    Ok(graph)
}

fn node<'a>(line: usize, entries: Vec<Entry<'a>>) -> Placed<GraphNode<'a>> {
    let mut attributes = attributes(entries);
    let id = take(&mut attributes, "id").ok_or((line, Problem::Missing("id")))?;
    Ok(GraphNode { place: line, id, attributes })
}

fn edge<'a>(line: usize, entries: Vec<Entry<'a>>) -> Placed<GraphEdge<'a>> {
    let mut attributes = attributes(entries);
    let mut end =
        |name: &'static str| take(&mut attributes, name).ok_or((line, Problem::Missing(name)));
    let ends = (end("source")?, end("target")?);
    Ok(GraphEdge { place: line, ends, directed: None, attributes })
}

fn attributes(entries: Vec<Entry<'_>>) -> Attributes<'_> {
    let mut attributes = Attributes::new();
    for entry in entries {
        match entry.value {
            Value::Text(text) => attributes.push((entry.key.into(), text)),
            Value::List(inner) if entry.key == "graphics" => {
                attributes.extend(inner.into_iter().filter_map(|entry| match entry {
                    Entry { key: key @ ("x" | "y"), value: Value::Text(text), .. } => {
                        Some((Cow::Borrowed(key), text))
                    }
                    _ => None,
                }));
            }
            Value::List(_) => attributes.push((entry.key.into(), Cow::Borrowed(""))),
        }
    }
    attributes
}

fn take<'a>(attributes: &mut Attributes<'a>, name: &str) -> Option<Cow<'a, str>> {
    let at = attributes.iter().position(|(own, _)| own == name)?;
    Some(attributes.remove(at).1)
}

/// A key with its value.
struct Entry<'a> {
    line: usize,
    key: &'a str,
    value: Value<'a>,
}

enum Value<'a> {
    /// A number or a string.
    Text(Cow<'a, str>),
    List(Vec<Entry<'a>>),
}

/// The entries up to the end of a list, or of the text if `depth` is 0. `opened` is the line where the list begins.
fn list<'a>(scanner: &mut Scanner<'a>, depth: usize, opened: usize) -> Placed<Vec<Entry<'a>>> {
    if depth > MAX_DEPTH {
        return Err((opened, Problem::TooMany { what: "lists in each other", limit: MAX_DEPTH }));
    }
    let mut entries = Vec::new();
    loop {
        let Some(Token { line, kind }) = scanner.next()? else {
            return match depth {
                0 => Ok(entries),
                _ => Err((opened, Problem::Missing("] at the end of this list"))),
            };
        };
        let key = match kind {
            Kind::Word(key) => key,
            Kind::Close if depth > 0 => return Ok(entries),
            Kind::Close => return Err((line, Problem::unexpected("a key", "]"))),
            Kind::Open => return Err((line, Problem::unexpected("a key", "["))),
            Kind::Text(text) => return Err((line, Problem::unexpected("a key", &text))),
        };
        let missing = (line, Problem::Missing("a value after the key"));
        let value = match scanner.next()?.ok_or(missing)?.kind {
            Kind::Word(word) => Value::Text(word.into()),
            Kind::Text(text) => Value::Text(text),
            Kind::Open => Value::List(list(scanner, depth + 1, line)?),
            Kind::Close => return Err((line, Problem::Missing("a value after the key"))),
        };
        entries.push(Entry { line, key, value });
    }
}

struct Token<'a> {
    line: usize,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// A key or a number.
    Word(&'a str),
    /// A string in quotes.
    Text(Cow<'a, str>),
    Open,
    Close,
}

/// Splits a text into tokens.
struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 }
    }

    /// Passes over so many bytes and returns them.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        passed
    }

    /// The next token; `None` at the end.
    fn next(&mut self) -> Placed<Option<Token<'a>>> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if !self.rest.starts_with('#') {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.advance(end);
        }
        let line = self.line;
        let kind = match self.rest.chars().next() {
            None => return Ok(None),
            Some('[') => {
                self.advance(1);
                Kind::Open
            }
            Some(']') => {
                self.advance(1);
                Kind::Close
            }
            Some('"') => {
                self.advance(1);
                let missing = (line, Problem::Missing("a quote at the end of this string"));
                let end = self.rest.find('"').ok_or(missing)?;
                let text = self.advance(end);
                self.advance(1);
                Kind::Text(decoded(text))
            }
            Some(_) => {
                let is_end = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"');
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                Kind::Word(self.advance(end))
            }
        };
        Ok(Some(Token { line, kind }))
    }
}

/// Most bytes of a named character, `&` and `;` included: a search to the end of the text would take quadratic time.
const LONGEST_ENTITY: usize = 12;

/// A string with its characters in place of their names, such as `&quot;`.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        let named = end.and_then(|end| Some((character(&rest[1..end])?, end + 1)));
        let (character, length) = named.unwrap_or(('&', 1));
        whole.push(character);
        rest = &rest[length..];
    }
    whole.push_str(rest);
    whole.into()
}

fn character(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        name => char::from_u32(name.strip_prefix('#')?.parse().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Topology, String> {
        super::read(text, Naming::Label).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_may_have_entities_and_lines() {
        let text = "graph [ node [ id 1 label \"A &amp; &quot;B&#233;\nC & D\" ] ]";
        assert_eq!(read(text).unwrap().nodes[0].name, "A & \"Bé C & D");
    }

    #[test]
    fn end_of_an_entity_is_near() {
        let many = "&".repeat(1_000_000);
        assert_eq!(decoded(&format!("{many}&#0000233;")), format!("{many}é"));
        assert_eq!(decoded("&#00000000233; é&é&é&é&é;"), "&#00000000233; é&é&é&é&é;");
    }

    #[test]
    fn graphics_have_positions() {
        let text = "graph [ node [ id 1 graphics [ x 2.5 y -1 w 9 ] ] ]";
        assert_eq!(read(text).unwrap().nodes[0].position, Some((2.5, -1.0)));
    }

    #[test]
    fn positions_of_a_drawing_are_not_degrees() {
        let text = "graph [ node [ id 1 Longitude 7.5 Latitude 51 ] node [ id 2 x 200 y 300 ]
            edge [ source 1 target 2 ] ]";
        let topology = read(text).unwrap();
        assert_eq!(topology.nodes[1].position, None);
        assert_eq!(topology.links[0].forth.delay, None);
    }

    #[test]
    fn labels_give_way_to_names_of_others() {
        let names = |nodes: &[(u8, &str)]| {
            let node = |(id, label): &(u8, &str)| format!("node [ id {id} {label} ]");
            let topology =
                read(&format!("graph [ {} ]", nodes.iter().map(node).collect::<String>()));
            topology.unwrap().nodes.into_iter().map(|node| node.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[(1, "label 2"), (2, "")]), ["2-1", "2"]);
        assert_eq!(names(&[(1, "label 2"), (2, "label 1")]), ["2", "1"]);
        let third = names(&[(1, "label a"), (2, "label a"), (3, "label \"a-1\"")]);
        assert_eq!(third, ["a-1", "a-2", "a-1-3"]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(
            error("Creator \"me\"\n"),
            "line 1: expected a list graph [ … ], but there is nothing"
        );
        assert_eq!(
            error("graph [\n node [ id 1\n"),
            "line 2: expected ] at the end of this list, but there is nothing"
        );
        assert_eq!(
            error("graph [\n node [ label \"a\" ] ]"),
            "line 2: expected id, but there is nothing"
        );
        assert_eq!(
            error("graph [\n\n edge [ source 1 ] ]"),
            "line 3: expected target, but there is nothing"
        );
        assert!(
            error("graph [\n edge [ source 1 target 2 ] ]")
                .starts_with("line 2: there is no node \"1\"")
        );
        assert!(error("graph [\n x \"open ]").starts_with("line 2: expected a quote"));
        assert!(error("graph [ ] ]").starts_with("line 1: expected a key, found \"]\""));
        assert!(error(&format!("graph {}", "[ a ".repeat(99))).contains("more than 16 lists"));
        assert!(error("graph [\n x").starts_with("line 2: expected a value after the key"));
    }
}
