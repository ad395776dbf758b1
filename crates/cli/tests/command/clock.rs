//! A calendar clock that is set while commands are signed and judged.
use crate::forward::at;
use crate::place::{Place, Server};
use std::process::Command;

/// A library that adds the seconds in a file to the calendar clock of a process.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) {
        long long seconds = 0;
        FILE *file = fopen(getenv("CLOCK_FILE"), "r");
        if (file != NULL) {
            if (fscanf(file, "%lld", &seconds) != 1) seconds = 0;
            fclose(file);
        }
        time->tv_sec += seconds;
    }
    return result;
}
"#;

/// A machine whose clock can be set.
struct Machine {
    place: Place,
}

impl Machine {
    /// None without a C compiler.
    fn new() -> Option<Self> {
        let place = Place::new();
        place.write("shim.c", SHIM.as_bytes());
        let files = [place.path("shim.so"), place.path("shim.c")];
        let made =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).args(files).arg("-ldl").status();
        if made.is_ok_and(|status| status.success()) {
            return Some(Self { place });
        }
        assert!(std::env::var_os("RECOUP_REQUIRE_NAMESPACES").is_none(), "cc is missing");
        eprintln!("skipped: there is no C compiler (cc)");
        None
    }

    /// The clock goes wrong by so many seconds.
    fn set(&self, seconds: i64) {
        self.place.write("clock.new", seconds.to_string().as_bytes());
        std::fs::rename(self.place.path("clock.new"), self.place.path("clock")).unwrap();
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.place.command(words);
        command.env("LD_PRELOAD", self.place.path("shim.so"));
        command.env("CLOCK_FILE", self.place.path("clock"));
        command
    }

    fn start(&self, words: &str) -> Server {
        Place::start(self.command(words), words, b"")
    }
}

#[test]
#[cfg(target_os = "linux")]
fn signed_commands_go_on_after_clock_steps() {
    let Some(machine) = Machine::new() else { return };
    let place = &machine.place;
    // The machine boots at 1970.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let boot = 30 - now.as_secs() as i64;
    machine.set(boot);
    place.run("key new /operator").succeeds();
    place.run("key export /operator --public -o op.cert").succeeds();
    let cert = place.path("op.cert").display().to_string();
    let config = format!(
        "[[listen]]\nuri = \"tcp://127.0.0.1:0\"\n[management]\nkeys = [{cert:?}]\nopen = []\n"
    );
    place.write("node.toml", config.as_bytes());
    let forwarder = machine.start("forward --config node.toml");
    let day = 86_400;
    for clock in [boot, 0, -day, -day - 3_600, 3 * day, 3 * day - 600, 0] {
        machine.set(clock);
        let words = format!("ctl --face {} cs erase / --sign /operator", at(&forwarder, "tcp"));
        let output = machine.command(&words).output().expect("it runs");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "the clock is wrong by {clock} s: {log}");
    }
    assert_eq!(forwarder.stop("TERM").0, Some(0));
}
