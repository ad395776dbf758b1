//! A topology that stands for commands to run on.
use super::args::EmulateArgs;
use super::command::{Order, Running, Surroundings, prefixes};
use crate::error::Failure;
use crate::output;
use crate::stop::Stop;
use recoup_config::problem::{hint, listed};
use recoup_lab::emulate::net::{Net, NetOptions};
use recoup_lab::emulate::plan::Plan;
use recoup_lab::source::{Given, Source};
use recoup_sim::network::Network;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Defaults of a topology: caches as in NFD, and the overhead of UDP, IPv4 and Ethernet for each packet, as `tc` counts
/// it on Mini-NDN's links.
const DEFAULTS: &str = "[node]\ncache = \"65536 packets\"\n[link]\noverhead = \"42 B\"\n";
/// Time between two looks at processes and signals.
const LOOK: Duration = Duration::from_millis(10);

/// Runs the command on a topology.
pub(super) fn run(args: &EmulateArgs, given: Given, settings: &[String]) -> Result<(), Failure> {
    let source = Source::of_topology(given, DEFAULTS, settings)?;
    let seed = args.seeds.as_ref().and_then(|seeds| seeds.iter().next()).unwrap_or(1);
    let network = network(&source, seed)?;
    let orders = Orders::new(args, &network)?;
    let plan = Plan::whole(&network)
        .map_err(|what| Failure::usage(format!("it cannot run on sockets: {what}")))?;
    let stop = Stop::polled()?;
    let net = Net::build(&super::program()?, &plan, NetOptions { seed, pages: args.pages })?;
    let mut lab = Lab { network: &network, plan: &plan, net, stop, beside: Vec::new() };
    lab.begin(args)?;
    let ended = lab.work(&orders);
    lab.beside.into_iter().for_each(Running::end);
    let reported = lab.net.finish().map_err(Failure::from);
    let reported = reported.and_then(|documents| print_end(args, &network, &plan, &documents));
    ended.and(reported)
}

/// The network of a topology: all of it, with routes to each node.
fn network(source: &Source, seed: u64) -> Result<Network, Failure> {
    let Some(point) = source.file.point(0) else {
        return Err(Failure::usage(format!("{} stands for nothing", source.name)));
    };
    let scenario = source.scenario(&point)?;
    let mut network = scenario.network(seed).map_err(|problems| source.failure(&problems))?;
    let routes = scenario.routes_to_all(&network).map_err(|it| source.failure(&it))?;
    network.routes.extend(routes);
    Ok(network)
}

/// Commands to run on the nodes.
struct Orders {
    beside: Vec<Order>,
    /// One after the other.
    on: Vec<Order>,
}

impl Orders {
    fn new(args: &EmulateArgs, network: &Network) -> Result<Self, Failure> {
        let order = |pair: &[String]| match pair {
            [name, text] => {
                let number = network.nodes.iter().position(|node| node.name == *name);
                let known = || network.nodes.iter().map(|node| node.name.as_str());
                let unknown = || {
                    let near = hint(name, known());
                    let near = match near.is_empty() {
                        true => format!("; {}", listed(known())),
                        false => near,
                    };
                    Failure::usage(format!("no node is called `{name}`{near}"))
                };
                Ok(Order::on(number.ok_or_else(unknown)?, name, text))
            }
            _ => Err(Failure::usage("--on and --beside take a node and a command")),
        };
        let all = |words: &[String]| words.chunks(2).map(order).collect::<Result<Vec<_>, _>>();
        let (beside, mut on) = (all(&args.beside)?, all(&args.on)?);
        if !args.command.is_empty() {
            on.push(Order { node: None, words: args.command.clone() });
        }
        Ok(Self { beside, on })
    }
}

/// A topology that stands. Commands end before their network does.
struct Lab<'a> {
    network: &'a Network,
    plan: &'a Plan,
    stop: Stop,
    beside: Vec<Running>,
    net: Net<'a>,
}

impl Lab<'_> {
    /// Prints the running nodes with their addresses.
    fn begin(&self, args: &EmulateArgs) -> Result<(), Failure> {
        if args.json {
            return output::json_line(&self.document());
        }
        if !args.quiet {
            output::eprint(self.table().trim_end());
        }
        Ok(())
    }

    /// Names of the nodes at the other ends of a node's links.
    fn neighbours(&self, number: usize) -> impl Iterator<Item = &str> {
        let name = |node: usize| self.network.nodes.get(node).map_or("", |node| &node.name);
        self.plan.links_of(number).map(move |(_, _, toward)| name(toward.from))
    }

    fn document(&self) -> Value {
        let node = |number: &usize| {
            let name = self.network.nodes.get(*number).map_or("", |node| &node.name);
            json!({
                "node": name, "face": self.net.door(*number), "page": self.net.page(*number),
                "neighbours": self.neighbours(*number).collect::<Vec<_>>(),
            })
        };
        let nodes: Vec<_> = self.plan.nodes.keys().map(node).collect();
        json!({"event": "standing", "folder": self.net.nodes_folder(), "nodes": nodes})
    }

    fn table(&self) -> String {
        let names = self.network.nodes.iter().map(|node| node.name.chars().count());
        let width = names.max().unwrap_or_default().max(4);
        let mut text = format!("{:<width$}  reached at\n", "node");
        for number in self.plan.nodes.keys() {
            let name = self.network.nodes.get(*number).map_or("", |node| &node.name);
            let neighbours: Vec<_> = self.neighbours(*number).collect();
            let page = self.net.page(*number).map_or_else(String::new, |it| format!("  {it}"));
            let _ = writeln!(
                text,
                "{name:<width$}  {}{page}  beside {}",
                self.net.door(*number),
                if neighbours.is_empty() { "none".to_owned() } else { neighbours.join(", ") }
            );
        }
        text
    }

    /// Runs what is to run; without a command, waits for the signal to stop.
    fn work(&mut self, orders: &Orders) -> Result<(), Failure> {
        let around = Surroundings::of(&self.net)?;
        for order in &orders.beside {
            let running = self.settled(order, &around)?;
            self.beside.push(running);
        }
        for order in &orders.on {
            let door = order.node.as_ref().map(|(node, _)| self.net.door(*node));
            let running = Running::start(order, door.as_deref(), &around)?;
            let ended = self.until(|| running.ended());
            // Later commands may need the processes that this command has left running.
            self.beside.push(running);
            ended?;
        }
        if orders.on.is_empty() {
            // Only the signal ends it, and that is how it should end.
            return self.until(|| Ok(false)).or_else(|failure| match self.stop.wanted() {
                Some(_) => Ok(()),
                None => Err(failure),
            });
        }
        self.beside.iter().try_for_each(|running| running.ended().map(|_| ()))
    }

    fn settled(&self, order: &Order, around: &Surroundings) -> Result<Running, Failure> {
        let door = order.node.as_ref().map(|(node, _)| self.net.door(*node)).unwrap_or_default();
        let before = prefixes(&door);
        let running = Running::start(order, Some(&door), around)?;
        running.settle(&door, before, &|| self.stop.wanted().is_some())?;
        Ok(running)
    }

    /// Waits until something is over.
    ///
    /// # Errors
    /// If it fails, a part of the network is gone, or a signal wants to stop us.
    fn until(&mut self, over: impl Fn() -> Result<bool, Failure>) -> Result<(), Failure> {
        while !over()? {
            self.net.check()?;
            if let Some(stop) = self.stop.wanted() {
                return Err(stop);
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Final documents of links, and of nodes by number.
type Documents = (Vec<Value>, BTreeMap<usize, Value>);

/// Prints the packets carried, lost and retransmitted by the network.
fn print_end(
    args: &EmulateArgs,
    network: &Network,
    plan: &Plan,
    (links, nodes): &Documents,
) -> Result<(), Failure> {
    if args.json {
        let links =
            plan.links.iter().zip(links).map(|(link, documents)| (link.name.clone(), documents));
        let nodes = nodes.iter().filter_map(|(number, documents)| {
            Some((network.nodes.get(*number)?.name.clone(), documents))
        });
        let links: serde_json::Map<_, _> = links.map(|(name, it)| (name, it.clone())).collect();
        let nodes: serde_json::Map<_, _> = nodes.map(|(name, it)| (name, it.clone())).collect();
        return output::json_line(&json!({"event": "stopped", "links": links, "nodes": nodes}));
    }
    if !args.quiet {
        output::eprint(&summary(links, nodes));
    }
    Ok(())
}

fn summary(links: &[Value], nodes: &BTreeMap<usize, Value>) -> String {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let ways = || links.iter().flat_map(|link| [&link["forth"], &link["back"]]);
    let entered: u64 = ways().map(|way| number(&way["entered"])).sum();
    let losses = ways().filter_map(|way| way["lost"].as_object());
    let lost: u64 = losses.flat_map(|lost| lost.values().map(number)).sum();
    let resent: u64 = nodes.values().map(|node| number(&node["recovery"]["resent"])).sum();
    format!("links were given {entered} frames and lost {lost}; nodes sent {resent} again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_adds_up_links_and_nodes() {
        let way = |entered: u64, lost: u64| json!({"entered": entered, "lost": {"model": lost, "channel-full": 1}});
        let links = [json!({"forth": way(10, 2), "back": way(5, 0)})];
        let nodes =
            BTreeMap::from([(0, json!({"recovery": {"resent": 3}})), (1, json!({"frames_in": 7}))]);
        let text = summary(&links, &nodes);
        assert_eq!(text, "links were given 15 frames and lost 4; nodes sent 3 again");
    }
}
