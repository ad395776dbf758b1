//! The binary format of Light VerSec models.
//!
//! Source: python-ndn documentation, "LVS binary format", version 0x00011000.

use super::model::{Argument, Call, Choice, Element, Model, Node, PatternEdge, Symbol, ValueEdge};
use recoup_packet::tlv::{DecodeError, Reader, Tlv, put_nni_tlv, put_tlv};

/// The version of the format that is read and written.
pub const VERSION: u64 = 0x0001_1000;

/// Most bytes of a model.
pub const MAX_MODEL_BYTES: usize = 4 << 20;

const COMPONENT_VALUE: u64 = 0x21;
const PATTERN_TAG: u64 = 0x23;
const NODE_ID: u64 = 0x25;
const USER_FN_ID: u64 = 0x27;
const IDENTIFIER: u64 = 0x29;
const USER_FN_CALL: u64 = 0x31;
const FN_ARGS: u64 = 0x33;
const CONS_OPTION: u64 = 0x41;
const CONSTRAINT: u64 = 0x43;
const VALUE_EDGE: u64 = 0x51;
const PATTERN_EDGE: u64 = 0x53;
const KEY_NODE_ID: u64 = 0x55;
const PARENT_ID: u64 = 0x57;
const VERSION_NUMBER: u64 = 0x61;
const NODE: u64 = 0x63;
const TAG_SYMBOL: u64 = 0x67;
const NAMED_PATTERN_NUM: u64 = 0x69;

type Result<T> = std::result::Result<T, DecodeError>;

impl Model {
    /// Decodes a model. Numbers of nodes are not compared with each other: [`Schema`](super::Schema) does so.
    ///
    /// # Errors
    /// The bytes are not a model of [`VERSION`], or are more than [`MAX_MODEL_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > MAX_MODEL_BYTES {
            return Err(DecodeError::at(0, "a trust schema of at most 4 MiB"));
        }
        let mut reader = Reader::new(bytes);
        let version = reader.expect(VERSION_NUMBER, "a compiled trust schema (its version)")?;
        if version.number()? != VERSION {
            return Err(version.error("version 0x00011000 of the format"));
        }
        let start = node_id(&reader.expect(NODE_ID, "the number of the first node")?)?;
        let named = reader.expect(NAMED_PATTERN_NUM, "the number of named patterns")?;
        let mut model = Self { start, named_patterns: named.number()?, ..Self::default() };
        let mut fields = Fields::of(reader);
        while let Some(tlv) = fields.next(NODE)? {
            model.nodes.push(node(&tlv, model.nodes.len())?);
        }
        while let Some(tlv) = fields.next(TAG_SYMBOL)? {
            model.symbols.push(symbol(&tlv)?);
        }
        fields.finish()?;
        Ok(model)
    }

    /// Encodes the model.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_nni_tlv(&mut out, VERSION_NUMBER, VERSION);
        put_nni_tlv(&mut out, NODE_ID, self.start as u64);
        put_nni_tlv(&mut out, NAMED_PATTERN_NUM, self.named_patterns);
        for (id, node) in self.nodes.iter().enumerate() {
            nested(&mut out, NODE, |out| put_node(out, id, node));
        }
        for symbol in &self.symbols {
            nested(&mut out, TAG_SYMBOL, |out| {
                put_nni_tlv(out, PATTERN_TAG, symbol.tag);
                put_tlv(out, IDENTIFIER, symbol.name.as_bytes());
            });
        }
        out
    }
}

/// Reads elements in their prescribed order, and skips unknown ones that are not critical.
struct Fields<'a> {
    reader: Reader<'a>,
    ahead: Option<Tlv<'a>>,
}

impl<'a> Fields<'a> {
    fn of(reader: Reader<'a>) -> Self {
        Self { reader, ahead: None }
    }

    /// The next element, if it has type `typ`.
    fn next(&mut self, typ: u64) -> Result<Option<Tlv<'a>>> {
        loop {
            if self.ahead.is_none() {
                self.ahead = self.reader.read()?;
            }
            match &self.ahead {
                Some(tlv) if tlv.typ == typ => return Ok(self.ahead.take()),
                Some(tlv) if !recoup_packet::tlv::is_critical(tlv.typ) => self.ahead = None,
                _ => return Ok(None),
            }
        }
    }

    fn finish(mut self) -> Result<()> {
        if self.ahead.is_none() {
            self.ahead = self.reader.read()?;
        }
        while let Some(tlv) = self.ahead {
            tlv.skip_unless_critical()?;
            self.ahead = self.reader.read()?;
        }
        Ok(())
    }
}

fn node_id(tlv: &Tlv<'_>) -> Result<usize> {
    usize::try_from(tlv.number()?).map_err(|_| tlv.error("the number of a node"))
}

fn text(tlv: &Tlv<'_>) -> Result<String> {
    match std::str::from_utf8(tlv.value) {
        Ok(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(tlv.error("a name in UTF-8")),
    }
}

fn component(tlv: &Tlv<'_>) -> Result<Element> {
    let mut reader = tlv.reader();
    match reader.read()? {
        Some(inner) if inner.typ <= 0xffff && reader.is_empty() => Ok(tlv.value.into()),
        _ => Err(tlv.error("one name component")),
    }
}

fn required<'a>(fields: &mut Fields<'a>, typ: u64, of: &Tlv<'a>) -> Result<Tlv<'a>> {
    fields.next(typ)?.ok_or_else(|| of.error("an element with all its parts"))
}

fn node(tlv: &Tlv<'_>, index: usize) -> Result<Node> {
    let mut fields = Fields::of(tlv.reader());
    let id = required(&mut fields, NODE_ID, tlv)?;
    if node_id(&id)? != index {
        return Err(id.error("nodes numbered from 0 in their order"));
    }
    let parent = fields.next(PARENT_ID)?.map(|tlv| node_id(&tlv)).transpose()?;
    let mut node = Node { parent, ..Node::default() };
    while let Some(tlv) = fields.next(IDENTIFIER)? {
        node.rules.push(text(&tlv)?);
    }
    while let Some(tlv) = fields.next(VALUE_EDGE)? {
        let mut fields = Fields::of(tlv.reader());
        let to = node_id(&required(&mut fields, NODE_ID, &tlv)?)?;
        let value = component(&required(&mut fields, COMPONENT_VALUE, &tlv)?)?;
        fields.finish()?;
        node.values.push(ValueEdge { to, value });
    }
    while let Some(tlv) = fields.next(PATTERN_EDGE)? {
        node.patterns.push(pattern_edge(&tlv)?);
    }
    while let Some(tlv) = fields.next(KEY_NODE_ID)? {
        node.signers.push(node_id(&tlv)?);
    }
    fields.finish()?;
    Ok(node)
}

fn pattern_edge(tlv: &Tlv<'_>) -> Result<PatternEdge> {
    let mut fields = Fields::of(tlv.reader());
    let to = node_id(&required(&mut fields, NODE_ID, tlv)?)?;
    let tag = required(&mut fields, PATTERN_TAG, tlv)?.number()?;
    let mut constraints = Vec::new();
    while let Some(tlv) = fields.next(CONSTRAINT)? {
        let mut choices = Vec::new();
        let mut fields = Fields::of(tlv.reader());
        while let Some(tlv) = fields.next(CONS_OPTION)? {
            choices.push(choice(&tlv)?);
        }
        fields.finish()?;
        constraints.push(choices);
    }
    fields.finish()?;
    Ok(PatternEdge { to, tag, constraints })
}

fn choice(tlv: &Tlv<'_>) -> Result<Choice> {
    let mut fields = Fields::of(tlv.reader());
    let value = fields.next(COMPONENT_VALUE)?;
    let tag = fields.next(PATTERN_TAG)?;
    let function = fields.next(USER_FN_CALL)?;
    fields.finish()?;
    match (value, tag, function) {
        (Some(value), None, None) => component(&value).map(Choice::Value),
        (None, Some(tag), None) => tag.number().map(Choice::Tag),
        (None, None, Some(function)) => call(&function).map(Choice::Call),
        _ => Err(tlv.error("one of value, pattern and function call")),
    }
}

fn call(tlv: &Tlv<'_>) -> Result<Call> {
    let mut fields = Fields::of(tlv.reader());
    let function = text(&required(&mut fields, USER_FN_ID, tlv)?)?;
    let mut arguments = Vec::new();
    while let Some(tlv) = fields.next(FN_ARGS)? {
        let mut fields = Fields::of(tlv.reader());
        let (value, tag) = (fields.next(COMPONENT_VALUE)?, fields.next(PATTERN_TAG)?);
        fields.finish()?;
        arguments.push(match (value, tag) {
            (Some(value), None) => Argument::Value(component(&value)?),
            (None, Some(tag)) => Argument::Tag(tag.number()?),
            _ => return Err(tlv.error("one of value and pattern")),
        });
    }
    fields.finish()?;
    Ok(Call { function, arguments })
}

fn symbol(tlv: &Tlv<'_>) -> Result<Symbol> {
    let mut fields = Fields::of(tlv.reader());
    let tag = required(&mut fields, PATTERN_TAG, tlv)?.number()?;
    let name = text(&required(&mut fields, IDENTIFIER, tlv)?)?;
    fields.finish()?;
    Ok(Symbol { tag, name })
}

/// Appends an element whose content `write` appends.
fn nested(out: &mut Vec<u8>, typ: u64, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    put_tlv(out, typ, &inner);
}

fn put_node(out: &mut Vec<u8>, id: usize, node: &Node) {
    put_nni_tlv(out, NODE_ID, id as u64);
    if let Some(parent) = node.parent {
        put_nni_tlv(out, PARENT_ID, parent as u64);
    }
    for rule in &node.rules {
        put_tlv(out, IDENTIFIER, rule.as_bytes());
    }
    for edge in &node.values {
        nested(out, VALUE_EDGE, |out| {
            put_nni_tlv(out, NODE_ID, edge.to as u64);
            put_tlv(out, COMPONENT_VALUE, &edge.value);
        });
    }
    for edge in &node.patterns {
        nested(out, PATTERN_EDGE, |out| put_pattern_edge(out, edge));
    }
    for signer in &node.signers {
        put_nni_tlv(out, KEY_NODE_ID, *signer as u64);
    }
}

fn put_pattern_edge(out: &mut Vec<u8>, edge: &PatternEdge) {
    put_nni_tlv(out, NODE_ID, edge.to as u64);
    put_nni_tlv(out, PATTERN_TAG, edge.tag);
    for constraint in &edge.constraints {
        nested(out, CONSTRAINT, |out| {
            for choice in constraint {
                nested(out, CONS_OPTION, |out| put_choice(out, choice));
            }
        });
    }
}

fn put_choice(out: &mut Vec<u8>, choice: &Choice) {
    match choice {
        Choice::Value(value) => put_tlv(out, COMPONENT_VALUE, value),
        Choice::Tag(tag) => put_nni_tlv(out, PATTERN_TAG, *tag),
        Choice::Call(call) => nested(out, USER_FN_CALL, |out| {
            put_tlv(out, USER_FN_ID, call.function.as_bytes());
            for argument in &call.arguments {
                nested(out, FN_ARGS, |out| match argument {
                    Argument::Value(value) => put_tlv(out, COMPONENT_VALUE, value),
                    Argument::Tag(tag) => put_nni_tlv(out, PATTERN_TAG, *tag),
                });
            }
        }),
    }
}
