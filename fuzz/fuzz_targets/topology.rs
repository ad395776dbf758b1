//! Topology files of other tools: any text is a topology or an error, and each topology passes its own checks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_sim::topology::read::{self, FORMATS, Format, Naming};

fuzz_target!(|input: (u8, &str)| {
    let (which, text) = input;
    let (_, given) = FORMATS[usize::from(which) % FORMATS.len()];
    for format in [Some(given), Format::guess(text)].into_iter().flatten() {
        for naming in [Naming::Label, Naming::Id] {
            if let Ok(topology) = read::read(format, text, naming) {
                assert_eq!(topology.check(), Ok(()), "{format}");
                let _ = topology.is_connected();
            }
        }
    }
});
