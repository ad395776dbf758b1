//! The forms in which values are written.
use crate::problem::{Origin, hint, listed};
use crate::schema::Shape;
use crate::tree::{Tree, Value};
use recoup_core::spec::Spelled;
use recoup_core::time::{Duration, Instant};
use recoup_core::unit;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// How a value is written. `read` parses the text of `write` to the same value.
pub trait Form {
    /// The value.
    type Of;

    /// Reads a value.
    ///
    /// # Errors
    /// The problem with the valid form, without the key.
    fn read(&self, tree: &Tree) -> Result<Self::Of, String>;

    /// Writes a value; `None` if the absence of the key means the same.
    fn write(&self, of: &Self::Of) -> Option<Value>;

    /// "write it like …".
    fn example(&self) -> String;

    /// The kinds of values that it reads.
    fn shape(&self) -> Shape {
        Shape::Any
    }
}

/// Reads a rate, such as "10 Mbit/s", in bits per second; 0 for "unlimited".
///
/// # Errors
/// The problem, with the valid form.
pub fn rate(tree: &Tree) -> Result<u64, String> {
    RATE.read(tree)
}

/// Reads a number of bytes up to 16 MiB, such as "28 B".
///
/// # Errors
/// The problem, with the valid form.
pub fn few_bytes(tree: &Tree) -> Result<u32, String> {
    FEW_BYTES.read(tree)
}

/// Reads a point in time, such as "10 s", counted from the beginning.
///
/// # Errors
/// The problem, with the valid form.
pub fn instant(tree: &Tree) -> Result<Instant, String> {
    INSTANT.read(tree)
}

/// A value that remembers where it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place in the file.
    pub origin: Origin,
}

/// A form made of functions on text.
pub struct Words<T: 'static> {
    read: fn(&str) -> Result<T, String>,
    write: fn(&T) -> String,
    example: &'static str,
}

/// A time.
pub const TIME: Words<Duration> = Words {
    read: |text| Ok(unit::duration(text)?),
    write: |time| unit::print_duration(*time),
    example: "write it like \"10 ms\"",
};

/// A time that must not be zero.
pub const INTERVAL: Words<Duration> = Words {
    read: |text| Ok(unit::interval(text)?),
    write: |time| unit::print_duration(*time),
    example: "write it like \"10 ms\"",
};

/// A point in time, counted from the beginning.
pub const INSTANT: Words<Instant> = Words {
    read: |text| Ok(Instant::ZERO + unit::duration(text)?),
    write: |at| unit::print_duration(at.since(Instant::ZERO)),
    example: "write it like \"10 s\", counted from the beginning",
};

/// Bits per second; 0 is `unlimited`.
pub const RATE: Words<u64> = Words {
    read: |text| Ok(unit::rate(text)?),
    write: |bits| unit::print_rate(*bits),
    example: "write it like \"10 Mbit/s\"",
};

/// A size in bytes.
pub const BYTES: Words<u64> = Words {
    read: |text| Ok(unit::bytes(text)?),
    write: |bytes| unit::print_bytes(*bytes),
    example: "write it like \"1024 B\" or \"10 MiB\"",
};

/// A size in bytes, below 4 GiB.
pub const FEW_BYTES: Words<u32> = Words {
    read: |text| {
        let bytes = unit::bytes(text)?;
        u32::try_from(bytes)
            .ok()
            .filter(|few| *few <= 1 << 24)
            .ok_or(format!("`{text}` is more than 16 MiB"))
    },
    write: |bytes| unit::print_bytes(u64::from(*bytes)),
    example: "write it like \"28 B\"",
};

/// Any text.
pub const TEXT: Words<String> =
    Words { read: |text| Ok(text.to_owned()), write: String::clone, example: "write a string" };

impl<T> Words<T> {
    /// A form that is read and written by these functions.
    pub const fn new(
        read: fn(&str) -> Result<T, String>,
        write: fn(&T) -> String,
        example: &'static str,
    ) -> Self {
        Self { read, write, example }
    }
}

impl<T> Form for Words<T> {
    type Of = T;

    fn read(&self, tree: &Tree) -> Result<T, String> {
        match &tree.value {
            Value::Text(text) => (self.read)(text),
            // A number cannot have a unit; the reader's error names the missing one.
            Value::Integer(number @ 0..) => (self.read)(&number.to_string()),
            Value::Number(number) if *number >= 0.0 => (self.read)(&number.to_string()),
            other => Err(format!("{other} is no string; {}", self.example)),
        }
    }

    fn write(&self, of: &T) -> Option<Value> {
        Some(Value::Text((self.write)(of)))
    }

    fn example(&self) -> String {
        self.example.into()
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

/// An algorithm or a distribution: `name(key=value,…)`, checked by its family.
pub struct Law {
    judge: fn(&str) -> Result<(), String>,
    example: &'static str,
}

impl Law {
    /// A law that `judge` accepts.
    pub const fn new(judge: fn(&str) -> Result<(), String>, example: &'static str) -> Self {
        Self { judge, example }
    }
}

impl Form for Law {
    type Of = String;

    fn read(&self, tree: &Tree) -> Result<String, String> {
        match &tree.value {
            Value::Text(text) => {
                (self.judge)(text)?;
                Ok(text.trim().to_owned())
            }
            other => Err(format!("{other} is no string; write it like \"{}\"", self.example)),
        }
    }

    fn write(&self, of: &String) -> Option<Value> {
        Some(Value::text(of))
    }

    fn example(&self) -> String {
        format!("write it like \"{}\"", self.example)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

/// An algorithm: a value that keeps the text that it was parsed from.
pub struct Algorithm<T> {
    example: &'static str,
    value: PhantomData<T>,
}

impl<T> Algorithm<T> {
    /// An algorithm that is written like `example`.
    pub const fn new(example: &'static str) -> Self {
        Self { example, value: PhantomData }
    }
}

impl<T: FromStr<Err: Display>> Form for Algorithm<T> {
    type Of = Spelled<T>;

    fn read(&self, tree: &Tree) -> Result<Spelled<T>, String> {
        match &tree.value {
            Value::Text(text) => text.parse().map_err(|error: T::Err| error.to_string()),
            other => Err(format!("{other} is no string; write it like \"{}\"", self.example)),
        }
    }

    fn write(&self, of: &Spelled<T>) -> Option<Value> {
        Some(Value::text(of.text()))
    }

    fn example(&self) -> String {
        format!("write it like \"{}\"", self.example)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

/// true or false.
pub struct Truth;

impl Form for Truth {
    type Of = bool;

    fn read(&self, tree: &Tree) -> Result<bool, String> {
        match &tree.value {
            Value::Truth(truth) => Ok(*truth),
            other => Err(format!("{other} is neither true nor false")),
        }
    }

    fn write(&self, of: &bool) -> Option<Value> {
        Some(Value::Truth(*of))
    }

    fn example(&self) -> String {
        "write true or false".into()
    }

    fn shape(&self) -> Shape {
        Shape::Truth
    }
}

/// A whole number within bounds.
pub struct Count(pub u64, pub u64);

impl Form for Count {
    type Of = u64;

    fn read(&self, tree: &Tree) -> Result<u64, String> {
        let number = match &tree.value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| (self.0..=self.1).contains(number)).ok_or_else(|| {
            let bounds = if self.1 >= i64::MAX as u64 {
                format!("{} or more", self.0)
            } else {
                format!("{} to {}", self.0, self.1)
            };
            format!("`{}` is no whole number, {bounds}", tree.value)
        })
    }

    fn write(&self, of: &u64) -> Option<Value> {
        Some(match i64::try_from(*of) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(of.to_string()),
        })
    }

    fn example(&self) -> String {
        "write a whole number".into()
    }

    fn shape(&self) -> Shape {
        let bound = |number| i64::try_from(number).unwrap_or(i64::MAX);
        Shape::Integer(bound(self.0), bound(self.1))
    }
}

/// One word of a list; the reader itself checks it.
pub struct Among(pub &'static [&'static str]);

impl Form for Among {
    type Of = String;

    fn read(&self, tree: &Tree) -> Result<String, String> {
        TEXT.read(tree)
    }

    fn write(&self, of: &String) -> Option<Value> {
        TEXT.write(of)
    }

    fn example(&self) -> String {
        listed(self.0.iter().copied())
    }

    fn shape(&self) -> Shape {
        Shape::Words(self.0.iter().map(|word| (*word).to_owned()).collect())
    }
}

/// One of several words.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Form for OneOf<T> {
    type Of = T;

    fn read(&self, tree: &Tree) -> Result<T, String> {
        let text = tree.value.to_string();
        let words = || self.0.iter().map(|(word, _)| *word);
        self.0.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let near = hint(&text, words());
            let near = if near.is_empty() { format!("; {}", listed(words())) } else { near };
            format!("`{text}` is none of the words for it{near}")
        })
    }

    fn write(&self, of: &T) -> Option<Value> {
        self.0.iter().find(|(_, value)| value == of).map(|(word, _)| Value::text(*word))
    }

    fn example(&self) -> String {
        listed(self.0.iter().map(|(word, _)| *word))
    }

    fn shape(&self) -> Shape {
        Shape::Words(self.0.iter().map(|(word, _)| (*word).to_owned()).collect())
    }
}

/// A value or a word that stands for there being none.
pub struct OrWord<F>(pub F, pub &'static str);

impl<F: Form> Form for OrWord<F> {
    type Of = Option<F::Of>;

    fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
        match &tree.value {
            Value::Text(text) if text == self.1 => Ok(None),
            _ => self
                .0
                .read(tree)
                .map(Some)
                .map_err(|what| format!("{what}; \"{}\" is allowed, too", self.1)),
        }
    }

    fn write(&self, of: &Self::Of) -> Option<Value> {
        match of {
            Some(value) => self.0.write(value),
            None => Some(Value::text(self.1)),
        }
    }

    fn example(&self) -> String {
        format!("{} or \"{}\"", self.0.example(), self.1)
    }

    fn shape(&self) -> Shape {
        match self.0.shape() {
            Shape::Text => Shape::Text,
            shape => Shape::either([shape, Shape::Words(vec![self.1.to_owned()])]),
        }
    }
}

/// A value that may be absent.
pub struct Maybe<F>(pub F);

impl<F: Form> Form for Maybe<F> {
    type Of = Option<F::Of>;

    fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
        self.0.read(tree).map(Some)
    }

    fn write(&self, of: &Self::Of) -> Option<Value> {
        of.as_ref().and_then(|value| self.0.write(value))
    }

    fn example(&self) -> String {
        self.0.example()
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }
}

/// One value, or a list of them.
pub struct Many<F>(pub F);

impl<F: Form> Form for Many<F> {
    type Of = Vec<F::Of>;

    fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
        match &tree.value {
            Value::List(list) => list.iter().map(|one| self.0.read(one)).collect(),
            _ => Ok(vec![self.0.read(tree)?]),
        }
    }

    fn write(&self, of: &Self::Of) -> Option<Value> {
        let mut values: Vec<_> = of.iter().filter_map(|one| self.0.write(one)).collect();
        match values.len() {
            0 => None,
            1 => values.pop(),
            _ => Some(Value::List(values.into_iter().map(Tree::from).collect())),
        }
    }

    fn example(&self) -> String {
        format!("{}, or a list of them", self.0.example())
    }

    fn shape(&self) -> Shape {
        let one = self.0.shape();
        Shape::either([one.clone(), Shape::List(Box::new(one))])
    }
}

/// A value that is looked up later, and must then still be found in the file.
pub struct Place<F>(pub F);

impl<F: Form> Form for Place<F> {
    type Of = Located<F::Of>;

    fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
        Ok(Located { value: self.0.read(tree)?, origin: tree.origin })
    }

    fn write(&self, of: &Self::Of) -> Option<Value> {
        self.0.write(&of.value)
    }

    fn example(&self) -> String {
        self.0.example()
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }
}

/// Checks that a text can be read, and forgets what was read.
pub fn judged<T, E: fmt::Display>(read: Result<T, E>) -> Result<(), String> {
    read.map(drop).map_err(|error| error.to_string())
}
