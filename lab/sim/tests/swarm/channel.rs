//! Channels as a seed makes them.
use crate::dice::Dice;
use recoup_sim::model::loss::Loss;
use recoup_sim::network::{LinkOptions, Order};
use recoup_transport::queue::QueueLimit;

/// A channel that loses nothing, keeps the order and is quick.
pub(crate) fn gentle(dice: &mut Dice) -> LinkOptions {
    LinkOptions {
        rate_bits: dice.magnitude(5_000_000, 100_000_000),
        delay: dice.millis(0, 30),
        queue: QueueLimit::UNLIMITED,
        overhead_bytes: dice.between(0, 46) as u32,
        ..LinkOptions::default()
    }
}

/// Any channel.
pub(crate) fn any(dice: &mut Dice) -> LinkOptions {
    let queue_packets = dice.chance(0.8).then(|| dice.magnitude(1, 200));
    let queue_bytes = dice.chance(0.2).then(|| dice.magnitude(1_500, 200_000));
    LinkOptions {
        rate_bits: if dice.chance(0.1) { 0 } else { dice.magnitude(200_000, 100_000_000) },
        delay: if dice.chance(0.1) { dice.millis(0, 0) } else { dice.millis(0, 60) },
        jitter: jitter(dice).parse().unwrap(),
        reorder: dice.chance(0.4),
        queue: QueueLimit { packets: queue_packets, bytes: queue_bytes },
        overhead_bytes: dice.between(0, 46) as u32,
        interest_bytes: dice.chance(0.1).then_some(40),
        loss: if dice.chance(0.5) { Loss::default().into() } else { loss(dice).parse().unwrap() },
        duplicate: if dice.chance(0.2) { "bernoulli(p=0.05)" } else { "none" }.parse().unwrap(),
        order: if dice.chance(0.2) { Order::DelayThenRate } else { Order::RateThenDelay },
        marking: marking(dice).parse().unwrap(),
        recovery: recovery(dice).parse().unwrap(),
        scheduler: "none".parse().unwrap(),
        rate_trace: None,
        delay_trace: None,
    }
}

fn jitter(dice: &mut Dice) -> &'static str {
    let none = "none";
    let law =
        [none, none, "constant(time=1ms)", "uniform(min=0ms,max=5ms)", "exponential(mean=2ms)"];
    match dice.place(law.len() + 1) as usize {
        place if place < law.len() => law[place],
        _ => "normal(sd=1ms)",
    }
}

fn marking(dice: &mut Dice) -> &'static str {
    dice.one(&["none", "none", "codel", "codel(threshold=3000,interval=10ms)"])
}

/// Not always the same at both ends, and not always fit for a link that reorders.
fn recovery(dice: &mut Dice) -> &'static str {
    const LONG: &str = "wldr(hold=6ms,kinds=data)";
    dice.one(&["off", "off", "off", "wldr", "wldr", "wldr(ring=8,resends=3)", LONG, "acked"])
}

fn loss(dice: &mut Dice) -> String {
    let at = dice.between(0, 8_000);
    match dice.between(0, 6) {
        0 => format!("bernoulli(p=0.{:02})", dice.between(1, 30)),
        1 => "gilbert-elliott(p=0.02,r=0.2)".into(),
        2 => "sojourn(good-time=1s,bad-time=100ms)".into(),
        3 => format!("burst(at={at}ms,packets={})", dice.between(1, 50)),
        4 => format!("burst(at=0s,packets=2,every={}ms)+bernoulli(p=0.01)", dice.between(50, 900)),
        5 => format!("trace(packets=1 3-4 10,times={at}ms-{}ms)", at + 300),
        _ => "bernoulli(p=0.001)".into(),
    }
}
