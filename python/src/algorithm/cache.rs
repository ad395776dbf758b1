//! Policies of content stores that are Python classes.
use super::{Instance, read as read_class};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use recoup_forwarder::table::policy::{
    Admission, AdmissionPolicy, Candidate, CopyDown, Entry, Replacement, ReplacementPolicy,
};
use recoup_packet::data::Data;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::Instant;
use std::collections::BTreeSet;
use std::fmt;

/// Reads a spec of a registered class.
pub(super) fn read_replacement(spec: Spec<'_>) -> Result<Replacement, SpecError> {
    let custom = read_class("replacement", spec, |instance| -> Box<dyn ReplacementPolicy> {
        Box::new(Evictions::new(instance))
    });
    custom.map(Replacement::Custom)
}

/// Reads a spec of a registered class.
pub(super) fn read_admission(spec: Spec<'_>) -> Result<Admission, SpecError> {
    let custom = read_class("admission", spec, |instance| -> Box<dyn AdmissionPolicy> {
        Box::new(Admissions::new(instance))
    });
    custom.map(Admission::Custom)
}

/// Data that is stored, or may be.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct CachedData {
    slot: Option<u32>,
    hash: u64,
    data: Data,
}

#[pymethods]
impl CachedData {
    /// The slot in which it is stored; `None` before it is.
    #[getter]
    fn slot(&self) -> Option<u32> {
        self.slot
    }

    /// Hash of its name, which `on_miss` receives, too.
    #[getter]
    fn hash(&self) -> u64 {
        self.hash
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.data.name().to_string()
    }

    /// Its length on the wire, in bytes.
    #[getter]
    fn size(&self) -> usize {
        self.data.encoded_len()
    }

    /// How long it is fresh, in seconds.
    #[getter]
    fn freshness(&self) -> f64 {
        self.data.freshness().as_secs_f64()
    }
}

impl CachedData {
    fn stored(entry: &Entry<'_>) -> Self {
        Self { slot: Some(entry.slot), hash: entry.hash, data: entry.data.clone() }
    }
}

/// A replacement policy.
#[derive(Debug)]
struct Evictions {
    instance: Instance,
    has_replacements: bool,
    has_misses: bool,
    has_rejections: bool,
    /// Slots in use: a class may only name one of these.
    used: BTreeSet<u32>,
}

impl Evictions {
    fn new(instance: Instance) -> Self {
        Self {
            has_replacements: instance.has("on_replace"),
            has_misses: instance.has("on_miss"),
            has_rejections: instance.has("displaces"),
            used: BTreeSet::new(),
            instance,
        }
    }

    fn notify(&self, method: &str, entry: &Entry<'_>) {
        self.instance.with((), |object| {
            let arguments = (entry.now.as_secs_f64(), CachedData::stored(entry));
            object.call_method1(method, arguments).map(drop)
        });
    }
}

impl fmt::Display for Evictions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl ReplacementPolicy for Evictions {
    fn seed(&mut self, mut rng: Rng) {
        if self.instance.has("seed") {
            self.instance
                .with((), |object| object.call_method1("seed", (rng.next_u64(),)).map(drop));
        }
    }

    fn on_insert(&mut self, entry: &Entry<'_>) {
        self.used.insert(entry.slot);
        self.notify("on_insert", entry);
    }

    fn on_hit(&mut self, entry: &Entry<'_>) {
        self.notify("on_hit", entry);
    }

    fn on_replace(&mut self, entry: &Entry<'_>) {
        self.notify(if self.has_replacements { "on_replace" } else { "on_hit" }, entry);
    }

    fn on_miss(&mut self, now: Instant, hash: u64) {
        if self.has_misses {
            self.instance.with((), |object| {
                object.call_method1(intern!(object.py(), "on_miss"), (now.as_secs_f64(), hash))?;
                Ok(())
            });
        }
    }

    fn on_remove(&mut self, slot: u32) {
        self.used.remove(&slot);
        self.instance.with((), |object| {
            object.call_method1(intern!(object.py(), "on_remove"), (slot,)).map(drop)
        });
    }

    fn victim(&mut self) -> Option<u32> {
        let first = self.used.first().copied()?;
        let chosen = self.instance.with(first, |object| {
            let answer = object.call_method0(intern!(object.py(), "victim"))?;
            let slot = answer.extract::<u32>()?;
            match self.used.contains(&slot) {
                true => Ok(slot),
                false => {
                    let title = &self.instance.order.class.title;
                    let what = "no Data is stored there";
                    Err(PyValueError::new_err(format!("{title}.victim() is {slot}; {what}")))
                }
            }
        });
        Some(chosen)
    }

    fn displaces(&mut self, now: Instant, hash: u64) -> bool {
        !self.has_rejections
            || self.instance.with(true, |object| {
                let arguments = (now.as_secs_f64(), hash);
                object.call_method1(intern!(object.py(), "displaces"), arguments)?.is_truthy()
            })
    }
}

/// An admission policy.
#[derive(Debug)]
struct Admissions {
    instance: Instance,
    copy_down: CopyDown,
}

impl Admissions {
    fn new(instance: Instance) -> Self {
        let copy_down = instance.with(CopyDown::Off, |object| {
            match object.getattr("copy_down")?.extract::<String>()?.as_str() {
                "off" => Ok(CopyDown::Off),
                "leave" => Ok(CopyDown::Leave),
                "move" => Ok(CopyDown::Move),
                other => {
                    let title = &instance.order.class.title;
                    let what = "write off, leave or move";
                    Err(PyValueError::new_err(format!("{title}.copy_down is {other}; {what}")))
                }
            }
        });
        Self { instance, copy_down }
    }
}

impl fmt::Display for Admissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.instance.order.spec)
    }
}

impl AdmissionPolicy for Admissions {
    fn seed(&mut self, mut rng: Rng) {
        if self.instance.has("seed") {
            self.instance
                .with((), |object| object.call_method1("seed", (rng.next_u64(),)).map(drop));
        }
    }

    fn admits(&mut self, candidate: &Candidate<'_>) -> bool {
        self.instance.with(true, |object| {
            let Candidate { now, hash, data } = *candidate;
            let data = CachedData { slot: None, hash, data: data.clone() };
            let method = intern!(object.py(), "admits");
            object.call_method1(method, (now.as_secs_f64(), data))?.is_truthy()
        })
    }

    fn copy_down(&self) -> CopyDown {
        self.copy_down
    }
}
