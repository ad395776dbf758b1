//! For `#[serde(with = "queue::as_rooms")]`: a limit is stored as `"32 packets"`, `"64 KiB"`, `"unlimited"`, or a list of both
//! limits. On a command line a comma separates them.
use super::QueueLimit;
use crate::unit::{self, Capacity};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use std::fmt;
use std::str::FromStr;

const EXAMPLE: &str =
    "write it like \"32 packets\", \"64 KiB\", [\"32 packets\", \"64 KiB\"] or \"unlimited\"";

impl QueueLimit {
    /// The limit of all rooms, one for each unit.
    fn of(rooms: &[&str]) -> Result<Self, String> {
        let mut limit = Self::UNLIMITED;
        if rooms.is_empty() {
            return Err(EXAMPLE.into());
        }
        for room in rooms {
            let is_second = match unit::capacity(room).map_err(|error| error.to_string())? {
                Capacity::Packets(packets) => limit.packets.replace(packets).is_some(),
                Capacity::Bytes(bytes) => limit.bytes.replace(bytes).is_some(),
                Capacity::Unlimited => rooms.len() > 1,
            };
            if is_second {
                return Err(format!("a queue has one limit of each kind; {EXAMPLE}"));
            }
        }
        Ok(limit)
    }

    /// Its rooms as text; none without a limit.
    fn rooms(&self) -> Vec<String> {
        let rooms = [self.packets.map(Capacity::Packets), self.bytes.map(Capacity::Bytes)];
        rooms.into_iter().flatten().map(unit::print_capacity).collect()
    }
}

impl FromStr for QueueLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::of(&text.split(',').collect::<Vec<_>>())
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rooms().as_slice() {
            [] => f.pad("unlimited"),
            rooms => f.pad(&rooms.join(", ")),
        }
    }
}

/// Stores the text, or a list of both.
///
/// # Errors
/// Those of the format.
pub fn serialize<S: Serializer>(limit: &QueueLimit, format: S) -> Result<S::Ok, S::Error> {
    match limit.rooms().as_slice() {
        [] => format.serialize_str("unlimited"),
        [room] => format.serialize_str(room),
        rooms => {
            let mut list = format.serialize_seq(Some(rooms.len()))?;
            rooms.iter().try_for_each(|room| list.serialize_element(room))?;
            list.end()
        }
    }
}

/// Reads the text, or a list of texts.
///
/// # Errors
/// They are no limit.
pub fn deserialize<'de, D: Deserializer<'de>>(format: D) -> Result<QueueLimit, D::Error> {
    struct Rooms;

    impl<'de> Visitor<'de> for Rooms {
        type Value = QueueLimit;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a queue such as \"32 packets\"")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<QueueLimit, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<QueueLimit, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<QueueLimit, A::Error> {
            let mut rooms: Vec<String> = Vec::new();
            while let Some(room) = list.next_element()? {
                rooms.push(room);
            }
            let rooms: Vec<_> = rooms.iter().map(String::as_str).collect();
            QueueLimit::of(&rooms).map_err(A::Error::custom)
        }
    }
    format.deserialize_any(Rooms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_print_what_they_parse() {
        for text in ["32 packets", "64 KiB", "unlimited", "32 packets, 64 KiB"] {
            assert_eq!(text.parse::<QueueLimit>().unwrap().to_string(), text);
        }
        assert_eq!("0".parse(), Ok(QueueLimit::of_packets(0)));
        for wrong in ["", "32", "5 apples", "1 packet, 2 packets", "unlimited, 1 packet"] {
            assert!(wrong.parse::<QueueLimit>().is_err(), "{wrong}");
        }
    }
}
