//! What a node does about Interests whose face is gone.
//!
//! | text | what |
//! |---|---|
//! | `off` | they are forgotten, as in NFD; the consumer's timer is the way out |
//! | `eln(…)` | whoever asked is told at once, up to the consumer |
//! | `mldr(…)` | they are sent on by another face where there is one; else whoever asked is told, and does the same |
//!
//! Source: Carofiglio et al. 2016, section 3.2; what is done stands in [`pipeline::mobility`](crate::pipeline), what
//! neighbours are told in `docs/mldr.md`.
use crate::face::FaceId;
use crate::hash::NameHasher;
use crate::table::{Pit, PitId, PrefixTable, Tickets};
use recoup_packet::name::Name;
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What is done about Interests whose face is gone; from text and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mobility {
    /// Nothing.
    #[default]
    Off,
    /// Something.
    On(MobilitySettings),
}

/// How Interests whose face is gone are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobilitySettings {
    /// They are sent on by another face where there is one.
    pub reforwards: bool,
    /// So long after the last way to a name was lost an Interest for it is told that, instead of that there is none.
    pub lost: Duration,
    /// In millionths of its lifetime: what an Interest must have left to be sent on.
    pub residual_ppm: u32,
}

impl Default for MobilitySettings {
    fn default() -> Self {
        Self { reforwards: true, lost: Duration::from_secs(2), residual_ppm: 100_000 }
    }
}

const FAMILY: &[(&str, Reader<Mobility>)] = &[
    ("off", |spec| spec.finish().map(|()| Mobility::Off)),
    ("eln", |spec| MobilitySettings::from_spec(spec, false).map(Mobility::On)),
    ("mldr", |spec| MobilitySettings::from_spec(spec, true).map(Mobility::On)),
];

impl MobilitySettings {
    fn from_spec(mut spec: Spec<'_>, reforwards: bool) -> Result<Self, SpecError> {
        let default = Self { reforwards, ..Self::default() };
        let lost = spec.duration("lost", default.lost, Duration::ZERO)?;
        let mut residual_ppm = default.residual_ppm;
        if reforwards {
            let share = f64::from(residual_ppm) / 1e6;
            let share = spec.number("residual", share, 0.0..=1.0, "a number from 0 to 1")?;
            residual_ppm = (share * 1e6).round() as u32;
        }
        spec.finish()?;
        Ok(Self { lost, residual_ppm, ..default })
    }
}

impl Mobility {
    /// Whether nothing is done.
    #[must_use]
    #[inline]
    pub const fn is_off(self) -> bool {
        matches!(self, Self::Off)
    }
}

impl FromStr for Mobility {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "treatment of mobility", FAMILY)
    }
}

impl fmt::Display for Mobility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On(settings) if settings.reforwards => SpecWriter::new(f, "mldr")
                .duration("lost", settings.lost)
                .value("residual", f64::from(settings.residual_ppm) / 1e6)
                .finish(),
            Self::On(settings) => {
                SpecWriter::new(f, "eln").duration("lost", settings.lost).finish()
            }
        }
    }
}

/// Most prefixes whose last way was lost that are remembered.
const MOST_FAREWELLS: usize = 4_096;

/// What a node remembers for faces that come and go.
#[derive(Clone, Debug)]
pub(crate) struct Itinerary {
    /// By face, the entries that have a record of it: no face that goes needs a look at all entries.
    lists: BTreeMap<FaceId, Tickets>,
    /// Entries of local applications that wait for a face.
    stranded: Tickets,
    /// When a prefix lost a way that it had.
    farewells: PrefixTable<Instant>,
    /// When those said long ago were looked for last.
    swept: Instant,
    /// By ticket, what is known of entries since a face of theirs is gone; of some that are gone, too.
    journeys: BTreeMap<u64, Journey>,
    /// So many journeys are kept before it is looked which of their entries are there.
    full_at: usize,
}

/// What is known of an entry since a face by which its Interest left is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journey {
    /// The nonce that the Interest had before nodes gave it others.
    pub(crate) nonce: Option<u32>,
    /// When the Interest left by the first face that is gone.
    pub(crate) first: Option<Instant>,
    /// When it was sent on last.
    pub(crate) again: Option<Instant>,
    /// By which faces it was sent on or came back: it goes round in no circle.
    pub(crate) tried: SmallVec<[FaceId; 2]>,
}

/// So many journeys are kept before it is looked which of them still lead anywhere.
const FEW: usize = 64;

impl Itinerary {
    pub(crate) fn new(hasher: NameHasher) -> Self {
        Self {
            lists: BTreeMap::new(),
            stranded: Tickets::default(),
            farewells: PrefixTable::new(hasher),
            swept: Instant::ZERO,
            journeys: BTreeMap::new(),
            full_at: 0,
        }
    }

    /// What is known of an entry since a face of it is gone.
    #[inline]
    pub(crate) fn journey(&self, id: PitId, pit: &Pit) -> Option<&Journey> {
        if self.journeys.is_empty() { None } else { self.journeys.get(&pit.ticket(id)) }
    }

    /// As [`journey`](Self::journey), to be changed.
    pub(crate) fn journey_mut(&mut self, id: PitId, pit: &Pit) -> &mut Journey {
        if self.journeys.len() >= self.full_at.max(FEW) {
            self.journeys.retain(|ticket, _| pit.by_ticket(*ticket).is_some());
            self.full_at = 2 * self.journeys.len();
        }
        self.journeys.entry(pit.ticket(id)).or_default()
    }

    /// Whoever asked asks again: the round trip of an entry begins anew.
    pub(crate) fn restart_clock(&mut self, id: PitId, pit: &Pit) {
        if let Some(journey) = self.journeys.get_mut(&pit.ticket(id)) {
            (journey.first, journey.again) = (None, None);
        }
    }

    /// An entry has a record of a face from now on.
    pub(crate) fn note(&mut self, face: FaceId, id: PitId, pit: &Pit) {
        let is_there = |ticket| {
            let entry = pit.by_ticket(ticket).map(|id| pit.entry(id));
            entry.is_some_and(|it| it.out_record(face).is_some() || it.in_record(face).is_some())
        };
        self.lists.entry(face).or_default().push(pit.ticket(id), is_there);
    }

    /// The entries that may have a record of a face, each once, which is forgotten.
    pub(crate) fn take(&mut self, face: FaceId, pit: &Pit) -> Vec<PitId> {
        self.lists.remove(&face).unwrap_or_default().into_entries(pit)
    }

    /// An entry waits for a face.
    pub(crate) fn strand(&mut self, id: PitId, pit: &Pit) {
        self.stranded.push(pit.ticket(id), |ticket| pit.by_ticket(ticket).is_some());
    }

    /// The entries that wait for a face, which are forgotten.
    pub(crate) fn take_stranded(&mut self, pit: &Pit) -> Vec<PitId> {
        std::mem::take(&mut self.stranded).into_entries(pit)
    }

    /// A prefix loses a way that it had, which counts for a time `within` from now.
    pub(crate) fn say_farewell(&mut self, now: Instant, prefix: &Name, within: Duration) {
        let is_full = self.farewells.len() >= MOST_FAREWELLS;
        if is_full && now.since(self.swept) >= within {
            self.sweep_farewells(now, within);
        }
        if self.farewells.len() < MOST_FAREWELLS || self.farewells.get(prefix).is_some() {
            self.farewells.insert(prefix, now);
        }
    }

    /// Nobody may ever ask again for what is below a prefix that lost its way.
    fn sweep_farewells(&mut self, now: Instant, within: Duration) {
        self.swept = now;
        let is_old = |at: &Instant| now.since(*at) >= within;
        let old = self.farewells.iter().filter(|(_, at)| is_old(at));
        let old: Vec<Name> = old.map(|(prefix, _)| prefix.clone()).collect();
        for prefix in old {
            self.farewells.remove(&prefix);
        }
    }

    /// A prefix has a way again, which may not be the one that it had.
    pub(crate) fn has_lost(&mut self, now: Instant, name: &Name, within: Duration) -> bool {
        while let Some((prefix, at)) = self.farewells.longest(name) {
            if now.since(*at) < within {
                return true;
            }
            let prefix = prefix.clone();
            self.farewells.remove(&prefix);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_treatment_prints_what_it_reads() {
        for text in
            ["off", "eln(lost=2s)", "mldr(lost=2s,residual=0.1)", "mldr(lost=0s,residual=1)"]
        {
            assert_eq!(text.parse::<Mobility>().unwrap().to_string(), text);
        }
        assert_eq!("mldr".parse(), Ok(Mobility::On(MobilitySettings::default())));
        for wrong in ["mldr(residual=2)", "eln(residual=0.5)", "on"] {
            assert!(wrong.parse::<Mobility>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn farewells_are_forgotten_in_time_and_bounded() {
        let mut itinerary = Itinerary::new(NameHasher::new(1));
        let at = Instant::from_millis;
        let name = |text: &str| text.parse::<Name>().unwrap();
        let second = Duration::from_secs(1);
        itinerary.say_farewell(at(0), &name("/a"), second);
        itinerary.say_farewell(at(900), &name("/a/b"), second);
        assert!(itinerary.has_lost(at(999), &name("/a/x"), second));
        assert!(itinerary.has_lost(at(1_800), &name("/a/b/c"), second));
        assert!(!itinerary.has_lost(at(1_800), &name("/a/x"), second));
        assert!(!itinerary.has_lost(at(1_900), &name("/a/b/c"), second));
        assert!(itinerary.farewells.is_empty());
        for number in 0..10_000 {
            itinerary.say_farewell(at(2_000), &name(&format!("/{number}")), second);
        }
        assert_eq!(itinerary.farewells.len(), MOST_FAREWELLS);
        // Those for which nobody ever asked again do not stand in the way of others.
        itinerary.say_farewell(at(3_500), &name("/new"), second);
        assert!(itinerary.has_lost(at(3_600), &name("/new/x"), second));
        assert_eq!(itinerary.farewells.len(), 1);
    }
}
