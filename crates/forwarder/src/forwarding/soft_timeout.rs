//! Adaptive suppression time of pending Interests: `soft-hard(soft=auto)`.
//!
//! Source: the soft and hard timeouts of pending Interests are those of Udugama et al. (2013). Timeout estimators in
//! routers are an outlook of Nikzad et al. (2022). Each prefix with a route has an estimator of the round trip from
//! here. Its timeout is the soft one, 20 ms before any sample as with `soft=20ms`. It backs off when an Interest had
//! to be retransmitted.
use super::route;
use super::{Edge, Forwarder};
use crate::face::FaceId;
use crate::suppression::Suppression;
use crate::table::PitId;
use recoup_transport::rto::{RtoEstimator, RttSample};
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    /// Sets the soft timeout of an Interest sent to `upstream`.
    #[inline]
    pub(crate) fn set_soft_timeout(&mut self, now: Instant, id: PitId, upstream: FaceId) {
        if matches!(self.suppression, Suppression::SoftHardAuto) {
            self.set_learnt_timeout(now, id, upstream);
        }
    }

    fn set_learnt_timeout(&mut self, now: Instant, id: PitId, upstream: FaceId) {
        let entry = self.pit.entry_mut(id);
        let prefix = route(&self.fib, entry.interest()).prefix;
        let estimator = self.measurements.soft(now, prefix);
        let again = entry.out_record(upstream).is_some_and(|record| record.transmissions > 1);
        if again {
            estimator.on_timeout(now);
        }
        entry.set_soft_timeout(upstream, estimator.rto());
    }

    /// Samples the round trip of Data from `upstream`, unless the Interest was retransmitted (Karn).
    #[inline]
    pub(crate) fn learn_soft_timeout(&mut self, now: Instant, id: PitId, upstream: FaceId) {
        if matches!(self.suppression, Suppression::SoftHardAuto) {
            self.learn_timeout(now, id, upstream);
        }
    }

    fn learn_timeout(&mut self, now: Instant, id: PitId, upstream: FaceId) {
        let entry = self.pit.entry(id);
        let record = entry.out_record(upstream).filter(|record| record.transmissions == 1);
        if let Some(record) = record {
            let prefix = route(&self.fib, entry.interest()).prefix;
            let sample = RttSample::new(0, now.since(record.sent));
            self.measurements.soft(now, prefix).on_sample(now, &sample);
        }
    }
}
