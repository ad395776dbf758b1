//! Retransmission timers that are Python classes.
use super::Instance;
use pyo3::intern;
use pyo3::prelude::*;
use recoup_transport::rto::{Rto, RtoEstimator, RttSample, SHORTEST};
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::{Duration, Instant};
use std::fmt;

/// Reads a spec of a registered class.
pub(super) fn read(spec: Spec<'_>) -> Result<Rto, SpecError> {
    let custom = super::read("rto", spec, |instance| -> Box<dyn RtoEstimator> {
        Box::new(Timer::new(instance))
    });
    custom.map(Rto::Custom)
}

/// A round trip that an estimator may learn from.
#[pyclass(frozen, get_all, module = "recoup._native")]
pub(crate) struct Sample {
    rtt: f64,
    segment: u64,
    weight_divisor: f64,
    provider: Option<u64>,
}

/// A timer, as its class had it after the last event.
#[derive(Debug)]
struct Timer {
    instance: Instance,
    rto: Duration,
    srtt: Option<Duration>,
    rttvar: Option<Duration>,
}

impl Timer {
    fn new(instance: Instance) -> Self {
        let mut this = Self { instance, rto: Duration::from_secs(1), srtt: None, rttvar: None };
        this.after(|_| Ok(()));
        this
    }

    /// Calls a method of the class, and reads its timeout.
    fn after(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let before = (self.rto, self.srtt, self.rttvar);
        (self.rto, self.srtt, self.rttvar) = self.instance.with(before, |object| {
            let py = object.py();
            call(object)?;
            let read = |name: &Bound<'_, pyo3::types::PyString>| {
                self.instance.seconds(&name.to_string(), &object.getattr(name)?)
            };
            let rto = read(intern!(py, "rto"))?.unwrap_or(Duration::MAX).max(SHORTEST);
            Ok((rto, read(intern!(py, "srtt"))?, read(intern!(py, "rttvar"))?))
        });
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl RtoEstimator for Timer {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        let seen = Sample {
            rtt: sample.rtt.as_secs_f64(),
            segment: sample.segment,
            weight_divisor: sample.weight_divisor,
            provider: sample.provider,
        };
        self.after(|object| {
            let method = intern!(object.py(), "on_sample");
            object.call_method1(method, (now.as_secs_f64(), seen)).map(drop)
        });
    }

    fn on_timeout(&mut self, now: Instant) {
        self.after(|object| {
            let method = intern!(object.py(), "on_timeout");
            object.call_method1(method, (now.as_secs_f64(),)).map(drop)
        });
    }

    fn on_progress(&mut self, now: Instant, elapsed: Duration) {
        if self.instance.has("on_progress") {
            self.after(|object| {
                let arguments = (now.as_secs_f64(), elapsed.as_secs_f64());
                object.call_method1(intern!(object.py(), "on_progress"), arguments).map(drop)
            });
        }
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    fn rttvar(&self) -> Option<Duration> {
        self.rttvar
    }
}
