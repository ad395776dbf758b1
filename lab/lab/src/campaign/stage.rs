//! A point of a campaign, and its scenario.
use crate::digest;
use crate::scenario::{Point, Scenario};
use crate::source::Source;
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A point of a campaign. Its scenario is made for each run, unless it is one of the first points: the scenarios of a
/// long sweep take much memory.
#[derive(Debug)]
pub struct Stage {
    /// The values of the sweep.
    pub point: Point,
    /// Digest of the scenario, by which its runs are known.
    pub key: String,
    /// Algorithms in its scenario that the process has registered.
    pub registered: Vec<&'static str>,
    pub(super) source: Arc<Source>,
    shared: Arc<Shared>,
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
        let point = source.file.point(number);
        let point = point.ok_or_else(|| Error::usage(format!("there is no point {number}")))?;
        let scenario = source.scenario(&point)?;
        Ok(Self::new(&Arc::new(source.clone()), &Arc::default(), point, scenario))
    }

    pub(super) fn new(
        source: &Arc<Source>,
        shared: &Arc<Shared>,
        point: Point,
        scenario: Scenario,
    ) -> Self {
        let (source, shared) = (Arc::clone(source), Arc::clone(shared));
        let key = digest::of_text(&scenario.identity());
        let registered = scenario.registered().into_iter().map(|(name, _)| name).collect();
        shared.add(&key, Arc::new(scenario));
        Self { point, key, registered, source, shared }
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
