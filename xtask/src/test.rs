//! `cargo xtask test`: what continuous integration checks; `cargo xtask test all`: what must hold before a change is delivered.

use crate::chore::{Outcome, cargo, command, quiet, show, target_directory, watch};
use crate::leg::{Done, Summary, Tally};
use crate::{
    artefact, deny, digest, docs, laws, page, pages, peer, python, soak, targets, text, tutorial,
    verify, wasm,
};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};

/// Features that are off by default and tested.
pub(crate) const FEATURES: &str = "gateway,recoup/object-store";

/// If it is set, tests that need namespaces fail where there are none.
const NAMESPACES: &str = "RECOUP_REQUIRE_NAMESPACES";

/// The seed of property tests: the same cases for everybody, unless it is set.
const SEED: &str = "PROPTEST_RNG_SEED";

type Leg = fn(&mut Tally) -> Outcome<Done>;

/// A leg by its name, with what it checks.
type Named = (&'static str, Leg, &'static str);

/// The legs, cheapest first.
const LEGS: [Named; 10] = [
    ("format", |_| held(cargo(&["fmt", "--all", "--check"])), "rustfmt would change nothing"),
    (
        "laws",
        |_| passed(laws::check()),
        "a crate imports only from the stairs below it, and modules in no circle",
    ),
    ("text", |_| passed(text::check()), "committed text has nothing that does not belong there"),
    (
        "docs",
        |_| passed(page::check().and(artefact::check()).and(docs::check())),
        "links lead somewhere, and what is generated is current",
    ),
    ("lint", lint, "clippy reports nothing, tests and examples included"),
    ("test", test, "unit, property, integration and documentation tests"),
    ("digests", |_| passed(digest::check()), "digests of simulations equal docs/notes/digests.csv"),
    ("verify", verify_leg, "drawn runs of the kept results of studies can be made again"),
    (
        "pages",
        pages_leg,
        "commands of the pages run as they are printed, and print what the pages show",
    ),
    ("doc", doc, "the documentation builds, and its links lead somewhere"),
];

/// Legs that run by name, and with all others by `all`.
const MORE_LEGS: [Named; 8] = [
    ("deny", deny_leg, "dependencies have licences, versions and sources that deny.toml allows"),
    (
        "targets",
        |_| targets::check(),
        "library and command compile for macOS, the engine for Windows and browsers",
    ),
    (
        "tutorial",
        |_| passed(tutorial::follow()),
        "the estimator of the tutorial compiles, keeps what all promise, and is swept",
    ),
    (
        "python",
        python_leg,
        "the wheel of the page installs into a fresh environment, and its tests pass",
    ),
    (
        "notebooks",
        notebooks_leg,
        "notebooks run from top to bottom, and sweeps survive lost workers",
    ),
    ("fuzz", fuzz, "fuzz targets compile"),
    ("interop", interop, "python-ndn, NDNts and litmus understand us, and we them"),
    ("soak", |_| soak_for("1"), "processes under random faults for a minute"),
];

/// Legs that only run by name.
const LONG_LEGS: [Named; 3] = [
    (
        "artefacts",
        artefact::build_all,
        "building commands of the pages make programs that pass the tests; by name only",
    ),
    (
        "wasm",
        |_| passed(wasm::attempt()),
        "digests of the simulator under Node equal the command's; by name only",
    ),
    ("endure", |_| soak_for("30"), "processes under random faults for half an hour; by name only"),
];

/// Programs that tests start, and their packages in Debian.
const PROGRAMS: [(&str, &str); 4] =
    [("curl", "curl"), ("kill", "procps"), ("ps", "procps"), ("python3", "python3")];

/// Fails with one line if a program is missing.
fn has_programs() -> Outcome {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_missing =
        |program: &str| !std::env::split_paths(&path).any(|it| it.join(program).is_file());
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|(program, _)| is_missing(program)).collect();
    let names = |of: fn(&(&'static str, &'static str)) -> &'static str, between| {
        let mut names: Vec<_> = missing.iter().map(of).collect();
        names.dedup();
        names.join(between)
    };
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "tests need {}; install the packages, on Debian: apt install {}",
            names(|it| it.0, ", "),
            names(|it| it.1, " ")
        )),
    }
}

/// Legs that run at the lowest priority beside the tests, once these are built: tests spend much of their time with waiting.
const BESIDE: [&str; 4] = ["lint", "doc", "digests", "verify"];
const BESIDE_ALL: [&str; 6] = ["deny", "lint", "doc", "digests", "targets", "verify"];

/// Name of both groups of legs together.
const ALL: &str = "all";

/// Runs the named legs, or those that need no name.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    if arguments.contains(&"--list") {
        for (name, _, meaning) in LEGS.iter().chain(&MORE_LEGS).chain(&LONG_LEGS) {
            println!("{name:<9} {meaning}");
        }
        println!("{ALL:<9} each leg above but those that run by name only");
        return Ok(());
    }
    let legs = || LEGS.iter().chain(&MORE_LEGS).chain(&LONG_LEGS);
    let names: Vec<&str> = legs().map(|(name, ..)| *name).chain([ALL]).collect();
    if let Some(unknown) = arguments.iter().find(|argument| !names.contains(argument)) {
        return Err(format!("no leg is called {unknown:?}; there are: {}", names.join(", ")));
    }
    let is_all = arguments.contains(&ALL);
    let is_default = is_all || arguments.is_empty();
    if is_default {
        has_programs()?;
    }
    let mut summary = Summary::default();
    let beside: &[&str] = match arguments {
        _ if is_all => &BESIDE_ALL,
        [] => &BESIDE,
        _ => &[],
    };
    let mut process = None;
    let groups = [(&LEGS[..], is_default), (&MORE_LEGS, is_all), (&LONG_LEGS, false)];
    for (legs, is_whole) in groups {
        for (name, leg, _) in legs {
            if (is_whole || arguments.contains(name)) && !beside.contains(name) {
                if *name == "test" && !beside.is_empty() {
                    summary.run("build", |_| held(tests(&["--quiet", "--no-run"])));
                    process = Some(Beside::start(beside)?);
                }
                summary.run(name, leg);
            }
        }
    }
    if let Some(process) = process {
        summary.run("beside", |_| process.end());
    }
    summary.finish()
}

/// The process that runs legs beside the others.
struct Beside {
    child: Child,
    /// All that it prints.
    log: PathBuf,
}

impl Beside {
    fn start(legs: &[&str]) -> Outcome<Self> {
        let here = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
        let log = target_directory()?.join("beside.log");
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let both = file.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
        let mut process = command("nice");
        process.args(["-n", "19"]).arg(here).arg("test").args(legs).stdout(file).stderr(both);
        let child = process.spawn().map_err(|error| format!("nice: {error}"))?;
        Ok(Self { child, log })
    }

    /// Waits for its end, and prints its output.
    fn end(mut self) -> Outcome<Done> {
        let status = self.child.wait().map_err(|error| format!("nice: {error}"))?;
        let printed = fs::read(&self.log);
        let printed = printed.map_err(|error| format!("{}: {error}", self.log.display()))?;
        println!("{}", String::from_utf8_lossy(&printed).trim());
        match status.success() {
            true => Ok(Done::Held(Tally::default())),
            false => Err(format!("a leg of them failed ({status})")),
        }
    }
}

fn verify_leg(_: &mut Tally) -> Outcome<Done> {
    verify::check().map(|stale| match stale.as_slice() {
        [] => Done::Held(Tally::default()),
        stale => Done::Partly(format!("stale: {}", stale.join("; "))),
    })
}

fn lint(_: &mut Tally) -> Outcome<Done> {
    let mut clippy = cargo(&["clippy", "--quiet", "--workspace", "--all-targets"]);
    clippy.args(["--features", FEATURES, "--", "-D", "warnings"]);
    held(clippy)
}

/// Fuzz targets are a workspace of their own, and bring parts in C++.
fn fuzz(_: &mut Tally) -> Outcome<Done> {
    if quiet(command("c++").arg("--version")).is_err() {
        return Ok(Done::Skipped("no C++ compiler".to_string()));
    }
    let folder = target_directory()?.join("fuzz-check");
    let mut check = cargo(&["check", "--quiet", "--bins", "--manifest-path", "fuzz/Cargo.toml"]);
    check.arg("--target-dir").arg(folder);
    held(check)
}

fn test(tally: &mut Tally) -> Outcome<Done> {
    counted(&mut tests(&["--no-fail-fast"]), tally)
}

fn tests(options: &[&str]) -> Command {
    let mut tests = cargo(&["test", "--workspace", "--features", FEATURES]);
    tests.args(options);
    if std::env::var_os(SEED).is_none() {
        tests.env(SEED, "1");
    }
    tests
}

fn doc(_: &mut Tally) -> Outcome<Done> {
    // Features as of the other legs, so that dependencies are checked once.
    let mut doc = cargo(&["doc", "--quiet", "--workspace", "--no-deps", "--features", FEATURES]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    held(doc)
}

fn pages_leg(_: &mut Tally) -> Outcome<Done> {
    match installed(soak::available(), NAMESPACES)? {
        Ok(()) => pages::run().map(Done::Partly),
        Err(skipped) => Ok(skipped),
    }
}

fn python_leg(tally: &mut Tally) -> Outcome<Done> {
    match installed(python::install(), peer::REQUIRE)? {
        Ok(tools) => tools.check(tally).map(|()| Done::Held(*tally)),
        Err(skipped) => Ok(skipped),
    }
}

fn notebooks_leg(tally: &mut Tally) -> Outcome<Done> {
    match installed(python::install(), peer::REQUIRE)? {
        Ok(tools) => tools.check_heavy(tally).map(|()| Done::Held(*tally)),
        Err(skipped) => Ok(skipped),
    }
}

fn interop(tally: &mut Tally) -> Outcome<Done> {
    let peers = match installed(peer::install(), peer::REQUIRE)? {
        Ok(peers) => peers,
        Err(skipped) => return Ok(skipped),
    };
    // Features as of the leg `test`, which has built these tests.
    let mut tests = cargo(&["test", "--workspace", "--features", FEATURES]);
    tests.args(["--test", "interop", "--test", "differential", "--no-fail-fast"]);
    tests.args(["--", "--ignored"]).env(peer::FOLDER, peers);
    counted(&mut tests, tally)
}

fn soak_for(minutes: &str) -> Outcome<Done> {
    match installed(soak::available(), NAMESPACES)? {
        Ok(()) => passed(soak::run(&["--minutes", minutes])),
        Err(skipped) => Ok(skipped),
    }
}

fn deny_leg(_: &mut Tally) -> Outcome<Done> {
    match installed(deny::install(), deny::REQUIRE)? {
        Ok(tool) => passed(deny::check(&tool)),
        Err(skipped) => Ok(skipped),
    }
}

/// A tool that was installed, or why the leg is skipped; an error if the variable `require` is set.
fn installed<T>(tool: Outcome<T>, require: &str) -> Outcome<Result<T, Done>> {
    match tool {
        Ok(tool) => Ok(Ok(tool)),
        Err(reason) if std::env::var_os(require).is_some() => Err(reason),
        Err(reason) => {
            println!("skipped: {reason}");
            Ok(Err(Done::Skipped(reason.lines().next().unwrap_or_default().to_string())))
        }
    }
}

fn passed(outcome: Outcome) -> Outcome<Done> {
    outcome.map(|()| Done::Held(Tally::default()))
}

fn held(mut command: Command) -> Outcome<Done> {
    passed(show(&mut command))
}

fn counted(command: &mut Command, tally: &mut Tally) -> Outcome<Done> {
    watch(command, |line| tally.add_line(line)).map(|()| Done::Held(*tally))
}
