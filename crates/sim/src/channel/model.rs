//! The model of a channel, read from a plan.
use super::LossReason;
use crate::model::law::Law;
use crate::model::loss::Loss;
use crate::network::{LinkOptions, Order};
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::spec::SpecError;
use recoup_transport::time::Instant;

/// A channel's properties, ready to draw from.
#[derive(Debug)]
pub struct ChannelModel {
    /// Bits per second; 0 means without limit.
    pub rate_bits: u64,
    /// Limit of the queue: in front of the rate, or of the queue and the frames on their way to it.
    pub limit: QueueLimit,
    /// Packets may overtake each other.
    pub reorder: bool,
    /// The order of rate and delay.
    pub order: Order,
    delay_nanos: u64,
    jitter: Law,
    jitter_rng: Rng,
    loss: Loss,
    duplicate: Loss,
}

/// Why a plan is no channel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field}: {source}")]
pub struct ChannelError {
    /// The wrong field of the plan.
    pub field: &'static str,
    /// The error in it.
    pub source: SpecError,
}

/// Random decisions about one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    is_taken: bool,
    pub(super) doubled: bool,
    /// Time on the way.
    pub(super) way_nanos: u64,
}

impl Fate {
    pub(super) fn lost(&self, is_out: bool) -> Option<LossReason> {
        match (is_out, self.is_taken) {
            (true, _) => Some(LossReason::Outage),
            (false, true) => Some(LossReason::Model),
            (false, false) => None,
        }
    }
}

impl ChannelModel {
    /// Reads a plan. Chance comes from streams below `rng`: `loss`, `duplicate` and `jitter`.
    ///
    /// # Errors
    /// If a model cannot be read; the error names the field.
    pub fn read(plan: &LinkOptions, rng: &Rng) -> Result<Self, ChannelError> {
        let wrong = |field| move |source| ChannelError { field, source };
        Ok(Self {
            rate_bits: plan.rate_bits,
            limit: plan.queue,
            reorder: plan.reorder,
            order: plan.order,
            delay_nanos: u64::try_from(plan.delay.as_nanos()).unwrap_or(u64::MAX),
            jitter: Law::parse(&plan.jitter).map_err(wrong("jitter"))?,
            jitter_rng: rng.substream("jitter"),
            loss: Loss::parse(&plan.loss, &rng.substream("loss")).map_err(wrong("loss"))?,
            duplicate: Loss::parse(&plan.duplicate, &rng.substream("duplicate"))
                .map_err(wrong("duplicate"))?,
        })
    }

    /// Draws what becomes of the next frame, which is sent from `begun` on.
    pub(super) fn fate(&mut self, begun: Instant) -> Fate {
        let is_taken = !self.loss.is_none() && self.loss.takes(begun);
        let doubled = !self.duplicate.is_none() && self.duplicate.takes(begun);
        let way_nanos = match self.jitter {
            Law::None => self.delay_nanos,
            law => self.delay_nanos.saturating_add_signed(law.draw(&mut self.jitter_rng)),
        };
        Fate { is_taken, doubled, way_nanos }
    }

    /// Becomes `other`; models that are written alike go on drawing where they are.
    pub(super) fn replace(&mut self, other: Self) {
        let old = std::mem::replace(self, other);
        if old.loss.to_string() == self.loss.to_string() {
            self.loss = old.loss;
        }
        if old.duplicate.to_string() == self.duplicate.to_string() {
            self.duplicate = old.duplicate;
        }
        self.jitter_rng = old.jitter_rng;
    }
}
