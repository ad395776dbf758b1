//! Figures as data, independent of the renderer.
use crate::rule::estimate;
use recoup_sim::statistic::Seeded;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Share of the width of a category that bars take.
pub const BARS: f64 = 0.7;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Short name: part of file names, and what `--figure` takes.
    pub id: String,
    /// Title of one line.
    pub title: String,
    /// Caption: the observation, and the figure of the paper that it re-draws.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series drawn.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Name of the quantity.
    pub label: String,
    /// Its unit; empty where there is none.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
    /// Names in place of numbers: a point at 0 stands at the first one.
    pub categories: Vec<String>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its style.
    pub style: Style,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// Half the width of the confidence interval of each point; empty where there is none.
    pub errors: Vec<f64>,
    /// The series of ours that these values of the paper stand beside, and whose colour they have.
    pub paper_of: Option<String>,
}

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Points joined by a line.
    Line,
    /// A line that keeps its height until the next point.
    Steps,
    /// Dots.
    Dots,
    /// Bars.
    Bars,
    /// The paper's own values.
    Paper,
    /// A line to compare with, not measured.
    Reference,
}

impl Figure {
    /// This figure over named places.
    #[must_use]
    pub(crate) fn over(mut self, names: impl IntoIterator<Item: ToString>) -> Self {
        self.x.categories = names.into_iter().map(|name| name.to_string()).collect();
        self
    }

    /// Whether the series holds measurements of our own.
    pub(crate) fn shows_ours(&self) -> bool {
        let is_ours = |style| !matches!(style, Style::Paper | Style::Reference);
        self.series.iter().any(|it| is_ours(it.style) && !it.points.is_empty())
    }
}

/// Words of a study's figures: the text of its `figures.toml`.
pub(crate) struct Words(pub &'static str);

/// Title, caption and axes of a figure.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Wording {
    title: String,
    caption: String,
    x: String,
    x_unit: String,
    x_logarithmic: bool,
    y: String,
    y_unit: String,
    y_logarithmic: bool,
}

impl Words {
    /// The figure of that name. Each of `values` replaces its name in braces.
    pub(crate) fn figure(
        &self,
        name: &str,
        values: &[(&str, &dyn Display)],
        series: Vec<Series>,
    ) -> Figure {
        let all: Result<BTreeMap<String, Wording>, _> = toml::from_str(self.0);
        debug_assert!(
            all.as_ref().is_ok_and(|all| all.contains_key(name)),
            "{name}: {all:?}",
            all = all.as_ref().err()
        );
        let words = all.ok().and_then(|mut all| all.remove(name)).unwrap_or_default();
        let filled = |text: String| {
            values.iter().fold(text, |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), &value.to_string())
            })
        };
        let axis = |label, unit, logarithmic| Axis {
            label: filled(label),
            unit,
            logarithmic,
            categories: Vec::new(),
        };
        Figure {
            id: name.to_owned(),
            title: filled(words.title),
            caption: filled(words.caption),
            x: axis(words.x, words.x_unit, words.x_logarithmic),
            y: axis(words.y, words.y_unit, words.y_logarithmic),
            series,
        }
    }
}

impl Axis {
    /// An axis of numbers.
    pub(crate) fn quantity(label: &str, unit: &str) -> Self {
        Self { label: label.into(), unit: unit.into(), ..Self::default() }
    }

    /// An axis of names.
    pub(crate) fn places(label: &str, names: impl IntoIterator<Item: ToString>) -> Self {
        let categories = names.into_iter().map(|name| name.to_string()).collect();
        Self { label: label.into(), categories, ..Self::default() }
    }
}

impl Series {
    /// A series without points.
    pub fn new(name: &str, style: Style) -> Self {
        let (points, errors) = (Vec::new(), Vec::new());
        Self { name: name.to_owned(), style, points, errors, paper_of: None }
    }

    /// The paper's values beside those of ours with that name; without points.
    pub(crate) fn paper_of(ours: &str) -> Self {
        let name = format!("{ours}, the paper");
        Self { paper_of: Some(ours.to_owned()), ..Self::new(&name, Style::Paper) }
    }

    /// Means of values by seed, each with its interval, at one place after the other.
    pub(crate) fn means(
        name: &str,
        style: Style,
        all: impl IntoIterator<Item = Vec<Seeded>>,
    ) -> Self {
        let all = all.into_iter().enumerate();
        Self::means_at(name, style, all.map(|(place, values)| (place as f64, values)))
    }

    /// Means of values by seed, each with its interval, at these places.
    pub(crate) fn means_at(
        name: &str,
        style: Style,
        all: impl IntoIterator<Item = (f64, Vec<Seeded>)>,
    ) -> Self {
        let mut series = Self::new(name, style);
        for (place, values) in all {
            if let Some(estimate) = estimate(&values) {
                series.points.push((place, estimate.mean));
                series.errors.push(estimate.half_width);
            }
        }
        series
    }

    /// A reference line at one height over that many places.
    pub(crate) fn level(name: &str, height: f64, places: usize) -> Self {
        let points = vec![(-0.5, height), (places as f64 - 0.5, height)];
        Self { points, ..Self::new(name, Style::Reference) }
    }

    /// This series with few enough points to be drawn. Of each slice of the horizontal axis the first, the lowest, the
    /// highest and the last point remain. Points must be ordered by `x`; a series with errors stays as it is.
    #[must_use]
    pub fn thinned(&self, slices: usize) -> Self {
        let ends = self.points.first().zip(self.points.last());
        let (Some((first, last)), true) = (ends, self.errors.is_empty()) else {
            return self.clone();
        };
        if self.points.len() <= 4 * slices {
            return self.clone();
        }
        let width = (last.0 - first.0) / slices.max(1) as f64;
        let slice = |point: &(f64, f64)| ((point.0 - first.0) / width) as usize;
        let chunks = self.points.chunk_by(|a, b| slice(a) == slice(b));
        Self { points: chunks.flat_map(extremes).collect(), ..self.clone() }
    }
}

/// Middle of a bar: of `count` bars at a place, the one after `before` others.
pub(crate) fn bar(place: usize, before: usize, count: usize) -> f64 {
    place as f64 + (before as f64 - (count as f64 - 1.0) / 2.0) * BARS / count as f64
}

/// The first, the lowest, the highest and the last point, in their order, each once.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_height = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let places = 0..points.len();
    let (Some(lowest), Some(highest)) =
        (places.clone().min_by(by_height), places.max_by(by_height))
    else {
        return Vec::new();
    };
    let mut kept = vec![0, lowest, highest, points.len() - 1];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|place| points[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_series_keeps_ends_and_extremes() {
        let mut series = Series::new("x", Style::Steps);
        series.points = (0..10_000).map(|k| (f64::from(k), f64::from(k % 100))).collect();
        series.points[5_003].1 = -7.0;
        series.points[7_001].1 = 500.0;
        let thin = series.thinned(50);
        assert!(thin.points.len() <= 204, "{}", thin.points.len());
        assert_eq!(thin.points.first(), Some(&(0.0, 0.0)));
        assert_eq!(thin.points.last(), Some(&(9_999.0, 99.0)));
        assert!(thin.points.contains(&(5_003.0, -7.0)) && thin.points.contains(&(7_001.0, 500.0)));
        assert!(thin.points.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(series.thinned(5_000), series);
    }
}
