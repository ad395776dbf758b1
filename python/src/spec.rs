//! Specs of algorithms, checked against their families.
use crate::algorithm::caught;
use crate::error::raised;
use pyo3::prelude::*;
use recoup::Error;
use recoup_forwarder::strategy::Strategy;
use recoup_forwarder::table::policy::{Admission, Replacement};
use recoup_sim::topology::QueueRoom;
use recoup_sim::topology::read::{describe, describe_node};
use recoup_transport::congestion::Congestion;
use recoup_transport::loss::Loss;
use recoup_transport::rto::Rto;
use recoup_transport::unit;

/// The names of the algorithms of a family: `congestion`, `rto`, `loss`, `strategy`, `replacement` or `admission`.
#[pyfunction]
pub(crate) fn spec_names(py: Python<'_>, family: &str) -> PyResult<Vec<&'static str>> {
    match family {
        "congestion" => Ok(Congestion::names().collect()),
        "rto" => Ok(Rto::names().collect()),
        "loss" => Ok(Loss::names().collect()),
        "strategy" => Ok(Strategy::names().collect()),
        "replacement" => Ok(Replacement::names().collect()),
        "admission" => Ok(Admission::names().collect()),
        _ => Err(unknown(py, family)),
    }
}

/// Reads a spec of a family, and returns it with every parameter.
#[pyfunction]
pub(crate) fn full_spec(py: Python<'_>, family: &str, text: &str) -> PyResult<String> {
    let full = caught(|| match family {
        "congestion" => Some(text.parse::<Congestion>().map(|it| it.full())),
        "rto" => Some(text.parse::<Rto>().map(|it| it.full())),
        "loss" => Some(text.parse::<Loss>().map(|it| it.full())),
        "strategy" => Some(text.parse::<Strategy>().map(|it| it.full())),
        "replacement" => Some(text.parse::<Replacement>().map(|it| it.full())),
        "admission" => Some(text.parse::<Admission>().map(|it| it.full())),
        _ => None,
    })?;
    full.ok_or_else(|| unknown(py, family))?.map_err(|error| raised(py, &error.into()))
}

/// Keys of a scenario, as texts.
type Keys = Vec<(&'static str, String)>;

/// Keys of a scenario for the attributes of a link, its cost times 1,000, and attributes without a meaning. `units` are
/// those of the graph.
#[pyfunction]
pub(crate) fn link_of(
    py: Python<'_>,
    attributes: Vec<(String, String)>,
    units: Vec<(String, String)>,
) -> PyResult<(Keys, u64, Vec<String>)> {
    let known = describe(&attributes, &units);
    let known = known.map_err(|error| raised(py, &Error::usage(error.to_string())))?;
    let part = known.part;
    let mut keys = Vec::new();
    keys.extend(part.rate_bits.map(|bits| ("rate", unit::print_rate(bits))));
    keys.extend(part.delay.map(|delay| ("delay", unit::print_duration(delay))));
    keys.extend(part.loss.map(|loss| ("loss", loss.to_string())));
    keys.extend(part.queue.map(|room| match room {
        QueueRoom::Packets(packets) => ("queue", format!("{packets} packets")),
        QueueRoom::Bytes(bytes) => ("queue", format!("{bytes} B")),
    }));
    Ok((keys, known.milli_cost, known.unused))
}

/// Those of a node's attributes that have no meaning.
#[pyfunction]
pub(crate) fn unused_of_node(names: Vec<String>) -> Vec<String> {
    describe_node(&names)
}

fn unknown(py: Python<'_>, family: &str) -> PyErr {
    raised(py, &Error::usage(format!("no family of algorithms is called `{family}`")))
}
