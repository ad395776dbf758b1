//! Rates of 802.11b, g and n, and how long a frame occupies the air at each.
//!
//! Sources: IEEE Std 802.11-2016, clauses 15 and 16 (DSSS, CCK), 17 (OFDM), 18 (ERP: a signal extension
//! in the 2.4 GHz band) and 19 (HT, mixed format, one spatial stream).
//!
//! Differences: with the short guard interval the end of an HT frame is not rounded up to 4 µs, as in
//! ns-3.37.
use std::fmt;
use std::str::FromStr;

/// A modulation and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// 802.11b, by its place in [`DSSS_HALF_MBITS`].
    Dsss(u8),
    /// 802.11a and g, by its place in [`OFDM_MBITS`].
    Ofdm(u8),
    /// 802.11n, one stream.
    Ht {
        /// 0 to 7.
        mcs: u8,
        /// 40 MHz instead of 20.
        wide: bool,
        /// Guard interval of 0.4 µs instead of 0.8.
        short_guard: bool,
    },
}

/// Rates of 802.11b, in units of 0.5 Mbit/s.
pub const DSSS_HALF_MBITS: [u8; 4] = [2, 4, 11, 22];
/// Rates of OFDM, in Mbit/s.
pub const OFDM_MBITS: [u8; 8] = [6, 9, 12, 18, 24, 36, 48, 54];
const OFDM_BITS: [u32; 8] = [24, 36, 48, 72, 96, 144, 192, 216];
const HT20_BITS: [u32; 8] = [26, 52, 78, 104, 156, 208, 234, 260];
const HT40_BITS: [u32; 8] = [54, 108, 162, 216, 324, 432, 486, 540];

const SYMBOL_NANOS: u64 = 4_000;
const SHORT_SYMBOL_NANOS: u64 = 3_600;
/// Preamble and header of 802.11b, long form: 144 µs and 48 µs.
const DSSS_PREAMBLE_NANOS: u64 = 144_000;
const DSSS_HEADER_NANOS: u64 = 48_000;
/// Training of OFDM: 16 µs, then one symbol of SIGNAL.
pub(super) const PREAMBLE_NANOS: u64 = 16_000;
pub(super) const SIGNAL_NANOS: u64 = 4_000;
/// HT-SIG, and HT-STF with one HT-LTF.
pub(super) const HT_SIGNAL_NANOS: u64 = 8_000;
const HT_TRAINING_NANOS: u64 = 8_000;
/// Signal extension after a frame of OFDM in the 2.4 GHz band.
const EXTENSION_NANOS: u64 = 6_000;
/// Service bits before and tail bits after the bytes.
const SERVICE_AND_TAIL_BITS: u64 = 22;

impl Rate {
    /// 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s of OFDM.
    pub fn ofdm(mbits: u8) -> Option<Self> {
        OFDM_MBITS.iter().position(|rate| *rate == mbits).map(|place| Self::Ofdm(place as u8))
    }

    /// MCS 0 to 7.
    pub fn ht(mcs: u8, wide: bool, short_guard: bool) -> Option<Self> {
        (mcs < 8).then_some(Self::Ht { mcs, wide, short_guard })
    }

    /// Bits per second of data.
    pub fn bits(self) -> u64 {
        match self {
            Self::Dsss(place) => u64::from(DSSS_HALF_MBITS[usize::from(place) & 3]) * 500_000,
            // Divided by what is known beforehand, which takes no division.
            _ if self.has_short_symbols() => {
                self.symbol_bits() * 1_000_000_000 / SHORT_SYMBOL_NANOS
            }
            _ => self.symbol_bits() * 1_000_000_000 / SYMBOL_NANOS,
        }
    }

    /// Channel width, in MHz.
    pub fn width_mhz(self) -> u32 {
        if matches!(self, Self::Ht { wide: true, .. }) { 40 } else { 20 }
    }

    /// Whether it is 802.11n's.
    pub fn is_ht(self) -> bool {
        matches!(self, Self::Ht { .. })
    }

    /// Whether it is 802.11b's.
    pub fn is_dsss(self) -> bool {
        matches!(self, Self::Dsss(_))
    }

    /// Time of preamble and headers, before the first byte.
    pub fn header_nanos(self) -> u64 {
        match self {
            Self::Dsss(_) => DSSS_PREAMBLE_NANOS + DSSS_HEADER_NANOS,
            Self::Ofdm(_) => PREAMBLE_NANOS + SIGNAL_NANOS,
            Self::Ht { .. } => PREAMBLE_NANOS + SIGNAL_NANOS + HT_SIGNAL_NANOS + HT_TRAINING_NANOS,
        }
    }

    /// Time before the first header.
    pub fn preamble_nanos(self) -> u64 {
        if self.is_dsss() { DSSS_PREAMBLE_NANOS } else { PREAMBLE_NANOS }
    }

    /// Time of the first header: SIGNAL, or the PLCP header of 802.11b.
    pub(super) fn first_header_nanos(self) -> u64 {
        if self.is_dsss() { DSSS_HEADER_NANOS } else { SIGNAL_NANOS }
    }

    /// Time on the air of a frame of `psdu_bytes` bytes.
    pub fn ppdu_nanos(self, psdu_bytes: u32, band: Band) -> u64 {
        self.header_nanos() + self.payload_nanos(psdu_bytes, band)
    }

    fn payload_nanos(self, psdu_bytes: u32, band: Band) -> u64 {
        let bits = 8 * u64::from(psdu_bytes);
        match self {
            Self::Dsss(_) => (bits * 1_000_000).div_ceil(self.bits()) * 1_000,
            _ => {
                let symbols = (bits + SERVICE_AND_TAIL_BITS).div_ceil(self.symbol_bits());
                symbols * self.symbol_nanos() + self.extension_nanos(band)
            }
        }
    }

    /// Most bytes of a PSDU whose frame takes no longer than `nanos`.
    pub(super) fn most_bytes(self, nanos: u64, band: Band) -> u32 {
        let bits = match self {
            Self::Dsss(_) => {
                nanos.saturating_sub(self.header_nanos()) / 1_000 * self.bits() / 1_000_000
            }
            _ => {
                let around = self.header_nanos() + self.extension_nanos(band);
                let symbols = nanos.saturating_sub(around) / self.symbol_nanos();
                (symbols * self.symbol_bits()).saturating_sub(SERVICE_AND_TAIL_BITS)
            }
        };
        u32::try_from(bits / 8).unwrap_or(u32::MAX)
    }

    /// Signal extension after the last symbol.
    pub fn extension_nanos(self, band: Band) -> u64 {
        if band == Band::TwoPointFour && !self.is_dsss() { EXTENSION_NANOS } else { 0 }
    }

    /// Data bits of a symbol.
    pub fn symbol_bits(self) -> u64 {
        u64::from(match self {
            Self::Dsss(_) => 1,
            Self::Ofdm(place) => OFDM_BITS[usize::from(place) & 7],
            Self::Ht { mcs, wide: false, .. } => HT20_BITS[usize::from(mcs) & 7],
            Self::Ht { mcs, wide: true, .. } => HT40_BITS[usize::from(mcs) & 7],
        })
    }

    /// Time of a symbol.
    pub fn symbol_nanos(self) -> u64 {
        if self.has_short_symbols() { SHORT_SYMBOL_NANOS } else { SYMBOL_NANOS }
    }

    fn has_short_symbols(self) -> bool {
        matches!(self, Self::Ht { short_guard: true, .. })
    }

    /// The rate at which a control frame answers a frame of this rate: the highest mandatory rate of its
    /// class that is not higher, or what corresponds to the modulation of an HT frame.
    pub fn control_answer(self) -> Self {
        match self {
            Self::Dsss(place) => Self::Dsss(place),
            Self::Ofdm(place) => Self::Ofdm(mandatory(place)),
            Self::Ht { mcs, .. } => Self::Ofdm([0, 2, 2, 4, 4, 4, 4, 4][usize::from(mcs) & 7]),
        }
    }
}

/// The highest of 6, 12 and 24 Mbit/s that is not above.
fn mandatory(place: u8) -> u8 {
    match place {
        0 | 1 => 0,
        2 | 3 => 2,
        _ => 4,
    }
}

/// Where the channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Band {
    /// 2.4 GHz.
    TwoPointFour,
    /// 5 GHz.
    Five,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dsss(place) => {
                let half = DSSS_HALF_MBITS[usize::from(*place) & 3];
                write!(f, "dsss-{}", f64::from(half) / 2.0)
            }
            Self::Ofdm(place) => write!(f, "ofdm-{}", OFDM_MBITS[usize::from(*place) & 7]),
            Self::Ht { mcs, .. } => {
                let guard = if self.symbol_nanos() == SYMBOL_NANOS { "long" } else { "short" };
                write!(f, "ht-{mcs}-{}-{guard}", self.width_mhz())
            }
        }
    }
}

/// Not a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate: write ofdm-54, dsss-11 or ht-7-40-short")]
pub struct RateError(pub String);

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        all().find(|rate| rate.to_string() == text).ok_or_else(|| RateError(text.into()))
    }
}

/// Every rate.
pub fn all() -> impl Iterator<Item = Rate> {
    let ht = (0..32).map(|n| Rate::Ht { mcs: n & 7, wide: n & 8 != 0, short_guard: n & 16 != 0 });
    (0..4).map(Rate::Dsss).chain((0..8).map(Rate::Ofdm)).chain(ht)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(rate: &str, psdu: u32, band: Band) -> f64 {
        rate.parse::<Rate>().unwrap().ppdu_nanos(psdu, band) as f64 / 1e3
    }

    #[test]
    fn durations_of_80211g_match_observations() {
        let g = |rate, psdu| micros(rate, psdu, Band::TwoPointFour);
        let of_54 = [104, 1164, 1536].map(|psdu| g("ofdm-54", psdu));
        assert_eq!(of_54, [42.0, 202.0, 254.0]);
        let of_24 = [104, 1164, 1536].map(|psdu| g("ofdm-24", psdu));
        assert_eq!(of_24, [62.0, 418.0, 542.0]);
        assert_eq!(["ofdm-24", "ofdm-12", "ofdm-6"].map(|rate| g(rate, 14)), [34.0, 38.0, 50.0]);
        assert_eq!(g("dsss-1", 14), 304.0);
    }

    #[test]
    fn short_guard_frame_ends_with_its_symbols() {
        let rate: Rate = "ht-7-40-short".parse().unwrap();
        assert_eq!(rate.ppdu_nanos(1540, Band::Five), 118_800);
        assert_eq!(rate.bits(), 150_000_000);
        assert_eq!("ht-0-40-short".parse::<Rate>().unwrap().bits(), 15_000_000);
    }

    #[test]
    fn most_bytes_fill_the_time() {
        for (rate, band) in all().flat_map(|rate| [(rate, Band::Five), (rate, Band::TwoPointFour)])
        {
            for nanos in [0, 192_000, 500_000, 1_234_567, 2_080_000, 5_484_000] {
                let most = rate.most_bytes(nanos, band);
                let is_within = |bytes| rate.ppdu_nanos(bytes, band) <= nanos;
                assert!(most == 0 || is_within(most), "{rate} {nanos}: {most}");
                assert!(!is_within(most + 1), "{rate} {nanos}: {most}");
            }
        }
    }

    #[test]
    fn answers_come_at_mandatory_rates() {
        let answer = |text: &str| text.parse::<Rate>().unwrap().control_answer().to_string();
        let ofdm = ["ofdm-6", "ofdm-9", "ofdm-12", "ofdm-18", "ofdm-36", "ofdm-54"].map(answer);
        assert_eq!(ofdm, ["ofdm-6", "ofdm-6", "ofdm-12", "ofdm-12", "ofdm-24", "ofdm-24"]);
        let ht = ["ht-0-40-short", "ht-2-40-short", "ht-3-20-long"].map(answer);
        assert_eq!(ht, ["ofdm-6", "ofdm-12", "ofdm-24"]);
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for rate in all() {
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        assert!("ofdm-7".parse::<Rate>().is_err());
    }
}
