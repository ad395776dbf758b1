//! A point of a campaign, and its scenario.
use crate::digest;
use crate::journal::point_number;
use crate::scenario::{Point, Scenario};
use crate::source::Source;
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A point of a campaign. Its scenario is made for each run, unless it is one of the first points.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The values of the sweep.
    pub point: Point,
    /// Digest of the scenario, by which its runs are known.
    pub key: String,
    /// Algorithms in its scenario that the process has registered.
    pub registered: Arc<[&'static str]>,
    source: Arc<Source>,
    shared: Arc<Shared>,
}

/// The points of a campaign, made one by one: a sweep may have 100,000, and each point with its values takes as much
/// memory as its run needs.
#[derive(Debug)]
pub struct Stages {
    source: Arc<Source>,
    shared: Arc<Shared>,
    /// Digest of each.
    keys: Vec<u64>,
    stretches: Vec<Stretch>,
}

/// Points with numbers that follow each other in the sweep, up to the next stretch.
#[derive(Debug)]
struct Stretch {
    /// Place and number of the first.
    place: usize,
    number: usize,
    registered: Arc<[&'static str]>,
}

impl Stages {
    /// No points, with memory for so many.
    pub(super) fn new(source: &Arc<Source>, points: usize) -> Self {
        let (source, shared) = (Arc::clone(source), Arc::default());
        Self { source, shared, keys: Vec::with_capacity(points), stretches: Vec::new() }
    }

    /// Adds the point with that number of the sweep.
    pub(super) fn push(&mut self, number: usize, scenario: Scenario) {
        let key = digest::of_text(&scenario.identity());
        let names: Vec<_> = scenario.registered().into_iter().map(|(name, _)| name).collect();
        self.push_known(number, point_number(&key), &names);
        self.shared.add(&key, Arc::new(scenario));
    }

    /// As [`push`](Self::push), of a point whose digest is known.
    pub(super) fn push_known(&mut self, number: usize, key: u64, registered: &[&'static str]) {
        let place = self.keys.len();
        let follows = |it: &Stretch| it.number + (place - it.place) == number;
        let last = self.stretches.last().filter(|it| *it.registered == *registered);
        if !last.is_some_and(follows) {
            self.stretches.push(Stretch { place, number, registered: registered.into() });
        }
        self.keys.push(key);
    }

    /// Whether all points of the sweep are here, each at its place.
    pub(super) fn are_all(&self) -> bool {
        let begins = self.stretches.iter().all(|it| it.place == it.number);
        begins && self.len() == self.source.file.points().len()
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The point at that place.
    pub fn get(&self, place: usize) -> Option<Stage> {
        let (key, stretch) = (*self.keys.get(place)?, self.stretch(place)?);
        Some(Stage {
            point: self.source.file.point(stretch.number + (place - stretch.place))?,
            key: format!("{key:016x}"),
            registered: Arc::clone(&stretch.registered),
            source: Arc::clone(&self.source),
            shared: Arc::clone(&self.shared),
        })
    }

    fn stretch(&self, place: usize) -> Option<&Stretch> {
        let after = self.stretches.partition_point(|it| it.place <= place);
        self.stretches.get(after.checked_sub(1)?)
    }

    /// Algorithms of the point at that place that the process has registered.
    pub(super) fn registered(&self, place: usize) -> Option<&[&'static str]> {
        self.stretch(place).map(|it| &*it.registered)
    }

    /// All points, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Stage> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Keeps the points for which `keeps` holds.
    pub fn retain(&mut self, keeps: impl Fn(&Stage) -> bool) {
        let mut kept = Self::new(&self.source, 0);
        for (stage, key) in self.iter().zip(&self.keys).filter(|(stage, _)| keeps(stage)) {
            kept.push_known(stage.point.number, *key, &stage.registered);
        }
        (self.keys, self.stretches) = (kept.keys, kept.stretches);
    }

    /// Digests of all points, as numbers.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Digest of the point at that place, as a number.
    pub(super) fn key(&self, place: usize) -> Option<u64> {
        self.keys.get(place).copied()
    }
}

/// Scenarios of the first points of a campaign, by their digests.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<BTreeMap<String, Arc<Scenario>>>);

impl Shared {
    /// Most scenarios.
    pub(super) const MOST: usize = 16;
    /// Most bytes of their files, unless the first scenario has more.
    const FILES_BYTES: usize = 16 << 20;

    fn add(&self, key: &str, scenario: Arc<Scenario>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = all.values().map(|it| it.files().len()).sum::<usize>();
        let fits = bytes + scenario.files().len() <= Self::FILES_BYTES && all.len() < Self::MOST;
        if all.is_empty() || fits {
            all.insert(key.to_owned(), scenario);
        }
    }

    fn find(&self, key: &str) -> Option<Arc<Scenario>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

impl Stage {
    /// The point with that number of a scenario's sweep.
    ///
    /// # Errors
    /// If there is no such point, or it is wrong.
    pub fn of(source: &Source, number: usize) -> Result<Self, Error> {
        let missing = || Error::usage(format!("there is no point {number}"));
        let point = source.file.point(number).ok_or_else(missing)?;
        let mut stages = Stages::new(&Arc::new(source.clone()), 1);
        stages.push(number, source.scenario(&point)?);
        stages.get(0).ok_or_else(missing)
    }

    /// The scenario.
    ///
    /// # Errors
    /// If it is another one now, because a file or a registered algorithm that it names has changed.
    pub fn scenario(&self) -> Result<Arc<Scenario>, Error> {
        let scenario = match self.shared.find(&self.key) {
            Some(shared) => shared,
            None => Arc::new(self.source.scenario(&self.point)?),
        };
        match digest::of_text(&scenario.identity()) == self.key {
            true => Ok(scenario),
            false => {
                let name = &self.source.name;
                let message = format!("a file or an algorithm that {name} names has changed");
                Err(Error::new(ErrorKind::Local, message).with_remedy("run the scenario again"))
            }
        }
    }

    /// A run of this point differs from a kept one, though its algorithms have the same versions.
    pub(super) fn other_algorithm(&self, run: &str) -> Error {
        let message = format!("{run}, with `{}` of the same version", self.registered.join("`, `"));
        Error::new(ErrorKind::Local, message).with_remedy(
            "it reads what has changed (a file, the environment), or has random numbers or a clock of its own: \
             begin anew with --fresh, or choose another folder with --out",
        )
    }
}
