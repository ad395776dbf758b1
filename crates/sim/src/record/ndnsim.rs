//! Traces with the columns of ndnSIM's tracers, for scripts that read those.
//!
//! Headers and meanings are those of ndnSIM 2.9; times are seconds, `Kilobytes` are 1024 octets, rates
//! are smoothed (0.8 of the newest period, 0.2 of the value before) and `Raw` is the count of the
//! period. Differences:
//!
//! - all four: nodes are called by their names; what separates columns is a comma, not a tab; only whole periods are
//!   written, as there.
//! - `ndnsim-rate` (L3RateTracer): network faces only, numbered from 0; `FaceDescr` is the link and its
//!   direction, away from the node; octets are those of the network packet, always known here. The
//!   types `InSatisfiedInterests`, `InTimedOutInterests`, `OutSatisfiedInterests` and
//!   `OutTimedOutInterests` are missing: nodes tell of satisfied and expired entries, not of their
//!   faces. `SatisfiedInterests` and `TimedOutInterests` of face -1 are there.
//! - `ndnsim-delay` (AppDelayTracer): `HopCount` is -1 (unknown). `AppId` counts a node's applications
//!   from 0.
//! - `ndnsim-cache` (CsTracer): real counts; since ndnSIM 2.8 its own are 0.
//! - `ndnsim-drop` (L2RateTracer): packets that the node's queue refused, and those that the channels that it
//!   sends on lost, for whatever reason; kilobytes are those of the latter alone.
mod cache;
mod delay;
mod drop;
mod rate;

pub(super) use cache::CacheTrace;
pub(super) use delay::DelayTrace;
pub(super) use drop::DropTrace;
pub(super) use rate::RateTrace;

use super::table::Cell;

/// Packets and octets of a period, and their smoothed rates.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    packets: u64,
    octets: u64,
    packet_rate: f64,
    kilobyte_rate: f64,
}

impl Rate {
    const NEWEST: f64 = 0.8;

    fn add(&mut self, octets: u64) {
        self.packets += 1;
        self.octets += octets;
    }

    /// Ends a period of so many seconds: the four numbers of a row.
    fn close<'a>(&mut self, seconds: f64) -> [Cell<'a>; 4] {
        let smooth = |new: f64, old: f64| Self::NEWEST * new + (1.0 - Self::NEWEST) * old;
        let (packets, kilobytes) = (self.packets as f64, self.octets as f64 / 1024.0);
        self.packet_rate = smooth(packets / seconds, self.packet_rate);
        self.kilobyte_rate = smooth(kilobytes / seconds, self.kilobyte_rate);
        (self.packets, self.octets) = (0, 0);
        [self.packet_rate, self.kilobyte_rate, packets, kilobytes].map(Cell::F64)
    }
}
