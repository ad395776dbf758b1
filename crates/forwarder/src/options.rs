//! The options of a node, each described once, and the configuration that a node is made of.
use crate::limits::FaceLimits;
use crate::management::ManagementOptions;
use crate::mobility::Mobility;
use crate::strategy::{BestRoute, Strategy};
use crate::suppression::Suppression;
use crate::table::policy::{Admission, Replacement};
use crate::table::{CsCapacity, DeadNonceOptions, MeasurementOptions};
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spelled, as_text};
use recoup_transport::unit;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::LazyLock;

/// How a node forwards: the keys of `[node]` in scenario files and in the configuration of a forwarder.
///
/// ```
/// use recoup_forwarder::options::NodeOptions;
/// let options = NodeOptions { strategy: "multipath(split=cost)".parse()?, ..NodeOptions::default() };
/// assert_eq!(options.strategy.to_string(), "multipath(split=cost)");
/// # Ok::<(), recoup_transport::spec::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct NodeOptions {
    /// Capacity of the content store; by default there is none.
    #[serde(serialize_with = "as_text::serialize", deserialize_with = "capacity")]
    pub cache: CsCapacity,
    /// The policy by which a full content store evicts Data.
    pub cache_replacement: Spelled<Replacement>,
    /// The policy by which the content store stores Data.
    pub cache_admission: Spelled<Admission>,
    /// The strategy of "/".
    pub strategy: Spelled<Strategy>,
    /// When an Interest for which another is pending is forwarded again.
    pub suppression: Spelled<Suppression>,
    /// Recovery of Interests whose next hop is gone.
    pub mobility: Spelled<Mobility>,
    /// The policy for unsolicited Data.
    pub unsolicited: Unsolicited,
    /// Data and records name the node.
    pub provider_ids: bool,
    /// Whether the node reports to consumers which announced names its content store holds; it names itself then, too.
    pub anticipation: Anticipation,
}

impl Default for NodeOptions {
    fn default() -> Self {
        /// Printing the specs takes longer than copying them, and each node of a scenario begins with these.
        static DEFAULT: LazyLock<NodeOptions> = LazyLock::new(NodeOptions::initial);
        DEFAULT.clone()
    }
}

impl NodeOptions {
    fn initial() -> Self {
        Self {
            cache: CsCapacity::Packets(0),
            cache_replacement: Replacement::default().into(),
            cache_admission: Admission::default().into(),
            strategy: Strategy::from(BestRoute).into(),
            suppression: Suppression::default().into(),
            mobility: Mobility::Off.into(),
            unsolicited: Unsolicited::DropAll,
            provider_ids: false,
            anticipation: Anticipation::Off,
        }
    }

    /// Whether the node needs a [`provider_id`](NodeConfig::provider_id).
    #[must_use]
    pub fn names_provider(&self) -> bool {
        self.provider_ids || self.anticipation != Anticipation::Off
    }
}

/// A number passes as its text, so that the error names the missing unit.
fn capacity<'de, D: Deserializer<'de>>(format: D) -> Result<CsCapacity, D::Error> {
    unit::as_text::read(format, |text| text.parse())
}

/// Configuration of a node.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// How it forwards. [`provider_id`](Self::provider_id) carries out `provider_ids`.
    pub options: NodeOptions,
    /// Limit of pending Interests.
    pub pit_limit: usize,
    /// Limits of network faces without their own.
    pub limits: FaceLimits,
    /// The dead nonce list.
    pub dead_nonces: DeadNonceOptions,
    /// Limits of the measurements of strategies.
    pub measurements: MeasurementOptions,
    /// Seed of the hashes of names: secret on real networks, the same for all nodes of a simulation.
    pub hash_seed: u64,
    /// Source of nonces for Interests without one, and of recovery sessions.
    pub rng: Rng,
    /// The scheduler of faces toward other machines that have none of their own; `None`: first in, first out.
    pub scheduling: Option<Scheduling>,
    /// Management; `None`: commands are not answered.
    pub management: Option<ManagementOptions>,
    /// The `ProviderId` that the node adds to Data and records; `None`: none.
    pub provider_id: Option<u64>,
    /// Whether applications may send Interests without an uplink, because others of the same node answer. Without it
    /// the node notifies them, and they wait for an uplink.
    pub answers_itself: bool,
}

impl NodeConfig {
    /// A configuration whose hash keys and nonces are drawn from `rng`, which must be seeded with entropy on a network: a peer that
    /// knows the hash key chooses names that collide. The rest has its defaults: no content store, `best-route`.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        Self {
            options: NodeOptions::default(),
            pit_limit: 1 << 17,
            limits: FaceLimits::default(),
            dead_nonces: DeadNonceOptions::default(),
            measurements: MeasurementOptions::default(),
            hash_seed: rng.substream("hash").next_u64(),
            rng,
            scheduling: None,
            management: None,
            provider_id: None,
            answers_itself: false,
        }
    }

    /// This configuration with changed options.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut NodeOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// A configuration for simulations and tests: a run with the same seed repeats.
    #[must_use]
    pub fn deterministic(seed: u64) -> Self {
        Self::new(Rng::from_seed(seed))
    }
}

/// Policy for unsolicited Data, which is never forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unsolicited {
    /// `drop`: it is dropped.
    #[default]
    #[serde(rename = "drop")]
    DropAll,
    /// `admit`: Data from the network is stored.
    #[serde(rename = "admit")]
    AdmitNetwork,
}

/// The announced Interests to which a node adds a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anticipation {
    /// None.
    #[default]
    Off,
    /// Those with an announced name in the content store.
    Holders,
    /// All of them, so that consumers measure the round trip to each node on the path.
    All,
}
