//! `off`: no recovery; frames are sent unchanged, and all incoming frames are delivered.
use super::{Agreement, Arrival, Counters, LinkRecovery, Outgoing, Sending, Tag};
use crate::time::Instant;
use std::fmt;

/// No recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off;

impl fmt::Display for Off {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("off")
    }
}

impl<T> LinkRecovery<T> for Off {
    fn send(&mut self, _now: Instant, _frame: &T, _sending: &Sending) -> Tag {
        Tag::default()
    }

    fn receive(&mut self, _now: Instant, _tag: &Tag, carries: bool) -> Arrival {
        if carries { Arrival::Deliver } else { Arrival::Control }
    }

    fn fire(&mut self, _now: Instant) {}

    fn waits(&self) -> bool {
        false
    }

    fn poll(&mut self, _now: Instant) -> Option<Outgoing<T>> {
        None
    }

    fn poll_lost(&mut self) -> Option<T> {
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn link_down(&mut self, _now: Instant) {}

    fn link_up(&mut self, _now: Instant, _greets: bool) {}

    fn tag_bytes(&self) -> usize {
        0
    }

    fn agreement(&self) -> Agreement {
        Agreement::Off
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
