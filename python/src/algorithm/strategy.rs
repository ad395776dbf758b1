//! Forwarding strategies that are Python classes.
use super::{Instance, read as read_class};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use recoup_forwarder::face::FaceId;
use recoup_forwarder::strategy::{
    Action, Context, ForwardingStrategy, Ingress, Strategy, decide, pass_nack_on, reject_unsent,
};
use recoup_forwarder::suppression::Decision;
use recoup_forwarder::table::PitEntry;
use recoup_packet::nack::NackReason;
use recoup_transport::spec::{Spec, SpecError};
use std::fmt;

/// Reads a spec of a registered class.
pub(super) fn read(spec: Spec<'_>) -> Result<Strategy, SpecError> {
    let custom = read_class("strategy", spec, |instance| -> Box<dyn ForwardingStrategy> {
        Box::new(Forwarding::new(instance))
    });
    custom.map(Strategy::Custom)
}

/// A face that a pending Interest was sent to.
#[pyclass(frozen, get_all, module = "recoup._native")]
pub(crate) struct Upstream {
    face: u32,
    sent: f64,
    transmissions: u16,
    is_pending: bool,
    nack: Option<u64>,
}

/// A pending Interest, as a strategy sees it.
#[pyclass(frozen, get_all, module = "recoup._native")]
pub(crate) struct Pending {
    name: String,
    prefix: String,
    next_hops: Vec<(u32, u64)>,
    downstreams: Vec<u32>,
    upstreams: Vec<Py<Upstream>>,
}

/// A strategy. Suppression is decided before the class is asked, as by `best-route`.
#[derive(Debug)]
struct Forwarding {
    instance: Instance,
    has_nacks: bool,
    has_data: bool,
    has_expiry: bool,
}

impl Forwarding {
    fn new(instance: Instance) -> Self {
        Self {
            has_nacks: instance.has("after_nack"),
            has_data: instance.has("before_satisfy"),
            has_expiry: instance.has("on_expiry"),
            instance,
        }
    }

    /// The faces that a class returned, each of which must be an eligible next hop.
    fn faces(
        &self,
        method: &str,
        answer: &Bound<'_, PyAny>,
        eligible: &[(u32, u64)],
    ) -> PyResult<Vec<FaceId>> {
        let title = &self.instance.order.class.title;
        let faces = answer.extract::<Vec<u32>>()?;
        match faces.iter().find(|face| !eligible.iter().any(|(known, _)| known == *face)) {
            None => Ok(faces.into_iter().map(FaceId).collect()),
            Some(face) => {
                let known: Vec<_> = eligible.iter().map(|(face, _)| face.to_string()).collect();
                Err(PyValueError::new_err(format!(
                    "{title}.{method} returned face {face}; eligible next hops are: {}",
                    known.join(", ")
                )))
            }
        }
    }

    /// Calls a method without a result.
    fn notify(
        &self,
        method: &str,
        context: &Context<'_>,
        entry: &PitEntry,
        upstream: Option<FaceId>,
    ) {
        self.instance.with((), |object| {
            let pending = Pending::of(object.py(), context, entry, first_downstream(entry))?;
            let now = context.now.as_secs_f64();
            match upstream {
                Some(face) => object.call_method1(method, (now, pending, face.0)),
                None => object.call_method1(method, (now, pending)),
            }
            .map(drop)
        });
    }
}

impl Pending {
    fn of(
        py: Python<'_>,
        context: &Context<'_>,
        entry: &PitEntry,
        ingress: FaceId,
    ) -> PyResult<Self> {
        let name = &entry.interest().name;
        let eligible = context.eligible(name, ingress);
        let upstreams = entry.outs().iter().map(|record| {
            let upstream = Upstream {
                face: record.face.0,
                sent: record.sent.as_secs_f64(),
                transmissions: record.transmissions,
                is_pending: record.is_pending(context.now),
                nack: record.nacked().map(NackReason::number),
            };
            Py::new(py, upstream)
        });
        Ok(Self {
            name: name.to_string(),
            prefix: context.route.prefix.to_string(),
            next_hops: eligible.map(|hop| (hop.face.0, hop.cost)).collect(),
            downstreams: entry.ins().iter().map(|record| record.face.0).collect(),
            upstreams: upstreams.collect::<PyResult<_>>()?,
        })
    }
}

fn send(context: &mut Context<'_>, faces: Vec<FaceId>) {
    context.actions.extend(faces.into_iter().map(|face| Action::SendInterest { face }));
}

/// The face by which the first Interest came; one that no node has, if there is none.
fn first_downstream(entry: &PitEntry) -> FaceId {
    entry.ins().first().map_or(FaceId(u32::MAX), |record| record.face)
}

impl fmt::Display for Forwarding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl ForwardingStrategy for Forwarding {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        let is_retransmission = match decide(context, entry, from.arrival) {
            Decision::Suppress => return,
            Decision::New => false,
            Decision::Again => true,
        };
        let faces = self.instance.with(Vec::new(), |object| {
            let py = object.py();
            let pending = Pending::of(py, context, entry, from.face)?;
            let eligible = pending.next_hops.clone();
            let now = context.now.as_secs_f64();
            let arguments = (now, pending, from.face.0, is_retransmission);
            let answer = object.call_method1(intern!(py, "after_interest"), arguments)?;
            self.faces("after_interest()", &answer, &eligible)
        });
        match faces.is_empty() {
            true => reject_unsent(context, entry),
            false => send(context, faces),
        }
    }

    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
        reason: NackReason,
    ) {
        let mut faces = Vec::new();
        if self.has_nacks {
            faces = self.instance.with(Vec::new(), |object| {
                let py = object.py();
                let pending = Pending::of(py, context, entry, first_downstream(entry))?;
                let eligible = pending.next_hops.clone();
                let now = context.now.as_secs_f64();
                let arguments = (now, pending, upstream.0, reason.number());
                let answer = object.call_method1(intern!(py, "after_nack"), arguments)?;
                self.faces("after_nack()", &answer, &eligible)
            });
        }
        match faces.is_empty() {
            true => pass_nack_on(entry, context.actions),
            false => send(context, faces),
        }
    }

    fn learns(&self) -> bool {
        self.has_data || self.has_expiry
    }

    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        if self.has_data {
            self.notify("before_satisfy", context, entry, Some(upstream));
        }
    }

    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        if self.has_expiry {
            self.notify("on_expiry", context, entry, None);
        }
    }
}
