//! The properties of a link as keys of a document, in layers: one that is read later replaces what an earlier one gave.
use crate::link::{LinkOptions, OverTime};
use crate::model::trace::{DelayTrace, RateTrace};
use recoup_config::fields::Fields;
use recoup_config::form::Form;
use recoup_config::problem::{Origin, Problems};
use recoup_config::schema::Shape;
use recoup_config::tree::{Table, Tree, Value};
use recoup_core::unit;
use recoup_transport::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The options that a layer gives one direction of a link. A layer is read once, and put on any number of links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelLayer {
    /// Numbers of the options that are given ([`LinkOptions::option`]).
    pub options: BTreeSet<usize>,
    /// The values of these options; the rest are defaults.
    pub values: Arc<LinkOptions>,
}

/// The options that a layer gives both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairLayer {
    /// From the first end to the second.
    pub forth: ChannelLayer,
    /// From the second end to the first.
    pub back: ChannelLayer,
}

impl ChannelLayer {
    /// Puts the layer on top of what is known of a direction.
    pub fn put_on(&self, channel: &mut LinkOptions) {
        for option in &self.options {
            channel.copy(*option, &self.values);
        }
    }
}

impl PairLayer {
    /// Reads the options of both directions as fields of a table; `forth` and `back` are tables of one direction. `others`
    /// reads further keys of the table, whose place in the normal form is before these two.
    pub fn read(fields: &mut Fields<'_>, others: impl FnOnce(&mut Fields<'_>)) -> Self {
        let mut forth = LinkOptions::default();
        read_options(fields, &mut forth);
        others(fields);
        let mut back = forth.clone();
        let mut given = [fields.given(), fields.given()].map(numbers);
        for ((way, values), options) in
            ["forth", "back"].into_iter().zip([&mut forth, &mut back]).zip(&mut given)
        {
            options.extend(fields.look(way).map(numbers).unwrap_or_default());
            fields.table(way, |given, path, origin, problems| {
                let mut fields = Fields::new(given, path, origin, false, problems);
                read_options(&mut fields, values);
                fields.finish()
            });
        }
        let [to, fro] = given;
        Self {
            forth: ChannelLayer { options: to, values: forth.into() },
            back: ChannelLayer { options: fro, values: back.into() },
        }
    }

    /// Reads a table that has these options alone.
    pub fn of_table(given: &Table, path: &str, origin: Origin, problems: &mut Problems) -> Self {
        let mut fields = Fields::new(given, path, origin, false, problems);
        let layer = Self::read(&mut fields, |_| ());
        fields.finish();
        layer
    }
}

/// Numbers of the options that a table gives.
fn numbers(given: &Table) -> BTreeSet<usize> {
    given.entries().iter().filter_map(|entry| LinkOptions::option(&entry.key)).collect()
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
        let layer = PairLayer::of_table(&given, "link", Origin::Unknown, &mut problems);
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
        let mut both = [LinkOptions::default(), LinkOptions::default()];
        layer.forth.put_on(&mut both[0]);
        layer.back.put_on(&mut both[1]);
        assert_eq!((&both[0], &both[1]), (&*layer.forth.values, &*layer.back.values));
    }
}
