//! Frames that two ends exchange by hand.
use crate::pair::{End, Frame, ewlns};
use recoup_transport::time::Instant;

/// Sends packets and loses those in `lost`.
pub(crate) fn send(
    now: Instant,
    from: &mut End,
    to: &mut End,
    packets: &[u64],
    lost: &[u64],
) -> Vec<Frame> {
    let mut sent = Vec::new();
    for packet in packets {
        let frame = from.send(now, *packet);
        if !lost.contains(packet) {
            to.receive(now, &frame);
        }
        sent.push(frame);
    }
    sent
}

/// Delivers all control frames of one end to the other.
pub(crate) fn deliver_control(now: Instant, from: &mut End, to: &mut End) {
    for frame in from.drain(now) {
        to.receive(now, &frame);
    }
}

/// Advances the time at one end until it sends an EWLN, which is lost unless it is passed on.
pub(crate) fn next_ewln(end: &mut End) -> (Instant, Vec<Frame>) {
    loop {
        let due = end.machine.deadline().expect("no EWLN");
        let frames = end.drain(due);
        if !ewlns(&frames).is_empty() {
            return (due, frames);
        }
    }
}
