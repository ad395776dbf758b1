//! The laboratory's command as users run it: effects and errors.
#[allow(dead_code, reason = "some of its abilities are for the tests of the other program")]
#[path = "../../../../crates/cli/tests/command/place.rs"]
mod place;

mod arena;
mod emulate;
mod explain;
mod generate;
mod lab;
mod processes;
mod rto;
mod sim;
mod study;
