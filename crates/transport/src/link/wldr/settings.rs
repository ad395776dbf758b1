//! Parameters of WLDR, and their text.
use crate::link::recovery::FrameKind;
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::Duration;
use crate::unit;
use std::fmt;

/// Most slots of a ring, and most numbers that a receiver remembers.
pub(super) const MAX_RING: u32 = 65_536;

/// The parameters of [`Wldr`](super::Wldr).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WldrSettings {
    /// Most held frames, 1 to 65,536.
    pub ring: u32,
    /// Most bytes of held frames.
    pub bytes: u64,
    /// α in millionths: a frame is retransmitted only within α of its lifetime.
    pub alpha_ppm: u32,
    /// Lifetime of frames without one.
    pub lifetime: Duration,
    /// Age from which no frame is retransmitted, whatever its lifetime; `None`: no such limit. Ours: on a channel that
    /// stations share, recovery of a slow or lossy link yields to the others.
    pub max_age: Option<Duration>,
    /// Time for which a gap is held before the report, if no frame was late.
    pub hold: Duration,
    /// Longest such time, if frames were late.
    pub max_hold: Duration,
    /// Most retransmissions of a frame; `None`: as often as its lifetime permits.
    pub resends: Option<u32>,
    /// Frames that are numbered.
    pub kinds: Kinds,
    /// Reaction to a lost frame.
    pub mode: Mode,
    /// Only what the paper has: a gap is reported once and never confirmed, and the neighbour is not queried.
    pub strict: bool,
}

/// Frames that are numbered, and so recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// All of them.
    #[default]
    Both,
    /// Interests only.
    Interests,
    /// Data and Nacks only.
    Data,
}

/// Reaction to a lost frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The frame is retransmitted.
    #[default]
    Resend,
    /// The frame is returned to the caller, which notifies the consumer.
    Eln,
}

impl Default for WldrSettings {
    fn default() -> Self {
        Self {
            ring: 8192,
            bytes: 16 << 20,
            alpha_ppm: 800_000,
            lifetime: Duration::from_secs(1),
            max_age: None,
            hold: Duration::ZERO,
            max_hold: Duration::from_millis(50),
            resends: None,
            kinds: Kinds::Both,
            mode: Mode::Resend,
            strict: false,
        }
    }
}

/// Parts per million.
const PPM: u64 = 1_000_000;

const KINDS: [(&str, Kinds); 3] =
    [("both", Kinds::Both), ("interests", Kinds::Interests), ("data", Kinds::Data)];
const MODES: [(&str, Mode); 2] = [("resend", Mode::Resend), ("eln", Mode::Eln)];
const STRICT: [(&str, bool); 2] = [("false", false), ("true", true)];

impl WldrSettings {
    pub(crate) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let slots = |text: &str| text.parse().ok().filter(|it| (1..=MAX_RING).contains(it));
        let alpha = f64::from(default.alpha_ppm) / 1e6;
        let settings = Self {
            ring: spec.take("ring", default.ring, "a whole number from 1 to 65536", slots)?,
            bytes: spec.take("bytes", default.bytes, "a number of bytes", positive)?,
            alpha_ppm: {
                let alpha = spec.number("alpha", alpha, 0.0..=1.0, "a number from 0 to 1")?;
                libm::round(alpha * 1e6) as u32
            },
            lifetime: spec.duration("lifetime", default.lifetime, Duration::from_nanos(1))?,
            max_age: spec.take("max-age", None, "a duration longer than 0, or inf", |text| {
                match text {
                    "inf" => Some(None),
                    _ => unit::duration(text).ok().filter(|age| !age.is_zero()).map(Some),
                }
            })?,
            hold: spec.duration("hold", default.hold, Duration::ZERO)?,
            max_hold: spec.duration("max-hold", default.max_hold, Duration::ZERO)?,
            resends: spec.take("resends", None, "a whole number or inf", |text| match text {
                "inf" => Some(None),
                _ => text.parse().ok().map(Some),
            })?,
            kinds: spec.word("kinds", default.kinds, &KINDS, "both, interests or data")?,
            mode: spec.word("mode", default.mode, &MODES, "resend or eln")?,
            strict: spec.word("strict", default.strict, &STRICT, "true or false")?,
        };
        spec.finish()?;
        Ok(settings)
    }

    /// Time within which a frame of that lifetime may be retransmitted.
    pub(super) fn patience(&self, lifetime: Option<Duration>) -> Duration {
        let nanos = u64::try_from(lifetime.unwrap_or(self.lifetime).as_nanos()).unwrap_or(u64::MAX);
        // In two parts: this runs for each frame, and a division of 128 bits is slow.
        let (whole, rest) = (nanos / PPM, nanos % PPM);
        let ppm = u64::from(self.alpha_ppm);
        let patience = Duration::from_nanos(whole * ppm + rest * ppm / PPM);
        self.max_age.map_or(patience, |age| patience.min(age))
    }

    /// Whether frames of that kind are numbered.
    pub(super) fn numbers(&self, kind: FrameKind) -> bool {
        match self.kinds {
            Kinds::Both => true,
            Kinds::Interests => kind == FrameKind::Interest,
            Kinds::Data => kind == FrameKind::Data,
        }
    }
}

fn positive(text: &str) -> Option<u64> {
    text.parse().ok().filter(|it| *it > 0)
}

impl WldrSettings {
    /// Prints the settings as those of the recovery `name`.
    pub(in crate::link) fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let writer = SpecWriter::new(f, name)
            .value("ring", self.ring)
            .value("bytes", self.bytes)
            .value("alpha", f64::from(self.alpha_ppm) / 1e6)
            .duration("lifetime", self.lifetime);
        // An age, and strictness, are printed only if they are set: the text identifies scenarios whose results are kept.
        let writer = match self.max_age {
            None => writer,
            Some(age) => writer.duration("max-age", age),
        };
        let writer = writer.duration("hold", self.hold).duration("max-hold", self.max_hold);
        let writer = match self.resends {
            None => writer.value("resends", "inf"),
            Some(most) => writer.value("resends", most),
        };
        let writer = writer.word("kinds", self.kinds, &KINDS).word("mode", self.mode, &MODES);
        match self.strict {
            true => writer.word("strict", true, &STRICT).finish(),
            false => writer.finish(),
        }
    }
}

impl fmt::Display for WldrSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "wldr")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Recovery;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn printed_settings_parse_to_themselves(
            (ring, bytes, alpha_ppm) in (1..=MAX_RING, 1..u64::MAX, 0..=1_000_000_u32),
            lifetime in (1..u64::MAX).prop_map(Duration::from_nanos),
            max_age in prop::option::of((1..u64::MAX).prop_map(Duration::from_nanos)),
            hold in any::<u64>().prop_map(Duration::from_nanos),
            max_hold in any::<u64>().prop_map(Duration::from_nanos),
            resends: Option<u32>,
            kinds in prop::sample::select(KINDS.map(|it| it.1).to_vec()),
            mode in prop::sample::select(MODES.map(|it| it.1).to_vec()),
        ) {
            let settings =
                WldrSettings { ring, bytes, alpha_ppm, lifetime, max_age, hold, max_hold, resends, kinds, mode, strict: false };
            prop_assert_eq!(settings.to_string().parse(), Ok(Recovery::Wldr(settings)));
            let auto = Recovery::Auto(settings);
            prop_assert_eq!(auto.to_string().parse(), Ok(auto));
        }
    }

    #[test]
    fn patience_is_alpha_of_the_lifetime() {
        let settings = WldrSettings::default();
        let second = Duration::from_secs(1);
        assert_eq!(settings.patience(Some(second)), Duration::from_millis(800));
        assert_eq!(settings.patience(None), Duration::from_millis(800));
        let most = u128::from(u64::MAX) * 8 / 10;
        assert_eq!(settings.patience(Some(Duration::MAX)).as_nanos(), most);
        let age = Duration::from_millis(80);
        let yields = WldrSettings { max_age: Some(age), ..settings };
        assert_eq!(yields.patience(Some(second)), age);
        assert_eq!(yields.patience(Some(second / 20)), second / 25);
    }
}
