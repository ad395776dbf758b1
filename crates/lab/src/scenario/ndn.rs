//! Forms of values that only NDN has: names, content of packets, content stores.
use recoup_config::form::Words;
use recoup_core::unit::{self, Capacity};
use recoup_packet::name::Name;
use recoup_sim::network::CachePlan;

/// Octets of content of one packet.
pub(super) const CONTENT: Words<u64> = Words::new(
    |text| match unit::bytes(text)? {
        octets @ 1..=8600 => Ok(octets),
        _ => Err("a packet holds 1 to 8600 octets of content".into()),
    },
    |octets| unit::print_bytes(*octets),
    "write it like \"1024 B\"",
);

/// Capacity of a content store.
pub(super) const CACHE: Words<CachePlan> = Words::new(
    |text| {
        Ok(match unit::capacity(text)? {
            Capacity::Packets(packets) => CachePlan::Packets(packets),
            Capacity::Bytes(octets) => CachePlan::Octets(octets),
            Capacity::Unlimited => CachePlan::Unlimited,
        })
    },
    |cache| {
        unit::print_capacity(match cache {
            CachePlan::Packets(packets) => Capacity::Packets(*packets),
            CachePlan::Octets(octets) => Capacity::Bytes(*octets),
            CachePlan::Unlimited => Capacity::Unlimited,
        })
    },
    "write it like \"1000 packets\", \"10 MiB\" or \"unlimited\"",
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
