//! Content of a scenario file, read and checked as far as possible without a network.
pub(super) mod application;
pub(super) mod arena;
pub(super) mod event;
pub(super) mod link;
pub(super) mod place;
pub(super) mod record;
pub(super) mod wifi;

use super::layout::TopologyRule;
use super::seeds::{Seeds, SeedsForm};
use application::{ApplicationRule, KINDS, Mode};
use arena::Arena;
use event::{EventRule, RouteRule, StrategyRule, What};
use link::{LinkLayer, Traces};
use place::PlaceRule;
use record::Record;
use recoup_config::fields::Fields;
use recoup_config::form::{INTERVAL, Located, OrWord, TEXT, Truth, Words};
use recoup_config::problem::{Origin, Problems, hint, listed};
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::network::NodePlan;
use recoup_sim::route::{Metric, NextHops, SpellingError};
use recoup_transport::time::Duration;
use std::collections::BTreeMap;
use wifi::WifiRule;

/// The keys that begin a path.
pub(super) const SECTIONS: [&str; 24] = [
    "title",
    "seeds",
    "stop",
    "when-done",
    "topology",
    "link",
    "links",
    "node",
    "nodes",
    "wifi",
    "places",
    "routing",
    "route",
    "strategy",
    "fetch",
    "serve",
    "produce",
    "request",
    "background",
    "applications",
    "event",
    "record",
    "arena",
    "sweep",
];

/// A file's content.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub title: String,
    pub seeds: Seeds,
    pub stop: Duration,
    pub when_done: bool,
    pub topology: TopologyRule,
    pub link: LinkLayer,
    pub links: Vec<Exception<LinkLayer>>,
    pub node: Table,
    pub nodes: Vec<Exception<Table>>,
    pub wifi: Option<WifiRule>,
    /// The text of each file that motions of nodes are in, once it was read.
    pub motions: BTreeMap<String, String>,
    pub places: Vec<PlaceRule>,
    pub routing: Routing,
    pub routes: Vec<RouteRule>,
    pub strategies: Vec<StrategyRule>,
    pub applications: Vec<ApplicationRule>,
    pub events: Vec<EventRule>,
    pub record: Record,
    pub arena: Option<Arena>,
    /// The table in normal form.
    pub normal: Table,
}

/// Properties of some links or nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exception<L> {
    /// Their names, as a pattern.
    pub pattern: Located<String>,
    pub layer: L,
}

impl Content {
    /// Puts the files of traces of links in place.
    pub(super) fn read_traces(&mut self, traces: &Traces) {
        let exceptions = self.links.iter_mut().map(|exception| &mut exception.layer);
        let changes = self.events.iter_mut().filter_map(|event| match &mut event.what {
            What::Change(change) => Some(change),
            _ => None,
        });
        let layers = exceptions.chain(changes).chain([&mut self.link]);
        layers.for_each(|layer| layer.read_traces(traces));
        self.applications.iter_mut().for_each(|rule| rule.read_log(traces));
    }

    /// How nodes move, as it is written.
    pub(super) fn motions(&self) -> impl Iterator<Item = &Tree> {
        let layers = self.nodes.iter().map(|exception| &exception.layer);
        layers.chain([&self.node]).filter_map(|layer| layer.get("motion"))
    }
}

/// How routes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Routing {
    pub metric: Metric,
    /// `None`: nothing is computed, routes are given by hand.
    pub paths: Option<NextHops>,
}

impl Default for Routing {
    fn default() -> Self {
        Self { metric: Metric::Delay, paths: Some(NextHops::Shortest) }
    }
}

const METRIC: Words<Metric> = Words::new(
    |text| text.parse().map_err(|error: SpellingError| error.to_string()),
    ToString::to_string,
    "write \"delay\", \"round-trip\", \"cost\" or \"hops\"",
);

const PATHS: Words<NextHops> = Words::new(
    |text| text.parse().map_err(|error: SpellingError| error.to_string()),
    ToString::to_string,
    "write \"shortest\", \"equal-cost\", \"downhill\", \"loop-free(3)\" or \"none\"",
);

/// Reads a file. If it is not `complete`, what a sweep may add is not missed.
pub(super) fn read(given: &Table, complete: bool, problems: &mut Problems) -> Content {
    let mut content =
        Content { stop: Duration::from_secs(3600), when_done: true, ..Content::default() };
    let mut fields = Fields::new(given, "", Origin::Unknown, true, problems);
    fields.field("title", &mut content.title, TEXT);
    fields.field("seeds", &mut content.seeds, SeedsForm);
    fields.field("stop", &mut content.stop, INTERVAL);
    fields.field("when-done", &mut content.when_done, Truth);
    network(&mut fields, complete, &mut content);
    applications(&mut fields, complete, &mut content);
    fields.list("event", |given, path, origin, problems| {
        let (rule, normal) = event::read_event(given, path, origin, problems);
        content.events.extend(rule);
        normal
    });
    fields.default_table("record", true, |given, path, origin, problems| {
        record::read(given, path, origin, complete, &mut content.record, problems)
    });
    let applications = fields.look("applications");
    fields.table("arena", |given, path, origin, problems| {
        let (arena, normal) = arena::read(given, path, origin, applications, problems);
        content.arena = Some(arena);
        normal
    });
    fields.keep("sweep");
    content.normal = fields.finish();
    content
}

fn network(fields: &mut Fields<'_>, complete: bool, content: &mut Content) {
    if !fields.gives("topology") && complete {
        fields.problem("topology", "is missing; write [topology] and for example kind = \"line\"");
    }
    fields.table("topology", |given, path, origin, problems| {
        if problems.keys().is_some() {
            TopologyRule::describe(path, problems);
        }
        content.topology.read(given, path, origin, complete, problems)
    });
    fields.table("link", |given, path, origin, problems| {
        let normal;
        (content.link, normal) = link::read_link(given, path, origin, problems);
        normal
    });
    fields.named("links", |entry, given, path, problems| {
        let (layer, normal) = link::read_link(given, path, entry.origin, problems);
        content.links.push(Exception::new(&entry.key, entry.origin, layer));
        normal
    });
    fields.default_table("node", true, |given, path, origin, problems| {
        let mut node = NodePlan::default();
        content.node = link::read_node(given, path, origin, &mut node, true, problems);
        content.node.clone()
    });
    fields.named("nodes", |entry, given, path, problems| {
        let mut node = NodePlan::default();
        let layer = link::read_node(given, path, entry.origin, &mut node, false, problems);
        content.nodes.push(Exception::new(&entry.key, entry.origin, layer.clone()));
        layer
    });
    fields.table("wifi", |given, path, origin, problems| {
        let (rule, normal) = wifi::read_wifi(given, path, origin, complete, problems);
        content.wifi = Some(rule);
        normal
    });
    fields.named("places", |entry, given, path, problems| {
        let (rule, normal) = place::read(&entry.key, given, path, entry.origin, problems);
        content.places.push(rule);
        normal
    });
    fields.default_table("routing", true, |given, path, origin, problems| {
        let mut fields = Fields::new(given, path, origin, true, problems);
        fields.field("metric", &mut content.routing.metric, METRIC);
        fields.field("paths", &mut content.routing.paths, OrWord(PATHS, "none"));
        fields.finish()
    });
    fields.list("route", |given, path, origin, problems| {
        let (rule, normal) = event::read_route(given, path, origin, problems);
        content.routes.push(rule);
        normal
    });
    fields.list("strategy", |given, path, origin, problems| {
        let (rule, normal) = event::read_strategy(given, path, origin, problems);
        content.strategies.push(rule);
        normal
    });
}

impl<L> Exception<L> {
    fn new(pattern: &str, origin: Origin, layer: L) -> Self {
        Self { pattern: Located { value: pattern.to_owned(), origin }, layer }
    }
}

/// The defaults of each kind that is used or given, then each application on top of its kind's.
fn applications(fields: &mut Fields<'_>, complete: bool, content: &mut Content) {
    let used = kinds_used(fields.look("applications"));
    let mut defaults = Vec::new();
    for kind in KINDS {
        fields.default_table(kind, used.contains(&kind), |given, path, origin, problems| {
            let (_, normal) =
                application::read(kind, "", given, path, origin, Mode::Defaults, problems);
            let mut whole = normal.clone();
            for key in application::ASKED.iter().filter(|key| given.get(key).is_none()) {
                whole.remove(key);
            }
            defaults.push((kind, whole));
            normal
        });
    }
    if fields.gives("applications") && fields.look("applications").is_none() {
        fields.problem("applications", "is no table; write [applications.NAME] above each");
        fields.keep("applications");
        return;
    }
    fields.named("applications", |entry, given, path, problems| {
        if problems.keys().is_some() {
            for kind in KINDS {
                application::read(kind, "", given, path, entry.origin, Mode::Part, problems);
            }
            return given.clone();
        }
        check_name(&entry.key, path, entry.origin, problems);
        let Some(kind) = kind(given, path, entry.origin, complete, problems) else {
            return given.clone();
        };
        let mode = Mode::Part;
        let (mut rule, normal) =
            application::read(kind, &entry.key, given, path, entry.origin, mode, problems);
        let defaults = defaults.iter().find(|(name, _)| *name == kind);
        if let (Some((_, defaults)), true) = (defaults, complete) {
            let whole = joined(defaults, &normal);
            let mode = Mode::Whole;
            (rule, _) =
                application::read(kind, &entry.key, &whole, path, entry.origin, mode, problems);
        }
        content.applications.push(rule);
        normal
    });
}

/// The length of a packet is given in one of two ways; an application's way replaces its kind's.
fn joined(defaults: &Table, own: &Table) -> Table {
    let mut whole = defaults.clone();
    if own.get("signature").is_some() {
        whole.remove("packet");
    }
    whole.merge(own);
    whole
}

/// Metrics are called after applications: `c1.goodput_bps`, beside `all.…`, `node.…` and `link.…`.
fn check_name(name: &str, path: &str, origin: Origin, problems: &mut Problems) {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(plain) {
        problems.add(origin, path, "an application's name has only a-z, A-Z, 0-9, - and _");
    }
    if ["all", "node", "link"].contains(&name) {
        problems.add(origin, path, "metrics of the whole are called that; take another name");
    }
}

fn kinds_used(applications: Option<&Table>) -> Vec<&'static str> {
    let tables = applications.into_iter().flat_map(Table::entries);
    let kinds = tables.filter_map(|entry| match &entry.tree.value {
        Value::Table(table) => table.get("kind").map(|kind| kind.value.to_string()),
        _ => None,
    });
    let given: Vec<_> = kinds.collect();
    KINDS.into_iter().filter(|kind| given.iter().any(|given| given == kind)).collect()
}

fn kind(
    given: &Table,
    path: &str,
    origin: Origin,
    complete: bool,
    problems: &mut Problems,
) -> Option<&'static str> {
    let Some(tree) = given.get("kind") else {
        if complete {
            let what = format!("is missing; there are: {}", KINDS.join(", "));
            problems.add(origin, format!("{path}.kind"), what);
        }
        return None;
    };
    let text = tree.value.to_string();
    let found = KINDS.into_iter().find(|kind| *kind == text);
    if found.is_none() {
        let near = hint(&text, KINDS);
        let near = if near.is_empty() { format!("; {}", listed(KINDS)) } else { near };
        let what = format!("no application is of kind `{text}`{near}");
        problems.add(tree.origin, format!("{path}.kind"), what);
    }
    found
}
