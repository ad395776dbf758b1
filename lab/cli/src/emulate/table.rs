//! Simulated and real runs side by side, for people and for programs.
use super::duel;
use crate::error::{Exit, Failure};
use crate::format;
use recoup_sim::statistic::Estimate;
use recoup_studies::compare::{Cell, Comparison, Line, Quantity};
use recoup_studies::result::Results;
use recoup_studies::rule;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// A comparison with its title.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// Title of the runs.
    pub title: &'a str,
    /// The comparison.
    pub comparison: &'a Comparison,
}

impl Table<'_> {
    /// How a command ends that compared.
    ///
    /// # Errors
    /// If both disagree, a contest ends against its expectation, or either is undecided.
    pub(crate) fn judge(&self) -> Result<(), Failure> {
        let percent = self.comparison.within * 100.0;
        let fail = |what| Err(Failure::new(Exit::Other, format!("{}: {what}", self.title)));
        match self.comparison.holds() {
            Some(true) => {}
            Some(false) => return fail("a contest ends against its expectation".into()),
            None => return fail("contests are undecided; run them with more --seeds".into()),
        }
        match self.comparison.agrees() {
            Some(true) => Ok(()),
            Some(false) => fail(format!(
                "simulation and processes differ by more than {percent} % at decisive points"
            )),
            None => {
                fail("a run did not end, so simulation and processes cannot be compared".into())
            }
        }
    }
}

/// Lateness of the links of real runs, as a measure of trust: a busy machine is a queue that no model has.
pub(crate) fn lateness(real: &Results) -> String {
    let all = |name: &str| {
        let rows = real.experiments.values().flatten();
        rows.filter_map(|row| row.metrics.get(name).copied()).collect::<Vec<_>>()
    };
    let mean = recoup_sim::statistic::mean(&all("links.late_mean_s")).unwrap_or_default();
    let worst = all("links.late_max_s").into_iter().fold(0.0, f64::max);
    let (mean, worst) = (format::milliseconds(mean * 1e3), format::milliseconds(worst * 1e3));
    format!(
        "links were {mean} ms late on average, {worst} ms at worst; on a busy machine that distorts times"
    )
}

/// A mean with its interval; of a single run with four digits; or that there is none.
pub(super) fn mean(estimate: Option<Estimate>, unit: &str) -> String {
    let Some(estimate) = estimate else { return "none".into() };
    if estimate.half_width.is_finite() && (estimate.half_width, estimate.mean) != (0.0, 0.0) {
        return rule::text(&estimate, unit);
    }
    let places = match estimate.mean.abs() {
        value if value >= 1000.0 || value.fract() == 0.0 => 0,
        value if value >= 100.0 => 1,
        value if value >= 10.0 => 2,
        _ => 3,
    };
    format!("{:.places$} {unit}", estimate.mean).trim_end().to_owned()
}

/// By how much the real mean is above the simulated one.
pub(super) fn difference(cell: &Cell) -> String {
    cell.difference().map_or_else(String::new, |part| format!("{:+.1} %", part * 100.0))
}

/// Where a line is: the experiment's values and whose figures they are.
fn place(line: &Line) -> String {
    let values = Some(point(&line.point)).filter(|values| !values.is_empty());
    values.into_iter().chain([line.place.clone()]).collect::<Vec<_>>().join(", ")
}

/// Values of a sweep.
pub(super) fn point(values: &BTreeMap<String, String>) -> String {
    let values = values.iter().map(|(axis, value)| format!("{axis} {value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// The verdict on a line.
fn verdict(line: &Line) -> &'static str {
    match (line.is_decisive, line.agrees) {
        (false, _) => "",
        (true, Some(true)) => "agrees",
        (true, Some(false)) => "DIFFERS",
        (true, None) => "undecided",
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut experiment = "";
        for line in &self.comparison.lines {
            if line.experiment != experiment {
                experiment = &line.experiment;
                writeln!(f, "{experiment:<24}{:>22}{:>22}{:>10}", "simulated", "sockets", "")?;
            }
            writeln!(f, "  {}", place(line))?;
            for (place, (cell, quantity)) in
                line.cells.iter().zip(&self.comparison.quantities).enumerate()
            {
                let verdict = if place == 0 { verdict(line) } else { "" };
                row(f, cell, quantity, verdict)?;
            }
            if !line.reported.is_empty() {
                writeln!(f, "    {:<20}{:>22}", "the paper's", line.reported)?;
            }
        }
        duel::table(f, &self.comparison.duels)?;
        let percent = self.comparison.within * 100.0;
        let what = self.comparison.quantities.first().map_or("", |it| it.label.as_str());
        match self.comparison.agrees() {
            Some(true) if !self.comparison.lines.iter().any(|line| line.is_decisive) => {
                write!(f, "none of these points is decisive ({what})")
            }
            Some(true) => write!(f, "simulation and processes agree within {percent} % ({what})"),
            Some(false) => {
                write!(f, "simulation and processes differ by more than {percent} % ({what})")
            }
            None => write!(f, "simulation and processes cannot be compared: a run did not end"),
        }
    }
}

fn row(f: &mut fmt::Formatter<'_>, cell: &Cell, quantity: &Quantity, verdict: &str) -> fmt::Result {
    let (simulated, real) = (mean(cell.simulated, &quantity.unit), mean(cell.real, &quantity.unit));
    let text = format!(
        "    {:<20}{simulated:>22}{real:>22}{:>10}  {verdict}",
        quantity.label,
        difference(cell)
    );
    writeln!(f, "{}", text.trim_end())
}

impl serde::Serialize for Table<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Comparison { quantities, within, lines, duels } = self.comparison;
        let duels: Vec<Value> = duels.iter().map(duel::document).collect();
        let lines: Vec<Value> = lines.iter().map(|line| of_line(line, quantities)).collect();
        let (agrees, holds) = (self.comparison.agrees(), self.comparison.holds());
        json!({
            "title": self.title, "within": within, "agrees": agrees, "lines": lines,
            "contests": duels, "holds": holds,
        })
        .serialize(serializer)
    }
}

fn of_line(line: &Line, quantities: &[Quantity]) -> Value {
    let of = |it: Option<Estimate>| {
        it.map(|it| json!({ "mean": it.mean, "runs": it.count, "ci95": Some(it.half_width).filter(|w| w.is_finite()).map(|w| [it.mean - w, it.mean + w]) }))
    };
    let cells = line.cells.iter().zip(quantities).map(|(cell, quantity)| {
        let document = json!({
            "unit": quantity.unit, "simulated": of(cell.simulated), "sockets": of(cell.real),
            "difference": cell.difference(),
        });
        (quantity.metric.clone(), document)
    });
    let metrics: serde_json::Map<String, Value> = cells.collect();
    json!({
        "experiment": line.experiment, "values": line.point, "place": line.place, "decisive": line.is_decisive,
        "agrees": line.agrees, "paper": line.reported, "metrics": metrics,
    })
}

#[cfg(test)]
mod tests {
    use super::duel::tests::{duel, time};
    use super::*;

    fn comparison(real: &[f64]) -> Comparison {
        let cell =
            Cell { simulated: Estimate::of(&[10.0, 10.0], 0.95), real: Estimate::of(real, 0.95) };
        let line = Line {
            experiment: "line".into(),
            point: BTreeMap::from([("design".into(), "#0".into())]),
            place: "c1".into(),
            reported: "9.9 s".into(),
            agrees: cell.difference().map(|part| part.abs() <= 0.05),
            cells: vec![cell],
            is_decisive: true,
        };
        Comparison { quantities: vec![time()], within: 0.05, lines: vec![line], duels: Vec::new() }
    }

    #[test]
    fn table_shows_agreement() {
        let comparison = comparison(&[10.2]);
        let table = Table { title: "line.toml", comparison: &comparison };
        let text = table.to_string();
        for piece in
            ["design #0, c1", "10.000 s", "10.20 s", "+2.0 %  agrees", "the paper's", "within 5 %"]
        {
            assert!(text.contains(piece), "{piece}: {text}");
        }
        assert!(table.judge().is_ok());
        let document = serde_json::to_value(&table).unwrap();
        assert_eq!(document["lines"][0]["metrics"]["time_s"]["sockets"]["runs"], 1);
        assert_eq!((&document["agrees"], &document["within"]), (&true.into(), &0.05.into()));
    }

    #[test]
    fn contest_against_its_expectation_fails() {
        for (ratios, piece) in [([1.2, 1.2], "against its expectation"), ([0.9, 1.1], "undecided")]
        {
            let comparison = Comparison { duels: vec![duel(&ratios, true)], ..comparison(&[10.2]) };
            let table = Table { title: "repair", comparison: &comparison };
            assert!(table.judge().unwrap_err().to_string().contains(piece));
            assert_eq!(serde_json::to_value(&table).unwrap()["contests"][0]["theirs"], "Simple1");
        }
        let comparison = Comparison { duels: vec![duel(&[0.9, 0.9], true)], ..comparison(&[10.2]) };
        let table = Table { title: "repair", comparison: &comparison };
        assert!(table.judge().is_ok() && table.to_string().contains("less: holds"));
    }

    #[test]
    fn lateness_of_links_is_shown() {
        use recoup_studies::result::Row;
        let row = |mean: f64, worst: f64| {
            let metrics =
                [("links.late_mean_s".to_owned(), mean), ("links.late_max_s".to_owned(), worst)];
            Row { metrics: metrics.into(), ..Row::default() }
        };
        let mut real = Results::default();
        real.experiments.insert("line".into(), vec![row(50e-6, 0.02), row(150e-6, 0.01)]);
        let text = lateness(&real);
        assert!(text.contains("0.100 ms late") && text.contains("20.00 ms at worst"), "{text}");
    }

    #[test]
    fn disagreement_and_missing_runs_fail() {
        for (real, piece) in
            [(vec![11.0], "differ by more than 5 %"), (Vec::new(), "cannot be compared")]
        {
            let comparison = comparison(&real);
            let table = Table { title: "line.toml", comparison: &comparison };
            assert!(table.to_string().contains(piece), "{table}");
            assert!(table.judge().unwrap_err().to_string().contains(piece));
        }
    }
}
