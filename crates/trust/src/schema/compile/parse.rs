//! Rules of a schema's text.

use super::token::{self, Token};
use super::{CompileError, Place};
use crate::schema::model::Element;

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) name: Vec<(Part, Place)>,
    /// Sets of terms of which one must hold; none if there are no constraints.
    pub(super) alternatives: Vec<Vec<Term>>,
    pub(super) signers: Vec<(String, Place)>,
}

/// A part of a rule's name.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Value(Element),
    Pattern(String),
    Rule(String),
}

/// A constraint of a pattern: one of the options must hold.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) pattern: String,
    pub(super) place: Place,
    pub(super) options: Vec<Choice>,
}

/// An option of a constraint.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Operand(Operand),
    Call(String, Vec<Operand>),
}

/// Right side of a constraint on a pattern.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Value(Element),
    Pattern(String, Place),
}

type Result<T> = std::result::Result<T, CompileError>;

/// The rules, in their order.
pub(super) fn rules(text: &str) -> Result<Vec<Rule>> {
    let mut parser = Parser { tokens: token::tokens(text)?, at: 0 };
    let mut rules = Vec::new();
    while *parser.peek() != Token::End {
        rules.push(parser.rule()?);
    }
    Ok(rules)
}

struct Parser {
    /// Ends with [`Token::End`].
    tokens: Vec<(Token, Place)>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn place(&self) -> Place {
        let last = self.tokens.last();
        self.tokens.get(self.at).or(last).map_or(Place { line: 1, column: 1 }, |(_, place)| *place)
    }

    fn next(&mut self) -> (Token, Place) {
        let next = (self.peek().clone(), self.place());
        self.at += 1;
        next
    }

    /// Takes a mark if it is next.
    fn takes(&mut self, mark: char) -> bool {
        let is_next = *self.peek() == Token::Mark(mark);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        if self.takes(mark) { Ok(()) } else { Err(self.unexpected(&Token::Mark(mark).to_string())) }
    }

    fn unexpected(&self, expected: &str) -> CompileError {
        let message = format!("expected {expected}, found {}", self.peek());
        CompileError::new(self.place(), message)
    }

    /// Items with `mark` between.
    fn list<T>(&mut self, mark: char, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.takes(mark) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn rule(&mut self) -> Result<Rule> {
        let (id, place) = self.rule_name()?;
        self.expect(':')?;
        self.takes('/');
        let name = self.list('/', Self::part)?;
        let alternatives = if self.takes('&') { self.list('|', Self::terms)? } else { Vec::new() };
        let signers = if self.takes('<') { self.list('|', Self::rule_name)? } else { Vec::new() };
        Ok(Rule { id, place, name, alternatives, signers })
    }

    fn rule_name(&mut self) -> Result<(String, Place)> {
        match self.next() {
            (Token::Rule(id), place) => Ok((id, place)),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a rule, such as #data"))
            }
        }
    }

    fn part(&mut self) -> Result<(Part, Place)> {
        let (token, place) = self.next();
        let part = match token {
            Token::Text(value) => Part::Value(value),
            Token::Word(pattern) => Part::Pattern(pattern),
            Token::Rule(id) => Part::Rule(id),
            _ => {
                self.at -= 1;
                return Err(self.unexpected("a component: quoted text, a pattern or a rule"));
            }
        };
        Ok((part, place))
    }

    fn terms(&mut self) -> Result<Vec<Term>> {
        self.expect('{')?;
        let terms = self.list(',', Self::term)?;
        self.expect('}')?;
        Ok(terms)
    }

    fn term(&mut self) -> Result<Term> {
        let (Token::Word(pattern), place) = self.next() else {
            self.at -= 1;
            return Err(self.unexpected("a pattern"));
        };
        self.expect(':')?;
        let options = self.list('|', Self::choice)?;
        Ok(Term { pattern, place, options })
    }

    fn choice(&mut self) -> Result<Choice> {
        let Token::Function(function) = self.peek() else {
            return self.operand().map(Choice::Operand);
        };
        let function = function.clone();
        self.at += 1;
        self.expect('(')?;
        let mut arguments = Vec::new();
        if !matches!(self.peek(), Token::Mark(',' | ')')) {
            arguments.push(self.operand()?);
        }
        while self.takes(',') {
            arguments.push(self.operand()?);
        }
        self.expect(')')?;
        Ok(Choice::Call(function, arguments))
    }

    fn operand(&mut self) -> Result<Operand> {
        match self.next() {
            (Token::Text(value), _) => Ok(Operand::Value(value)),
            (Token::Word(pattern), place) => Ok(Operand::Pattern(pattern, place)),
            _ => {
                self.at -= 1;
                Err(self.unexpected("quoted text, a pattern or a function"))
            }
        }
    }
}
