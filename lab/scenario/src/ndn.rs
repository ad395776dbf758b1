//! Forms of values that only NDN has: names, content of packets.
use recoup_config::form::Words;
use recoup_core::unit;
use recoup_packet::name::Name;
use recoup_sim::workload::size::{ContentSizes, MOST_BYTES};

/// Bytes of content of one packet, or their distribution.
pub(super) const CONTENT: Words<ContentSizes> = Words::new(
    |text| {
        if text.contains('(') {
            return ContentSizes::parse(text);
        }
        match unit::bytes(text)? {
            bytes @ 1..=MOST_BYTES => Ok(bytes.into()),
            _ => Err("a packet holds 1 to 8600 bytes of content".into()),
        }
    },
    ToString::to_string,
    "write it like \"1024 B\" or \"trace(file=log.csv)\"",
);

/// A name of NDN.
pub(super) const NAME: Words<Name> = Words::new(
    |text| {
        if !text.starts_with('/') && !text.starts_with("ndn:/") {
            return Err(format!("`{text}` is no name; a name begins with `/`"));
        }
        text.parse().map_err(|error| format!("`{text}` is no name: {error}"))
    },
    ToString::to_string,
    "write a name like \"/movie\"",
);
