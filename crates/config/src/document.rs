//! The fields of a struct with `serde` as keys of a table: the struct is the only description of its keys.
//!
//! A field is one value (text, a number, true or false) or a list of them. Optional fields are absent while they are `None`.
use crate::schema::Shape;
use crate::tree::{Tree, Value};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{self, Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};

/// The keys of a struct, each with its value.
///
/// # Errors
/// The value is no struct, or one of its fields is more than one value.
pub fn fields<T: Serialize>(of: &T) -> Result<Vec<(&'static str, Option<Value>)>, String> {
    of.serialize(Struct).map_err(|error| error.to_string())
}

/// The struct with `tree` as the value of one key.
///
/// # Errors
/// The problem of the value, with the valid form.
pub fn with<T: Serialize + DeserializeOwned>(
    of: &T,
    key: &'static str,
    tree: &Tree,
) -> Result<T, String> {
    let kept = fields(of)?.into_iter().filter(|(name, _)| *name != key);
    let kept = kept.filter_map(|(name, value)| Some((name, Tree::from(value?))));
    let all: Vec<_> = kept.chain([(key, tree.clone())]).collect();
    let all = all.iter().map(|(name, tree)| (*name, &tree.value));
    T::deserialize(MapDeserializer::<_, Error>::new(all)).map_err(|error| error.to_string())
}

/// The kinds of values that one key of a struct accepts.
pub fn shape<T: Serialize + DeserializeOwned>(of: &T, key: &'static str) -> Shape {
    Shape::probe(|tree| with(of, key, tree))
}

impl<'de> IntoDeserializer<'de, Error> for &Value {
    type Deserializer = Scalar;

    fn into_deserializer(self) -> Scalar {
        Scalar(self.clone())
    }
}

impl<'de> IntoDeserializer<'de, Error> for Scalar {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// One value as the source of a field.
#[derive(Debug)]
pub struct Scalar(Value);

impl<'de> Deserializer<'de> for Scalar {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Text(text) => visitor.visit_string(text),
            Value::Integer(number) => match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(number),
            },
            Value::Number(number) => visitor.visit_f64(number),
            Value::Truth(truth) => visitor.visit_bool(truth),
            Value::List(list) => {
                let values = list.into_iter().map(|tree| Scalar(tree.value));
                visitor.visit_seq(SeqDeserializer::new(values))
            }
            value @ Value::Table(_) => {
                Err(de::Error::custom(format_args!("{value} is more than one value")))
            }
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Truth(truth) => visitor.visit_bool(truth),
            value => Err(de::Error::custom(format_args!("{value} is neither true nor false"))),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Text(text) => visitor.visit_string(text),
            value => Err(de::Error::custom(format_args!("{value} is no string"))),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Text(text) => {
                visitor.visit_enum(IntoDeserializer::<Error>::into_deserializer(text))
            }
            value => Err(de::Error::custom(format_args!("{value} is no string"))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Collects the fields of a struct.
struct Struct;

/// The fields so far.
#[derive(Default)]
struct Collected(Vec<(&'static str, Option<Value>)>);

impl SerializeStruct for Collected {
    type Ok = Vec<(&'static str, Option<Value>)>;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.0.push((key, value.serialize(One)?));
        Ok(())
    }

    fn skip_field(&mut self, key: &'static str) -> Result<(), Error> {
        self.0.push((key, None));
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, Error> {
        Ok(self.0)
    }
}

/// Takes one value; `None` is absent.
struct One;

fn many() -> Error {
    ser::Error::custom("a field is more than one value")
}

fn not_a_struct() -> Error {
    ser::Error::custom("not a struct")
}

fn integer(number: impl TryInto<i64> + std::fmt::Display + Copy) -> Value {
    number.try_into().map_or_else(|_| Value::Text(number.to_string()), Value::Integer)
}

/// Methods of a serializer with the same answer.
macro_rules! each {
    ($($method:ident($($type:ty),*)),+ => $answer:expr) => {$(
        fn $method(self, $(_: $type),*) -> Result<Self::Ok, Error> {
            Err($answer)
        }
    )+};
}

/// Compound values of a serializer, which are errors.
macro_rules! no_compounds {
    ($error:expr) => {
        type SerializeTuple = Impossible<Self::Ok, Error>;
        type SerializeTupleStruct = Impossible<Self::Ok, Error>;
        type SerializeTupleVariant = Impossible<Self::Ok, Error>;
        type SerializeMap = Impossible<Self::Ok, Error>;
        type SerializeStructVariant = Impossible<Self::Ok, Error>;

        fn serialize_newtype_variant<T: ?Sized + Serialize>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<Self::Ok, Error> {
            Err($error)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
            Err($error)
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, Error> {
            Err($error)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Error> {
            Err($error)
        }

        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
            Err($error)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Error> {
            Err($error)
        }
    };
}

impl Serializer for Struct {
    type Ok = Vec<(&'static str, Option<Value>)>;
    type Error = Error;
    type SerializeSeq = Impossible<Self::Ok, Error>;
    type SerializeStruct = Collected;

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Err(not_a_struct())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Collected, Error> {
        Ok(Collected::default())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    each!(
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_f32(f32),
        serialize_f64(f64), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]), serialize_none(),
        serialize_unit(), serialize_unit_struct(&'static str), serialize_unit_variant(&'static str, u32, &'static str)
        => not_a_struct()
    );
    no_compounds!(not_a_struct());
}

/// Collects the values of a list.
#[derive(Default)]
struct Listed(Vec<Tree>);

impl SerializeSeq for Listed {
    type Ok = Option<Value>;
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.0.extend(value.serialize(One)?.map(Tree::from));
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, Error> {
        Ok(Some(Value::List(self.0)))
    }
}

impl Serializer for One {
    type Ok = Option<Value>;
    type Error = Error;
    type SerializeSeq = Listed;
    type SerializeStruct = Impossible<Option<Value>, Error>;

    fn serialize_seq(self, _: Option<usize>) -> Result<Listed, Error> {
        Ok(Listed::default())
    }

    fn serialize_bool(self, truth: bool) -> Result<Self::Ok, Error> {
        Ok(Some(Value::Truth(truth)))
    }

    fn serialize_i8(self, number: i8) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_i16(self, number: i16) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_i32(self, number: i32) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_i64(self, number: i64) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_u8(self, number: u8) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_u16(self, number: u16) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_u32(self, number: u32) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_u64(self, number: u64) -> Result<Self::Ok, Error> {
        Ok(Some(integer(number)))
    }

    fn serialize_f32(self, number: f32) -> Result<Self::Ok, Error> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<Self::Ok, Error> {
        Ok(Some(Value::Number(number)))
    }

    fn serialize_char(self, letter: char) -> Result<Self::Ok, Error> {
        Ok(Some(Value::text(letter)))
    }

    fn serialize_str(self, text: &str) -> Result<Self::Ok, Error> {
        Ok(Some(Value::text(text)))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
    ) -> Result<Self::Ok, Error> {
        self.serialize_str(word)
    }

    fn serialize_none(self) -> Result<Self::Ok, Error> {
        Ok(None)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
        Err(many())
    }

    each!(serialize_bytes(&[u8]), serialize_unit(), serialize_unit_struct(&'static str) => many());
    no_compounds!(many());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    struct Options {
        is_fast: bool,
        retries: u32,
        share: f64,
        #[serde(with = "recoup_core::unit::as_text::interval")]
        pause: std::time::Duration,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    }

    fn change(of: &Options, key: &'static str, value: Value) -> Result<Options, String> {
        with(of, key, &value.into())
    }

    #[test]
    fn fields_have_keys_and_values_in_order() {
        let all = fields(&Options { limit: None, ..Options::default() }).unwrap();
        let keys: Vec<_> = all.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["is-fast", "retries", "share", "pause", "limit"]);
        assert_eq!((&all[0].1, &all[4].1), (&Some(Value::Truth(false)), &None));
        assert!(fields(&5).is_err() && fields(&(1, 2)).is_err());
    }

    #[test]
    fn one_key_changes_one_field() {
        let pause = std::time::Duration::from_millis(10);
        let options = Options { pause, ..Options::default() };
        let limited = change(&options, "limit", Value::Integer(7)).unwrap();
        assert_eq!(limited, Options { limit: Some(7), ..options.clone() });
        let fast = change(&limited, "is-fast", Value::Truth(true)).unwrap();
        assert_eq!(fast, Options { is_fast: true, ..limited });
        let slow = change(&options, "pause", Value::text("1 s")).unwrap();
        assert_eq!(slow.pause.as_secs(), 1);
    }

    #[test]
    fn errors_are_one_line_with_a_remedy() {
        let pause = std::time::Duration::from_millis(10);
        let options = Options { pause, ..Options::default() };
        let message = |key, value| change(&options, key, value).unwrap_err();
        assert!(message("is-fast", Value::text("true")).contains("neither true nor false"));
        assert!(message("pause", Value::Integer(5)).contains("5 has no unit; write a duration"));
        assert!(message("pause", Value::text("0 s")).contains("longer than 0"));
        assert!(message("retries", Value::Integer(-1)).contains("-1"));
        assert!(message("pause", Value::List(Vec::new())).contains("a number with a unit"));
    }
}
