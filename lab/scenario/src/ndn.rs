//! Forms of values that only NDN has: names, content of packets.
use recoup_config::form::Words;
use recoup_core::unit;
use recoup_packet::name::Name;

/// Bytes of content of one packet.
pub(super) const CONTENT: Words<u64> = Words::new(
    |text| match unit::bytes(text)? {
        bytes @ 1..=8600 => Ok(bytes),
        _ => Err("a packet holds 1 to 8600 bytes of content".into()),
    },
    |bytes| unit::print_bytes(*bytes),
    "write it like \"1024 B\"",
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
