//! How much may wait in a scheduler, and who may fill it.
//!
//! Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998): a
//! neighbour may hold no more than what is still free, so however many try to fill the room, some of it stays free for
//! those who do not.
//!
//! Differences: within a neighbour's part only each flow's own bound applies.
use super::Refusal;
use crate::spec::{Spec, SpecError, SpecWriter};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchedulerBounds {
    /// Packets of one flow (Udugama et al. state none; ours).
    pub flow_packets: u32,
    /// Packets in each direction.
    pub packets: u64,
    /// Octets of the packets in each direction.
    pub octets: u64,
}

impl Default for SchedulerBounds {
    fn default() -> Self {
        Self { flow_packets: 1000, packets: 10_000, octets: 16 << 20 }
    }
}

/// What waits already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packets: u64,
    pub(super) octets: u64,
    /// Of the same neighbour.
    pub(super) group_packets: u64,
    /// Of the same flow.
    pub(super) flow_packets: u32,
}

const WHOLE: &str = "a whole number from 1 to 1000000000";

impl SchedulerBounds {
    /// Whether one more packet of `octets` may wait.
    pub(super) fn admit(&self, waiting: Waiting, octets: u32) -> Result<(), Refusal> {
        let free = self.packets.saturating_sub(waiting.packets);
        if waiting.group_packets >= free || waiting.octets + u64::from(octets) > self.octets {
            return Err(Refusal::Full);
        }
        if waiting.flow_packets >= self.flow_packets {
            return Err(Refusal::FlowFull);
        }
        Ok(())
    }

    pub(super) fn from_spec(spec: &mut Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let mut whole = |key, default| spec.take(key, default, WHOLE, whole);
        Ok(Self {
            flow_packets: whole("flow-queue", u64::from(default.flow_packets))? as u32,
            packets: whole("packets", default.packets)?,
            octets: whole("octets", default.octets)?,
        })
    }

    pub(super) fn write<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        writer
            .value("flow-queue", self.flow_packets)
            .value("packets", self.packets)
            .value("octets", self.octets)
    }
}

/// Reads a count of something.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| (1..=1_000_000_000).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_neighbour_fills_half_of_the_room_and_no_more() {
        let bounds = SchedulerBounds { flow_packets: 1000, packets: 100, octets: 1_000_000 };
        let mut held = 0;
        let waiting =
            |held| Waiting { packets: held, octets: 0, group_packets: held, flow_packets: 0 };
        while bounds.admit(waiting(held), 100).is_ok() {
            held += 1;
        }
        assert_eq!(held, 50);
        let other = Waiting { group_packets: 0, ..waiting(held) };
        assert_eq!(bounds.admit(other, 100), Ok(()));
        let octets = Waiting { octets: 999_901, ..other };
        assert_eq!(bounds.admit(octets, 100), Err(Refusal::Full));
        let flow = Waiting { flow_packets: 1000, ..other };
        assert_eq!(bounds.admit(flow, 100), Err(Refusal::FlowFull));
    }
}
