//! Schedulers of faces: the load of the channels that flows share.
//!
//! A node knows the rates of both directions of a link, as configured, and measures the other traffic there: frames of
//! background traffic offered in a second.
use super::build::plan_of;
use super::{Observers, Simulation};
use recoup_forwarder::node::Input;
use recoup_transport::queue::{Capacity, Scheduling};
use recoup_transport::time::{Duration, Instant};

/// Interval of a measurement.
const MEASURED: Duration = Duration::from_secs(1);

/// Load of the background traffic in a direction of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OtherLoad {
    since: Instant,
    bytes: u64,
    /// Bits per second, as last measured.
    bits: u64,
}

impl OtherLoad {
    /// Counts a frame of the background traffic; returns whether the load is known anew.
    fn count(&mut self, now: Instant, bytes: u64) -> bool {
        self.bytes += bytes;
        let nanos = now.since(self.since).as_nanos();
        if nanos < MEASURED.as_nanos() {
            return false;
        }
        let bits = u128::from(self.bytes) * 8_000_000_000 / nanos;
        *self = Self { since: now, bytes: 0, bits: u64::try_from(bits).unwrap_or(u64::MAX) };
        true
    }
}

impl Simulation {
    /// Attributes of the scheduler of the face at the beginning of a lane, if it has one.
    pub(super) fn scheduling(&self, lane: usize) -> Option<Scheduling> {
        let (there, back) = (plan_of(&self.network, lane), plan_of(&self.network, lane ^ 1));
        let node = &self.network.nodes[self.lanes[lane].from.node];
        let discipline = there.scheduler.0.or(node.scheduler.0)?;
        let known = |bits: u64| (bits > 0).then_some(bits);
        let capacity = Capacity {
            sending_bits: known(there.rate_bits),
            receiving_bits: known(back.rate_bits),
            overhead_bytes: there.overhead_bytes,
            other_sending_bits: self.lanes[lane].others.bits,
            other_receiving_bits: self.lanes[lane ^ 1].others.bits,
        };
        Some(Scheduling { discipline, capacity })
    }

    /// Sends the current load of a link to the nodes at both ends.
    pub(super) fn notify_scheduling(&mut self, lane: usize, observers: &mut Observers<'_, '_>) {
        for lane in [lane, lane ^ 1] {
            if let Some(scheduling) = self.scheduling(lane) {
                let from = self.lanes[lane].from;
                let scheduling = Box::new(scheduling);
                let input = Input::Schedule { face: from.face, scheduling };
                self.stations[from.node].node.handle(self.now, input);
                self.pump(from.node, observers);
                self.arm_station(from.node);
            }
        }
    }

    /// Others offer frames to a lane.
    pub(super) fn count_others(
        &mut self,
        lane: usize,
        bytes: u64,
        observers: &mut Observers<'_, '_>,
    ) {
        if self.lanes[lane].others.count(self.now, bytes) {
            self.notify_scheduling(lane, observers);
        }
    }

    /// Background traffic stops; sources that go on are measured anew.
    pub(super) fn forget_others(&mut self, lane: usize, observers: &mut Observers<'_, '_>) {
        self.lanes[lane].others = OtherLoad { since: self.now, ..OtherLoad::default() };
        self.notify_scheduling(lane, observers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_measured_over_a_second() {
        let mut load = OtherLoad::default();
        let mut offer = |from: u64, until: u64, bytes: u64| {
            let at = (from..until).step_by(10);
            let counted = at.filter(|at| load.count(Instant::from_millis(*at), bytes)).count();
            (counted, load.bits)
        };
        assert_eq!(offer(0, 1_000, 1_000), (0, 0));
        // 101 frames since the beginning, the first of which came at once.
        assert_eq!(offer(1_000, 1_010, 1_000), (1, 808_000));
        assert_eq!(offer(1_010, 3_010, 1_000), (2, 800_000));
        assert_eq!(offer(3_010, 4_010, 500), (1, 400_000));
    }
}
