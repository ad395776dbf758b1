//! The keys of what is given as a list: events in time, routes and strategies by hand.
use super::application::{WAY, Way};
use super::link::{LinkLayer, read_link};
use crate::law;
use crate::ndn::NAME;
use recoup_config::fields::Fields;
use recoup_config::form::{Count, INSTANT, INTERVAL, Located, Many, Maybe, Place, TEXT};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::Table;
use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::strategy::Strategy;
use recoup_packet::name::Name;
use recoup_transport::spec::Spelled;
use recoup_transport::time::{Duration, Instant};

/// More repetitions of one event than that are a mistake.
const MOST_TIMES: u64 = 1_000_000;

/// Something that happens at a time, perhaps again and again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EventRule {
    pub origin: Origin,
    pub at: Instant,
    /// How long it lasts; `None` means for good.
    pub lasting: Option<Duration>,
    /// From one time to the next.
    pub every: Option<Duration>,
    pub times: u64,
    pub what: What,
    /// Patterns of links, or of links and nodes.
    pub targets: Vec<Located<String>>,
}

/// The event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// Links or nodes fail.
    Fail,
    /// They are back.
    Repair,
    /// Links carry nothing for a while, and no node is notified.
    Outage(Way),
    /// Links get other properties.
    Change(LinkLayer),
}

/// The keys of events.
const VERBS: [&str; 4] = ["fail", "repair", "outage", "change"];

/// Reads an event.
pub(crate) fn read_event(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (Option<EventRule>, Table) {
    let mut fields = Fields::new(given, path, origin, false, problems);
    let mut at = Instant::ZERO;
    fields.required("at", &mut at, INSTANT);
    let (mut lasting, mut every, mut times) = (None, None, 1);
    fields.field("for", &mut lasting, Maybe(INTERVAL));
    fields.field("every", &mut every, Maybe(INTERVAL));
    fields.field("times", &mut times, Count(1, MOST_TIMES));
    if every.is_some() != fields.gives("times") {
        let (given, missing) =
            if every.is_some() { ("every", "times") } else { ("times", "every") };
        fields.problem(given, format!("needs `{missing}` beside it"));
    }
    let mut targets = Vec::new();
    for verb in VERBS {
        fields.field(verb, &mut targets, Many(Place(TEXT)));
    }
    if fields.describes() {
        VERBS.into_iter().for_each(|verb| drop(what(&mut fields, verb)));
        return (None, fields.finish());
    }
    let given_verbs: Vec<_> = VERBS.into_iter().filter(|verb| fields.gives(verb)).collect();
    let [verb] = given_verbs.as_slice() else {
        fields.problem("at", "name one event: fail, repair, outage or change");
        return (None, fields.finish());
    };
    let what = what(&mut fields, verb);
    if let (Some(lasting), Some(every)) = (lasting, every)
        && lasting >= every
    {
        fields.problem("for", "must be shorter than `every`");
    }
    let rule = EventRule { origin, at, lasting, every, times, what, targets };
    (Some(rule), fields.finish())
}

fn what(fields: &mut Fields<'_>, verb: &str) -> What {
    match verb {
        "outage" => {
            let mut way = Way::Both;
            fields.field("direction", &mut way, WAY);
            What::Outage(way)
        }
        "change" => {
            let mut change = LinkLayer::default();
            fields.table("to", |given, path, origin, problems| {
                let normal;
                (change, normal) = read_link(given, path, origin, problems);
                if let Some(cost) = given.get("cost") {
                    let what =
                        "routes are computed at the beginning; change a delay, or let links fail";
                    problems.add(cost.origin, format!("{path}.cost"), what);
                }
                normal
            });
            if fields.look("to").is_none_or(Table::is_empty) {
                fields.problem("change", "needs what it changes to: to = { rate = \"1 Mbit/s\" }");
            }
            What::Change(change)
        }
        "fail" => What::Fail,
        _ => {
            if fields.gives("for") {
                fields.problem("for", "a repair is for good; give `for` to what fails");
            }
            What::Repair
        }
    }
}

/// A route given by hand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RouteRule {
    pub nodes: Vec<Located<String>>,
    pub prefix: Name,
    /// Links away from the node, or neighbours.
    pub via: Vec<Located<String>>,
    pub cost: u64,
}

/// Reads a route.
pub(crate) fn read_route(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (RouteRule, Table) {
    let mut fields = Fields::new(given, path, origin, false, problems);
    let mut rule =
        RouteRule { nodes: Vec::new(), prefix: Name::default(), via: Vec::new(), cost: 0 };
    fields.required("node", &mut rule.nodes, Many(Place(TEXT)));
    fields.required("prefix", &mut rule.prefix, NAME);
    fields.required("via", &mut rule.via, Many(Place(TEXT)));
    fields.field("cost", &mut rule.cost, Count(0, i64::MAX as u64));
    (rule, fields.finish())
}

/// A strategy for names below a prefix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StrategyRule {
    pub nodes: Vec<Located<String>>,
    pub prefix: Name,
    pub strategy: Spelled<Strategy>,
}

/// Reads a strategy.
pub(crate) fn read_strategy(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (StrategyRule, Table) {
    let mut fields = Fields::new(given, path, origin, false, problems);
    let strategy = NodeOptions::default().strategy;
    let mut rule = StrategyRule { nodes: Vec::new(), prefix: Name::default(), strategy };
    fields.required("node", &mut rule.nodes, Many(Place(TEXT)));
    fields.required("prefix", &mut rule.prefix, NAME);
    fields.required("strategy", &mut rule.strategy, law::STRATEGY);
    (rule, fields.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> (Option<EventRule>, String) {
        let mut problems = Problems::default();
        let table = Table::parse(text).unwrap();
        let (rule, _) = read_event(&table, "event.1", Origin::Unknown, &mut problems);
        (rule, problems.to_string())
    }

    #[test]
    fn one_thing_happens_at_a_time() {
        let (rule, problems) = event("at = \"1 s\"\nfail = \"a-b\"\nfor = \"2 s\"");
        assert_eq!((rule.unwrap().what, problems.as_str()), (What::Fail, ""));
        assert!(event("at = \"1 s\"").1.contains("name one event"));
        assert!(event("at = \"1 s\"\nfail = \"a\"\nrepair = \"a\"").1.contains("name one event"));
        assert!(event("fail = \"a\"").1.contains("event.1.at: is missing"));
    }

    #[test]
    fn repetitions_and_changes_need_their_words() {
        assert!(event("at = \"1 s\"\nfail = \"a\"\nevery = \"1 s\"").1.contains("times"));
        let long = "at=\"1 s\"\noutage=\"a\"\nevery=\"1 s\"\ntimes=3\nfor=\"2 s\"";
        assert!(event(long).1.contains("shorter"));
        assert!(event("at = \"1 s\"\nchange = \"a\"").1.contains("to = {"));
        let wrong = event("at = \"1 s\"\nchange = \"a\"\nto = { rat = 1 }").1;
        assert!(wrong.contains("event.1.to.rat") && wrong.contains("`rate`"), "{wrong}");
        assert!(!wrong.contains("needs what"), "{wrong}");
        let cost = event("at = \"1 s\"\nchange = \"a\"\nto = { cost = 3 }").1;
        assert!(cost.contains("event.1.to.cost: routes are computed"), "{cost}");
        assert!(event("at=\"1 s\"\nrepair=\"a\"\nfor=\"1 s\"").1.contains("for good"));
    }
}
