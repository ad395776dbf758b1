//! From chains to the tree of a model.

use super::expand::{Chain, Expanded, Step, Tag, Term};
use super::{CompileError, Place};
use crate::schema::MAX_NODES;
use crate::schema::model::{Argument, Choice, Element, Model, Node, PatternEdge, ValueEdge};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// Most entries in all lists of signers together.
const MAX_SIGNERS: usize = 1 << 20;

type Result<T> = std::result::Result<T, CompileError>;

/// Builds the tree: chains with a common beginning share its nodes.
pub(super) fn build(expanded: &Expanded) -> Result<Model> {
    let named = expanded.symbols.len() as u64;
    let mut builder =
        Builder { nodes: Vec::new(), ends: BTreeMap::new(), last_tag: named, bound: Vec::new() };
    let all: Vec<&Chain> = expanded.chains.iter().collect();
    builder.grow(&all, 0, None)?;
    let mut nodes = builder.nodes;
    let mut entries = 0;
    for (node, signers) in &mut nodes {
        let ends = signers.iter().filter_map(|(rule, _)| builder.ends.get(rule.as_str()));
        node.signers = ends.flatten().copied().collect();
        node.signers.sort_unstable();
        node.signers.dedup();
        entries += node.signers.len();
        if let Some((_, place)) = signers.first().filter(|_| entries > MAX_SIGNERS) {
            return Err(CompileError::new(*place, "too many pairs of a name and a key"));
        }
    }
    Ok(Model {
        start: 0,
        named_patterns: named,
        nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        symbols: expanded.symbols.clone(),
    })
}

struct Builder<'c> {
    /// The nodes, and the rules that sign at each.
    nodes: Vec<(Node, Vec<(&'c String, Place)>)>,
    /// The nodes at which a rule's chains end.
    ends: BTreeMap<&'c str, Vec<usize>>,
    /// The highest tag so far.
    last_tag: u64,
    /// Named patterns before this node.
    bound: Vec<Tag>,
}

impl<'c> Builder<'c> {
    /// Adds the node that `chains` reach after `depth` components, at most 256, and all after it.
    fn grow(&mut self, chains: &[&'c Chain], depth: usize, parent: Option<usize>) -> Result<usize> {
        let id = self.nodes.len();
        if let Some(chain) = chains.first().filter(|_| id >= MAX_NODES) {
            return Err(CompileError::new(chain.place, "the schema has more than 65536 nodes"));
        }
        self.nodes.push((Node { parent, ..Node::default() }, Vec::new()));
        let mut values: BTreeMap<&Element, Vec<&Chain>> = BTreeMap::new();
        let mut patterns: BTreeMap<String, (Tag, Vec<&Term>, Vec<&Chain>)> = BTreeMap::new();
        for chain in chains {
            match chain.name.get(depth) {
                None => self.end(id, chain),
                Some(Step::Value(value)) => values.entry(value).or_default().push(chain),
                Some(Step::Pattern(tag)) => {
                    let terms = self.constraints(chain, *tag);
                    let edge = patterns.entry(key(*tag, &terms));
                    edge.or_insert((*tag, terms, Vec::new())).2.push(chain);
                }
            }
        }
        for (value, chains) in values {
            let to = self.grow(&chains, depth + 1, Some(id))?;
            self.nodes[id].0.values.push(ValueEdge { to, value: value.clone() });
        }
        for (tag, terms, chains) in patterns.into_values() {
            let edge = self.pattern(id, tag, &terms, &chains, depth)?;
            self.nodes[id].0.patterns.push(edge);
        }
        Ok(id)
    }

    fn pattern(
        &mut self,
        id: usize,
        tag: Tag,
        terms: &[&Term],
        chains: &[&'c Chain],
        depth: usize,
    ) -> Result<PatternEdge> {
        let number = if tag > 0 {
            self.bound.push(tag);
            tag.unsigned_abs()
        } else {
            self.last_tag += 1;
            self.last_tag
        };
        let constraints = terms.iter().map(|term| term.options.clone()).collect();
        let to = self.grow(chains, depth + 1, Some(id))?;
        if tag > 0 {
            self.bound.pop();
        }
        Ok(PatternEdge { to, tag: number, constraints })
    }

    fn end(&mut self, id: usize, chain: &'c Chain) {
        let Some((node, signers)) = self.nodes.get_mut(id) else { return };
        if !node.rules.iter().any(|rule| **rule == *chain.rule) {
            node.rules.push(chain.rule.to_string());
            self.ends.entry(&chain.rule).or_default().push(id);
        }
        for signer in chain.signers.iter() {
            if !signers.iter().any(|(known, _)| *known == signer) {
                signers.push((signer, chain.place));
            }
        }
    }

    /// Constraints of a pattern; none where an earlier component has given it its value.
    fn constraints(&self, chain: &'c Chain, tag: Tag) -> Vec<&'c Term> {
        if self.bound.contains(&tag) {
            return Vec::new();
        }
        let about = |term: &&Rc<Term>| term.tags.contains(&tag);
        chain.terms.iter().filter(about).map(|term| &**term).collect()
    }
}

/// Orders the pattern edges of a node, and identifies the chains that share one. python-ndn sorts by the same text.
fn key(tag: Tag, terms: &[&Term]) -> String {
    let mut key = format!("{tag}:");
    for term in terms {
        key.push('{');
        for option in &term.options {
            match option {
                Choice::Value(value) => put_value(&mut key, value),
                Choice::Tag(tag) => put_tag(&mut key, *tag),
                Choice::Call(call) => {
                    key.push_str(&call.function);
                    key.push('(');
                    for argument in &call.arguments {
                        match argument {
                            Argument::Value(value) => put_value(&mut key, value),
                            Argument::Tag(tag) => put_tag(&mut key, *tag),
                        }
                    }
                    key.push(')');
                }
            }
            key.push(',');
        }
        key.push('}');
    }
    key
}

fn put_value(key: &mut String, value: &[u8]) {
    key.push_str("v=");
    for byte in value {
        let _ = write!(key, "{byte:02x}");
    }
}

fn put_tag(key: &mut String, tag: u64) {
    let _ = write!(key, "t={tag}");
}
