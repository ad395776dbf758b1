//! Policies of a content store: which Data it evicts (*replacement*), and which Data it stores (*admission*).
//!
//! Both are chosen by a spec in `NodeOptions`, and programs register their own. The content store owns the Data; a
//! replacement policy sees slots, which are small numbers that are reused.
//!
//! ```
//! use recoup_forwarder::table::policy::{Admission, Replacement};
//! let replacement: Replacement = "perfect-lfu(names=10000)".parse()?;
//! let admission: Admission = "prob(p=0.1)".parse()?;
//! assert_eq!((replacement.to_string(), admission.to_string()), ("perfect-lfu(names=10000)".into(), "prob(p=0.1)".into()));
//! # Ok::<(), recoup_transport::spec::SpecError>(())
//! ```
//!
//! A program registers a policy of its own, whose name scenario files and configurations then know:
//!
//! ```
//! use recoup_forwarder::options::NodeOptions;
//! use recoup_forwarder::table::policy::{Admission, AdmissionPolicy, Candidate};
//! use std::fmt;
//!
//! /// Stores Data of at most a number of bytes.
//! #[derive(Clone, Debug)]
//! struct Small(f64);
//!
//! impl AdmissionPolicy for Small {
//!     fn admits(&mut self, candidate: &Candidate<'_>) -> bool {
//!         candidate.data.encoded_len() as f64 <= self.0
//!     }
//! }
//!
//! impl fmt::Display for Small {
//!     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         write!(f, "small(bytes={})", self.0)
//!     }
//! }
//!
//! Admission::register("small", |mut spec| {
//!     let bytes = spec.number("bytes", 1_000.0, 1.0..=1e6, "a number from 1 to 1000000")?;
//!     spec.finish()?;
//!     Ok(Admission::custom(Small(bytes)))
//! });
//! let options = NodeOptions { cache_admission: "small(bytes=200)".parse()?, ..NodeOptions::default() };
//! assert_eq!(options.cache_admission.to_string(), "small(bytes=200)");
//! # Ok::<(), recoup_transport::spec::SpecError>(())
//! ```
//!
//! `recoup_core::spec::family::set_version` states a version, which becomes part of the identity of scenarios.
mod copy_down;
mod fifo;
mod lfu;
mod lru;
mod perfect_lfu;
mod prob;
mod random;
mod ranking;
#[cfg(test)]
mod tests;

pub use copy_down::{Lcd, Mcd};
pub use fifo::Fifo;
pub use lfu::Lfu;
pub use lru::Lru;
pub use perfect_lfu::PerfectLfu;
pub use prob::{Lce, Prob};
pub use random::Random;

use recoup_core::family;
use recoup_packet::data::Data;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::Instant;
use std::fmt;

/// Stored Data, for policies.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The current time.
    pub now: Instant,
    /// The slot of the Data, constant until its removal.
    pub slot: u32,
    /// Hash of its name, with the key of the node.
    pub hash: u64,
    /// The Data.
    pub data: &'a Data,
}

/// Selects the Data that a full content store evicts.
///
/// Its text (`Display`) parses to the [`Replacement`] of an equal policy in its initial state.
pub trait ReplacementPolicy: fmt::Debug + fmt::Display + Send {
    /// The source of random draws; called once, before anything is stored.
    fn seed(&mut self, rng: Rng) {
        let _ = rng;
    }

    /// Data was stored in a slot that was free.
    fn on_insert(&mut self, entry: &Entry<'_>);

    /// Data answered an Interest.
    fn on_hit(&mut self, entry: &Entry<'_>);

    /// Newer Data of the same name replaced the Data of a slot.
    fn on_replace(&mut self, entry: &Entry<'_>) {
        self.on_hit(entry);
    }

    /// No Data answered an Interest, whose name has this hash.
    fn on_miss(&mut self, now: Instant, hash: u64) {
        let _ = (now, hash);
    }

    /// A slot was freed, by eviction or erasure.
    fn on_remove(&mut self, slot: u32);

    /// The slot to evict next; `None` if no slot is in use.
    fn victim(&mut self) -> Option<u32>;

    /// Whether new Data, whose name has this hash, may displace the next victim. It is asked if the store is full.
    fn displaces(&mut self, now: Instant, hash: u64) -> bool {
        let _ = (now, hash);
        true
    }
}

/// The copies of Data that the nodes between a content store and the consumer keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyDown {
    /// Each node decides for itself.
    #[default]
    Off,
    /// The first store below the one that answered.
    Leave,
    /// As `Leave`, and the store that answered erases its own.
    Move,
}

/// New Data for a content store, for policies.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The current time.
    pub now: Instant,
    /// Hash of its name, with the key of the node.
    pub hash: u64,
    /// The Data.
    pub data: &'a Data,
}

/// Selects the Data that a content store stores. It is not asked about Data that replaces stored Data of its name.
///
/// Its text (`Display`) parses to the [`Admission`] of an equal policy in its initial state.
pub trait AdmissionPolicy: fmt::Debug + fmt::Display + Send {
    /// The source of random draws; called once, before the first Data.
    fn seed(&mut self, rng: Rng) {
        let _ = rng;
    }

    /// Whether the Data is stored.
    fn admits(&mut self, candidate: &Candidate<'_>) -> bool;

    /// Whether nodes downstream keep further copies of what this node has stored.
    fn copy_down(&self) -> CopyDown {
        CopyDown::Off
    }
}

family! {
    /// A replacement policy with its parameters; `lfu` is an example.
    pub enum Replacement: "replacement policy", ReplacementPolicy {
        Lru(Lru): "lru" => |spec| without_parameters(spec, Lru::default());
        Fifo(Fifo): "fifo" => |spec| without_parameters(spec, Fifo::default());
        Lfu(Lfu): "lfu" => |spec| without_parameters(spec, Lfu::default());
        PerfectLfu(PerfectLfu): "perfect-lfu" => PerfectLfu::from_spec;
        Random(Random): "random" => |spec| without_parameters(spec, Random::default());
    }
}

impl Default for Replacement {
    fn default() -> Self {
        Self::Lru(Lru::default())
    }
}

family! {
    /// An admission policy with its parameters, such as `prob(p=0.1)`.
    pub enum Admission: "admission policy", AdmissionPolicy {
        Lce(Lce): "lce" => |spec| without_parameters(spec, Lce);
        Prob(Prob): "prob" => Prob::from_spec;
        Lcd(Lcd): "lcd" => |spec| without_parameters(spec, Lcd);
        Mcd(Mcd): "mcd" => |spec| without_parameters(spec, Mcd);
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self::Lce(Lce)
    }
}

fn without_parameters<P>(spec: Spec<'_>, policy: P) -> Result<P, SpecError> {
    spec.finish()?;
    Ok(policy)
}
