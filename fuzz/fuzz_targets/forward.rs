//! Configurations of `recoup forward`: a node can be made of any accepted text, and each error is one line.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Longer lines are no use to an operator.
const LONGEST_LINE: usize = 4_096;

fuzz_target!(|text: &str| {
    match recoup_cli::input::configuration(text) {
        Ok(_) => {}
        Err(line) => assert!(
            !line.contains('\n') && line.len() < LONGEST_LINE.max(2 * text.len()),
            "{line:?}"
        ),
    }
});
