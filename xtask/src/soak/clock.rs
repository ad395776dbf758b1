//! A time of day that jumps: a library before the C library of each process adds the seconds that a file has.

use super::{Soak, sources};
use crate::chore::{command, quiet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Offsets of the clock. Certificates are issued at the real time, so that they are valid at each of them.
pub(super) const OFFSETS: (u64, u64) = (3_600, 48 * 3_600);

/// The clock of all processes of a soak.
#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    offset: PathBuf,
}

impl Clock {
    /// Compiles the library; `None` without a C compiler.
    pub(super) fn build(soak: &Soak) -> Option<Self> {
        let (library, offset) = (soak.folder.join("clock.so"), soak.folder.join("clock"));
        let mut compiler = command("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library);
        let built = quiet(compiler.arg(sources().join("clock.c")));
        let clock = Self { library, offset };
        match built.and_then(|()| clock.set(Duration::from_secs(OFFSETS.0))) {
            Ok(()) => Some(clock),
            Err(reason) => {
                println!("clocks do not jump: {}", reason.lines().next().unwrap_or_default());
                None
            }
        }
    }

    /// Lets the clock of all processes jump.
    pub(super) fn set(&self, offset: Duration) -> Result<(), String> {
        // A reader sees the old or the new file.
        let next = self.offset.with_extension("next");
        let written = fs::write(&next, offset.as_secs().to_string());
        written.and_then(|()| fs::rename(&next, &self.offset)).map_err(|error| error.to_string())
    }

    pub(super) fn apply(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("RECOUP_SOAK_CLOCK", &self.offset);
    }
}
