//! Handling of Interests whose face is down.
//!
//! | text | handling |
//! |---|---|
//! | `off` | none, as in NFD: the consumer's timer expires |
//! | `eln(…)` | the downstream faces get a Nack at once, up to the consumer |
//! | `mldr(…)` | rerouted to another face; without one as `eln` |
//!
//! Source: Carofiglio et al. 2016, section 3.2. The implementation is `forwarding/mobility.rs`, the protocol between
//! neighbours `docs/wire.md`.
use recoup_transport::spec::{self, Described, Description, Reader, SpecError};
use recoup_transport::time::Duration;
use std::fmt;
use std::str::FromStr;

/// Handling of Interests whose face is down; parses from and prints as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mobility {
    /// Nothing.
    #[default]
    Off,
    /// Something.
    On(MobilitySettings),
}

/// Parameters of the handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobilitySettings {
    /// Interests are rerouted by another face if there is one.
    pub reforwards: bool,
    /// Time after the loss of the last route of a name in which Nacks have the reason Mobility instead of NoRoute.
    pub lost: Duration,
    /// Least remaining lifetime of a rerouted Interest, in millionths of its lifetime.
    pub residual_ppm: u32,
}

impl Default for MobilitySettings {
    fn default() -> Self {
        Self { reforwards: true, lost: Duration::from_secs(2), residual_ppm: 100_000 }
    }
}

const FAMILY: &[(&str, Reader<Mobility>)] = &[
    ("off", |spec| spec.finish().map(|()| Mobility::Off)),
    ("eln", |spec| {
        let settings = MobilitySettings { reforwards: false, ..MobilitySettings::default() };
        spec.read(settings).map(Mobility::On)
    }),
    ("mldr", |spec| spec.read(MobilitySettings::default()).map(Mobility::On)),
];

impl Described for MobilitySettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.duration("lost", &mut self.lost, Duration::ZERO);
        if self.reforwards {
            let mut share = f64::from(self.residual_ppm) / 1e6;
            each.number("residual", &mut share, 0.0..=1.0, "a number from 0 to 1");
            self.residual_ppm = (share * 1e6).round() as u32;
        }
    }
}

impl Mobility {
    /// Whether there is no handling.
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
            Self::On(settings) => {
                let name = if settings.reforwards { "mldr" } else { "eln" };
                spec::describe::print(f, name, settings)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_text_parses_to_itself() {
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
