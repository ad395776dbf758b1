//! The simulator in a browser: scenarios as text, runs in slices, results as numbers.
//!
//! `cargo xtask wasm` compiles it to WebAssembly. A script reads a [`Scenarios`], begins a [`Run`] of one of its points and
//! advances it slice by slice, so that it may stop in between. Then it takes the [`Results`]. They are those of the command
//! `recoup sim` on a file with the same text, digest included.
use recoup_core::time::Instant;
use recoup_scenario::ScenarioFile;
use recoup_sim::metric::Summary;
use recoup_sim::record::Table;
use recoup_sim::record::table::Values;
use std::time::Duration;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// The scenarios of a file: one for each point of its sweep.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Scenarios {
    file: ScenarioFile,
}

#[wasm_bindgen]
impl Scenarios {
    /// Reads the text of a scenario file, which names no other file.
    ///
    /// # Errors
    /// Its mistakes, each a line with its place and a remedy.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str) -> Result<Self, JsError> {
        Self::parse(text).map_err(|error| JsError::new(&error))
    }

    /// Names of the points, in the order of their numbers; the name is empty if there is no sweep.
    pub fn labels(&self) -> Vec<String> {
        self.file.points().map(|point| point.label()).collect()
    }

    /// Begins the run of a point, by its number, with a seed.
    ///
    /// # Errors
    /// If there is no such point, or its network cannot be built.
    pub fn run(&self, point: usize, seed: u64) -> Result<Run, JsError> {
        self.begin(point, seed).map_err(|error| JsError::new(&error))
    }
}

impl Scenarios {
    fn parse(text: &str) -> Result<Self, String> {
        let file = ScenarioFile::parse(text, &[]).map_err(|problems| problems.to_string())?;
        Ok(Self { file })
    }

    fn begin(&self, point: usize, seed: u64) -> Result<Run, String> {
        let point = self.file.point(point).ok_or_else(|| format!("there is no point {point}"))?;
        let no_files = |_: &str| Err("a page reads no files".to_owned());
        let scenario =
            self.file.scenario(&point, &no_files).map_err(|problems| problems.to_string())?;
        let network = scenario.network(seed).map_err(|problems| problems.to_string())?;
        let record = scenario.record();
        let run = recoup_sim::run::Run::new(network, seed, record.detail(), &record.plans());
        Ok(Run { run: run.map_err(|error| error.to_string())? })
    }
}

/// A run between its begin and its end.
#[wasm_bindgen]
pub struct Run {
    run: recoup_sim::run::Run,
}

#[wasm_bindgen]
impl Run {
    /// Simulates so many seconds more. Returns whether the run has ended.
    pub fn advance(&mut self, seconds: f64) -> bool {
        // A step that is no positive time still makes progress.
        let step = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let until = self.run.now() + step.max(Duration::from_nanos(1));
        self.run.run_until(until, None)
    }

    /// The simulated time, seconds.
    pub fn now(&self) -> f64 {
        self.run.now().since(Instant::ZERO).as_secs_f64()
    }

    /// The results.
    ///
    /// # Errors
    /// If the run has not ended, or the simulator is wrong.
    pub fn finish(self) -> Result<Results, JsError> {
        self.results().map_err(|error| JsError::new(&error))
    }
}

impl Run {
    fn results(self) -> Result<Results, String> {
        let results = self.run.finish().map_err(|error| error.to_string())?;
        let results = results.ok_or("the run has not ended")?;
        Ok(Results {
            digest: results.digest,
            end_s: results.end.as_secs_f64(),
            metrics: results.metrics,
            tables: results.tables,
        })
    }
}

/// Results of a run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Results {
    digest: u64,
    end_s: f64,
    metrics: Summary,
    tables: Vec<Table>,
}

#[wasm_bindgen]
impl Results {
    /// The digest of the run, as the command writes it.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// The end of the run, simulated seconds.
    pub fn end(&self) -> f64 {
        self.end_s
    }

    /// A metric by its name, such as `all.goodput_bps`; `undefined` if the run has none of that name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name)
    }

    /// A column of numbers of a record; empty if there is none. Numbers beyond 2^53 are rounded.
    pub fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        match self.column(table, column) {
            Some(Values::F64(values)) => values.clone(),
            Some(Values::U64(values)) => values.iter().map(|value| *value as f64).collect(),
            Some(Values::I64(values)) => values.iter().map(|value| *value as f64).collect(),
            Some(Values::Bool(values)) => values.iter().map(|value| f64::from(*value)).collect(),
            Some(Values::Text(_)) | None => Vec::new(),
        }
    }

    /// A column of words of a record; empty if there is none.
    pub fn words(&self, table: &str, column: &str) -> Vec<String> {
        match self.column(table, column) {
            Some(Values::Text(words)) => words.iter().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

impl Results {
    fn column(&self, table: &str, column: &str) -> Option<&Values> {
        let table = self.tables.iter().find(|found| found.name == table)?;
        table.column(column).map(|found| &found.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = include_str!("../../../examples/line.toml");

    fn results(point: usize, slice_s: f64) -> Results {
        let mut run = Scenarios::parse(LINE).unwrap().begin(point, 1).unwrap();
        while !run.advance(slice_s) {}
        run.results().unwrap()
    }

    #[test]
    fn slices_do_not_change_a_run() {
        let (fine, coarse) = (results(0, 0.013), results(0, 1e9));
        // Of this example in docs/notes/digests.csv.
        assert_eq!(fine.digest(), "6796efc242fd4436");
        assert_eq!(coarse.digest(), fine.digest());
        assert_eq!(fine.metric("c1.completed"), Some(1.0));
        assert_eq!(fine.metric("c2.completed"), None);
    }

    #[test]
    fn records_are_columns() {
        let results = results(0, 1.0);
        let times = results.numbers("window", "time_s");
        assert_eq!(results.numbers("window", "window").len(), times.len());
        assert!(times.len() > 100 && times.is_sorted());
        assert_eq!(results.words("queue", "link").first().map(String::as_str), Some("consumer-r1"));
        assert!(results.numbers("queue", "none").is_empty());
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        let error = Scenarios::parse(&LINE.replace("delay", "dellay")).unwrap_err();
        assert!(error.contains("did you mean `delay`?"), "{error}");
        let no_point = Scenarios::parse(LINE).unwrap().begin(1, 1).err();
        assert_eq!(no_point.as_deref(), Some("there is no point 1"));
    }

    #[test]
    fn unfinished_run_has_no_results() {
        let mut run = Scenarios::parse(LINE).unwrap().begin(0, 1).unwrap();
        assert!(!run.advance(f64::NAN));
        assert!(run.now() < 1e-6);
        assert_eq!(run.results().unwrap_err(), "the run has not ended");
    }
}
