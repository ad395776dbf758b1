//! For `#[serde(with = "unit::as_text::interval")]` and the like: a quantity is stored as text with its unit.
use super::UnitError;
use serde::Deserializer;
use serde::de::{Error, Visitor};
use std::fmt;

macro_rules! stored {
    ($($name:ident: $type:ty, $print:path;)+) => {$(
        #[doc = concat!("A value that [`unit::", stringify!($name), "`](super::", stringify!($name), ") reads.")]
        pub mod $name {
            use serde::{Deserializer, Serializer};

            /// Stores the text.
            ///
            /// # Errors
            /// Those of the format.
            pub fn serialize<S: Serializer>(value: &$type, format: S) -> Result<S::Ok, S::Error> {
                format.serialize_str(&$print(*value))
            }

            /// Parses the text.
            ///
            /// # Errors
            /// The text is not such a quantity, or the format has no text.
            pub fn deserialize<'de, D: Deserializer<'de>>(format: D) -> Result<$type, D::Error> {
                super::read(format, super::super::$name)
            }
        }
    )+};
}

stored! {
    duration: std::time::Duration, crate::unit::print_duration;
    interval: std::time::Duration, crate::unit::print_duration;
    milliseconds: std::time::Duration, crate::unit::print_duration;
    content_bytes: u64, crate::unit::print_bytes;
    rate: u64, crate::unit::print_rate;
    few_bytes: u32, super::print_few;
}

fn print_few(bytes: u32) -> String {
    super::print_bytes(bytes.into())
}

macro_rules! stored_if_any {
    ($($name:ident: $of:ident, $type:ty;)+) => {$(
        #[doc = concat!("A value that [`unit::", stringify!($of), "`](super::", stringify!($of), ") reads, or none.")]
        pub mod $name {
            use serde::{Deserialize, Deserializer, Serializer};

            struct Stored($type);

            impl<'de> Deserialize<'de> for Stored {
                fn deserialize<D: Deserializer<'de>>(format: D) -> Result<Self, D::Error> {
                    super::$of::deserialize(format).map(Self)
                }
            }

            /// Stores the text.
            ///
            /// # Errors
            /// Those of the format.
            pub fn serialize<S: Serializer>(
                value: &Option<$type>,
                format: S,
            ) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => super::$of::serialize(value, format),
                    None => format.serialize_none(),
                }
            }

            /// Parses the text.
            ///
            /// # Errors
            /// The text is not such a quantity.
            pub fn deserialize<'de, D: Deserializer<'de>>(
                format: D,
            ) -> Result<Option<$type>, D::Error> {
                Ok(Option::<Stored>::deserialize(format)?.map(|Stored(value)| value))
            }
        }
    )+};
}

stored_if_any! {
    few_bytes_if_any: few_bytes, u32;
    interval_if_any: interval, std::time::Duration;
}

/// Reads text by `read`. A number passes as its text, so that the error names the missing unit.
///
/// # Errors
/// The text is not such a quantity, or the format has neither text nor numbers.
pub fn read<'de, T, D: Deserializer<'de>>(
    format: D,
    read: fn(&str) -> Result<T, UnitError>,
) -> Result<T, D::Error> {
    struct Quantity<T>(fn(&str) -> Result<T, UnitError>);

    impl<T> Visitor<'_> for Quantity<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number with a unit")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            (self.0)(text).map_err(E::custom)
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }
    format.deserialize_any(Quantity(read))
}
