//! The law of conservation: what was sent or doubled was delivered, was lost, or is on its way.
use crate::channel::LossReason;
use recoup_forwarder::packet::Kind;

/// Kinds of packets, and what is not NDN's.
const KINDS: usize = 5;

/// Fate of frames on channels, by kind: Interests, Data, Nacks, frames without packet, and background traffic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    sent: [u64; KINDS],
    doubled: [u64; KINDS],
    delivered: [u64; KINDS],
    lost: [[u64; LossReason::ALL.len()]; KINDS],
    inside: [u64; KINDS],
}

/// Frames that vanished, or came from nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("of {sent} frames ({kind:?}) sent or doubled {found} were delivered, lost or on their way")]
pub struct Imbalance {
    /// Kind of packet; `None` for background traffic.
    pub kind: Option<Kind>,
    /// Expected number.
    pub sent: u64,
    /// Number found.
    pub found: u64,
}

fn row(kind: Option<Kind>) -> usize {
    match kind {
        Some(Kind::Interest) => 0,
        Some(Kind::Data) => 1,
        Some(Kind::Nack) => 2,
        Some(Kind::Idle) => 3,
        None => 4,
    }
}

fn column(reason: LossReason) -> usize {
    match reason {
        LossReason::QueueFull => 0,
        LossReason::Model => 1,
        LossReason::Outage => 2,
        LossReason::Down => 3,
        LossReason::Superfluous => 4,
    }
}

impl Balance {
    /// Number of a kind (`None`: background) handed to channels.
    pub fn sent(&self, kind: Option<Kind>) -> u64 {
        self.sent[row(kind)]
    }

    /// Number of duplicates made by channels.
    pub fn doubled(&self, kind: Option<Kind>) -> u64 {
        self.doubled[row(kind)]
    }

    /// Number delivered.
    pub fn delivered(&self, kind: Option<Kind>) -> u64 {
        self.delivered[row(kind)]
    }

    /// Number lost for that reason.
    pub fn lost(&self, kind: Option<Kind>, reason: LossReason) -> u64 {
        self.lost[row(kind)][column(reason)]
    }

    /// Number in flight.
    pub fn in_flight(&self, kind: Option<Kind>) -> u64 {
        self.inside[row(kind)]
    }

    /// Packet-hops: NDN packets that arrived at a node.
    pub fn hops(&self) -> u64 {
        self.delivered[..3].iter().sum()
    }

    /// Whether everything is accounted for.
    ///
    /// # Errors
    /// The first kind of which something is missing, or too much.
    pub fn check(&self) -> Result<(), Imbalance> {
        let kinds = [Kind::Interest, Kind::Data, Kind::Nack, Kind::Idle].map(Some);
        for kind in kinds.into_iter().chain([None]) {
            let row = row(kind);
            let sent = self.sent[row] + self.doubled[row];
            let lost: u64 = self.lost[row].iter().sum();
            let found = self.delivered[row] + lost + self.inside[row];
            if sent != found {
                return Err(Imbalance { kind, sent, found });
            }
        }
        Ok(())
    }

    pub(super) fn count_sent(&mut self, kind: Option<Kind>) {
        self.sent[row(kind)] += 1;
    }

    pub(super) fn count_doubled(&mut self, kind: Option<Kind>) {
        self.doubled[row(kind)] += 1;
    }

    pub(super) fn count_delivered(&mut self, kind: Option<Kind>) {
        self.delivered[row(kind)] += 1;
    }

    pub(super) fn count_lost(&mut self, kind: Option<Kind>, reason: LossReason) {
        self.lost[row(kind)][column(reason)] += 1;
    }

    pub(super) fn count_inside(&mut self, kind: Option<Kind>) {
        self.inside[row(kind)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_vanished_is_noticed() {
        let mut balance = Balance::default();
        let data = Some(Kind::Data);
        (0..3).for_each(|_| balance.count_sent(data));
        balance.count_doubled(data);
        balance.count_delivered(data);
        balance.count_lost(data, LossReason::Model);
        balance.count_inside(data);
        let error = balance.check().unwrap_err();
        assert_eq!(error, Imbalance { kind: data, sent: 4, found: 3 });
        balance.count_inside(data);
        assert_eq!((balance.check(), balance.hops()), (Ok(()), 1));
    }
}
