//! Parameters of WLDR, and their text.
use crate::link::recovery::FrameKind;
use crate::spec::{Described, Description, Spec};
use crate::time::Duration;
use crate::unit;

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

impl Described for WldrSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.whole("ring", &mut self.ring, 1..=MAX_RING, "a whole number from 1 to 65536");
        each.whole("bytes", &mut self.bytes, 1.., "a number of bytes");
        let mut alpha = f64::from(self.alpha_ppm) / 1e6;
        each.number("alpha", &mut alpha, 0.0..=1.0, "a number from 0 to 1");
        self.alpha_ppm = libm::round(alpha * 1e6) as u32;
        each.duration("lifetime", &mut self.lifetime, Duration::from_nanos(1));
        // An age, and strictness, are printed only if they are set: the text identifies scenarios whose results are kept.
        let age = |spec: &mut Spec<'_>, age| {
            let parse = |text: &str| unit::duration(text).ok().filter(|age| !age.is_zero());
            let expected = "a duration longer than 0, or inf";
            spec.take("max-age", age, expected, |text| or_infinite(text, parse))
        };
        let printed = |age: &Option<Duration>| age.map(unit::print_compact_duration);
        each.value("max-age", &mut self.max_age, age, printed);
        each.duration("hold", &mut self.hold, Duration::ZERO);
        each.duration("max-hold", &mut self.max_hold, Duration::ZERO);
        let resends = |spec: &mut Spec<'_>, most| {
            let parse = |text: &str| text.parse().ok();
            spec.take("resends", most, "a whole number or inf", |text| or_infinite(text, parse))
        };
        let printed = |most: &Option<u32>| most.map_or("inf".into(), |it| it.to_string());
        each.value("resends", &mut self.resends, resends, |most| Some(printed(most)));
        each.word("kinds", &mut self.kinds, &KINDS, "both, interests or data");
        each.word("mode", &mut self.mode, &MODES, "resend or eln");
        let strict = |spec: &mut Spec<'_>, it| spec.word("strict", it, &STRICT, "true or false");
        each.value("strict", &mut self.strict, strict, |it| it.then(|| "true".to_owned()));
    }
}

recoup_core::print_as_spec!(WldrSettings, "wldr");

/// A limit, or `inf` for none.
fn or_infinite<T>(text: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "inf" { Some(None) } else { parse(text).map(Some) }
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
