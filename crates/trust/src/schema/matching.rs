//! Matching names against the tree of patterns.
//!
//! Each node is reached by one path, so that a name visits each node at most once. A packet's matches times its key's are
//! what may become many; their steps are counted.

use super::Schema;
use super::model::{Argument, Choice, PatternEdge};
use recoup_packet::name::Name;
use recoup_packet::tlv::{Reader, typ};

/// Most steps for one question: nodes that are visited, options that are looked at and arguments of functions.
pub const MAX_STEPS: usize = 1_000_000;

/// The components of a name, each a whole element, without an implicit digest at the end.
pub(super) fn elements(name: &Name) -> Vec<&[u8]> {
    let value = name.value();
    let mut reader = Reader::new(value);
    let mut elements = Vec::with_capacity(name.len());
    let mut last = 0;
    while let Ok(Some(tlv)) = reader.read() {
        elements.push(value.get(tlv.whole()).unwrap_or_default());
        last = tlv.typ;
    }
    if last == typ::IMPLICIT_SHA256_DIGEST {
        elements.pop();
    }
    elements
}

/// Matches of names, with the values of named patterns.
pub(super) struct Search<'s, 'n> {
    schema: &'s Schema,
    /// Values of the named patterns in `schema.bound`.
    values: Vec<Option<&'n [u8]>>,
    steps_left: usize,
}

/// Receiver of matches: it gets the search in the state of the match, and the node, and returns whether to go on.
type Found<'f, 's, 'n> = &'f mut dyn FnMut(&mut Search<'s, 'n>, usize) -> bool;

/// In place of a component that is not known: no component is empty. It matches all that some component might.
pub(super) const UNKNOWN: &[u8] = &[];

impl<'s, 'n> Search<'s, 'n> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema, values: vec![None; schema.bound.len()], steps_left: MAX_STEPS }
    }

    /// Whether the search ended for want of steps.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// The named patterns that have a value, and the values.
    pub(super) fn values(&self) -> impl Iterator<Item = (u64, &'n [u8])> {
        let tags = self.schema.bound.iter().copied();
        tags.zip(&self.values).filter_map(|(tag, value)| Some((tag, (*value)?)))
    }

    /// Reports each match of a name that agrees with the values so far.
    pub(super) fn each(&mut self, name: &[&'n [u8]], found: Found<'_, 's, 'n>) {
        if !name.is_empty() {
            self.walk(self.schema.model.start, name, found);
        }
    }

    /// Counts a step, and returns whether there was one left.
    fn step(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        self.steps_left > 0
    }

    /// Goes on from `node` with the rest of a name, of at most 256 components; returns whether to go on after that.
    fn walk(&mut self, node: usize, rest: &[&'n [u8]], found: Found<'_, 's, 'n>) -> bool {
        if !self.step() {
            return false;
        }
        let Some((component, rest)) = rest.split_first() else {
            return found(self, node);
        };
        let schema = self.schema;
        let Some(node) = schema.model.nodes.get(node) else {
            return true;
        };
        for edge in &node.values {
            if !self.step() {
                return false;
            }
            let is_unknown = component.is_empty();
            if is_unknown || *edge.value == **component {
                if !self.walk(edge.to, rest, found) {
                    return false;
                }
                if !is_unknown {
                    break;
                }
            }
        }
        node.patterns.iter().all(|edge| self.follow(edge, component, rest, found))
    }

    /// Follows an edge if the component may; returns whether to go on after that.
    fn follow(
        &mut self,
        edge: &PatternEdge,
        component: &'n [u8],
        rest: &[&'n [u8]],
        found: Found<'_, 's, 'n>,
    ) -> bool {
        if component.is_empty() {
            return self.walk(edge.to, rest, found);
        }
        let slot = self.slot(edge.tag);
        if let Some(value) = slot.and_then(|slot| self.values[slot]) {
            return value != component || self.walk(edge.to, rest, found);
        }
        if !self.meets(edge, component) {
            return !self.is_exhausted();
        }
        if let Some(slot) = slot {
            self.values[slot] = Some(component);
        }
        let more = self.walk(edge.to, rest, found);
        if let Some(slot) = slot {
            self.values[slot] = None;
        }
        more
    }

    fn slot(&self, tag: u64) -> Option<usize> {
        self.schema.bound.binary_search(&tag).ok()
    }

    fn value(&self, tag: u64) -> Option<&'n [u8]> {
        self.values[self.slot(tag)?]
    }

    /// Whether each constraint has an option that holds.
    fn meets(&mut self, edge: &PatternEdge, component: &[u8]) -> bool {
        edge.constraints
            .iter()
            .all(|options| options.iter().any(|option| self.holds(option, component)))
    }

    fn holds(&mut self, option: &Choice, component: &[u8]) -> bool {
        if !self.step() {
            return false;
        }
        match option {
            Choice::Value(value) => **value == *component,
            Choice::Tag(tag) => self.value(*tag) == Some(component),
            Choice::Call(call) => {
                self.steps_left = self.steps_left.saturating_sub(call.arguments.len());
                let values = call.arguments.iter().map(|argument| match argument {
                    Argument::Value(value) => Some(&**value),
                    Argument::Tag(tag) => self.value(*tag),
                });
                let values: Option<Vec<&[u8]>> = values.collect();
                let function = self.schema.functions.get(&call.function);
                values.zip(function).is_some_and(|(values, function)| function(component, &values))
            }
        }
    }
}
