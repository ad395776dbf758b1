//! Errands: what all workers do in turn, from the leader around to the leader.
use super::{Handed, Tally};
use crate::node::Node;
use crate::table::CsCapacity;
use recoup_packet::name::Name;
use recoup_transport::time::Instant;

/// Something that all workers do in turn, and what came of it so far.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The command that it is for; none if it counts.
    pub(crate) ticket: u64,
    pub(crate) task: Task,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Say what you have.
    Count(Box<Tally>),
    /// Erase Data from the content store.
    Erase {
        /// Below this name.
        prefix: Name,
        /// So many at most.
        left: u64,
        /// So many were erased.
        erased: u64,
        /// There are more.
        more: bool,
    },
    /// Change the content store; what is `None` stays as it is.
    Configure {
        /// Packets that all stores may have together.
        capacity: Option<u64>,
        /// Whether Data are stored.
        admits: Option<bool>,
        /// Whether they are given out.
        serves: Option<bool>,
        /// Packets that all stores hold that have done it.
        holds: u64,
    },
}

impl Node {
    /// Sets out on an errand; a node that is alone is back at once.
    pub(crate) fn run_errand(&mut self, now: Instant, ticket: u64, task: Task) {
        self.do_and_pass_on(now, Errand { ticket, task });
    }

    /// An errand comes by, or comes back.
    pub(super) fn on_errand(&mut self, now: Instant, errand: Errand) {
        if self.shard.as_ref().is_some_and(|shard| shard.leads()) {
            self.errand_is_done(now, errand);
        } else {
            self.do_and_pass_on(now, errand);
        }
    }

    fn do_and_pass_on(&mut self, now: Instant, mut errand: Errand) {
        self.take_part(&mut errand.task);
        let own = self.shard.as_ref().map_or(0, |shard| shard.worker());
        match self.shard.as_ref().map_or(0, |shard| shard.next()) {
            next if next == own => self.errand_is_done(now, errand),
            next => self.hand(next, Handed::Errand(Box::new(errand))),
        }
    }

    /// Does here what an errand is about.
    fn take_part(&mut self, task: &mut Task) {
        match task {
            // The leader says by itself what it has.
            Task::Count(_) if self.management.is_some() => {}
            Task::Count(tally) => tally.add(&self.tally()),
            Task::Erase { prefix, left, erased, more } => {
                let (here, more_here) = self.cs.erase(prefix, *left);
                *left -= here.min(*left);
                *erased += here;
                *more |= more_here;
            }
            Task::Configure { capacity, admits, serves, holds } => {
                if let Some(packets) = *capacity {
                    let share = self.shard.as_ref().map_or(packets, |it| it.options.share(packets));
                    self.cs.set_capacity(CsCapacity::Packets(share));
                }
                if let Some(admits) = *admits {
                    self.cs.set_admitting(admits);
                }
                if let Some(serves) = *serves {
                    self.cs.set_serving(serves);
                }
                *holds = holds.saturating_add(super::tally::packets(self.cs.capacity()));
            }
        }
    }
}
