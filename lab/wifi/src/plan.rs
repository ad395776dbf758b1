//! A medium and its stations as plain data; the defaults are ns-3.37's for 802.11g ad hoc.
use super::error::ErrorModel;
use super::fading::FadingPlan;
use super::propagation::PathLoss;
use super::rate::{Band, Rate};
use recoup_core::load::Load;
use recoup_core::time::Duration;

/// Inter-frame spaces and contention window (IEEE Std 802.11-2016, tables 17-21, 18-5 and 19-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Where the channel is.
    pub band: Band,
    /// Short inter-frame space, in ns.
    pub sifs_nanos: u64,
    /// Slot, in ns.
    pub slot_nanos: u64,
    /// Time of an acknowledgement at the lowest rate, as it is counted in the extended space (EIFS), in ns.
    pub eifs_ack_nanos: u64,
}

impl Timing {
    /// 802.11g with long slots: an ad hoc network, or one that 802.11b stations may join.
    pub const G: Self = Self {
        band: Band::TwoPointFour,
        sifs_nanos: 10_000,
        slot_nanos: 20_000,
        eifs_ack_nanos: 304_000,
    };
    /// 802.11g with short slots.
    pub const G_SHORT: Self = Self { slot_nanos: 9_000, ..Self::G };
    /// 802.11a, and 802.11n at 5 GHz.
    pub const FIVE: Self =
        Self { band: Band::Five, sifs_nanos: 16_000, slot_nanos: 9_000, eifs_ack_nanos: 44_000 };

    /// Space before an access with that arbitration number (2 with DCF), in ns.
    pub const fn aifs_nanos(&self, aifsn: u8) -> u64 {
        self.sifs_nanos + aifsn as u64 * self.slot_nanos
    }

    /// Timeout of an answer at `rate` after the own frame, in ns: a SIFS, a slot, and the
    /// time until its headers are through.
    pub fn timeout_nanos(&self, answer: Rate) -> u64 {
        self.sifs_nanos + self.slot_nanos + answer.header_nanos()
    }
}

/// Contention parameters of a station (IEEE Std 802.11-2016, table 9-137 for the categories of EDCA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// Slots of the arbitration space.
    pub aifsn: u8,
    /// Smallest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Counts down at the boundary of the arbitration space already, and sends on slot boundaries.
    pub is_edca: bool,
    /// Longest transmission opportunity, in ns; 0 means one exchange.
    pub txop_nanos: u64,
}

impl Contention {
    /// The distributed coordination function.
    pub const DCF: Self =
        Self { aifsn: 2, cw_min: 15, cw_max: 1023, is_edca: false, txop_nanos: 0 };
    /// Voice.
    pub const VOICE: Self =
        Self { aifsn: 2, cw_min: 3, cw_max: 7, is_edca: true, txop_nanos: 2_080_000 };
    /// Video.
    pub const VIDEO: Self =
        Self { aifsn: 2, cw_min: 7, cw_max: 15, is_edca: true, txop_nanos: 4_096_000 };
    /// Best effort.
    pub const BEST_EFFORT: Self =
        Self { aifsn: 3, cw_min: 15, cw_max: 1023, is_edca: true, txop_nanos: 0 };
    /// Background.
    pub const BACKGROUND: Self =
        Self { aifsn: 7, cw_min: 15, cw_max: 1023, is_edca: true, txop_nanos: 0 };
    /// Beacons of an access point.
    pub const BEACON: Self = Self { aifsn: 1, cw_min: 0, cw_max: 0, is_edca: false, txop_nanos: 0 };
}

/// Access category of a frame if stations have several queues (IEEE Std 802.11-2016, §10.2.4.2); the first ready one
/// goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Beacons of access points; not for frames from above.
    Beacon,
    /// Voice, and management.
    Voice,
    /// Video.
    Video,
    /// All other frames; without EDCA all frames.
    #[default]
    BestEffort,
    /// Number of categories.
    Background,
}

/// Role of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// An ad hoc station.
    #[default]
    Peer,
    /// Sends beacons and lets clients in.
    AccessPoint,
    /// Belongs to one access point at a time.
    Client,
}

/// Access points and their clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Infrastructure {
    /// From one beacon to the next, in ns.
    pub beacon_nanos: u64,
    /// Weight of a new beacon in the smoothed RSSI.
    pub smoothing: f64,
    /// By how much another access point must be stronger, in dB.
    pub hysteresis_db: f64,
    /// Number of consecutive beacons.
    pub beacons: u32,
    /// Least time that a client stays, in ns.
    pub dwell_nanos: u64,
    /// RSSI below which a client may leave its access point, in dBm; `None` means any.
    pub low_dbm: Option<f64>,
    /// Beacons that may be missed before an access point counts as gone.
    pub missed: u32,
    /// Time of a scan, in ns: the client neither sends nor receives before its request.
    pub scan_nanos: u64,
}

impl Default for Infrastructure {
    fn default() -> Self {
        Self {
            beacon_nanos: 102_400_000,
            smoothing: 0.3,
            hysteresis_db: 5.0,
            beacons: 3,
            dwell_nanos: 2_000_000_000,
            low_dbm: None,
            missed: 10,
            scan_nanos: 0,
        }
    }
}

/// Thresholds of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverPlan {
    /// Noise figure, in dB.
    pub noise_figure_db: f64,
    /// Weaker signals are not even interference, in dBm per 20 MHz.
    pub sensitivity_dbm: f64,
    /// Weakest preamble that is detected, in dBm.
    pub preamble_dbm: f64,
    /// Least SINR of a preamble that is detected, in dB.
    pub preamble_sinr_db: f64,
    /// Energy of 802.11 frames from which on the medium is busy, in dBm.
    pub carrier_dbm: f64,
    /// Any energy from which on the medium is busy, in dBm.
    pub energy_dbm: f64,
    /// A frame that arrives that much stronger within 16 µs replaces the one that is being received, in dB.
    pub capture_db: Option<f64>,
    /// Model of errors in a stretch of a frame.
    pub errors: ErrorModel,
}

impl Default for ReceiverPlan {
    fn default() -> Self {
        Self {
            noise_figure_db: 7.0,
            sensitivity_dbm: -101.0,
            preamble_dbm: -82.0,
            preamble_sinr_db: 4.0,
            carrier_dbm: -82.0,
            energy_dbm: -62.0,
            capture_db: None,
            errors: ErrorModel::Table,
        }
    }
}

/// Choice of the rate of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// Always this one.
    Constant(Rate),
    /// ARF, or AARF, among the rates of 802.11b and 802.11g.
    Arf {
        /// A failed trial postpones the next one.
        adaptive: bool,
    },
    /// Minstrel-HT, among the rates of 802.11n of that width and guard interval and below.
    MinstrelHt {
        /// 40 MHz besides 20.
        wide: bool,
        /// The short guard interval besides the long one.
        short_guard: bool,
    },
}

/// Aggregation of 802.11n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Most bytes of an A-MPDU; 0 means none.
    pub ampdu_bytes: u32,
    /// Most bytes of an A-MSDU; 0 means none.
    pub amsdu_bytes: u32,
    /// Transmissions of an MPDU under block acknowledgement before it is given up; `None` means that only
    /// its lifetime bounds them.
    pub mpdu_tries: Option<u32>,
}

impl Aggregation {
    /// The longest A-MPDUs, no A-MSDUs, tries until the lifetime ends.
    pub const AMPDU: Self = Self { ampdu_bytes: 65_535, amsdu_bytes: 0, mpdu_tries: None };
}

/// Parameters of all stations of a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumPlan {
    /// Inter-frame spaces.
    pub timing: Timing,
    /// Contention: without EDCA of all frames, with it of those of best effort.
    pub contention: Contention,
    /// Frames have a QoS field.
    pub qos: bool,
    /// Loss over distance.
    pub path_loss: PathLoss,
    /// Chance on the way.
    pub fading: FadingPlan,
    /// Transmitted power, in dBm.
    pub power_dbm: f64,
    /// Thresholds of receivers.
    pub receiver: ReceiverPlan,
    /// Rate of unicast frames.
    pub rate: RateControl,
    /// Rate of broadcast frames and of RTS.
    pub basic_rate: Rate,
    /// Frames whose MPDU has more bytes are announced by RTS; `None` means none.
    pub rts_bytes: Option<u32>,
    /// Longest packet in one frame, in bytes with its IP header; longer ones are sent in parts, as by IP fragmentation.
    pub largest_bytes: Option<u32>,
    /// Transmissions of a frame before it is given up.
    pub tries: u32,
    /// Tries of frames that are announced by RTS.
    pub long_tries: u32,
    /// Frames that may wait in a station.
    pub queue_frames: usize,
    /// Lifetime of a queued frame.
    pub lifetime: Duration,
    /// Aggregation, if any.
    pub aggregation: Option<Aggregation>,
    /// Association of clients, if there are access points.
    pub infrastructure: Infrastructure,
    /// A frame may find the queue empty and the medium idle. Then it waits one arbitration space from its arrival
    /// (ns-3) instead of from the end of the last frame on the medium (the standard).
    pub fresh_space: bool,
}

impl MediumPlan {
    /// 802.11g ad hoc in free space at channel 1, at one rate.
    pub fn g(rate: Rate) -> Self {
        Self {
            timing: Timing::G,
            contention: Contention::DCF,
            qos: false,
            path_loss: PathLoss::Friis { frequency: 2.412e9 },
            fading: FadingPlan::default(),
            power_dbm: 16.0206,
            receiver: ReceiverPlan::default(),
            rate: RateControl::Constant(rate),
            basic_rate: Rate::Ofdm(0),
            rts_bytes: None,
            largest_bytes: None,
            tries: 7,
            long_tries: 4,
            queue_frames: 500,
            lifetime: Duration::from_millis(500),
            aggregation: None,
            infrastructure: Infrastructure::default(),
            fresh_space: true,
        }
    }

    /// 802.11n at 5 GHz, best effort, with A-MPDUs.
    pub fn n(rate: RateControl) -> Self {
        Self {
            timing: Timing::FIVE,
            contention: Contention::BEST_EFFORT,
            qos: true,
            path_loss: PathLoss::LOG_DISTANCE,
            power_dbm: 16.0,
            rate,
            aggregation: Some(Aggregation::AMPDU),
            ..Self::g(Rate::Ofdm(0))
        }
    }

    /// Bytes that the MAC adds to a frame: header, LLC/SNAP and checksum.
    pub fn overhead_bytes(&self) -> u32 {
        LLC_BYTES + self.header_bytes() + FCS_BYTES
    }

    /// Bytes of an MPDU that carries `load`, and `more` as an A-MSDU.
    pub(super) fn mpdu_bytes<L: Load>(&self, load: &L, more: &[L]) -> u32 {
        if more.is_empty() {
            return load.bytes() + self.overhead_bytes();
        }
        self.header_bytes() + amsdu_bytes(std::iter::once(load).chain(more)) + FCS_BYTES
    }

    /// The category in which a frame contends here: without EDCA there is one for all but beacons.
    pub fn category(&self, wanted: Category) -> Category {
        if self.qos || wanted == Category::Beacon { wanted } else { Category::BestEffort }
    }

    /// Contention parameters of a category.
    pub fn contention_of(&self, category: Category) -> Contention {
        match category {
            Category::Beacon => Contention::BEACON,
            Category::Voice => Contention::VOICE,
            Category::Video => Contention::VIDEO,
            Category::BestEffort => self.contention,
            Category::Background => Contention::BACKGROUND,
        }
    }

    /// Bytes of the MAC header.
    pub fn header_bytes(&self) -> u32 {
        if self.qos { 26 } else { 24 }
    }
}

/// Bytes of an A-MSDU of these loads: each begins at a multiple of four.
pub(super) fn amsdu_bytes<'a, L: Load + 'a>(loads: impl Iterator<Item = &'a L>) -> u32 {
    let subframes = loads.map(|load| SUBFRAME_BYTES + LLC_BYTES + load.bytes());
    subframes.fold(0, |sum: u32, bytes| sum.next_multiple_of(4) + bytes)
}

/// Header of a frame in an A-MSDU.
const SUBFRAME_BYTES: u32 = 14;
pub(super) const LLC_BYTES: u32 = 8;
const FCS_BYTES: u32 = 4;
/// Acknowledgement, and CTS.
pub(super) const ACK_BYTES: u32 = 14;
pub(super) const RTS_BYTES: u32 = 20;
pub(super) const BLOCK_ACK_BYTES: u32 = 32;
pub(super) const BLOCK_ACK_REQUEST_BYTES: u32 = 24;
/// Longest frame of 802.11n.
pub(super) const MOST_PPDU_NANOS: u64 = 5_484_000;
