//! Why a schema lets a key sign a packet, or does not.

use super::matching::{self, Search};
use super::{Schema, TooCostly};
use recoup_packet::name::{Component, Name};
use recoup_packet::tlv::Reader;
use std::fmt;

/// Most matches of one name in an explanation.
const MAX_MATCHES: usize = 16;

/// One way in which a schema matches a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    node: usize,
    /// The rules, with their `#`; a rule without a name is `#_` and the number of its node.
    pub rules: Vec<String>,
    /// Named patterns and their values as text.
    pub values: Vec<(String, String)>,
    /// Rules of the keys that may sign it.
    pub signers: Vec<String>,
}

/// The answer of a schema for a packet and a key. Its text has one line for each fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Name of the packet.
    pub packet_name: Name,
    /// Name of the key.
    pub key_name: Name,
    /// Rules that match the packet's name, 16 at most.
    pub packet: Vec<Match>,
    /// Rules that match the key's name if nothing is known of a packet, 16 at most.
    pub key: Vec<Match>,
    /// The rule of the packet and that of the key by which the key may sign; an error if that is not known.
    pub grant: Result<Option<(Match, Match)>, TooCostly>,
}

impl Explanation {
    /// Whether the key may sign the packet.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self.grant, Ok(Some(_)))
    }
}

pub(super) fn explain(schema: &Schema, packet: &Name, key: &Name) -> Explanation {
    let (packet_elements, key_elements) = (matching::elements(packet), matching::elements(key));
    let mut granted = None;
    let mut search = Search::new(schema);
    search.each(&packet_elements, &mut |search, packet_node| {
        let of_packet = describe(schema, search, packet_node);
        search.each(&key_elements, &mut |search, key_node| {
            if schema.signers(packet_node).contains(&key_node) {
                granted = Some((of_packet.clone(), describe(schema, search, key_node)));
            }
            granted.is_none()
        });
        granted.is_none()
    });
    let grant = match granted {
        None if search.is_exhausted() => Err(TooCostly),
        granted => Ok(granted),
    };
    Explanation {
        packet_name: packet.clone(),
        key_name: key.clone(),
        packet: all(schema, &packet_elements),
        key: all(schema, &key_elements),
        grant,
    }
}

fn all(schema: &Schema, name: &[&[u8]]) -> Vec<Match> {
    let mut matches = Vec::new();
    Search::new(schema).each(name, &mut |search, node| {
        if schema.is_end(node) {
            matches.push(describe(schema, search, node));
        }
        matches.len() < MAX_MATCHES
    });
    matches
}

fn describe(schema: &Schema, search: &Search<'_, '_>, node: usize) -> Match {
    let name = |tag| {
        let symbol = schema.model.symbols.iter().find(|symbol| symbol.tag == tag);
        symbol.map_or_else(|| tag.to_string(), |symbol| symbol.name.clone())
    };
    let mut signers: Vec<String> =
        schema.signers(node).iter().flat_map(|signer| schema.rules(*signer)).collect();
    signers.sort();
    signers.dedup();
    let values = search.values().map(|(tag, element)| (name(tag), text(element))).collect();
    Match { node, rules: schema.rules(node), values, signers }
}

fn text(element: &[u8]) -> String {
    let tlv = Reader::new(element).read().ok().flatten().unwrap_or_default();
    let component = u16::try_from(tlv.typ).ok().and_then(|typ| Component::new(typ, tlv.value));
    component.map_or_else(|| "?".into(), |component| component.to_string())
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rules.join(", "))?;
        for (at, (name, value)) in self.values.iter().enumerate() {
            let before = if at == 0 { " with " } else { ", " };
            write!(f, "{before}{name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (packet, key) = (&self.packet_name, &self.key_name);
        match &self.grant {
            Ok(Some((of_packet, of_key))) => {
                writeln!(f, "{packet} matches {of_packet}")?;
                writeln!(f, "{key} matches {of_key}")?;
                return write!(
                    f,
                    "{} may sign {}",
                    of_key.rules.join(", "),
                    of_packet.rules.join(", ")
                );
            }
            Err(error) => return write!(f, "{error}"),
            Ok(None) => {}
        }
        if self.packet.is_empty() {
            return write!(f, "no rule matches {packet}");
        }
        for it in &self.packet {
            write!(f, "{packet} matches {it}: ")?;
            match it.signers.is_empty() {
                true => writeln!(f, "no key of the schema may sign it")?,
                false => writeln!(f, "keys of {} may sign it", it.signers.join(", "))?,
            }
        }
        if self.key.is_empty() {
            return write!(f, "no rule matches {key}");
        }
        let lines = self.key.iter().map(|it| format!("{key} matches {it}{}", self.reason(it)));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Explanation {
    /// Why a match of the key's name does not help, if it is a rule that may sign.
    fn reason(&self, key: &Match) -> String {
        let may_sign = |packet: &&Match| key.rules.iter().any(|rule| packet.signers.contains(rule));
        let Some(packet) = self.packet.iter().find(may_sign) else {
            return ", which may not sign it".into();
        };
        let other = |(name, value): &&(String, String)| {
            key.values.iter().any(|(known, own)| known == name && own != value)
        };
        match packet.values.iter().find(other) {
            Some((name, value)) => format!(", but the packet has {name}={value}"),
            None => ", but not with the values of the packet".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Functions, compile};
    use super::*;

    fn explained(packet: &str, key: &str) -> String {
        let text = "#data: /owner/\"data\" <= #key\n#key: /owner/\"KEY\"/_\n#open: \"open\"";
        let schema = Schema::new(compile(text).unwrap(), Functions::standard()).unwrap();
        schema.explain(&packet.parse().unwrap(), &key.parse().unwrap()).to_string()
    }

    #[test]
    fn explanation_names_rule_and_value() {
        assert_eq!(
            explained("/ann/data", "/ann/KEY/1"),
            "/ann/data matches #data with owner=ann\n/ann/KEY/1 matches #key with owner=ann\n#key may sign #data"
        );
        assert_eq!(
            explained("/ann/data", "/bob/KEY/1"),
            "/ann/data matches #data with owner=ann: keys of #key may sign it\n\
             /bob/KEY/1 matches #key with owner=bob, but the packet has owner=ann"
        );
        assert_eq!(explained("/else", "/ann/KEY/1"), "no rule matches /else");
        assert_eq!(
            explained("/open", "/ann/KEY/1"),
            "/open matches #open: no key of the schema may sign it\n\
             /ann/KEY/1 matches #key with owner=ann, which may not sign it"
        );
        assert!(explained("/ann/data", "/else").ends_with("no rule matches /else"));
    }
}
