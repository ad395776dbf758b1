//! Serialization of names: as URIs in human-readable formats, as TLV-VALUE in others.
use super::Name;
use bytes::Bytes;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, format: S) -> Result<S::Ok, S::Error> {
        if format.is_human_readable() {
            format.collect_str(self)
        } else {
            format.serialize_bytes(self.value())
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(format: D) -> Result<Self, D::Error> {
        if format.is_human_readable() {
            String::deserialize(format)?.parse().map_err(D::Error::custom)
        } else {
            Self::from_value(Bytes::deserialize(format)?).map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn text_formats_hold_names_as_uris() {
        let stored: StrDeserializer<'_, Error> = "/a/b%20c".into_deserializer();
        assert_eq!(Name::deserialize(stored), Ok("/a/b%20c".parse().unwrap()));
        let stored: StrDeserializer<'_, Error> = "a//b".into_deserializer();
        assert!(Name::deserialize(stored).is_err());
    }
}
