//! The keys of links and nodes, which come in layers: defaults, what a topology knows, exceptions.
use crate::law;
use recoup_channel::layer::{ChannelLayer, PairLayer};
use recoup_config::fields::Fields;
use recoup_config::form::{Count, Form, Maybe};
use recoup_config::problem::{Origin, Problems};
use recoup_config::schema::Shape;
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::model::trace::{DelayTrace, RateTrace};
use recoup_sim::network::{LinkPlan, NodePlan};
use recoup_sim::workload::log::RequestLog;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The options that a layer of a link gives. It is read once, and put on any number of links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkLayer {
    pub channels: PairLayer,
    cost: Option<u64>,
}

/// The content of the files that links and requests name, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traces {
    pub rates: BTreeMap<String, Arc<RateTrace>>,
    pub delays: BTreeMap<String, Arc<DelayTrace>>,
    pub logs: BTreeMap<String, Arc<RequestLog>>,
}

impl LinkLayer {
    /// Puts the files of traces in place.
    pub(crate) fn read_traces(&mut self, traces: &Traces) {
        read_traces(&mut self.channels.forth, traces);
        read_traces(&mut self.channels.back, traces);
    }

    /// Puts the layer on top of what is known of a link.
    pub(crate) fn put_on(&self, link: &mut LinkPlan) {
        self.channels.forth.put_on(&mut link.forth);
        self.channels.back.put_on(&mut link.back);
        if let Some(cost) = self.cost {
            (link.cost, link.back_cost) = (cost, cost);
        }
    }
}

/// Puts the files of traces in place.
pub(crate) fn read_traces(layer: &mut ChannelLayer, traces: &Traces) {
    let values = Arc::make_mut(&mut layer.values);
    // A file that cannot be read was reported where it is named.
    let found = values.read_traces(
        |file| traces.rates.get(file).cloned().ok_or(()),
        |file| traces.delays.get(file).cloned().ok_or(()),
    );
    found.unwrap_or_default();
}

/// Reads a layer of a link; returns it with its normal form.
pub(crate) fn read_link(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (LinkLayer, Table) {
    let mut fields = Fields::new(given, path, origin, false, problems);
    let mut cost = LinkPlan::default().cost;
    let mut has_cost = false;
    let channels = PairLayer::read(&mut fields, |fields| {
        has_cost = fields.field("cost", &mut cost, Count(0, i64::MAX as u64));
    });
    (LinkLayer { channels, cost: has_cost.then_some(cost) }, fields.finish())
}

/// Reads a layer of a node onto what is below it; returns the layer in its normal form.
pub(crate) fn read_node(
    given: &Table,
    path: &str,
    origin: Origin,
    node: &mut NodePlan,
    fill: bool,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, fill, problems);
    fields.document(&mut node.options, &[]);
    fields.field("processing", &mut node.processing, law::PROCESSING);
    fields.field("scheduler", &mut node.scheduler, law::SCHEDULER);
    fields.field("position", &mut node.position, Maybe(PositionForm));
    fields.field("motion", &mut node.motion, Maybe(law::MOTION));
    fields.finish()
}

/// `[x, y]`, in metres.
struct PositionForm;

impl Form for PositionForm {
    type Of = (f64, f64);

    fn read(&self, tree: &Tree) -> Result<(f64, f64), String> {
        let number = |tree: &Tree| match tree.value {
            Value::Integer(number) => Some(number as f64),
            Value::Number(number) => Some(number).filter(|number| number.is_finite()),
            _ => None,
        };
        match &tree.value {
            Value::List(list) if list.len() == 2 => number(&list[0]).zip(number(&list[1])),
            _ => None,
        }
        .ok_or_else(|| self.example())
    }

    fn write(&self, (x, y): &(f64, f64)) -> Option<Value> {
        Some(Value::List(vec![Value::Number(*x).into(), Value::Number(*y).into()]))
    }

    fn example(&self) -> String {
        "write a place as [x, y], in metres".into()
    }

    fn shape(&self) -> Shape {
        Shape::List(Box::new(Shape::Number))
    }
}
