//! The keys of links and nodes, which come in layers: defaults, what a topology knows, exceptions.
use crate::fields::Fields;
use crate::law;
use recoup_config::form::{Count, Form, Maybe};
use recoup_config::problem::{Origin, Problems};
use recoup_config::schema::Shape;
use recoup_config::tree::{Table, Tree, Value};
use recoup_core::unit;
use recoup_sim::model::trace::{DelayTrace, RateTrace};
use recoup_sim::network::{LinkOptions, LinkPlan, NodePlan, OverTime};
use recoup_sim::workload::log::RequestLog;
use recoup_transport::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The options that a layer of a link gives. It is read once, and put on any number of links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkLayer {
    pub forth: ChannelLayer,
    pub back: ChannelLayer,
    cost: Option<u64>,
}

/// The options that a layer gives one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChannelLayer {
    /// Numbers of the options that are given.
    pub options: BTreeSet<usize>,
    pub values: Arc<LinkOptions>,
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
        self.forth.read_traces(traces);
        self.back.read_traces(traces);
    }

    /// Puts the layer on top of what is known of a link.
    pub(crate) fn put_on(&self, link: &mut LinkPlan) {
        self.forth.put_on(&mut link.forth);
        self.back.put_on(&mut link.back);
        if let Some(cost) = self.cost {
            (link.cost, link.back_cost) = (cost, cost);
        }
    }
}

impl ChannelLayer {
    /// Puts the files of traces in place.
    pub(crate) fn read_traces(&mut self, traces: &Traces) {
        let values = Arc::make_mut(&mut self.values);
        // A file that cannot be read was reported where it is named.
        let found = values.read_traces(
            |file| traces.rates.get(file).cloned().ok_or(()),
            |file| traces.delays.get(file).cloned().ok_or(()),
        );
        found.unwrap_or_default();
    }

    fn put_on(&self, channel: &mut LinkOptions) {
        for option in &self.options {
            channel.copy(*option, &self.values);
        }
    }
}

/// Reads a layer of a link; returns it with its normal form.
pub(crate) fn read_link(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (LinkLayer, Table) {
    let mut link = LinkPlan::default();
    let mut fields = Fields::new(given, path, origin, false, problems);
    read_options(&mut fields, &mut link.forth);
    link.back.clone_from(&link.forth);
    let has_cost = fields.field("cost", &mut link.cost, Count(0, i64::MAX as u64));
    fields.table("forth", |given, path, origin, problems| {
        read_channel(given, path, origin, &mut link.forth, problems)
    });
    fields.table("back", |given, path, origin, problems| {
        read_channel(given, path, origin, &mut link.back, problems)
    });
    let of = |way: &str, values: LinkOptions| {
        let entries =
            given.entries().iter().chain(given.table(way).into_iter().flat_map(Table::entries));
        let options = entries.filter_map(|entry| LinkOptions::option(&entry.key));
        ChannelLayer { options: options.collect(), values: values.into() }
    };
    let cost = has_cost.then_some(link.cost);
    let layer = LinkLayer { forth: of("forth", link.forth), back: of("back", link.back), cost };
    (layer, fields.finish())
}

fn read_channel(
    given: &Table,
    path: &str,
    origin: Origin,
    plan: &mut LinkOptions,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, false, problems);
    read_options(&mut fields, plan);
    fields.finish()
}

fn read_options(fields: &mut Fields<'_>, plan: &mut LinkOptions) {
    let mut rate = (plan.rate_bits, plan.rate_trace.take());
    let mut delay = (plan.delay, plan.delay_trace.take());
    fields.field("rate", &mut rate, RateForm);
    fields.field("delay", &mut delay, DelayForm);
    fields.document(plan, &["rate", "delay"]);
    (plan.rate_bits, plan.rate_trace) = rate;
    (plan.delay, plan.delay_trace) = delay;
}

/// A quantity with a unit, or over time from a file.
macro_rules! over_time {
    ($name:ident: $of:ty, $trace:ty, $read:path, $print:path, $example:literal) => {
        struct $name;

        impl Form for $name {
            type Of = ($of, Option<OverTime<$trace>>);

            fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
                let text = match &tree.value {
                    Value::Text(text) => text.clone(),
                    Value::Integer(_) | Value::Number(_) => tree.value.to_string(),
                    other => return Err(format!("{other} is no text; {}", self.example())),
                };
                match OverTime::parse(&text)? {
                    Some(trace) => Ok((<$of>::default(), Some(trace))),
                    None => Ok(($read(&text).map_err(|error| error.to_string())?, None)),
                }
            }

            fn write(&self, (value, trace): &Self::Of) -> Option<Value> {
                let text = trace.as_ref().map_or_else(|| $print(*value), ToString::to_string);
                Some(Value::Text(text))
            }

            fn example(&self) -> String {
                concat!("write ", $example).into()
            }

            fn shape(&self) -> Shape {
                Shape::Text
            }
        }
    };
}

over_time! { RateForm: u64, RateTrace, unit::rate, unit::print_rate,
"\"10 Mbit/s\", \"unlimited\" or \"trace(file=lte.up)\"" }
over_time! { DelayForm: Duration, DelayTrace, unit::duration, unit::print_duration,
"\"10 ms\" or \"trace(file=delay.txt)\"" }

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

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_config::document;

    #[test]
    fn every_option_of_a_link_is_copied() {
        let given = "rate = \"1 Mbit/s\"\ndelay = \"1 s\"\njitter = \"normal(sd=1ms)\"\nreorder = true\n\
                     queue = \"7 packets\"\noverhead = \"1 B\"\ninterest = \"2 B\"\n\
                     loss = \"bernoulli(p=0.1)\"\nduplicate = \"bernoulli(p=0.2)\"\n\
                     order = \"delay-then-rate\"\n\
                     marking = \"codel\"\nrecovery = \"wldr\"\nscheduler = \"max-min\"\n";
        let given = Table::parse(given).unwrap();
        let mut problems = Problems::default();
        let (layer, _) = read_link(&given, "link", Origin::Unknown, &mut problems);
        assert!(problems.is_empty(), "{problems}");
        let fields = |link: &LinkOptions| document::fields(link).unwrap();
        let before = fields(&LinkOptions::default());
        for (key, _) in &before {
            let mut link = LinkOptions::default();
            link.copy(LinkOptions::option(key).unwrap(), &layer.forth.values);
            let after = fields(&link).into_iter().zip(&before);
            let changed: Vec<_> = after.filter(|(new, old)| new != *old).collect();
            assert!(matches!(changed.as_slice(), [((name, _), _)] if name == key), "{changed:?}");
        }
        let mut link = LinkPlan::default();
        layer.put_on(&mut link);
        assert_eq!((&link.forth, &link.back), (&*layer.forth.values, &*layer.back.values));
    }
}
