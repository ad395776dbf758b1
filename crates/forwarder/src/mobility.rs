//! What a node does about Interests whose face is gone.
//!
//! | text | what |
//! |---|---|
//! | `off` | they are forgotten, as in NFD; the consumer's timer is the way out |
//! | `eln(…)` | whoever asked is told at once, up to the consumer |
//! | `mldr(…)` | they are sent on by another face where there is one; else whoever asked is told, and does the same |
//!
//! Source: Carofiglio et al. 2016, section 3.2; what is done stands in `forwarding/mobility.rs`, what
//! neighbours are told in `docs/mldr.md`.
use recoup_transport::spec::{self, Reader, Spec, SpecError, SpecWriter};
use recoup_transport::time::Duration;
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
}
