//! Tokens of a schema's text.

use super::{CompileError, Place};
use crate::schema::model::Element;
use recoup_packet::name::{Component, Name};
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `#rule`.
    Rule(String),
    /// A pattern.
    Word(String),
    /// `$function`.
    Function(String),
    /// Quoted text: a component.
    Text(Element),
    /// Punctuation; `<=` is `<`.
    Mark(char),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(word) | Self::Word(word) | Self::Function(word) => f.write_str(word),
            Self::Text(_) => f.write_str("quoted text"),
            Self::Mark('<') => f.write_str("'<='"),
            Self::Mark(mark) => write!(f, "'{mark}'"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Splits a text into tokens, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Place)>, CompileError> {
    let place = Place { line: 1, column: 1 };
    let mut lexer = Lexer { rest: text.chars().peekable(), place };
    let mut tokens = Vec::new();
    loop {
        let (token, place) = lexer.next()?;
        let is_end = token == Token::End;
        tokens.push((token, place));
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: Peekable<Chars<'t>>,
    place: Place,
}

impl Lexer<'_> {
    fn advance(&mut self) -> Option<char> {
        let next = self.rest.next();
        match next {
            Some('\n') => self.place = Place { line: self.place.line + 1, column: 1 },
            Some(_) => self.place.column += 1,
            None => {}
        }
        next
    }

    fn next(&mut self) -> Result<(Token, Place), CompileError> {
        loop {
            let place = self.place;
            let token = match self.advance() {
                None => Token::End,
                Some(space) if space.is_ascii_whitespace() => continue,
                Some('/') if self.rest.peek() == Some(&'/') => {
                    while self.rest.peek().is_some_and(|next| *next != '\n') {
                        self.advance();
                    }
                    continue;
                }
                Some('#') => Token::Rule(self.named('#', place)?),
                Some('$') => Token::Function(self.named('$', place)?),
                Some('"') => Token::Text(self.quoted(place)?),
                Some('<') if self.rest.peek() == Some(&'=') => {
                    self.advance();
                    Token::Mark('<')
                }
                Some(mark @ ('/' | ':' | '&' | '|' | '{' | '}' | '(' | ')' | ',')) => {
                    Token::Mark(mark)
                }
                Some(first) if is_word(first) && !first.is_ascii_digit() => {
                    Token::Word(self.word(first.into()))
                }
                Some(other) => {
                    let message = format!("unexpected character {other:?}");
                    return Err(CompileError::new(place, message));
                }
            };
            return Ok((token, place));
        }
    }

    /// The rest of a word.
    fn word(&mut self, mut word: String) -> String {
        while let Some(next) = self.rest.next_if(|next| is_word(*next)) {
            self.place.column += 1;
            word.push(next);
        }
        word
    }

    /// A word after `sign`.
    fn named(&mut self, sign: char, place: Place) -> Result<String, CompileError> {
        let begins = |next: &char| is_word(*next) && !next.is_ascii_digit();
        if !self.rest.peek().is_some_and(begins) {
            return Err(CompileError::new(place, format!("a name follows '{sign}' at once")));
        }
        Ok(self.word(sign.into()))
    }

    fn quoted(&mut self, place: Place) -> Result<Element, CompileError> {
        let mut text = String::new();
        loop {
            match self.advance() {
                Some('"') => break,
                None | Some('\n') => {
                    let message = "the text has no closing quotation mark on its line";
                    return Err(CompileError::new(place, message));
                }
                Some(next) => text.push(next),
            }
        }
        component(&text).ok_or_else(|| {
            let message = format!(
                "{text:?} is not one name component; write characters other than A-Z, a-z, 0-9, \
                 '-', '.', '_', '~' as '%' and two hexadecimal digits"
            );
            CompileError::new(place, message)
        })
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The component that a text stands for. Unlike in a URI, periods stand for themselves.
fn component(text: &str) -> Option<Element> {
    let unreserved = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~' | '=' | '%')
    };
    if !text.chars().all(unreserved) {
        return None;
    }
    let mut element = Vec::new();
    if text.chars().all(|character| character == '.') {
        Component::generic(text.as_bytes()).encode(&mut element);
    } else {
        let name: Name = format!("/{text}").parse().ok()?;
        name.get(0).filter(|_| name.len() == 1)?.encode(&mut element);
    }
    Some(element.into())
}
