//! The project's own chores: `cargo xtask CHORE`.
//!
//! | chore | what it does |
//! |---|---|
//! | `test` | format, lints, laws, text, unit, property, integration, doc and interoperability tests |
//! | `bench fetch` | our goodput beside the machine's limits and beside neighbours |
//! | `bench forward` | exchanges that a forwarder process moves per CPU-second, its round trips and its memory |
//! | `bench recovery` | what recovery costs two forwarders on a link that loses nothing |
//! | `bench fair` | what schedulers cost a forwarder process |
//! | `bench survive` | whether a forwarder stands floods, hostile packets, faces that come and go, and being killed |
//! | `bench sim` | packet-hops that the simulator moves per CPU-second |
//! | `soak` | the tests again and again, with other random cases each time |
//! | `fuzz` | runs the fuzz targets for a while |
//! | `docs` | documentation that is made of kept results: the table of the studies, `docs/which.md` |
//! | `dist` | man pages and shell completions into `target/dist` |

mod bench;
mod chore;
mod dist;
mod docs;
mod fuzz;
mod layer;
mod leg;
mod peer;
mod soak;
mod test;
mod text;
mod tutorial;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [LEG…] [--list]             everything that must hold before a change is delivered,
                                   or only the named legs
  bench fetch [--runs N] [--json]  our speed beside the machine's limits and beside neighbours
  bench forward [--runs N]         exchanges per CPU-second of a forwarder, its latency and memory
  bench recovery [--runs N]        what recovery costs two forwarders that lose nothing
  bench fair [--runs N]            what schedulers cost a forwarder process
  bench survive [--interests N]    whether a forwarder stands floods and hostile peers
  bench sim [--runs N] [--json]    packet-hops that the simulator moves per CPU-second
  soak [PACKAGE…] [--runs N]       the tests N times (default 20), with other random cases each time
  fuzz [TARGET] [--minutes N]      run one fuzz target, or each in turn (default 1 minute each)
  docs [--check]                   what documentation says of studies, from docs/studies
  dist                             man pages and shell completions into target/dist
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test", rest @ ..] => test::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["bench", "fetch", rest @ ..] => bench::run(rest),
        ["bench", "forward", rest @ ..] => bench::forward::run(rest),
        ["bench", "recovery", rest @ ..] => bench::recovery::run(rest),
        ["bench", "fair", rest @ ..] => bench::fair::run(rest),
        ["bench", "survive", rest @ ..] => bench::survive::run(rest),
        ["bench", "sim", rest @ ..] => bench::simulation::run(rest),
        ["docs", rest @ ..] => docs::run(rest),
        ["dist"] => dist::run(),
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
