//! Scheduled events: faults, starts and stops, in one list.
use crate::network::{ApplicationId, Network};
use recoup_transport::time::Instant;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The fault of that number.
    Fault(usize),
    /// An application is taken away.
    Stop(ApplicationId),
    /// An application begins.
    Start(ApplicationId),
}

/// The list; at one instant faults come first, then stops, then starts, each in the network's order.
#[derive(Clone, Debug)]
pub(super) struct Script {
    turns: Vec<(Instant, Turn)>,
    next: usize,
    /// The first turn that [`Self::take_starting`] has not seen.
    unseen: usize,
}

impl Script {
    pub(super) fn new(network: &Network) -> Self {
        let faults = network.faults.iter().enumerate();
        let mut turns: Vec<_> =
            faults.map(|(number, (at, _))| (*at, Turn::Fault(number))).collect();
        let applications = || (0..).map(ApplicationId).zip(&network.applications);
        turns.extend(applications().filter_map(|(id, plan)| Some((plan.stop?, Turn::Stop(id)))));
        turns.extend(applications().map(|(id, plan)| (plan.start, Turn::Start(id))));
        turns.sort_by_key(|(at, _)| *at);
        Self { turns, next: 0, unseen: 0 }
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.turns.get(self.next).map(|(at, _)| *at)
    }

    pub(super) fn pop(&mut self) -> Option<Turn> {
        let turn = self.turns.get(self.next).map(|(_, turn)| *turn);
        self.next += 1;
        turn
    }

    /// The next application that starts at the same instant as the turn before; each comes once.
    pub(super) fn take_starting(&mut self) -> Option<ApplicationId> {
        let now = self.turns.get(self.next.checked_sub(1)?)?.0;
        self.unseen = self.unseen.max(self.next);
        match self.turns.get(self.unseen) {
            Some((at, Turn::Start(application))) if *at == now => {
                self.unseen += 1;
                Some(*application)
            }
            _ => None,
        }
    }
}
