//! BBR on one bottleneck: a rate, a buffer, and a base round trip of 100 ms.
use super::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BASE: u64 = 100_000_000;

/// A path of one bottleneck.
struct Path {
    /// Nanoseconds for one segment.
    service: u64,
    /// Segments that may wait.
    buffer: u64,
    /// Each n-th transmission is lost; 0: none.
    lost_each: u64,
}

/// A sender with an endless object.
struct Sender {
    bbr: Bbr,
    now: u64,
    free: u64,
    next_send: u64,
    order: u64,
    in_flight: u32,
    delivered: u64,
    lost: u64,
    /// Arrivals and losses: time, order, send time, whether it arrives.
    events: BinaryHeap<Reverse<(u64, u64, u64, bool)>>,
    longest_rtt: u64,
}

impl Sender {
    fn new() -> Self {
        Self {
            bbr: Bbr::new(10.0),
            now: 0,
            free: 0,
            next_send: 0,
            order: 0,
            in_flight: 0,
            delivered: 0,
            lost: 0,
            events: BinaryHeap::new(),
            longest_rtt: 0,
        }
    }

    fn send(&mut self, path: &Path) {
        while f64::from(self.in_flight + 1) <= self.bbr.window() && self.next_send <= self.now {
            self.order += 1;
            self.in_flight += 1;
            if let Some(rate) = self.bbr.pacing_rate(None) {
                self.next_send = self.next_send.max(self.now) + (1e9 / rate) as u64;
            }
            let waiting = self.free.saturating_sub(self.now) / path.service;
            let random = path.lost_each > 0 && self.order.is_multiple_of(path.lost_each);
            let arrives = waiting <= path.buffer && !random;
            if arrives {
                self.free = self.free.max(self.now) + path.service;
            }
            let end = self.free.max(self.now) + BASE;
            self.events.push(Reverse((end, self.order, self.now, arrives)));
        }
    }

    /// Runs until a time in milliseconds.
    fn run(&mut self, path: &Path, until: u64) {
        let until = until * 1_000_000;
        loop {
            self.send(path);
            let event = self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
            let may_send = f64::from(self.in_flight + 1) <= self.bbr.window();
            let send = if may_send { self.next_send } else { u64::MAX };
            let next = event.min(send);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if next == event {
                self.answer();
            }
        }
    }

    fn answer(&mut self) {
        let Some(Reverse((at, order, sent, arrives))) = self.events.pop() else { return };
        let (now, in_flight) = (Instant::from_nanos(at), self.in_flight);
        if arrives {
            let rtt = Duration::from_nanos(at - sent);
            self.longest_rtt = self.longest_rtt.max(at - sent);
            self.delivered += 1;
            self.bbr.on_delivered(
                now,
                &Delivered {
                    segment: order,
                    order,
                    highest_order: self.order,
                    rtt: Some(rtt),
                    srtt: Some(rtt),
                    in_flight,
                    advance: 1,
                    ..Delivered::default()
                },
            );
        } else {
            self.lost += 1;
            self.bbr.on_loss(now, &loss(LossKind::Order, order, self.order, in_flight));
        }
        self.in_flight -= 1;
    }
}

fn loss(kind: LossKind, order: u64, highest_order: u64, in_flight: u32) -> Loss {
    Loss {
        kind,
        order,
        highest_order,
        high_data: order,
        high_interest: highest_order,
        in_flight,
        evidence: 3,
        ..Loss::default()
    }
}

/// 1,000 segments a second: 100 in flight fill the path.
fn path(buffer: u64, lost_each: u64) -> Path {
    Path { service: 1_000_000, buffer, lost_each }
}

#[test]
fn model_finds_rate_and_round_trip() {
    let mut sender = Sender::new();
    sender.run(&path(10_000, 0), 4_000);
    let bw = sender.bbr.model.bw().unwrap();
    assert!((bw - 1_000.0).abs() < 20.0, "{bw}");
    assert_eq!(sender.bbr.model.min_rtt.unwrap().as_millis(), 101);
    assert!(sender.bbr.state.is_probe_bw(), "{:?}", sender.bbr.state);
    assert!(sender.bbr.window() <= 240.0, "{}", sender.bbr.window());
    let before = sender.delivered;
    sender.longest_rtt = 0;
    sender.run(&path(10_000, 0), 8_000);
    assert!(sender.delivered - before > 3_800, "{}", sender.delivered - before);
    assert!(sender.longest_rtt < 200_000_000, "{}", sender.longest_rtt);
}

#[test]
fn startup_ends_by_losses_in_a_short_buffer() {
    let mut sender = Sender::new();
    sender.run(&path(20, 0), 3_000);
    assert!(sender.bbr.full_bw_reached);
    assert!(sender.bbr.model.inflight_hi.is_finite());
    let (before, lost) = (sender.delivered, sender.lost);
    sender.run(&path(20, 0), 13_000);
    assert!(sender.delivered - before > 8_800, "{}", sender.delivered - before);
    let share = (sender.lost - lost) as f64 / (sender.delivered - before) as f64;
    assert!(share < 0.02, "{share}");
}

#[test]
fn random_loss_below_the_threshold_costs_little() {
    let mut sender = Sender::new();
    sender.run(&path(200, 100), 3_000);
    let before = sender.delivered;
    sender.run(&path(200, 100), 13_000);
    assert!(sender.delivered - before > 8_000, "{}", sender.delivered - before);
}

#[test]
fn probe_rtt_shrinks_the_flight_after_five_seconds() {
    let mut sender = Sender::new();
    let path = path(10_000, 0);
    sender.run(&path, 3_000);
    let mut seen = None;
    for at in (3_000..9_000).step_by(10) {
        sender.run(&path, at);
        if sender.bbr.state == State::ProbeRtt {
            seen.get_or_insert((at, sender.bbr.window()));
        }
    }
    let (at, window) = seen.unwrap();
    assert!((5_000..7_000).contains(&at), "{at}");
    assert!(window <= 60.0, "{window}");
    assert_ne!(sender.bbr.state, State::ProbeRtt);
}

#[test]
fn lower_rate_is_followed_within_two_cycles() {
    let mut sender = Sender::new();
    sender.run(&path(10_000, 0), 4_000);
    let slow = Path { service: 4_000_000, buffer: 10_000, lost_each: 0 };
    sender.run(&slow, 20_000);
    let bw = sender.bbr.model.bw().unwrap();
    assert!((200.0..320.0).contains(&bw), "{bw}");
}

#[test]
fn silence_leaves_one_more_than_in_flight() {
    let mut sender = Sender::new();
    sender.run(&path(10_000, 0), 4_000);
    let before = sender.bbr.window();
    let now = Instant::from_millis(6_000);
    let order = sender.order;
    assert!(sender.bbr.on_loss(now, &loss(LossKind::Timeout, order, order, 0)));
    assert_eq!(sender.bbr.window(), 1.0);
    assert!(before > 50.0);
}

#[test]
fn late_first_delivery_begins_no_probe_rtt() {
    let mut sender = Sender::new();
    sender.now = 20_000_000_000;
    (sender.free, sender.next_send) = (sender.now, sender.now);
    sender.run(&path(10_000, 0), 20_050);
    assert_eq!(sender.bbr.state, State::Startup);
    sender.run(&path(10_000, 0), 24_000);
    assert!(sender.bbr.window() > 100.0, "{}", sender.bbr.window());
}

#[test]
fn silence_in_probe_rtt_keeps_the_former_window() {
    let (mut sender, path) = (Sender::new(), path(10_000, 0));
    let mut at = 3_000;
    sender.run(&path, at);
    let before = sender.bbr.window();
    while sender.bbr.state != State::ProbeRtt {
        at += 10;
        sender.run(&path, at);
    }
    let order = sender.order;
    sender.bbr.on_loss(Instant::from_nanos(sender.now), &loss(LossKind::Timeout, order, order, 0));
    sender.run(&path, at + 2_000);
    assert!(sender.bbr.window() >= before / 2.0, "{before} {}", sender.bbr.window());
}
