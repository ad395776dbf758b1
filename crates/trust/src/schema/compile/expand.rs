//! From rules to chains: names without references to other rules.

use super::parse::{self, Operand, Part, Rule};
use super::{CompileError, Place};
use crate::schema::model::{Argument, Call, Choice, Element, Symbol};
use recoup_packet::name::MAX_COMPONENTS;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most components and constraints of all chains together.
const MAX_PARTS: usize = 1 << 20;

/// Number of a pattern: from 1 on if it is named, from -1 down if it begins with `_`.
pub(super) type Tag = i64;

/// The rules of a schema's text as chains of components, the input of the tree.
pub(super) struct Expanded {
    /// Sorted by rule; chains of one rule in the order of the text.
    pub(super) chains: Vec<Chain>,
    /// Named patterns, in the order of their tags.
    pub(super) symbols: Vec<Symbol>,
}

/// One name that a rule stands for.
#[derive(Clone)]
pub(super) struct Chain {
    pub(super) rule: Rc<str>,
    pub(super) place: Place,
    pub(super) name: Vec<Step>,
    pub(super) terms: Vec<Rc<Term>>,
    pub(super) signers: Rc<[String]>,
}

/// One component of a chain.
#[derive(Clone)]
pub(super) enum Step {
    Value(Element),
    Pattern(Tag),
}

/// A constraint of patterns.
pub(super) struct Term {
    pub(super) tags: Vec<Tag>,
    pub(super) options: Vec<Choice>,
}

type Result<T> = std::result::Result<T, CompileError>;

/// Whether a pattern (`_x`) or a rule (`#_x`) is temporary.
fn is_temporary(name: &str) -> bool {
    name.strip_prefix('#').unwrap_or(name).starts_with('_')
}

pub(super) fn expand(mut rules: Vec<Rule>) -> Result<Expanded> {
    check_references(&rules)?;
    let mut number = 0;
    for rule in rules.iter_mut().filter(|rule| is_temporary(&rule.id)) {
        number += 1;
        rule.id = format!("{}#{number}", rule.id);
    }
    let ranks = order(&rules)?;
    rules.sort_by_key(|rule| ranks.get(&rule.id).copied());
    let mut patterns = Patterns::default();
    let mut chains: BTreeMap<Rc<str>, Vec<Chain>> = BTreeMap::new();
    let mut parts = 0;
    for rule in rules {
        let made = unfold(&rule, &mut patterns, &chains, &mut parts)?;
        chains.entry(rule.id.into()).or_default().extend(made);
    }
    let symbols = patterns.symbols();
    Ok(Expanded { chains: chains.into_values().flatten().collect(), symbols })
}

fn check_references(rules: &[Rule]) -> Result<()> {
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    let parts = rules.iter().flat_map(|rule| &rule.name);
    let used = parts.filter_map(|(part, place)| match part {
        Part::Rule(id) => Some((id, place)),
        Part::Value(_) | Part::Pattern(_) => None,
    });
    let signers = rules.iter().flat_map(|rule| &rule.signers).map(|(id, place)| (id, place));
    for (id, place) in used.chain(signers) {
        if !ids.contains(id.as_str()) {
            return Err(CompileError::new(*place, format!("there is no rule {id}")));
        }
        if is_temporary(id) {
            let message = format!("{id} begins with '_', so that no other rule can name it");
            return Err(CompileError::new(*place, message));
        }
    }
    Ok(())
}

/// Ranks of the rules, in which a rule comes after the rules that it uses. Rounds remove the rules without users; the
/// last round ranks first, names descending within a round.
fn order(rules: &[Rule]) -> Result<BTreeMap<String, usize>> {
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in rules {
        used.entry(&rule.id).or_default();
        let uses = uses.entry(&rule.id).or_default();
        for (part, _) in &rule.name {
            if let Part::Rule(id) = part {
                uses.push(id);
                *used.entry(id).or_default() += 1;
            }
        }
    }
    let mut order: Vec<String> = Vec::with_capacity(used.len());
    while !used.is_empty() {
        let round: Vec<&str> =
            used.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
        if round.is_empty() {
            let names: Vec<&str> = used.keys().copied().collect();
            let place = rules.iter().find(|rule| used.contains_key(rule.id.as_str()));
            let place = place.map_or(Place { line: 1, column: 1 }, |rule| rule.place);
            let message = format!("the rules {} use each other in a circle", names.join(", "));
            return Err(CompileError::new(place, message));
        }
        for id in round {
            used.remove(id);
            for other in uses.get(id).into_iter().flatten() {
                *used.entry(other).or_default() -= 1;
            }
            order.push(id.to_owned());
        }
    }
    Ok(order.into_iter().rev().enumerate().map(|(rank, id)| (id, rank)).collect())
}

/// Numbers of patterns.
#[derive(Default)]
struct Patterns {
    named: BTreeMap<String, Tag>,
    temporary: Tag,
}

impl Patterns {
    fn symbols(self) -> Vec<Symbol> {
        let symbol = |(name, tag): (String, Tag)| Symbol { tag: tag.unsigned_abs(), name };
        let mut symbols: Vec<Symbol> = self.named.into_iter().map(symbol).collect();
        symbols.sort_by_key(|symbol| symbol.tag);
        symbols
    }

    /// Numbers a pattern of a name; a temporary one gets a number of its own each time.
    fn number(&mut self, pattern: &str) -> Tag {
        if is_temporary(pattern) {
            self.temporary -= 1;
            return self.temporary;
        }
        let next = self.named.len() as Tag + 1;
        *self.named.entry(pattern.to_owned()).or_insert(next)
    }

    /// The tag of a pattern with which another is compared.
    fn compared(&self, pattern: &str, place: Place) -> Result<u64> {
        if is_temporary(pattern) {
            let message =
                format!("{pattern} begins with '_', so that nothing can be compared with it");
            return Err(CompileError::new(place, message));
        }
        self.known(pattern, place).map(Tag::unsigned_abs)
    }

    fn known(&self, pattern: &str, place: Place) -> Result<Tag> {
        self.named.get(pattern).copied().ok_or_else(|| {
            let message = format!(
                "the pattern {pattern} stands in no name before; \
                 constraints belong to a rule whose name has the pattern"
            );
            CompileError::new(place, message)
        })
    }

    fn term(&self, term: &parse::Term, own: &[(&str, Tag)]) -> Result<Term> {
        let tags = if is_temporary(&term.pattern) {
            let same = own.iter().filter(|(name, _)| *name == term.pattern);
            same.map(|(_, tag)| *tag).collect()
        } else {
            vec![self.known(&term.pattern, term.place)?]
        };
        if tags.is_empty() {
            let message =
                format!("the pattern {} does not stand in this rule's name", term.pattern);
            return Err(CompileError::new(term.place, message));
        }
        let options = term.options.iter().map(|option| self.option(option));
        Ok(Term { tags, options: options.collect::<Result<_>>()? })
    }

    fn option(&self, option: &parse::Choice) -> Result<Choice> {
        Ok(match option {
            parse::Choice::Operand(Operand::Value(value)) => Choice::Value(value.clone()),
            parse::Choice::Operand(Operand::Pattern(name, place)) => {
                Choice::Tag(self.compared(name, *place)?)
            }
            parse::Choice::Call(function, arguments) => {
                let argument = |operand: &Operand| match operand {
                    Operand::Value(value) => Ok(Argument::Value(value.clone())),
                    Operand::Pattern(name, place) => self.compared(name, *place).map(Argument::Tag),
                };
                let arguments = arguments.iter().map(argument).collect::<Result<_>>()?;
                Choice::Call(Call { function: function.clone(), arguments })
            }
        })
    }
}

/// The chains of a rule: one for each set of constraints and each chain of the rules that its name uses.
fn unfold(
    rule: &Rule,
    patterns: &mut Patterns,
    known: &BTreeMap<Rc<str>, Vec<Chain>>,
    parts: &mut usize,
) -> Result<Vec<Chain>> {
    let mut own = Vec::new();
    let mut steps = Vec::with_capacity(rule.name.len());
    for (part, _) in &rule.name {
        steps.push(match part {
            Part::Value(value) => Ok(Step::Value(value.clone())),
            Part::Pattern(pattern) => {
                let tag = patterns.number(pattern);
                own.push((pattern.as_str(), tag));
                Ok(Step::Pattern(tag))
            }
            Part::Rule(id) => Err(known.get(id.as_str()).map(Vec::as_slice).unwrap_or_default()),
        });
    }
    let mut signers: Vec<String> = rule.signers.iter().map(|(id, _)| id.clone()).collect();
    signers.sort();
    let id: Rc<str> = rule.id.as_str().into();
    let empty = Chain {
        rule: id,
        place: rule.place,
        name: Vec::new(),
        terms: Vec::new(),
        signers: signers.into(),
    };
    let mut chains = Vec::new();
    for terms in &rule.alternatives {
        let terms = terms.iter().map(|term| patterns.term(term, &own).map(Rc::new));
        chains.push(Chain { terms: terms.collect::<Result<_>>()?, ..empty.clone() });
    }
    if chains.is_empty() {
        chains.push(empty);
    }
    for step in steps {
        match step {
            Ok(step) => {
                count(rule, parts, chains.len())?;
                chains.iter_mut().for_each(|chain| chain.name.push(step.clone()));
            }
            Err(others) => chains = joined(rule, &chains, others, parts)?,
        }
    }
    match chains.iter().find(|chain| chain.name.len() > MAX_COMPONENTS) {
        Some(_) => {
            let message = format!("a name of {} has more than 256 components", rule.id);
            Err(CompileError::new(rule.place, message))
        }
        None => Ok(chains),
    }
}

/// All combinations of a chain and a chain of another rule.
fn joined(
    rule: &Rule,
    chains: &[Chain],
    others: &[Chain],
    parts: &mut usize,
) -> Result<Vec<Chain>> {
    let mut all = Vec::new();
    for other in others {
        for chain in chains {
            let mut chain = chain.clone();
            chain.name.extend_from_slice(&other.name);
            chain.terms.extend_from_slice(&other.terms);
            count(rule, parts, 1 + chain.name.len() + chain.terms.len())?;
            all.push(chain);
        }
    }
    Ok(all)
}

fn count(rule: &Rule, parts: &mut usize, more: usize) -> Result<()> {
    *parts = parts.saturating_add(more);
    if *parts <= MAX_PARTS {
        return Ok(());
    }
    let message =
        format!("the schema becomes too large when the rules in {} are written out", rule.id);
    Err(CompileError::new(rule.place, message))
}
