//! Applications that come and go.
use super::super::forward::numbers;
use super::{LIFETIME, SERVED, Stage, share};
use crate::chore::{Outcome, capture, command};

/// Applications that register a prefix and quit.
const APPLICATIONS: u64 = 20_000;

/// Applications register prefixes and quit at once, while others are served.
pub(super) fn come_and_go(stage: &mut Stage) -> Outcome {
    stage.running.kill();
    stage.start_again("")?;
    let before = stage.status.look()?.prefixes;
    let offer = stage.begin_offer(3)?;
    let mut applications = command(&stage.hostile);
    applications.arg("applications").arg(&stage.socket).arg(APPLICATIONS.to_string());
    let printed = numbers(&capture(&mut applications)?);
    let offer = offer.wait_with_output().map_err(|error| error.to_string())?;
    let served = share(&numbers(&String::from_utf8_lossy(&offer.stdout)));
    std::thread::sleep(LIFETIME);
    let left = stage.status.look()?.prefixes.saturating_sub(before);
    let again = stage.offer(2)?;
    let came = printed.get("applications").copied().unwrap_or_default();
    let what = format!(
        "{came} registered and quit, {left} routes left; others {:.1} %, later {:.1} %",
        100.0 * served,
        100.0 * again
    );
    let holds = came == APPLICATIONS as f64 && left == 0 && served.min(again) >= SERVED;
    stage.find("applications", holds, what);
    Ok(())
}
