//! Forms of values that only NDN has: names, content of packets, content stores.
use recoup_config::form::Words;
use recoup_core::unit::{self, Room};
use recoup_packet::name::Name;
use recoup_sim::network::CachePlan;

/// Octets of content of one packet.
pub(super) const CONTENT: Words<u64> = Words::new(
    |text| match unit::octets(text)? {
        octets @ 1..=8600 => Ok(octets),
        _ => Err("a packet holds 1 to 8600 octets of content".into()),
    },
    |octets| unit::print_octets(*octets),
    "write it like \"1024 B\"",
);

/// Room of a content store.
pub(super) const CACHE: Words<CachePlan> = Words::new(
    |text| {
        Ok(match unit::room(text)? {
            Room::Packets(packets) => CachePlan::Packets(packets),
            Room::Octets(octets) => CachePlan::Octets(octets),
            Room::Unlimited => CachePlan::Unlimited,
        })
    },
    |cache| {
        unit::print_room(match cache {
            CachePlan::Packets(packets) => Room::Packets(*packets),
            CachePlan::Octets(octets) => Room::Octets(*octets),
            CachePlan::Unlimited => Room::Unlimited,
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
