//! The model of a channel, read from a plan.
use super::LossReason;
use crate::model::law::Law;
use crate::model::loss::{Loss, Losses};
use crate::network::{LinkOptions, Order};
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
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
    loss: (Loss, Losses),
    duplicate: (Loss, Losses),
}

/// A plan names a file with a list of losses, and the list is not in its place
/// ([`with_trace_files`](crate::model::loss::with_trace_files)).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: the list in `{file}` has not been read")]
pub struct ChannelError {
    /// The field of the plan.
    pub field: &'static str,
    /// The name of the file.
    pub file: Box<str>,
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
    /// Makes the models of a plan. Chance comes from streams below `rng`: `loss`, `duplicate` and `jitter`.
    ///
    /// # Errors
    /// If a list of losses is still in a file.
    pub fn read(plan: &LinkOptions, rng: &Rng) -> Result<Self, ChannelError> {
        let build = |field: &'static str, loss: &Loss| match loss.unread_file() {
            Some(file) => Err(ChannelError { field, file: file.into() }),
            None => Ok((loss.clone(), loss.build(&rng.substream(field)))),
        };
        Ok(Self {
            rate_bits: plan.rate_bits,
            limit: plan.queue,
            reorder: plan.reorder,
            order: plan.order,
            delay_nanos: u64::try_from(plan.delay.as_nanos()).unwrap_or(u64::MAX),
            jitter: *plan.jitter,
            jitter_rng: rng.substream("jitter"),
            loss: build("loss", &plan.loss)?,
            duplicate: build("duplicate", &plan.duplicate)?,
        })
    }

    /// Draws what becomes of the next frame, which is sent from `begun` on.
    pub(super) fn fate(&mut self, begun: Instant) -> Fate {
        let (loss, duplicate) = (&mut self.loss.1, &mut self.duplicate.1);
        let is_taken = !loss.is_none() && loss.takes(begun);
        let doubled = !duplicate.is_none() && duplicate.takes(begun);
        let way_nanos = match self.jitter {
            Law::None => self.delay_nanos,
            law => self.delay_nanos.saturating_add_signed(law.draw(&mut self.jitter_rng)),
        };
        Fate { is_taken, doubled, way_nanos }
    }

    /// Becomes `other`; equal models go on drawing where they are.
    pub(super) fn replace(&mut self, other: Self) {
        let old = std::mem::replace(self, other);
        if old.loss.0 == self.loss.0 {
            self.loss = old.loss;
        }
        if old.duplicate.0 == self.duplicate.0 {
            self.duplicate = old.duplicate;
        }
        self.jitter_rng = old.jitter_rng;
    }
}
