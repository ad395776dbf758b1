//! The files and command lines of the processes. Pure: text only.
use super::plan::{ConsumerPart, LinkPart, Plan, ProducerPart};
use recoup_config::print::quoted;
use recoup_sim::network::{Anticipation, CachePlan, ChannelPlan, FetchPlan, Order};
use recoup_transport::time::Duration;
use std::fmt::Write as _;
use std::net::SocketAddr;

/// Where one end of a link is: its place in the plan, where the node's face leads, and from where.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Place of the link in the plan.
    pub link: usize,
    /// Where the link is.
    pub uri: String,
    /// Where the link knows the node.
    pub local: SocketAddr,
}

/// The configuration of node `number`, which listens at `listen` and has a face at each of these ends.
pub fn node(plan: &Plan, number: usize, listen: &[String], ends: &[End]) -> String {
    let Some(part) = plan.nodes.get(&number) else { return String::new() };
    let cache = match part.plan.cache {
        CachePlan::Packets(packets) => format!("{packets} packets"),
        CachePlan::Octets(octets) => format!("{octets} B"),
        CachePlan::Unlimited => "unlimited".into(),
    };
    let mut text = format!(
        "[node]\ncache = {}\nstrategy = {}\nsuppression = {}\n",
        quoted(&cache),
        quoted(&part.plan.strategy),
        quoted(&part.plan.suppression)
    );
    if part.plan.mobility != "off" {
        let _ = writeln!(text, "mobility = {}", quoted(&part.plan.mobility));
    }
    if part.plan.provider_ids {
        text += "provider-ids = true\n";
    }
    match part.plan.anticipation {
        Anticipation::Off => {}
        Anticipation::Holders => text += "anticipation = \"holders\"\n",
        Anticipation::All => text += "anticipation = \"all\"\n",
    }
    for uri in listen {
        let _ = write!(text, "\n[[listen]]\nuri = {}\n", quoted(uri));
    }
    for (place, away, toward) in plan.links_of(number) {
        let Some(end) = ends.iter().find(|end| end.link == place) else { continue };
        let (uri, local) = (quoted(&end.uri), end.local);
        let _ = write!(
            text,
            "\n[[face]]\nname = \"link-{place}\"\nuri = {uri}\nlocal = \"{local}\"\nrecovery = {}\n",
            quoted(&away.channel.recovery)
        );
        text += &match away.scheduler.as_str() {
            "none" => "scheduler = \"none\"\n".to_owned(),
            scheduler => shared(scheduler, &away.channel, &toward.channel),
        };
    }
    for route in &part.routes {
        let prefix = quoted(&route.prefix.to_string());
        let (link, cost) = (route.link, route.cost);
        let _ =
            write!(text, "\n[[route]]\nprefix = {prefix}\nface = \"link-{link}\"\ncost = {cost}\n");
    }
    for (prefix, strategy) in &part.strategies {
        let (prefix, strategy) = (quoted(&prefix.to_string()), quoted(strategy));
        let _ = write!(text, "\n[[strategy]]\nprefix = {prefix}\nstrategy = {strategy}\n");
    }
    text
}

/// How a link is shared, of which these two are the ways.
fn shared(scheduler: &str, away: &ChannelPlan, toward: &ChannelPlan) -> String {
    let (rate, rate_in) = (rate(away), rate(toward));
    let (scheduler, overhead) = (quoted(scheduler), away.overhead_octets);
    format!(
        "scheduler = {scheduler}\nrate = {rate}\nrate-in = {rate_in}\noverhead = \"{overhead} B\"\n"
    )
}

fn rate(plan: &ChannelPlan) -> String {
    match plan.rate_bits {
        0 => quoted("unlimited"),
        bits => quoted(&format!("{bits} bit/s")),
    }
}

/// The file of a link.
pub fn link(part: &LinkPart) -> String {
    let [forth, back] = part.ways.each_ref().map(|way| channel(&way.channel));
    format!("[link.forth]\n{forth}\n[link.back]\n{back}")
}

fn channel(plan: &ChannelPlan) -> String {
    let packets = plan.queue_packets.map(|packets| quoted(&format!("{packets} packets")));
    let octets = plan.queue_octets.map(|octets| quoted(&format!("{octets} B")));
    let queue = match (packets, octets) {
        (None, None) => quoted("unlimited"),
        (packets, octets) => {
            format!("[{}]", packets.into_iter().chain(octets).collect::<Vec<_>>().join(", "))
        }
    };
    let order = match plan.order {
        Order::RateThenDelay => "rate-then-delay",
        Order::DelayThenRate => "delay-then-rate",
    };
    let mut text = format!(
        "rate = {}\ndelay = \"{} ns\"\njitter = {}\nreorder = {}\nqueue = {queue}\noverhead = \"{} B\"\n",
        rate(plan),
        plan.delay.as_nanos(),
        quoted(&plan.jitter),
        plan.reorder,
        plan.overhead_octets,
    );
    if let Some(octets) = plan.interest_octets {
        let _ = writeln!(text, "interest = \"{octets} B\"");
    }
    let (loss, duplicate) = (quoted(&plan.loss), quoted(&plan.duplicate));
    let _ = write!(text, "loss = {loss}\nduplicate = {duplicate}\norder = \"{order}\"\n");
    text
}

/// The words of `recoup serve` that serves the file at `path` through the forwarder at `face`.
pub fn serve(part: &ProducerPart, path: &str, face: &str) -> Vec<String> {
    let plan = &part.plan;
    let version = plan.version.map_or("none".into(), |version| version.to_string());
    let options = [
        ("--name", plan.prefix.to_string()),
        ("--face", face.into()),
        ("--version", version),
        ("--segment-size", plan.segment_octets.to_string()),
        ("--freshness", milliseconds(plan.freshness)),
    ];
    words("serve", path, &options, &["--json"])
}

/// The words of `recoup fetch` that writes to `path`, through the forwarder at `face`, with the options in the file
/// `document`.
pub fn fetch(part: &ConsumerPart, path: &str, face: &str, document: &str) -> Vec<String> {
    let FetchPlan { object, first, last, .. } = &part.plan;
    let options = [
        ("--output", path.to_owned()),
        ("--face", face.to_owned()),
        ("--options-json", document.to_owned()),
        ("--range", last.map_or(format!("{first}.."), |last| format!("{first}..={last}"))),
    ];
    words("fetch", &object.to_string(), &options, &["--json", "--quiet"])
}

/// The options of a fetch as a JSON document.
///
/// # Errors
/// A process does not support one of them.
pub fn fetch_options(part: &ConsumerPart) -> Result<String, String> {
    let options = &part.plan.options;
    let unsupported =
        [("leaves-holes", options.leaves_holes), ("follows-faces", !options.follows_faces)];
    match unsupported.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(format!("{}: `recoup fetch` does not support `{key}`", part.name)),
        None => serde_json::to_string(options).map_err(|error| error.to_string()),
    }
}

fn words(command: &str, what: &str, options: &[(&str, String)], flags: &[&str]) -> Vec<String> {
    let options = options.iter().map(|(option, value)| format!("{option}={value}"));
    let flags = flags.iter().map(ToString::to_string);
    [command.to_owned(), what.to_owned()].into_iter().chain(options).chain(flags).collect()
}

fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}
