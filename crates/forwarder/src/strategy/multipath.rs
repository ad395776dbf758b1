//! All faces in turn, equally or by their costs.
//!
//! Source: stride scheduling (Waldspurger and Weihl, 1995). Each face has a pass, and the least pass is next. Each
//! choice adds a stride: 1, or the cost of the next hop, so that a face of half the cost gets twice the Interests.
//!
//! Differences: a face that was down continues at the pass of the others, without catching up. A retransmission, or
//! an Interest after a Nack, goes to an unused face.
use super::{
    Action, Context, ForwardingStrategy, Ingress, choice, decide, pass_nack_on, reject_unsent,
};
use crate::face::FaceId;
use crate::suppression::Decision;
use crate::table::{NextHop, PitEntry};
use recoup_packet::nack::NackReason;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use std::fmt;

/// Number of remembered passes at which those of unused faces are forgotten.
const MANY_FACES: usize = 64;

/// Share of each face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// All faces equally.
    #[default]
    Turns,
    /// In inverse proportion to the cost of the next hop; a cost of 0 counts as 1.
    Cost,
}

/// `multipath`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Multipath {
    split: Split,
    /// The pass of the last chosen face.
    current: u64,
    passes: Vec<(FaceId, u64)>,
}

const SPLITS: [(&str, Split); 2] = [("turns", Split::Turns), ("cost", Split::Cost)];

impl Multipath {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let split = spec.word("split", Split::default(), &SPLITS, "turns or cost")?;
        spec.finish()?;
        Ok(Self { split, ..Self::default() })
    }

    fn pass(&self, face: FaceId) -> u64 {
        let known = self.passes.iter().find(|(known, _)| *known == face);
        known.map_or(self.current, |(_, pass)| (*pass).max(self.current))
    }

    /// The next one of `hops`; among equals the first.
    fn next(&self, hops: impl Iterator<Item = NextHop>) -> Option<NextHop> {
        hops.min_by_key(|hop| self.pass(hop.face))
    }

    fn send(&mut self, hop: NextHop, actions: &mut Vec<Action>) {
        let stride = match self.split {
            Split::Turns => 1,
            Split::Cost => hop.cost.max(1),
        };
        self.current = self.pass(hop.face);
        let pass = self.current.saturating_add(stride);
        match self.passes.iter_mut().find(|(face, _)| *face == hop.face) {
            Some((_, known)) => *known = pass,
            None => self.remember(hop.face, pass),
        }
        actions.push(Action::SendInterest { face: hop.face });
    }

    fn remember(&mut self, face: FaceId, pass: u64) {
        if self.passes.len() >= MANY_FACES {
            let current = self.current;
            self.passes.retain(|(_, pass)| *pass > current);
        }
        self.passes.push((face, pass));
    }
}

impl ForwardingStrategy for Multipath {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        let decision = decide(context, entry, from.arrival);
        let now = context.now;
        let hops = || context.eligible(&entry.interest().name, from.face);
        let hop = match decision {
            Decision::Suppress => return,
            Decision::New => self.next(hops()),
            Decision::Again => {
                let idle = |hop: &NextHop| {
                    entry.out_record(hop.face).is_none_or(|record| !record.is_pending(now))
                };
                self.next(hops().filter(idle)).or_else(|| choice::asked_longest_ago(entry, hops()))
            }
        };
        match hop {
            Some(hop) => self.send(hop, context.actions),
            None => reject_unsent(context, entry),
        }
    }

    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        _upstream: FaceId,
        _reason: NackReason,
    ) {
        match choice::alternative(context, entry) {
            Some(hop) => self.send(hop, context.actions),
            None => pass_nack_on(entry, context.actions),
        }
    }
}

impl fmt::Display for Multipath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "multipath").word("split", self.split, &SPLITS).finish()
    }
}
