//! The set-ups of the ns-3 measurements: saturated senders, and chains of relays.
//!
//! Applications are those of the measurements. A source keeps 100 frames queued and refills every millisecond; a relay
//! forwards every datagram to the next station at once; a consumer keeps its window full and retransmits after 4 s.
use recoup_core::load::Load;
use recoup_core::random::Rng;
use recoup_core::time::Instant;
use recoup_wifi::medium::{Counters, Medium, MediumInput, MediumOutput, Traced};
use recoup_wifi::motion::Motion;
use recoup_wifi::plan::{Category, MediumPlan};
use recoup_wifi::propagation::Position;
use recoup_wifi::{Address, StationId};
use std::collections::VecDeque;

/// UDP and IPv4.
const IP_BYTES: u32 = 28;
const TOP_UP_NANOS: u64 = 1_000_000;
const TOP_UP_FRAMES: usize = 100;
const RTO_NANOS: u64 = 4_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) bytes: u32,
    pub(crate) segment: u32,
    /// Where it goes in the end.
    pub(crate) to: u32,
}

impl Load for Datagram {
    fn bytes(&self) -> u32 {
        self.bytes + IP_BYTES
    }
}

/// Stations in a row, `metres` apart.
pub(crate) fn row(stations: usize, metres: f64) -> Vec<Motion> {
    (0..stations).map(|n| Motion::still(Position { x: n as f64 * metres, y: 0.0 })).collect()
}

/// One in the centre, then `n` on a circle around it.
pub(crate) fn circle(n: usize, radius: f64) -> Vec<Motion> {
    let around = (0..n).map(|k| {
        let angle = std::f64::consts::TAU * k as f64 / n as f64;
        Position { x: radius * angle.cos(), y: radius * angle.sin() }
    });
    std::iter::once(Position::default()).chain(around).map(Motion::still).collect()
}

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Of what arrived where it should, in Mbit/s.
    pub(crate) goodput: f64,
    /// From the first request to the last response, in seconds.
    pub(crate) time: f64,
    /// In milliseconds.
    pub(crate) rtt_mean: f64,
    /// Answers that did not come, of data frames that were sent.
    pub(crate) failures: f64,
    pub(crate) drops: f64,
    pub(crate) expired: f64,
}

impl Outcome {
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        Some(match name {
            "goodput" => self.goodput,
            "time" => self.time,
            "rtt_mean" => self.rtt_mean,
            "fail_frac" | "mac_retry_frac" => self.failures,
            "drop_retry" => self.drops,
            "drop_expired" => self.expired,
            _ => return None,
        })
    }

    fn count(&mut self, before: &[Counters], medium: &Medium<Datagram>) {
        let after = (0..medium.len()).map(|n| medium.counters(StationId(n as u32)));
        let (mut sent, mut failed) = (0, 0);
        for (before, after) in before.iter().zip(after) {
            sent += after.data_sent - before.data_sent;
            failed += after.ack_timeouts - before.ack_timeouts;
            self.drops += (after.retries_exhausted - before.retries_exhausted) as f64;
            self.expired += (after.expired - before.expired) as f64;
        }
        self.failures = failed as f64 / (sent as f64).max(1.0);
    }
}

fn send(medium: &mut Medium<Datagram>, now: Instant, from: u32, next: u32, load: Datagram) {
    let (from, to) = (StationId(from), Address::Station(StationId(next)));
    let category = Category::BestEffort;
    medium.handle(now, MediumInput::Frame { from, to, category, load });
}

/// Saturated senders with the next hop of each and the place where their datagrams end; measures for
/// `seconds` after one.
pub(crate) struct Saturated {
    pub(crate) plan: MediumPlan,
    pub(crate) motions: Vec<Motion>,
    pub(crate) senders: Vec<u32>,
    pub(crate) to: u32,
    pub(crate) payload: u32,
    pub(crate) warm_up: u64,
    pub(crate) seconds: u64,
    pub(crate) top_up: usize,
}

impl Saturated {
    pub(crate) fn new(plan: MediumPlan, motions: Vec<Motion>, senders: Vec<u32>, to: u32) -> Self {
        let (payload, warm_up, seconds) = (1472, 1, 5);
        Self { plan, motions, senders, to, payload, warm_up, seconds, top_up: TOP_UP_FRAMES }
    }

    /// Runs it.
    pub(crate) fn run(&self, seed: u64) -> Outcome {
        let mut medium = Medium::new(self.plan, self.motions.clone(), &Rng::from_seed(seed));
        let (begin, end) = (self.warm_up * SECOND, (self.warm_up + self.seconds) * SECOND);
        let (mut top_up_at, mut bytes, mut before) = (0, 0_u64, Vec::new());
        let mut outcome = Outcome::default();
        loop {
            let next = medium.deadline().map_or(u64::MAX, |at| at.as_nanos()).min(top_up_at);
            if next >= begin && before.is_empty() {
                before = (0..medium.len()).map(|n| medium.counters(StationId(n as u32))).collect();
            }
            if next > end {
                break;
            }
            let now = Instant::from_nanos(next);
            if next == top_up_at {
                self.top_up(&mut medium, now);
                top_up_at += TOP_UP_NANOS;
            }
            while let Some(output) = medium.poll(now) {
                let MediumOutput::Arrived { at, load, .. } = output else {
                    continue;
                };
                if at.0 == load.to {
                    bytes += if next > begin { u64::from(load.bytes) } else { 0 };
                } else {
                    let next_hop = if load.to > at.0 { at.0 + 1 } else { at.0 - 1 };
                    send(&mut medium, now, at.0, next_hop, load);
                }
            }
        }
        outcome.goodput = bytes as f64 * 8.0 / self.seconds as f64 / 1e6;
        outcome.count(&before, &medium);
        outcome
    }

    fn top_up(&self, medium: &mut Medium<Datagram>, now: Instant) {
        for sender in &self.senders {
            let hop = if self.is_chain() { sender + 1 } else { self.to };
            for _ in medium.waiting(StationId(*sender))..self.top_up {
                let load = Datagram { bytes: self.payload, segment: 0, to: self.to };
                send(medium, now, *sender, hop, load);
            }
        }
    }

    fn is_chain(&self) -> bool {
        self.senders == [0] && self.to > 0
    }
}

/// A consumer at one end of a row and a producer at the other.
pub(crate) struct Chain {
    pub(crate) plan: MediumPlan,
    pub(crate) metres: f64,
    pub(crate) hops: u32,
    pub(crate) window: u32,
    pub(crate) segments: u32,
}

const REQUEST: u32 = 40;
const RESPONSE: u32 = 1100;

impl Chain {
    pub(crate) fn new(plan: MediumPlan, metres: f64, hops: u32, window: u32) -> Self {
        Self { plan, metres, hops, window, segments: 4546 }
    }

    /// Runs it.
    pub(crate) fn run(&self, seed: u64) -> Outcome {
        let rng = Rng::from_seed(seed);
        let start = SECOND + rng.substream("start").below(1_000_000);
        self.run_with(
            Medium::new(self.plan, self.stations(), &rng),
            start,
            u64::MAX,
            &mut |_, _| {},
        )
    }

    pub(crate) fn stations(&self) -> Vec<Motion> {
        row(self.hops as usize + 1, self.metres)
    }

    /// Runs it on a given medium from `start` until `end` at most, and shows what is traced.
    pub(crate) fn run_with(
        &self,
        mut medium: Medium<Datagram>,
        start: u64,
        end: u64,
        show: &mut dyn FnMut(u64, Traced),
    ) -> Outcome {
        let mut consumer = Consumer::new(self.segments, self.window, self.hops);
        let mut is_begun = false;
        let before = vec![Counters::default(); medium.len()];
        let mut last = start;
        while !consumer.is_done() {
            let wake = if is_begun { consumer.deadline() } else { start };
            let next = medium.deadline().map_or(u64::MAX, |at| at.as_nanos()).min(wake);
            if next > end {
                break;
            }
            let now = Instant::from_nanos(next);
            if next == wake {
                is_begun = true;
                consumer.ask(&mut medium, now);
            }
            while let Some(output) = medium.poll(now) {
                match output {
                    MediumOutput::Arrived { at, load, .. } => {
                        last = if at.0 == 0 { next } else { last };
                        self.relay(&mut medium, &mut consumer, now, at.0, load);
                    }
                    MediumOutput::Traced(traced) => show(next, traced),
                    _ => {}
                }
            }
        }
        let time = (last - start) as f64 / 1e9;
        let goodput = f64::from(self.segments) * f64::from(RESPONSE) * 8.0 / time / 1e6;
        let rtt_mean = consumer.rtt_mean_millis();
        let mut outcome = Outcome { goodput, time, rtt_mean, ..Outcome::default() };
        outcome.count(&before, &medium);
        outcome
    }

    fn relay(
        &self,
        medium: &mut Medium<Datagram>,
        consumer: &mut Consumer,
        now: Instant,
        at: u32,
        load: Datagram,
    ) {
        if at != load.to {
            let next = if load.to > at { at + 1 } else { at - 1 };
            send(medium, now, at, next, load);
        } else if at == 0 {
            consumer.accept(now, load.segment);
            consumer.ask(medium, now);
        } else {
            let load = Datagram { bytes: RESPONSE, segment: load.segment, to: 0 };
            send(medium, now, at, at - 1, load);
        }
    }
}

struct Consumer {
    producer: u32,
    window: u32,
    next: u32,
    /// By segment: first request, number of requests, and whether it arrived.
    segments: Vec<(u64, u32, bool)>,
    /// Time-outs, in order; those of earlier tries are void.
    timeouts: VecDeque<(u64, u32, u32)>,
    outstanding: u32,
    done: u32,
    rtt_nanos: u64,
    rtts: u64,
}

impl Consumer {
    fn new(segments: u32, window: u32, producer: u32) -> Self {
        Self {
            producer,
            window,
            next: 0,
            segments: vec![(0, 0, false); segments as usize],
            timeouts: VecDeque::new(),
            outstanding: 0,
            done: 0,
            rtt_nanos: 0,
            rtts: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.done as usize == self.segments.len()
    }

    fn deadline(&self) -> u64 {
        self.timeouts.front().map_or(u64::MAX, |(at, ..)| *at)
    }

    fn ask(&mut self, medium: &mut Medium<Datagram>, now: Instant) {
        while let Some((at, segment, tries)) = self.timeouts.front().copied() {
            if at > now.as_nanos() {
                break;
            }
            self.timeouts.pop_front();
            let (_, asked, has_come) = self.segments[segment as usize];
            if !has_come && asked == tries {
                self.request(medium, now, segment);
            }
        }
        while self.outstanding < self.window && (self.next as usize) < self.segments.len() {
            self.segments[self.next as usize].0 = now.as_nanos();
            self.outstanding += 1;
            self.request(medium, now, self.next);
            self.next += 1;
        }
    }

    fn request(&mut self, medium: &mut Medium<Datagram>, now: Instant, segment: u32) {
        let tries = &mut self.segments[segment as usize].1;
        *tries += 1;
        self.timeouts.push_back((now.as_nanos() + RTO_NANOS, segment, *tries));
        send(medium, now, 0, 1, Datagram { bytes: REQUEST, segment, to: self.producer });
    }

    fn accept(&mut self, now: Instant, segment: u32) {
        let (asked_at, tries, has_come) = &mut self.segments[segment as usize];
        if std::mem::replace(has_come, true) {
            return;
        }
        self.done += 1;
        self.outstanding -= 1;
        if *tries == 1 {
            self.rtt_nanos += now.as_nanos() - *asked_at;
            self.rtts += 1;
        }
    }

    fn rtt_mean_millis(&self) -> f64 {
        self.rtt_nanos as f64 / (self.rtts as f64).max(1.0) / 1e6
    }
}
