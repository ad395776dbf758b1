//! The keys of links and nodes, which come in layers: defaults, what a topology knows, exceptions.
use crate::scenario::fields::Fields;
use crate::scenario::law;
use crate::scenario::ndn::CACHE;
use recoup_config::form::{Count, FEW_OCTETS, Form, Maybe, OneOf, RATE, TIME, Truth};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::{Table, Tree, Value};
use recoup_core::unit::{self, Capacity};
use recoup_sim::network::{Anticipation, ChannelPlan, LinkPlan, NodePlan, Order};

/// Reads a layer of a link onto what is below it; returns the layer in its normal form.
pub(in crate::scenario) fn read_link(
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
    plan: &mut ChannelPlan,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, false, problems);
    channel(&mut fields, plan);
    fields.finish()
}

/// The keys of one direction.
fn channel(fields: &mut Fields<'_>, plan: &mut ChannelPlan) {
    fields.field("rate", &mut plan.rate_bits, RATE);
    fields.field("delay", &mut plan.delay, TIME);
    fields.field("jitter", &mut plan.jitter, law::JITTER);
    fields.field("reorder", &mut plan.reorder, Truth);
    let mut queue = Queue { packets: plan.queue_packets, octets: plan.queue_octets };
    if fields.field("queue", &mut queue, QueueForm) {
        (plan.queue_packets, plan.queue_octets) = (queue.packets, queue.octets);
    }
    fields.field("overhead", &mut plan.overhead_octets, FEW_OCTETS);
    fields.field("interest", &mut plan.interest_octets, Maybe(FEW_OCTETS));
    fields.field("loss", &mut plan.loss, law::LOSS);
    fields.field("duplicate", &mut plan.duplicate, law::DUPLICATE);
    fields.field("order", &mut plan.order, ORDER);
    fields.field("marking", &mut plan.marking, law::MARKING);
    fields.field("recovery", &mut plan.recovery, law::RECOVERY);
    fields.field("scheduler", &mut plan.scheduler, law::SCHEDULER);
}

const ORDER: OneOf<Order> =
    OneOf(&[("rate-then-delay", Order::RateThenDelay), ("delay-then-rate", Order::DelayThenRate)]);

/// The limits of a queue; what is none has no limit.
struct Queue {
    packets: Option<u64>,
    octets: Option<u64>,
}

/// `"32 packets"`, `"64 KiB"`, `"unlimited"`, or both limits in a list.
struct QueueForm;

impl QueueForm {
    fn one(tree: &Tree) -> Result<Capacity, String> {
        match &tree.value {
            Value::Text(text) => Ok(unit::capacity(text)?),
            Value::Integer(number @ 0..) => Ok(unit::capacity(&number.to_string())?),
            other => Err(format!("{other} is no queue; {}", Self.example())),
        }
    }
}

impl Form for QueueForm {
    type Of = Queue;

    fn read(&self, tree: &Tree) -> Result<Queue, String> {
        let mut queue = Queue { packets: None, octets: None };
        let list = match &tree.value {
            Value::List(list) if list.is_empty() => return Err(self.example()),
            Value::List(list) => list.as_slice(),
            _ => std::slice::from_ref(tree),
        };
        for one in list {
            let is_second = match Self::one(one)? {
                Capacity::Packets(packets) => queue.packets.replace(packets).is_some(),
                Capacity::Bytes(octets) => queue.octets.replace(octets).is_some(),
                Capacity::Unlimited => list.len() > 1,
            };
            if is_second {
                return Err(format!("a queue has one limit of each kind; {}", self.example()));
            }
        }
        Ok(queue)
    }

    fn write(&self, queue: &Queue) -> Option<Value> {
        let text = |room| Value::Text(unit::print_capacity(room));
        Some(match (queue.packets.map(Capacity::Packets), queue.octets.map(Capacity::Bytes)) {
            (None, None) => text(Capacity::Unlimited),
            (Some(one), None) | (None, Some(one)) => text(one),
            (Some(one), Some(other)) => Value::List(vec![text(one).into(), text(other).into()]),
        })
    }

    fn example(&self) -> String {
        "write it like \"32 packets\", \"64 KiB\", [\"32 packets\", \"64 KiB\"] or \"unlimited\""
            .into()
    }
}

/// Reads a layer of a node onto what is below it; returns the layer in its normal form.
pub(in crate::scenario) fn read_node(
    given: &Table,
    path: &str,
    origin: Origin,
    node: &mut NodePlan,
    fill: bool,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, fill, problems);
    fields.field("cache", &mut node.cache, CACHE);
    fields.field("strategy", &mut node.strategy, law::STRATEGY);
    fields.field("suppression", &mut node.suppression, law::SUPPRESSION);
    fields.field("mobility", &mut node.mobility, law::MOBILITY);
    fields.field("unsolicited", &mut node.admit_unsolicited, UNSOLICITED);
    fields.field("provider-ids", &mut node.provider_ids, Truth);
    fields.field("anticipation", &mut node.anticipation, ANTICIPATION);
    fields.field("processing", &mut node.processing, law::PROCESSING);
    fields.field("scheduler", &mut node.scheduler, law::SCHEDULER);
    fields.field("position", &mut node.position, Maybe(PositionForm));
    fields.field("motion", &mut node.motion, Maybe(law::MOTION));
    fields.finish()
}

const UNSOLICITED: OneOf<bool> = OneOf(&[("drop", false), ("admit", true)]);

const ANTICIPATION: OneOf<Anticipation> = OneOf(&[
    ("off", Anticipation::Off),
    ("holders", Anticipation::Holders),
    ("all", Anticipation::All),
]);

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
}
