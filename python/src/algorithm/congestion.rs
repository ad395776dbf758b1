//! Congestion windows that are Python classes.
use super::{Instance, seconds};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use recoup_transport::congestion::{self, Congestion, CongestionControl, LossKind};
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::{Duration, Instant};
use std::fmt;

/// Reads a spec of a registered class.
pub(super) fn read(spec: Spec<'_>) -> Result<Congestion, SpecError> {
    let custom = super::read("congestion", spec, |instance| -> Box<dyn CongestionControl> {
        Box::new(Window::new(instance))
    });
    custom.map(Congestion::Custom)
}

/// A segment arrived for the first time.
#[pyclass(frozen, get_all, module = "recoup._native")]
pub(crate) struct Delivered {
    segment: u64,
    order: u64,
    highest_order: u64,
    rtt: Option<f64>,
    path: Option<u64>,
    srtt: Option<f64>,
    min_rtt: Option<f64>,
    in_flight: u32,
    advance: u64,
}

impl Delivered {
    fn new(of: &congestion::Delivered) -> Self {
        Self {
            segment: of.segment,
            order: of.order,
            highest_order: of.highest_order,
            rtt: seconds(of.rtt),
            path: of.path,
            srtt: seconds(of.srtt),
            min_rtt: seconds(of.min_rtt),
            in_flight: of.in_flight,
            advance: of.advance,
        }
    }
}

/// A transmission was lost, or its answer was marked.
#[pyclass(frozen, get_all, name = "Loss", module = "recoup._native")]
pub(crate) struct LossEvent {
    kind: &'static str,
    order: u64,
    highest_order: u64,
    high_data: u64,
    high_interest: u64,
    in_flight: u32,
    evidence: u32,
    srtt: Option<f64>,
    min_rtt: Option<f64>,
}

impl LossEvent {
    fn new(of: &congestion::Loss) -> Self {
        let kind = match of.kind {
            LossKind::Timeout => "timeout",
            LossKind::NackCongestion => "nack",
            LossKind::Mark => "mark",
            LossKind::Order => "order",
        };
        Self {
            kind,
            order: of.order,
            highest_order: of.highest_order,
            high_data: of.high_data,
            high_interest: of.high_interest,
            in_flight: of.in_flight,
            evidence: of.evidence,
            srtt: seconds(of.srtt),
            min_rtt: seconds(of.min_rtt),
        }
    }
}

/// A window, as its class had it after the last event.
#[derive(Debug)]
struct Window {
    instance: Instance,
    on_delivered: Option<Py<PyAny>>,
    window: f64,
    ssthresh: f64,
    limit: f64,
    is_paced: bool,
    has_least_timeout: bool,
    has_recovered: bool,
}

impl Window {
    fn new(instance: Instance) -> Self {
        let bound = |it: &Bound<'_, PyAny>| it.getattr("on_delivered").map(Bound::unbind).map(Some);
        let mut this = Self {
            on_delivered: instance.with(None, bound),
            is_paced: instance.has("pacing_rate"),
            has_least_timeout: instance.has("least_timeout"),
            has_recovered: instance.has("on_recovered"),
            window: 1.0,
            ssthresh: f64::INFINITY,
            limit: f64::INFINITY,
            instance,
        };
        this.after(false, |_| Ok(false));
        this
    }

    /// Calls a method of the class, and reads its window.
    fn after(
        &mut self,
        otherwise: bool,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<bool>,
    ) -> bool {
        let before = (otherwise, self.window, self.ssthresh);
        let (answer, window, ssthresh) = self.instance.with(before, |object| {
            let py = object.py();
            let answer = call(object)?;
            let window = self.instance.number(object, intern!(py, "window"))?;
            let ssthresh = self.instance.number(object, intern!(py, "ssthresh"))?;
            Ok((answer, window, ssthresh))
        });
        (self.window, self.ssthresh) = (window, ssthresh);
        answer
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl CongestionControl for Window {
    fn window(&self) -> f64 {
        self.window.min(self.limit).max(1.0)
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self, remaining: Option<u64>) -> Option<f64> {
        if !self.is_paced {
            return None;
        }
        self.instance.with(None, |object| {
            let method = intern!(object.py(), "pacing_rate");
            let rate = object.call_method1(method, (remaining,))?.extract::<Option<f64>>()?;
            match rate {
                Some(rate) if rate.is_nan() || rate <= 0.0 => {
                    Err(self.instance.invalid("pacing_rate()", rate))
                }
                rate => Ok(rate),
            }
        })
    }

    fn least_timeout(&self) -> Option<Duration> {
        if !self.has_least_timeout {
            return None;
        }
        self.instance.with(None, |object| {
            let least = object.call_method0(intern!(object.py(), "least_timeout"))?;
            self.instance.seconds("least_timeout()", &least)
        })
    }

    fn on_delivered(&mut self, now: Instant, delivered: &congestion::Delivered) {
        let Some(method) = self.on_delivered.take() else { return };
        self.after(false, |object| {
            let py = object.py();
            method.bind(py).call1((now.as_secs_f64(), Delivered::new(delivered)))?;
            Ok(false)
        });
        self.on_delivered = Some(method);
    }

    fn on_loss(&mut self, now: Instant, loss: &congestion::Loss) -> bool {
        self.after(false, |object| {
            let arguments = (now.as_secs_f64(), LossEvent::new(loss));
            let answer = object.call_method1(intern!(object.py(), "on_loss"), arguments)?;
            answer.extract().map_err(|_| {
                let kind = answer.get_type();
                PyTypeError::new_err(format!(
                    "on_loss returned {kind}; it returns True if the loss begins a new event, else False"
                ))
            })
        })
    }

    fn on_repaired(&mut self, now: Instant, loss: &congestion::Loss) -> bool {
        self.instance.has("on_repaired")
            && self.after(false, |object| {
                let arguments = (now.as_secs_f64(), LossEvent::new(loss));
                object.call_method1(intern!(object.py(), "on_repaired"), arguments)?.is_truthy()
            })
    }

    fn on_spurious(&mut self, now: Instant, order: u64) -> bool {
        self.instance.has("on_spurious")
            && self.after(false, |object| {
                let arguments = (now.as_secs_f64(), order);
                object.call_method1(intern!(object.py(), "on_spurious"), arguments)?.is_truthy()
            })
    }

    fn on_recovered(&mut self, now: Instant) {
        if self.has_recovered {
            self.after(false, |object| {
                let method = intern!(object.py(), "on_recovered");
                object.call_method1(method, (now.as_secs_f64(),)).map(|_| false)
            });
        }
    }

    fn seed(&mut self, mut rng: Rng) {
        if self.instance.has("seed") {
            self.after(false, |object| {
                object.call_method1("seed", (rng.next_u64(),)).map(|_| false)
            });
        }
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = if max_window.is_nan() { 1.0 } else { max_window.max(1.0) };
        if self.instance.has("set_limit") {
            let limit = self.limit;
            self.after(false, |object| object.call_method1("set_limit", (limit,)).map(|_| false));
        }
    }
}
