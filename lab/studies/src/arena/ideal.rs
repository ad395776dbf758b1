//! The shortest completion time of a path: start-up by doubling, then a full link.
//!
//! Start-up sends the initial window of RFC 6928 by bytes (14,600 B in packets, at least 2). It doubles each round trip
//! until the window fills the path. From then on the bottleneck is never idle. There are `n` segments, of which `d` are
//! delivered in the `k − 1` rounds before the link is full. Let `r` be the round-trip time, `x` the time of a packet on
//! the bottleneck, and `p` the share of Data lost after it. Then the time is
//!
//! ```text
//! k·r + (n/(1 − p) − d)·x + r·ln(1 + p·r/x)/ln(1/p)
//! ```
//!
//! The second term is every transmission that is needed on average; the third is the number of further round trips until
//! the last window, of which a share `p` is lost each time, is complete. Where the rate changes, the second term is the
//! integral of the rate. Differences from a real transport: jitter, Interests on the way and the granularity
//! of the last window are left out, so that a time slightly below the ideal is possible.
use super::path::Path;

/// Bytes of the initial window (RFC 6928, section 2).
const INITIAL_WINDOW_BYTES: f64 = 14_600.0;

/// The shortest completion time of a path, in s.
pub fn time_s(path: &Path) -> f64 {
    let (rtt, transmission, loss) = (path.rtt_s, path.transmission_s(), path.loss);
    let transmissions = path.segments / (1.0 - loss);
    let (rounds, delivered) = start_up(path, transmissions);
    let begin = rounds * rtt - delivered * transmission;
    let full = served_at(path, begin, transmissions * path.packet_bits);
    full + if loss > 0.0 { rtt * tail(loss, rtt / transmission) } else { 0.0 }
}

/// Rounds of start-up with the first one of a full link, and the segments delivered before that one.
fn start_up(path: &Path, transmissions: f64) -> (f64, f64) {
    let (mut rounds, mut delivered) = (1.0, 0.0);
    let mut window = (INITIAL_WINDOW_BYTES * 8.0 / path.packet_bits).floor().max(2.0);
    let filling = path.rtt_s / path.transmission_s();
    while window < filling && delivered + window < transmissions {
        delivered += window;
        window *= 2.0;
        rounds += 1.0;
    }
    (rounds, delivered)
}

/// Round trips until a window of that many segments is complete, beyond the first.
fn tail(loss: f64, window: f64) -> f64 {
    (loss * window).ln_1p() / (1.0 / loss).ln()
}

/// When the bottleneck has carried that many bits, if it begins at `begin`.
fn served_at(path: &Path, begin: f64, bits: f64) -> f64 {
    let mut left = bits;
    let mut now = begin;
    let ends = path.rates.iter().skip(1).map(|(at, _)| *at).chain([f64::INFINITY]);
    for ((_, rate), end) in path.rates.iter().zip(ends) {
        let carried = rate * (end - now).max(0.0);
        if carried >= left || !carried.is_finite() {
            return now + left / rate;
        }
        left -= carried;
        now = now.max(end);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1200 B in packets of 1300 B.
    fn path(rate: f64, rtt_s: f64, megabytes: f64, loss: f64) -> Path {
        Path {
            rates: vec![(0.0, rate)],
            line_rate: rate,
            rtt_s,
            loss,
            packet_bits: 10_400.0,
            segment_bytes: 1200.0,
            segments: (megabytes * 1e6 / 1200.0).ceil(),
            bottleneck: None,
        }
    }

    fn close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn start_up_doubles_until_the_link_is_full() {
        // 11 and 22 packets, then 38.5 fill the path: 3 · 40 ms and 8334 − 33 packets of 1.04 ms.
        close(time_s(&path(10e6, 0.04, 10.0, 0.0)), 0.12 + 8301.0 * 1.04e-3);
        // A window of 11 packets fills 9.6 of them at once.
        close(time_s(&path(1e6, 0.1, 1.0, 0.0)), 0.1 + 834.0 * 10.4e-3);
    }

    #[test]
    fn short_object_ends_within_start_up() {
        // 9 segments in the first window; 84 in windows of 11, 22, 44 and the rest.
        close(time_s(&path(20e6, 0.06, 0.01, 0.0)), 0.06 + 9.0 * 0.52e-3);
        close(time_s(&path(20e6, 0.06, 0.1, 0.0)), 0.24 + 7.0 * 0.52e-3);
    }

    #[test]
    fn lost_data_are_sent_again_and_end_late() {
        let (n, tail) = (4167.0 / 0.9, (1.0 + 0.1 * 0.1 / 1.04e-3_f64).ln() / 10.0_f64.ln());
        close(time_s(&path(10e6, 0.1, 5.0, 0.1)), 0.5 + (n - 165.0) * 1.04e-3 + 0.1 * tail);
    }

    #[test]
    fn changing_rate_is_integrated() {
        let mut path = path(10e6, 0.06, 15.0, 0.0);
        path.rates = vec![(0.0, 10e6), (5.0, 2e6), (15.0, 10e6)];
        // From 0.15992 s on 48.4008 Mbit until 5 s, 20 Mbit until 15 s, the rest of 130 Mbit at 10 Mbit/s.
        close(time_s(&path), 21.15992);
    }

    #[test]
    fn path_without_a_rate_is_all_round_trips() {
        // 11, 22 and 44 packets are fewer than 84, so that the fourth round is the last.
        close(time_s(&path(f64::INFINITY, 0.05, 0.1, 0.0)), 0.2);
    }
}
