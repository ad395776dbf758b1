//! Receive buffer, and its division among applications.
use crate::harness::{Harness, SEGMENT, config, file, honest};
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;

/// Twice the bytes of twelve segments with their headers, because half of the buffer counts.
const TWELVE: u64 = 2 * 12 * (SEGMENT as u64 + 200);

#[test]
fn window_stays_within_the_receive_buffer() {
    let file = file(500 * SEGMENT);
    let mut harness = Harness::new(config("/a/file"));
    harness.at(Instant::ZERO, AppInput::FaceUp { receive_budget: Some(TWELVE) });
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.summary.window_max, 12.0);
}

#[test]
fn receive_buffer_is_divided_among_fetches() {
    let file = file(500 * SEGMENT);
    let mut harness = Harness::new(config("/a/file"));
    harness.at(Instant::ZERO, AppInput::Shared { among: 4 });
    harness.at(Instant::ZERO, AppInput::FaceUp { receive_budget: Some(TWELVE) });
    let half_way = Instant::from_millis(1_000);
    assert_eq!(harness.run_until(half_way, honest(&file)), None);
    assert_eq!(harness.summary.window_max, 3.0);
    harness.at(half_way, AppInput::Shared { among: 1 });
    assert_eq!(harness.run(honest(&file)), Ok(()));
    assert_eq!(harness.summary.window_max, 12.0);
}
