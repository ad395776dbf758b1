//! Forged copies of Data that arrive before the genuine ones, at a consumer's own node.
use crate::bench::Bench;
use bytes::Bytes;
use proptest::prelude::*;
use recoup_forwarder::face::FaceId;
use recoup_forwarder::node::{Input, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::{Body, Packet};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{AutoVerifier, DigestSigner, NoVerifier, Verifier};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError, FetchOptions, Retries};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

const LAST: u64 = 19;
const ROUND_TRIP: Duration = Duration::from_millis(10);

/// A fetch of 20 segments in a node with one face, and its report.
struct Consumer {
    bench: Bench,
    /// Data in flight to the node.
    arriving: Vec<(Instant, Data)>,
    sent: u32,
    retransmitted: u32,
    rejected: u32,
    received: u64,
}

impl Consumer {
    fn new(retries: u32, verifier: Box<dyn Verifier>) -> Self {
        let mut bench = Bench::new(2, NodeConfig::deterministic(0));
        let name = "/a/file/v=7".parse().expect("a name");
        let options = FetchOptions {
            rto: "jacobson".parse().expect("an estimator"),
            congestion: "cubic".parse().expect("an algorithm"),
            loss: "timeout".parse().expect("a detector"),
            rto_check: Duration::ZERO,
            retries: Retries(Some(retries)),
            ..FetchOptions::default()
        };
        let config = FetchConfig { verifier, ..FetchConfig::new(name, options, Rng::from_seed(1)) };
        bench.node.attach(bench.now, Box::new(Fetch::new(config)), Vec::new());
        let arriving = Vec::new();
        Self { bench, arriving, sent: 0, retransmitted: 0, rejected: 0, received: 0 }
    }

    /// Runs until the fetch ends. `answers` returns the Data for an Interest, and their delays after a round trip.
    fn run(
        &mut self,
        answers: &dyn Fn(&Interest) -> Vec<(Duration, Data)>,
    ) -> Result<(), FetchError> {
        loop {
            while let Some(output) = self.bench.node.poll(self.bench.now) {
                match output {
                    Output::Wants { face } => {
                        self.bench.node.handle(self.bench.now, Input::Ready { face });
                    }
                    Output::Transmit { packet, .. } => self.ask(&packet, answers),
                    Output::App { report: Report::Event(event), .. } => self.count(&event),
                    Output::App { report: Report::Done(ended), .. } => {
                        return ended.map_err(|error| *error);
                    }
                    _ => {}
                }
            }
            let arrival = self.arriving.iter().map(|(at, _)| *at).min();
            let wake = [arrival, self.bench.node.deadline()].into_iter().flatten().min();
            self.bench.now = wake.expect("something happens before the end");
            self.arriving.sort_by_key(|(at, _)| *at);
            // All available Data arrives before the node is polled, as after one system call.
            while self.arriving.first().is_some_and(|(at, _)| *at <= self.bench.now) {
                let (_, data) = self.arriving.remove(0);
                let packet = Packet::data(data, self.bench.node.hasher());
                self.bench.node.handle(self.bench.now, Input::Packet { face: FaceId(2), packet });
            }
        }
    }

    fn ask(&mut self, packet: &Packet, answers: &dyn Fn(&Interest) -> Vec<(Duration, Data)>) {
        let Body::Interest(interest) = &packet.body else {
            panic!("a consumer sends Interests");
        };
        self.sent += 1;
        let now = self.bench.now;
        let arriving = answers(&Arc::clone(interest)).into_iter();
        self.arriving.extend(arriving.map(|(later, data)| (now + ROUND_TRIP + later, data)));
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::Sent { transmissions, .. } => {
                self.retransmitted += u32::from(*transmissions > 1)
            }
            Event::Rejected { .. } => self.rejected += 1,
            Event::Received { .. } => self.received += 1,
            _ => {}
        }
    }
}

fn genuine(interest: &Interest) -> Data {
    let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(LAST));
    builder.build(b"content", &DigestSigner)
}

/// The Data with another content.
fn forged(interest: &Interest) -> Data {
    let mut wire = genuine(interest).wire().to_vec();
    let at = wire.windows(7).position(|window| window == b"content").expect("the content");
    wire[at] ^= 1;
    Data::decode(Bytes::from(wire)).expect("still a packet")
}

#[test]
fn forged_copy_leaves_the_interest_pending() {
    for later in [Duration::ZERO, Duration::from_micros(100), Duration::from_millis(5)] {
        let mut consumer = Consumer::new(0, Box::new(AutoVerifier));
        let ended = consumer.run(&|interest| {
            let copies = [forged(interest), forged(interest), genuine(interest)];
            let delays = [Duration::ZERO, later / 2, later];
            delays.into_iter().zip(copies).collect()
        });
        assert_eq!((ended, consumer.received), (Ok(()), LAST + 1), "{later:?}");
        assert!(consumer.rejected > LAST as u32, "{}", consumer.rejected);
        let most = if later.is_zero() { 0 } else { LAST as u32 + 1 };
        assert!(consumer.retransmitted <= most, "{}", consumer.retransmitted);
    }
}

/// The answers to one Interest: copies, forged or genuine, and their delays in microseconds after the round trip.
fn copies() -> impl Strategy<Value = (Vec<(u64, bool)>, u64)> {
    let delay = 0_u64..30_000;
    (proptest::collection::vec((delay.clone(), any::<bool>()), 0..4), delay)
}

proptest! {
    #[test]
    fn one_genuine_copy_suffices_wherever_it_comes(
        scripts in proptest::collection::vec(copies(), 1..8),
    ) {
        let mut consumer = Consumer::new(0, Box::new(AutoVerifier));
        let ended = consumer.run(&|interest| {
            let number = interest.nonce.unwrap_or_default() as usize;
            let (copies, last) = &scripts[number % scripts.len()];
            let data =
                |genuine: bool| if genuine { self::genuine(interest) } else { forged(interest) };
            let copies = copies.iter().copied().chain([(*last, true)]);
            copies.map(|(late, genuine)| (Duration::from_micros(late), data(genuine))).collect()
        });
        prop_assert_eq!((ended, consumer.received), (Ok(()), LAST + 1));
    }
}

#[test]
fn endless_forged_copies_end_as_untrusted() {
    let mut consumer = Consumer::new(100, Box::new(AutoVerifier));
    let ended = consumer.run(&|interest| vec![(Duration::ZERO, forged(interest))]);
    assert!(matches!(ended, Err(FetchError::Untrusted { .. })), "{ended:?}");
    assert!(consumer.bench.now < Instant::from_millis(15_000), "{}", consumer.bench.now);
}

#[test]
fn data_without_interest_reaches_no_trusting_application() {
    let mut consumer = Consumer::new(0, Box::new(NoVerifier));
    let ended = consumer.run(&|interest| {
        let copies = [genuine(interest), genuine(interest)];
        copies.into_iter().map(|data| (Duration::ZERO, data)).collect()
    });
    assert_eq!((ended, consumer.received, consumer.rejected), (Ok(()), LAST + 1, 0));
}
