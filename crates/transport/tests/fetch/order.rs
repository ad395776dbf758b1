//! Reordering-based loss detection, on a path with a round trip of 100 ms and 10 Mbit/s.
use crate::harness::{Answer, Harness, segment_of, with_options};
use recoup_packet::data::{ContentType, Data, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::NoVerifier;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchConfig, Retries};
use recoup_transport::loss::Phase;
use recoup_transport::random::Rng;
use recoup_transport::rto::Sampling;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

const RTT: Duration = Duration::from_millis(100);
/// 1,100 bytes at 10 Mbit/s.
const PACKET: Duration = Duration::from_micros(880);
const SEGMENTS: u64 = 4_000;
const FLAVOURS: [&str; 3] = ["newreno", "cubic", "compound"];

/// Fate of a transmission, by its time, segment and number: the delay of its Data, or `None` for a loss.
type Fate<'a> = dyn FnMut(Instant, u64, u32) -> Option<Duration> + 'a;

pub(crate) fn udugama(flavour: &str) -> String {
    format!("udugama2013(flavour={flavour})")
}

pub(crate) fn config(congestion: &str, loss: &str) -> FetchConfig {
    let mut config = with_options("/a/file/v=7", |it| {
        it.rto = "jacobson(max=64s)".parse().expect("an estimator");
        it.congestion = congestion.parse().expect("a window");
        it.loss = loss.parse().expect("a detector");
        it.sampling = Sampling::Every;
        it.discover = false;
    });
    config.verifier = Box::new(NoVerifier);
    config
}

fn describe(segments: u64, interest: &Interest) -> Data {
    let last = Some(Convention::Typed.segment(segments - 1));
    let shape = SignatureShape::Total { packet_bytes: 1_100 };
    let template = Template::new(ContentType::Blob, Duration::ZERO, last, shape);
    template.describe(interest.name.clone(), 1_000).expect("a packet")
}

/// Fetches the number of segments that most tests use.
pub(crate) fn path(config: FetchConfig, fate: &mut Fate<'_>) -> Harness {
    path_of(SEGMENTS, config, fate)
}

/// Fetches `segments` segments.
pub(crate) fn path_of(segments: u64, config: FetchConfig, fate: &mut Fate<'_>) -> Harness {
    let mut harness = Harness::new(config);
    let (mut free, mut times) = (Instant::ZERO, BTreeMap::new());
    let result = harness.run_timed(|now, interest| {
        let segment = segment_of(interest).expect("a segment");
        let times = times.entry(segment).or_insert(0);
        *times += 1;
        if segment >= segments {
            return Vec::new();
        }
        // The bottleneck keeps the order; delays are behind it.
        free = free.max(now + RTT - PACKET) + PACKET;
        let arrived = fate(now, segment, *times).map(|held_up| free + held_up);
        arrived
            .map(|at| (at.since(now), Answer::Data(describe(segments, interest))))
            .into_iter()
            .collect()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(harness.summary.segments, segments);
    harness
}

/// The first transmissions of `burst` segments are lost.
fn burst(at: u64, burst: u64) -> impl FnMut(Instant, u64, u32) -> Option<Duration> {
    move |_, segment, times| {
        let lost = times == 1 && (at..at + burst).contains(&segment);
        (!lost).then_some(Duration::ZERO)
    }
}

fn phases(harness: &Harness) -> Vec<(Instant, Phase)> {
    let phase = |(at, event): &(Instant, Event)| match event {
        Event::Phase { phase } => Some((*at, *phase)),
        _ => None,
    };
    harness.events.iter().filter_map(phase).collect()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[test]
fn third_data_is_suspicion_and_sixth_a_loss() {
    let harness = path(config(&udugama("newreno"), "smart"), &mut burst(1_000, 1));
    let [(pre_at, Phase::Pre), (fast_at, Phase::Fast), (over_at, Phase::Normal)] =
        phases(&harness)[..]
    else {
        panic!("{:?}", phases(&harness));
    };
    assert_eq!((fast_at.since(pre_at), over_at.since(fast_at)), (PACKET * 3, RTT));
}

#[test]
fn selective_repair_takes_one_round_trip() {
    for flavour in FLAVOURS {
        for losses in [1, 2, 3, 4, 8] {
            for (version, round_trips) in [("simple2", losses), ("simple3", 1), ("smart", 1)] {
                let harness = path(config(&udugama(flavour), version), &mut burst(1_000, losses));
                let summary = &harness.summary;
                let what = format!("{flavour}, {version}, {losses}: {summary:?}");
                assert_eq!((summary.recovery.entries, summary.timeouts), (1, 0), "{what}");
                assert_eq!((summary.repaired, summary.lost_by_order), (losses, losses), "{what}");
                assert_eq!((summary.reductions.total(), summary.spurious), (1, 0), "{what}");
                let time = millis(summary.recovery.time);
                // Compound's window keeps growing meanwhile, and a queue with it.
                let slack = if flavour == "compound" { 1.05 } else { 1.01 };
                let least = 100.0 * round_trips as f64;
                assert!((least..least * slack + 8.0).contains(&time), "{what}: {time} ms");
            }
        }
    }
}

/// Just wider than the path (114 packets), so that Data arrives back to back and only the tests delay it.
const CUBIC: &str = "cubic(max-cwnd=120)";

/// Data of these segments arrives `packets` packets late.
fn held_up(
    segments: impl Fn(u64) -> bool,
    packets: u32,
) -> impl FnMut(Instant, u64, u32) -> Option<Duration> {
    move |_, segment, times| {
        let late = times == 1 && segments(segment);
        Some(if late { PACKET * packets } else { Duration::ZERO })
    }
}

#[test]
fn second_loss_needs_a_timer_or_rescan() {
    for (detector, timeouts, lost) in [
        ("simple2", 1, 1),
        ("simple3", 1, 1),
        ("smart", 1, 1),
        ("out-of-order(rescan=true)", 0, 2),
        ("pre-recovery(rescan=true)", 0, 2),
        ("time-threshold", 0, 2),
    ] {
        for window in [CUBIC, "udugama2013(flavour=cubic,max-cwnd=120)"] {
            let harness = path(config(window, detector), &mut |_, segment, times| {
                (segment != 1_000 || times > 2).then_some(Duration::ZERO)
            });
            let summary = &harness.summary;
            let what = format!("{detector}, {window}: {summary:?}");
            assert_eq!((summary.timeouts, summary.lost_by_order), (timeouts, lost), "{what}");
            assert_eq!(summary.repaired, 1 - timeouts, "{what}");
            assert_eq!(summary.reductions.total(), 2, "each is an event of its own: {what}");
        }
    }
}

#[test]
fn a_false_alarm_is_known_and_taken_back() {
    let mut late = held_up(|segment| segment == 1_000, 5);
    let harness = path(config(CUBIC, "out-of-order"), &mut late);
    let summary = &harness.summary;
    assert_eq!((summary.lost_by_order, summary.false_alarms, summary.repaired), (1, 1, 0));
    assert_eq!((summary.timeouts, summary.reductions.order), (0, 1));
    let window = harness.summary.window;
    assert_eq!(window, Some(120.0), "nothing else reduced it, and that was undone");
    let [(fast_at, Phase::Fast), (over_at, Phase::Normal)] = phases(&harness)[..] else {
        panic!("{:?}", phases(&harness));
    };
    assert_eq!(over_at.since(fast_at), PACKET * 2, "recovery ends with its reason");
}

#[test]
fn five_data_out_of_order_pass_pre_recovery() {
    for window in [CUBIC, "udugama2013(flavour=newreno,max-cwnd=120)"] {
        let mut late = held_up(|segment| segment % 200 == 100, 5);
        let deceived = path(config(window, "simple3"), &mut late).summary;
        let mut late = held_up(|segment| segment % 200 == 100, 5);
        let smart = path(config(window, "smart"), &mut late).summary;
        // A spurious reduction does not fill the path, which delays some of them.
        assert!(deceived.false_alarms * 10 >= SEGMENTS / 200 * 7, "{deceived:?}");
        assert_eq!(deceived.lost_by_order, deceived.false_alarms);
        assert_eq!((smart.lost_by_order, smart.retransmissions), (0, 0), "{smart:?}");
        assert!(smart.recovery.suspicions * 10 >= SEGMENTS / 200 * 7, "{smart:?}");
        assert_eq!(smart.recovery.entries, 0);
    }
}

#[test]
fn deep_reordering_adapts_pre_recovery_if_enabled() {
    let alarms = |detector| {
        let mut late = held_up(|segment| segment % 200 == 100, 12);
        path(config(CUBIC, detector), &mut late).summary.false_alarms
    };
    assert_eq!(alarms("pre-recovery"), SEGMENTS / 200);
    assert_eq!(alarms("pre-recovery(learn=true)"), 1);
}

#[test]
fn two_sources_confuse_a_packet_threshold() {
    // Every second segment comes from a source that is 30 ms further away; there is no loss.
    let run = |detector| {
        let far = Duration::from_millis(30);
        let mut sources =
            |_: Instant, segment: u64, _: u32| Some(far * u32::from(segment % 2 == 1));
        path(config(CUBIC, detector), &mut sources).summary
    };
    let count = run("out-of-order");
    assert!(count.false_alarms > SEGMENTS / 10, "{count:?}");
    for detector in ["time-threshold", "time-threshold(share=1/4)"] {
        let age = run(detector);
        assert!(age.false_alarms <= 3 && age.retransmissions <= 3, "{detector}: {age:?}");
        assert_eq!(age.timeouts, 0);
    }
}

#[test]
fn share_leaves_few_losses_to_timers() {
    let run = |lost: fn(u64) -> bool| {
        let mut lossy = |_: Instant, segment: u64, times: u32| {
            (times > 1 || !lost(segment)).then_some(Duration::ZERO)
        };
        path(config(CUBIC, "time-threshold(share=1/4)"), &mut lossy).summary
    };
    let few = run(|segment| segment % 20 == 0);
    assert_eq!((few.lost_by_order, few.timeouts), (0, SEGMENTS / 20));
    let many = run(|segment| (1_000..1_100).contains(&segment) && segment % 2 == 0);
    // The first seven are below the share.
    assert_eq!((many.lost_by_order, many.timeouts), (50, 0), "{many:?}");
    assert_eq!(many.reductions.total(), 1);
}

#[test]
fn random_losses_are_repaired_before_timers() {
    let run = |window: &str, detector: &str| {
        let mut rng = Rng::from_seed(7);
        let mut lossy = |_: Instant, _: u64, _: u32| (rng.below(200) > 0).then_some(Duration::ZERO);
        path(config(window, detector), &mut lossy).summary
    };
    for window in [CUBIC, "newreno", "compound", "udugama2013(flavour=newreno)"] {
        let timers = run(window, "timeout");
        for detector in ["out-of-order", "pre-recovery", "time-threshold"] {
            let summary = run(window, detector);
            let what = format!("{window}, {detector}: {summary:?}\n{timers:?}");
            assert!(summary.repaired * 10 >= summary.retransmissions * 7, "{what}");
            assert!(summary.timeouts * 3 <= timers.timeouts, "{what}");
            assert_eq!(summary.false_alarms, 0, "{what}");
        }
    }
}

#[test]
fn spurious_losses_do_not_spend_the_retries() {
    let detector = "pre-recovery(frt=1,rescan=true,learn=true,cap=0.5)";
    for window in [CUBIC, "udugama2013(flavour=cubic)", "cubic(accounting=span)"] {
        let mut rng = Rng::from_seed(3);
        let mut config = config(window, detector);
        config.options.retries = Retries(Some(8));
        let harness = path(config, &mut |_, _, _| Some(Duration::from_micros(rng.below(20_000))));
        assert!(harness.summary.false_alarms > 0);
        let asked_most = harness.events.iter().filter_map(|(_, event)| match event {
            Event::Sent { transmissions, .. } => Some(*transmissions),
            _ => None,
        });
        assert!(asked_most.max() <= Some(6), "{window}: {:?}", harness.summary);
    }
}

#[test]
fn rest_of_a_timed_out_flight_reduces_nothing() {
    // Both transmissions of the hole are lost, and a whole flight arrives out of order in between.
    for detector in ["simple3", "smart"] {
        let window = "udugama2013(flavour=newreno)";
        let harness = path(config(window, detector), &mut |_, segment, times| {
            let twice = segment == 1_000 && times < 3;
            (!twice).then_some(Duration::ZERO)
        });
        let reduced = |(_, event): &&(Instant, Event)| matches!(event, Event::Reduced { .. });
        assert_eq!(harness.events.iter().filter(reduced).count(), 2, "one of each kind");
        assert_eq!((harness.summary.reductions.order, harness.summary.reductions.timeout), (1, 1));
    }
}
