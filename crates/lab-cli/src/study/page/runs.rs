//! Commands that show the runs behind the points of a figure.
use crate::arena::shell_word;
use recoup_studies::figure::Figure;
use recoup_studies::origin::{Origin, Origins};
use recoup_studies::result::Results;
use recoup_studies::study::Experiment;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Runs of a study with the folders that hold them.
pub(in crate::study) struct Runs<'a> {
    experiments: Vec<Experiment>,
    origins: Origins<'a>,
    folders: &'a BTreeMap<String, PathBuf>,
}

impl<'a> Runs<'a> {
    /// The runs of these experiments; `folders` by the names under which they are kept.
    pub(in crate::study) fn new(
        experiments: Vec<Experiment>,
        results: &'a Results,
        folders: &'a BTreeMap<String, PathBuf>,
    ) -> Self {
        Self { origins: Origins::new(&experiments, results), experiments, folders }
    }

    /// The runs behind a figure as its script reads them: texts with commands, and for each point of each series the number
    /// of its text.
    pub(super) fn of(&self, figure: &Figure) -> Value {
        let serving = self.experiments.iter().filter(|it| it.is_for(&figure.id));
        let serving: Vec<_> = serving.map(|experiment| experiment.name).collect();
        let mut texts: Vec<Value> = Vec::new();
        let mut number = |origin: &Origin| {
            let text = self.text(origin)?;
            let place = texts.iter().position(|it| *it == text).unwrap_or(texts.len());
            if place == texts.len() {
                texts.push(text);
            }
            Some(place)
        };
        let mut points = Vec::new();
        for series in &figure.series {
            let mut of = self.origins.of(&serving, figure, series);
            // A curve is of one run.
            if of.windows(2).all(|pair| pair[0] == pair[1]) {
                of.truncate(1);
            }
            let of: Vec<_> = of.iter().map(|it| it.as_ref().and_then(&mut number)).collect();
            points.push(of);
        }
        json!({ "texts": texts, "points": points, "experiments": serving })
    }

    /// The runs of a point in words, and the command that shows one.
    fn text(&self, origin: &Origin) -> Option<Value> {
        let curves = format!("{}-curves", origin.experiment);
        let own = self.folders.get(origin.experiment).filter(|_| origin.metric.is_some());
        let folder = own.or_else(|| self.folders.get(&curves))?;
        let values = origin.values.iter().map(|(axis, value)| format!("{axis}={value}"));
        let values: Vec<_> = values.collect();
        let at = if values.is_empty() { String::new() } else { format!(", {}", values.join(", ")) };
        let seed = origin.seeds.first()?;
        let text = match (&origin.metric, origin.seeds.len()) {
            (Some(metric), 1) => format!("{metric} of seed {seed}"),
            (Some(metric), count) => format!("mean of {metric} over {count} seeds"),
            (None, _) => format!("seed {seed}"),
        };
        let mut command = format!("recoup explain {}", shell_word(&folder.display().to_string()));
        for value in &values {
            command += &format!(" --at {}", shell_word(value));
        }
        command += &format!(" --seed {seed} --page run.html");
        Some(json!({ "text": format!("{}{at}: {text}", origin.experiment), "command": command }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_studies::result::Row;

    #[test]
    fn point_has_the_command_of_its_run() {
        let study = recoup_studies::all().into_iter().find(|it| it.key() == "yang2016").unwrap();
        let mut results = Results::default();
        let rows = recoup_studies::yang2016::DESIGNS.iter().zip(20..).flat_map(|(design, time)| {
            (1..=2).map(move |seed| Row {
                point: [("design".to_owned(), (*design).to_owned())].into(),
                seed,
                metrics: [("c1.time_s".to_owned(), f64::from(time) + seed as f64)].into(),
            })
        });
        results.experiments.insert("linear".into(), rows.collect());
        let folders = [("linear".to_owned(), PathBuf::from("/tmp/it's/linear"))].into();
        let experiments = study.experiments(recoup_studies::study::Scale::Check);
        let runs = Runs::new(experiments, &results, &folders);
        let figures = study.figures(&results);
        let figure = figures.iter().find(|it| it.id == "linear").unwrap();
        let found = runs.of(figure);
        // One text for each design, and none for the runs of the paper.
        assert_eq!(found["points"], json!([[0, 1, 2, 3], [null]]));
        let text = &found["texts"][1];
        assert_eq!(text["text"], "linear, design=#1: mean of c1.time_s over 2 seeds");
        let command =
            "recoup explain '/tmp/it'\\''s/linear' --at 'design=#1' --seed 1 --page run.html";
        assert_eq!(text["command"], command);
    }
}
