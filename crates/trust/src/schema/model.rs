//! The elements of a Light VerSec model, as the binary format has them.

/// A component of a name as a whole element: type, length, value.
pub type Element = Box<[u8]>;

/// A tree of name patterns, with the keys that may sign what each pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Index of the node at which each match begins.
    pub start: usize,
    /// Tags from 1 to this number are named patterns: a value binds them, and they keep it from a packet's name to that
    /// of its key.
    pub named_patterns: u64,
    /// The nodes; a node's number is its index.
    pub nodes: Vec<Node>,
    /// Names of tags.
    pub symbols: Vec<Symbol>,
}

/// The end of a pattern, and what may follow it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The node from which an edge leads here; none for the start.
    pub parent: Option<usize>,
    /// Names of the rules whose pattern ends here, with their `#`.
    pub rules: Vec<String>,
    /// Edges that one value follows.
    pub values: Vec<ValueEdge>,
    /// Edges for any value that meets their constraints.
    pub patterns: Vec<PatternEdge>,
    /// Nodes that a key's name must reach, one of them, to sign a packet whose name reaches this one.
    pub signers: Vec<usize>,
}

/// An edge that one value follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueEdge {
    /// Index of the node to which it leads.
    pub to: usize,
    /// The component.
    pub value: Element,
}

/// An edge that values follow which meet all its constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternEdge {
    /// Index of the node to which it leads.
    pub to: usize,
    /// Number of the pattern.
    pub tag: u64,
    /// Constraints, each a list of options of which one must hold.
    pub constraints: Vec<Vec<Choice>>,
}

/// One option of a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The component is this one.
    Value(Element),
    /// The component is the value of another pattern.
    Tag(u64),
    /// A user function decides.
    Call(Call),
}

/// Call of a user function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name, with the `$`.
    pub function: String,
    /// Its arguments after the component itself.
    pub arguments: Vec<Argument>,
}

/// An argument of a user function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A component.
    Value(Element),
    /// The value of a pattern.
    Tag(u64),
}

/// Name of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The tag.
    pub tag: u64,
    /// Its name.
    pub name: String,
}
