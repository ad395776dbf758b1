//! Events, one after the other.
use super::site::Site;
use super::trouble::{Trouble, Troubles};
use crate::file::Content;
use crate::file::event::{EventRule, What};
use crate::file::link::LinkLayer;
use recoup_channel::layer::ChannelLayer;
use recoup_config::problem::Problems;
use recoup_sim::network::{Direction, Fault, LinkId, LinkOptions};
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// More faults than that are a mistake.
const MOST: usize = 1_000_000;

/// All faults in the order of their times.
pub(super) fn faults(
    content: &Content,
    site: &Site<'_>,
    problems: &mut Problems,
) -> Vec<(Instant, Fault)> {
    let mut troubles = Troubles::default();
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
                        troubles.add(Trouble::Outage(link, *way), periods(rule));
                    }
                }
            }
            What::Fail => {
                let key = format!("event.{number}.fail");
                for thing in site.things_of(&rule.targets, &key, problems) {
                    troubles.add(Trouble::Failure(thing), periods(rule));
                }
            }
            What::Repair => {
                let key = format!("event.{number}.repair");
                for thing in site.things_of(&rule.targets, &key, problems) {
                    troubles.repair(Trouble::Failure(thing), periods(rule));
                }
            }
        }
        if troubles.count + changes.len() > MOST {
            let what = format!("there are more than {MOST} faults");
            problems.add(rule.origin, format!("event.{number}"), what);
            return Vec::new();
        }
    }
    let mut faults = troubles.faults();
    changed(site, changes, &mut faults);
    faults.sort_by_key(|(at, _)| *at);
    faults
}

/// When an event begins, and when it is over, if ever.
type Period = (Instant, Option<Instant>);

/// A change of a link for a time.
type Change<'a> = (LinkId, Period, &'a LinkLayer);

fn periods(rule: &EventRule) -> impl Iterator<Item = Period> {
    let (lasting, every) = (rule.lasting, rule.every.unwrap_or_default());
    (0..rule.times).scan(rule.at, move |at, _| {
        let begin = *at;
        *at += every;
        Some((begin, lasting.map(|lasting| begin + lasting)))
    })
}

/// Channel of a link at each time of a change: its initial channel with the changes in force, in the order of their
/// begin.
fn changed(site: &Site<'_>, mut changes: Vec<Change<'_>>, faults: &mut Vec<(Instant, Fault)>) {
    changes.sort_by_key(|(link, (begin, _), _)| (*link, *begin));
    for mine in changes.chunk_by(|(one, ..), (other, ..)| one == other) {
        let Some((link, ..)) = mine.first() else { continue };
        let Some(initial) = site.links.get(link.0 as usize) else { continue };
        let mut turns: Vec<_> = (0..).zip(mine).flat_map(turns).collect();
        turns.sort();
        let mut forth = Altered::new(&initial.forth);
        let mut back = Altered::new(&initial.back);
        for turns in turns.chunk_by(|(one, ..), (other, ..)| one == other) {
            let (before, before_back) = (forth.now.clone(), back.now.clone());
            for (_, number, begins) in turns {
                forth.turn(*number, *begins, &mine[*number].2.channels.forth);
                back.turn(*number, *begins, &mine[*number].2.channels.back);
            }
            let at = turns[0].0;
            let mut push = |way, old: &LinkOptions, new: &LinkOptions| {
                if old != new {
                    faults.push((at, Fault::Change(*link, way, Box::new(new.clone()))));
                }
            };
            push(Direction::Forth, &before, &forth.now);
            push(Direction::Back, &before_back, &back.now);
        }
    }
}

/// When a change of that number begins (`true`), and when it is over.
fn turns((number, (_, (begin, end), _)): (usize, &Change<'_>)) -> Vec<(Instant, usize, bool)> {
    match end {
        Some(end) if end <= begin => Vec::new(),
        Some(end) => vec![(*begin, number, true), (*end, number, false)],
        None => vec![(*begin, number, true)],
    }
}

/// One direction of a link, with the changes in force by the options that they give.
struct Altered<'a> {
    initial: &'a LinkOptions,
    now: LinkOptions,
    in_force: BTreeMap<usize, BTreeMap<usize, &'a LinkOptions>>,
}

impl<'a> Altered<'a> {
    fn new(initial: &'a LinkOptions) -> Self {
        Self { initial, now: initial.clone(), in_force: BTreeMap::new() }
    }

    /// The change of that number begins, or is over: of each option the change that began last decides.
    fn turn(&mut self, number: usize, begins: bool, layer: &'a ChannelLayer) {
        for option in &layer.options {
            let given = self.in_force.entry(*option).or_default();
            if begins {
                given.insert(number, &layer.values);
            } else {
                given.remove(&number);
            }
            let decides = given.last_key_value().map_or(self.initial, |(_, values)| values);
            self.now.copy(*option, decides);
        }
    }
}
