//! Timers of links.
use super::{Link, Links, port};
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use recoup_transport::time::Instant;
use std::collections::BTreeSet;

/// Kinds of timers of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Duty {
    /// The next packet of its scheduler.
    Schedule,
    /// Expiry of incomplete packets.
    Fragments,
    /// Its recovery.
    Recovery,
}

/// Timers of all links.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Instant, Duty, FaceId)>);

impl Timers {
    /// Sets a timer; `slot` is its earlier time.
    #[inline]
    pub(super) fn set(
        &mut self,
        slot: &mut Option<Instant>,
        duty: Duty,
        id: FaceId,
        due: Option<Instant>,
    ) {
        if *slot != due {
            self.replace(std::mem::replace(slot, due), duty, id, due);
        }
    }

    #[inline(never)]
    fn replace(&mut self, before: Option<Instant>, duty: Duty, id: FaceId, due: Option<Instant>) {
        before.map(|before| self.0.remove(&(before, duty, id)));
        due.map(|due| self.0.insert((due, duty, id)));
    }
}

impl Links {
    /// Time of the next timer.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.shared.timers.0.first().map(|(due, ..)| *due)
    }

    /// Handles one expired timer; returns the face to be [drained](Self::drain) if it was that of its recovery.
    /// `None` if no timer is due.
    pub(crate) fn fire<O: Observer>(
        &mut self,
        now: Instant,
        out: &mut Outbox<O>,
    ) -> Option<Option<FaceId>> {
        let (due, duty, id) = self.shared.timers.0.first().copied()?;
        if due > now {
            return None;
        }
        match duty {
            Duty::Schedule => {
                if let Some(port) = port(&mut self.ports, id) {
                    if let Some(scheduler) = &mut port.scheduler {
                        scheduler.arm(id, &mut self.shared.timers, None);
                    }
                    port.let_pass(now, id, &mut self.shared, out);
                }
                self.limit_held();
            }
            Duty::Fragments => {
                if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|it| &mut it.link) {
                    link.medium.expire(now);
                }
                self.settle_fragments(id, out);
            }
            Duty::Recovery => {
                let link = port(&mut self.ports, id).map(|port| &mut port.link);
                self.recoveries.fire(now, id, link, &mut self.shared.timers);
                return Some(Some(id));
            }
        }
        Some(None)
    }
}
