//! An 802.11 medium as a machine: stations that contend for a channel, and their receptions.
//!
//! The crate knows nothing of NDN and nothing of IP: a frame carries any payload that has a length
//! ([`recoup_core::load::Load`]). If the standard leaves a choice, the model is that of ns-3.37. `tests/ns3` checks it
//! against measurements of that simulator; each file lists its differences.
//!
//! [`medium::Medium`] has three verbs. [`handle`](medium::Medium::handle) takes a frame for a station,
//! [`poll`](medium::Medium::poll) reports arrivals and losses, [`deadline`](medium::Medium::deadline) names the time of
//! the next call. It reads no clock: the caller's event loop gives the time, and one seed repeats a run.
//!
//! Three saturated stations send to a fourth one over 802.11g at 54 Mbit/s:
//!
//! ```
//! use recoup_core::{random::Rng, time::Instant};
//! use recoup_wifi::medium::{Medium, MediumInput, MediumOutput};
//! use recoup_wifi::motion::Motion;
//! use recoup_wifi::plan::{Category, MediumPlan};
//! use recoup_wifi::propagation::Position;
//! use recoup_wifi::rate::Rate;
//! use recoup_wifi::{Address, StationId};
//! use bytes::Bytes;
//!
//! let receiver = StationId(0);
//! let stations = (0..4).map(|n| Motion::still(Position { x: 5.0 * f64::from(n), y: 0.0 }));
//! let mut medium = Medium::new(MediumPlan::g(Rate::Ofdm(7)), stations.collect(), &Rng::from_seed(1));
//! let datagram = Bytes::from_static(&[0; 1500]);
//! let send = |medium: &mut Medium<Bytes>, now, from| {
//!     let (to, category) = (Address::Station(receiver), Category::BestEffort);
//!     medium.handle(now, MediumInput::Frame { from, to, category, load: datagram.clone() });
//! };
//! // Each sender always has two frames queued.
//! for from in [1, 1, 2, 2, 3, 3] {
//!     send(&mut medium, Instant::ZERO, StationId(from));
//! }
//! let (end, mut bytes) = (Instant::from_millis(1_000), 0);
//! while let Some(now) = medium.deadline().filter(|now| *now <= end) {
//!     while let Some(output) = medium.poll(now) {
//!         match output {
//!             MediumOutput::Arrived { from, load, .. } => {
//!                 bytes += load.len();
//!                 send(&mut medium, now, from);
//!             }
//!             MediumOutput::Lost { from, .. } => send(&mut medium, now, from),
//!             _ => {}
//!         }
//!     }
//! }
//! println!("{:.1} Mbit/s", bytes as f64 * 8.0 / 1e6);
//! assert!((20.0..30.0).contains(&(bytes as f64 * 8.0 / 1e6)));
//! ```
//!
//! | topic | module |
//! |---|---|
//! | rates, and durations of frames | [`rate`] |
//! | description of a medium, as data | [`plan`] |
//! | loss, delay, fading, motion, stations in range | [`propagation`], [`fading`], [`law`] (as text), [`motion`], `links` |
//! | reception by SINR | [`error`], `receiver`, `radio` |
//! | channel access | `access` |
//! | exchanges of frames | [`medium`] and its submodules |
//! | access points, beacons, association | `association`, `medium/membership.rs` |
//! | aggregates and block acknowledgement, rate adaptation | `medium/block.rs`, `reorder`, `minstrel`, `arf` |
mod access;
mod air;
mod arf;
mod association;
mod content;
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
mod receiver;
mod reorder;

/// Number of a station: its place in the list from which the medium was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// Destination of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A station, which acknowledges it.
    Station(StationId),
    /// All stations in range, without acknowledgement.
    All,
}
