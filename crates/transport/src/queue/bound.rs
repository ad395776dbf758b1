//! Limits of a scheduler, and their division.
//!
//! Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998). A
//! neighbour may hold no more than what is still free. However many neighbours fill the queue, some space stays free
//! for others. In the same way a flow may hold no more than what is free of its neighbour's share.
//!
//! Differences: each flow has a limit of its own besides.
use super::{Rejection, Share};
use crate::spec::Description;
use std::ops::{Bound, RangeInclusive};

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

/// Numbers of packets and bytes.
pub(super) const WHOLE: RangeInclusive<u64> = 1..=1_000_000_000;
pub(super) const WHOLE_IN_WORDS: &str = "a whole number from 1 to 1000000000";
/// Smaller numbers.
const FEW: RangeInclusive<u32> = 1..=1_000_000;
const FEW_IN_WORDS: &str = "a whole number from 1 to 1000000";

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

    pub(super) fn describe(&mut self, each: &mut Description<'_>) {
        let most = 1..=u32::try_from(*WHOLE.end()).unwrap_or(u32::MAX);
        each.whole("flow-queue", &mut self.flow_packets, most, WHOLE_IN_WORDS);
        each.whole("packets", &mut self.packets, WHOLE, WHOLE_IN_WORDS);
        each.whole("bytes", &mut self.bytes, WHOLE, WHOLE_IN_WORDS);
    }
}

/// Range of a fraction.
pub(super) const PART: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));
pub(super) const PART_IN_WORDS: &str = "a number above 0, at most 1";

/// Describes the parameters that all fair schedulers have, but the share, which precedes their own.
pub(super) fn describe_fair(
    each: &mut Description<'_>,
    answer_bytes: &mut u32,
    load: &mut f64,
    flows: &mut u32,
    bounds: &mut SchedulerBounds,
) {
    each.whole("answer", answer_bytes, FEW, FEW_IN_WORDS);
    each.number("load", load, PART, PART_IN_WORDS);
    each.whole("flows", flows, FEW, FEW_IN_WORDS);
    bounds.describe(each);
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
