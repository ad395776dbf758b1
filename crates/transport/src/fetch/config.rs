//! Configuration of a fetch, and the state of the algorithms that it owns.
use super::assemble::Delivery;
use super::belonging::Belonging;
use super::discover::version_of;
use super::limit::RateLimit;
use super::macroflow::{Macroflow, Member};
use super::options::FetchOptions;
use crate::loss::LossDetector;
use crate::random::Rng;
use crate::rto::{RtoEstimator, RttSample};
use crate::time::{Duration, Instant};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::{AutoVerifier, Verifier};
use std::ops::Range;

/// Configuration of a fetch. It does not change during the fetch.
pub struct FetchConfig {
    /// Name of the object, with or without a version.
    pub name: Name,
    /// Options. [`verifier`](Self::verifier) carries out [`FetchOptions::verify`].
    pub options: FetchOptions,
    /// The fetch ends once its object is known ([`Report::Resolved`](crate::application::Report::Resolved)), without content.
    pub only_discovers: bool,
    /// First segment to fetch.
    pub first: u64,
    /// Last segment to fetch; `None` means the object's last.
    pub last: Option<u64>,
    /// Segments already received: ascending, disjoint. None with [`Delivery::Ordered`], which delivers every segment.
    pub held: Vec<Range<u64>>,
    /// Number of the object's last segment, if it is known and no version is discovered. If all segments up to it are
    /// held, the fetch ends without any Interest.
    pub known_last: Option<u64>,
    /// The content that segments have to belong to, if it is known from an earlier fetch of the same version.
    pub belonging: Belonging,
    /// Version that the owner has already. If discovery shows that it is the latest version, the fetch ends
    /// ([`Report::Kept`](crate::application::Report::Kept)).
    pub kept: Option<Kept>,
    /// Order of the delivery of content.
    pub delivery: Delivery,
    /// Judge of every Data packet. If it judges by chains of certificates, the fetch loop fetches them.
    pub verifier: Box<dyn Verifier>,
    /// Source of nonces, and of what the congestion control draws.
    pub rng: Rng,
    /// The fetch ends if the first answer takes longer than this. `None`: only the other limits hold.
    pub first_answer: Option<Duration>,
    /// Limit of the rate at which Data arrives.
    pub rate_limit: Option<RateLimit>,
}

impl FetchConfig {
    /// The whole object `name`, in any order, verified by digest where a packet has one ([`AutoVerifier`]).
    pub fn new(name: Name, options: FetchOptions, rng: Rng) -> Self {
        Self {
            name,
            options,
            only_discovers: false,
            first: 0,
            last: None,
            held: Vec::new(),
            known_last: None,
            belonging: Belonging::Unknown,
            kept: None,
            delivery: Delivery::Unordered,
            verifier: Box::new(AutoVerifier),
            rng,
            first_answer: None,
            rate_limit: None,
        }
    }
}

/// An object that the owner of a fetch has already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name, with the version.
    pub object: Name,
    /// Its identifier, if its producer states one.
    pub id: Option<ObjectId>,
}

impl Kept {
    /// Whether a discovered object is this one. Without identifiers, the name has to have a version.
    pub(super) fn is(&self, object: &Name, belonging: Belonging) -> bool {
        self.object == *object
            && self.id == belonging.id()
            && (self.id.is_some() || version_of(object).is_some())
    }
}

/// The configuration of a fetch, and the state of what it has chosen.
pub(super) struct Control {
    pub(super) config: FetchConfig,
    /// Estimator of the retransmission timeout.
    pub(super) rto: Box<dyn RtoEstimator>,
    /// Discovery has measured a round trip to this object.
    pub(super) is_measured: bool,
    /// How many contents an Interest announces.
    pub(super) announces: usize,
    /// Congestion control of the path.
    pub(super) congestion: Member,
    /// Rule that declares a segment lost before its timer expires.
    pub(super) loss: Box<dyn LossDetector>,
    /// Naming convention of segments: that of the name or of its discovery, or else that of the options.
    pub(super) convention: Convention,
    /// Source of nonces.
    pub(super) rng: Rng,
}

/// Capacity of a face's receive buffer.
#[derive(Debug, Default)]
pub(super) struct ReceiveBuffer {
    /// Size in bytes, if it is limited.
    pub(super) bytes: Option<u64>,
    /// Number of applications that share it; 0 as 1.
    pub(super) among: u64,
}

impl ReceiveBuffer {
    /// The share of one application, in bytes.
    pub(super) fn share(&self) -> Option<u64> {
        self.bytes.map(|bytes| bytes / self.among.max(1))
    }
}

impl Control {
    /// Builds the algorithms of a fetch in `macroflow`.
    pub(super) fn new(config: FetchConfig, macroflow: &Macroflow, now: Instant) -> Self {
        let FetchOptions { rto, loss, convention, .. } = &config.options;
        let mut rto = rto.build();
        if let Some(rtt) = macroflow.srtt() {
            // The first segments need not wait for the timeout of an unknown path.
            rto.on_sample(now, &RttSample::new(config.first, rtt));
        }
        Self {
            announces: rto.anticipating().map_or(0, |it| it.announces()),
            rto,
            is_measured: false,
            congestion: macroflow.join(now, &config),
            loss: loss.build(),
            convention: *convention,
            rng: config.rng.clone(),
            config,
        }
    }

    /// The Interest with a fresh nonce and a lifetime that outlasts the timeout `rto`.
    pub(super) fn finish(&mut self, mut interest: Interest, rto: Duration) -> Interest {
        interest.nonce = Some(self.rng.next_u32());
        let lifetime = self.config.options.lifetime.max(rto);
        interest.lifetime = Some(if self.rto.sets_lifetime() { rto } else { lifetime });
        interest
    }
}
