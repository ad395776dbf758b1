//! The keys of applications.
//!
//! An application that stands at several nodes is that many applications; `{k}` in its names is then
//! the number of each (from 1), `{node}` the name of its node, `{name}` its own name.
use crate::file::link::Traces;
use crate::law;
use crate::ndn::CONTENT;
use crate::pattern;
use crate::workload::{ArrivalForm, LoadForm, POPULARITY};
use recoup_config::fields::Fields;
use recoup_config::form::{
    Among, BYTES, Count, FEW_BYTES, Form, INSTANT, Located, Many, Maybe, OneOf, OrWord, Place,
    TEXT, TIME, Words,
};
use recoup_config::problem::{Origin, Problems};
use recoup_config::schema::Shape;
use recoup_config::tree::{Table, Tree, Value};
use recoup_core::unit;
use recoup_packet::name::Name;
use recoup_sim::model::trace::Trace as _;
use recoup_sim::network::{
    Arrival, BackgroundPlan, Direction, FetchPlan, LinkId, PacketShape, Pending, Popularity,
    ProducePlan, RequestPlan, ServePlan,
};
use recoup_sim::workload::size::ContentSizes;
use recoup_transport::serve::Version;
use recoup_transport::time::{Duration, Instant};

/// Kind of an application, before its names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Job {
    Fetch(Box<FetchPlan>, String),
    Serve(ServePlan, String),
    Produce(ProducePlan, String),
    Request(Box<RequestPlan>, Vec<String>),
    Background(BackgroundPlan, Load),
}

/// How much of a link background traffic takes, where it is given as a share.
pub(crate) type Load = Option<f64>;

/// An application, or several alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplicationRule {
    pub name: String,
    pub origin: Origin,
    /// Patterns of nodes; of links for background traffic.
    pub at: Vec<Located<String>>,
    pub start: Instant,
    /// Delay between the starts of successive applications.
    pub stagger: Duration,
    /// Each one starts up to that much later, at random.
    pub spread: Duration,
    pub stop: Option<Instant>,
    pub direction: Located<Way>,
    pub job: Job,
}

/// Number of contents that the log of requests decides.
const OF_LOG: u64 = 0;

impl ApplicationRule {
    /// Puts the log of requests in place: contents and times where no others are given, or lengths of contents.
    pub(crate) fn read_log(&mut self, traces: &Traces) {
        // A file that cannot be read was reported where it is named.
        let plan = match &mut self.job {
            Job::Request(plan, _) => plan,
            Job::Produce(plan, _) => {
                if let ContentSizes::Log { log, .. } = &mut plan.content
                    && let Some(read) = traces.logs.get(log.file())
                {
                    log.read(read.clone());
                }
                return;
            }
            _ => return,
        };
        let Popularity::Log(over_time) = &mut plan.popularity else { return };
        let Some(log) = traces.logs.get(over_time.file()) else { return };
        over_time.read(log.clone());
        if plan.contents == OF_LOG {
            plan.contents = log.nominal();
        }
        if plan.arrival == Arrival::Batches(Vec::new()) {
            plan.arrival = Arrival::Batches(log.batches().to_vec());
        }
    }
}

/// Directions of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    Forth,
    Back,
    #[default]
    Both,
}

impl Way {
    /// The directions.
    pub(crate) fn directions(self) -> &'static [Direction] {
        match self {
            Self::Forth => &[Direction::Forth],
            Self::Back => &[Direction::Back],
            Self::Both => &[Direction::Forth, Direction::Back],
        }
    }
}

/// `forth`, `back` or `both`.
pub(crate) const WAY: OneOf<Way> =
    OneOf(&[("forth", Way::Forth), ("back", Way::Back), ("both", Way::Both)]);

/// Required fields of an application or its kind, although the normal form of the kind has a value for them.
pub(crate) const ASKED: [&str; 3] = ["size", "contents", "arrival"];

/// The kinds of applications, which are also the names of the tables that hold their defaults.
pub(crate) const KINDS: [&str; 5] = ["fetch", "serve", "produce", "request", "background"];

/// Reads an application of a kind. With `complete`, required fields must be given.
pub(crate) fn read(
    kind: &'static str,
    name: &str,
    given: &Table,
    path: &str,
    origin: Origin,
    mode: Mode,
    problems: &mut Problems,
) -> (ApplicationRule, Table) {
    let mut fields = Fields::new(given, path, origin, mode == Mode::Defaults, problems);
    let mut rule = ApplicationRule {
        name: name.to_owned(),
        origin,
        at: Vec::new(),
        start: Instant::ZERO,
        stagger: Duration::ZERO,
        spread: Duration::ZERO,
        stop: None,
        direction: Located::default(),
        job: blank(kind),
    };
    let mut ignored = String::new();
    if mode != Mode::Defaults {
        fields.field("kind", &mut ignored, Among(&KINDS));
    }
    let place = if kind == "background" { "link" } else { "node" };
    ask(&mut fields, mode, place, &mut rule.at, Many(Place(TEXT)));
    fields.field("start", &mut rule.start, INSTANT);
    fields.field("stop", &mut rule.stop, Maybe(INSTANT));
    fields.field("stagger", &mut rule.stagger, TIME);
    fields.field("spread", &mut rule.spread, TIME);
    if mode == Mode::Whole && rule.stop.is_some_and(|stop| stop < rule.start) {
        fields.problem("stop", "comes before `start`");
    }
    match &mut rule.job {
        Job::Fetch(plan, object) => fetch(&mut fields, mode, plan, object),
        Job::Serve(plan, prefix) => serve(&mut fields, mode, plan, prefix),
        Job::Produce(plan, prefix) => produce(&mut fields, mode, plan, prefix),
        Job::Request(plan, prefixes) => request(&mut fields, mode, plan, prefixes),
        Job::Background(plan, load) => {
            fields.field("direction", &mut rule.direction, Place(WAY));
            background(&mut fields, mode, plan, load);
        }
    }
    (rule, fields.finish())
}

/// The part that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The defaults of a kind: nothing must be given, and what is not given is filled in.
    Defaults,
    /// Fields that an application adds to the defaults: none is required.
    Part,
    /// Both together.
    Whole,
}

fn ask<F: Form>(
    fields: &mut Fields<'_>,
    mode: Mode,
    key: &'static str,
    place: &mut F::Of,
    form: F,
) {
    match mode {
        // The schema has one table for all kinds.
        Mode::Whole if !fields.describes() => fields.required(key, place, form),
        Mode::Whole | Mode::Defaults | Mode::Part => {
            fields.field(key, place, form);
        }
    }
}

/// The defaults of a kind.
fn blank(kind: &str) -> Job {
    let lifetime = Duration::from_secs(4);
    match kind {
        "serve" => Job::Serve(ServePlan::new(Name::default(), 0), String::new()),
        "produce" => Job::Produce(
            ProducePlan {
                prefix: Name::default(),
                content: 1024.into(),
                freshness: Duration::from_secs(10),
                packet: PacketShape::Digest,
            },
            String::new(),
        ),
        "request" => Job::Request(
            Box::new(RequestPlan {
                prefixes: Vec::new(),
                contents: 1,
                popularity: Popularity::Sequential,
                arrival: Arrival::Constant(1.0),
                requests: None,
                rto: law::REQUEST_RTO.parse().ok(),
                retries: Some(15),
                lifetime,
                rto_scan: None,
                pending: None,
            }),
            Vec::new(),
        ),
        "background" => Job::Background(
            BackgroundPlan {
                link: LinkId(0),
                direction: Direction::Forth,
                frame_bytes: 1500,
                arrival: Arrival::Constant(0.0),
            },
            None,
        ),
        _ => Job::Fetch(Box::new(FetchPlan::new(Name::default())), String::new()),
    }
}

/// Options of `recoup fetch` that have no effect in a simulation.
const NOT_SIMULATED: [&str; 4] = ["verify", "decrypt", "convention", "newer-than"];

fn fetch(fields: &mut Fields<'_>, mode: Mode, plan: &mut FetchPlan, object: &mut String) {
    ask(fields, mode, "object", object, Template);
    fields.document(&mut plan.options, &NOT_SIMULATED);
    fields.field("first", &mut plan.first, Count(0, i64::MAX as u64));
    fields.field("last", &mut plan.last, Maybe(Count(0, i64::MAX as u64)));
}

/// Options of `recoup serve` that have no effect in a simulation, and the version, which is a number there or not given.
const NOT_SIMULATED_OF_SERVE: [&str; 7] =
    ["sign", "encrypt", "encrypt-cbc", "snapshot", "unknown", "convention", "version"];

fn serve(fields: &mut Fields<'_>, mode: Mode, plan: &mut ServePlan, prefix: &mut String) {
    ask(fields, mode, "prefix", prefix, Template);
    ask(fields, mode, "size", &mut plan.size_bytes, BYTES);
    fields.document(&mut plan.options, &NOT_SIMULATED_OF_SERVE);
    let mut version = plan.version();
    fields.field("version", &mut version, Maybe(Count(0, u64::MAX)));
    plan.options.version = version.map_or(Version::None, Version::Fixed);
    packet(fields, mode, &mut plan.packet);
}

fn produce(fields: &mut Fields<'_>, mode: Mode, plan: &mut ProducePlan, prefix: &mut String) {
    ask(fields, mode, "prefix", prefix, Template);
    fields.field("content", &mut plan.content, CONTENT);
    fields.field("freshness", &mut plan.freshness, TIME);
    packet(fields, mode, &mut plan.packet);
}

/// `packet = "1448 B"` makes whole packets that long; `signature = "72 B"` leaves their length open.
fn packet(fields: &mut Fields<'_>, mode: Mode, shape: &mut PacketShape) {
    // What stands in every normal form does not contradict a length that a sweep gives.
    let is_default = fields.is_word("signature", "digest") && fields.gives("packet");
    // Of both together, one may come from the defaults.
    if mode != Mode::Whole && !is_default && fields.gives("packet") && fields.gives("signature") {
        fields.problem(
            "packet",
            "already sets the length of the signature; leave out one of the two",
        );
    }
    let mut total = None;
    fields.field("packet", &mut total, Maybe(DATA));
    let mut signature = None;
    if is_default {
        fields.leave_out("signature");
    } else if total.is_none() || fields.gives("signature") {
        fields.field("signature", &mut signature, OrWord(FEW_BYTES, "digest"));
    }
    *shape = match (total, signature) {
        (Some(bytes), _) => PacketShape::Total(bytes),
        (None, Some(bytes)) => PacketShape::Signature(bytes),
        (None, None) => PacketShape::Digest,
    };
}

fn request(fields: &mut Fields<'_>, mode: Mode, plan: &mut RequestPlan, names: &mut Vec<String>) {
    ask(fields, mode, "prefix", names, Many(Template));
    // A log has contents and times of its own.
    let is_log = |text: &str| text.starts_with("trace");
    let has_log = mode == Mode::Whole && fields.look_text("popularity").is_some_and(is_log);
    let mode = if has_log { Mode::Part } else { mode };
    ask(fields, mode, "contents", &mut plan.contents, Count(1, 1 << 40));
    fields.field("popularity", &mut plan.popularity, POPULARITY);
    ask(fields, mode, "arrival", &mut plan.arrival, ArrivalForm);
    if has_log && !fields.gives("contents") {
        plan.contents = OF_LOG;
    }
    if has_log && !fields.gives("arrival") {
        plan.arrival = Arrival::Batches(Vec::new());
    }
    fields.field("requests", &mut plan.requests, OrWord(Count(1, 1 << 50), "unlimited"));
    fields.field("rto", &mut plan.rto, law::RTO_OR_NONE);
    let mut retries = plan.retries.map(u64::from);
    fields.field("retries", &mut retries, RETRIES);
    plan.retries = retries.and_then(|retries| u32::try_from(retries).ok());
    fields.field("lifetime", &mut plan.lifetime, MILLISECONDS);
    fields.field("rto-scan", &mut plan.rto_scan, Maybe(MILLISECONDS));
    fields.field("pending", &mut plan.pending, Maybe(PENDING));
}

fn background(fields: &mut Fields<'_>, mode: Mode, plan: &mut BackgroundPlan, load: &mut Load) {
    fields.field("frame", &mut plan.frame_bytes, FRAME);
    let mut offered = (plan.arrival.clone(), *load);
    ask(fields, mode, "arrival", &mut offered, LoadForm);
    (plan.arrival, *load) = offered;
}

const PENDING: OneOf<Pending> = OneOf(&[("ask", Pending::Ask), ("join", Pending::Join)]);

const RETRIES: OrWord<Count> = OrWord(Count(0, u32::MAX as u64), "unlimited");

/// Length of a Data packet.
const DATA: Words<u32> = Words::new(
    |text| match unit::bytes(text)? {
        bytes @ 1..=8_800 => Ok(bytes as u32),
        _ => Err("a packet of NDN has 1 to 8800 bytes".into()),
    },
    |bytes| unit::print_bytes(u64::from(*bytes)),
    "write it like \"1448 B\"",
);

/// Length of a frame of other traffic.
const FRAME: Words<u32> = Words::new(
    |text| match unit::bytes(text)? {
        bytes @ 1..=65_535 => Ok(bytes as u32),
        _ => Err("a frame has 1 to 65535 bytes".into()),
    },
    |bytes| unit::print_bytes(u64::from(*bytes)),
    "write it like \"1500 B\"",
);

/// Durations that the packet format carries, and intervals of scans: whole milliseconds, at least one.
const MILLISECONDS: Words<Duration> = Words::new(
    |text| Ok(unit::milliseconds(text)?),
    |time| unit::print_duration(*time),
    "write it like \"4 s\"",
);

/// A name with `{k}`, `{node}` and `{name}` in it.
struct Template;

impl Form for Template {
    type Of = String;

    fn read(&self, tree: &Tree) -> Result<String, String> {
        let Value::Text(text) = &tree.value else {
            return Err(format!("{} is no name; {}", tree.value, self.example()));
        };
        for one in pattern::braces(text)? {
            let example = pattern::fill(&one, 1, "node", "name");
            if example.contains(['{', '}']) {
                return Err(format!(
                    "`{text}` has braces without a field; \
                     there are {{k}}, {{node}}, {{name}} and {{1..9}}"
                ));
            }
            pattern::name(&example)?;
        }
        Ok(text.clone())
    }

    fn write(&self, of: &String) -> Option<Value> {
        (!of.is_empty()).then(|| Value::text(of))
    }

    fn example(&self) -> String {
        "write a name like \"/movie\"".into()
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_lacks_what_must_be_given() {
        let mut problems = Problems::default();
        let given = Table::parse("size = \"1 MiB\"").unwrap();
        read("serve", "p", &given, "applications.p", Origin::Unknown, Mode::Whole, &mut problems);
        let text = problems.to_string();
        assert!(text.contains("applications.p.node: is missing"), "{text}");
        assert!(text.contains("applications.p.prefix: is missing"), "{text}");
    }

    #[test]
    fn defaults_of_a_kind_are_complete() {
        for kind in KINDS {
            let mut problems = Problems::default();
            let mut once = |given: &Table| {
                read(kind, "x", given, kind, Origin::Unknown, Mode::Defaults, &mut problems).1
            };
            let filled = once(&Table::default());
            assert_eq!(once(&filled), filled, "{kind}");
            assert!(filled.entries().len() >= 4, "{kind}: {filled:?}");
            assert!(problems.is_empty(), "{problems}");
        }
    }
}
