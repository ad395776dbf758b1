//! One direction of a link: the simulator's channel between sockets, and its scheduled changes.
//!
//! All clients of the link share the channel: rate, queue, losses and delay.
use bytes::Bytes;
use recoup_channel::channel::{
    ChannelError, ChannelInput, ChannelModel, ChannelOutput, Load, LossReason, QueuedChannel,
};
use recoup_channel::link::LinkOptions;
use recoup_io::relay::{ClientFrame, FrameMachine};
use recoup_packet::lp::LpPacket;
use recoup_packet::tlv::typ;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// A scheduled change of a direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// New properties.
    Change(Box<LinkOptions>),
    /// An outage begins or ends.
    Outage(bool),
}

/// Counters of a direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct WayCount {
    /// Frames that entered.
    pub entered: u64,
    /// Frames that arrived, duplicates included.
    pub delivered: u64,
    /// Duplicated frames.
    pub doubled: u64,
    /// Frames lost, by reason.
    pub lost: BTreeMap<&'static str, u64>,
    /// Frames still inside.
    pub inside: u64,
}

impl WayCount {
    /// Frames lost for any reason.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.values().sum()
    }
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Way {
    channel: QueuedChannel<Frame>,
    overhead: u32,
    /// Bytes charged for an Interest, instead of its length and the overhead.
    interest: Option<u32>,
    schedule: VecDeque<(Instant, Turn)>,
    rng: Rng,
    sequence: u64,
    count: WayCount,
}

/// A frame and its charged bytes.
#[derive(Clone, Debug)]
struct Frame {
    frame: ClientFrame,
    charge: u32,
}

impl Load for Frame {
    fn bytes(&self) -> u32 {
        self.charge
    }
}

/// Whether a frame is an Interest, bare or behind link fields without a Nack.
fn is_interest(frame: &Bytes) -> bool {
    let begins = |bytes: &Bytes, typ: u64| bytes.first().is_some_and(|it| u64::from(*it) == typ);
    if !begins(frame, typ::LP_PACKET) {
        return begins(frame, typ::INTEREST);
    }
    LpPacket::decode(frame.clone()).is_ok_and(|LpPacket { header, fragment }| {
        let is_first = header.frag_index.unwrap_or(0) == 0 && header.nack.is_none();
        is_first && fragment.is_some_and(|packet| begins(&packet, typ::INTEREST))
    })
}

impl Way {
    /// A direction with its schedule. Reads every plan at once, so that errors appear at the start.
    pub(crate) fn new(
        plan: &LinkOptions,
        schedule: Vec<(Instant, Turn)>,
        rng: Rng,
    ) -> Result<Self, ChannelError> {
        for (_, turn) in &schedule {
            if let Turn::Change(plan) = turn {
                ChannelModel::read(plan, &rng)?;
            }
        }
        Ok(Self {
            channel: QueuedChannel::new(ChannelModel::read(plan, &rng)?),
            overhead: plan.overhead_bytes,
            interest: plan.interest_bytes,
            schedule: schedule.into(),
            rng,
            sequence: 0,
            count: WayCount::default(),
        })
    }

    /// Counters so far.
    pub(crate) fn count(&self) -> WayCount {
        WayCount { inside: self.channel.inside().count() as u64, ..self.count.clone() }
    }

    /// Applies scheduled changes until `now`.
    fn follow_schedule(&mut self, now: Instant) {
        while let Some((at, _)) = self.schedule.front()
            && *at <= now
        {
            let Some((_, turn)) = self.schedule.pop_front() else {
                return;
            };
            let input = match turn {
                Turn::Outage(is_out) => ChannelInput::Outage(is_out),
                Turn::Change(plan) => {
                    (self.overhead, self.interest) = (plan.overhead_bytes, plan.interest_bytes);
                    match ChannelModel::read(&plan, &self.rng) {
                        Ok(model) => ChannelInput::Change(Box::new(model)),
                        Err(_) => continue,
                    }
                }
            };
            self.channel.handle(now, input);
        }
    }

    fn charge(&self, frame: &Bytes) -> u32 {
        match self.interest {
            Some(bytes) if is_interest(frame) => bytes,
            _ => frame.bytes().saturating_add(self.overhead),
        }
    }

    fn lose(&mut self, reason: LossReason) {
        *self.count.lost.entry(reason.name()).or_default() += 1;
    }
}

impl FrameMachine for Way {
    fn handle(&mut self, now: Instant, frame: ClientFrame) {
        self.follow_schedule(now);
        self.count.entered += 1;
        self.sequence += 1;
        let charge = self.charge(&frame.bytes);
        let frame = Frame { frame, charge };
        self.channel.handle(now, ChannelInput::Frame { frame, sequence: self.sequence });
    }

    fn poll(&mut self, now: Instant) -> Option<ClientFrame> {
        self.follow_schedule(now);
        loop {
            match self.channel.poll(now)? {
                ChannelOutput::Arrived(frame) => {
                    self.count.delivered += 1;
                    return Some(frame.frame);
                }
                ChannelOutput::Lost { reason, .. } => self.lose(reason),
                ChannelOutput::Doubled(_) => self.count.doubled += 1,
                ChannelOutput::Free => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let turn = self.schedule.front().map(|(at, _)| *at);
        [self.channel.deadline(), turn].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_io::relay::ClientId;
    use recoup_transport::queue::QueueLimit;
    use recoup_transport::time::Duration;

    fn plan() -> LinkOptions {
        let delay = Duration::from_millis(20);
        LinkOptions { rate_bits: 10_000_000, delay, overhead_bytes: 28, ..LinkOptions::default() }
    }

    fn way(schedule: Vec<(Instant, Turn)>) -> Way {
        Way::new(&plan(), schedule, Rng::from_seed(1)).unwrap()
    }

    fn frame(bytes: usize) -> ClientFrame {
        ClientFrame { client: ClientId::default(), bytes: Bytes::from(vec![0; bytes]) }
    }

    fn micros(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    #[test]
    fn frame_takes_transmission_overhead_and_delay() {
        let mut way = way(Vec::new());
        way.handle(Instant::ZERO, frame(972));
        assert_eq!(way.deadline(), Some(micros(20_800)));
        assert_eq!(way.poll(micros(20_799)), None);
        assert_eq!(way.poll(micros(20_800)), Some(frame(972)));
        assert_eq!(way.count(), WayCount { entered: 1, delivered: 1, ..WayCount::default() });
    }

    #[test]
    fn an_interest_counts_what_it_is_to_count() {
        use recoup_packet::interest::Interest;
        use recoup_packet::lp::LpHeader;
        use recoup_packet::nack::NackReason;
        let plan = LinkOptions { interest_bytes: Some(1_250), ..plan() };
        let way = Way::new(&plan, Vec::new(), Rng::from_seed(1)).unwrap();
        let interest = Interest::new("/a".parse().unwrap()).to_bytes();
        let behind = |header: LpHeader| {
            let mut frame = bytes::BytesMut::new();
            LpPacket { header, fragment: Some(interest.clone()) }.encode(&mut frame);
            frame.freeze()
        };
        let marked = LpHeader { congestion_mark: Some(1), ..LpHeader::default() };
        assert_eq!((way.charge(&interest), way.charge(&behind(marked))), (1_250, 1_250));
        let rejected = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
        let rejected = behind(rejected);
        assert_eq!(way.charge(&rejected), rejected.len() as u32 + 28);
        assert_eq!(way.charge(&frame(972).bytes), 1_000);
    }

    #[test]
    fn a_schedule_changes_what_comes_later() {
        let slow = LinkOptions { rate_bits: 1_000_000, ..plan() };
        let mut way = way(vec![
            (micros(100_000), Turn::Change(Box::new(slow))),
            (micros(200_000), Turn::Outage(true)),
            (micros(300_000), Turn::Outage(false)),
        ]);
        assert_eq!(way.deadline(), Some(micros(100_000)));
        way.handle(micros(100_000), frame(972));
        assert_eq!(way.deadline(), Some(micros(128_000)));
        assert_eq!(way.poll(micros(150_000)), Some(frame(972)));
        way.handle(micros(250_000), frame(972));
        assert_eq!(way.poll(micros(299_000)), None);
        assert_eq!(way.count().lost.get("outage"), Some(&1));
        way.handle(micros(300_000), frame(972));
        assert_eq!(way.deadline(), Some(micros(328_000)));
    }

    #[test]
    fn seed_determines_losses_and_frames_are_conserved() {
        let lossy = LinkOptions {
            loss: "bernoulli(p=0.02)".parse().unwrap(),
            duplicate: "bernoulli(p=0.1)".parse().unwrap(),
            queue: QueueLimit::of_packets(500),
            ..plan()
        };
        let run = |seed| {
            let mut way = Way::new(&lossy, Vec::new(), Rng::from_seed(seed)).unwrap();
            for number in 0..10_000 {
                way.handle(micros(number * 80), frame(100));
                while way.poll(micros(number * 80)).is_some() {}
            }
            while way.poll(Instant::from_millis(1_000)).is_some() {}
            way.count()
        };
        let count = run(7);
        assert_eq!(count, run(7));
        assert_ne!(count, run(8));
        let lost = |reason: &str| count.lost.get(reason).copied().unwrap_or_default();
        assert!(lost("model") > 100 && lost("channel-full") > 0, "{count:?}");
        assert_eq!(count.entered + count.doubled, count.delivered + count.lost() + count.inside);
    }
}
