//! The configuration files of forwarders and links. Pure: text only.
use super::plan::{LinkPart, Plan};
use recoup_config::document;
use recoup_config::print::{self, quoted};
use recoup_sim::network::LinkOptions;
use recoup_transport::link::Recovery;
use recoup_transport::queue::Scheduler;
use serde::Serialize;
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
    let mut text = format!("[node]\n{}", keys(&part.plan.options));
    for uri in listen {
        let _ = write!(text, "\n[[listen]]\nuri = {}\n", quoted(uri));
    }
    for (place, away, toward) in plan.links_of(number) {
        let Some(end) = ends.iter().find(|end| end.link == place) else { continue };
        let (uri, local) = (quoted(&end.uri), end.local);
        let _ = write!(
            text,
            "\n[[face]]\nname = \"link-{place}\"\nuri = {uri}\nlocal = \"{local}\"\nrecovery = {}\n",
            quoted(away.channel.recovery.text())
        );
        text += &match away.scheduler.0 {
            None => "scheduler = \"none\"\n".to_owned(),
            Some(_) => shared(away.scheduler.text(), &away.channel, &toward.channel),
        };
    }
    for route in &part.routes {
        let prefix = quoted(&route.prefix.to_string());
        let (link, cost) = (route.link, route.cost);
        let _ =
            write!(text, "\n[[route]]\nprefix = {prefix}\nface = \"link-{link}\"\ncost = {cost}\n");
    }
    for (prefix, strategy) in &part.strategies {
        let (prefix, strategy) = (quoted(&prefix.to_string()), quoted(strategy.text()));
        let _ = write!(text, "\n[[strategy]]\nprefix = {prefix}\nstrategy = {strategy}\n");
    }
    text
}

/// How a link is shared, of which these two are the ways.
fn shared(scheduler: &str, away: &LinkOptions, toward: &LinkOptions) -> String {
    let (rate, rate_in) = (rate(away), rate(toward));
    let (scheduler, overhead) = (quoted(scheduler), away.overhead_bytes);
    format!(
        "scheduler = {scheduler}\nrate = {rate}\nrate-in = {rate_in}\noverhead = \"{overhead} B\"\n"
    )
}

fn rate(plan: &LinkOptions) -> String {
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

fn channel(plan: &LinkOptions) -> String {
    // Of the node are marking, recovery and the scheduler.
    let of_link = LinkOptions {
        recovery: Recovery::Off.into(),
        scheduler: Scheduler::default().into(),
        ..plan.clone()
    };
    keys(&of_link)
}

/// The fields of a struct with `serde` as lines of a table.
fn keys<T: Serialize>(of: &T) -> String {
    let mut text = String::new();
    for (key, value) in document::fields(of).unwrap_or_default() {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {}", print::inline(&value));
        }
    }
    text
}
