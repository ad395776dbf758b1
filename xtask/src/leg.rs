//! A leg of `cargo xtask test`: one thing that must hold, timed and summarised.

use crate::chore::Outcome;
use std::fmt;
use std::time::{Duration, Instant};

/// How a leg ended, unless it failed.
pub(crate) enum Done {
    /// Passed, with the tests that cargo counted, if any.
    Held(Tally),
    /// Passed as far as it could be checked; the rest in one line.
    Partly(String),
    /// Not run here; the reason in one line.
    Skipped(String),
}

/// Tests as cargo's `test result:` lines count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that this run left out.
    pub(crate) ignored: u64,
}

impl Tally {
    /// Adds a `test result:` line; ignores any other line.
    pub(crate) fn add_line(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else {
            return;
        };
        for count in counts.split([';', '.']) {
            let mut words = count.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            match (number, words.next()) {
                (Some(number), Some("passed")) => self.passed += number,
                (Some(number), Some("failed")) => self.failed += number,
                (Some(number), Some("ignored")) => self.ignored += number,
                _ => {}
            }
        }
    }

    fn add(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

/// Outcomes of all legs.
#[derive(Default)]
pub(crate) struct Summary {
    rows: Vec<Row>,
    total: Tally,
    failed_legs: u64,
}

struct Row {
    name: &'static str,
    verdict: String,
    took: Duration,
}

impl Summary {
    /// Runs a leg and notes how it ended and how long it took.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        leg: impl FnOnce(&mut Tally) -> Outcome<Done>,
    ) {
        println!("\n=== {name}");
        let start = Instant::now();
        let mut tally = Tally::default();
        let outcome = leg(&mut tally);
        self.total.add(&tally);
        let verdict = match outcome {
            Ok(Done::Held(Tally { passed: 0, .. })) => "ok".to_string(),
            Ok(Done::Held(Tally { passed, .. })) => format!("ok, {passed} tests"),
            Ok(Done::Partly(rest)) => format!("ok; {rest}"),
            Ok(Done::Skipped(reason)) => format!("skipped: {reason}"),
            Err(message) => {
                eprintln!("{message}");
                self.failed_legs += 1;
                format!("FAILED: {}", message.lines().next().unwrap_or_default())
            }
        };
        self.rows.push(Row { name, verdict, took: start.elapsed() });
    }

    /// Fails if any leg failed.
    pub(crate) fn finish(self) -> Outcome {
        println!("\n{self}");
        match self.failed_legs {
            0 => Ok(()),
            1 => Err("one leg failed".into()),
            many => Err(format!("{many} legs failed")),
        }
    }
}

impl fmt::Display for Summary {
    /// A table of the legs, then one line in cargo's own words over all tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Row { name, verdict, took } in &self.rows {
            writeln!(f, "{name:<10} {:>7.1} s  {verdict}", took.as_secs_f64())?;
        }
        let word = if self.failed_legs == 0 { "ok" } else { "FAILED" };
        let took: f64 = self.rows.iter().map(|row| row.took.as_secs_f64()).sum();
        let Tally { passed, failed, ignored } = self.total;
        write!(
            f,
            "test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; \
             0 measured; 0 filtered out; finished in {took:.2}s"
        )
    }
}
