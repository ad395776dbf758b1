//! Applications, one for each place where they stand.
use super::site::Site;
use crate::file::Content;
use crate::file::application::{ApplicationRule, Job};
use crate::pattern;
use recoup_config::form::Located;
use recoup_config::problem::Problems;
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, Direction, LinkId, LinkPlan, NodeId,
};
use recoup_sim::workload::{self, Tables};
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;
use std::collections::BTreeSet;

/// More applications than that are a mistake.
const MOST: usize = 1_000_000;

/// All applications, in the order of the file.
pub(super) fn applications(
    content: &Content,
    site: &Site<'_>,
    rng: &Rng,
    problems: &mut Problems,
) -> Vec<ApplicationPlan> {
    let mut plans = Vec::new();
    for rule in &content.applications {
        let draft = Draft { rule, site, rng };
        let before = plans.len();
        match rule.job {
            Job::Background(..) => draft.on_links(&mut plans, problems),
            _ => draft.on_nodes(&mut plans, problems),
        }
        if plans.len() > MOST {
            let key = format!("applications.{}", rule.name);
            problems.add(rule.origin, key, format!("there are more than {MOST} applications"));
            plans.truncate(before);
        }
    }
    unique(content, &plans, problems);
    plans
}

fn unique(content: &Content, plans: &[ApplicationPlan], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for plan in plans.iter().filter(|plan| !seen.insert(&plan.name)) {
        if problems.are_enough() {
            return;
        }
        let rule = content.applications.iter().find(|rule| rule.name == plan.name);
        let origin = rule.map_or_else(Default::default, |rule| rule.origin);
        let what = "is also the name of one of several applications; give one another name";
        problems.add(origin, format!("applications.{}", plan.name), what);
    }
}

/// An application that is being placed.
struct Draft<'a> {
    rule: &'a ApplicationRule,
    site: &'a Site<'a>,
    rng: &'a Rng,
}

impl Draft<'_> {
    fn on_nodes(&self, plans: &mut Vec<ApplicationPlan>, problems: &mut Problems) {
        let nodes = self.site.nodes_of(&self.rule.at, &self.key("node"), problems);
        let several = several(&self.rule.at, nodes.len());
        for (k, node) in (1..).zip(nodes) {
            let name = self.name(k, several);
            match self.job(k, node, &name) {
                Ok(kind) => {
                    // All of them have the same parameters.
                    if k == 1
                        && let Err(what) =
                            workload::make(&kind, &Rng::from_seed(0), &mut Tables::default())
                    {
                        let key = format!("applications.{}", self.rule.name);
                        problems.add(self.rule.origin, key, what);
                    }
                    plans.push(self.plan(k, name, node, kind));
                }
                Err((key, what)) => problems.add(self.rule.origin, self.key(key), what),
            }
        }
    }

    fn on_links(&self, plans: &mut Vec<ApplicationPlan>, problems: &mut Problems) {
        let links = self.site.links_of(&self.rule.at, &self.key("link"), problems);
        let ways = self.rule.direction.value.directions();
        let several = several(&self.rule.at, links.len()) || ways.len() > 1;
        let channels = links.iter().flat_map(|link| ways.iter().map(move |way| (*link, *way)));
        for (k, (link, way)) in (1..).zip(channels) {
            let Some(plan) = self.site.links.get(link.0 as usize) else { continue };
            let node = if way == Direction::Forth { plan.ends.0 } else { plan.ends.1 };
            match self.traffic(link, way, plan) {
                Ok(Some(kind)) => plans.push(self.plan(k, self.name(k, several), node, kind)),
                Ok(None) => {}
                Err(what) => problems.add(self.rule.origin, self.key("arrival"), what),
            }
        }
    }

    fn key(&self, key: &str) -> String {
        format!("applications.{}.{key}", recoup_config::print::key(&self.rule.name))
    }

    fn name(&self, k: u64, several: bool) -> String {
        if several { format!("{}{k}", self.rule.name) } else { self.rule.name.clone() }
    }

    fn plan(&self, k: u64, name: String, node: NodeId, kind: ApplicationKind) -> ApplicationPlan {
        let stagger = self.rule.stagger.saturating_mul(u32::try_from(k - 1).unwrap_or(u32::MAX));
        let start = self.rule.start + stagger + self.late(&name);
        ApplicationPlan { name, node, start, stop: self.rule.stop, kind }
    }

    /// A random part of the spread, from a stream of the application's own.
    fn late(&self, name: &str) -> Duration {
        let spread = u64::try_from(self.rule.spread.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.rng.substream(&format!("start/{name}")).below(spread))
    }

    fn job(
        &self,
        k: u64,
        node: NodeId,
        name: &str,
    ) -> Result<ApplicationKind, (&'static str, String)> {
        let node = self.site.nodes.get(node.0 as usize).map_or("", |plan| &plan.name);
        let read = |key, template: &str| {
            let text = pattern::fill(template, k, node, name);
            pattern::name(&text).map_err(|what| (key, what))
        };
        Ok(match &self.rule.job {
            Job::Fetch(plan, object) => {
                let mut plan = plan.clone();
                plan.object = read("object", object)?;
                ApplicationKind::Fetch(plan)
            }
            Job::Serve(plan, prefix) => {
                let mut plan = plan.clone();
                plan.prefix = read("prefix", prefix)?;
                ApplicationKind::Serve(plan)
            }
            Job::Produce(plan, prefix) => {
                let mut plan = plan.clone();
                plan.prefix = read("prefix", prefix)?;
                ApplicationKind::Produce(plan)
            }
            Job::Request(plan, prefixes) => {
                let mut plan = plan.clone();
                plan.prefixes = self.catalogue(prefixes, read)?;
                ApplicationKind::Request(plan)
            }
            Job::Background(plan, _) => ApplicationKind::Background(plan.clone()),
        })
    }

    fn catalogue(
        &self,
        templates: &[String],
        read: impl Fn(&'static str, &str) -> Result<Name, (&'static str, String)>,
    ) -> Result<Vec<Name>, (&'static str, String)> {
        let mut names = Vec::new();
        for template in templates {
            for one in pattern::braces(template).map_err(|what| ("prefix", what))? {
                names.push(read("prefix", &one)?);
            }
        }
        Ok(names)
    }

    /// Background traffic on one channel; a share of its rate becomes frames per second.
    fn traffic(
        &self,
        link: LinkId,
        direction: Direction,
        plan: &LinkPlan,
    ) -> Result<Option<ApplicationKind>, String> {
        let Job::Background(traffic, load) = &self.rule.job else {
            return Ok(None);
        };
        let mut traffic = traffic.clone();
        (traffic.link, traffic.direction) = (link, direction);
        if let Some(load) = load {
            let channel = if direction == Direction::Forth { &plan.forth } else { &plan.back };
            if channel.rate_bits == 0 {
                return Err(format!("{} has no rate to take a share of", plan.name));
            }
            let bytes = f64::from(traffic.frame_bytes) + f64::from(channel.overhead_bytes);
            let rate = load * channel.rate_bits as f64 / (8.0 * bytes);
            traffic.arrival = match traffic.arrival {
                Arrival::Poisson(_) => Arrival::Poisson(rate),
                Arrival::OnOff { on, off, .. } => Arrival::OnOff { rate, on, off },
                _ => Arrival::Constant(rate),
            };
        }
        let silent = match &traffic.arrival {
            Arrival::Constant(rate) | Arrival::Poisson(rate) => *rate <= 0.0,
            Arrival::OnOff { rate, .. } => *rate <= 0.0,
            Arrival::Batches(batches) => batches.is_empty(),
            Arrival::Window(_) => true,
        };
        Ok((!silent).then_some(ApplicationKind::Background(traffic)))
    }
}

/// An application at one named node keeps its name; one that may run at several nodes gets a number.
fn several(at: &[Located<String>], found: usize) -> bool {
    found > 1 || at.len() > 1 || at.iter().any(|one| pattern::is_pattern(&one.value))
}
