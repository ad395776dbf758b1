//! Recorded motions of ns-2 and SUMO: any text is a motion or an error, and each station has a finite position at any time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_transport::time::Instant;
use recoup_wifi::motion::trace::{self, Unit};

fuzz_target!(|text: &str| {
    let ns2 = trace::ns2(text).into_iter().flat_map(|it| it.into_values());
    let sumo = trace::sumo(text, Unit::Found).into_iter().flat_map(|it| it.into_values());
    for motion in ns2.chain(sumo).take(20) {
        for millis in [0, 1, 999, 60_000, 86_400_000, u64::MAX / 2_000_000] {
            let place = motion.position(Instant::from_millis(millis));
            assert!(place.x.is_finite() && place.y.is_finite(), "{place:?}");
        }
    }
});
