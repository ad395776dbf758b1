//! Figures as data: what is drawn, without how. One description makes the interactive page and the
//! picture beside it.

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Short name: part of file names, and what `--figure` takes.
    pub id: String,
    /// What it shows, in one line.
    pub title: String,
    /// What one sees in it, and which figure of the paper it re-draws.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Its unit; empty where there is none.
    pub unit: String,
    /// Logarithmic.
    pub logarithmic: bool,
    /// Names in place of numbers: a point at 0 stands at the first one.
    pub categories: Vec<String>,
}

/// One series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Where its points are.
    pub points: Vec<(f64, f64)>,
    /// Half the width of the confidence interval of each point; empty where there is none.
    pub errors: Vec<f64>,
}

/// How a series is drawn.
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
    /// A line to compare with; nothing that was measured.
    Reference,
}

impl Series {
    /// A series without points.
    pub fn new(name: &str, style: Style) -> Self {
        Self { name: name.to_owned(), style, points: Vec::new(), errors: Vec::new() }
    }

    /// The same with few enough points to be drawn: of each slice of the horizontal axis the first, the
    /// lowest, the highest and the last remain. Points must be ordered by `x`; a series with errors
    /// stays as it is.
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
    fn a_thinned_series_keeps_its_ends_and_its_extremes() {
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
