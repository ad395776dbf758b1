//! Channels, frame by frame, with literal times.
use super::*;
use crate::link::LinkOptions;
use crate::model::law::Law;
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;

/// A frame with a number, and the bytes that it is charged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame(u64, u32);

impl Load for Frame {
    fn bytes(&self) -> u32 {
        self.1
    }
}

fn plan() -> LinkOptions {
    let delay = Duration::from_millis(20);
    LinkOptions { rate_bits: 10_000_000, delay, ..LinkOptions::default() }
}

fn model(plan: &LinkOptions) -> ChannelModel {
    ChannelModel::read(plan, &Rng::from_seed(1).substream("link/a-b/forth")).unwrap()
}

fn channel(plan: &LinkOptions) -> Channel<Frame> {
    Channel::new(model(plan))
}

fn micros(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn offer(channel: &mut Channel<Frame>, now: Instant, number: u64) {
    channel.handle(now, ChannelInput::Frame { frame: Frame(number, 1_000), sequence: number });
}

/// All outputs from here on, with their times.
fn run(channel: &mut Channel<Frame>) -> Vec<(u64, ChannelOutput<Frame>)> {
    let mut all = Vec::new();
    while let Some(output) = channel.poll_decided() {
        all.push((0, output));
    }
    while let Some(at) = channel.deadline() {
        while let Some(output) = channel.poll(at) {
            all.push((at.as_nanos() / 1_000, output));
        }
    }
    all
}

fn arrivals(channel: &mut Channel<Frame>) -> Vec<(u64, u64)> {
    let arrived = |(at, output): (u64, ChannelOutput<Frame>)| match output {
        ChannelOutput::Arrived(frame) => Some((at, frame.0)),
        _ => None,
    };
    run(channel).into_iter().filter_map(arrived).collect()
}

#[test]
fn a_frame_takes_its_transmission_and_the_delay() {
    let mut channel = channel(&plan());
    offer(&mut channel, Instant::ZERO, 1);
    assert!(!channel.is_free(micros(799)) && channel.is_free(micros(800)));
    offer(&mut channel, micros(800), 2);
    assert_eq!(channel.poll(micros(20_799)), None);
    assert_eq!(arrivals(&mut channel), [(20_800, 1), (21_600, 2)]);
}

#[test]
fn sender_is_notified_when_the_rate_is_free() {
    let mut channel = channel(&plan());
    offer(&mut channel, Instant::ZERO, 1);
    assert_eq!(channel.deadline(), Some(micros(20_800)));
    channel.handle(micros(100), ChannelInput::Wanted { sequence: 2 });
    assert_eq!(channel.deadline(), Some(micros(800)));
    assert_eq!(channel.poll(micros(799)), None);
    assert_eq!(channel.poll(micros(800)), Some(ChannelOutput::Free));
    assert_eq!(channel.deadline(), Some(micros(20_800)));
}

#[test]
fn a_busy_rate_never_drifts() {
    let mut channel =
        channel(&LinkOptions { rate_bits: 7_000_000, delay: Duration::ZERO, ..plan() });
    for number in 0..7_000 {
        let free_at = channel.free_at();
        channel
            .handle(free_at, ChannelInput::Frame { frame: Frame(number, 125), sequence: number });
    }
    assert_eq!(channel.free_at(), Instant::from_millis(1_000));
}

#[test]
fn a_lost_frame_occupies_the_rate() {
    let mut channel = channel(&LinkOptions { loss: "trace(packets=1)".parse().unwrap(), ..plan() });
    offer(&mut channel, Instant::ZERO, 1);
    assert!(!channel.is_free(micros(799)));
    let lost = ChannelOutput::Lost { frame: Frame(1, 1_000), reason: LossReason::Model };
    assert_eq!(run(&mut channel), [(0, lost)]);
}

#[test]
fn delay_first_limit_counts_in_flight_and_queued() {
    let order = Order::DelayThenRate;
    let mut channel = channel(&LinkOptions { order, queue: QueueLimit::of_packets(3), ..plan() });
    for number in 1..=4 {
        offer(&mut channel, Instant::ZERO, number);
    }
    // The first has begun at 20 ms: space for one more, which comes to the rate at 40.5 ms.
    offer(&mut channel, micros(20_500), 5);
    offer(&mut channel, micros(20_500), 6);
    let full = |number| {
        (0, ChannelOutput::Lost { frame: Frame(number, 1_000), reason: LossReason::QueueFull })
    };
    let arrived = |at, number| (at, ChannelOutput::Arrived(Frame(number, 1_000)));
    assert_eq!(
        run(&mut channel),
        [
            full(4),
            full(6),
            arrived(20_800, 1),
            arrived(21_600, 2),
            arrived(22_400, 3),
            arrived(41_300, 5),
        ]
    );
}

#[test]
fn jitter_keeps_the_order_unless_it_may_not() {
    let jitter: Spelled<Law> = "uniform(min=0s,max=5ms)".parse().unwrap();
    for order in [Order::RateThenDelay, Order::DelayThenRate] {
        let plan = LinkOptions { jitter: jitter.clone(), order, ..plan() };
        let fed = |plan: &LinkOptions| {
            let mut channel = channel(plan);
            for number in 0..100 {
                offer(&mut channel, micros(number * 800), number);
            }
            arrivals(&mut channel)
        };
        let (kept, free) = (fed(&plan), fed(&LinkOptions { reorder: true, ..plan.clone() }));
        assert!(kept.is_sorted_by_key(|(_, number)| *number), "{order:?}");
        assert!(!free.is_sorted_by_key(|(_, number)| *number), "{order:?}");
        assert!(kept.is_sorted() && free.is_sorted_by_key(|(at, _)| *at), "{order:?}");
        assert_eq!((kept.len(), free.len()), (100, 100));
        assert!(kept.windows(2).any(|pair| pair[1].0 - pair[0].0 != 800), "{order:?}");
    }
}

#[test]
fn a_doubled_frame_arrives_twice() {
    let mut channel =
        channel(&LinkOptions { duplicate: "trace(packets=2)".parse().unwrap(), ..plan() });
    offer(&mut channel, Instant::ZERO, 1);
    offer(&mut channel, micros(800), 2);
    assert_eq!(channel.poll_decided(), Some(ChannelOutput::Doubled(Frame(2, 1_000))));
    assert_eq!(arrivals(&mut channel), [(20_800, 1), (21_600, 2), (21_600, 2)]);
}

#[test]
fn outage_loses_offered_and_spares_frames_in_flight() {
    let mut channel = channel(&plan());
    offer(&mut channel, Instant::ZERO, 1);
    channel.handle(micros(900), ChannelInput::Outage(true));
    offer(&mut channel, micros(900), 2);
    channel.handle(micros(2_000), ChannelInput::Outage(false));
    offer(&mut channel, micros(2_000), 3);
    let lost = ChannelOutput::Lost { frame: Frame(2, 1_000), reason: LossReason::Outage };
    assert_eq!(channel.poll_decided(), Some(lost));
    assert_eq!(arrivals(&mut channel), [(20_800, 1), (22_800, 3)]);
}

#[test]
fn a_failing_link_loses_what_is_on_it() {
    let mut channel = channel(&plan());
    offer(&mut channel, Instant::ZERO, 1);
    channel.handle(micros(900), ChannelInput::Down);
    offer(&mut channel, micros(950), 2);
    channel.handle(micros(1_000), ChannelInput::Up);
    offer(&mut channel, micros(1_000), 3);
    let lost =
        |number| ChannelOutput::Lost { frame: Frame(number, 1_000), reason: LossReason::Down };
    assert_eq!(channel.poll_decided(), Some(lost(1)));
    assert_eq!(channel.poll_decided(), Some(lost(2)));
    assert_eq!(arrivals(&mut channel), [(21_800, 3)]);
}

#[test]
fn a_change_leaves_times_and_unchanged_models_alone() {
    let lossy = LinkOptions { loss: "trace(packets=3)".parse().unwrap(), ..plan() };
    let mut channel = channel(&lossy);
    offer(&mut channel, Instant::ZERO, 1);
    let slower = LinkOptions { rate_bits: 1_000_000, ..lossy };
    channel.handle(micros(900), ChannelInput::Change(Box::new(model(&slower))));
    offer(&mut channel, micros(1_000), 2);
    offer(&mut channel, micros(9_000), 3);
    assert!(matches!(channel.poll_decided(), Some(ChannelOutput::Lost { .. })));
    assert_eq!(arrivals(&mut channel), [(20_800, 1), (29_000, 2)]);
}

#[test]
fn changed_link_carries_again_after_rate_zero() {
    use crate::link::OverTime;
    use crate::model::trace::{RateTrace, Trace as _};
    for order in [Order::RateThenDelay, Order::DelayThenRate] {
        let mut over_time = OverTime::parse("trace(file=x)").unwrap().unwrap();
        over_time.read(RateTrace::parse("0 8\n0.05 0\n").unwrap().into());
        let dead = LinkOptions { rate_trace: Some(over_time), order, ..plan() };
        let mut channel = queued(&dead);
        for (at, number) in [(0, 1), (60_000, 2), (61_000, 3)] {
            enqueue(&mut channel, micros(at), number);
            while channel.poll(micros(at)).is_some() {}
        }
        channel.handle(micros(100_000), ChannelInput::Change(Box::new(model(&plan()))));
        enqueue(&mut channel, micros(100_000), 4);
        let (mut arrived, mut lost) = (Vec::new(), Vec::new());
        while let Some(at) = channel.deadline() {
            assert!(at < micros(1_000_000), "{order:?}");
            while let Some(output) = channel.poll(at.max(micros(100_000))) {
                match output {
                    ChannelOutput::Arrived(frame) => arrived.push(frame.0),
                    ChannelOutput::Lost { frame, .. } => lost.push(frame.0),
                    _ => {}
                }
            }
        }
        assert_eq!(
            (&arrived[arrived.len() - 2..], &lost[..]),
            (&[3, 4][..], &[2][..]),
            "{order:?}"
        );
    }
}

#[test]
fn list_in_a_file_is_no_channel() {
    let unread = "bernoulli(p=0.1)+trace(file=lift.txt)".parse().unwrap();
    let plan = LinkOptions { duplicate: unread, ..plan() };
    let error = ChannelModel::read(&plan, &Rng::from_seed(1)).unwrap_err();
    assert_eq!(error.to_string(), "duplicate: the file `lift.txt` has not been read");
}

// --- with a queue in front ----------------------------------------------------------------------

fn queued(plan: &LinkOptions) -> QueuedChannel<Frame> {
    QueuedChannel::new(model(plan))
}

fn enqueue(channel: &mut QueuedChannel<Frame>, now: Instant, number: u64) {
    channel.handle(now, ChannelInput::Frame { frame: Frame(number, 1_000), sequence: number });
}

#[test]
fn full_queue_drops_at_its_tail() {
    let mut channel = queued(&LinkOptions { queue: QueueLimit::of_packets(2), ..plan() });
    for number in 1..=4 {
        enqueue(&mut channel, Instant::ZERO, number);
    }
    assert_eq!(channel.waiting(), (2, 2_000));
    let lost = ChannelOutput::Lost { frame: Frame(4, 1_000), reason: LossReason::QueueFull };
    assert_eq!(channel.poll(Instant::ZERO), Some(lost));
    enqueue(&mut channel, micros(800), 5);
    assert_eq!(channel.poll_decided(), None);
    assert_eq!(channel.inside().count(), 4);
}

#[test]
fn late_driver_does_not_slow_the_channel() {
    let mut channel = queued(&plan());
    for number in 1..=4 {
        enqueue(&mut channel, Instant::ZERO, number);
    }
    let late = micros(24_000);
    let mut arrived = 0;
    while let Some(ChannelOutput::Arrived(_)) = channel.poll(late) {
        arrived += 1;
    }
    assert_eq!((arrived, channel.channel().free_at()), (4, micros(3_200)));
}

#[test]
fn losses_do_not_stop_the_queue() {
    let mut channel =
        queued(&LinkOptions { loss: "trace(packets=1-3)".parse().unwrap(), ..plan() });
    for number in 1..=4 {
        enqueue(&mut channel, Instant::ZERO, number);
    }
    let mut arrived = None;
    while let Some(at) = channel.deadline() {
        while let Some(output) = channel.poll(at) {
            if let ChannelOutput::Arrived(frame) = output {
                arrived = Some((at, frame.0));
            }
        }
    }
    assert_eq!(arrived, Some((micros(23_200), 4)));
}

#[test]
fn queue_may_be_limited_in_bytes() {
    let mut channel = queued(&LinkOptions { queue: QueueLimit::of_bytes(2_500), ..plan() });
    for number in 1..=5 {
        enqueue(&mut channel, Instant::ZERO, number);
    }
    assert_eq!(channel.waiting(), (2, 2_000));
    channel.handle(Instant::ZERO, ChannelInput::Down);
    assert_eq!((channel.waiting(), channel.inside().count()), ((0, 0), 0));
}

#[test]
fn queued_frame_may_overtake_frame_in_flight() {
    let jitter = "uniform(min=0ms,max=50ms)".parse().unwrap();
    let plan = LinkOptions { jitter, reorder: true, ..plan() };
    let mut channel = queued(&plan);
    (0..50).for_each(|number| enqueue(&mut channel, Instant::ZERO, number));
    let (mut last, mut arrived) = (Instant::ZERO, Vec::new());
    while let Some(at) = channel.deadline() {
        assert!(at >= last, "{at} after {last}");
        last = at;
        while let Some(output) = channel.poll(at) {
            if let ChannelOutput::Arrived(frame) = output {
                arrived.push(frame.0);
            }
        }
    }
    assert_eq!(arrived.len(), 50);
    assert!(!arrived.is_sorted());
}

#[test]
fn last_frame_is_on_time_despite_earlier_one() {
    let long = LinkOptions { delay: Duration::from_millis(500), ..plan() };
    let mut channel = channel(&long);
    offer(&mut channel, Instant::ZERO, 1);
    let short = LinkOptions { order: Order::DelayThenRate, reorder: true, ..plan() };
    channel.handle(micros(1_000), ChannelInput::Change(Box::new(model(&short))));
    offer(&mut channel, micros(1_000), 2);
    assert_eq!(arrivals(&mut channel), [(21_800, 2), (500_800, 1)]);
}
