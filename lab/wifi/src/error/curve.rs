//! Packet error rates against SNR on a channel with white noise, per MCS, for frames of 32 and 1458 bytes. Steps are
//! 0.25 dB.
//!
//! Computed back from measured curves of ns-3.37's `TableBasedErrorRateModel` at six frame sizes, with its five
//! decimals. 0.25 dB below a curve nothing is received, 0.25 dB above everything. MCS 0 at 32 bytes was measured from
//! -2 dB on; below it is a straight line.
use std::sync::LazyLock;

/// Error rates of an MCS and a length.
pub(super) struct Curve {
    /// SNR of the first point, in dB.
    pub(super) first_db: f64,
    /// Error rates from there on, every 0.25 dB.
    pub(super) rates: Vec<f64>,
}

/// Number of MCS.
const MCS: usize = 8;
/// Distance of points.
pub(super) const STEP_DB: f64 = 0.25;

/// Curves of frames of 32 bytes by MCS, then those of frames of 1458 bytes.
static CURVES: LazyLock<Vec<Curve>> = LazyLock::new(|| {
    let lines = include_str!("curve.csv").lines().filter(|line| !line.starts_with('#'));
    let curve = |line: &str| {
        let mut numbers = line.split(", ").map(|number| number.parse().unwrap_or_default());
        Curve { first_db: numbers.next().unwrap_or_default(), rates: numbers.collect() }
    };
    lines.map(curve).collect()
});

/// The curves of an MCS, for frames of 32 and of 1458 bytes.
pub(super) fn of(mcs: usize) -> [&'static Curve; 2] {
    [&CURVES[mcs], &CURVES[MCS + mcs]]
}
