//! `[topology]`: which nodes and links there are.
use super::file::wifi::METRES;
use super::pattern;
use recoup_config::fields::Fields;
use recoup_config::form::{Among, Count, Form, Located, Many, Maybe, OneOf, Place, TEXT, Words};
use recoup_config::problem::{Origin, Problem, Problems, listed};
use recoup_config::schema;
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::network::NodeId;
use recoup_sim::topology::read::{FORMATS, Format, Naming};
use recoup_sim::topology::{
    self, AccessPoints, Topology, TopologyError, TopologyLink, TopologyNode, Waxman,
};
use recoup_transport::random::Rng;
use std::collections::BTreeSet;

/// How a network is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TopologyRule {
    origin: Origin,
    shape: Shape,
    /// Other names for the nodes, in their order.
    names: Vec<Located<String>>,
    /// Seed of a random topology; `None` is the seed of the run.
    seed: Option<u64>,
    /// The file, and its content once it was read.
    pub(super) file: Option<Located<String>>,
    pub(super) text: Option<String>,
}

/// Nodes and links.
#[derive(Clone, Debug, Default, PartialEq)]
enum Shape {
    #[default]
    Unknown,
    Listed {
        nodes: Vec<Located<String>>,
        links: Vec<Located<String>>,
    },
    Line(u64),
    Dumbbell(u64, u64),
    Star(u64),
    Tree(u64, u64),
    Grid(u64, u64),
    FatTree(u64),
    AccessPoints(AccessPoints),
    Random(u64, u64),
    Waxman(Waxman),
    Sprint,
    SprintRouters,
    File(Option<Format>, Option<Naming>),
}

/// The kinds, and the keys that each has.
const KINDS: [&str; 12] = [
    "line",
    "dumbbell",
    "star",
    "tree",
    "grid",
    "fat-tree",
    "access-points",
    "random",
    "waxman",
    "sprint",
    "sprint-routers",
    "listed",
];

impl TopologyRule {
    /// Reads the table; returns it in its normal form.
    pub(super) fn read(
        &mut self,
        given: &Table,
        path: &str,
        origin: Origin,
        complete: bool,
        problems: &mut Problems,
    ) -> Table {
        let mut fields = Fields::new(given, path, origin, false, problems);
        self.origin = origin;
        let mut kind = String::new();
        fields.field("kind", &mut kind, Among(&KINDS));
        if kind.is_empty() {
            kind = if fields.gives("file") { "file" } else { "listed" }.to_owned();
        }
        let ask = Ask { complete };
        match kind.as_str() {
            "file" => self.read_file(&mut fields),
            "listed" => self.read_lists(&mut fields, complete),
            "line" => {
                self.shape = Shape::Line(ask.count(&mut fields, "nodes", 1));
            }
            "dumbbell" => {
                let left = ask.count(&mut fields, "left", 1);
                self.shape = Shape::Dumbbell(left, ask.count(&mut fields, "right", 1));
            }
            "star" => self.shape = Shape::Star(ask.count(&mut fields, "leaves", 1)),
            "tree" => {
                let arity = ask.count(&mut fields, "arity", 1);
                self.shape = Shape::Tree(arity, ask.count(&mut fields, "depth", 0));
            }
            "grid" => {
                let width = ask.count(&mut fields, "width", 1);
                self.shape = Shape::Grid(width, ask.count(&mut fields, "height", 1));
            }
            "fat-tree" => self.shape = Shape::FatTree(ask.count(&mut fields, "ports", 2)),
            "access-points" => self.shape = Shape::AccessPoints(access_points(&mut fields)),
            "random" => {
                let nodes = ask.count(&mut fields, "nodes", 1);
                self.shape = Shape::Random(nodes, ask.count(&mut fields, "links", 0));
                self.read_seed(&mut fields);
            }
            "waxman" => {
                self.shape = Shape::Waxman(waxman(&mut fields, &ask));
                self.read_seed(&mut fields);
            }
            "sprint" => self.shape = Shape::Sprint,
            "sprint-routers" => self.shape = Shape::SprintRouters,
            other => {
                let near = recoup_config::problem::hint(other, KINDS);
                let near = if near.is_empty() { format!("; {}", listed(KINDS)) } else { near };
                fields.problem("kind", format!("no topology is called `{other}`{near}"));
                return given.clone();
            }
        }
        fields.field("names", &mut self.names, Many(Place(NODE_NAME)));
        fields.finish()
    }

    /// Enters the keys of all kinds.
    pub(super) fn describe(path: &str, problems: &mut Problems) {
        for kind in KINDS.into_iter().chain(["file"]) {
            let mut given = Table::default();
            given.insert("kind", Value::text(kind).into());
            Self::default().read(&given, path, Origin::Unknown, false, problems);
        }
    }

    fn read_seed(&mut self, fields: &mut Fields<'_>) {
        self.seed = Some(1);
        fields.field("seed", &mut self.seed, SeedForm);
    }

    fn read_file(&mut self, fields: &mut Fields<'_>) {
        let mut kind = String::new();
        fields.field("kind", &mut kind, Among(&["file"]));
        fields.field("file", &mut self.file, Maybe(Place(TEXT)));
        let mut format = None;
        fields.field("format", &mut format, Maybe(FORMAT));
        let mut naming = None;
        fields.field("naming", &mut naming, Maybe(NAMING));
        self.shape = Shape::File(format, naming);
    }

    fn read_lists(&mut self, fields: &mut Fields<'_>, complete: bool) {
        let (mut nodes, mut links) = (Vec::new(), Vec::new());
        fields.field("nodes", &mut nodes, Many(Place(NODE_NAME)));
        fields.field("links", &mut links, Many(Place(TEXT)));
        if complete && nodes.is_empty() && links.is_empty() {
            let kinds = KINDS[..KINDS.len() - 1].join(", ");
            let what = format!("is missing; there are {kinds}; or give a file, or nodes and links");
            fields.problem("kind", what);
        }
        self.shape = Shape::Listed { nodes, links };
    }

    /// The network for the seed of a run.
    pub(super) fn topology(&self, seed: u64) -> Result<Topology, Problems> {
        let rng = || Rng::from_seed(self.seed.unwrap_or(seed)).substream("topology");
        let made = match &self.shape {
            Shape::Unknown => Ok(Topology::default()),
            Shape::Listed { nodes, links } => return self.named(listed_topology(nodes, links)?),
            Shape::Line(nodes) => topology::line(few(*nodes)),
            Shape::Dumbbell(left, right) => topology::dumbbell(few(*left), few(*right)),
            Shape::Star(leaves) => topology::star(few(*leaves)),
            Shape::Tree(arity, depth) => topology::tree(few(*arity), few(*depth)),
            Shape::Grid(width, height) => topology::grid(few(*width), few(*height)),
            Shape::FatTree(ports) => topology::fat_tree(few(*ports)),
            Shape::AccessPoints(shape) => topology::access_points(shape),
            Shape::Random(nodes, links) => topology::random(few(*nodes), few(*links), &mut rng()),
            Shape::Waxman(shape) => topology::waxman(shape, &mut rng()),
            Shape::Sprint => Ok(topology::sprint()),
            Shape::SprintRouters => topology::sprint_routers(),
            Shape::File(format, naming) => return self.named(self.in_file(*format, *naming)?),
        };
        let wrong = |error: TopologyError| Problem::new(self.origin, "topology", error.to_string());
        self.named(made.map_err(wrong)?)
    }

    /// Parts of its file that have no place in the topology, a sentence each.
    pub(super) fn notes(&self) -> Vec<String> {
        let Shape::File(format, naming) = self.shape else { return Vec::new() };
        self.in_file(format, naming).map_or_else(|_| Vec::new(), |topology| topology.notes)
    }

    fn in_file(
        &self,
        format: Option<Format>,
        naming: Option<Naming>,
    ) -> Result<Topology, Problems> {
        let (Some(file), Some(text)) = (&self.file, &self.text) else {
            let what = "no files can be read here; list nodes and links instead";
            return Err(Problem::new(self.origin, "topology.file", what).into());
        };
        let wrong = |key, what: String| Problem::new(file.origin, key, what);
        let format = format.or_else(|| Format::guess(text)).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|(name, _)| *name).collect();
            let what = format!("is missing, and the file does not show it; {}", listed(names));
            wrong("topology.format", what)
        })?;
        let read = topology::read::read(format, text, naming.unwrap_or_default());
        Ok(read.map_err(|e| wrong("topology.file", format!("{}: {e}", file.value)))?)
    }

    /// Renames the nodes, then the links, as the file requests.
    fn named(&self, mut topology: Topology) -> Result<Topology, Problems> {
        let Some(first) = self.names.first() else {
            return Ok(topology);
        };
        if self.names.len() != topology.nodes.len() {
            let (names, nodes) = (self.names.len(), topology.nodes.len());
            let what = format!("has {names} names for {nodes} nodes");
            return Err(Problem::new(first.origin, "topology.names", what).into());
        }
        for (node, name) in topology.nodes.iter_mut().zip(&self.names) {
            node.name.clone_from(&name.value);
        }
        for link in &mut topology.links {
            let suffix = link.name.find('#').map_or(String::new(), |at| link.name[at..].to_owned());
            let name = |end: NodeId| topology.nodes.get(end.0 as usize).map_or("", |n| &n.name);
            link.name = format!("{}-{}{suffix}", name(link.ends.0), name(link.ends.1));
        }
        let wrong = |e: TopologyError| Problem::new(first.origin, "topology.names", e.to_string());
        topology.check().map_err(wrong)?;
        Ok(topology)
    }
}

struct Ask {
    complete: bool,
}

impl Ask {
    fn count(&self, fields: &mut Fields<'_>, key: &'static str, least: u64) -> u64 {
        let mut count = least;
        let form = Count(least, u64::from(u32::MAX));
        if self.complete && !fields.describes() {
            fields.required(key, &mut count, form);
        } else {
            fields.field(key, &mut count, form);
        }
        count
    }
}

fn access_points(fields: &mut Fields<'_>) -> AccessPoints {
    let mut shape = AccessPoints::default();
    let places = [
        ("width", &mut shape.width, 1),
        ("height", &mut shape.height, 1),
        ("per-edge", &mut shape.per_edge, 1),
        ("clients", &mut shape.clients, 0),
    ];
    for (key, place, least) in places {
        let mut count = u64::from(*place);
        fields.field(key, &mut count, Count(least, 100_000));
        *place = few(count);
    }
    fields.field("spacing", &mut shape.spacing, METRES);
    shape
}

fn waxman(fields: &mut Fields<'_>, ask: &Ask) -> Waxman {
    let mut shape = Waxman { nodes: few(ask.count(fields, "nodes", 1)), ..Waxman::default() };
    fields.field("alpha", &mut shape.alpha, NumberForm);
    fields.field("beta", &mut shape.beta, NumberForm);
    fields.field("side-km", &mut shape.side_km, NumberForm);
    shape
}

fn few(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Nodes and links as they are listed; a node that only a link names is there, too.
fn listed_topology(
    nodes: &[Located<String>],
    links: &[Located<String>],
) -> Result<Topology, Problems> {
    let mut problems = Problems::default();
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for node in nodes {
        match pattern::braces(&node.value) {
            Ok(these) => {
                for name in these {
                    if seen.insert(name.clone()) {
                        names.push(name);
                    } else {
                        problems.add(
                            node.origin,
                            "topology.nodes",
                            format!("`{name}` is there twice"),
                        );
                    }
                }
            }
            Err(what) => problems.add(node.origin, "topology.nodes", what),
        }
    }
    let declared = !nodes.is_empty();
    let mut ends = Vec::new();
    for link in links {
        let (text, suffix) = parallel(&link.value);
        match split(text, &seen, declared) {
            Ok(pair) => {
                for name in [&pair.0, &pair.1] {
                    if seen.insert(name.clone()) {
                        names.push(name.clone());
                    }
                }
                ends.push((pair, suffix));
            }
            Err(_) if problems.are_enough() => break,
            Err(what) => problems.add(link.origin, "topology.links", what),
        }
    }
    let topology = joined(names, &ends);
    if let Err(error) = topology.check() {
        let origin = links.first().or(nodes.first()).map_or(Origin::Unknown, |one| one.origin);
        problems.add(origin, "topology.links", error.to_string());
    }
    problems.or(topology)
}

/// A link and the rest of its name: `#2` of the second link between two nodes.
fn parallel(link: &str) -> (&str, &str) {
    let is_number = |text: &str| text.parse::<u32>().is_ok_and(|number| number > 1);
    match link.rsplit_once('#') {
        Some((ends, number)) if is_number(number) => (ends, &link[ends.len()..]),
        _ => (link, ""),
    }
}

/// Nodes, and links between two of them with the rest of the name.
fn joined(names: Vec<String>, ends: &[((String, String), &str)]) -> Topology {
    let numbers: std::collections::BTreeMap<_, _> =
        names.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect();
    let number = |name: &str| NodeId(numbers.get(name).map_or(0, |number| *number as u32));
    let link = |((a, b), suffix): &((String, String), &str)| TopologyLink {
        name: format!("{a}-{b}{suffix}"),
        ends: (number(a), number(b)),
        forth: topology::ChannelPart::default(),
        back: topology::ChannelPart::default(),
        cost: 1,
        back_cost: None,
    };
    let links: Vec<_> = ends.iter().map(link).collect();
    let nodes = names.iter().map(|name| TopologyNode { name: name.clone(), ..Default::default() });
    Topology { nodes: nodes.collect(), links, ..Topology::default() }
}

/// The ends of `a-b`. Where names have hyphens of their own, the list of nodes decides.
fn split(link: &str, nodes: &BTreeSet<String>, declared: bool) -> Result<(String, String), String> {
    let ways: Vec<_> = link
        .match_indices('-')
        .map(|(at, _)| (link[..at].trim(), link[at + 1..].trim()))
        .filter(|(a, b)| !a.is_empty() && !b.is_empty())
        .collect();
    let known: Vec<_> =
        ways.iter().filter(|(a, b)| nodes.contains(*a) && nodes.contains(*b)).collect();
    let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    match (known.as_slice(), ways.as_slice(), declared) {
        ([one], _, _) => Ok(owned(one)),
        ([], [one], false) => Ok(owned(one)),
        ([], [], _) => Err(format!("`{link}` is no link; write its two ends as \"a-b\"")),
        ([], [(a, b)], true) => {
            let unknown = if nodes.contains(*a) { b } else { a };
            let near = recoup_config::problem::hint(unknown, nodes.iter().map(String::as_str));
            Err(format!("`{link}` ends at `{unknown}`, which is not among the nodes{near}"))
        }
        ([], _, _) => Err(format!(
            "`{link}` has several hyphens, and no two nodes of the list are its ends; list its nodes"
        )),
        _ => Err(format!("`{link}` can be understood in several ways; rename its nodes")),
    }
}

/// The name of a node, or several: `r{1..4}`.
const NODE_NAME: Words<String> = Words::new(
    |text| {
        let text = text.trim();
        let wrong = |name: &String| {
            name.is_empty()
                || name.contains(['*', '#', '"', '\'', '{', '}'])
                || name.contains(char::is_control)
        };
        match pattern::braces(text)?.iter().any(wrong) {
            true => Err(format!(
                "`{text}` is no name of a node: it has no quotes, braces, `*`, `#` or line ends"
            )),
            false => Ok(text.to_owned()),
        }
    },
    String::clone,
    "write a name like \"r1\"",
);

/// A number above zero.
struct NumberForm;

impl Form for NumberForm {
    type Of = f64;

    fn read(&self, tree: &Tree) -> Result<f64, String> {
        match tree.value {
            Value::Number(number) if number.is_finite() && number > 0.0 => Ok(number),
            Value::Integer(number) if number > 0 => Ok(number as f64),
            _ => Err(format!("{} is no number above 0", tree.value)),
        }
    }

    fn write(&self, of: &f64) -> Option<Value> {
        Some(Value::Number(*of))
    }

    fn example(&self) -> String {
        "write a number above 0".into()
    }

    fn shape(&self) -> schema::Shape {
        schema::Shape::Number
    }
}

/// A number, or `"run"` for the seed of the run.
struct SeedForm;

impl Form for SeedForm {
    type Of = Option<u64>;

    fn read(&self, tree: &Tree) -> Result<Option<u64>, String> {
        match &tree.value {
            Value::Text(text) if text == "run" => Ok(None),
            _ => Count(0, i64::MAX as u64)
                .read(tree)
                .map(Some)
                .map_err(|what| format!("{what}; \"run\" draws another network for each seed")),
        }
    }

    fn write(&self, of: &Option<u64>) -> Option<Value> {
        match of {
            Some(seed) => Count(0, i64::MAX as u64).write(seed),
            None => Some(Value::text("run")),
        }
    }

    fn example(&self) -> String {
        "write a number or \"run\"".into()
    }
}

const FORMAT: OneOf<Format> = OneOf(&FORMATS);

const NAMING: OneOf<Naming> = OneOf(&[("label", Naming::Label), ("id", Naming::Id)]);

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Result<Topology, String> {
        let (mut rule, mut problems) = (TopologyRule::default(), Problems::default());
        let table = Table::parse(text).unwrap();
        rule.read(&table, "topology", Origin::Unknown, true, &mut problems);
        problems.or(()).and_then(|()| rule.topology(1)).map_err(|problems| problems.to_string())
    }

    #[test]
    fn links_alone_name_their_nodes() {
        let topology = made("links = [\"c-r1\", \"r1-r2\", \"r2-p\"]").unwrap();
        let names: Vec<_> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["c", "r1", "r2", "p"]);
    }

    #[test]
    fn nodes_decide_where_names_have_hyphens() {
        let topology = made("nodes = [\"a-b\", \"c\"]\nlinks = [\"a-b-c\"]").unwrap();
        assert_eq!(topology.links[0].ends, (NodeId(0), NodeId(1)));
        assert!(made("links = [\"a-b-c\"]").unwrap_err().contains("several hyphens"));
        let error = made("nodes = [\"r1\", \"r2\"]\nlinks = [\"r1-r3\"]").unwrap_err();
        assert!(error.contains("`r3`, which is not among the nodes; did you mean"), "{error}");
    }

    #[test]
    fn names_may_have_spaces_and_parallel_links() {
        let topology = made("links = [\"St. Louis-b\", \"St. Louis-b#2\"]").unwrap();
        assert_eq!(topology.nodes[0].name, "St. Louis");
        assert_eq!((topology.links[1].name.as_str(), topology.links.len()), ("St. Louis-b#2", 2));
        assert!(made("links = [\"a-b\", \"a-b\"]").unwrap_err().contains("is there twice"));
        assert!(made("nodes = [\"a#2\"]").unwrap_err().contains("no name of a node"));
    }

    #[test]
    fn a_generator_is_given_its_own_keys_only() {
        assert_eq!(made("kind = \"line\"\nnodes = 4").unwrap().links.len(), 3);
        assert!(made("kind = \"line\"").unwrap_err().contains("topology.nodes: is missing"));
        assert!(
            made("kind = \"line\"\nnodes = 4\nleft = 2").unwrap_err().contains("topology.left")
        );
        assert!(made("kind = \"lime\"").unwrap_err().contains("did you mean `line`?"));
        assert!(made("kind = \"fat-tree\"\nports = 3").unwrap_err().contains("even"));
        assert!(made("").unwrap_err().contains("topology.kind: is missing"));
        assert!(made("kind = \"line\"\nnodes = 4000000000").is_err());
    }

    #[test]
    fn nodes_can_be_given_other_names() {
        let topology = made("kind = \"line\"\nnodes = 2\nnames = [\"c\", \"p\"]").unwrap();
        assert_eq!(topology.links[0].name, "c-p");
        let error = made("kind = \"line\"\nnodes = 2\nnames = [\"c\"]").unwrap_err();
        assert!(error.contains("1 names for 2 nodes"), "{error}");
    }

    #[test]
    fn random_network_may_have_its_own_seed() {
        let draw = |seed: &str, run| {
            let (mut rule, mut problems) = (TopologyRule::default(), Problems::default());
            let text = format!("kind = \"random\"\nnodes = 9\nlinks = 12\nseed = {seed}");
            let table = Table::parse(&text).unwrap();
            rule.read(&table, "topology", Origin::Unknown, true, &mut problems);
            rule.topology(run).unwrap()
        };
        assert_eq!(draw("3", 1), draw("3", 2));
        assert_ne!(draw("\"run\"", 1), draw("\"run\"", 2));
    }
}
