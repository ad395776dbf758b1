//! The model of a channel, read from a plan.
use super::LossReason;
use crate::link::{LinkOptions, Order, OverTime};
use crate::model::law::Law;
use crate::model::loss::{Loss, Losses};
use crate::model::rate::Rate;
use crate::model::trace::{DelayTrace, RateTrace, Trace};
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::sync::Arc;

/// A channel's properties, ready to draw from.
#[derive(Debug)]
pub struct ChannelModel {
    /// Bits per second; 0 means without limit.
    pub rate_bits: u64,
    rate_trace: Option<Arc<RateTrace>>,
    /// Limit of the queue: in front of the rate, or of the queue and the frames on their way to it.
    pub limit: QueueLimit,
    /// Packets may overtake each other.
    pub reorder: bool,
    /// The order of rate and delay.
    pub order: Order,
    delay_nanos: u64,
    delay_trace: Option<Arc<DelayTrace>>,
    jitter: Law,
    jitter_rng: Rng,
    loss: (Loss, Losses),
    duplicate: (Loss, Losses),
}

/// A plan names a file, and its content is not in its place ([`with_trace_files`](crate::model::loss::with_trace_files),
/// [`LinkOptions::read_traces`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: the file `{file}` has not been read")]
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
    /// If a file has not been read.
    pub fn read(plan: &LinkOptions, rng: &Rng) -> Result<Self, ChannelError> {
        let build = |field: &'static str, loss: &Loss| match loss.unread_file() {
            Some(file) => Err(ChannelError { field, file: file.into() }),
            None => Ok((loss.clone(), loss.build(&rng.substream(field)))),
        };
        Ok(Self {
            rate_trace: content("rate", plan.rate_trace.as_ref())?,
            delay_trace: content("delay", plan.delay_trace.as_ref())?,
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
    #[inline]
    pub(super) fn fate(&mut self, begun: Instant) -> Fate {
        let (loss, duplicate) = (&mut self.loss.1, &mut self.duplicate.1);
        let is_taken = !loss.is_none() && loss.takes(begun);
        let doubled = !duplicate.is_none() && duplicate.takes(begun);
        let delay_nanos = match &self.delay_trace {
            None => self.delay_nanos,
            Some(trace) => trace.nanos_at(begun),
        };
        let way_nanos = match self.jitter {
            Law::None => delay_nanos,
            law => delay_nanos.saturating_add_signed(law.draw(&mut self.jitter_rng)),
        };
        Fate { is_taken, doubled, way_nanos }
    }

    /// The rate, with nothing left over.
    pub(super) fn rate(&self) -> Rate {
        match &self.rate_trace {
            Some(trace) => Rate::over_time(trace.clone()),
            None => Rate::new(self.rate_bits),
        }
    }

    /// Whether both have the same rate at all times.
    pub(super) fn has_rate_of(&self, other: &Self) -> bool {
        (self.rate_bits, &self.rate_trace) == (other.rate_bits, &other.rate_trace)
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

fn content<T: Trace>(
    field: &'static str,
    over_time: Option<&OverTime<T>>,
) -> Result<Option<Arc<T>>, ChannelError> {
    let Some(over_time) = over_time else { return Ok(None) };
    let unread = || ChannelError { field, file: over_time.file().into() };
    over_time.trace().cloned().map(Some).ok_or_else(unread)
}
