//! Errors of a topology or of its file.
use std::fmt;
use thiserror::Error;

/// Longest name of a node in bytes.
const MAX_NAME_BYTES: usize = 200;

/// A topology that cannot be built, in one line for its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// The line of the file, the first is 1; `None` where no single line is to blame.
    pub line: Option<usize>,
    /// The problem.
    pub problem: Problem,
}

/// Problems of a topology.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// A text differs from the expected one.
    #[error("expected {what}, found {found:?}")]
    Unexpected {
        /// The expected text.
        what: &'static str,
        /// The text found, shortened.
        found: String,
    },
    /// A line or an element ends too soon.
    #[error("expected {0}, but there is nothing")]
    Missing(&'static str),
    /// Two nodes have one name.
    #[error("node {0:?} is there twice; each needs a name of its own")]
    RepeatedNode(String),
    /// Two links have one name.
    #[error("link {0:?} is there twice")]
    RepeatedLink(String),
    /// A link ends at a node that does not exist.
    #[error("there is no node {0:?}; name it among the nodes first")]
    UnknownNode(String),
    /// A link leads from a node to itself.
    #[error("link {0:?} leads from a node to itself; remove it")]
    SelfLink(String),
    /// Two attributes of a link mean one property.
    #[error("attribute {0:?} gives a property of the link that another attribute has given")]
    RepeatedAttribute(String),
    /// The value of an attribute has a problem.
    #[error("{0}: {1}")]
    Attribute(String, Box<Problem>),
    /// Known to the format, but not simulated.
    #[error("{what} {found:?} cannot be simulated; {advice}")]
    Unsupported {
        /// Kind of the thing.
        what: &'static str,
        /// The text found, shortened.
        found: String,
        /// The remedy.
        advice: &'static str,
    },
    /// The topology is larger than what is sensible.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Of what there is too much.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The parameters of a generator make no network.
    #[error("{0}")]
    Shape(&'static str),
    /// The file is no XML.
    #[error("not readable as XML: {0}")]
    Xml(String),
}

impl TopologyError {
    /// A problem in a line, the first is 1.
    pub(super) fn at(line: usize, problem: Problem) -> Self {
        Self { line: Some(line), problem }
    }
}

impl Problem {
    pub(super) fn unexpected(what: &'static str, found: &str) -> Self {
        Self::Unexpected { what, found: excerpt(found) }
    }

    pub(super) fn unsupported(what: &'static str, found: &str, advice: &'static str) -> Self {
        Self::Unsupported { what, found: excerpt(found), advice }
    }
}

impl From<Problem> for TopologyError {
    fn from(problem: Problem) -> Self {
        Self { line: None, problem }
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        self.problem.fmt(f)
    }
}

impl std::error::Error for TopologyError {}

/// The beginning of a text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Checks that a name can stand in records and on a screen.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    if name.is_empty() {
        return Err(Problem::Missing("the name of a node"));
    }
    if name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(Problem::unexpected("a printable name of at most 200 bytes", name));
    }
    Ok(())
}
