//! Records as a scenario specifies them.
use super::bins::{Bins, Count};
use super::period::Spacing;
use super::place::Places;
use super::{
    Fill, Filled, Recorder, cache, drop, flow, handoff, queue, rate, recovery, residual, segment,
    timeout,
};
use crate::network::Network;
use crate::oracle::Oracle;
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::Duration;
use std::fmt;
use std::sync::Arc;

/// Default limit of the rows of a table.
const ROWS: f64 = 1e6;

/// A record with its parameters; the module above lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlan {
    kind: Kind,
    rows: usize,
    interval: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Segments,
    Window,
    Rto,
    Events,
    Recoveries,
    Timeouts,
    Queue,
    Pit,
    Goodput,
    Links,
    Caches,
    Drops,
    Residual,
    Handoffs,
}

/// Every record by its name.
const FAMILY: &[(&str, Reader<RecordPlan>)] = &[
    ("segments", |spec| RecordPlan::read(spec, Kind::Segments)),
    ("window", |spec| RecordPlan::read(spec, Kind::Window)),
    ("rto", |spec| RecordPlan::read(spec, Kind::Rto)),
    ("events", |spec| RecordPlan::read(spec, Kind::Events)),
    ("recoveries", |spec| RecordPlan::read(spec, Kind::Recoveries)),
    ("timeouts", |spec| RecordPlan::read(spec, Kind::Timeouts)),
    ("queue", |spec| RecordPlan::read(spec, Kind::Queue)),
    ("pit", |spec| RecordPlan::read(spec, Kind::Pit)),
    ("goodput", |spec| RecordPlan::read(spec, Kind::Goodput)),
    ("links", |spec| RecordPlan::read(spec, Kind::Links)),
    ("caches", |spec| RecordPlan::read(spec, Kind::Caches)),
    ("drops", |spec| RecordPlan::read(spec, Kind::Drops)),
    ("residual", |spec| RecordPlan::read(spec, Kind::Residual)),
    ("handoffs", |spec| RecordPlan::read(spec, Kind::Handoffs)),
];

impl RecordPlan {
    /// Reads a record as it is written, for example `queue(every=1ms)`.
    ///
    /// # Errors
    /// If the text cannot be read; the error names the offending part and the remedy.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "record", FAMILY)
    }

    /// The names of all records.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FAMILY.iter().map(|(name, _)| *name)
    }

    /// The name of this one.
    pub fn name(&self) -> &'static str {
        FAMILY.get(self.kind as usize).map_or("", |(name, _)| name)
    }

    /// Whether the record needs a simulation that follows first transmissions
    /// ([`Network::follow_transmissions`]).
    pub fn needs_following(&self) -> bool {
        self.kind == Kind::Timeouts
    }

    /// The recorder for a simulation of `network`, whose places these are.
    pub fn recorder(&self, network: &Network, places: &Arc<Places>) -> Box<dyn Recorder> {
        let interval = self.interval;
        match self.kind {
            Kind::Segments => self.filled(places, segment::Segments::default()),
            Kind::Window => self.filled(places, flow::Windows(self.spacing(places))),
            Kind::Rto => self.filled(places, flow::Rtos(self.spacing(places))),
            Kind::Events => self.filled(places, flow::Events),
            Kind::Recoveries => self.filled(places, recovery::Recoveries::new(places)),
            Kind::Timeouts => self.filled(places, timeout::Timeouts(Oracle::new(network))),
            Kind::Queue => self.filled(places, queue::Lengths::new(places, interval)),
            Kind::Pit => self.filled(places, queue::Pending::new(places, interval)),
            Kind::Goodput => Box::new(rate::Goodput::new(Arc::clone(places), self.rows, interval)),
            Kind::Links => self.binned(places, rate::Links::new(places)),
            Kind::Caches => self.binned(places, cache::Caches::default()),
            Kind::Drops => self.binned(places, drop::Drops::default()),
            Kind::Residual => self.binned(places, residual::Residual::new(places)),
            Kind::Handoffs => self.filled(places, handoff::Handoffs::new(places)),
        }
    }

    fn filled(&self, places: &Arc<Places>, fill: impl Fill + 'static) -> Box<dyn Recorder> {
        Box::new(Filled::new(self.name(), self.rows, Arc::clone(places), fill))
    }

    fn binned(&self, places: &Arc<Places>, counts: impl Count + 'static) -> Box<dyn Recorder> {
        self.filled(places, Bins::new(self.interval, counts))
    }

    /// A distance of points for each application.
    fn spacing(&self, places: &Places) -> Spacing {
        Spacing::new(self.interval, places.applications())
    }

    fn read(mut spec: Spec<'_>, kind: Kind) -> Result<Self, SpecError> {
        let rows = spec.number("rows", ROWS, 2.0..=1e12, "a number of rows from 2")? as usize;
        let interval = match kind.interval() {
            Some(("every", default)) => spec.duration("every", default, Duration::ZERO)?,
            Some((key, default)) => spec.duration(key, default, Duration::from_nanos(1))?,
            None => Duration::ZERO,
        };
        spec.finish()?;
        Ok(Self { kind, rows, interval })
    }
}

impl Kind {
    /// Name and default of its interval.
    fn interval(self) -> Option<(&'static str, Duration)> {
        let ms = Duration::from_millis;
        match self {
            Self::Segments | Self::Events | Self::Recoveries | Self::Timeouts | Self::Handoffs => {
                None
            }
            Self::Window | Self::Rto => Some(("every", Duration::ZERO)),
            Self::Queue | Self::Pit => Some(("every", ms(10))),
            Self::Goodput | Self::Links | Self::Caches | Self::Drops | Self::Residual => {
                Some(("bin", ms(1000)))
            }
        }
    }
}

impl fmt::Display for RecordPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = SpecWriter::new(f, self.name());
        let writer = match self.kind.interval() {
            Some((key, _)) => writer.duration(key, self.interval),
            None => writer,
        };
        writer.value("rows", self.rows).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_read_back_as_it_prints() {
        for name in RecordPlan::names() {
            let plan = RecordPlan::parse(name).unwrap();
            assert_eq!(plan.name(), name);
            assert_eq!(RecordPlan::parse(&plan.to_string()), Ok(plan), "{plan}");
        }
        let plan = RecordPlan::parse("queue(every=1ms,rows=500)").unwrap();
        assert_eq!((plan.interval, plan.rows), (Duration::from_millis(1), 500));
    }

    #[test]
    fn wrong_record_is_named_with_the_right_form() {
        let error = RecordPlan::parse("queues").unwrap_err().to_string();
        assert!(error.contains("no record is called `queues` (did you mean `queue`?)"), "{error}");
        let error = RecordPlan::parse("goodput(bin=0s)").unwrap_err().to_string();
        assert!(error.contains("bin=0s"), "{error}");
        assert!(RecordPlan::parse("segments(every=1s)").is_err());
    }
}
