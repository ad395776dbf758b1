//! Calibration of a study: what its paper leaves open is searched for by claims that do not gate, and the choice is
//! frozen before the gating claims are run.
use crate::figure::{Axis, Figure, Series, Style};
use recoup_lab::calibrate::{Deviation, Landscape, Plan, Round, Score, Target};
use recoup_lab::campaign::Campaign;
use recoup_lab::source::Source;
use recoup_lab::{Error, digest};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Candidates of the last round that the page lists.
const LISTED: usize = 12;

/// The search of a study, as its `targets.toml` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The scenario; the points of its sweep are the candidates.
    #[serde(skip)]
    pub scenario: String,
    /// The axis whose values belong to each candidate.
    pub inner: Option<String>,
    /// The values that the paper has, none of them from a gating claim.
    pub targets: Vec<Target>,
    /// The rounds of the search.
    pub rounds: Vec<Round>,
    /// Searched and fixed parameters, in a paragraph.
    pub about: String,
    /// The axes that the figure of the landscape is drawn over: places, and lines.
    pub drawn: (String, String),
    /// The text of the frozen choice, once there is one.
    #[serde(skip)]
    pub frozen: Option<&'static str>,
}

/// A choice that was frozen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The day of the search, as `YYYY-MM-DD`.
    pub date: String,
    /// Digest of the scenario with its sweep.
    pub space: String,
    /// Digest of all runs of the search.
    pub runs: String,
    /// Distance of the choice.
    pub distance: f64,
    /// The value of each axis.
    pub chosen: BTreeMap<String, String>,
}

impl Calibration {
    /// The search that a text describes, among the points of a scenario, with its choice.
    ///
    /// # Panics
    /// If the text is wrong, which the tests of each study exclude.
    pub(crate) fn read(text: &str, scenario: String, frozen: &'static str) -> Self {
        let search: Self = toml::from_str(text).unwrap_or_else(|problem| panic!("{problem}"));
        Self { scenario, frozen: Some(frozen), ..search }
    }

    /// The scenario with its candidates.
    ///
    /// # Errors
    /// If the scenario is wrong, which the tests of each study exclude.
    pub fn campaign(&self) -> Result<Campaign, Error> {
        let source = Source::built_in("calibration", &self.scenario, &[], &[])?;
        Campaign::new(&source, None)
    }

    /// Targets, rounds and inner axis.
    pub fn plan(&self) -> Plan<'_> {
        let Self { targets, rounds, inner, .. } = self;
        Plan { targets, rounds, inner: inner.as_deref() }
    }

    /// Digest of the scenario with its sweep.
    pub fn space(&self) -> String {
        digest::of_text(&self.scenario)
    }

    /// The frozen choice.
    ///
    /// # Errors
    /// If its text is wrong.
    pub fn frozen(&self) -> Result<Option<Frozen>, String> {
        self.frozen.map(|text| toml::from_str(text).map_err(|error| error.to_string())).transpose()
    }

    /// The text of a choice, for the folder of the study.
    pub fn freeze(&self, landscape: &Landscape, date: &str) -> Option<String> {
        let chosen = landscape.chosen()?;
        let mut text = format!(
            "date = \"{date}\"\nspace = \"{}\"\nruns = \"{}\"\ndistance = {:.4}\n\n[chosen]\n",
            self.space(),
            landscape.digest,
            chosen.distance
        );
        for (axis, value) in &chosen.values {
            let _ = writeln!(text, "\"{axis}\" = \"{value}\"");
        }
        Some(text)
    }

    /// The page: choice, targets, space, rounds, and how far other candidates are.
    pub fn page(&self, key: &str, landscape: &Landscape) -> String {
        let mut text = format!(
            "# {key}: calibration\n\nThe paper leaves parameters open. They are searched for with numbers of the paper \
             that gate nothing.\nThe choice is frozen in the study's folder before gating claims are run.\n\n```sh\nrecoup calibrate {key}\n```\n\n{}\n\n",
            self.about
        );
        text += &self.choice(landscape);
        text += &self.distance_text();
        text += &self.space_text(landscape);
        text += &rounds(landscape, &self.rounds);
        text += &self.nearest(landscape);
        text += &self.neighbours(landscape);
        let _ = write!(
            text,
            "## Landscape\n\n![Distance]({FIGURE}.svg)\n\nThe least distance over all other axes, first round.\n\n\
             ## Digests\n\nSpace `{}`, runs `{}`.\n",
            self.space(),
            landscape.digest
        );
        text
    }

    fn choice(&self, landscape: &Landscape) -> String {
        let Some(chosen) = landscape.chosen() else { return String::new() };
        let mut text = String::from("## Choice\n\n| parameter | value |\n|---|---|\n");
        for (axis, value) in &chosen.values {
            let _ = writeln!(text, "| {axis} | {value} |");
        }
        text += "\n| target | paper | found | deviation |\n|---|---:|---:|---:|\n";
        for (target, found) in self.targets.iter().zip(&chosen.found) {
            let Target { name, unit, .. } = target;
            let off = target.deviation(*found);
            let (wanted, found) = (wanted(target), number(*found));
            let _ = writeln!(text, "| {name} | {wanted} {unit} | {found} {unit} | {off:+.2} |");
        }
        let _ = writeln!(text, "\nIts distance is {:.2}.\n", chosen.distance);
        text
    }

    fn distance_text(&self) -> String {
        let mut text = String::from(
            "## Distance\n\nThe distance is the root of the mean square of the deviations, with means over seeds. \
             One unit of a deviation is\n\n| target | one unit |\n|---|---|\n",
        );
        for Target { name, unit, deviation, .. } in &self.targets {
            let _ = match deviation {
                Deviation::Relative(share) => {
                    writeln!(text, "| {name} | {} % (logarithm of the ratio) |", share * 100.0)
                }
                Deviation::Absolute(size) => writeln!(text, "| {name} | {size} {unit} |"),
                Deviation::AtLeast(share) => {
                    writeln!(text, "| {name} | {} % below (logarithm) |", share * 100.0)
                }
                Deviation::AtMost(share) => {
                    writeln!(text, "| {name} | {} % above (logarithm) |", share * 100.0)
                }
            };
        }
        text + "\n"
    }

    fn space_text(&self, landscape: &Landscape) -> String {
        let mut text = String::from("## Space\n\n| parameter | values |\n|---|---|\n");
        for (axis, values) in axes(landscape) {
            let _ = writeln!(text, "| {axis} | {} |", wrapped(&values));
        }
        text + "\n"
    }

    fn nearest(&self, landscape: &Landscape) -> String {
        let Some(last) = landscape.rounds.last() else { return String::new() };
        format!("## Nearest candidates\n\n{}", self.table(last.iter().take(LISTED)))
    }

    /// Candidates that differ from the choice in one axis, by the first round, in which all of them ran.
    fn neighbours(&self, landscape: &Landscape) -> String {
        let (Some(chosen), Some(first)) = (landscape.chosen(), landscape.rounds.first()) else {
            return String::new();
        };
        let apart = |score: &&Score| {
            let both = score.values.iter().zip(&chosen.values);
            both.filter(|(one, other)| one != other).count() == 1
        };
        let mut near: Vec<_> = first.iter().filter(apart).collect();
        near.sort_by_key(|score| score.number);
        let table = self.table(near.into_iter());
        format!(
            "## Neighbours of the choice\n\nThey differ in one parameter; first round.\n\n{table}"
        )
    }

    fn table<'a>(&self, scores: impl Iterator<Item = &'a Score>) -> String {
        let mut text = String::new();
        for score in scores {
            if text.is_empty() {
                let axes = score.values.iter().map(|(axis, _)| axis.as_str());
                let heads: Vec<_> =
                    axes.chain(self.targets.iter().map(|it| it.name.as_str())).collect();
                let rule = "---|".repeat(heads.len());
                let _ = writeln!(text, "| {} | distance |\n|{rule}---:|", heads.join(" | "));
            }
            let values = score.values.iter().map(|(_, value)| value.clone());
            let cells: Vec<_> = values.chain(score.found.iter().map(|it| number(*it))).collect();
            let _ = writeln!(text, "| {} | {} |", cells.join(" | "), far(score.distance));
        }
        text + "\n"
    }

    /// The landscape: the least distance over all axes but two.
    pub fn figure(&self, landscape: &Landscape) -> Figure {
        let (along, lines) = &self.drawn;
        let first = landscape.rounds.first().map_or(&[][..], Vec::as_slice);
        let axes = axes(landscape);
        let values = |name: &str| {
            let found = axes.iter().find(|(axis, _)| *axis == name);
            found.map(|(_, values)| values.clone()).unwrap_or_default()
        };
        let places = values(along);
        let line = |value: &String| {
            let mut series = Series::new(&format!("{lines} {value}"), Style::Line);
            for (place, at) in places.iter().enumerate() {
                let is_here = |score: &&Score| {
                    let has = |axis: &str, value: &str| {
                        score.values.iter().any(|(own, it)| own == axis && it == value)
                    };
                    has(along, at) && has(lines, value) && score.distance.is_finite()
                };
                // The scores are ordered by their distance.
                let nearest = first.iter().find(is_here);
                series.points.extend(nearest.map(|score| (place as f64, score.distance)));
            }
            series
        };
        Figure {
            id: FIGURE.into(),
            title: "Distance from the paper's values".into(),
            caption: "The least distance over all other axes, first round.".into(),
            x: Axis::places(along, &places),
            y: Axis { logarithmic: true, ..Axis::quantity("distance", "") },
            series: values(lines).iter().map(line).collect(),
        }
    }
}

/// Name of the figure.
const FIGURE: &str = "landscape";

/// The axes with their values, in the order of the sweep.
fn axes(landscape: &Landscape) -> Vec<(&str, Vec<String>)> {
    let mut all: Vec<&Score> = landscape.rounds.first().into_iter().flatten().collect();
    all.sort_by_key(|score| score.number);
    let mut axes: Vec<(&str, Vec<String>)> = Vec::new();
    for (axis, value) in all.iter().flat_map(|score| &score.values) {
        match axes.iter_mut().find(|(own, _)| own == axis) {
            Some((_, values)) if values.contains(value) => {}
            Some((_, values)) => values.push(value.clone()),
            None => axes.push((axis, vec![value.clone()])),
        }
    }
    axes
}

/// A list, shortened where it is long.
fn wrapped(values: &[String]) -> String {
    match values {
        [first, second, middle @ .., last] if middle.len() > 4 => {
            format!("{first}, {second} … {last} ({})", values.len())
        }
        few => few.join(", "),
    }
}

fn rounds(landscape: &Landscape, rounds: &[Round]) -> String {
    let mut text = String::from(
        "## Rounds\n\nSuccessive halving: the nearest candidates of a round go on with more seeds.\n\n\
         | round | candidates | seeds | least distance |\n|---:|---:|---:|---:|\n",
    );
    for (number, (scores, round)) in (1..).zip(landscape.rounds.iter().zip(rounds)) {
        let least = scores.first().map_or(f64::NAN, |score| score.distance);
        let _ =
            writeln!(text, "| {number} | {} | {} | {} |", scores.len(), round.seeds, far(least));
    }
    text + "\n"
}

/// The wanted value, with the words for a least one.
fn wanted(target: &Target) -> String {
    match target.deviation {
        Deviation::AtLeast(_) => format!("at least {}", target.wanted),
        Deviation::AtMost(_) => format!("at most {}", target.wanted),
        Deviation::Relative(_) | Deviation::Absolute(_) => target.wanted.to_string(),
    }
}

fn number(found: Option<f64>) -> String {
    found.map_or_else(|| "none".into(), |found| format!("{found:.2}"))
}

fn far(distance: f64) -> String {
    if distance.is_finite() { format!("{distance:.2}") } else { "∞".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Claim;
    use crate::study::Scale;
    use recoup_lab::calibrate::{Measure, outer};
    use recoup_lab::campaign::Stage;

    impl Calibration {
        /// The points of the frozen choice, one for each value of the inner axis.
        pub(crate) fn chosen(&self) -> Vec<Stage> {
            let frozen = self.frozen().unwrap().expect("a choice");
            let is_chosen = |stage: &Stage| {
                let values = outer(&stage.point, self.inner.as_deref());
                values.iter().all(|(axis, value)| frozen.chosen.get(axis) == Some(value))
            };
            let campaign = self.campaign().unwrap_or_else(|error| panic!("{error}"));
            campaign.points.iter().filter(is_chosen).collect()
        }
    }

    #[test]
    fn every_frozen_choice_is_of_its_space() {
        for study in crate::all() {
            let Some(calibration) = study.calibration() else { continue };
            let Some(frozen) = calibration.frozen().unwrap() else { continue };
            assert_eq!(frozen.space, calibration.space(), "{}: search again", study.key());
            assert!(!calibration.chosen().is_empty(), "{}", study.key());
        }
    }

    /// The experiment and the point of a study that the frozen choice is compared with, at a value of the inner axis.
    fn base(study: &str, inner: &str) -> Option<(&'static str, String)> {
        Some(match (study, inner) {
            ("udugama2013", "two") => ("fairness", "fairness=off, load=0 %".to_owned()),
            ("udugama2013", _) => return None,
            ("nikzad2022", s) => ("floor", format!("timer=Steady, k = 4, 100 ms, s={s}")),
            ("vonrotz2015", "TCP RTO, scenario 3") => {
                ("side", "timer=TCP RTO, hops=5, setup=assumed".to_owned())
            }
            ("vonrotz2015", timer) => {
                ("one-trace", format!("timer={timer}, hops=3, setup=assumed"))
            }
            (_, run) => {
                let (way, timer) = run.trim_end_matches(" ms").split_once(", ")?;
                ("timer", format!("recovery={way}, timer={timer}, wires=300"))
            }
        })
    }

    #[test]
    fn base_network_is_the_frozen_choice() {
        let mut compared = 0;
        for study in crate::all() {
            let Some(calibration) = study.calibration() else { continue };
            let experiments = study.experiments(Scale::Check);
            for stage in calibration.chosen() {
                let values = &stage.point.values;
                let inner =
                    values.iter().find(|(axis, _)| Some(axis) == calibration.inner.as_ref());
                let Some((name, label)) = base(study.key(), &inner.unwrap().1) else { continue };
                let experiment = experiments.iter().find(|it| it.name == name).unwrap();
                let base = experiment.network(&label);
                let chosen = stage.scenario().unwrap().network(1).unwrap();
                assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"), "{name}: {label}");
                compared += 1;
            }
        }
        assert_eq!(compared, 1 + 2 + 7 + 6);
    }

    #[test]
    fn gating_claims_are_no_targets() {
        for study in crate::all() {
            let Some(calibration) = study.calibration() else { continue };
            let claims = study.claims();
            for target in &calibration.targets {
                let id = target.name.split([' ', ':']).next().unwrap_or_default();
                assert!(!claims.iter().any(|it| it.id == id && it.is_gating()), "{}", target.name);
            }
            let is_used = |target: &Target| {
                let claim = claims.iter().find(|claim| target.name.starts_with(&claim.id));
                claim.is_some_and(Claim::used_for_inference)
            };
            assert!(calibration.targets.iter().any(is_used), "{}", study.key());
            let chosen = calibration.chosen();
            let is_value = |value: &String| {
                chosen.iter().any(|stage| stage.point.values.iter().any(|(_, it)| it == value))
            };
            let named = calibration.targets.iter().flat_map(|target| match &target.measure {
                Measure::Mean { at, .. } => at.iter().collect(),
                Measure::Sum { at, .. } => vec![at],
                Measure::Ratio { above, below, .. } => vec![above, below],
            });
            named.for_each(|value| assert!(is_value(value), "{}: no {value}", study.key()));
        }
    }

    #[test]
    fn page_names_choice_targets_and_neighbours() {
        let at = |number, delay: &str, rate: &str, found, distance| {
            let value = |axis: &str, value: &str| (axis.to_owned(), value.to_owned());
            let values = vec![value("delay", delay), value("rate", rate)];
            Score { number, values, found: vec![found, Some(21.0)], distance }
        };
        let best = at(2, "2 ms", "x", Some(9.9), 0.5);
        let first = vec![
            best.clone(),
            at(0, "1 ms", "x", Some(9.0), 5.0),
            at(3, "2 ms", "y", None, f64::INFINITY),
            at(1, "1 ms", "y", Some(8.0), 10.0),
        ];
        let landscape = Landscape { rounds: vec![first, vec![best]], digest: "d".into() };
        let deviation = Deviation::Relative(0.02);
        let measure = Measure::Mean { metric: "m".into(), at: None };
        let (name, unit) = ("X-1".to_owned(), "s".to_owned());
        let target = Target { name, measure, wanted: 10.0, unit, deviation };
        let deviation = Deviation::AtLeast(0.01);
        let least = Target { name: "X-2".into(), wanted: 20.0, deviation, ..target.clone() };
        let calibration = Calibration {
            scenario: String::new(),
            inner: None,
            targets: vec![target, least],
            rounds: vec![Round { seeds: 1, candidates: 4 }, Round { seeds: 20, candidates: 1 }],
            about: "About.".into(),
            drawn: ("delay".into(), "rate".into()),
            frozen: None,
        };
        let page = calibration.page("study", &landscape);
        assert!(page.contains("| X-1 | 10 s | 9.90 s | -0.50 |"), "{page}");
        assert!(page.contains("| X-2 | at least 20 s | 21.00 s | +0.00 |"), "{page}");
        assert!(page.contains("| X-2 | 1 % below (logarithm) |"), "{page}");
        assert!(page.contains("| delay | 1 ms, 2 ms |") && page.contains("| 1 | 4 | 1 | 0.50 |"));
        let neighbours = page.split("## Neighbours").nth(1).unwrap();
        assert!(neighbours.contains("| 1 ms | x | 9.00 | 21.00 | 5.00 |"), "{neighbours}");
        assert!(neighbours.contains("| 2 ms | y | none | 21.00 | ∞ |"), "{neighbours}");
        assert!(!neighbours.contains("| 1 ms | y |"), "{neighbours}");
        let figure = calibration.figure(&landscape);
        let points: Vec<_> = figure.series.iter().map(|it| it.points.clone()).collect();
        assert_eq!(points, [vec![(0.0, 5.0), (1.0, 0.5)], vec![(0.0, 10.0)]]);
        let text = calibration.freeze(&landscape, "2026-01-02").unwrap();
        let frozen: Frozen = toml::from_str(&text).unwrap();
        assert_eq!((frozen.date.as_str(), frozen.distance), ("2026-01-02", 0.5));
        assert_eq!(frozen.chosen["delay"], "2 ms");
    }
}
