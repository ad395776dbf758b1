//! Values that keep the text that they were parsed from.
use super::{Parameters, Parametric, SpecError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// A value and its text. Display writes the original text: `yang2016` stays `yang2016`, although the value is
/// a `jacobson` with other parameters. Values are compared, not texts.
#[derive(Clone)]
pub struct Spelled<T> {
    value: T,
    text: Box<str>,
}

impl<T> Spelled<T> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T: Parametric + fmt::Display> Spelled<T> {
    /// The algorithm with further parameters, which its text must not give.
    ///
    /// # Errors
    /// The text gives one of them, the algorithm does not have it, or the value is out of range.
    pub fn with(&self, parameters: &Parameters<'_>) -> Result<Self, SpecError> {
        match parameters {
            [] => T::read(&self.text, &[]).map(|value| Self { value, text: self.text.clone() }),
            some => T::read(&self.text, some).map(Self::from),
        }
    }
}

impl<T: fmt::Display> From<T> for Spelled<T> {
    /// The text is what the value prints.
    fn from(value: T) -> Self {
        let text = value.to_string().into();
        Self { value, text }
    }
}

impl<T: FromStr> FromStr for Spelled<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        let text = text.trim();
        Ok(Self { value: text.parse()?, text: text.into() })
    }
}

impl<T> Deref for Spelled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Spelled<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> fmt::Display for Spelled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl<T> fmt::Debug for Spelled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl<T> Serialize for Spelled<T> {
    fn serialize<S: Serializer>(&self, format: S) -> Result<S::Ok, S::Error> {
        format.serialize_str(&self.text)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Spelled<T> {
    fn deserialize<D: Deserializer<'de>>(format: D) -> Result<Self, D::Error> {
        super::as_text::deserialize(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_and_values_are_compared() {
        let given: Spelled<f64> = " 1.50 ".parse().unwrap();
        assert_eq!((given.text(), *given), ("1.50", 1.5));
        assert_eq!(given, Spelled::from(1.5));
        assert_eq!(Spelled::from(1.5).text(), "1.5");
        assert!("x".parse::<Spelled<f64>>().is_err());
    }
}
