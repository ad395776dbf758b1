//! Stretches of interference, against a simple sum.
use super::super::error::from_db;
use super::super::plan::ReceiverPlan;
use super::*;
use proptest::prelude::*;
use recoup_core::random::Rng;

/// A radio that holds these signals (start, length, tenths of dBm), weak ones as such.
fn radio(signals: &[(u64, u64, i32)], receiver: &Receiver) -> Radio {
    let mut radio = Radio::new(Rng::from_seed(1));
    for (ppdu, (start, nanos, tenths)) in (0..).zip(signals) {
        let power = from_db(f64::from(*tenths) / 10.0);
        let ppdu = if power < receiver.preamble { WEAK } else { ppdu };
        let (end, rate) = (start + nanos, Rate::Ht { mcs: 7, wide: true, short_guard: true });
        radio.expect(Signal { ppdu, start: *start, end, power, rate });
    }
    while let Some(next) = radio.signals.on_way().first().copied() {
        radio.signals.hold(&next);
    }
    radio
}

/// Success in a window by the sum of all interference at each of its instants where any begins or ends.
fn simple(
    radio: &Radio,
    signal: &Signal,
    window: (u64, u64),
    decoder: &Decoder,
    receiver: &mut Receiver,
) -> f64 {
    let here = radio.signals.here();
    let others: Vec<&Signal> = here.iter().filter(|other| other.ppdu != signal.ppdu).collect();
    let (mut at, mut success) = (window.0, 1.0);
    while at < window.1 {
        let edges = others.iter().flat_map(|other| [other.start, other.end]);
        let next = edges.filter(|edge| *edge > at).fold(window.1, u64::min);
        let here = others.iter().filter(|other| other.start <= at && at < other.end);
        let interference = here.fold(0.0, |sum, other| sum + other.power);
        let snr = decoder.sinr(signal.power, interference);
        success *= receiver.success(decoder, snr, next - at);
        at = next;
    }
    success
}

proptest! {
    #[test]
    fn stretches_agree_with_the_simple_sum(
        signals in prop::collection::vec((0..900_000_u64, 1_000..900_000_u64, -1000..-500_i32), 0..40),
        tenths in -900..-550_i32,
        mcs in 0..8_u8,
        ends in prop::collection::btree_set(20_000..1_000_000_u64, 1..12),
    ) {
        let mut receiver = Receiver::new(ReceiverPlan::default());
        let mut radio = radio(&signals, &receiver);
        let power = from_db(f64::from(tenths) / 10.0);
        let rate = Rate::Ht { mcs, wide: true, short_guard: true };
        let own = Signal { ppdu: 1_000, start: 0, end: 1_000_000, power, rate };
        radio.expect(own);
        radio.signals.hold(&own);
        let decoder = receiver.decoder(rate, rate.width_mhz());
        let (mut from, mut stretch) = (10_000, Stretch::default());
        for until in ends {
            let window = (from, until);
            let expected = simple(&radio, &own, window, &decoder, &mut receiver);
            let success = radio.success(&own, window, &decoder, &mut stretch, &mut receiver);
            prop_assert_eq!(success.to_bits(), expected.to_bits());
            if let Some(is_received) = radio.foresee(&own, &decoder) {
                prop_assert_eq!(expected, f64::from(u8::from(is_received)));
            }
            from = until;
        }
    }
}
