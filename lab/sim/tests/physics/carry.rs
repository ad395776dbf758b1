//! One channel, a list of frames, and what became of each.
use recoup_sim::channel::{
    ChannelInput, ChannelModel, ChannelOutput, Load, LossReason, QueuedChannel,
};
use recoup_sim::network::{Arrival, LinkOptions};
use recoup_sim::workload::arrival::Arrivals;
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

/// A frame with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// From 0, in the order in which frames are offered.
    pub(crate) number: u64,
    offered: Instant,
    bytes: u32,
}

impl Load for Frame {
    fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// Fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The frame arrived, with the time since it was offered.
    Arrived(Duration),
    /// The frame was lost.
    Lost(LossReason),
}

/// A channel of 8 Mbit/s, on which a frame of 1,000 bytes takes a millisecond, without a limit.
pub(crate) fn millisecond_a_frame() -> LinkOptions {
    let (rate_bits, queue) = (8_000_000, QueueLimit::UNLIMITED);
    LinkOptions { rate_bits, queue, ..LinkOptions::default() }
}

/// The first `frames` arrivals of a law.
pub(crate) fn offered(
    arrival: &Arrival,
    seed: u64,
    frames: u64,
) -> impl Iterator<Item = Instant> + use<> {
    let rng = Rng::from_seed(seed).substream("arrival");
    let mut arrivals = Arrivals::new(arrival, Instant::ZERO, rng);
    let mut batch = (Instant::ZERO, 0);
    let next = move || {
        while batch.1 == 0 {
            let at = arrivals.deadline()?;
            batch = (at, arrivals.pop_due(at)?);
        }
        batch.1 -= 1;
        Some(batch.0)
    };
    std::iter::from_fn(next).take(usize::try_from(frames).unwrap())
}

/// Offers frames of 1,000 bytes at these instants, in order; passes on the fate of each when it is known.
pub(crate) fn carry(
    plan: &LinkOptions,
    seed: u64,
    offered: impl Iterator<Item = Instant>,
    mut decided: impl FnMut(Instant, Frame, Fate),
) {
    let rng = Rng::from_seed(seed).substream("link");
    let mut channel = QueuedChannel::new(ChannelModel::read(plan, &rng).unwrap());
    for (number, at) in (0..).zip(offered) {
        advance(&mut channel, at, &mut decided);
        let frame = Frame { number, offered: at, bytes: 1_000 };
        channel.handle(at, ChannelInput::Frame { frame, sequence: number });
    }
    advance(&mut channel, Instant::MAX, &mut decided);
}

fn advance(
    channel: &mut QueuedChannel<Frame>,
    until: Instant,
    decided: &mut impl FnMut(Instant, Frame, Fate),
) {
    while let Some(output) = channel.poll_decided() {
        decide(Instant::ZERO, output, decided);
    }
    while let Some(at) = channel.deadline().filter(|at| *at <= until) {
        while let Some(output) = channel.poll(at) {
            decide(at, output, decided);
        }
    }
}

fn decide(
    at: Instant,
    output: ChannelOutput<Frame>,
    decided: &mut impl FnMut(Instant, Frame, Fate),
) {
    match output {
        ChannelOutput::Arrived(frame) => decided(at, frame, Fate::Arrived(at.since(frame.offered))),
        ChannelOutput::Lost { frame, reason } => decided(at, frame, Fate::Lost(reason)),
        ChannelOutput::Doubled(_) | ChannelOutput::Free => {}
    }
}

/// The fate of each frame, by its number; of a doubled one the last.
pub(crate) fn fates(
    plan: &LinkOptions,
    seed: u64,
    offered: impl Iterator<Item = Instant>,
) -> Vec<Fate> {
    let mut fates = Vec::new();
    carry(plan, seed, offered, |_, frame, fate| {
        let number = usize::try_from(frame.number).unwrap();
        if fates.len() <= number {
            fates.resize(number + 1, Fate::Lost(LossReason::Down));
        }
        fates[number] = fate;
    });
    fates
}
