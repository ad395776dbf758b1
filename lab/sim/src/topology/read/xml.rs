//! XML from untrusted sources: the work of the parser is bounded before it sees a text.
use super::super::TopologyError;
use super::edge::Placed;
use super::{Problem, check_length};
use roxmltree::{Document, Node, ParsingOptions};

/// Most elements, texts and comments together.
const MAX_XML_NODES: u32 = 2_000_000;
/// Most attributes of an element: each is compared with each other.
const MAX_ATTRIBUTES: usize = 256;
/// Most mentions of a namespace: elements inherit those of all elements around them.
const MAX_NAMESPACES: usize = 64;

/// Parses a text and passes its root element to a reader. A problem of the reader has the byte where it is; the error
/// has its line.
pub(super) fn read<T>(
    text: &str,
    reader: impl FnOnce(Node<'_, '_>) -> Placed<T>,
) -> Result<T, TopologyError> {
    check_length(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_load(text)?;
    let options = ParsingOptions { nodes_limit: MAX_XML_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        TopologyError::at(line, Problem::Xml(one_line(&error.to_string())))
    })?;
    reader(document.root_element()).map_err(|(byte, problem)| {
        let before = text.as_bytes().iter().take(byte);
        TopologyError::at(1 + before.filter(|byte| **byte == b'\n').count(), problem)
    })
}

/// A message that quotes the text, as one line of bounded length.
fn one_line(message: &str) -> String {
    const SHOWN: usize = 160;
    let printable = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    printable.take(SHOWN).collect()
}

/// Rejects texts for which a parser needs time or memory that grows faster than the text.
fn check_load(text: &str) -> Result<(), Problem> {
    let (mut rest, mut namespaces) = (text, 0);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let ends = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let mut passed =
            ends.iter().filter_map(|(begin, end)| Some((rest.strip_prefix(begin)?, end)));
        if let Some((inner, end)) = passed.next() {
            rest = inner.split_once(end).map_or("", |(_, behind)| behind);
            continue;
        }
        let (mut attributes, mut quote) = (0, None);
        let end = rest.find(|c| {
            match (quote, c) {
                (None, '>') => return true,
                (None, '"' | '\'') => quote = Some(c),
                (None, _) => attributes += usize::from(c == '='),
                (Some(own), _) => quote = Some(own).filter(|own| *own != c),
            }
            false
        });
        let tag;
        (tag, rest) = rest.split_at(end.unwrap_or(rest.len()));
        namespaces += tag.matches("xmlns").count();
        if attributes > MAX_ATTRIBUTES {
            let limit = MAX_ATTRIBUTES;
            return Err(Problem::TooMany { what: "attributes of an element", limit });
        }
        if namespaces > MAX_NAMESPACES {
            return Err(Problem::TooMany { what: "namespaces", limit: MAX_NAMESPACES });
        }
    }
    Ok(())
}

/// The children of an element that are called `name`, in any namespace.
pub(super) fn children<'a, 'input>(
    element: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    element.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// The text of an element without white space around it; may be empty.
pub(super) fn text<'a>(element: Node<'a, '_>) -> &'a str {
    element.text().map_or("", str::trim)
}

/// An attribute that must be there.
pub(super) fn attribute<'a>(element: Node<'a, '_>, name: &'static str) -> Placed<&'a str> {
    element.attribute(name).ok_or_else(|| (place(element), Problem::Missing(name)))
}

/// The byte where an element begins.
pub(super) fn place(element: Node<'_, '_>) -> usize {
    element.range().start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text, |_| Ok(())).unwrap_err().to_string()
    }

    #[test]
    fn documents_that_grow_when_read_are_rejected() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><a>&c;</a>";
        assert!(error(bomb).contains("DTD"), "{}", error(bomb));
        let attributes = (0..300).map(|n| format!(" a{n}=''")).collect::<String>();
        assert_eq!(error(&format!("<a{attributes}/>")), "more than 256 attributes of an element");
        let nested = (0..70).map(|n| format!("<a xmlns:b{n}='c{n}'>")).collect::<String>();
        assert_eq!(error(&nested), "more than 64 namespaces");
        assert!(error(&"<a>".repeat(100_000)).contains("not readable as XML"));
        assert!(error(&format!("<a>{}</a>", "<b/>".repeat(2_000_000))).contains("not readable"));
    }

    #[test]
    fn only_attributes_count_as_attributes() {
        let many = "=xmlns".repeat(300);
        let text =
            format!("<a b='>{many}'>{many}<!--<b {many}--><![CDATA[<b {many}]]><?b {many}?></a>");
        assert!(read(&text.replacen("xmlns", "", 300), |_| Ok(())).is_ok());
        let attributes = (0..300).map(|n| format!(" a{n}=''")).collect::<String>();
        for begin in ["<a b='>'", "<!--> <a b=\" --><a"] {
            let error = error(&format!("{begin}{attributes}/>"));
            assert_eq!(error, "more than 256 attributes of an element");
        }
    }

    #[test]
    fn problem_has_the_line_of_its_element() {
        let complain = |root: Node<'_, '_>| {
            let child = children(root, "b").next().unwrap();
            attribute(child, "id").map(|_| ())
        };
        let error = read("<a>\n <!-- = -->\n <b/>\n</a>", complain).unwrap_err().to_string();
        assert_eq!(error, "line 3: expected id, but there is nothing");
    }
}
