//! Configurations of `recoup forward`: any text is one or is refused in one line, and of what is accepted a node can be made.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Longer lines are no use to an operator.
const LONGEST_LINE: usize = 4_096;

fuzz_target!(|text: &str| {
    match recoup_cli::input::configuration(text) {
        Ok(()) => {}
        Err(line) => assert!(
            !line.contains('\n') && line.len() < LONGEST_LINE.max(2 * text.len()),
            "{line:?}"
        ),
    }
});
