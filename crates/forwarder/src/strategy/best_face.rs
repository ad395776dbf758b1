//! The face with the best experience: a short round-trip time, and answers at all.
//!
//! The rank of a face is its smoothed round-trip time divided by the smoothed share of its answered Interests: the
//! expected time to an answer with retransmissions. Faces without measurements are tried in the order of their costs,
//! and only after all known ones unless exploration is due. Exploration is due once after each timeout (an expired
//! entry or a retransmission) and after each Nack: the next Interest goes to the face used longest ago. A
//! retransmission goes to the best face not in use, after that to the one used longest ago. A Nack leads to the next
//! face, if there is one.
//!
//! With `rto=ESTIMATOR`, for example `best-face(rto=reconsidered(min=0ms))`, the timeout of that estimator for the
//! face replaces the smoothed round-trip time: a face with varying round trips counts as a slow one.
use super::{
    Action, Context, ForwardingStrategy, Ingress, choice, decide, pass_nack_on, reject_unsent,
};
use crate::face::FaceId;
use crate::suppression::Decision;
use crate::table::{FaceMeasurement, NextHop, PitEntry};
use recoup_packet::nack::NackReason;
use recoup_transport::rto::{Rto, RttSample};
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use std::fmt;

/// `best-face`.
#[derive(Clone, Debug, PartialEq)]
pub struct BestFace {
    gain: f64,
    /// Specification of the estimator of each face.
    rto: Option<Rto>,
}

impl Default for BestFace {
    fn default() -> Self {
        Self { gain: 0.125, rto: None }
    }
}

impl BestFace {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let gain = spec.number("gain", default.gain, 0.001..=1.0, "a number from 0.001 to 1")?;
        let expected = "an RTO estimator that needs nothing but samples, such as reconsidered";
        let rto = spec.take("rto", default.rto, expected, |text| match text {
            "none" => Some(None),
            text => {
                let rto = text.parse().ok().filter(|rto: &Rto| rto.build().needs_samples_only());
                rto.map(Some)
            }
        })?;
        spec.finish()?;
        Ok(Self { gain, rto })
    }

    /// The best of `hops`, given the measurements of their faces; for a new Interest, if exploration is due, the one
    /// used longest ago.
    fn choose(
        known: &[FaceMeasurement],
        hops: impl Iterator<Item = NextHop>,
        explore: bool,
    ) -> Option<NextHop> {
        let of = |hop: &NextHop| known.iter().find(|known| known.face == hop.face);
        if explore {
            return hops.min_by_key(|hop| of(hop).and_then(|known| known.asked));
        }
        let rated = hops.map(|hop| (score(of(&hop)), hop));
        rated.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, hop)| hop)
    }

    fn note_failure(&self, context: &mut Context<'_>, upstream: FaceId) {
        let (now, prefix) = (context.now, context.route.prefix);
        let measured = context.measurements.face(now, prefix, upstream);
        measured.failed(self.gain);
        if let Some(estimator) = &mut measured.estimator {
            estimator.on_timeout(now);
        }
        context.measurements.wish_exploration(now, prefix);
    }

    fn send(context: &mut Context<'_>, face: FaceId) {
        let (now, prefix) = (context.now, context.route.prefix);
        context.measurements.face(now, prefix, face).asked = Some(now);
        context.actions.push(Action::SendInterest { face });
    }

    /// Sends a new Interest to the best of `hops`, if there is one. The usual case: measurements are looked up once.
    fn send_new(context: &mut Context<'_>, hops: impl Iterator<Item = NextHop>) -> bool {
        let measured = context.measurements.of(context.now, context.route.prefix);
        let explore = measured.take_exploration();
        let Some(hop) = Self::choose(measured.faces(), hops, explore) else { return false };
        measured.face(hop.face).asked = Some(context.now);
        context.actions.push(Action::SendInterest { face: hop.face });
        true
    }
}

/// Expected seconds to an answer; infinite for a face that never answered.
fn score(known: Option<&FaceMeasurement>) -> f64 {
    let seconds = |known: &FaceMeasurement| match &known.estimator {
        Some(estimator) => Some(estimator.rto().as_secs_f64()),
        None => known.rtt,
    };
    let rated = known.and_then(|known| Some(seconds(known)? / known.satisfaction));
    rated.filter(|score| !score.is_nan()).unwrap_or(f64::INFINITY)
}

impl ForwardingStrategy for BestFace {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        let decision = decide(context, entry, from.arrival);
        let hops = context.eligible(&entry.interest().name, from.face);
        let (now, prefix) = (context.now, context.route.prefix);
        let hop = match decision {
            Decision::Suppress => return,
            Decision::New if Self::send_new(context, hops.clone()) => return,
            Decision::New => None,
            Decision::Again => {
                let waiting = entry.outs().iter().filter(|record| record.is_pending(now));
                if let Some(last) = waiting.max_by_key(|record| record.sent) {
                    self.note_failure(context, last.face);
                }
                let idle = |hop: &NextHop| {
                    entry.out_record(hop.face).is_none_or(|record| !record.is_pending(now))
                };
                let known = context.measurements.faces(now, prefix);
                Self::choose(known, hops.clone().filter(idle), false)
                    .or_else(|| choice::asked_longest_ago(entry, hops))
            }
        };
        match hop {
            Some(hop) => Self::send(context, hop.face),
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
        self.note_failure(context, upstream);
        match choice::alternative(context, entry) {
            Some(hop) => Self::send(context, hop.face),
            None => pass_nack_on(entry, context.actions),
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        let Some(record) = entry.out_record(upstream) else {
            return;
        };
        // After a retransmission the answered transmission is unknown (Karn).
        let rtt = (record.transmissions == 1).then(|| context.now.since(record.sent));
        let (now, prefix) = (context.now, context.route.prefix);
        let measured = context.measurements.face(now, prefix, upstream);
        measured.satisfied(rtt, self.gain);
        if let (Some(rtt), Some(rto)) = (rtt, &self.rto) {
            let estimator = measured.estimator.get_or_insert_with(|| rto.build());
            estimator.on_sample(now, &RttSample::new(0, rtt));
        }
    }

    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        for record in entry.outs().iter().filter(|record| record.nacked().is_none()) {
            self.note_failure(context, record.face);
        }
    }
}

impl fmt::Display for BestFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = SpecWriter::new(f, "best-face").value("gain", self.gain);
        match &self.rto {
            Some(rto) => writer.value("rto", rto.full()).finish(),
            None => writer.finish(),
        }
    }
}
