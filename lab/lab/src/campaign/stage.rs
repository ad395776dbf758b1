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
    /// Number in the sweep, digest, and place in `registered` of each.
    all: Vec<(u32, u32, u64)>,
    registered: Vec<Arc<[&'static str]>>,
}

impl Stages {
    /// No points, with memory for so many.
    pub(super) fn new(source: &Arc<Source>, points: usize) -> Self {
        let (source, shared) = (Arc::clone(source), Arc::default());
        Self { source, shared, all: Vec::with_capacity(points), registered: Vec::new() }
    }

    /// Adds the point with that number of the sweep.
    pub(super) fn push(&mut self, number: usize, scenario: Scenario) {
        let key = digest::of_text(&scenario.identity());
        let names: Arc<[_]> = scenario.registered().into_iter().map(|(name, _)| name).collect();
        let known = self.registered.iter().position(|known| *known == names);
        let registered = known.unwrap_or_else(|| {
            self.registered.push(names);
            self.registered.len() - 1
        });
        self.all.push((number as u32, registered as u32, point_number(&key)));
        self.shared.add(&key, Arc::new(scenario));
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The point at that place.
    pub fn get(&self, place: usize) -> Option<Stage> {
        let (number, registered, key) = *self.all.get(place)?;
        Some(Stage {
            point: self.source.file.point(number as usize)?,
            key: format!("{key:016x}"),
            registered: Arc::clone(self.registered.get(registered as usize)?),
            source: Arc::clone(&self.source),
            shared: Arc::clone(&self.shared),
        })
    }

    /// All points, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Stage> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Keeps the points for which `keeps` holds.
    pub fn retain(&mut self, keeps: impl Fn(&Stage) -> bool) {
        let kept: Vec<_> = self.iter().map(|stage| keeps(&stage)).collect();
        let mut kept = kept.into_iter();
        self.all.retain(|_| kept.next().unwrap_or_default());
    }

    /// Digest of the point at that place, as a number.
    pub(super) fn key(&self, place: usize) -> Option<u64> {
        self.all.get(place).map(|(.., key)| *key)
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
