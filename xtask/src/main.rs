//! The project's own chores: `cargo xtask CHORE`.
//!
//! | chore | what it does |
//! |---|---|
//! | `test` | format, lints, laws, text, dependencies, unit, property, integration, doc and interoperability tests |
//! | `bench` | all figures that have an aim, as a table and a page |
//! | `bench fetch` | our goodput beside the machine's limits and beside neighbours |
//! | `bench forward` | exchanges that a forwarder process moves per CPU-second, its round trips and its memory |
//! | `bench recovery` | what recovery costs two forwarders on a link that loses nothing |
//! | `bench fair` | what schedulers cost a forwarder process |
//! | `bench survive` | whether a forwarder stands floods, hostile packets, faces that come and go, and being killed |
//! | `bench sim` | packet-hops that the simulator moves per CPU-second |
//! | `bench instructions` | instructions of a packet in each part, beside accepted values |
//! | `repeat` | the tests again and again, with other random cases each time |
//! | `soak` | forwarders, servers and fetches under random faults |
//! | `fuzz` | runs the fuzz targets for a while |
//! | `docs` | documents that follow from kept results (`docs/studies.md`, `docs/which.md`) and from the command line (`docs/commands.md`) |
//! | `book` | the documents as HTML pages, in `target/book` |
//! | `prose` | a random list of help texts, errors, comments and test names |
//! | `digests` | whether simulations still do what they did |
//! | `verify` | whether randomly drawn runs of a study's kept result can be made again |
//! | `wasm` | the simulator as a page, for browsers |
//! | `dist` | the files of a release: packages, archives, bill of materials, digests |

mod artefact;
mod bench;
mod book;
mod browser;
mod chore;
mod circle;
mod deny;
mod digest;
mod dist;
mod docs;
mod fuzz;
mod layer;
mod leg;
mod page;
mod peer;
mod prose;
mod python;
mod repeat;
mod soak;
mod targets;
mod test;
mod text;
mod tool;
mod tutorial;
mod verify;
mod wasm;
mod words;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [LEG…] [--list]             everything that must hold before a change is delivered,
                                   or only the named legs
  bench [--runs N] [--report FILE] all figures that have an aim, as a table and a page
  bench fetch [--runs N] [--json]  our speed beside the machine's limits and beside neighbours
  bench forward [--runs N]         exchanges per CPU-second of a forwarder, its latency and memory
  bench recovery [--runs N]        what recovery costs two forwarders that lose nothing
  bench fair [--runs N]            what schedulers cost a forwarder process
  bench survive [--interests N]    whether a forwarder stands floods and hostile peers
  bench sim [--runs N] [--json]    packet-hops that the simulator moves per CPU-second
  bench instructions [--accept]    instructions of a packet in each part, beside accepted values
  repeat [PACKAGE…] [--runs N]     the tests N times (default 20), with other random cases each time
  soak [--hours N] [--seed N]      processes under random faults (default 30 minutes)
  fuzz [AREA…|TARGET…] [--hours N] fuzz targets in turn (default 1 minute of processor time an area)
  docs [--check]                   documents that follow from kept results and the command line
  book                             the documents as HTML pages, in target/book
  prose [--seed N] [--commit C]    a random list of help texts, errors, comments and test names
  prose --words [--commit C]       breaches of the rules of language, by crate
  digests [--write]                whether digests of simulations equal docs/notes/digests.csv
  verify KEY [--runs N]            20 (N) drawn runs of the study's kept result, once more
  wasm [--try]                     the simulator as a page, in target/wasm; tried in Chromium
  dist [--url FOLDER] [--profile P]
                                   the files of a release, in target/bundle: packages, archives,
                                   container image, bill of materials, digests
       [--guided]                  arranged by a profile of the command at work
       [--twice]                   the same in a second folder: are the bytes equal?
       [--try]                     installed, run and removed in a clean Debian (needs root)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test", rest @ ..] => test::run(rest),
        ["repeat", rest @ ..] => repeat::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["bench"] => bench::whole::run(&[]),
        ["bench", first, ..] if first.starts_with("--") => bench::whole::run(&words[1..]),
        ["bench", "fetch", rest @ ..] => bench::run(rest),
        ["bench", "forward", rest @ ..] => bench::forward::run(rest),
        ["bench", "recovery", rest @ ..] => bench::recovery::run(rest),
        ["bench", "fair", rest @ ..] => bench::fair::run(rest),
        ["bench", "survive", rest @ ..] => bench::survive::run(rest),
        ["bench", "sim", rest @ ..] => bench::simulation::run(rest),
        ["bench", "instructions", rest @ ..] => bench::instructions::run(rest),
        ["docs", rest @ ..] => docs::run(rest),
        ["book"] => book::run(),
        ["prose", rest @ ..] => prose::run(rest),
        ["digests", rest @ ..] => digest::run(rest),
        ["verify", rest @ ..] => verify::run(rest),
        ["wasm", rest @ ..] => wasm::run(rest),
        ["dist", rest @ ..] => dist::run(rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
