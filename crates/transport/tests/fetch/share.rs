//! What the receiving socket can hold, and others that share it.
use crate::world::{SEGMENT, World, config, file, honest};
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;

/// Half of what the socket holds is for twelve segments, each with its header.
const TWELVE: u64 = 2 * 12 * (SEGMENT as u64 + 200);

#[test]
fn a_window_stays_within_what_the_socket_holds() {
    let file = file(500 * SEGMENT);
    let mut world = World::new(config("/a/file"));
    world.at(Instant::ZERO, AppInput::FaceUp { receive_budget: Some(TWELVE) });
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.summary.window_max, 12.0);
}

#[test]
fn four_that_share_a_socket_have_a_quarter_each_until_the_others_have_ended() {
    let file = file(500 * SEGMENT);
    let mut world = World::new(config("/a/file"));
    world.at(Instant::ZERO, AppInput::Shared { among: 4 });
    world.at(Instant::ZERO, AppInput::FaceUp { receive_budget: Some(TWELVE) });
    let half_way = Instant::from_millis(1_000);
    assert_eq!(world.run_until(half_way, honest(&file)), None);
    assert_eq!(world.summary.window_max, 3.0);
    world.at(half_way, AppInput::Shared { among: 1 });
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.summary.window_max, 12.0);
}
