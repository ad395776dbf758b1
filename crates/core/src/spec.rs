//! Specifications of algorithms: `name(key=value,…)`.
//!
//! One grammar for every family, shared by the command line, scenario files and summaries. Values
//! are numbers (`0.5`, `1/8`, `2%`, `inf`), durations (`4s`, `200ms`; see [`mod@crate::unit`]), booleans and
//! words. Keys that are not given keep their defaults; the brackets may be left out. What
//! [`SpecWriter`] prints is read back as the same value.
pub mod as_text;
pub mod describe;
pub mod family;
mod spelled;

pub use describe::{Described, Description};
pub use spelled::Spelled;

use crate::unit;
use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// Why a spec could not be read. Each one prints as one line.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SpecError {
    /// The text does not follow the grammar.
    #[error("`{text}` is not of the form name(key=value,…): {problem}")]
    Syntax {
        /// The whole text.
        text: String,
        /// The problem.
        problem: &'static str,
    },
    /// No algorithm of the family has that name.
    #[error("no {family} is called `{name}`{}; there are: {}", hint(name, known), known.join(", "))]
    UnknownName {
        /// The family searched, for example "RTO estimator".
        family: &'static str,
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// The text is a bare number, duration, percentage or parameter; with a spec that has it inside.
    #[error("`{text}` is a value and names no {family}; did you mean `{spec}`?")]
    BareValue {
        /// The family searched.
        family: &'static str,
        /// The text.
        text: String,
        /// A spec with the value.
        spec: String,
    },
    /// The algorithm has no such parameter.
    #[error("`{name}` has no parameter `{key}`{}; {}", hint(key, known), listed(known))]
    UnknownKey {
        /// The algorithm.
        name: String,
        /// The key that was given.
        key: String,
        /// The keys that exist.
        known: Vec<&'static str>,
    },
    /// A parameter is given twice.
    #[error("`{key}` is given twice to `{name}`")]
    DuplicateKey {
        /// The algorithm.
        name: String,
        /// The key that was given twice.
        key: String,
    },
    /// The value cannot be read, or is out of range.
    #[error("`{key}={value}` of `{name}`: expected {expected}")]
    BadValue {
        /// The algorithm.
        name: String,
        /// The key.
        key: &'static str,
        /// The value that was given.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
}

/// The value of a parameter: text of a spec, or a value that a program sets ([`Spelled::with`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Text, also a word.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A duration.
    Duration(Duration),
    /// `true` or `false`.
    Boolean(bool),
}

impl Value<'_> {
    /// The duration, if the value is one.
    #[must_use]
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Duration(duration) => Some(duration),
            Self::Text(text) => unit::duration(text).ok(),
            _ => None,
        }
    }

    fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(text) => unit::number(text),
            _ => None,
        }
    }

    fn boolean(self) -> Option<bool> {
        match self {
            Self::Boolean(boolean) => Some(boolean),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Duration(duration) => f.write_str(&unit::print_compact_duration(*duration)),
            Self::Boolean(boolean) => boolean.fmt(f),
        }
    }
}

/// Parameters that a program sets, by their keys.
pub type Parameters<'a> = [(&'static str, Value<'a>)];

/// A spec in the course of being read: each parameter is taken out by its key, and what is left at
/// the end ([`Spec::finish`]) is an error.
#[derive(Clone, Debug)]
pub struct Spec<'a> {
    name: &'a str,
    pairs: Vec<(&'a str, Value<'a>)>,
    known: Vec<&'static str>,
    /// A first parameter without a key, another algorithm; with the whole text.
    inner: Option<(&'a str, &'a str)>,
}

impl<'a> Spec<'a> {
    /// Splits `text` into its name and its parameters.
    ///
    /// # Errors
    /// If the text does not follow the grammar or a key is given twice.
    pub fn parse(text: &'a str) -> Result<Self, SpecError> {
        let syntax = |problem| SpecError::Syntax { text: text.to_owned(), problem };
        let trimmed = text.trim();
        let (name, inside) = match trimmed.split_once('(') {
            Some((name, rest)) => (
                name.trim_end(),
                rest.strip_suffix(')').ok_or_else(|| syntax("the `)` is missing"))?,
            ),
            None => (trimmed, ""),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(syntax("a name consists of a-z, A-Z, 0-9 and hyphens"));
        }
        let mut spec = Self { name, pairs: Vec::new(), known: Vec::new(), inner: None };
        for (place, part) in
            parts(inside).ok_or_else(|| syntax("brackets do not match"))?.into_iter().enumerate()
        {
            match part.split_once('=') {
                Some((key, value)) if !key.contains('(') => {
                    spec.insert(key.trim(), Value::Text(value.trim()))?;
                }
                _ if place == 0 => spec.inner = Some((part.trim(), text)),
                _ => return Err(syntax("a parameter lacks its `=`")),
            }
        }
        Ok(spec)
    }

    /// The name of the algorithm.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Takes out the algorithm that this one is around: the first parameter, if it has no key, as in
    /// `per-source(ccntimer(phi=2),recent=64)`.
    pub fn inner(&mut self) -> Option<&'a str> {
        self.inner.take().map(|(inner, _)| inner)
    }

    /// Takes a number out; it must lie within `range`, which `expected` puts into words.
    ///
    /// # Errors
    /// If the value is no number or lies outside.
    pub fn number(
        &mut self,
        key: &'static str,
        default: f64,
        range: impl std::ops::RangeBounds<f64>,
        expected: &'static str,
    ) -> Result<f64, SpecError> {
        self.take_value(key, default, expected, |value| {
            value.number().filter(|value| range.contains(value))
        })
    }

    /// Takes a duration out; it must be at least `least`.
    ///
    /// # Errors
    /// If the value is no duration, or too short.
    pub fn duration(
        &mut self,
        key: &'static str,
        default: Duration,
        least: Duration,
    ) -> Result<Duration, SpecError> {
        let expected = if least.is_zero() {
            "a duration such as 4s, 200ms or 10us"
        } else {
            "a duration longer than 0, such as 4s, 200ms or 10us"
        };
        self.take_value(key, default, expected, |value| {
            value.duration().filter(|value| *value >= least)
        })
    }

    /// Takes `true` or `false` out.
    ///
    /// # Errors
    /// If the value is neither.
    pub fn boolean(&mut self, key: &'static str, default: bool) -> Result<bool, SpecError> {
        self.take_value(key, default, "true or false", |value| value.boolean())
    }

    /// Takes one of several words out; `expected` lists them for people.
    ///
    /// # Errors
    /// If the value is none of them.
    pub fn word<T: Copy>(
        &mut self,
        key: &'static str,
        default: T,
        words: &[(&str, T)],
        expected: &'static str,
    ) -> Result<T, SpecError> {
        self.take(key, default, expected, |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// To be called when all parameters have been taken.
    ///
    /// # Errors
    /// If a parameter is left over: the algorithm does not know it, or it is around no other.
    pub fn finish(self) -> Result<(), SpecError> {
        if let Some((_, text)) = self.inner {
            let problem = "a parameter lacks its `=`";
            return Err(SpecError::Syntax { text: text.to_owned(), problem });
        }
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(SpecError::UnknownKey {
                name: self.name.to_owned(),
                key: (*key).to_owned(),
                known: self.known,
            }),
        }
    }

    /// The error for a value that is wrong only together with others.
    pub fn bad(
        &self,
        key: &'static str,
        value: impl fmt::Display,
        expected: &'static str,
    ) -> SpecError {
        SpecError::BadValue { name: self.name.to_owned(), key, value: value.to_string(), expected }
    }

    fn insert(&mut self, key: &'a str, value: Value<'a>) -> Result<(), SpecError> {
        if self.pairs.iter().any(|(other, _)| *other == key) {
            let (name, key) = (self.name.to_owned(), key.to_owned());
            return Err(SpecError::DuplicateKey { name, key });
        }
        self.pairs.push((key, value));
        Ok(())
    }

    /// Takes a value of any other kind out; `read` parses it, `expected` describes the valid form.
    ///
    /// # Errors
    /// If `read` does not take the value.
    pub fn take<T>(
        &mut self,
        key: &'static str,
        default: T,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, SpecError> {
        self.take_value(key, default, expected, |value| match value {
            // Rust reads a sign before a number without sign.
            Value::Text(text) if !text.starts_with('+') => read(text),
            _ => None,
        })
    }

    /// As [`take`](Self::take), of text or a value that a program set.
    ///
    /// # Errors
    /// If `read` does not take the value.
    pub fn take_value<T>(
        &mut self,
        key: &'static str,
        default: T,
        expected: &'static str,
        read: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Result<T, SpecError> {
        self.known.push(key);
        let Some(index) = self.pairs.iter().position(|(given, _)| *given == key) else {
            return Ok(default);
        };
        let (_, value) = self.pairs.remove(index);
        read(value).ok_or_else(|| self.bad(key, value, expected))
    }
}

/// Makes an algorithm from its spec.
pub type Reader<T> = fn(Spec<'_>) -> Result<T, SpecError>;

/// An algorithm that is read from a spec and from parameters that a program sets beside it.
pub trait Parametric: Sized {
    /// Reads `text`; `parameters` are set besides.
    ///
    /// # Errors
    /// The text is no spec, a parameter is given twice, or the algorithm does not have it.
    fn read(text: &str, parameters: &Parameters<'_>) -> Result<Self, SpecError>;
}

/// Reads `text` with the entry of `family` that bears its name.
///
/// # Errors
/// If the text cannot be read, or no entry bears its name.
pub fn parse_with<T>(
    text: &str,
    kind: &'static str,
    family: &[(&'static str, Reader<T>)],
) -> Result<T, SpecError> {
    read_with(text, &[], kind, family)
}

/// As [`parse_with`]; the parameters are set beside those of the text.
///
/// # Errors
/// As there; also if the text gives one of the parameters.
pub fn read_with<T>(
    text: &str,
    parameters: &Parameters<'_>,
    kind: &'static str,
    family: &[(&'static str, Reader<T>)],
) -> Result<T, SpecError> {
    let bare = |error| bare_value(text, kind, family).unwrap_or(error);
    let mut spec = Spec::parse(text).map_err(bare)?;
    parameters.iter().try_for_each(|(key, value)| spec.insert(key, *value))?;
    match family.iter().find(|(name, _)| *name == spec.name) {
        Some((_, read)) => read(spec),
        None => Err(bare(SpecError::UnknownName {
            family: kind,
            name: spec.name.to_owned(),
            known: family.iter().map(|(name, _)| *name).collect(),
        })),
    }
}

/// The error of a value or of parameters without an algorithm, if one with few parameters takes them.
fn bare_value<T>(
    text: &str,
    family: &'static str,
    readers: &[(&'static str, Reader<T>)],
) -> Option<SpecError> {
    let text = text.trim();
    let is_pairs = text.contains('=') && !text.contains(['(', ')']);
    if !is_pairs && !text.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let known = |name: &str, read: &Reader<T>| match Spec::parse(&format!("{name}(0=0)")).map(read)
    {
        Ok(Err(SpecError::UnknownKey { known, .. })) => known,
        _ => Vec::new(),
    };
    let candidates = readers.iter().map(|(name, read)| (known(name, read), *name, read));
    let mut candidates: Vec<_> = candidates.filter(|(keys, ..)| !keys.is_empty()).collect();
    if !is_pairs {
        // A value without its key is hardly one of many parameters.
        candidates.retain(|(keys, ..)| keys.len() <= 4);
        candidates.sort_by_key(|(keys, ..)| keys.len());
    }
    let specs = candidates.into_iter().flat_map(|(keys, name, read)| {
        // An initial value is hardly meant.
        let keys = keys.into_iter().filter(|key| !key.starts_with("init-"));
        let key = move |key| if is_pairs { String::new() } else { format!("{key}=") };
        keys.map(move |it| (format!("{name}({}{text})", key(it)), read))
    });
    let mut fitting =
        specs.filter(|(spec, read)| Spec::parse(spec).is_ok_and(|it| read(it).is_ok()));
    let (spec, _) = fitting.next()?;
    Some(SpecError::BareValue { family, text: text.to_owned(), spec })
}

/// Prints a spec with all its parameters.
#[must_use]
pub struct SpecWriter<'a, 'b> {
    formatter: &'a mut fmt::Formatter<'b>,
    result: fmt::Result,
    separator: &'static str,
}

impl<'a, 'b> SpecWriter<'a, 'b> {
    /// Begins with the name of the algorithm.
    pub fn new(formatter: &'a mut fmt::Formatter<'b>, name: &str) -> Self {
        let result = formatter.write_str(name);
        Self { formatter, result, separator: "(" }
    }

    /// Adds a number, a boolean or a text.
    pub fn value(self, key: &str, value: impl fmt::Display) -> Self {
        let separator = self.separator;
        let result = self.result.and_then(|()| write!(self.formatter, "{separator}{key}={value}"));
        Self { result, separator: ",", ..self }
    }

    /// Adds the one of `words` that stands for the value, as [`Spec::word`] reads it.
    pub fn word<T: PartialEq>(self, key: &str, value: T, words: &[(&str, T)]) -> Self {
        let word = words.iter().find(|(_, meant)| *meant == value);
        self.value(key, word.map_or("", |(word, _)| *word))
    }

    /// Adds the inner algorithm as the first parameter.
    pub fn inner(self, inner: impl fmt::Display) -> Self {
        let separator = self.separator;
        let result = self.result.and_then(|()| write!(self.formatter, "{separator}{inner}"));
        Self { result, separator: ",", ..self }
    }

    /// Adds a duration, in the largest unit that gives a whole number.
    pub fn duration(self, key: &str, value: Duration) -> Self {
        self.value(key, unit::print_compact_duration(value))
    }

    /// Ends the spec.
    ///
    /// # Errors
    /// The error of the formatter.
    pub fn finish(self) -> fmt::Result {
        self.result?;
        if self.separator == "," { self.formatter.write_str(")") } else { Ok(()) }
    }
}

/// Splits at the commas outside brackets; none if brackets do not match.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(&text[start..]);
    }
    (depth == 0).then_some(parts)
}

fn listed(known: &[&str]) -> String {
    if known.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has: {}", known.join(", "))
    }
}

/// " (did you mean `x`?)" if a known word is near.
fn hint(given: &str, known: &[&str]) -> String {
    let near = nearest(given, known.iter().copied());
    near.map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"))
}

/// The known word that `given` was probably meant to be: one that differs by a character or two, ignoring case, and not
/// in all characters.
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let length = given.chars().count();
    let far = |word: &'a str| (strsim::osa_distance(&given, &word.to_lowercase()), word);
    let is_near = |(distance, word): &(usize, &str)| {
        let characters = word.chars().count();
        *distance <= 1 + characters / 4 && *distance < length.max(characters)
    };
    known.into_iter().map(far).filter(is_near).min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests;
