//! Preview of a campaign, with its approximate duration.
use crate::Error;
use crate::campaign::Campaign;
use crate::scenario::Seeds;
use crate::source::Source;
use recoup_core::figure;
use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::table::CsCapacity;
use recoup_sim::model::law::Law;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Fault, LinkOptions, LinkPlan, Network, NodeId, NodePlan,
    Order, Popularity,
};
use recoup_sim::route::{Graph, Metric};
use recoup_sim::workload::size::ContentSizes;
use recoup_transport::fetch::FetchOptions;
use serde::Serialize;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// Longer lists are cut off.
const MOST_LINES: usize = 30;

/// Most points of which the packet-hops are guessed.
const MOST_TRIED: usize = 100;

/// Packet-hops per second of one core, to guess with.
const HOPS_PER_SECOND: f64 = 2.5e6;

/// A preview, as a document and as text.
#[derive(Debug, Serialize)]
pub struct Preview<'a> {
    command: &'static str,
    scenario: String,
    title: String,
    #[serde(serialize_with = "labels")]
    points: &'a Source,
    seeds: String,
    runs: usize,
    nodes: usize,
    links: usize,
    routes: usize,
    applications: Vec<String>,
    faults: usize,
    packet_hops_per_run: u64,
    estimated_s: f64,
    warnings: Vec<String>,
    #[serde(skip)]
    text: String,
}

impl<'a> Preview<'a> {
    /// Preview of a campaign with that many concurrent runs; the network of its first point stands for all.
    ///
    /// # Errors
    /// The problem of that network.
    pub fn new(
        source: &'a Source,
        campaign: &Campaign,
        seeds: &Seeds,
        parallelism: usize,
    ) -> Result<Self, Error> {
        let seed = campaign.seeds.first().copied().unwrap_or_default();
        let first = campaign.points.get(0).ok_or_else(|| Error::usage("there is no point"))?;
        let network = first.scenario()?.network(seed);
        let network = network.map_err(|problems| source.failure(&problems))?;
        let hops = hops_per_run(campaign, Some(&network))?;
        let at_a_time = parallelism.min(campaign.runs().max(1)) as f64;
        let estimated_s = seconds(hops, campaign.runs()) / at_a_time;
        let names = network.applications.iter().map(|plan| plan.name.clone());
        let mut this = Self {
            command: "sim",
            scenario: source.name.clone(),
            title: source.file.title().to_owned(),
            points: source,
            seeds: seeds.to_string(),
            runs: campaign.runs(),
            nodes: network.nodes.len(),
            links: network.links.len(),
            routes: network.routes.len(),
            applications: names.collect(),
            faults: network.faults.len(),
            packet_hops_per_run: hops,
            estimated_s,
            warnings: campaign.warnings.clone(),
            text: String::new(),
        };
        this.text = this.text(&network, campaign, parallelism);
        Ok(this)
    }

    fn text(&self, network: &Network, campaign: &Campaign, parallelism: usize) -> String {
        let mut text = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(text, "{}\n", self.title);
        }
        describe(network, &mut text);
        if campaign.points.len() > 1 {
            let labels = self.points.file.points().map(|point| point.label());
            text.push('\n');
            list(&mut text, "points; the first is shown above", labels);
        }
        let _ = writeln!(
            text,
            "\n{} runs ({} x {}), {parallelism} at a time: about {} packet-hops each, about {} in all",
            campaign.runs(),
            plural(campaign.points.len(), "point"),
            plural(campaign.seeds.len(), "seed"),
            round(self.packet_hops_per_run),
            about(self.estimated_s),
        );
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        text
    }
}

/// Packet-hops of a run with the first seed, as the mean of some points. The network of the first point may be known:
/// a large one is expensive, and two at a time take twice the memory.
fn hops_per_run(campaign: &Campaign, first: Option<&Network>) -> Result<u64, Error> {
    let seed = campaign.seeds.first().copied().unwrap_or_default();
    let step = campaign.points.len().div_ceil(MOST_TRIED).max(1);
    let known = first.map(packet_hops);
    let (mut hops, mut tried) = (known.unwrap_or_default(), u64::from(known.is_some()));
    let points = (0..campaign.points.len()).step_by(step).skip(tried as usize);
    for stage in points.filter_map(|it| campaign.points.get(it)) {
        hops += stage.scenario()?.network(seed).map_or(0, |network| packet_hops(&network));
        tried += 1;
    }
    Ok(hops / tried.max(1))
}

fn seconds(hops: u64, runs: usize) -> f64 {
    hops as f64 * runs as f64 / HOPS_PER_SECOND
}

/// Approximate seconds of so many runs of a campaign on one core.
///
/// # Errors
/// If a scenario cannot be made.
pub fn estimate_s(campaign: &Campaign, runs: usize) -> Result<f64, Error> {
    Ok(seconds(hops_per_run(campaign, None)?, runs))
}

impl fmt::Display for Preview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn describe(network: &Network, text: &mut String) {
    list(text, "nodes", network.nodes.iter().map(node));
    list(text, "links", network.links.iter().map(|link| one_link(network, link)));
    list(text, "routes", routes(network).into_iter());
    let applications = network.applications.iter().map(|plan| application(network, plan));
    list(text, "applications", applications);
    let faults = network
        .faults
        .iter()
        .map(|(at, fault)| format!("at {:.3} s {}", at.as_secs_f64(), one_fault(network, fault)));
    list(text, "events", faults);
    let end = if network.stop.when_done { "when all fetches have ended, or at" } else { "at" };
    let _ = writeln!(text, "ends {end} {:.3} s", network.stop.at.as_secs_f64());
}

fn list(text: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let all = lines.len();
    if all == 0 {
        return;
    }
    let _ = writeln!(text, "{all} {title}");
    for line in lines.take(MOST_LINES) {
        let _ = writeln!(text, "  {line}");
    }
    if all > MOST_LINES {
        let _ = writeln!(text, "  … and {} more", all - MOST_LINES);
    }
}

/// Labels of the points of the sweep.
fn labels<S: serde::Serializer>(source: &&Source, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(source.file.points().map(|point| point.label()))
}

fn node(plan: &NodePlan) -> String {
    let NodeOptions { cache, strategy, suppression, .. } = &plan.options;
    let cache = match *cache {
        CsCapacity::Packets(0) => "no cache".to_owned(),
        CsCapacity::Packets(packets) => format!("cache of {packets} packets"),
        CsCapacity::Bytes(bytes) => format!("cache of {}", figure::bytes(bytes)),
        CsCapacity::Both { packets, bytes } => {
            format!("cache of {packets} packets and {}", figure::bytes(bytes))
        }
        CsCapacity::Unlimited => "cache without limit".to_owned(),
    };
    let mut line = format!("{}: {cache}, {strategy}, {suppression}", plan.name);
    if *plan.processing != Law::None {
        let _ = write!(line, ", {} for each packet", plan.processing);
    }
    line
}

fn one_link(network: &Network, link: &LinkPlan) -> String {
    let (a, b) = (name(network, link.ends.0), name(network, link.ends.1));
    if link.forth == link.back {
        return format!("{}: {}", link.name, channel(&link.forth));
    }
    let (forth, back) = (channel(&link.forth), channel(&link.back));
    format!("{}: {a} to {b} {forth}; {b} to {a} {back}", link.name)
}

/// A direction of a link in words.
pub(crate) fn channel(plan: &LinkOptions) -> String {
    let mut line = match plan.rate_bits {
        0 => "any rate".to_owned(),
        bits => figure::rate(bits as f64),
    };
    if let Some(trace) = &plan.rate_trace {
        let _ = write!(line, " on average by {}", trace.file());
    }
    let _ = write!(line, ", {} ms", figure::milliseconds(figure::ms(plan.delay)));
    if let Some(trace) = &plan.delay_trace {
        let _ = write!(line, " at first by {}", trace.file());
    }
    match (plan.queue.packets, plan.queue.bytes) {
        (None, None) => line.push_str(", queue without limit"),
        (Some(packets), None) => drop(write!(line, ", queue of {packets} packets")),
        (None, Some(bytes)) => drop(write!(line, ", queue of {}", figure::bytes(bytes))),
        (Some(packets), Some(bytes)) => {
            let _ = write!(line, ", queue of {packets} packets and {}", figure::bytes(bytes));
        }
    }
    for (what, law) in [
        ("jitter", plan.jitter.text()),
        ("loss", plan.loss.text()),
        ("duplicates", plan.duplicate.text()),
        ("marking", plan.marking.text()),
        ("recovery", plan.recovery.text()),
    ] {
        if law != "none" && law != "off" {
            let _ = write!(line, ", {what} {law}");
        }
    }
    if plan.order == Order::DelayThenRate {
        line.push_str(", delay before rate");
    }
    line
}

fn routes(network: &Network) -> Vec<String> {
    let hop = |node: NodeId, link: u32| {
        let Some(link) = network.links.get(link as usize) else { return String::new() };
        let next = if link.ends.0 == node { link.ends.1 } else { link.ends.0 };
        name(network, next).to_owned()
    };
    let line = |route: &recoup_sim::network::RoutePlan| {
        let hops: Vec<_> = route.hops.iter().map(|(link, _)| hop(route.node, link.0)).collect();
        format!("{}: {} to {}", name(network, route.node), route.prefix, hops.join(" or "))
    };
    network.routes.iter().map(line).collect()
}

fn application(network: &Network, plan: &ApplicationPlan) -> String {
    let what = match &plan.kind {
        ApplicationKind::Fetch(fetch) => {
            let FetchOptions { congestion, rto, .. } = &fetch.options;
            format!("fetches {} with {congestion} and {rto}", fetch.object)
        }
        ApplicationKind::Serve(serve) => {
            let bytes = serve.options.segment_bytes;
            let size = figure::bytes(serve.size_bytes);
            format!("serves {}: {size} in segments of {bytes} bytes", serve.prefix)
        }
        ApplicationKind::Produce(produce) => {
            let length = match &produce.content {
                ContentSizes::All(bytes) => format!("{bytes} bytes"),
                drawn => drawn.to_string(),
            };
            format!("answers {} with {length}", produce.prefix)
        }
        ApplicationKind::Request(request) => {
            let first = request.prefixes.first().map(ToString::to_string).unwrap_or_default();
            let more = match request.prefixes.len() {
                0 | 1 => String::new(),
                more => format!(" and {} more", more - 1),
            };
            let times = match (request.requests, &request.popularity) {
                (Some(times), _) => format!("{times} times"),
                (None, Popularity::Log(_)) => "as a log has it".into(),
                (None, _) => "for ever".into(),
            };
            format!("asks {times} for one of {} contents below {first}{more}", request.contents)
        }
        ApplicationKind::Background(traffic) => {
            let link = network.links.get(traffic.link.0 as usize).map_or("", |link| &link.name);
            format!("sends frames of {} bytes over {link}", traffic.frame_bytes)
        }
    };
    let start = plan.start.as_secs_f64();
    let from = if start > 0.0 { format!(" from {start:.3} s on") } else { String::new() };
    format!("{} at {}{from}: {what}", plan.name, name(network, plan.node))
}

fn one_fault(network: &Network, fault: &Fault) -> String {
    let link = |link: u32| network.links.get(link as usize).map_or("", |link| link.name.as_str());
    match fault {
        Fault::LinkDown(id) => format!("{} fails", link(id.0)),
        Fault::LinkUp(id) => format!("{} is back", link(id.0)),
        Fault::OutageBegins(id, way) => format!("{} carries nothing, {way:?}", link(id.0)),
        Fault::OutageEnds(id, way) => format!("{} carries frames again, {way:?}", link(id.0)),
        Fault::NodeDown(id) => format!("{} fails", name(network, *id)),
        Fault::NodeUp(id) => format!("{} is back", name(network, *id)),
        Fault::Change(id, way, plan) => {
            format!("{} becomes {}, {way:?}", link(id.0), channel(plan))
        }
    }
}

fn name(network: &Network, node: NodeId) -> &str {
    network.nodes.get(node.0 as usize).map_or("", |node| &node.name)
}

/// Interests and Data that will arrive at nodes if nothing is lost or cached.
fn packet_hops(network: &Network) -> u64 {
    let Ok(graph) = Graph::of_plans(&network.nodes, &network.links, Metric::Delay) else {
        return 0;
    };
    let producer = |name: &recoup_packet::name::Name| {
        network.applications.iter().find_map(|plan| match &plan.kind {
            ApplicationKind::Serve(serve) if serve.prefix.is_prefix_of(name) => {
                Some((plan.node, serve.size_bytes.div_ceil(serve.options.segment_bytes.max(1))))
            }
            ApplicationKind::Produce(produce) if produce.prefix.is_prefix_of(name) => {
                Some((plan.node, 1))
            }
            _ => None,
        })
    };
    let hops = |from, to| {
        graph.path(from, to).ok().flatten().map_or(0, |path| u64::from(path.length.hops))
    };
    let each = |plan: &ApplicationPlan| match &plan.kind {
        ApplicationKind::Fetch(fetch) => producer(&fetch.object)
            .map_or(0, |(node, segments)| 2 * segments * hops(plan.node, node)),
        ApplicationKind::Request(request) => {
            let one = request.prefixes.first().and_then(producer);
            let requests = request.requests.unwrap_or(0);
            one.map_or(0, |(node, _)| requests.saturating_mul(2 * hops(plan.node, node)))
        }
        _ => 0,
    };
    network.applications.iter().map(each).fold(0, u64::saturating_add)
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn round(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{} thousand", count / 1000),
        _ => format!("{} million", count / 1_000_000),
    }
}

/// A time for a reader: `for ever` if it is beyond all measure.
pub fn about(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 1e9 => figure::seconds(Duration::from_secs(s.ceil() as u64)),
        _ => "for ever".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_each_point_are_shown() {
        let text = r#"
            topology = { kind = "line", nodes = 2 }
            applications.c = { kind = "fetch", node = "n1", object = "/x" }
            applications.p = { kind = "serve", node = "n2", prefix = "/x", size = "1 kB" }
            sweep."applications.c.object" = ["/x", "/y"]
        "#;
        let source = Source::built_in("two", text, &[], &[]).unwrap();
        let campaign = Campaign::new(&source, None).unwrap();
        let preview = Preview::new(&source, &campaign, source.file.seeds(), 1).unwrap().to_string();
        assert!(preview.contains("warning: c requests /y, which no producer serves"), "{preview}");
    }
}
