//! Events, one after the other.
use super::site::{Site, Thing};
use crate::file::Content;
use crate::file::event::{EventRule, What};
use crate::file::link::read_link;
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::Table;
use recoup_sim::network::{Direction, Fault, LinkId, LinkOptions, LinkPlan};
use recoup_transport::time::Instant;

/// More faults than that are a mistake.
const MOST: usize = 1_000_000;

/// All faults in the order of their times.
pub(super) fn faults(
    content: &Content,
    site: &Site<'_>,
    problems: &mut Problems,
) -> Vec<(Instant, Fault)> {
    let mut faults = Vec::new();
    let mut changes = Vec::new();
    for (number, rule) in (1..).zip(&content.events) {
        match &rule.what {
            What::Change(change) => {
                let key = format!("event.{number}.change");
                for link in site.links_of(&rule.targets, &key, problems) {
                    periods(rule).for_each(|period| changes.push((link, period, change)));
                }
            }
            What::Outage(way) => {
                let key = format!("event.{number}.outage");
                for link in site.links_of(&rule.targets, &key, problems) {
                    for way in way.directions() {
                        outages(rule, link, *way, &mut faults);
                    }
                }
            }
            What::Fail | What::Repair => {
                let verb = if rule.what == What::Fail { "fail" } else { "repair" };
                let key = format!("event.{number}.{verb}");
                for thing in site.things_of(&rule.targets, &key, problems) {
                    failures(rule, thing, &mut faults);
                }
            }
        }
        if faults.len() + changes.len() > MOST {
            let what = format!("there are more than {MOST} faults");
            problems.add(rule.origin, format!("event.{number}"), what);
            return Vec::new();
        }
    }
    changed(site, &changes, &mut faults);
    faults.sort_by_key(|(at, _)| *at);
    faults
}

/// When an event begins, and when it is over, if ever.
type Period = (Instant, Option<Instant>);

fn periods(rule: &EventRule) -> impl Iterator<Item = Period> {
    let (lasting, every) = (rule.lasting, rule.every.unwrap_or_default());
    (0..rule.times).scan(rule.at, move |at, _| {
        let begin = *at;
        *at += every;
        Some((begin, lasting.map(|lasting| begin + lasting)))
    })
}

fn outages(rule: &EventRule, link: LinkId, way: Direction, faults: &mut Vec<(Instant, Fault)>) {
    for (begin, end) in periods(rule) {
        faults.push((begin, Fault::OutageBegins(link, way)));
        faults.extend(end.map(|end| (end, Fault::OutageEnds(link, way))));
    }
}

fn failures(rule: &EventRule, thing: Thing, faults: &mut Vec<(Instant, Fault)>) {
    let (down, up) = match thing {
        Thing::Link(link) => (Fault::LinkDown(link), Fault::LinkUp(link)),
        Thing::Node(node) => (Fault::NodeDown(node), Fault::NodeUp(node)),
    };
    for (begin, end) in periods(rule) {
        match rule.what {
            What::Repair => faults.push((begin, up.clone())),
            _ => {
                faults.push((begin, down.clone()));
                faults.extend(end.map(|end| (end, up.clone())));
            }
        }
    }
}

/// Channel of a link at each time of a change: its initial channel with the changes in force, in the order of their
/// begin.
fn changed(
    site: &Site<'_>,
    changes: &[(LinkId, Period, &Table)],
    faults: &mut Vec<(Instant, Fault)>,
) {
    let mut links: Vec<_> = changes.iter().map(|(link, ..)| *link).collect();
    links.sort();
    links.dedup();
    for link in links {
        let Some(begun) = site.links.get(link.0 as usize) else { continue };
        let mut mine: Vec<_> = changes.iter().filter(|(other, ..)| *other == link).collect();
        mine.sort_by_key(|(_, (begin, _), _)| *begin);
        let mut times: Vec<_> =
            mine.iter().flat_map(|(_, (begin, end), _)| [Some(*begin), *end]).flatten().collect();
        times.sort();
        times.dedup();
        let mut before = begun.clone();
        for at in times {
            let in_force = mine
                .iter()
                .filter(|(_, (begin, end), _)| *begin <= at && end.is_none_or(|end| at < end));
            let mut after = begun.clone();
            for (_, _, layer) in in_force {
                // It was read before, so that nothing can be wrong with it.
                let mut silent = Problems::default();
                read_link(layer, "", Origin::Unknown, &mut after, &mut silent);
            }
            let mut push = |way, old: &LinkOptions, new: &LinkOptions| {
                if old != new {
                    faults.push((at, Fault::Change(link, way, Box::new(new.clone()))));
                }
            };
            push(Direction::Forth, &before.forth, &after.forth);
            push(Direction::Back, &before.back, &after.back);
            before = LinkPlan { forth: after.forth, back: after.back, ..before };
        }
    }
}
