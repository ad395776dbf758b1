//! The keys of links and nodes, which come in layers: defaults, what a topology knows, exceptions.
use crate::fields::Fields;
use crate::law;
use recoup_config::form::{Count, Form, Maybe};
use recoup_config::problem::{Origin, Problems};
use recoup_config::schema::Shape;
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::network::{LinkOptions, LinkPlan, NodePlan};

/// Reads a layer of a link onto what is below it; returns the layer in its normal form.
pub(crate) fn read_link(
    given: &Table,
    path: &str,
    origin: Origin,
    link: &mut LinkPlan,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, false, problems);
    channel(&mut fields, &mut link.forth);
    channel(&mut fields, &mut link.back);
    if fields.field("cost", &mut link.cost, Count(0, i64::MAX as u64)) {
        link.back_cost = link.cost;
    }
    fields.table("forth", |given, path, origin, problems| {
        read_channel(given, path, origin, &mut link.forth, problems)
    });
    fields.table("back", |given, path, origin, problems| {
        read_channel(given, path, origin, &mut link.back, problems)
    });
    fields.finish()
}

fn read_channel(
    given: &Table,
    path: &str,
    origin: Origin,
    plan: &mut LinkOptions,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, false, problems);
    channel(&mut fields, plan);
    fields.finish()
}

/// The keys of one direction.
fn channel(fields: &mut Fields<'_>, plan: &mut LinkOptions) {
    fields.document(plan, &[]);
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
