//! Parameters of an algorithm, each described once: its key, its values, and the words for an error.
//!
//! One description reads the parameters from a spec and prints them, so that neither can leave one out.
use super::{Spec, SpecError, SpecWriter, Value};
use crate::unit;
use std::fmt::{self, Display};
use std::ops::RangeBounds;
use std::str::FromStr;
use std::time::Duration;

/// An algorithm, or a part of one, with parameters in its text.
pub trait Described: Clone {
    /// Describes each parameter, in the order of the text.
    fn describe(&mut self, each: &mut Description<'_>);
}

/// Reads or prints the parameters that are described to it.
#[derive(Debug)]
pub struct Description<'a>(Pass<'a>);

#[derive(Debug)]
enum Pass<'a> {
    /// With the first error. Parameters behind it are read all the same, so that all keys are known.
    Read(Spec<'a>, Result<(), SpecError>),
    Print(Vec<(&'static str, String)>),
}

impl<'a> Spec<'a> {
    /// Reads the parameters of an algorithm; those that the spec leaves out stay as they are.
    ///
    /// # Errors
    /// A value is wrong, or the algorithm does not know a parameter.
    pub fn read<T: Described>(self, mut algorithm: T) -> Result<T, SpecError> {
        let mut description = Description(Pass::Read(self, Ok(())));
        algorithm.describe(&mut description);
        let Pass::Read(spec, result) = description.0 else { return Ok(algorithm) };
        result?;
        spec.finish()?;
        Ok(algorithm)
    }
}

/// Prints the spec of an algorithm with all its parameters.
///
/// # Errors
/// The error of the formatter.
pub fn print<T: Described>(f: &mut fmt::Formatter<'_>, name: &str, algorithm: &T) -> fmt::Result {
    let mut description = Description(Pass::Print(Vec::new()));
    algorithm.clone().describe(&mut description);
    let pairs = if let Pass::Print(pairs) = description.0 { pairs } else { Vec::new() };
    let writer = SpecWriter::new(f, name);
    pairs.into_iter().fold(writer, |writer, (key, value)| writer.value(key, value)).finish()
}

/// Prints a described algorithm as its spec.
#[macro_export]
macro_rules! print_as_spec {
    ($algorithm:ty, $name:expr) => {
        impl ::std::fmt::Display for $algorithm {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::spec::describe::print(f, $name, self)
            }
        }
    };
}

impl Description<'_> {
    /// A parameter of any kind. `print` returns no text for a value that is not printed.
    pub fn value<T: Copy>(
        &mut self,
        key: &'static str,
        value: &mut T,
        read: impl FnOnce(&mut Spec<'_>, T) -> Result<T, SpecError>,
        print: impl FnOnce(&T) -> Option<String>,
    ) {
        match &mut self.0 {
            Pass::Read(spec, result) => match read(spec, *value) {
                Ok(read) => *value = read,
                Err(error) if result.is_ok() => *result = Err(error),
                Err(_) => {}
            },
            Pass::Print(pairs) => pairs.extend(print(value).map(|text| (key, text))),
        }
    }

    /// A number within `range`, which `expected` puts into words.
    pub fn number(
        &mut self,
        key: &'static str,
        value: &mut f64,
        range: impl RangeBounds<f64>,
        expected: &'static str,
    ) {
        let read = |spec: &mut Spec<'_>, default| spec.number(key, default, range, expected);
        self.value(key, value, read, |it| Some(it.to_string()));
    }

    /// A whole number within `range`.
    pub fn whole<T: Copy + FromStr + Display + PartialOrd>(
        &mut self,
        key: &'static str,
        value: &mut T,
        range: impl RangeBounds<T>,
        expected: &'static str,
    ) {
        let parse = |text: &str| text.parse().ok().filter(|it| range.contains(it));
        let read = |spec: &mut Spec<'_>, default| spec.take(key, default, expected, parse);
        self.value(key, value, read, |it| Some(it.to_string()));
    }

    /// A whole number that may be spelled as any number; returns the number that was read, without its fraction.
    #[must_use]
    pub fn truncated(
        &mut self,
        key: &'static str,
        value: u64,
        range: impl RangeBounds<f64>,
        expected: &'static str,
    ) -> u64 {
        let mut number = value as f64;
        self.number(key, &mut number, range, expected);
        number as u64
    }

    /// A duration of `least` or more.
    pub fn duration(&mut self, key: &'static str, value: &mut Duration, least: Duration) {
        let read = |spec: &mut Spec<'_>, default| spec.duration(key, default, least);
        self.value(key, value, read, |it| Some(unit::print_compact_duration(*it)));
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, key: &'static str, value: &mut bool) {
        self.value(key, value, |spec, it| spec.boolean(key, it), |it| Some(it.to_string()));
    }

    /// One of several words; `expected` lists them.
    pub fn word<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        value: &mut T,
        words: &[(&str, T)],
        expected: &'static str,
    ) {
        let print = |it: &T| words.iter().find(|(_, meant)| meant == it).map(|(word, _)| *word);
        let read = |spec: &mut Spec<'_>, default| spec.word(key, default, words, expected);
        self.value(key, value, read, |it| print(it).map(str::to_owned));
    }

    /// A value that `parse` reads and `print` prints; `expected` describes the valid form.
    pub fn text<T: Copy>(
        &mut self,
        key: &'static str,
        value: &mut T,
        expected: &'static str,
        parse: impl FnOnce(Value<'_>) -> Option<T>,
        print: impl FnOnce(&T) -> String,
    ) {
        let read = |spec: &mut Spec<'_>, default| spec.take_value(key, default, expected, parse);
        self.value(key, value, read, |it| Some(print(it)));
    }

    /// A condition on several parameters; `key` and `value` are those that an error names.
    pub fn check(
        &mut self,
        holds: bool,
        key: &'static str,
        value: impl Display,
        expected: &'static str,
    ) {
        if let Pass::Read(spec, result @ Ok(())) = &mut self.0
            && !holds
        {
            *result = Err(spec.bad(key, value, expected));
        }
    }
}
