//! Limits of a scheduler, and their division.
//!
//! Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998). A
//! neighbour may hold no more than what is still free. However many neighbours fill the queue, some space stays free
//! for others. In the same way a flow may hold no more than what is free of its neighbour's share.
//!
//! Differences: each flow has a limit of its own besides.
use super::{Rejection, Share};
use crate::spec::{Spec, SpecError, SpecWriter};
use std::ops::Bound;

/// Limits of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchedulerBounds {
    /// Packets of one flow (Udugama et al. state none).
    pub flow_packets: u32,
    /// Packets in each direction.
    pub packets: u64,
    /// Bytes of the packets in each direction.
    pub bytes: u64,
}

impl Default for SchedulerBounds {
    fn default() -> Self {
        Self { flow_packets: 1000, packets: 10_000, bytes: 16 << 20 }
    }
}

/// Queued packets before admission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Of the neighbour.
    pub(super) group_packets: u64,
    /// Of the flow.
    pub(super) flow_packets: u32,
}

const WHOLE: &str = "a whole number from 1 to 1000000000";

impl SchedulerBounds {
    /// Whether one more packet of `bytes` is within the limits.
    pub(super) fn admit(
        &self,
        share: Share,
        waiting: Waiting,
        bytes: u32,
    ) -> Result<(), Rejection> {
        let free = self.packets.saturating_sub(waiting.packets);
        let group = waiting.group_packets;
        let left = match share {
            // A neighbour without queued packets may take the last slot.
            Share::Face if group == 0 => free.div_ceil(2),
            Share::Face => ((free + group) / 2).saturating_sub(group),
            Share::Flow => free,
        };
        let has_its_part = u64::from(waiting.flow_packets) >= left;
        if has_its_part || waiting.bytes + u64::from(bytes) > self.bytes {
            return Err(Rejection::Full);
        }
        if waiting.flow_packets >= self.flow_packets {
            return Err(Rejection::FlowFull);
        }
        Ok(())
    }

    pub(super) fn from_spec(spec: &mut Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let mut whole = |key, default| spec.take(key, default, WHOLE, whole);
        Ok(Self {
            flow_packets: whole("flow-queue", u64::from(default.flow_packets))? as u32,
            packets: whole("packets", default.packets)?,
            bytes: whole("bytes", default.bytes)?,
        })
    }

    pub(super) fn write<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        writer
            .value("flow-queue", self.flow_packets)
            .value("packets", self.packets)
            .value("bytes", self.bytes)
    }
}

/// Range of a fraction.
pub(super) const PART: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));
pub(super) const PART_IN_WORDS: &str = "a number above 0, at most 1";

/// Parameters of all fair schedulers.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairSettings {
    pub(super) share: Share,
    pub(super) answer_bytes: u32,
    pub(super) load: f64,
    pub(super) flows: u32,
    pub(super) bounds: SchedulerBounds,
}

impl FairSettings {
    /// Reads the parameters given; the others are those of `default`.
    pub(super) fn from_spec(spec: &mut Spec<'_>, default: &Self) -> Result<Self, SpecError> {
        const FEW: &str = "a whole number from 1 to 1000000";
        Ok(Self {
            share: spec.word("share", default.share, &Share::WORDS, "face or flow")?,
            answer_bytes: spec.take("answer", default.answer_bytes, FEW, few)?,
            load: spec.number("load", default.load, PART, PART_IN_WORDS)?,
            flows: spec.take("flows", default.flows, FEW, few)?,
            bounds: SchedulerBounds::from_spec(spec)?,
        })
    }

    /// Writes all but the share, which precedes them.
    pub(super) fn write<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        let writer = writer
            .value("answer", self.answer_bytes)
            .value("load", self.load)
            .value("flows", self.flows);
        self.bounds.write(writer)
    }
}

/// Parses a count of at most a million.
pub(super) fn few(text: &str) -> Option<u32> {
    whole(text).and_then(|number| u32::try_from(number).ok()).filter(|number| *number <= 1_000_000)
}

/// Parses a count.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| (1..=1_000_000_000).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbour_fills_half_and_flow_a_quarter() {
        let bounds = SchedulerBounds { flow_packets: 1000, packets: 100, bytes: 1_000_000 };
        let filled = |share, is_one_flow: bool| {
            let mut held = 0;
            loop {
                let group_packets = if share == Share::Face { held } else { 0 };
                let flow_packets = if is_one_flow { held as u32 } else { 0 };
                let waiting = Waiting { packets: held, bytes: 0, group_packets, flow_packets };
                match bounds.admit(share, waiting, 100) {
                    Ok(()) => held += 1,
                    Err(why) => break assert_eq!(why, Rejection::Full),
                }
            }
            held
        };
        assert_eq!((filled(Share::Face, false), filled(Share::Face, true)), (50, 25));
        assert_eq!((filled(Share::Flow, false), filled(Share::Flow, true)), (100, 50));
    }

    #[test]
    fn last_slot_is_for_a_neighbour_without_packets() {
        let bounds = SchedulerBounds { packets: 1, ..SchedulerBounds::default() };
        let nothing = Waiting { packets: 0, bytes: 0, group_packets: 0, flow_packets: 0 };
        let full = Waiting { packets: 1, ..nothing };
        for share in [Share::Face, Share::Flow] {
            assert_eq!(bounds.admit(share, nothing, 100), Ok(()));
            assert_eq!(bounds.admit(share, full, 100), Err(Rejection::Full));
        }
    }

    #[test]
    fn bytes_and_flow_packets_have_own_limits() {
        let bounds = SchedulerBounds { flow_packets: 10, packets: 100, bytes: 1_000_000 };
        let some = Waiting { packets: 10, bytes: 0, group_packets: 10, flow_packets: 9 };
        assert_eq!(bounds.admit(Share::Face, some, 100), Ok(()));
        let bytes = Waiting { bytes: 999_901, ..some };
        assert_eq!(bounds.admit(Share::Face, bytes, 100), Err(Rejection::Full));
        let flow = Waiting { flow_packets: 10, ..some };
        assert_eq!(bounds.admit(Share::Face, flow, 100), Err(Rejection::FlowFull));
    }
}
