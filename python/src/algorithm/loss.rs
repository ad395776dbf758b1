//! Loss detectors that are Python classes.
use super::{Instance, seconds};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use recoup_transport::loss::{self, Judgement, Loss, LossDetector, Phase, Repair};
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::{Duration, Instant};
use std::fmt;

/// Reads a spec of a registered class.
pub(super) fn read(spec: Spec<'_>) -> Result<Loss, SpecError> {
    let custom = super::read("loss", spec, |instance| -> Box<dyn LossDetector> {
        Box::new(Detector::new(instance))
    });
    custom.map(Loss::Custom)
}

/// A segment arrived for the first time.
#[pyclass(frozen, get_all, module = "recoup._native")]
pub(crate) struct Arrival {
    segment: u64,
    order: u64,
    rtt: Option<f64>,
    advance: u64,
    overtook: bool,
    held: u64,
    answered: u64,
    overtaken_order: Option<u64>,
    overtaken_sent: Option<f64>,
    window: f64,
}

/// A detector. The phase follows from its judgements.
#[derive(Debug)]
struct Detector {
    instance: Instance,
    repair: Repair,
    phase: Phase,
}

impl Detector {
    fn new(instance: Instance) -> Self {
        let repair = instance.with(Repair::Selective, |object| {
            match object.getattr("repair")?.extract::<String>()?.as_str() {
                "selective" => Ok(Repair::Selective),
                "first-hole" => Ok(Repair::FirstHole),
                other => {
                    let title = &instance.order.class.title;
                    let what = "write selective or first-hole";
                    Err(PyValueError::new_err(format!("{title}.repair is {other}; {what}")))
                }
            }
        });
        Self { instance, repair, phase: Phase::Normal }
    }

    fn notify(&self, method: &str, now: Instant) {
        if self.instance.has(method) {
            self.instance
                .with((), |object| object.call_method1(method, (now.as_secs_f64(),)).map(drop));
        }
    }

    fn duration(&self, method: &str) -> Option<Duration> {
        if !self.instance.has(method) {
            return None;
        }
        self.instance.with(None, |object| {
            self.instance.seconds(&format!("{method}()"), &object.call_method0(method)?)
        })
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl LossDetector for Detector {
    fn repair(&self) -> Option<Repair> {
        Some(self.repair)
    }

    fn on_arrival(&mut self, now: Instant, arrival: &loss::Arrival) -> Option<Judgement> {
        let seen = Arrival {
            segment: arrival.segment,
            order: arrival.order,
            rtt: seconds(arrival.rtt),
            advance: arrival.advance,
            overtook: arrival.overtook,
            held: arrival.held,
            answered: arrival.answered,
            overtaken_order: arrival.overtaken.map(|it| it.order),
            overtaken_sent: arrival.overtaken.map(|it| it.sent.as_secs_f64()),
            window: arrival.window,
        };
        let through = self.instance.with(None, |object| {
            let method = intern!(object.py(), "on_arrival");
            let answer = object.call_method1(method, (now.as_secs_f64(), seen))?;
            answer.extract::<Option<u64>>()
        })?;
        // Nothing that was sent after what was answered can be lost by it.
        let through = through.min(arrival.answered.checked_sub(1)?);
        self.phase = Phase::Fast;
        Some(Judgement { through, sent_by: None, evidence: 1 })
    }

    fn on_timeout(&mut self, now: Instant) {
        self.phase = Phase::Normal;
        self.notify("on_timeout", now);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.phase = Phase::Normal;
        self.notify("on_recovered", now);
    }

    fn on_spurious(&mut self, now: Instant) {
        self.notify("on_spurious", now);
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn age(&self) -> Option<Duration> {
        self.duration("age")
    }

    fn probe_after(&self) -> Option<Duration> {
        self.duration("probe_after")
    }
}
