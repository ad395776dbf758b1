//! How much may wait in a scheduler, and who may fill it.
//!
//! Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998): a
//! neighbour may hold no more than what is still free, so however many try to fill the room, some of it stays free for
//! those who do not. In the same way a flow may hold no more than what is free of its neighbour's part.
//!
//! Differences: besides, each flow has a bound of its own.
use super::{Refusal, Share};
use crate::spec::{Spec, SpecError, SpecWriter};
use std::ops::Bound;

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
    pub(super) fn admit(&self, share: Share, waiting: Waiting, octets: u32) -> Result<(), Refusal> {
        let free = self.packets.saturating_sub(waiting.packets);
        let group = waiting.group_packets;
        let left = match share {
            // Who has nothing waiting is not kept from the last place.
            Share::Face if group == 0 => free.div_ceil(2),
            Share::Face => ((free + group) / 2).saturating_sub(group),
            Share::Flow => free,
        };
        let has_its_part = u64::from(waiting.flow_packets) >= left;
        if has_its_part || waiting.octets + u64::from(octets) > self.octets {
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

/// Part of something, as it is written.
pub(super) const PART: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));
pub(super) const PART_IN_WORDS: &str = "a number above 0, at most 1";

/// The parameters that all fair schedulers have.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairSettings {
    pub(super) share: Share,
    pub(super) answer_octets: u32,
    pub(super) load: f64,
    pub(super) flows: u32,
    pub(super) bounds: SchedulerBounds,
}

impl FairSettings {
    /// Reads what is given; the rest is as in `default`.
    pub(super) fn from_spec(spec: &mut Spec<'_>, default: &Self) -> Result<Self, SpecError> {
        const FEW: &str = "a whole number from 1 to 1000000";
        Ok(Self {
            share: spec.word("share", default.share, &Share::WORDS, "face or flow")?,
            answer_octets: spec.take("answer", default.answer_octets, FEW, few)?,
            load: spec.number("load", default.load, PART, PART_IN_WORDS)?,
            flows: spec.take("flows", default.flows, FEW, few)?,
            bounds: SchedulerBounds::from_spec(spec)?,
        })
    }

    /// Writes all but the share, which is written first.
    pub(super) fn write<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        let writer = writer
            .value("answer", self.answer_octets)
            .value("load", self.load)
            .value("flows", self.flows);
        self.bounds.write(writer)
    }
}

/// Reads a count of at most a million.
pub(super) fn few(text: &str) -> Option<u32> {
    whole(text).and_then(|number| u32::try_from(number).ok()).filter(|number| *number <= 1_000_000)
}

/// Reads a count of something.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| (1..=1_000_000_000).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_fills_half_of_the_room_and_a_flow_half_of_that() {
        let bounds = SchedulerBounds { flow_packets: 1000, packets: 100, octets: 1_000_000 };
        let filled = |share, is_one_flow: bool| {
            let mut held = 0;
            loop {
                let group_packets = if share == Share::Face { held } else { 0 };
                let flow_packets = if is_one_flow { held as u32 } else { 0 };
                let waiting = Waiting { packets: held, octets: 0, group_packets, flow_packets };
                match bounds.admit(share, waiting, 100) {
                    Ok(()) => held += 1,
                    Err(why) => break assert_eq!(why, Refusal::Full),
                }
            }
            held
        };
        assert_eq!((filled(Share::Face, false), filled(Share::Face, true)), (50, 25));
        assert_eq!((filled(Share::Flow, false), filled(Share::Flow, true)), (100, 50));
    }

    #[test]
    fn the_last_place_is_for_who_has_none() {
        let bounds = SchedulerBounds { packets: 1, ..SchedulerBounds::default() };
        let nothing = Waiting { packets: 0, octets: 0, group_packets: 0, flow_packets: 0 };
        let full = Waiting { packets: 1, ..nothing };
        for share in [Share::Face, Share::Flow] {
            assert_eq!(bounds.admit(share, nothing, 100), Ok(()));
            assert_eq!(bounds.admit(share, full, 100), Err(Refusal::Full));
        }
    }

    #[test]
    fn octets_and_the_packets_of_a_flow_have_bounds_of_their_own() {
        let bounds = SchedulerBounds { flow_packets: 10, packets: 100, octets: 1_000_000 };
        let some = Waiting { packets: 10, octets: 0, group_packets: 10, flow_packets: 9 };
        assert_eq!(bounds.admit(Share::Face, some, 100), Ok(()));
        let octets = Waiting { octets: 999_901, ..some };
        assert_eq!(bounds.admit(Share::Face, octets, 100), Err(Refusal::Full));
        let flow = Waiting { flow_packets: 10, ..some };
        assert_eq!(bounds.admit(Share::Face, flow, 100), Err(Refusal::FlowFull));
    }
}
