//! Configuration file of a forwarder: tables, listeners, neighbours, routes.
use super::capturing::{self, CaptureKeys};
use super::limits::LimitKeys;
use super::log::LogKeys;
use super::scheduling::{self, SchedulingKeys};
use crate::config::{self, Section, parsed, text, truth, whole};
use crate::error::Failure;
use recoup::trust;
use recoup_config::section;
use recoup_config::tree::Tree;
use recoup_forwarder::face::Recovery;
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::management::ManagementOptions;
use recoup_forwarder::node::Node;
use recoup_forwarder::options::{NodeConfig, NodeOptions};
use recoup_forwarder::strategy::Strategy;
use recoup_forwarder::table::CsCapacity;
use recoup_io::face::{FaceUri, LARGEST_FRAME_SENT, LEAST_MTU, MediumOptions};
use recoup_packet::name::Name;
use recoup_transport::management::{AuthorityOptions, MAX_KEYS, Rights, Verb};
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// As many Data packets as in NFD's default configuration, with a limit in bytes: an unconfigured forwarder takes less
/// than 100 MB, and reused memory costs less than new memory.
const CACHE: CsCapacity = CsCapacity::Both { packets: 65_536, bytes: 48 << 20 };

/// Error of a rate without a scheduler.
const USELESS_RATE: &str = "has no effect without a scheduler; write scheduler = \"max-min\"";

/// Examples of keys that have to be given.
const LISTEN: &str = "\"udp://0.0.0.0\"";
const PREFIX: &str = "\"/example\"";

/// Configuration of a forwarder.
#[derive(Debug, Default)]
pub(crate) struct ForwardConfig {
    node: NodeOptions,
    localhop: bool,
    authority: AuthorityOptions,
    /// Names of its keys, or their files.
    key_names: Vec<String>,
    scheduling: SchedulingKeys,
    strategies: Vec<(Name, Strategy)>,
    /// How much neighbours may take.
    pub limits: LimitKeys,
    /// Where the status page and metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Listeners.
    pub listen: Vec<Listen>,
    /// Captures.
    pub captures: CaptureKeys,
    /// Log options.
    pub log: LogKeys,
    /// Neighbours.
    pub faces: Vec<FaceConfig>,
    /// Recovery on faces that other machines open.
    pub recovery: Recovery,
    /// Routes to neighbours.
    pub routes: Vec<ConfiguredRoute>,
}

/// The face of a neighbour: one `[[face]]`.
#[derive(Clone, Debug)]
pub(crate) struct FaceConfig {
    /// Unique in the configuration.
    pub name: String,
    /// The far end.
    pub uri: FaceUri,
    /// The address and port of this end; `None`: any.
    pub local: Option<SocketAddr>,
    /// The medium of a multicast group or an Ethernet station.
    pub medium: MediumOptions,
    /// Limits other than those of all faces.
    pub limits: Option<FaceLimits>,
    /// Longest frame in bytes, where it is shorter than the path allows.
    pub mtu: Option<usize>,
    /// Link recovery.
    pub recovery: Recovery,
    /// The file for its frames.
    pub capture: Option<PathBuf>,
    scheduling: SchedulingKeys,
}

impl FaceConfig {
    /// The scheduler of the face, if it has one of its own.
    pub(crate) fn scheduling(&self) -> Option<Scheduling> {
        self.scheduling.scheduling()
    }

    /// Options of a face as text: another text needs another face.
    pub(crate) fn text(&self) -> String {
        let Self { name, uri, local, medium, limits, mtu, recovery, scheduling, .. } = self;
        format!(
            "{name} {uri:?} {local:?} {recovery:?} {scheduling:?} {medium:?} {limits:?} {mtu:?}"
        )
    }
}

/// A place where others connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    /// Address.
    pub uri: FaceUri,
    /// Limits of each accepted face, if they differ from those of all faces.
    pub limits: Option<FaceLimits>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredRoute {
    /// Names below this one.
    pub prefix: Name,
    /// Place in [`ForwardConfig::faces`].
    pub face: usize,
    /// Less is better.
    pub cost: u64,
}

impl ForwardConfig {
    /// Reads the text of the file called `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Failure> {
        config::parse(file, text, Self::read)
    }

    /// The JSON Schema of configurations.
    pub(crate) fn schema() -> serde_json::Value {
        section::schema("Configuration of recoup forward", Self::read)
    }

    fn read(whole: &mut Section<'_>) -> Self {
        let mut made = Self {
            node: NodeOptions { cache: CACHE, ..NodeOptions::default() },
            recovery: Recovery::auto(),
            ..Self::default()
        };
        whole.table("node", |node| made.read_node(node));
        whole.table("limits", |table| made.limits.read(table));
        whole.table("management", |table| made.read_management(table));
        whole.list("listen", |one| {
            let (uri, limits) = (one.required("uri", LISTEN, parsed), made.limits.read_face(one));
            if uri.as_ref().is_some_and(FaceUri::is_medium) {
                one.problem("uri", "several share this: it is no listener; write [[face]]");
            }
            let stands = |uri: &FaceUri| made.listen.iter().any(|other| other.uri == *uri);
            if uri.as_ref().is_some_and(|uri| !uri.is_any_port() && stands(uri)) {
                one.problem("uri", "stands in another [[listen]] above");
            }
            made.listen.extend(uri.map(|uri| Listen { uri, limits }));
        });
        whole.list("face", |one| made.read_face(one));
        whole.list("route", |one| made.read_route(one));
        let (routes, most) = (made.routes.len(), made.limits.routes);
        if routes > most {
            let what = format!(
                "there are {routes} of them and {most} are permitted; write routes = {routes} in [limits]"
            );
            whole.problem("route", what);
        }
        whole.list("strategy", |one| {
            let prefix = one.required("prefix", PREFIX, parsed);
            let strategy = one.required("strategy", "\"best-route\"", parsed);
            made.strategies.extend(prefix.zip(strategy));
        });
        if !whole.gives("listen") && !whole.gives("face") {
            whole.problem("listen", "is missing, and there is no [[face]] either; write [[listen]] and uri = \"udp://0.0.0.0\" below");
        }
        made
    }

    fn read_node(&mut self, node: &mut Section<'_>) {
        node.document(&mut self.node, &[]);
        self.localhop = node.value("localhop", truth).unwrap_or_default();
        self.metrics = node.value("metrics", address);
        self.scheduling = SchedulingKeys::read(node);
        if self.scheduling.has_rate() && self.scheduling.scheduling().is_none() {
            node.problem("rate", USELESS_RATE);
        }
        self.recovery = node.value("recovery", parsed).unwrap_or(self.recovery);
        self.captures.read_node(node);
        self.log = LogKeys::read(node);
    }

    fn read_management(&mut self, table: &mut Section<'_>) {
        let keys = |tree: &Tree| {
            let which = config::texts(tree)?;
            if which.len() > MAX_KEYS {
                return Err(format!("has {} keys; at most {MAX_KEYS} are tried", which.len()));
            }
            let read = |it: &String| trust::public_key(it).map_err(|error| error.to_string());
            let keys = which.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            Ok((which, keys))
        };
        (self.key_names, self.authority.keys) = table.value("keys", keys).unwrap_or_default();
        let open = |tree: &Tree| {
            let open = config::texts(tree)?;
            match open.iter().find(|it| Verb::modules().all(|module| module != *it)) {
                None => Ok(open),
                Some(other) => {
                    let modules: Vec<_> = Verb::modules().collect();
                    Err(format!("`{other}` has no commands; there are {}", modules.join(", ")))
                }
            }
        };
        let open = table.value("open", open);
        self.authority.open = open.unwrap_or_else(|| vec!["rib".to_owned()]);
        let names = &self.key_names;
        self.authority.takes_v0_2 = table.value("v02-commands", truth).unwrap_or_default();
        let rights = table.value("schema", |tree: &Tree| rights(&text(tree)?, names));
        self.authority.rights = rights;
    }

    fn read_face(&mut self, one: &mut Section<'_>) {
        let name = one.required("name", "\"north\"", text);
        let uri = one.required("uri", "\"udp://192.0.2.7\"", parsed);
        let (local, recovery) = (one.value("local", address), one.value("recovery", parsed));
        let limits = self.limits.read_face(one);
        let (medium, mtu) = (medium(one, uri.as_ref()), one.value("mtu", mtu));
        let (given, capture) = (SchedulingKeys::read(one), one.value("capture", capturing::path));
        let Some((name, uri)) = name.zip(uri) else {
            return;
        };
        if uri.is_shared() && recovery.is_some_and(|it: Recovery| !it.is_off()) {
            one.problem("recovery", "is for one neighbour, and several share this face");
        }
        let recovers = self.recovery.is_auto() && !matches!(uri, FaceUri::Udp(_));
        let loses_nothing = matches!(uri, FaceUri::Unix(_)) || uri.is_shared() || recovers;
        let of_node = if loses_nothing { Recovery::Off } else { self.recovery };
        if self.faces.iter().any(|other| other.name == name) {
            return one.problem("name", format!("another face is called `{name}`"));
        }
        let scheduling = given.or(self.scheduling);
        if given.has_rate() && scheduling.scheduling().is_none() {
            one.problem("rate", USELESS_RATE);
        }
        if matches!(uri, FaceUri::Dev(_)) {
            let what = "is an interface, where one listens; write [[listen]], or ether://[…] for a station there";
            return one.problem("uri", what);
        }
        if uri.is_any_port() {
            return one.problem("uri", "port 0 is no destination; name the port of the other end");
        }
        if local.is_some() && (uri.is_medium() || !matches!(uri, FaceUri::Udp(_))) {
            one.problem("local", "is for faces over UDP");
        }
        let recovery = recovery.unwrap_or(of_node);
        self.faces.push(FaceConfig {
            name,
            uri,
            local,
            medium,
            limits,
            mtu,
            recovery,
            capture,
            scheduling,
        });
    }

    fn read_route(&mut self, one: &mut Section<'_>) {
        let prefix = one.required("prefix", PREFIX, parsed);
        let face = one.required("face", "\"north\", the name of a [[face]]", |tree| {
            let name = text(tree)?;
            let names = || self.faces.iter().map(|face| face.name.as_str());
            names().position(|other| other == name).ok_or_else(|| {
                use recoup_config::problem::{hint, listed};
                let near = hint(&name, names());
                let near = if near.is_empty() { format!("; {}", listed(names())) } else { near };
                format!("no face is called `{name}`{near}")
            })
        });
        let cost = one.value("cost", whole).unwrap_or_default();
        if let Some((prefix, face)) = prefix.zip(face) {
            self.routes.push(ConfiguredRoute { prefix, face, cost });
        }
    }

    /// Strategies by prefix, that of "/" included.
    pub(crate) fn strategies(&self) -> BTreeMap<Name, String> {
        let root = (Name::root(), self.node.strategy.to_string());
        let others = self.strategies.iter().map(|(prefix, it)| (prefix.clone(), it.to_string()));
        std::iter::once(root).chain(others).collect()
    }

    /// Options that need a restart, as one text.
    pub(crate) fn fixed_text(&self) -> String {
        let Self { node, localhop, .. } = self;
        // A strategy can be chosen while the forwarder runs.
        let strategy = NodeOptions::default().strategy;
        let node = (NodeOptions { strategy, ..node.clone() }, localhop);
        let links = (&self.scheduling, self.recovery);
        let process = (self.metrics, self.log);
        let authority = (&self.key_names, &self.authority.open, self.authority.takes_v0_2);
        format!("{node:?} {links:?} {process:?} {authority:?} {:?}", self.limits)
    }

    /// Warnings of schedulers that know too little, a line for each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let of_faces = self
            .faces
            .iter()
            .filter_map(|face| Some((format!("face `{}`", face.name), face.scheduling()?)));
        let of_node = self.scheduling.scheduling().map(|it| ("faces that peers open".into(), it));
        of_faces
            .chain(of_node)
            .filter(|(_, scheduling)| scheduling::lacks_rate(scheduling))
            .map(|(place, scheduling)| {
                let text = scheduling.discipline.to_string();
                let name = text.split('(').next().unwrap_or_default();
                format!("{place}: without `rate` the scheduler {name} orders what waits, but paces nothing")
            })
            .collect()
    }

    /// Makes the node without opening anything.
    pub(crate) fn try_out(&self) {
        let _ = (self.strategies(), self.fixed_text(), self.warnings());
        self.faces.iter().for_each(|face| drop(face.text()));
        let _ = self.node(1);
    }

    /// The node, with chance from `seed`. The same text and seed make the same node.
    pub(crate) fn node(&self, seed: u64) -> Node {
        let rng = Rng::from_seed(seed);
        let names_provider = self.node.names_provider();
        let mut node = Node::new(NodeConfig {
            options: self.node.clone(),
            pit_limit: self.limits.pending,
            limits: self.limits.face,
            management: Some(ManagementOptions {
                localhop: self.localhop,
                routes: self.limits.routes,
                authority: self.authority.clone(),
                version: concat!("recoup ", env!("CARGO_PKG_VERSION")).to_owned(),
            }),
            rng: rng.substream("node"),
            scheduling: self.scheduling.scheduling(),
            provider_id: names_provider.then(|| rng.substream("provider").next_u64()),
            ..NodeConfig::new(rng)
        });
        for (prefix, strategy) in &self.strategies {
            node.set_strategy(prefix, strategy);
        }
        node
    }
}

/// The keys of a face about its medium; they have no effect for a listener.
fn medium(one: &mut Section<'_>, uri: Option<&FaceUri>) -> MediumOptions {
    let medium = MediumOptions {
        interface: one.value("interface", text),
        ad_hoc: one.value("ad-hoc", truth).unwrap_or_default(),
        loopback: one.value("loopback", truth).unwrap_or_default(),
    };
    let Some(uri) = uri else {
        return medium;
    };
    for key in ["interface", "ad-hoc", "loopback"] {
        if one.gives(key) && !uri.is_medium() {
            one.problem(
                key,
                "is for multicast groups and Ethernet, and this face leads to one peer",
            );
        }
    }
    if matches!(uri, FaceUri::Ether(_)) && !one.gives("interface") {
        one.problem("interface", "is missing; write interface = \"eth0\"");
    }
    medium
}

/// Rights of each key by the trust schema in a file, which has rules for the names of their certificates.
fn rights(path: &str, keys: &[String]) -> Result<Rights, String> {
    if keys.is_empty() {
        return Err("restricts keys, and there are none; write keys = [\"operator.cert\"]".into());
    }
    let schema = trust::read_schema(Path::new(path)).map_err(|error| error.to_string())?;
    let name = |key: &String| trust::certificate(key).map(|data| data.name().clone());
    let names: Vec<Name> =
        keys.iter().map(name).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Rights::new(move |name, key| {
        names.get(key).is_some_and(|certificate| schema.allows(name, certificate) == Ok(true))
    }))
}

/// MTU of a face.
fn mtu(tree: &Tree) -> Result<usize, String> {
    let range = LEAST_MTU..=LARGEST_FRAME_SENT;
    let bytes = usize::try_from(whole(tree)?).ok().filter(|it| range.contains(it));
    bytes.ok_or_else(|| format!("must be from {LEAST_MTU} to {LARGEST_FRAME_SENT} bytes"))
}

fn address(tree: &Tree) -> Result<SocketAddr, String> {
    read_address(&text(tree)?)
}

/// An address with its port, as files and the command line write it.
pub(super) fn read_address(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| format!("`{text}` is no address and port, such as \"127.0.0.1:9695\"");
    text.parse().map_err(wrong)
}

#[cfg(test)]
mod tests;
