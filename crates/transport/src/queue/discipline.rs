//! Schedulers by their names.
use super::{
    Capacity, Drr, DrrSettings, FairScheduler, Fifo, FifoSettings, Load, MaxMin, MaxMinSettings,
    QueueLimit,
};
use crate::spec::{self, Reader, SpecError};
use std::fmt;
use std::str::FromStr;

/// A scheduler with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// `fifo`: first come, first served.
    Fifo(FifoSettings),
    /// `max-min`: shares by pacing.
    MaxMin(MaxMinSettings),
    /// `drr`: shares by turns.
    Drr(DrrSettings),
}

/// A scheduler and the link that it schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduling {
    /// The scheduler.
    pub discipline: Discipline,
    /// Capacity of the link.
    pub capacity: Capacity,
}

/// Every scheduler by its name.
const FAMILY: &[(&str, Reader<Discipline>)] = &[
    ("fifo", |spec| spec.read(FifoSettings { packets: 1000 }).map(Discipline::Fifo)),
    ("max-min", |spec| spec.read(MaxMinSettings::default()).map(Discipline::MaxMin)),
    ("drr", |spec| spec.read(DrrSettings::default()).map(Discipline::Drr)),
];

impl Discipline {
    /// The names of all schedulers.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FAMILY.iter().map(|(name, _)| *name)
    }

    /// Builds an empty scheduler for a link of that capacity.
    #[must_use]
    pub fn build<T: Load + fmt::Debug + 'static>(
        &self,
        capacity: Capacity,
    ) -> Box<dyn FairScheduler<T>> {
        match *self {
            Self::Fifo(settings) => {
                let limit = QueueLimit { packets: Some(settings.packets), bytes: None };
                Box::new(Fifo::new(limit))
            }
            Self::MaxMin(settings) => Box::new(MaxMin::new(settings, capacity)),
            Self::Drr(settings) => Box::new(Drr::new(settings, capacity)),
        }
    }

    /// Whether it uses the rate of the link.
    #[must_use]
    pub const fn wants_rate(&self) -> bool {
        !matches!(self, Self::Fifo(_))
    }
}

/// A scheduler, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scheduler(pub Option<Discipline>);

impl FromStr for Scheduler {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text.trim() {
            "none" => Ok(Self(None)),
            text => text.parse().map(|discipline| Self(Some(discipline))),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(discipline) => discipline.fmt(f),
            None => f.pad("none"),
        }
    }
}

impl FromStr for Discipline {
    type Err = SpecError;

    /// Parses a scheduler, for example `drr(quantum=1500)`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "scheduler", FAMILY)
    }
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo(settings) => settings.fmt(f),
            Self::MaxMin(settings) => settings.fmt(f),
            Self::Drr(settings) => settings.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_schedulers_parse_to_themselves() {
        for name in Discipline::names() {
            let discipline: Discipline = name.parse().unwrap();
            assert_eq!(discipline.to_string().parse(), Ok(discipline));
            assert!(discipline.to_string().starts_with(&format!("{name}(")));
        }
        for text in [
            "max-min(share=flow,duplex=half,gain=1,active=2s,flows=7,flow-queue=5,packets=9)",
            "drr(share=flow,quantum=9000,flows=16,answer=8000,bytes=77)",
            "fifo(packets=3)",
        ] {
            let discipline: Discipline = text.parse().unwrap();
            assert_eq!(discipline.to_string().parse(), Ok(discipline), "{text}");
        }
    }
}
