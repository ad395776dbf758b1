//! Trust schemas: which key may sign which name.
//!
//! A [`Schema`] is a compiled Light VerSec (LVS) model that was found consistent. Its text is compiled by [`compile()`].
//!
//! Sources: Light VerSec as python-ndn 0.5.2 defines it (documentation, "Light VerSec"; binary format 0x00011000), which
//! NDNts and ndnd read, too.
//!
//! Differences:
//! - work is bounded: a question that needs more than [`MAX_STEPS`] steps is denied;
//! - each node but the first is reached by exactly one edge, so that a schema is a tree of patterns (NDNts demands the same);
//! - a user function whose argument has no value yet is false and is not called (as in NDNts; python-ndn raises an error);
//! - a schema that calls an unknown user function is rejected when it is read, not when the call is reached;
//! - keys that sign each other in a circle are permitted, as in ndnd: the resolver bounds chains ([`circle`] finds them);
//! - an empty name matches nothing.

pub mod compile;
pub mod explain;
mod function;
mod matching;
pub mod model;
mod wire;

pub use compile::{CompileError, compile};
pub use explain::Explanation;
pub use function::{Function, Functions};
pub use matching::MAX_STEPS;
pub use wire::{MAX_MODEL_BYTES, VERSION};

use matching::Search;
use model::{Choice, Model};
use recoup_packet::name::Name;
use recoup_packet::tlv::DecodeError;
use std::collections::BTreeSet;
use std::fmt;

/// Most nodes of a schema.
pub const MAX_NODES: usize = 65_536;

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The bytes are not a compiled schema.
    #[error("not a compiled trust schema: {0}")]
    Malformed(#[from] DecodeError),
    /// The nodes and edges do not form a tree of patterns.
    #[error("node {node} of the trust schema {problem}")]
    Inconsistent {
        /// Number of the node.
        node: usize,
        /// The defect, as the rest of a sentence.
        problem: &'static str,
    },
    /// More nodes than [`MAX_NODES`].
    #[error("the trust schema has more than 65536 nodes")]
    TooLarge,
    /// Functions that the program does not have.
    #[error("the trust schema calls {}, which this program does not have", .0.join(", "))]
    UnknownFunctions(Vec<String>),
}

/// A question that needs more than [`MAX_STEPS`] steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trust schema needs too many steps to match these names")]
pub struct TooCostly;

/// A trust schema that is ready for questions.
pub struct Schema {
    model: Model,
    functions: Functions,
    /// Named patterns with an edge: the tags that can have a value, ascending.
    bound: Vec<u64>,
}

impl Schema {
    /// Decodes a compiled schema, for the functions `$eq` and `$eq_type`.
    ///
    /// # Errors
    /// [`SchemaError`]
    pub fn decode(bytes: &[u8]) -> Result<Self, SchemaError> {
        Self::new(Model::decode(bytes)?, Functions::standard())
    }

    /// Checks a model. It may call `functions`.
    ///
    /// # Errors
    /// [`SchemaError`]
    pub fn new(model: Model, functions: Functions) -> Result<Self, SchemaError> {
        check_tree(&model)?;
        let unknown: Vec<String> =
            called(&model).into_iter().filter(|name| functions.get(name).is_none()).collect();
        if !unknown.is_empty() {
            return Err(SchemaError::UnknownFunctions(unknown));
        }
        let mut bound: Vec<u64> =
            edges(&model).map(|edge| edge.tag).filter(|tag| *tag <= model.named_patterns).collect();
        bound.sort_unstable();
        bound.dedup();
        Ok(Self { model, functions, bound })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether a key with the name `key` (that of its certificate) may sign a packet with the name `packet`.
    ///
    /// An implicit digest at the end of a name does not count.
    ///
    /// # Errors
    /// [`TooCostly`]: the answer needs more than [`MAX_STEPS`] steps.
    pub fn allows(&self, packet: &Name, key: &Name) -> Result<bool, TooCostly> {
        self.may_allow(packet, key, 0)
    }

    /// As [`allows`](Self::allows), if the last `unknown` components of the key's name are missing: whether the answer may be
    /// yes for some of them.
    ///
    /// # Errors
    /// [`TooCostly`]
    pub fn may_allow(&self, packet: &Name, key: &Name, unknown: usize) -> Result<bool, TooCostly> {
        let (packet, mut key) = (matching::elements(packet), matching::elements(key));
        key.extend(std::iter::repeat_n(matching::UNKNOWN, unknown));
        let mut search = Search::new(self);
        let mut allowed = false;
        search.each(&packet, &mut |search, node| {
            let signers = self.signers(node);
            if !signers.is_empty() {
                search.each(&key, &mut |_, node| {
                    allowed = signers.contains(&node);
                    !allowed
                });
            }
            !allowed
        });
        if search.is_exhausted() && !allowed { Err(TooCostly) } else { Ok(allowed) }
    }

    /// Whether a rule matches the name.
    #[must_use]
    pub fn matches(&self, name: &Name) -> bool {
        let mut found = false;
        Search::new(self).each(&matching::elements(name), &mut |_, node| {
            found = self.is_end(node);
            !found
        });
        found
    }

    /// The answer for a packet and a key, with its reasons.
    #[must_use]
    pub fn explain(&self, packet: &Name, key: &Name) -> Explanation {
        explain::explain(self, packet, key)
    }

    /// Rules of keys that sign others and that no key of the schema signs: trust anchors match them.
    #[must_use]
    pub fn roots(&self) -> Vec<String> {
        let signing: BTreeSet<usize> =
            self.model.nodes.iter().flat_map(|node| node.signers.iter().copied()).collect();
        let roots = signing.into_iter().filter(|id| self.signers(*id).is_empty());
        let mut names: Vec<String> = roots.flat_map(|id| self.rules(id)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether a rule ends at a node; others are only on the way to such nodes.
    fn is_end(&self, node: usize) -> bool {
        let node = self.model.nodes.get(node);
        node.is_some_and(|node| !node.rules.is_empty() || !node.signers.is_empty())
    }

    fn signers(&self, node: usize) -> &[usize] {
        self.model.nodes.get(node).map_or(&[], |node| &node.signers)
    }

    /// Names of the rules that end at a node, or its number if none has a name.
    fn rules(&self, node: usize) -> Vec<String> {
        match self.model.nodes.get(node) {
            Some(node) if !node.rules.is_empty() => node.rules.clone(),
            _ => vec![format!("#_{node}")],
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({} nodes)", self.model.nodes.len())
    }
}

fn edges(model: &Model) -> impl Iterator<Item = &model::PatternEdge> {
    model.nodes.iter().flat_map(|node| &node.patterns)
}

/// Names of the functions that the model calls.
fn called(model: &Model) -> BTreeSet<String> {
    let choices = edges(model).flat_map(|edge| edge.constraints.iter().flatten());
    choices
        .filter_map(|choice| match choice {
            Choice::Call(call) => Some(call.function.clone()),
            Choice::Value(_) | Choice::Tag(_) => None,
        })
        .collect()
}

/// Each node but the start is reached by one edge, which comes from its parent. With a start that has no parent, no path of
/// edges from it returns to a node.
fn check_tree(model: &Model) -> Result<(), SchemaError> {
    let nodes = &model.nodes;
    if nodes.len() > MAX_NODES {
        return Err(SchemaError::TooLarge);
    }
    let wrong = |node, problem| Err(SchemaError::Inconsistent { node, problem });
    match nodes.get(model.start) {
        None => return wrong(model.start, "is where matching starts, and is not there"),
        Some(start) if start.parent.is_some() => {
            return wrong(model.start, "is where matching starts, and has a parent");
        }
        Some(_) => {}
    }
    let mut reached = vec![false; nodes.len()];
    for (id, node) in nodes.iter().enumerate() {
        let values = node.values.iter().map(|edge| edge.to);
        for to in values.chain(node.patterns.iter().map(|edge| edge.to)) {
            match (nodes.get(to), reached.get_mut(to)) {
                (Some(child), Some(seen)) if child.parent == Some(id) && !*seen => *seen = true,
                (Some(_), Some(true)) => return wrong(to, "is reached by two edges"),
                (Some(_), _) => return wrong(to, "is reached from a node that is not its parent"),
                (None, _) => return wrong(id, "has an edge to a node that is not there"),
            }
        }
        if node.signers.iter().any(|signer| *signer >= nodes.len()) {
            return wrong(id, "is signed by a key that is not there");
        }
    }
    reached[model.start] = true;
    match reached.iter().position(|seen| !seen) {
        Some(node) => wrong(node, "is reached by no edge"),
        None => Ok(()),
    }
}

/// A rule whose keys are signed by keys that they sign, directly or by way of others, if there is one. A chain of such
/// certificates ends at an anchor or at the bound of the resolver. python-ndn rejects such a schema.
#[must_use]
pub fn circle(model: &Model) -> Option<String> {
    // Nodes that sign no remaining node are removed, one after the other. Circles are left.
    let mut signs = vec![0_usize; model.nodes.len()];
    for signer in model.nodes.iter().flat_map(|node| &node.signers) {
        *signs.get_mut(*signer)? += 1;
    }
    let mut free: Vec<usize> = (0..signs.len()).filter(|id| signs[*id] == 0).collect();
    while let Some(id) = free.pop() {
        for signer in &model.nodes[id].signers {
            signs[*signer] -= 1;
            if signs[*signer] == 0 {
                free.push(*signer);
            }
        }
    }
    let id = signs.iter().position(|count| *count > 0)?;
    let name = model.nodes[id].rules.first().cloned();
    Some(name.unwrap_or_else(|| format!("#_{id}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOG: &str = r##"
        #KEY: "KEY"/_/_/_
        #site: "a"/"blog"
        #root: #site/#KEY
        #article: #site/"article"/category/year <= #author
        #author: #site/role/author/#KEY & { role: "author" } <= #admin
        #admin: #site/"admin"/admin/#KEY <= #root
    "##;

    fn schema(text: &str) -> Schema {
        Schema::new(compile(text).unwrap(), Functions::standard()).unwrap()
    }

    fn allows(schema: &Schema, packet: &str, key: &str) -> bool {
        schema.allows(&packet.parse().unwrap(), &key.parse().unwrap()).unwrap()
    }

    #[test]
    fn each_link_of_a_chain_is_judged() {
        let blog = schema(BLOG);
        let (article, author) = ("/a/blog/article/tea/2024", "/a/blog/author/ann/KEY/k/i/v=1");
        let (admin, root) = ("/a/blog/admin/bob/KEY/k/i/v=1", "/a/blog/KEY/k/self/v=1");
        for (packet, key) in [(article, author), (author, admin), (admin, root)] {
            assert!(allows(&blog, packet, key), "{packet} by {key}");
            assert!(!allows(&blog, key, packet));
        }
        for (packet, key) in [(article, admin), (article, root), (author, root), (root, root)] {
            assert!(!allows(&blog, packet, key), "{packet} by {key}");
        }
        assert_eq!(blog.roots(), ["#root"]);
        assert!(blog.matches(&root.parse().unwrap()) && !blog.matches(&"/a".parse().unwrap()));
        assert!(!blog.matches(&Name::root()) && !allows(&blog, "/", root));
    }

    #[test]
    fn value_of_a_pattern_holds_for_the_key() {
        let schema = schema("#data: /owner/\"data\" <= #key\n#key: /owner/\"KEY\"/_/_/_");
        assert!(allows(&schema, "/ann/data", "/ann/KEY/1/2/3"));
        assert!(!allows(&schema, "/ann/data", "/bob/KEY/1/2/3"));
    }

    #[test]
    fn implicit_digest_at_the_end_does_not_count() {
        let schema = schema("#data: /owner/\"data\" <= #key\n#key: /owner/\"KEY\"");
        let digest = format!("sha256digest={}", "00".repeat(32));
        assert!(allows(&schema, &format!("/ann/data/{digest}"), &format!("/ann/KEY/{digest}")));
    }

    #[test]
    fn functions_compare_values_and_types() {
        let text = r##"
            #version: a/_v & { _v: $eq_type("v=0") } <= #key
            #same: a/b/_c & { _c: $eq(a, b) } <= #key
            #key: "key"
        "##;
        let schema = schema(text);
        assert!(allows(&schema, "/x/v=7", "/key") && !allows(&schema, "/x/7", "/key"));
        assert!(allows(&schema, "/x/x/x", "/key") && !allows(&schema, "/x/y/x", "/key"));
    }

    #[test]
    fn unbound_argument_makes_a_function_false() {
        let text = "#r: a/b & { a: $eq(b) | $eq_type(b) } <= #k\n#k: \"k\"";
        assert!(!allows(&schema(text), "/x/x", "/k"));
    }

    #[test]
    fn unknown_function_is_an_error_when_read() {
        let model = compile("#r: /a & { a: $secret() }").unwrap();
        let error = Schema::new(model.clone(), Functions::standard()).unwrap_err();
        assert_eq!(error, SchemaError::UnknownFunctions(vec!["$secret".into()]));
        let functions = Functions::standard().with("$secret", |value, _| value == b"\x08\x01s");
        let schema = Schema::new(model, functions).unwrap();
        assert!(schema.matches(&"/s".parse().unwrap()));
        assert!(!schema.matches(&"/t".parse().unwrap()));
    }

    #[test]
    fn circle_of_keys_is_found() {
        let found = |text| circle(&compile(text).unwrap());
        assert_eq!(found("#a: a <= #a").as_deref(), Some("#a"));
        let three = "#a: \"a\" <= #b\n#b: \"b\" <= #c\n#c: \"c\" <= #b";
        assert_eq!(found(three).as_deref(), Some("#b"));
        assert_eq!(found(BLOG), None);
        let itself = schema("#a: a <= #a");
        assert!(allows(&itself, "/x", "/x") && !allows(&itself, "/x", "/y"));
    }

    #[test]
    fn edges_that_form_no_tree_are_an_error() {
        let good = compile(BLOG).unwrap();
        let broken = |change: fn(&mut Model)| {
            let mut model = good.clone();
            change(&mut model);
            assert_eq!(Model::decode(&model.encode()).as_ref(), Ok(&model));
            Schema::new(model, Functions::standard()).unwrap_err()
        };
        broken(|model| model.start = 1_000);
        broken(|model| model.start = 1);
        broken(|model| model.nodes[0].parent = Some(1));
        broken(|model| model.nodes[0].values[0].to = 0);
        broken(|model| model.nodes[1].parent = Some(2));
        broken(|model| model.nodes[0].values[0].to = 1_000);
        broken(|model| model.nodes[0].signers = vec![1_000]);
        broken(|model| model.nodes.push(model::Node::default()));
        broken(|model| {
            let twice = model.nodes[0].values[0].clone();
            model.nodes[0].values.push(twice);
        });
    }

    #[test]
    fn costly_question_is_denied() {
        // 400 patterns of a packet, each with 400 keys that share no value with it.
        let mut text = String::new();
        for rule in 0..400 {
            text += &format!("#p{rule}: \"p\"/a/b/c & {{ c: $eq_type(\"{rule}\") }} <= #k\n");
            text += &format!("#q{rule}: \"q\"/_x/_y & {{ _y: \"{rule}\", _x: \"x\" }}\n");
        }
        text += "#k: \"k\"/_/_/_";
        let wide = schema(&text);
        let mut search = 0;
        Search::new(&wide).each(&matching::elements(&"/p/1/2/3".parse().unwrap()), &mut |_, _| {
            search += 1;
            true
        });
        assert_eq!(search, 400);
        assert!(allows(&wide, "/p/1/2/3", "/k/1/2/3"));
        let mut model = wide.model.clone();
        let choices =
            &mut model.nodes.iter_mut().find(|node| !node.patterns.is_empty()).unwrap().patterns;
        choices[0].constraints = vec![vec![Choice::Tag(99); MAX_STEPS]];
        let hostile = Schema::new(model, Functions::standard()).unwrap();
        let (packet, key) = ("/p/1/2/3".parse().unwrap(), "/k/1/2/4".parse().unwrap());
        assert_eq!(hostile.allows(&packet, &key), Err(TooCostly));
    }
}
