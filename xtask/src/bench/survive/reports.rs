//! Readers and disks that block the reports of a forwarder.
use super::super::process::Running;
use super::{FULL, SERVED, Stage, hostile};
use crate::chore::Outcome;
use std::process::Command;
use std::time::Instant;

/// Faces that come and go: each makes two lines.
const FACES: u64 = 10_000;

/// The standard error of a verbose forwarder is not read.
pub(super) fn unread(stage: &mut Stage) -> Outcome {
    start_with(stage, &["--log-level", "debug"])?;
    let opened = hostile::come_and_go(&stage.socket, &stage.tcp, FACES)?;
    let served = stage.offer(2)?;
    let left_out = stage.status.look()?.lines_left_out;
    let begun = Instant::now();
    stage.running.end()?;
    let took = begun.elapsed().as_secs_f64();
    let what = format!(
        "{opened} faces, {left_out} lines left out; others {:.1} %; ended after {took:.1} s",
        100.0 * served
    );
    stage.find("unread standard error", left_out > 0 && served >= SERVED && took < 5.0, what);
    Ok(())
}

/// Everything is recorded to a disk that has no room.
pub(super) fn recording(stage: &mut Stage) -> Outcome {
    start_with(stage, &["--record", FULL])?;
    let served = stage.offer(2)?;
    let failure = stage.status.look()?.recording_failure;
    let what =
        format!("{}; others {:.1} %", failure.as_deref().unwrap_or("goes on"), 100.0 * served);
    stage.find("recording, disk full", failure.is_some() && served >= SERVED, what);
    stage.running.kill();
    Ok(())
}

/// Restarts the forwarder with more arguments, and a producer.
fn start_with(stage: &mut Stage, words: &[&str]) -> Outcome {
    stage.running.kill();
    stage.start_again("")?;
    // The configuration is that of the one before, which has written it.
    stage.running.kill();
    let mut forward = Command::new(&stage.recoup);
    forward.args(["forward", "--json", "--config"]).arg(stage.room.path("node.toml")).args(words);
    let (running, printed) = Running::listen_unread(&mut forward)?;
    stage.running = running;
    let faces = printed["faces"].as_array().into_iter().flatten().filter_map(|uri| uri.as_str());
    let tcp = faces.filter_map(|uri| uri.strip_prefix("tcp4://")).next();
    stage.tcp = tcp.ok_or("the forwarder has no tcp")?.to_owned();
    stage.produce()
}
