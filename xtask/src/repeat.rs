//! `cargo xtask repeat`: the tests again and again, with other random cases each time.
//!
//! A change is judged by fixed cases ([`SEED`]); failures of random cases are independent of the
//! change.

use crate::chore::{Outcome, cargo, watch};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where property tests read the seed of their cases.
pub(crate) const SEED: &str = "PROPTEST_RNG_SEED";

const DEFAULT_RUNS: u64 = 20;

/// Repeats the tests; reports the failures of each run with the seed that repeats it.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (runs, packages) = parse(arguments)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first = since.as_secs();
    let mut failures = Failures::default();
    for run in 0..runs {
        let seed = first + run;
        println!("\n=== run {} of {runs}: {SEED}={seed}", run + 1);
        let mut tests = cargo(&["test", "--quiet", "--no-fail-fast", "--lib", "--bins", "--tests"]);
        match packages.is_empty() {
            true => tests.arg("--workspace"),
            false => tests.args(packages.iter().flat_map(|package| ["--package", *package])),
        };
        let outcome = watch(tests.env(SEED, seed.to_string()), |line| failures.note(line, seed));
        if outcome.is_err() {
            failures.note_run(seed);
        }
    }
    failures.finish(runs)
}

fn parse<'a>(arguments: &[&'a str]) -> Outcome<(u64, Vec<&'a str>)> {
    let (mut runs, mut packages) = (DEFAULT_RUNS, Vec::new());
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--runs" => {
                let number = rest.next().and_then(|word| word.parse().ok());
                runs = number.ok_or("--runs needs a whole number")?;
            }
            package if !package.starts_with('-') => packages.push(package),
            other => return Err(format!("what is {other:?}? repeat [PACKAGE…] [--runs N]")),
        }
    }
    Ok((runs, packages))
}

/// Failed tests with their seeds.
#[derive(Debug, Default)]
struct Failures {
    tests: BTreeMap<String, Vec<u64>>,
    runs: Vec<u64>,
}

impl Failures {
    /// Records the headline of a failed test.
    fn note(&mut self, line: &str, seed: u64) {
        let name = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----"));
        if let Some(name) = name {
            self.tests.entry(name.to_string()).or_default().push(seed);
        }
    }

    fn note_run(&mut self, seed: u64) {
        self.runs.push(seed);
    }

    fn finish(self, runs: u64) -> Outcome {
        if self.runs.is_empty() {
            println!("\nno test failed in {runs} runs");
            return Ok(());
        }
        for (test, seeds) in &self.tests {
            println!("{test}: {} of {runs} runs, {SEED}={seeds:?}", seeds.len());
        }
        Err(format!("{} of {runs} runs failed, {SEED}={:?}", self.runs.len(), self.runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_test_is_recorded_with_its_seeds() {
        let mut failures = Failures::default();
        failures.note("test a::b ... FAILED", 1);
        failures.note("---- a::b stdout ----", 1);
        failures.note("---- a::b stdout ----", 2);
        assert_eq!(failures.tests, BTreeMap::from([("a::b".to_string(), vec![1, 2])]));
        failures.note_run(2);
        assert_eq!(failures.finish(3), Err(format!("1 of 3 runs failed, {SEED}=[2]")));
    }

    #[test]
    fn runs_and_packages_are_read_in_any_order() {
        assert_eq!(parse(&["recoup-sim", "--runs", "3"]), Ok((3, vec!["recoup-sim"])));
        assert_eq!(parse(&[]), Ok((20, vec![])));
        assert!(parse(&["--runs", "few"]).is_err());
    }
}
