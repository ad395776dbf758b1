//! The 802.11 medium: stations that contend for a channel, and what they hear of each other.
//!
//! [`medium::Medium`] is a machine like a channel, generic over what it carries, but with many ends: frames
//! are handed to it for a station and come out at others, or are lost with a reason. Inside it are
//! the stations' MACs and receivers, and the way between them. The model is that of ns-3.37 where the
//! standard leaves a choice, and `tests/wifi` holds it to measurements of that simulator; each file says
//! where the two differ.
//!
//! | what | where |
//! |---|---|
//! | rates, and how long a frame lasts | [`rate`] |
//! | what a medium is made of, as data | [`plan`] |
//! | loss, delay, fading, motion, who hears whom | [`propagation`], [`fading`], [`law`] (as text), [`motion`], `links` |
//! | what is received at which SINR | [`error`], `ear`, `radio` |
//! | when a station may send | `access` |
//! | exchanges of frames | [`medium`] and what is below it |
//! | access points, beacons, who belongs to whom | `association`, `medium/membership.rs` |
//! | aggregates and block acknowledgement, rates by trying | `medium/block.rs`, `reorder`, `minstrel` |
mod access;
mod air;
mod association;
mod content;
mod ear;
pub mod error;
pub mod fading;
pub mod law;
mod links;
pub mod medium;
mod minstrel;
pub mod motion;
pub mod plan;
pub mod propagation;
mod radio;
pub mod rate;
mod reorder;

/// Number of a station: its place in the list from which the medium was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// For whom a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// One station, which acknowledges it.
    Station(StationId),
    /// Whoever hears it; nobody acknowledges it.
    All,
}
