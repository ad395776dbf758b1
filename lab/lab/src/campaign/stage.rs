//! A point of a campaign, and its scenario.
use crate::digest;
use crate::scenario::{Point, Scenario};
use crate::source::Source;
use crate::{Error, ErrorKind};
use std::sync::Arc;

/// A point of a campaign. Its scenario is made for each run, since those of a long sweep take much memory.
#[derive(Debug)]
pub struct Stage {
    /// The values of the sweep.
    pub point: Point,
    /// Digest of the scenario, by which its runs are known.
    pub key: String,
    /// Algorithms in its scenario that the process has registered.
    pub registered: Vec<&'static str>,
    pub(super) source: Arc<Source>,
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
        Ok(Self::new(Arc::new(source.clone()), point, &scenario))
    }

    pub(super) fn new(source: Arc<Source>, point: Point, scenario: &Scenario) -> Self {
        let key = digest::of_text(&scenario.identity());
        let registered = scenario.registered().into_iter().map(|(name, _)| name).collect();
        Self { point, key, registered, source }
    }

    /// The scenario.
    ///
    /// # Errors
    /// If it is another one now, because a file or a registered algorithm that it names has changed.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let scenario = self.source.scenario(&self.point)?;
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
