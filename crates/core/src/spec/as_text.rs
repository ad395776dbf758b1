//! For `#[serde(with = "as_text")]`: the value is stored as its spec.
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use std::fmt::Display;
use std::str::FromStr;

/// Stores what the value prints.
///
/// # Errors
/// Those of the format.
pub fn serialize<T: Display, S: Serializer>(value: &T, format: S) -> Result<S::Ok, S::Error> {
    format.collect_str(value)
}

/// Reads the text back.
///
/// # Errors
/// If the text is no such value, or the format has none.
pub fn deserialize<'de, T, D>(format: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(format)?.parse().map_err(D::Error::custom)
}
