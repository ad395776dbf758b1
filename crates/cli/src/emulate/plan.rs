//! What has to be started so that a network stands on this machine as processes. Pure: nothing is started here.
//!
//! A node is a `recoup forward`, a link a `recoup link` between two of them, a fetch a `recoup fetch`, a served object a
//! `recoup serve`. Interests cross a link in one direction: its near end belongs to the node that asks, which has a
//! static face toward it, its far end to the node that answers, which listens.
use super::length;
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, ChannelPlan, Direction, FetchPlan, LinkId, LinkPlan, Network,
    NodeId, NodePlan, ServePlan,
};
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is started, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Forwarders, numbered as the nodes of the network; those that nothing passes are not in `order`.
    pub nodes: Vec<NodePart>,
    /// Links that Interests cross.
    pub links: Vec<LinkPart>,
    /// Served objects.
    pub producers: Vec<ProducerPart>,
    /// Fetches.
    pub consumers: Vec<ConsumerPart>,
    /// Who answers is started before the link to it, that before who asks.
    pub order: Vec<Part>,
    /// Longest time that the fetches may take.
    pub at_most: Duration,
}

/// Something that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A forwarder: its place in [`Plan::nodes`].
    Node(usize),
    /// A link: its place in [`Plan::links`].
    Link(usize),
}

/// A forwarder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodePart {
    /// As the network has it.
    pub plan: NodePlan,
    /// Strategies below other prefixes than `/`.
    pub strategies: Vec<(Name, String)>,
    /// Routes over links, by their place in [`Plan::links`].
    pub routes: Vec<RoutePart>,
    /// Links lead to it.
    pub answers: bool,
    /// What it sends again on the links that lead to it, as it is written.
    pub recovery: String,
    /// How it shares each of the links that lead to it among flows: a scheduler and the link's two ways, away from it
    /// first.
    pub sharing: Option<(String, ChannelPlan, ChannelPlan)>,
}

/// A route.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RoutePart {
    /// For which names.
    pub prefix: Name,
    /// Place in [`Plan::links`].
    pub link: usize,
    /// Less is better.
    pub cost: u64,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkPart {
    /// Its name in the network.
    pub name: String,
    /// The node whose Interests cross it.
    pub asks: usize,
    /// The node that they reach.
    pub answers: usize,
    /// The way of Interests.
    pub forth: ChannelPlan,
    /// The way of Data.
    pub back: ChannelPlan,
    /// How the node that asks shares the link among flows, `none` if it does not.
    pub scheduler: String,
}

/// A served object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProducerPart {
    /// Its name in the network.
    pub name: String,
    /// Where it runs.
    pub node: usize,
    /// What it serves.
    pub plan: ServePlan,
}

/// A fetch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConsumerPart {
    /// Its name in the network.
    pub name: String,
    /// Where it runs.
    pub node: usize,
    /// When it starts, counted from when everything stands.
    pub start: Duration,
    /// What it fetches.
    pub plan: FetchPlan,
    /// Octets by which Data of the network are longer than those that are really sent.
    pub missing_octets: u32,
}

/// Which way Interests take, by link.
type Crossed = BTreeMap<LinkId, Direction>;

impl Plan {
    /// The processes of a network.
    ///
    /// # Errors
    /// What of it cannot be had on sockets, as a sentence.
    pub(crate) fn new(network: &Network) -> Result<Self, String> {
        let producers = producers(network)?;
        let missing_octets = missing(&producers)?;
        let consumers = consumers(network, missing_octets)?;
        check(network)?;
        let crossed = crossed(network, &consumers)?;
        let mut links = Vec::new();
        for (id, direction) in &crossed {
            let link = network.links.get(id.0 as usize).ok_or("a route leads over no link")?;
            let mut link = LinkPart::new(link, *direction);
            link.scheduler = scheduler(network, link.asks, &link.forth).to_owned();
            links.push(link);
        }
        if missing_octets > 0 {
            let interest = length::longest_interest(&consumers);
            links.iter_mut().for_each(|link| link.charge(missing_octets, interest));
        }
        let nodes = nodes(network, &crossed, &links)?;
        let involved = producers.iter().map(|it| it.node).chain(consumers.iter().map(|it| it.node));
        let involved = involved.chain(links.iter().flat_map(|link| [link.asks, link.answers]));
        let order = order(&involved.collect(), &links)?;
        let at_most = network.stop.at.since(Instant::ZERO);
        Ok(Self { nodes, links, producers, consumers, order, at_most })
    }
}

impl LinkPart {
    fn new(link: &LinkPlan, direction: Direction) -> Self {
        let (forth, back) = (link.forth.clone(), link.back.clone());
        let (first, second) = (link.ends.0.0 as usize, link.ends.1.0 as usize);
        let name = link.name.clone();
        match direction {
            Direction::Forth => {
                Self { name, asks: first, answers: second, forth, back, scheduler: String::new() }
            }
            Direction::Back => Self {
                name,
                asks: second,
                answers: first,
                forth: back,
                back: forth,
                scheduler: String::new(),
            },
        }
    }

    /// Data count as long as they are in the network, Interests as before.
    fn charge(&mut self, missing_octets: u32, interest_octets: u32) {
        for way in [&mut self.forth, &mut self.back] {
            let own = interest_octets.saturating_add(way.overhead_octets);
            way.interest_octets.get_or_insert(own);
            way.overhead_octets = way.overhead_octets.saturating_add(missing_octets);
        }
    }
}

/// Refuses what processes do not do.
fn check(network: &Network) -> Result<(), String> {
    if !network.faults.is_empty() {
        return Err("nothing can happen to its nodes and links in time".into());
    }
    for NodePlan { name, processing, admit_unsolicited, .. } in &network.nodes {
        if processing != "none" {
            return Err(format!(
                "{name} takes the time that it takes: it can have no `processing`"
            ));
        }
        if *admit_unsolicited {
            return Err(format!("{name} cannot admit Data that nobody asked for"));
        }
    }
    for LinkPlan { name, forth, back, .. } in &network.links {
        if forth.marking != "none" || back.marking != "none" {
            return Err(format!("link {name} changes no packets: it can have no `marking`"));
        }
    }
    Ok(())
}

fn producers(network: &Network) -> Result<Vec<ProducerPart>, String> {
    let mut parts = Vec::new();
    for ApplicationPlan { name, node, start, stop, kind } in &network.applications {
        let ApplicationKind::Serve(plan) = kind else { continue };
        if *start != Instant::ZERO || stop.is_some() {
            return Err(format!("{name} must serve from the beginning to the end"));
        }
        parts.push(ProducerPart { name: name.clone(), node: node.0 as usize, plan: plan.clone() });
    }
    Ok(parts)
}

fn consumers(network: &Network, missing_octets: u32) -> Result<Vec<ConsumerPart>, String> {
    let mut parts = Vec::new();
    for ApplicationPlan { name, node, start, stop, kind } in &network.applications {
        let plan = match kind {
            ApplicationKind::Serve(_) => continue,
            ApplicationKind::Fetch(plan) if stop.is_none() => plan.as_ref().clone(),
            ApplicationKind::Fetch(_) => return Err(format!("{name} must end by itself")),
            _ => return Err(format!("{name} is neither of kind fetch nor serve")),
        };
        let (name, node, start) = (name.clone(), node.0 as usize, start.since(Instant::ZERO));
        parts.push(ConsumerPart { name, node, start, plan, missing_octets });
    }
    match parts.is_empty() {
        true => Err("nobody fetches anything in it".into()),
        false => Ok(parts),
    }
}

/// By how much Data of the network are longer than those that are really sent: the same for all objects, since a link
/// does not know one from another.
fn missing(producers: &[ProducerPart]) -> Result<u32, String> {
    let mut found = None;
    for ProducerPart { name, plan, .. } in producers {
        let octets = length::missing(plan).map_err(|what| format!("{name}: {what}"))?;
        if *found.get_or_insert(octets) != octets {
            return Err("its producers add different lengths to their packets".into());
        }
    }
    Ok(found.unwrap_or_default())
}

/// The links that Interests cross, each in one direction.
fn crossed(network: &Network, consumers: &[ConsumerPart]) -> Result<Crossed, String> {
    let mut crossed = Crossed::new();
    for ConsumerPart { node, plan, .. } in consumers {
        let (mut seen, mut open) = (BTreeSet::new(), vec![NodeId(*node as u32)]);
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of_node = network.routes.iter().filter(|route| route.node == node);
            let fitting = of_node.filter(|route| route.prefix.is_prefix_of(&plan.object));
            for (link, _) in fitting.flat_map(|route| &route.hops) {
                let (direction, next) = away(network, *link, node)?;
                if *crossed.entry(*link).or_insert(direction) != direction {
                    let name = network.links.get(link.0 as usize).map_or("", |link| &link.name);
                    return Err(format!("Interests cross link {name} in both directions"));
                }
                open.push(next);
            }
        }
    }
    Ok(crossed)
}

/// The direction of a link away from a node, and the node at its other end.
fn away(network: &Network, link: LinkId, node: NodeId) -> Result<(Direction, NodeId), String> {
    match network.links.get(link.0 as usize).map(|link| link.ends) {
        Some((first, second)) if first == node => Ok((Direction::Forth, second)),
        Some((first, second)) if second == node => Ok((Direction::Back, first)),
        _ => Err("a route leads over a link that is elsewhere".into()),
    }
}

/// How a node shares a way that leads away from it.
fn scheduler<'a>(network: &'a Network, node: usize, way: &'a ChannelPlan) -> &'a str {
    match (way.scheduler.as_str(), network.nodes.get(node)) {
        ("none", Some(node)) => &node.scheduler,
        (scheduler, _) => scheduler,
    }
}

/// How a node shares the links that lead to it. A forwarder cannot tell one that calls from another.
fn sharing(
    network: &Network,
    number: usize,
    links: &[LinkPart],
) -> Result<Option<(String, ChannelPlan, ChannelPlan)>, String> {
    let here = links.iter().filter(|link| link.answers == number);
    let mut all = here.map(|link| {
        let scheduler = scheduler(network, number, &link.back).to_owned();
        (scheduler, link.back.clone(), link.forth.clone())
    });
    let Some(first) = all.next() else { return Ok(None) };
    let alike = |other: &(String, ChannelPlan, ChannelPlan)| {
        let ways = |of: &(String, ChannelPlan, ChannelPlan)| {
            (of.1.rate_bits, of.2.rate_bits, of.1.overhead_octets)
        };
        other.0 == first.0 && (first.0 == "none" || ways(other) == ways(&first))
    };
    if !all.all(|other| alike(&other)) {
        let name = network.nodes.get(number).map_or("", |node| &node.name);
        return Err(format!("{name} shares links that lead to it in different ways"));
    }
    Ok(Some(first).filter(|first| first.0 != "none"))
}

/// What a node sends again on the links that lead to it. A forwarder cannot tell one that calls from another.
fn recovery(network: &Network, number: usize, links: &[LinkPart]) -> Result<String, String> {
    let mut here = links.iter().filter(|link| link.answers == number).map(|it| &it.back.recovery);
    let Some(first) = here.next() else { return Ok("off".into()) };
    if here.any(|other| other != first) {
        let name = network.nodes.get(number).map_or("", |node| &node.name);
        return Err(format!("{name} has links that lead to it with different `recovery`"));
    }
    Ok(first.clone())
}

fn nodes(
    network: &Network,
    crossed: &Crossed,
    links: &[LinkPart],
) -> Result<Vec<NodePart>, String> {
    let place = |link: &LinkId| crossed.keys().position(|other| other == link);
    let part = |(number, plan): (usize, &NodePlan)| {
        let here = |node: NodeId| node.0 as usize == number;
        let strategies = network.strategies.iter().filter(|it| here(it.node));
        let routes = network.routes.iter().filter(|it| here(it.node)).flat_map(|route| {
            let hops = route.hops.iter().filter_map(|(link, cost)| Some((place(link)?, *cost)));
            let hops =
                hops.filter(|(link, _)| links.get(*link).is_some_and(|it| it.asks == number));
            hops.map(|(link, cost)| RoutePart { prefix: route.prefix.clone(), link, cost })
        });
        Ok(NodePart {
            sharing: sharing(network, number, links)?,
            recovery: recovery(network, number, links)?,
            plan: plan.clone(),
            strategies: strategies.map(|it| (it.prefix.clone(), it.strategy.clone())).collect(),
            routes: routes.collect(),
            answers: links.iter().any(|link| link.answers == number),
        })
    };
    network.nodes.iter().enumerate().map(part).collect()
}

/// Whoever answers before whoever asks.
fn order(involved: &BTreeSet<usize>, links: &[LinkPart]) -> Result<Vec<Part>, String> {
    let (mut order, mut begun) = (Vec::new(), BTreeSet::new());
    while begun.len() < involved.len() {
        let of = |node: usize| links.iter().enumerate().filter(move |(_, link)| link.asks == node);
        let can_begin = |node: &&usize| of(**node).all(|(_, link)| begun.contains(&link.answers));
        let next = involved.iter().filter(|node| !begun.contains(*node)).find(can_begin);
        let node = *next.ok_or("Interests could run in a circle of its links")?;
        order.extend(of(node).map(|(place, _)| Part::Link(place)));
        order.push(Part::Node(node));
        begun.insert(node);
    }
    Ok(order)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use recoup_sim::scenario::ScenarioFile;
    use recoup_studies::study::Scale;
    use recoup_studies::yang2016::YANG2016;

    /// The network of the first point of one of the paper's experiments.
    pub(crate) fn network(name: &str) -> Network {
        let experiments = YANG2016.experiments(Scale::Paper);
        let experiment = experiments.iter().find(|it| it.name == name).unwrap();
        let file = ScenarioFile::parse(&experiment.scenario, &[]).unwrap();
        let scenario = file.scenario(&file.points()[0], &|name| experiment.file(name)).unwrap();
        scenario.network(1).unwrap()
    }

    fn place(plan: &Plan, part: Part) -> usize {
        plan.order.iter().position(|other| *other == part).unwrap()
    }

    #[test]
    fn a_line_is_a_chain_of_forwarders_and_links_that_begins_at_the_producer() {
        let plan = Plan::new(&network("linear")).unwrap();
        assert_eq!((plan.links.len(), plan.consumers.len(), plan.producers.len()), (3, 1, 1));
        assert_eq!(plan.order.len(), 7);
        for (number, link) in plan.links.iter().enumerate() {
            let link_at = place(&plan, Part::Link(number));
            assert!(place(&plan, Part::Node(link.answers)) < link_at);
            assert!(link_at < place(&plan, Part::Node(link.asks)));
        }
        let consumer = &plan.nodes[plan.consumers[0].node];
        assert_eq!((consumer.plan.name.as_str(), consumer.answers), ("c1", false));
        assert_eq!(consumer.routes.len(), 1);
        let producer = &plan.nodes[plan.producers[0].node];
        assert!(producer.routes.is_empty() && producer.answers);
    }

    #[test]
    fn data_count_as_in_the_network_and_interests_as_they_are() {
        let plan = Plan::new(&network("linear")).unwrap();
        let missing = plan.consumers[0].missing_octets;
        assert!((300..400).contains(&missing), "{missing}");
        for link in &plan.links {
            assert_eq!((link.forth.overhead_octets, link.back.overhead_octets), (missing, missing));
            assert!((20..60).contains(&link.forth.interest_octets.unwrap()), "{link:?}");
        }
    }

    #[test]
    fn a_dumbbell_has_no_routes_that_no_interest_takes() {
        let plan = Plan::new(&network("dumbbell")).unwrap();
        assert_eq!((plan.links.len(), plan.consumers.len(), plan.order.len()), (5, 2, 11));
        let routes =
            |name: &str| plan.nodes.iter().find(|it| it.plan.name == name).unwrap().routes.len();
        assert_eq!(["c1", "c2", "r1", "r2", "p1", "p2"].map(routes), [2, 2, 2, 2, 0, 0]);
    }

    #[test]
    fn what_cannot_be_had_on_sockets_is_said() {
        let wrong = |change: fn(&mut Network)| {
            let mut network = network("dumbbell");
            change(&mut network);
            Plan::new(&network).unwrap_err()
        };
        assert!(
            wrong(|it| it.nodes[2].processing = "constant(time=1ms)".into()).contains("processing")
        );
        assert!(wrong(|it| it.links[0].back.marking = "codel()".into()).contains("marking"));
        // Two links lead to the router of both consumers.
        assert!(wrong(|it| it.links[0].back.recovery = "wldr".into()).contains("recovery"));
        assert!(
            wrong(|it| it.applications.retain(|one| one.name.starts_with('p'))).contains("nobody")
        );
        // A consumer beside the first producer that asks the first consumer's neighbour.
        let both = wrong(|it| {
            let (c1, p2) = (it.applications[0].node, it.applications[3].node);
            it.applications[0].node = p2;
            it.applications[3].node = c1;
            let back = |link: u32, node| recoup_sim::network::RoutePlan {
                node: NodeId(node),
                prefix: "/p1".parse().unwrap(),
                hops: vec![(LinkId(link), 1)],
            };
            let (r1, r2) = (it.links[2].ends.0.0, it.links[2].ends.1.0);
            it.routes = vec![back(4, p2.0), back(2, r2), back(2, r1)];
        });
        assert!(both.contains("both directions"), "{both}");
    }
}
