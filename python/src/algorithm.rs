//! Algorithms that are Python classes: a registry of classes, and instances that the library calls.
//!
//! A class is registered under the name that specs have for it. Its identity, a digest of its source or a version that it
//! states, is the parameter `source` of its spec: scenario files, result folders and summaries distinguish
//! two classes of one name by it.
//!
//! An exception of a class ends the run that it is in. In a simulation it unwinds to the runner ([`Guarded`]), elsewhere to the
//! call from Python ([`detached`]); in a fetch it is left in [`Failures`], for which the operation waits; in the command it ends
//! the process.
mod cache;
mod congestion;
mod loss;
mod rto;
mod strategy;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use recoup::{Error, ErrorKind};
use recoup_forwarder::strategy::Strategy;
use recoup_forwarder::table::policy::{Admission, Replacement};
use recoup_lab::campaign::{Outcome, Runner, Stage};
use recoup_lab::folder::Shelf;
use recoup_lab::simulate::Simulations;
use recoup_transport::congestion::Congestion;
use recoup_transport::loss::Loss;
use recoup_transport::rto::Rto;
use recoup_transport::spec::family::{self, Custom};
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::Duration;
use recoup_transport::unit;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::Notify;

pub(crate) use cache::CachedData;
pub(crate) use congestion::{Delivered, LossEvent};
pub(crate) use loss::Arrival;
pub(crate) use rto::Sample;
pub(crate) use strategy::{Pending, Upstream};

/// The classes of this process, by family and name.
static CLASSES: RwLock<BTreeMap<(&'static str, String), Arc<Class>>> = RwLock::new(BTreeMap::new());

/// A registered class.
struct Class {
    /// The name in specs.
    name: &'static str,
    /// The name of the class in messages.
    title: String,
    /// The class.
    constructor: Py<PyAny>,
    identity: String,
    parameters: Vec<Parameter>,
    /// Optional methods that the class has of its own.
    methods: Vec<String>,
}

/// A parameter of the constructor: a keyword with a default.
struct Parameter {
    key: &'static str,
    keyword: String,
    default: Value,
}

/// The value of a parameter.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
enum Value {
    #[pyo3(transparent)]
    Truth(bool),
    #[pyo3(transparent)]
    Whole(i64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(value) => value.fmt(f),
            Self::Whole(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

impl Parameter {
    /// The value that a spec has for it.
    fn take(&self, spec: &mut Spec<'_>) -> Result<Value, SpecError> {
        let default = self.default.clone();
        match self.default {
            Value::Truth(_) => spec.take(self.key, default, "true or false", |text| {
                text.parse().ok().map(Value::Truth)
            }),
            Value::Whole(_) => spec.take(self.key, default, "a whole number", |text| {
                text.parse().ok().map(Value::Whole)
            }),
            Value::Number(_) => spec
                .take(self.key, default, "a number", |text| unit::number(text).map(Value::Number)),
            Value::Text(_) => {
                spec.take(self.key, default, "a word", |text| Some(Value::Text(text.to_owned())))
            }
        }
    }
}

/// Makes a class known to all readers of specs in this process by its name, in place of another one with that name.
///
/// `parameters` are the keywords of the constructor with their defaults, `methods` the optional methods that it has.
#[pyfunction]
#[pyo3(signature = (family, name, title, constructor, identity, parameters, methods))]
pub(crate) fn register(
    family: &str,
    name: &str,
    title: String,
    constructor: Py<PyAny>,
    identity: String,
    parameters: Vec<(String, Bound<'_, PyAny>)>,
    methods: Vec<String>,
) -> PyResult<()> {
    let family = match family {
        "congestion" => "congestion",
        "rto" => "rto",
        "loss" => "loss",
        "strategy" => "strategy",
        "replacement" => "replacement",
        "admission" => "admission",
        _ => return Err(PyValueError::new_err(format!("no family is called `{family}`"))),
    };
    // Names live as long as the process: readers of specs list them in errors.
    let known = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    let old = known.get(&(family, name.to_owned())).cloned();
    drop(known);
    let parameters = parameters.into_iter().map(|(keyword, default)| {
        let key = keyword.replace('_', "-");
        let own = old.iter().flat_map(|it| &it.parameters).find(|it| it.key == key);
        let key = own.map_or_else(|| &*Box::leak(key.into_boxed_str()), |it| it.key);
        Ok(Parameter { key, keyword, default: default.extract()? })
    });
    let parameters = parameters.collect::<PyResult<Vec<_>>>()?;
    let is_new = old.is_none();
    let name: &'static str = match old {
        Some(old) => old.name,
        None => Box::leak(name.to_owned().into_boxed_str()),
    };
    family::set_version(name, &identity);
    let class = Arc::new(Class { name, title, constructor, identity, parameters, methods });
    CLASSES
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert((family, name.to_owned()), class);
    if is_new {
        match family {
            "congestion" => Congestion::register(name, congestion::read),
            "rto" => Rto::register(name, rto::read),
            "strategy" => Strategy::register(name, strategy::read),
            "replacement" => Replacement::register(name, cache::read_replacement),
            "admission" => Admission::register(name, cache::read_admission),
            _ => Loss::register(name, loss::read),
        }
    }
    Ok(())
}

/// The class that a spec names, with its parameters, and where its exceptions go.
struct Order {
    class: Arc<Class>,
    values: Vec<Value>,
    spec: String,
    failures: Option<Arc<Failures>>,
}

/// Reads a spec of a registered class.
fn read<T: ?Sized + 'static>(
    family: &'static str,
    mut spec: Spec<'_>,
    build: fn(Instance) -> Box<T>,
) -> Result<Custom<T>, SpecError> {
    let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    let class = classes.get(&(family, spec.name().to_owned())).cloned();
    drop(classes);
    let class = class.ok_or_else(|| SpecError::UnknownName {
        family,
        name: spec.name().to_owned(),
        known: Vec::new(),
    })?;
    let mut text = format!("{}(", class.name);
    let mut values = Vec::new();
    for parameter in &class.parameters {
        let value = parameter.take(&mut spec)?;
        text.push_str(&format!("{}={value},", parameter.key));
        values.push(value);
    }
    let source = class.identity.clone();
    let expected = "the class as it is now; leave `source` out to use that";
    spec.take("source", source.clone(), expected, |text| (text == source).then(|| text.into()))?;
    spec.finish()?;
    text.push_str(&format!("source={})", class.identity));
    let failures = FAILURES.with_borrow(Clone::clone);
    let order = Arc::new(Order { class, values, spec: text.clone(), failures });
    Ok(Custom::new(text, move || build(Instance::new(&order))))
}

/// An instance of a class, and what becomes of its exceptions.
struct Instance {
    order: Arc<Order>,
    object: Py<PyAny>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.order.spec)
    }
}

impl Instance {
    fn new(order: &Arc<Order>) -> Self {
        let made = Python::attach(|py| {
            let keywords = PyDict::new(py);
            for (parameter, value) in order.class.parameters.iter().zip(&order.values) {
                keywords.set_item(&parameter.keyword, value.clone())?;
            }
            order.class.constructor.call(py, (), Some(&keywords))
        });
        let object = made.unwrap_or_else(|error| {
            order.fail(error);
            Python::attach(|py| py.None())
        });
        Self { order: Arc::clone(order), object }
    }

    /// Runs something with the instance, unless that has failed. A failure has the result `otherwise`, where the run goes on
    /// until it is cancelled.
    fn with<T>(&self, otherwise: T, run: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.order.failures.as_ref().is_some_and(|it| it.has_failed()) {
            return otherwise;
        }
        match Python::attach(|py| run(self.object.bind(py))) {
            Ok(value) => value,
            Err(error) => {
                self.order.fail(error);
                otherwise
            }
        }
    }

    /// Whether the class has this optional method of its own.
    fn has(&self, method: &str) -> bool {
        self.order.class.methods.iter().any(|own| own == method)
    }

    /// The attribute, a number that is neither negative nor NaN.
    fn number(&self, object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<f64> {
        let value = object.getattr(name)?.extract::<f64>()?;
        match value >= 0.0 {
            true => Ok(value),
            false => Err(self.invalid(&name.to_string(), value)),
        }
    }

    /// A number of seconds that a method returned or an attribute has; `None` for none.
    fn seconds(&self, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
        let Some(seconds) = value.extract::<Option<f64>>()? else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(duration) => Ok(Some(duration)),
            // Longer than any run.
            Err(_) if seconds > 0.0 => Ok(Some(Duration::MAX)),
            Err(_) => Err(self.invalid(what, seconds)),
        }
    }

    fn invalid(&self, what: &str, value: f64) -> PyErr {
        let title = &self.order.class.title;
        PyValueError::new_err(format!("{title}.{what} is {value}; give a number of at least 0"))
    }
}

impl Order {
    fn fail(&self, error: PyErr) {
        match &self.failures {
            Some(failures) => failures.put(error),
            None if IS_COMMAND.load(Ordering::Relaxed) => {
                Python::attach(|py| error.print(py));
                std::process::exit(1);
            }
            None => resume_unwind(Box::new(Raised(error))),
        }
    }
}

/// The process is the command `recoup`.
static IS_COMMAND: AtomicBool = AtomicBool::new(false);

/// Makes exceptions of classes end the process from now on, from whichever thread they come.
pub(crate) fn end_process_on_failure() {
    IS_COMMAND.store(true, Ordering::Relaxed);
}

/// The exception that unwinds through a simulation.
struct Raised(PyErr);

/// Runs something that may make instances of classes; an exception that unwinds through it is raised.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(other) => resume_unwind(other),
    })
}

/// As [`caught`], without the interpreter lock.
pub(crate) fn detached<T: Send>(py: Python<'_>, run: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(run))
}

/// The first exception of the classes of a fetch.
#[derive(Default)]
pub(crate) struct Failures {
    has_failed: AtomicBool,
    raised: Mutex<Option<PyErr>>,
    news: Notify,
}

thread_local! {
    /// Where the classes whose specs are read in this thread leave their exceptions.
    static FAILURES: RefCell<Option<Arc<Failures>>> = const { RefCell::new(None) };
}

impl Failures {
    /// Runs `read`; classes of the specs that it reads leave their exceptions here.
    pub(crate) fn collect<T>(self: &Arc<Self>, read: impl FnOnce() -> T) -> T {
        FAILURES.set(Some(Arc::clone(self)));
        let value = read();
        FAILURES.set(None);
        value
    }

    /// Waits for the first exception.
    pub(crate) async fn wait(&self) -> PyErr {
        loop {
            let news = self.news.notified();
            if let Some(error) = self.take() {
                return error;
            }
            news.await;
        }
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, error: PyErr) {
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.news.notify_one();
        }
    }
}

/// Runs simulations in which Python classes take part.
#[derive(Default)]
pub(crate) struct Guarded {
    raised: Mutex<Option<PyErr>>,
}

impl Guarded {
    /// The first exception of a class.
    pub(crate) fn raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runner for Guarded {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        shelf: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error> {
        if stage.registered.is_empty() {
            return Simulations.run(stage, seed, shelf, stop);
        }
        // The lock is taken once: calls cost less, and others run while Python code does.
        let run = || Simulations.run(stage, seed, shelf, stop);
        Python::attach(|_| caught(run)).unwrap_or_else(|raised| {
            let mut first = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(raised);
            Err(Error::new(ErrorKind::Other, "a Python class has raised an exception"))
        })
    }
}

/// Seconds, as Python has durations.
fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(|it| it.as_secs_f64())
}
