//! All faces in turn, by their costs, or by what they deliver.
//!
//! Source: stride scheduling (Waldspurger and Weihl, 1995). Each face has a pass, and the least pass is next. Each
//! choice adds a stride: 1, or the cost of the next hop, so that a face of half the cost gets twice the Interests.
//!
//! With `split=delay` each face has a weight, and its stride is the inverse. Weights move until the queueing delays of
//! all faces are equal, by at most a sixteenth in a round trip. So each source gives what its path carries. A face that leaves an Interest to another one, without any Data since, is silent: it
//! gets one Interest at a time until it answers.
//!
//! Differences: a face that was down continues at the pass of the others, without catching up. A retransmission, or
//! an Interest after a Nack, goes to an unused face.
use super::{
    Action, Context, ForwardingStrategy, Ingress, choice, decide, pass_nack_on, reject_unsent,
};
use crate::face::FaceId;
use crate::suppression::Decision;
use crate::table::{NextHop, OutRecord, PitEntry};
use recoup_packet::nack::NackReason;
use recoup_transport::spec::{Described, Description};
use recoup_transport::time::Instant;

/// Number of remembered faces at which those not in use are forgotten.
const MANY_FACES: usize = 64;

/// Share of each face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// All faces equally.
    #[default]
    Turns,
    /// In inverse proportion to the cost of the next hop; a cost of 0 counts as 1.
    Cost,
    /// Until queueing delays are equal.
    Delay,
}

/// Stride at a weight of 1 with [`Split::Delay`].
const STRIDE: f64 = 1024.0;
/// The least weight; the greatest of all faces is 1.
const LEAST_WEIGHT: f64 = 1.0 / 64.0;
/// Most by which a weight changes in a round trip, as a share of it.
const GAIN: f64 = 1.0 / 16.0;
/// Share of its distance to the present round trip by which the base rises in a round trip.
const RISE: f64 = 1.0 / 64.0;
/// Queueing delay, in seconds, that counts little.
const SHORT: f64 = 0.01;

/// State of a face. All but the first two fields serve [`Split::Delay`].
#[derive(Clone, Debug, PartialEq)]
struct Share {
    face: FaceId,
    pass: u64,
    weight: f64,
    /// Least round-trip time, s; it rises slowly.
    base: Option<f64>,
    /// Smoothed queueing delay, s.
    queue: f64,
    /// Pending Interests.
    pending: u32,
    /// Time of the last Data.
    answered: Option<Instant>,
    silent: bool,
}

impl Share {
    fn new(face: FaceId, pass: u64) -> Self {
        let (weight, base, queue) = (1.0, None, 0.0);
        Self { face, pass, weight, base, queue, pending: 0, answered: None, silent: false }
    }
}

/// `multipath`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipath {
    split: Split,
    /// The pass of the last chosen face.
    current: u64,
    shares: Vec<Share>,
}

const SPLITS: [(&str, Split); 3] =
    [("turns", Split::Turns), ("cost", Split::Cost), ("delay", Split::Delay)];

impl Multipath {
    fn share(&self, face: FaceId) -> Option<&Share> {
        self.shares.iter().find(|share| share.face == face)
    }

    fn share_mut(&mut self, face: FaceId) -> &mut Share {
        let place = self.shares.iter().position(|share| share.face == face).unwrap_or_else(|| {
            if self.shares.len() >= MANY_FACES {
                let current = self.current;
                self.shares.retain(|share| share.pass > current || share.pending > 0);
            }
            self.shares.push(Share::new(face, self.current));
            self.shares.len() - 1
        });
        &mut self.shares[place]
    }

    fn pass(&self, face: FaceId) -> u64 {
        self.share(face).map_or(self.current, |share| share.pass.max(self.current))
    }

    /// The next one of `hops`; among equals the first.
    fn next(&self, hops: impl Iterator<Item = NextHop>) -> Option<NextHop> {
        hops.min_by_key(|hop| {
            let share = self.share(hop.face);
            let waits = share.is_some_and(|share| share.silent && share.pending > 0);
            (waits, self.pass(hop.face))
        })
    }

    fn send(&mut self, hop: NextHop, entry: &PitEntry, actions: &mut Vec<Action>) {
        let stride = match self.split {
            Split::Turns => 1,
            Split::Cost => hop.cost.max(1),
            Split::Delay => (STRIDE / self.share(hop.face).map_or(1.0, |it| it.weight)) as u64,
        };
        self.current = self.pass(hop.face);
        let (current, counts) = (self.current, self.learns());
        let share = self.share_mut(hop.face);
        share.pass = current.saturating_add(stride);
        let is_counted = entry.out_record(hop.face).is_some_and(|it| it.nacked().is_none());
        share.pending += u32::from(counts && !is_counted);
        actions.push(Action::SendInterest { face: hop.face });
    }

    /// The face did not answer an Interest.
    fn missed(&mut self, record: &OutRecord) {
        let share = self.share_mut(record.face);
        share.silent |= share.answered.is_none_or(|answered| answered < record.sent);
    }

    /// An entry ends, with Data of `upstream` if there is one.
    fn end(&mut self, now: Instant, entry: &PitEntry, upstream: Option<FaceId>) {
        for record in entry.outs().iter().filter(|record| record.nacked().is_none()) {
            let share = self.share_mut(record.face);
            share.pending = share.pending.saturating_sub(1);
            if upstream == Some(record.face) {
                (share.answered, share.silent) = (Some(now), false);
                // After a retransmission the answered transmission is unknown (Karn).
                if record.transmissions == 1 {
                    self.weigh(record.face, now.since(record.sent).as_secs_f64());
                }
            } else {
                self.missed(record);
            }
        }
    }

    /// Moves the weight of a face after a round trip of so many seconds.
    fn weigh(&mut self, face: FaceId, rtt: f64) {
        let share = self.share_mut(face);
        let flight = f64::from(share.pending.max(4));
        let base = share.base.map_or(rtt, |base| (base + RISE / flight * (rtt - base)).min(rtt));
        share.base = Some(base);
        share.queue += (rtt - base - share.queue) / 8.0;
        let own = share.queue;
        let used = self.shares.iter().filter(|share| share.base.is_some() && !share.silent);
        let (sum, count) = used.fold((0.0, 0.0), |(sum, n), share| (sum + share.queue, n + 1.0));
        let mean: f64 = sum / count;
        let excess = (mean - own) / (mean + own + SHORT);
        self.share_mut(face).weight *= 1.0 + GAIN * excess / flight;
        let most = self.shares.iter().map(|share| share.weight).fold(0.0, f64::max);
        for share in &mut self.shares {
            share.weight = (share.weight / most).max(LEAST_WEIGHT);
        }
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
                if self.learns() {
                    let last = entry.outs().iter().filter(|record| record.is_pending(now));
                    last.max_by_key(|it| it.sent).into_iter().for_each(|it| self.missed(it));
                }
                let idle = |hop: &NextHop| {
                    entry.out_record(hop.face).is_none_or(|record| !record.is_pending(now))
                };
                self.next(hops().filter(idle)).or_else(|| choice::asked_longest_ago(entry, hops()))
            }
        };
        match hop {
            Some(hop) => self.send(hop, entry, context.actions),
            None => reject_unsent(context, entry),
        }
    }

    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
        _reason: NackReason,
    ) {
        if self.learns() {
            let share = self.share_mut(upstream);
            (share.pending, share.silent) = (share.pending.saturating_sub(1), true);
        }
        match choice::alternative(context, entry) {
            Some(hop) => self.send(hop, entry, context.actions),
            None => pass_nack_on(entry, context.actions),
        }
    }

    fn learns(&self) -> bool {
        self.split == Split::Delay
    }

    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        self.end(context.now, entry, Some(upstream));
    }

    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        self.end(context.now, entry, None);
    }

    fn on_abandon(&mut self, entry: &PitEntry) {
        for record in entry.outs().iter().filter(|record| record.nacked().is_none()) {
            let share = self.share_mut(record.face);
            share.pending = share.pending.saturating_sub(1);
        }
    }
}

impl Described for Multipath {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.word("split", &mut self.split, &SPLITS, "turns, cost or delay");
    }
}

recoup_core::print_as_spec!(Multipath, "multipath");
