//! The path of a case: links between the consumer under test and the producer of its object.
use recoup_sim::network::{
    ApplicationKind, Arrival, BackgroundPlan, Direction, Fault, FetchPlan, LinkId, LinkOptions,
    Network, NodeId, PacketShape, ServePlan,
};
use recoup_transport::time::Instant;

/// A path that Data take to one consumer.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck in bit/s at the times from which it holds, the first at 0, less the share of
    /// other traffic; infinite if no link has a rate.
    pub rates: Vec<(f64, f64)>,
    /// Bits per second at which the bottleneck sends a packet, whatever other traffic takes; infinite if no link has a
    /// rate.
    pub line_rate: f64,
    /// Propagation delay of both directions, in s.
    pub rtt_s: f64,
    /// Share of Data that is lost.
    pub loss: f64,
    /// Bits of a Data packet on the bottleneck.
    pub packet_bits: f64,
    /// Bytes of content in a segment.
    pub segment_bytes: f64,
    /// Segments of the object.
    pub segments: f64,
    /// The bottleneck; `None` if no link has a rate.
    pub bottleneck: Option<LinkId>,
}

impl Path {
    /// The path to the application called `consumer`.
    ///
    /// # Errors
    /// If the path cannot be determined; the text is the end of a sentence.
    pub fn of(network: &Network, consumer: &str) -> Result<Self, String> {
        let (node, fetch) = fetch(network, consumer)?;
        let hops = hops(network, node, fetch)?;
        let last = hops.last().map_or(node, |hop| hop.to);
        let serve = served(network, last, fetch)?;
        let PacketShape::Total(packet_bytes) = serve.packet else {
            return Err("its packets have no given length; write `packet` in [serve]".into());
        };
        let mut kept = 1.0;
        for hop in &hops {
            kept *= 1.0 - hop.loss()?;
        }
        let bottleneck = hops
            .iter()
            .filter(|hop| hop.data.rate_bits > 0)
            .min_by(|a, b| hop_rate(network, a).total_cmp(&hop_rate(network, b)));
        let overhead = bottleneck.map_or(0, |hop| hop.data.overhead_bytes);
        Ok(Self {
            rates: bottleneck
                .map_or_else(|| Ok(vec![(0.0, f64::INFINITY)]), |hop| rates(network, hop))?,
            line_rate: bottleneck.map_or(f64::INFINITY, |hop| hop.data.rate_bits as f64),
            rtt_s: hops.iter().map(|hop| (hop.data.delay + hop.interest.delay).as_secs_f64()).sum(),
            loss: 1.0 - kept,
            packet_bits: f64::from(packet_bytes + overhead) * 8.0,
            segment_bytes: serve.options.segment_bytes as f64,
            segments: segments(fetch, serve),
            bottleneck: bottleneck.map(|hop| hop.link),
        })
    }

    /// Rate of the bottleneck at the beginning, in bit/s.
    pub fn rate(&self) -> f64 {
        self.rates.first().map_or(f64::INFINITY, |(_, rate)| *rate)
    }

    /// Mean time between two Data packets on the bottleneck, in s.
    pub fn transmission_s(&self) -> f64 {
        self.packet_bits / self.rate()
    }

    /// Round-trip time of a segment with empty queues, in s.
    pub fn base_rtt_s(&self) -> f64 {
        self.rtt_s + self.packet_bits / self.line_rate
    }

    /// Content that the bottleneck carries, in bit/s.
    pub fn goodput(&self) -> f64 {
        self.rate() * self.segment_bytes * 8.0 / self.packet_bits
    }
}

/// A link on the way of Interests.
struct Hop<'a> {
    link: LinkId,
    /// Where Data come from.
    direction: Direction,
    to: NodeId,
    interest: &'a LinkOptions,
    data: &'a LinkOptions,
}

impl Hop<'_> {
    fn loss(&self) -> Result<f64, String> {
        let unknown =
            || format!("how much `{}` loses depends on when packets come", self.data.loss);
        self.data.loss.mean_share().ok_or_else(unknown)
    }
}

fn fetch<'a>(network: &'a Network, name: &str) -> Result<(NodeId, &'a FetchPlan), String> {
    let plan = network.applications.iter().find(|plan| plan.name == name);
    match plan.map(|plan| (plan.node, &plan.kind)) {
        Some((node, ApplicationKind::Fetch(fetch))) => Ok((node, fetch)),
        _ => Err(format!("`{name}` stands at several nodes")),
    }
}

/// The links that Interests cross, by the best route of each node.
fn hops<'a>(network: &'a Network, from: NodeId, fetch: &FetchPlan) -> Result<Vec<Hop<'a>>, String> {
    let (mut hops, mut node) = (Vec::new(), from);
    if !network.wifi.is_empty() {
        return Err("it has radio links".into());
    }
    while served(network, node, fetch).is_err() {
        let fitting = network.routes.iter().filter(|route| route.node == node);
        let fitting = fitting.filter(|route| route.prefix.is_prefix_of(&fetch.object));
        let route = fitting.max_by_key(|route| route.prefix.len());
        let found = route.map_or(&[] as &[_], |route| &route.hops);
        let [(link, _)] = found else {
            let name = network.nodes.get(node.0 as usize).map_or("a node", |plan| &plan.name);
            return Err(format!("{name} has {} next hops toward {}", found.len(), fetch.object));
        };
        let Some(plan) = network.links.get(link.0 as usize) else { break };
        let forth = plan.ends.0 == node;
        let (to, interest, data, direction) = match forth {
            true => (plan.ends.1, &plan.forth, &plan.back, Direction::Back),
            false => (plan.ends.0, &plan.back, &plan.forth, Direction::Forth),
        };
        hops.push(Hop { link: *link, direction, to, interest, data });
        if hops.len() > network.nodes.len() {
            return Err("its routes form a loop".into());
        }
        node = to;
    }
    Ok(hops)
}

/// The application of the node that serves the object.
fn served<'a>(
    network: &'a Network,
    node: NodeId,
    fetch: &FetchPlan,
) -> Result<&'a ServePlan, String> {
    let there = network.applications.iter().filter(|plan| plan.node == node);
    let mut served = there.filter_map(|plan| match &plan.kind {
        ApplicationKind::Serve(serve) => Some(serve),
        _ => None,
    });
    let fits = |serve: &&ServePlan| serve.prefix.is_prefix_of(&fetch.object);
    served
        .find(fits)
        .ok_or_else(|| format!("no application of kind serve answers {}", fetch.object))
}

fn segments(fetch: &FetchPlan, serve: &ServePlan) -> f64 {
    let all = serve.size_bytes.div_ceil(serve.options.segment_bytes.max(1)).max(1);
    let end = fetch.last.map_or(all, |last| all.min(last.saturating_add(1)));
    end.saturating_sub(fetch.first).max(1) as f64
}

fn hop_rate(network: &Network, hop: &Hop<'_>) -> f64 {
    hop.data.rate_bits as f64 - taken(network, hop)
}

/// Mean bit/s that background traffic takes of a link in the direction of Data.
fn taken(network: &Network, hop: &Hop<'_>) -> f64 {
    let frames = network.applications.iter().filter_map(|plan| match &plan.kind {
        ApplicationKind::Background(it) if it.link == hop.link && it.direction == hop.direction => {
            Some(it)
        }
        _ => None,
    });
    let bits = |plan: &BackgroundPlan| {
        let bytes = plan.frame_bytes + hop.data.overhead_bytes;
        mean_rate(&plan.arrival) * f64::from(bytes) * 8.0
    };
    frames.map(bits).sum()
}

fn mean_rate(arrival: &Arrival) -> f64 {
    match arrival {
        Arrival::Constant(rate) | Arrival::Poisson(rate) => *rate,
        Arrival::OnOff { rate, on, off } => {
            let (on, off) = (on.as_secs_f64(), off.as_secs_f64());
            rate * on / (on + off).max(f64::MIN_POSITIVE)
        }
        Arrival::Batches(_) | Arrival::Window(_) => 0.0,
    }
}

/// The rate of the bottleneck from each time on.
fn rates(network: &Network, hop: &Hop<'_>) -> Result<Vec<(f64, f64)>, String> {
    let taken = taken(network, hop);
    let mut rates = vec![(0.0, hop.data.rate_bits as f64 - taken)];
    let mut faults: Vec<&(Instant, Fault)> = network.faults.iter().collect();
    faults.sort_by_key(|(at, _)| *at);
    for (at, fault) in faults {
        let Fault::Change(link, direction, plan) = fault else {
            return Err("its links or nodes fail".into());
        };
        if (*link, *direction) == (hop.link, hop.direction) {
            let at_s = at.since(Instant::ZERO).as_secs_f64();
            rates.push((at_s, plan.rate_bits as f64 - taken));
        } else if *link != hop.link {
            return Err("links beside its bottleneck change".into());
        }
    }
    match rates.iter().all(|(_, rate)| *rate > 0.0) {
        true => Ok(rates),
        false => Err("other traffic takes its whole bottleneck".into()),
    }
}
