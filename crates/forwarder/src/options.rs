//! Options of a node.
use crate::limits::FaceLimits;
use crate::management::ManagementOptions;
use crate::mobility::Mobility;
use crate::shard::ShardOptions;
use crate::suppression::Suppression;
use crate::table::{CsCapacity, CsOptions, DeadNonceOptions, MeasurementOptions};
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;

/// Options of a node.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The content store; by default there is none.
    pub cs: CsOptions,
    /// The policy for unsolicited Data.
    pub unsolicited: Unsolicited,
    /// Suppression of retransmissions.
    pub suppression: Suppression,
    /// The strategy of "/", for example `best-route`.
    pub strategy: String,
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
    /// Whether the node reports to consumers which announced names its content store holds; needs a `provider_id`.
    pub anticipation: Anticipation,
    /// Recovery of Interests whose next hop is gone.
    pub mobility: Mobility,
    /// Whether applications may send Interests without an uplink, because others of the same node answer. Without it
    /// they are notified that there is none, and wait for one.
    pub answers_itself: bool,
    /// The worker that the node is; `None`: the node is alone. Limits of tables are those of all workers together.
    pub shard: Option<ShardOptions>,
}

impl NodeOptions {
    /// Options whose hash keys and nonces are drawn from `rng`, which must be seeded with entropy on a network: a peer that
    /// knows the hash key chooses names that collide. The other options have their defaults: no content store, `best-route`.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        Self {
            cs: CsOptions { capacity: CsCapacity::Packets(0) },
            unsolicited: Unsolicited::DropAll,
            suppression: Suppression::default(),
            strategy: "best-route".to_owned(),
            pit_limit: 1 << 17,
            limits: FaceLimits::default(),
            dead_nonces: DeadNonceOptions::default(),
            measurements: MeasurementOptions::default(),
            hash_seed: rng.substream("hash").next_u64(),
            rng,
            scheduling: None,
            management: None,
            provider_id: None,
            anticipation: Anticipation::Off,
            mobility: Mobility::Off,
            answers_itself: false,
            shard: None,
        }
    }

    /// Options for simulations and tests: a run with the same seed repeats.
    #[must_use]
    pub fn deterministic(seed: u64) -> Self {
        Self::new(Rng::from_seed(seed))
    }

    /// The options with the table sizes of one worker, if the node is one.
    pub(crate) fn of_worker(mut self) -> Self {
        let Some(shard) = &self.shard else {
            return self;
        };
        self.cs.capacity = self.cs.capacity.map(|all| shard.share(all));
        self.pit_limit = shard.share_of_places(self.pit_limit);
        self.limits = share_of_face(self.limits, shard);
        self.dead_nonces.limit = shard.share_of_places(self.dead_nonces.limit);
        self.measurements.limit = shard.share_of_places(self.measurements.limit);
        self
    }
}

/// Limits of a face at one worker. Only the worker of the face checks the rate.
pub(crate) fn share_of_face(limits: FaceLimits, shard: &ShardOptions) -> FaceLimits {
    let pending = limits.pending.map(|pending| shard.share_of_places(pending));
    FaceLimits { pending, ..limits }
}

/// Policy for unsolicited Data, which is never forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsolicited {
    /// Unsolicited Data is dropped.
    #[default]
    DropAll,
    /// Data from the network is stored.
    AdmitNetwork,
}

/// The announced Interests to which a node adds a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anticipation {
    /// None.
    #[default]
    Off,
    /// Those with an announced name in the content store.
    Holders,
    /// All of them, so that consumers measure the round trip to each node on the path.
    All,
}
