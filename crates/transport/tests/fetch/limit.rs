//! Time for the first answer, and limit of the rate.
use crate::harness::{Answer, DELAY, Harness, config, cut, file, honest, name};
use recoup_packet::nack::NackReason;
use recoup_transport::fetch::{FetchError, RateLimit};
use recoup_transport::time::{Duration, Instant};

#[test]
fn fetch_without_any_answer_ends_early() {
    let within = Duration::from_secs(8);
    for (uri, no_progress, ends) in [("/a/file", 60, 8), ("/a/file/v=7", 60, 8), ("/a/file", 5, 5)]
    {
        let mut limited = config(uri);
        limited.first_answer = Some(within);
        limited.options.no_progress = Duration::from_secs(no_progress);
        let mut harness = Harness::new(limited);
        let result = harness.run(|_| Vec::new());
        let within = Duration::from_secs(ends);
        assert_eq!(result, Err(FetchError::NoFirstAnswer { name: name(uri), within }));
        assert_eq!(harness.now, Instant::ZERO + within);
    }
}

#[test]
fn any_answer_ends_the_time_for_the_first() {
    let file = file(500);
    for nack in [false, true] {
        let mut limited = config("/a/file/v=7");
        limited.first_answer = Some(Duration::from_secs(8));
        limited.options.no_progress = Duration::from_secs(20);
        let mut harness = Harness::new(limited);
        let mut answered = false;
        let result = harness.run(|interest| {
            if std::mem::replace(&mut answered, true) {
                return Vec::new();
            }
            let answer = match nack {
                true => Answer::Nack(NackReason::Congestion),
                false => Answer::Data(cut(&file, interest).unwrap()),
            };
            vec![(DELAY, answer)]
        });
        let is_early = matches!(result, Err(FetchError::NoFirstAnswer { .. }));
        assert!(!is_early && harness.now > Instant::from_millis(19_000), "{result:?}");
    }
}

#[test]
fn rate_limit_holds_and_ends_no_fetch() {
    let file = file(5_000);
    let mut limited = config("/a/file/v=7");
    // A segment takes about 1.7 s, longer than the fetch may be without progress.
    limited.rate_limit = Some(RateLimit::new(100));
    limited.options.no_progress = Duration::from_secs(1);
    let mut harness = Harness::new(limited);
    let mut wire_bytes = 0;
    let result = harness.run(|interest| {
        let data = cut(&file, interest);
        wire_bytes += data.as_ref().map_or(0, |data| data.wire().len());
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    });
    assert_eq!((result, harness.bytes()), (Ok(()), file));
    let least = wire_bytes as f64 / 100.0 * 0.9;
    let seconds = harness.now.as_secs_f64();
    assert!(seconds > least && harness.asked.len() == 50, "{seconds} {}", harness.asked.len());
}

#[test]
fn limited_fetch_of_many_segments_is_spaced() {
    let file = file(100_000);
    let mut limited = config("/a/file");
    limited.rate_limit = Some(RateLimit::new(50_000));
    let mut harness = Harness::new(limited);
    assert_eq!(harness.run(honest(&file)), Ok(()));
    let seconds = harness.now.as_secs_f64();
    // Each packet has a name, a digest and a last segment beside its 100 bytes.
    assert!((2.5..6.0).contains(&seconds), "{seconds}");
}
