//! The project's own chores: `cargo xtask CHORE`. [`CHORES`] lists them.

mod artefact;
mod bench;
mod block;
mod chore;
mod deny;
mod digest;
mod docs;
mod fuzz;
mod growth;
mod instructions;
mod laws;
mod leg;
mod page;
mod pages;
mod peer;
mod process;
mod python;
mod soak;
mod targets;
mod test;
mod text;
mod tool;
mod tutorial;
mod verify;
mod wasm;

use chore::Outcome;
use std::process::ExitCode;

/// A chore: its name and its arguments, its effect, and its code.
type Chore = ([&'static str; 2], &'static str, fn(&[&str]) -> Outcome);

const CHORES: [Chore; 9] = [
    (
        ["test", "[all | LEG…] [--list]"],
        "checks that must hold before a change is delivered, or only the named legs",
        test::run,
    ),
    (
        ["bench instructions", "[--only WORD] [--accept]"],
        "instructions of a packet in each part, beside accepted values",
        instructions::run,
    ),
    (
        ["bench growth", "[--only WORD] [--runs N]"],
        "whether the cost of a unit rises as the work grows",
        growth::run,
    ),
    (
        ["bench", "[BINARY…] [--runs N] [--only WORD]"],
        "speed of whole commands, beside other binaries",
        bench::run,
    ),
    (
        ["soak", "[--hours N] [--seed N]"],
        "processes under random faults (default 30 minutes)",
        soak::run,
    ),
    (["fuzz", "[TARGET…] [--hours N]"], "fuzz targets in turn (default 1 minute each)", fuzz::run),
    (["docs", "[--check]"], "documents that follow from results and from the command", docs::run),
    (["digests", "[--write]"], "whether simulations have their kept digests", digest::run),
    (["wasm", "[--try]"], "the simulator as a page; its digests under Node", wasm::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let chosen = CHORES.iter().find_map(|([name, _], _, run)| {
        let name: Vec<&str> = name.split(' ').collect();
        words.strip_prefix(name.as_slice()).map(|rest| (run, rest))
    });
    let outcome = match (chosen, words.as_slice()) {
        (Some((run, rest)), _) => run(rest),
        (None, ["help" | "--help" | "-h"]) => {
            print!("{}", usage());
            Ok(())
        }
        _ => Err(usage()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let rows = CHORES.iter().map(|([name, arguments], meaning, _)| {
        format!("  {:<43} {meaning}\n", format!("{name} {arguments}"))
    });
    format!("usage: cargo xtask CHORE\n\n{}", rows.collect::<String>())
}
