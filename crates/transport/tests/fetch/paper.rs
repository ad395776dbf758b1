//! The rules of S. Yang's consumer (2016), one by one, with exact times.
use crate::harness::{Answer, Answers, DELAY, Harness, cut, file, name, segment_of, with_options};
use recoup_packet::interest::Interest;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchConfig, Retries};
use recoup_transport::rto::Sampling;
use recoup_transport::time::{Duration, Instant};

/// The paper's consumer, with this window, timer and sampling.
pub(crate) fn paper(window: &str, timer: &str, sampling: Sampling) -> FetchConfig {
    with_options("/a/file/v=7", |it| {
        it.congestion = window.parse().expect("a window");
        it.rto = timer.parse().expect("an estimator");
        it.sampling = sampling;
        it.retries = Retries(None);
        it.rto_check = Duration::from_millis(10);
    })
}

/// Design #1, #2 or #3 with these window settings.
fn design(number: u8, window: &str) -> FetchConfig {
    let window = match number {
        1 => format!("yang2016(conservative=off,{window})"),
        _ => format!("yang2016({window})"),
    };
    let sampling = if number == 3 { Sampling::PerRtt } else { Sampling::Every };
    paper(&window, "yang2016", sampling)
}

/// Answers Interests with the segments of `file`, each after `delay(segment, transmission)`, if at all.
fn after<'a>(
    file: &'a [u8],
    delay: impl Fn(u64, u32) -> Option<Duration> + 'a,
) -> impl FnMut(&Interest) -> Answers + 'a {
    let mut transmissions = std::collections::BTreeMap::new();
    move |interest| {
        let segment = segment_of(interest).expect("a segment");
        let count = transmissions.entry(segment).or_insert(0);
        *count += 1;
        let answer = delay(segment, *count).zip(cut(file, interest));
        answer.into_iter().map(|(delay, data)| (delay, Answer::Data(data))).collect()
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Harness {
    /// Events selected by `pick`, with milliseconds.
    fn found<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> Vec<(u64, T)> {
        let millis = |at: Instant| at.as_nanos() / 1_000_000;
        self.events.iter().filter_map(|(at, event)| Some((millis(*at), pick(event)?))).collect()
    }

    /// Send time and number of each segment.
    fn sent(&self) -> Vec<(u64, u64)> {
        self.found(|event| match event {
            Event::Sent { segment, .. } => Some(*segment),
            _ => None,
        })
    }

    fn timed_out(&self) -> Vec<(u64, u64)> {
        self.found(|event| match event {
            Event::TimedOut { segment } => Some(*segment),
            _ => None,
        })
    }

    fn reduced(&self) -> Vec<u64> {
        let found = self.found(|event| matches!(event, Event::Reduced { .. }).then_some(()));
        found.into_iter().map(|(at, ())| at).collect()
    }

    fn sampled(&self) -> Vec<(u64, u64)> {
        self.found(|event| match event {
            Event::Sampled { segment, .. } => Some(*segment),
            _ => None,
        })
    }

    fn windows(&self) -> Vec<(u64, f64)> {
        self.found(|event| match event {
            Event::Window { window, .. } => Some(*window),
            _ => None,
        })
    }

    /// Timeout of each retransmission.
    fn resent_with(&self) -> Vec<(u64, Duration)> {
        self.found(|event| match event {
            Event::Sent { transmissions: 2.., rto, .. } => Some(rto.duration()),
            _ => None,
        })
    }
}

#[test]
fn timeouts_before_data_back_off_per_event() {
    for (number, expected) in [(3, [1_010, 2_020, 3_030]), (1, [1_010, 3_020, 7_030])] {
        let mut harness = Harness::new(design(number, "init-cwnd=1"));
        harness.run_until(Instant::from_millis(8_000), |_| Vec::new());
        let times: Vec<_> = harness.timed_out().iter().map(|(at, _)| *at).collect();
        assert_eq!(times[..3], expected, "design #{number}");
        assert_eq!(harness.reduced().is_empty(), number == 3);
    }
}

#[test]
fn timeout_fires_at_the_next_scan() {
    // 33 ms are over before the scan at 40 ms, 40 ms are not.
    for (timer, expected) in [("33ms", [(40, 0), (80, 0)]), ("40ms", [(50, 0), (100, 0)])] {
        let timer = format!("constant(rto={timer})");
        let mut harness = Harness::new(paper("fixed(window=1)", &timer, Sampling::Every));
        harness.run_until(Instant::from_millis(110), |_| Vec::new());
        assert_eq!(harness.timed_out(), expected);
    }
}

#[test]
fn unused_window_grows_with_each_data() {
    let file = file(300);
    let mut harness = Harness::new(design(3, "init-cwnd=4,init-ssthresh=6"));
    assert_eq!(harness.run(after(&file, |_, _| Some(DELAY))), Ok(()));
    assert_eq!(harness.windows(), [(20, 5.0), (20, 6.0), (20, 6.0 + 1.0 / 6.0)]);
}

#[test]
fn losses_of_one_flight_follow_the_design() {
    // 3 and 5 of the first eight are lost. All forty have arrived when their first second is over.
    let file = file(4_000);
    let lossy = |segment, count| (count > 1 || !matches!(segment, 3 | 5)).then_some(DELAY);
    for (number, events) in [(2, 1), (1, 2)] {
        let mut harness = Harness::new(design(number, "init-cwnd=8,init-ssthresh=8"));
        assert_eq!(harness.run(after(&file, lossy)), Ok(()));
        assert_eq!(harness.timed_out(), [(1_010, 3), (1_010, 5)]);
        assert_eq!(harness.reduced(), [1_010, 1_010][..events]);
        let windows = harness.windows();
        let before = windows.iter().rfind(|(at, _)| *at < 1_010).expect("a window").1;
        let after: Vec<_> = windows.iter().filter(|(at, _)| *at == 1_010).map(|w| w.1).collect();
        assert_eq!(after, [before / 2.0, before / 4.0][..events]);
        let factor = 1 << events;
        let estimate = harness.found(|event| match event {
            Event::Sampled { rto, .. } => Some(rto.duration()),
            _ => None,
        });
        let (_, estimate) = estimate.last().expect("a sample");
        let doubled = |(at, rto): &(u64, Duration)| (*at, rto.as_nanos() / estimate.as_nanos());
        let resent: Vec<_> = harness.resent_with().iter().map(doubled).collect();
        assert_eq!(resent, [(1_010, factor), (1_010, factor)], "design #{number}");
    }
}

#[test]
fn reset_to_init_restores_the_first_window() {
    let file = file(4_000);
    let lossy = |segment, count| (count > 1 || segment != 3).then_some(DELAY);
    let window = "init-cwnd=8,init-ssthresh=8,reset-to-init=true";
    let mut harness = Harness::new(design(3, window));
    assert_eq!(harness.run(after(&file, lossy)), Ok(()));
    assert!(harness.windows().contains(&(1_010, 8.0)));
}

/// One of four segments arrives at once. The others arrive after 1.015 s, when all have timed out and two of them
/// were retransmitted.
fn late(segment: u64, _: u32) -> Option<Duration> {
    Some(if segment == 1 { DELAY } else { ms(1_015) })
}

#[test]
fn late_data_cancels_a_queued_retransmission() {
    let file = file(400);
    let mut harness = Harness::new(design(2, "init-cwnd=4,init-ssthresh=4"));
    assert_eq!(harness.run(after(&file, late)), Ok(()));
    assert_eq!(harness.reduced(), [1_010]);
    // No segment is in flight any more and the window is 2.125: two are retransmitted, the third waits.
    assert_eq!(harness.sent(), [(0, 0), (0, 1), (0, 2), (0, 3), (1_010, 0), (1_010, 2)]);
    assert_eq!(harness.now, Instant::from_millis(1_015));
    assert_eq!(harness.bytes(), file);
}

#[test]
fn withdrawn_interest_wastes_late_data() {
    let file = file(400);
    let mut config = design(2, "init-cwnd=4,init-ssthresh=4");
    config.options.cancel_on_timeout = true;
    let mut harness = Harness::new(config);
    let delay = |segment, count| if count == 1 { late(segment, count) } else { Some(DELAY) };
    assert_eq!(harness.run(after(&file, delay)), Ok(()));
    // 0 and 2 were retransmitted: their Data is used.
    assert_eq!(harness.sent()[4..], [(1_010, 0), (1_010, 2), (1_015, 3)]);
    assert_eq!(harness.now, Instant::from_millis(1_035));
    assert_eq!((harness.summary.withdrawn, harness.summary.segments), (1, 4));
    assert_eq!(harness.bytes(), file);
}

#[test]
fn late_first_answer_is_a_sample() {
    let file = file(400);
    for (number, expected) in [(2, &[(20, 1), (1_015, 3)][..]), (3, &[])] {
        let mut harness = Harness::new(design(number, "init-cwnd=4,init-ssthresh=4"));
        assert_eq!(harness.run(after(&file, late)), Ok(()));
        assert_eq!(harness.sampled(), expected, "design #{number}");
    }
}

#[test]
fn one_new_segment_is_timed_at_once() {
    let file = file(2_800);
    let lossy = |segment, count| (count > 1 || segment != 4).then_some(DELAY);
    let mut harness = Harness::new(paper("fixed(window=4)", "yang2016", Sampling::PerRtt));
    assert_eq!(harness.run(after(&file, lossy)), Ok(()));
    // The first sample makes the timeout 60 ms; 4 is requested at 20 ms and times out at 90 ms. The next new segment
    // is 17, at 100 ms.
    assert_eq!(harness.timed_out(), [(90, 4)]);
    assert_eq!(harness.sampled(), [(20, 0), (120, 17), (140, 21), (160, 25)]);
}

#[test]
fn timeout_is_fixed_at_transmission() {
    // The following samples reduce the timeout to tens of milliseconds; segment 0 waits its second.
    let file = file(400);
    let lossy = |segment, count| (count > 1 || segment != 0).then_some(DELAY);
    let mut harness = Harness::new(design(3, "init-cwnd=2,init-ssthresh=2"));
    assert_eq!(harness.run(after(&file, lossy)), Ok(()));
    assert_eq!(harness.timed_out(), [(1_010, 0)]);
    assert_eq!(harness.now, Instant::from_millis(1_030));
}

#[test]
fn design_0_retransmits_after_its_timeout() {
    let mut harness = Harness::new(paper("fixed(window=1)", "constant(rto=1s)", Sampling::Every));
    harness.run_until(Instant::from_millis(4_000), |_| Vec::new());
    assert_eq!(harness.sent(), [(0, 0), (1_010, 0), (2_020, 0), (3_030, 0)]);
    assert!(harness.asked.iter().all(|interest| interest.name == name("/a/file/v=7/seg=0")));
}

#[test]
fn loss_rate_counts_loss_events_per_segment() {
    let file = file(4_000);
    let lossy = |segment, count| (count > 1 || !matches!(segment, 3 | 5)).then_some(DELAY);
    let mut harness = Harness::new(design(2, "init-cwnd=8,init-ssthresh=8"));
    assert_eq!(harness.run(after(&file, lossy)), Ok(()));
    assert_eq!(harness.summary.timeouts, 2);
    assert_eq!(harness.summary.loss_rate(), Some(1.0 / 40.0));
}
