//! How a node is set up.
use crate::limits::FaceLimits;
use crate::management::ManagementOptions;
use crate::mobility::Mobility;
use crate::shard::ShardOptions;
use crate::suppression::Suppression;
use crate::table::{CsCapacity, CsOptions, DeadNonceOptions, MeasurementOptions};
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;

/// Settings of a node.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The content store; by default there is none.
    pub cs: CsOptions,
    /// What becomes of Data that nobody waits for.
    pub unsolicited: Unsolicited,
    /// When an Interest for which another is pending is forwarded again.
    pub suppression: Suppression,
    /// The strategy of "/", as it is written, for example `best-route`.
    pub strategy: String,
    /// Most Interests that may be pending.
    pub pit_limit: usize,
    /// What each network face may take of it that has no limits of its own.
    pub limits: FaceLimits,
    /// How long the nonces of Interests are remembered that are pending no more.
    pub dead_nonces: DeadNonceOptions,
    /// What strategies may remember.
    pub measurements: MeasurementOptions,
    /// Of the hashes of names: secret on real networks, one for all nodes of a simulated world.
    pub hash_seed: u64,
    /// Draws the nonces of Interests that have none.
    pub rng: Rng,
    /// How what leaves is scheduled at faces toward other machines of which nothing else is said; `None`: in the order in
    /// which it came.
    pub scheduling: Option<Scheduling>,
    /// Whether applications can ask for routes, and how; by default nobody answers them.
    pub management: Option<ManagementOptions>,
    /// Who this node says it is in its answers (`ProviderId`), and in records; `None`: it does not say.
    pub provider_id: Option<u64>,
    /// Whether it tells consumers which of the names that they announce it has in its store; needs a
    /// `provider_id`.
    pub anticipation: Anticipation,
    /// What becomes of Interests whose face is gone.
    pub mobility: Mobility,
    /// Whether applications may ask although no face leads away, since others of the same node answer. Without it they are told
    /// that there is no way out, and wait for one.
    pub answers_itself: bool,
    /// Which part of a forwarder the node is; `None`: all of it. What is said here of tables is said of all parts together.
    pub shard: Option<ShardOptions>,
}

impl NodeOptions {
    /// The same with tables of the size that one worker has, if the node is one.
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

/// What a face may take of the tables of one worker. The rate is checked by the worker that has the face alone.
pub(crate) fn share_of_face(limits: FaceLimits, shard: &ShardOptions) -> FaceLimits {
    let pending = limits.pending.map(|pending| shard.share_of_places(pending));
    FaceLimits { pending, ..limits }
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            cs: CsOptions { capacity: CsCapacity::Packets(0) },
            unsolicited: Unsolicited::DropAll,
            suppression: Suppression::default(),
            strategy: "best-route".to_owned(),
            pit_limit: 1 << 17,
            limits: FaceLimits::default(),
            dead_nonces: DeadNonceOptions::default(),
            measurements: MeasurementOptions::default(),
            hash_seed: 0,
            rng: Rng::from_seed(0),
            scheduling: None,
            management: None,
            provider_id: None,
            anticipation: Anticipation::Off,
            mobility: Mobility::Off,
            answers_itself: false,
            shard: None,
        }
    }
}

/// What becomes of Data that nobody waits for. It is never forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsolicited {
    /// It is dropped.
    #[default]
    DropAll,
    /// If it came from the network, the content store keeps it.
    AdmitNetwork,
}

/// On which announced Interests a node leaves a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anticipation {
    /// On none.
    #[default]
    Off,
    /// On those of which it has an announced name in its store.
    Holders,
    /// On all, so that consumers learn round trips to each node on the way.
    All,
}
