//! Recorded round trips, as `recoup rto replay` reads them: any bytes are a trace or an error of one line, and every
//! estimator makes finite figures of a trace.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match recoup_lab_cli::input::trace(bytes) {
        Ok(all) => {
            for replayed in all {
                let share = replayed.bad_share.unwrap_or_default();
                assert!((0.0..=1.0).contains(&share), "{replayed:?}");
                let wait = replayed.relative_wait.unwrap_or_default();
                assert!(wait >= 0.0 && wait.is_finite(), "{replayed:?}");
                // A mean is a rounded sum.
                let [least, mean, most] = replayed.rto_ms.unwrap_or_default();
                let is_between = least <= mean * (1.0 + 1e-9) && mean <= most * (1.0 + 1e-9);
                assert!(least >= 0.0 && is_between && most.is_finite(), "{replayed:?}");
            }
        }
        Err(line) => assert!(!line.contains('\n'), "{line:?}"),
    }
});
